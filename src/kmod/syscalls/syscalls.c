/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * syscalls.c - system calls by name: one probe at entry, one at exit, and a table by number.
 *
 * The probes are called by raw_syscalls:sys_enter and sys_exit, in process context, interrupts on. Up to Linux 6.12
 * preemption is off there; from 6.13 on it is not, and a probe may fault, which is what
 * tracepoint_synchronize_unregister() then waits for. We rely on neither: an event with only registers is
 * written with interrupts off (emit.h), and for texts preemption is off while the CPU's buffer is in use. But
 * we rely on interrupts being on here, in all kernels: hodo_emit_try_enabled().
 *
 *                     | enter, same CPU | enter, other CPU | set()   | removal
 *   probe, registers  | after           | beside           | beside  | before: hodo_quiesce()
 *   probe, texts      | after           | own buffer       | beside  | before
 *
 * "after": with preemption off, nobody else makes a system call on this CPU, and interrupts do not either. So
 * the buffer has one user at a time, though other events (an interrupt's, an NMI's) may be written while it
 * is filled.
 */
#include <kmod/kmod.h>
#include <kmod/emit.h>
#include "syscalls.h"
#include <kmod/tracepoint_find.h>

#include <asm/syscall.h>
#include <linux/compat.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/uaccess.h>

#define TEXT_MAX 4095u /* bytes of a caller's text: PATH_MAX without the NUL */

static struct hodo_event **calls; /* each in a struct hodo_syscall_event */
static size_t ncalls;
static struct hodo_event *compat[2], *unknown[2]; /* enter, exit; NULL: off */
static struct tracepoint *points[2];
static unsigned int users[2]; /* events that are on; under hodo_lock */

/* Room for the recorded texts of a call. Allocated when the first event with texts is switched on. */
static DEFINE_PER_CPU(uint8_t *, text_buffer);
#define TEXT_BUFFER (HODO_CALL_TEXTS * (2 + TEXT_MAX) + 8)

/* Calls of 32-bit programs. x32's calls have other numbers, which count as unknown. */
static __always_inline bool call_is_compat(void)
{
#ifdef CONFIG_X86_64
	return in_ia32_syscall();
#else
	return in_compat_syscall();
#endif
}

#ifdef CONFIG_X86_64
#define hodo_call_args_of(args, regs) const unsigned long *args = (const unsigned long *)(regs)
#else
#define hodo_call_args_of(args, regs)          \
	unsigned long args[HODO_CALL_ARGS];    \
	syscall_get_arguments(current, regs, args)
#endif

/*
 * Each argument is stored as a whole register, in order: the next one overwrites its excess bytes. Up to 7
 * bytes past the last one are written, which nobody uses yet: see hodo_ring_need().
 */
static __always_inline void put_register(uint8_t *p, const struct hodo_call_shape *call, const unsigned long *args,
					 unsigned int i)
{
#ifndef __LITTLE_ENDIAN
#error the low bytes of a register come first
#endif
	put_unaligned((uint64_t)args[call->reg[i]], (uint64_t *)(p + call->offset[i]));
}

static __always_inline void put_registers(uint8_t *p, const struct hodo_call_shape *call, const unsigned long *args)
{
	unsigned int i;

	for (i = 0; i < call->nregs; i++)
		put_register(p, call, args, i);
}

/* For a call without texts. Three at a time are faster than a loop, though some are stored twice. */
static __always_inline void put_all_registers(uint8_t *p, const struct hodo_call_shape *call,
					      const unsigned long *args)
{
	if (call->nregs == 0)
		return;
	put_register(p, call, args, 0);
	put_register(p, call, args, 1);
	put_register(p, call, args, 2);
	if (likely(call->nregs <= 3))
		return;
	put_register(p, call, args, 3);
	put_register(p, call, args, 4);
	put_register(p, call, args, 5);
}

#ifdef CONFIG_X86_64
/*
 * Copies a text without its NUL, at most TEXT_MAX bytes; its length, or -EFAULT. Like strncpy_from_user(),
 * but inline, and without checks of our own destination: those took half the time of an event with a short
 * path. Eight bytes at a time; one by one if these reach into an unmapped page.
 */
static __always_inline long copy_text(uint8_t *to, const char __user *from)
{
	const unsigned long ones = 0x0101010101010101, highs = 0x8080808080808080;
	unsigned long n = 0, word, zeros, max;
	char c;

	/* Beyond, addresses may be non-canonical: touching them is not a page fault. */
	if ((unsigned long)from >= TASK_SIZE_MAX)
		return -EFAULT;
	max = min_t(unsigned long, TEXT_MAX, TASK_SIZE_MAX - (unsigned long)from);
	if (!user_access_begin(from, max))
		return -EFAULT;
	for (; n + 8 <= max; n += 8) {
		unsafe_get_user(word, (const unsigned long __user *)(from + n), one_by_one);
		put_unaligned(word, (unsigned long *)(to + n));
		zeros = (word - ones) & ~word & highs; /* its lowest bit is that of the first NUL */
		if (zeros) {
			n += __ffs(zeros) / 8;
			goto out;
		}
	}
one_by_one:
	for (; n < max; n++) {
		unsafe_get_user(c, from + n, fault);
		if (!c)
			break;
		to[n] = c;
	}
out:
	user_access_end();
	return n;
fault:
	user_access_end();
	return -EFAULT;
}
#else
static __always_inline long copy_text(uint8_t *to, const char __user *from)
{
	return strncpy_from_user((char *)to, from, TEXT_MAX);
}
#endif

/* Stores a text's length and bytes, and returns their end. */
static __always_inline uint8_t *put_text(uint8_t *at, const char __user *from)
{
	long n;

	if (!from) {
		n = HODO_NULL_TEXT_LEN;
		memcpy(at + 2, HODO_NULL_TEXT, HODO_NULL_TEXT_LEN);
	} else {
		/* Do not page in absent memory: the kernel's own access will, or fail. */
		pagefault_disable();
		n = copy_text(at + 2, from);
		pagefault_enable();
		if (n < 0)
			n = 0;
	}
	put_unaligned((uint16_t)n, (uint16_t *)at);
	return at + 2 + n;
}

/* Up to 7 bytes more: see put_registers(); the buffer has as many spare. */
static __always_inline void put_bytes(uint8_t *to, const uint8_t *from, uint32_t len)
{
	uint32_t i;

	if (len > 256) {
		memcpy(to, from, len);
		return;
	}
	for (i = 0; i < len; i += 8)
		put_unaligned(get_unaligned((const uint64_t *)(from + i)), (uint64_t *)(to + i));
}

static noinline void notrace enter_texts(struct hodo_event *event, const struct hodo_call_shape *call,
					 struct pt_regs *regs)
{
	uint8_t *buffer, *at, *p;
	hodo_call_args_of(args, regs);
	HODO_EMIT(e);
	unsigned int i;
	uint32_t len;

	preempt_disable_notrace();
	at = buffer = this_cpu_read(text_buffer);
	for (i = 0; i < call->ntexts; i++)
		at = put_text(at, (const char __user *)args[call->reg[call->nregs + i]]);
	len = (uint32_t)(at - buffer);
	p = hodo_emit_begin(&e, event, call->fixed + len);
	if (p) {
		put_registers(p, call, args);
		put_bytes(p + call->fixed, buffer, len);
		hodo_emit_end(&e, event);
	}
	preempt_enable_notrace();
}

/* A compat call, or an unknown one. */
static noinline void notrace enter_other(struct hodo_event *event, struct pt_regs *regs, long nr)
{
	unsigned long args[HODO_CALL_ARGS];
	HODO_EMIT(e);
	unsigned int i;
	uint8_t *p;

	if (!event)
		return;
	syscall_get_arguments(current, regs, args);
	p = hodo_emit_begin(&e, event, 8 + 4 + 8 * HODO_CALL_ARGS);
	if (!p)
		return;
	put_unaligned((int64_t)nr, (int64_t *)p);
	put_unaligned((uint32_t)HODO_CALL_ARGS, (uint32_t *)(p + 8));
	for (i = 0; i < HODO_CALL_ARGS; i++)
		put_unaligned((uint64_t)args[i], (uint64_t *)(p + 12 + 8 * i));
	hodo_emit_end(&e, event);
}

static noinline void notrace exit_other(struct hodo_event *event, long nr, long ret)
{
	HODO_EMIT(e);
	uint8_t *p;

	if (!event)
		return;
	p = hodo_emit_begin(&e, event, 16);
	if (!p)
		return;
	put_unaligned((int64_t)nr, (int64_t *)p);
	put_unaligned((int64_t)ret, (int64_t *)(p + 8));
	hodo_emit_end(&e, event);
}

/* Used if hodo_emit_try_enabled() is not possible. */
static noinline void notrace enter_slowly(struct hodo_event *event, const struct hodo_call_shape *call,
					  struct pt_regs *regs)
{
	hodo_call_args_of(args, regs);
	HODO_EMIT(e);
	uint8_t *p = hodo_emit_begin(&e, event, call->fixed);

	if (!p)
		return;
	put_registers(p, call, args);
	hodo_emit_end(&e, event);
}

static noinline void notrace exit_slowly(struct hodo_event *event, long ret)
{
	HODO_EMIT(e);
	uint8_t *p = hodo_emit_begin(&e, event, 8);

	if (!p)
		return;
	put_unaligned((int64_t)ret, (int64_t *)p);
	hodo_emit_end(&e, event);
}

static void notrace on_enter(void *data, struct pt_regs *regs, long nr)
{
	const struct hodo_call_shape *call;
	struct hodo_event *event;
	HODO_EMIT(e);
	uint8_t *p;

	if (unlikely(call_is_compat()))
		return enter_other(smp_load_acquire(&compat[0]), regs, nr);
	if (unlikely((unsigned long)nr >= HODO_CALLS_END))
		return enter_other(smp_load_acquire(&unknown[0]), regs, nr);
	nr = array_index_nospec(nr, HODO_CALLS_END); /* the caller's number */
	call = &hodo_call_shapes[nr];
	/*
	 * Acquire: sees the id that the event got before it was switched on, and the buffers for its texts.
	 */
	event = smp_load_acquire(&call->enter);
	if (!event) {
		if (call->ntexts == HODO_CALL_UNKNOWN)
			enter_other(smp_load_acquire(&unknown[0]), regs, nr);
		return;
	}
	if (unlikely(call->ntexts))
		return enter_texts(event, call, regs);
	p = hodo_emit_try_enabled(&e, event, call->fixed);
	if (unlikely(!p))
		return enter_slowly(event, call, regs);
	hodo_call_args_of(args, regs);
	put_all_registers(p, call, args);
	hodo_emit_end(&e, event);
}

static void notrace on_exit(void *data, struct pt_regs *regs, long ret)
{
	long nr = syscall_get_nr(current, regs);
	struct hodo_event *event;
	HODO_EMIT(e);
	uint8_t *p;

	if (unlikely(call_is_compat()))
		return exit_other(smp_load_acquire(&compat[1]), nr, ret);
	if (unlikely((unsigned long)nr >= HODO_CALLS_END))
		return exit_other(smp_load_acquire(&unknown[1]), nr, ret);
	nr = array_index_nospec(nr, HODO_CALLS_END);
	event = smp_load_acquire(&hodo_call_shapes[nr].exit);
	if (!event) {
		if (hodo_call_shapes[nr].ntexts == HODO_CALL_UNKNOWN)
			exit_other(smp_load_acquire(&unknown[1]), nr, ret);
		return;
	}
	p = hodo_emit_try_enabled(&e, event, 8);
	if (unlikely(!p))
		return exit_slowly(event, ret);
	put_unaligned((int64_t)ret, (int64_t *)p);
	hodo_emit_end(&e, event);
}

/* ---------------------------------------------------------------- switching */

static void free_buffers(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		kvfree(per_cpu(text_buffer, cpu));
		per_cpu(text_buffer, cpu) = NULL;
	}
}

static int make_buffers(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (per_cpu(text_buffer, cpu))
			continue;
		per_cpu(text_buffer, cpu) = kvmalloc_node(TEXT_BUFFER, GFP_KERNEL, cpu_to_node(cpu));
		if (!per_cpu(text_buffer, cpu))
			return -ENOMEM; /* the next try uses the existing ones */
	}
	return 0;
}

static bool has_texts(const struct hodo_syscall_event *e)
{
	return !e->exit && e->nr < HODO_CALLS_END && hodo_call_shapes[e->nr].ntexts;
}

/* Counts events of a direction: its probe is registered as long as there are any. */
static int use(bool exit, bool on)
{
	void *probe = exit ? (void *)on_exit : (void *)on_enter;
	int err = 0;

	if (on && users[exit] == 0)
		err = tracepoint_probe_register(points[exit], probe, NULL);
	if (err)
		return err;
	users[exit] += on ? 1 : -1;
	if (!on && users[exit] == 0)
		tracepoint_probe_unregister(points[exit], probe, NULL);
	return 0;
}

static struct hodo_event **place_of(const struct hodo_syscall_event *e)
{
	switch (e->nr) {
	case HODO_CALLS_COMPAT:
		return &compat[e->exit];
	case HODO_CALLS_UNKNOWN:
		return &unknown[e->exit];
	}
	return e->exit ? &hodo_call_shapes[e->nr].exit : &hodo_call_shapes[e->nr].enter;
}

static int set(struct hodo_event *event, bool on)
{
	struct hodo_syscall_event *e = container_of(event, struct hodo_syscall_event, event);
	int err = on && has_texts(e) ? make_buffers() : 0;

	if (err)
		return err;
	if (!on)
		WRITE_ONCE(*place_of(e), NULL);
	err = use(e->exit, on);
	if (!err && on)
		smp_store_release(place_of(e), event); /* see on_enter() */
	return err;
}

static const struct hodo_source source = { .name = "syscall", .set = set };

/* ------------------------------------------------------------ begin and end */

int hodo_syscalls_init(void)
{
	int err;

	points[0] = hodo_tracepoint_find("sys_enter");
	points[1] = hodo_tracepoint_find("sys_exit");
	if (!points[0] || !points[1]) {
		pr_info("this kernel has no tracepoints at its system calls: no events syscalls:*\n");
		return 0;
	}
	err = hodo_calls_make(&source, &calls, &ncalls);
	if (err)
		return err;
	mutex_lock(&hodo_lock);
	hodo_events_add(calls, ncalls);
	mutex_unlock(&hodo_lock);
	return 0;
}

void hodo_syscalls_exit(void)
{
	mutex_lock(&hodo_lock);
	hodo_events_remove(calls, ncalls);
	mutex_unlock(&hodo_lock);
	/* The last probe may still be on its way out. */
	tracepoint_synchronize_unregister();
	free_buffers();
	hodo_calls_free(calls);
}
