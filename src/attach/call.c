/* SPDX-License-Identifier: MIT */
/*
 * call.c - makes calls in a stopped thread. Each finds its way back to where the thread was without us, in
 * case we are killed: docs/design/attach.md, "The calls".
 *
 * At every moment, the thread would do the right thing if it were released. So registers are set last when a
 * step is prepared, and last when everything is restored; and each call has its own chain, above that of the
 * previous call, whose chain is in use, by raise() and below, until the registers are set.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "attach_impl.h"

#define STACK_BYTES    (256u << 10)
#define DATA_BYTES     (24u << 10) /* at its end */
#define RED_ZONE       128
#define CHAIN_BYTES    1024
#define CALLS_MAX      2 /* dlopen(), and dlerror() or ours */
/*
 * The signal of glibc's setuid() and the like to all threads; the sender holds the lock of the list of
 * threads until all have answered, so answer at once if pthread_create() might wait for that lock.
 */
#define SETXID         33
#define NO_ERROR       ((int64_t)-4096)

/* When a function is called, rsp points to the first member. */
struct chain {
	uint64_t ret, pop_rdi, signal, raise; /* ret: aligns the stack for raise() */
	uint64_t restorer;
	struct hodo_attach_frame put_errno;
	uint64_t restorer_again;
	struct hodo_attach_frame back; /* flags: also the sixth argument of put_errno's system call */
};

struct data {
	char library[4096];
	int64_t answer[3];
	uint64_t word; /* that nobody waits at */
	uint8_t fpstate[HODO_ATTACH_XSTATE_MAX] __attribute__((aligned(64)));
};
_Static_assert(sizeof(struct data) <= DATA_BYTES, "fits");

/* Where mapping and unmapping return: this, followed by the vector state. */
struct landing {
	uint64_t restorer;
	struct hodo_attach_frame back;
};

struct call {
	struct hodo_attach_tracee *e;
	const struct hodo_attach_places *p;
	uint64_t landing;      /* 0: there is none */
	uint32_t landing_size; /* to clear afterwards, 0: nothing */
	uint64_t stack, data;
	uint64_t chain; /* of the present call */
	uint64_t busy_mask;
	int32_t number; /* errno */
	int signal;
	unsigned int calls;
};
_Static_assert(sizeof(struct chain) < CHAIN_BYTES, "fits");

/* -------------------------------------------------------------------- the landing */

static uint64_t on_own_stack(struct call *c, const struct hodo_attach_stack *stack, size_t size)
{
	const struct hodo_attach_target *t = c->e->target;
	uint64_t sp = c->e->regs.rsp, at = (sp - RED_ZONE - size) & ~63ull;
	const struct hodo_proc_map *m = hodo_attach_map_at(t, sp);

	if (!stack->ordinary || !m || !m->writable || at < m->start + 4096 || at > sp || stack->top > m->end)
		return 0;
	if (strcmp(m->name, "[stack]") == 0)
		return at;
	/* A thread's stack from libc has a guard below. */
	if (m == t->maps || m[-1].end != m->start || m[-1].readable || m[-1].writable || m->inode)
		return 0;
	return at;
}

static uint64_t behind_object(const struct hodo_attach_target *t, const struct hodo_attach_object *o, size_t size)
{
	static const uint8_t zeros[4096];
	uint8_t bytes[4096];
	GElf_Phdr p;

	if (o->kind == HODO_ATTACH_LOADER)
		return 0; /* the loader allocates from what follows */
	for (size_t i = 0; hodo_elf_segment(o->file.elf, &i, PT_LOAD, PF_W, &p);) {
		const struct hodo_proc_map *m;
		uint64_t at, end;

		at = (o->bias + p.p_vaddr + p.p_memsz + 63) & ~63ull;
		end = (at + 4095) & ~4095ull;
		m = hodo_attach_map_at(t, at);
		if (end - at < size || !m || !m->writable || m->end < end || !hodo_attach_read(t, at, bytes, end - at))
			continue;
		if (memcmp(bytes, zeros, end - at) == 0)
			return at;
	}
	return 0;
}

static void make_landing(struct call *c, const struct hodo_attach_stack *stack)
{
	struct { struct landing l; uint8_t fpstate[HODO_ATTACH_XSTATE_MAX + 64]; } bytes;
	const struct hodo_attach_target *t = c->e->target;
	size_t size = sizeof(struct landing) + 64 + c->e->xstate_size + 4;
	struct user_regs_struct regs;
	uint64_t at, fpstate;

	at = on_own_stack(c, stack, size);
	for (uint32_t i = 0; i < t->nobjects && !at; i++) {
		at = behind_object(t, &t->objects[i], size);
		c->landing_size = at ? (uint32_t)size : 0;
	}
	if (!at)
		return;
	memset(&bytes, 0, sizeof(bytes));
	fpstate = (at + sizeof(struct landing) + 63) & ~63ull;
	hodo_attach_tracee_resumed(c->e, &regs);
	bytes.l.restorer = c->p->restorer;
	hodo_attach_frame_fill(&bytes.l.back, &regs, c->e->mask, fpstate);
	hodo_attach_frame_vectors((uint8_t *)&bytes + (fpstate - at), c->e);
	if (hodo_attach_write(t, at, &bytes, size))
		c->landing = at;
	else
		c->landing_size = 0;
}

/* ----------------------------------------------------------------- system calls */

/* A signal came while the thread was working for us: it is sent again later. */
static void take_signal(struct call *c, int signal)
{
	bool nothing = signal == c->signal && !(c->e->caught >> (signal - 1) & 1) && !(c->e->mask >> (signal - 1) & 1);

	if (!nothing && signal != SIGTRAP)
		c->e->held |= 1ull << (signal - 1);
}

/* Runs until the thread enters or leaves a system call. 0 or negative errno. */
static int to_syscall(struct call *c)
{
	int stop;

	while ((stop = hodo_attach_tracee_go_on(c->e, PTRACE_SYSCALL, 0)) >= 0 && stop != HODO_ATTACH_SYSCALL)
		if (stop)
			take_signal(c, stop);
	return stop < 0 ? stop : 0;
}

/* The result, or -ESRCH or -ETIMEDOUT in *error. */
static int64_t system_call(struct call *c, uint64_t nr, const uint64_t a[6], int *error)
{
	struct user_regs_struct regs = c->e->regs;

	regs.rip = c->p->syscall_return;
	if (c->landing)
		regs.rsp = c->landing;
	regs.rax = nr;
	regs.orig_rax = ~0ull;
	regs.rdi = a[0];
	regs.rsi = a[1];
	regs.rdx = a[2];
	regs.r10 = a[3];
	regs.r8 = a[4];
	regs.r9 = a[5];
	*error = 0;
	if (!hodo_attach_tracee_set_regs(c->e, &regs) || !hodo_attach_tracee_set_mask(c->e, c->busy_mask))
		*error = -ESRCH;
	if (!*error)
		*error = to_syscall(c);
	if (!*error)
		*error = to_syscall(c);
	if (!*error && ptrace(PTRACE_GETREGS, c->e->tid, 0, &regs) != 0)
		*error = -ESRCH;
	return *error ? *error : (int64_t)regs.rax;
}

/* -------------------------------------------------------------------- functions */

/* The signal least likely to mean anything to the program. */
static int choose_signal(const struct hodo_attach_tracee *e)
{
	static const int candidates[] = { SIGURG, SIGWINCH, SIGCHLD };
	int best = SIGURG, least = 100;

	for (int i = 0; i < 3; i++) {
		int s = candidates[i] - 1, score = (int)(e->caught >> s & 1) * 2 + (int)(e->mask >> s & 1);

		if (score < least) {
			least = score;
			best = candidates[i];
		}
	}
	return best;
}

static bool make_stack(struct call *c)
{
	struct data data;

	memset(&data, 0, sizeof(data));
	c->data = c->stack + STACK_BYTES - DATA_BYTES;
	c->chain = c->data - (CALLS_MAX + 1) * CHAIN_BYTES + 8;
	snprintf(data.library, sizeof(data.library), "%s", c->p->library ? c->p->library : "");
	data.answer[0] = -EIO;
	hodo_attach_frame_vectors(data.fpstate, c->e);
	return hodo_attach_write(c->e->target, c->data, &data, offsetof(struct data, fpstate) + c->e->xstate_size + 4);
}

static void fill_chain(const struct call *c, struct chain *chain)
{
	const struct hodo_attach_tracee *e = c->e;
	uint64_t fpstate = c->data + offsetof(struct data, fpstate);
	struct user_regs_struct back, step = e->regs;

	memset(chain, 0, sizeof(*chain));
	chain->ret = c->p->pop_rdi_return + 1;
	chain->pop_rdi = c->p->pop_rdi_return;
	chain->signal = (uint64_t)c->signal;
	chain->raise = c->p->raise;
	chain->restorer = chain->restorer_again = c->p->restorer;
	/* syscall(SYS_futex, &word, FUTEX_WAKE_OP, 0, 0, &errno, set it to number) */
	step.rip = c->p->syscall;
	step.rsp = c->chain + offsetof(struct chain, restorer_again);
	step.rdi = SYS_futex;
	step.rsi = c->data + offsetof(struct data, word);
	step.rdx = FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG;
	step.rcx = step.r8 = 0;
	step.r9 = e->regs.fs_base + (uint64_t)c->p->errno_offset;
	step.eflags = 0x202;
	hodo_attach_tracee_resumed(e, &back);
	if (c->p->syscall && c->number >= 0 && c->number < 2048)
		hodo_attach_frame_fill(&chain->put_errno, &step, c->busy_mask, fpstate);
	else /* too large for the operation, and not one of the kernel's */
		hodo_attach_frame_fill(&chain->put_errno, &back, e->mask, fpstate);
	hodo_attach_frame_fill(&chain->back, &back, e->mask, fpstate);
	/* compared with 7: the result does not matter, since nobody waits */
	chain->back.flags = 0xffffffff & (uint64_t)FUTEX_OP(FUTEX_OP_SET, c->number & 0xfff, FUTEX_OP_CMP_EQ,
							    HODO_ATTACH_FRAME_FLAGS);
}

/* Whether it is after the tgkill(2) of raise(): the called function has returned. */
static bool has_returned(const struct call *c, int signal)
{
	struct user_regs_struct regs;

	return signal == c->signal && ptrace(PTRACE_GETREGS, c->e->tid, 0, &regs) == 0 && regs.orig_rax == SYS_tgkill &&
	       regs.rax == 0 && regs.rdx == (uint64_t)signal && regs.rsp - c->stack < STACK_BYTES;
}

/*
 * It returns to an instruction that makes a system call, whose number is the function's result: a pointer, so
 * no such call exists. We see it at the entry, and cancel it.
 */
static bool take_result(struct call *c, uint64_t *result)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, c->e->tid, 0, &regs) != 0 || regs.rip != c->p->syscall_return + 2 ||
	    regs.rsp != c->chain + 8)
		return false;
	*result = regs.orig_rax;
	regs.orig_rax = ~0ull;
	return hodo_attach_tracee_set_regs(c->e, &regs);
}

/* Runs until the called function has returned. 0; -EFAULT it faulted; -ETIMEDOUT; -ESRCH. */
static int run(struct call *c, uint64_t *result)
{
	int stop = 0;

	for (;;) {
		/* 0: other threads of the process are being stopped: continue anyway. */
		stop = hodo_attach_tracee_go_on(c->e, result ? PTRACE_SYSCALL : PTRACE_CONT,
						stop == SETXID ? SETXID : 0);
		if (stop < 0)
			return stop;
		if (has_returned(c, stop))
			return 0;
		if (hodo_attach_tracee_is_fault(c->e, stop))
			return -EFAULT;
		if (stop == HODO_ATTACH_SYSCALL && result && take_result(c, result))
			result = NULL;
		else if (stop && stop != HODO_ATTACH_SYSCALL && stop != SETXID)
			take_signal(c, stop);
	}
}

/* Resets them to what the calling convention requires. */
static bool plain_vectors(struct call *c)
{
	uint8_t xstate[HODO_ATTACH_XSTATE_MAX];
	static const uint32_t mxcsr = 0x1f80;
	static const uint16_t control = 0x37f; /* of the x87 */
	uint64_t used;

	if (c->e->xstate_size == HODO_ATTACH_FXSAVE) {
		memset(xstate, 0, HODO_ATTACH_FXSAVE);
		memcpy(xstate, &control, sizeof(control));
	} else {
		memcpy(xstate, c->e->xstate, c->e->xstate_size);
		memcpy(&used, xstate + HODO_ATTACH_VECTORS_USED, sizeof(used));
		used &= ~7ull; /* x87, SSE, AVX */
		memcpy(xstate + HODO_ATTACH_VECTORS_USED, &used, sizeof(used));
	}
	memcpy(xstate + 24, &mxcsr, sizeof(mxcsr));
	return hodo_attach_tracee_set_vectors(c->e, xstate);
}

/* Like run(); result: the pointer that the function returns; NULL: not wanted. */
static int call_function(struct call *c, uint64_t function, uint64_t first, uint64_t second, uint64_t *result)
{
	struct user_regs_struct regs = c->e->regs;
	struct chain chain;

	c->chain += CHAIN_BYTES;
	fill_chain(c, &chain);
	if (result)
		chain.ret = c->p->syscall_return;
	if (!hodo_attach_write(c->e->target, c->chain, &chain, sizeof(chain)))
		return -ESRCH;
	regs.rip = function;
	regs.rsp = c->chain;
	regs.rdi = first;
	regs.rsi = second;
	regs.rax = regs.rbp = 0;
	regs.orig_rax = ~0ull;
	regs.eflags = 0x202;
	if (!hodo_attach_tracee_set_regs(c->e, &regs) ||
	    !hodo_attach_tracee_set_mask(c->e, c->busy_mask & ~(1ull << (SETXID - 1))))
		return -ESRCH;
	/* After a call they also conform to the convention. */
	if (c->calls++ == 0 && !plain_vectors(c))
		return -ESRCH;
	return run(c, result);
}

/* ------------------------------------------------------------------ what is called */

static int say_dlerror(struct call *c)
{
	struct hodo_attach_target *t = c->e->target;
	uint64_t text = 0;
	char bytes[160] = "";
	/* Its first argument is invalid: if it returns NULL, that is read(2), on no file then. */
	int error = call_function(c, c->p->dlerror, ~0ull, 0, &text);

	for (size_t i = 0; !error && text && i < sizeof(bytes) - 1; i++) {
		if (!hodo_attach_read(t, text + i, &bytes[i], 1) || !bytes[i])
			break;
		if (bytes[i] < ' ')
			bytes[i] = ' ';
	}
	if (error == -ESRCH || error == -ETIMEDOUT)
		return error;
	return hodo_why(t->why, -ENOEXEC, "process %d could not load libhodo: %s", t->pid,
			bytes[0] ? bytes : c->p->library);
}

/*
 * Whether that is the library. A copy's name ends as the process sees it: where its root directory is a part of ours,
 * what leads there comes before.
 */
static bool is_library(const struct hodo_attach_places *p, const struct hodo_proc_map *m, const struct stat *st)
{
	size_t len = strlen(m->name), end = strlen(p->library);

	if (p->copied)
		return len >= end && strcmp(m->name + len - end, p->library) == 0;
	return m->inode == st->st_ino && strcmp(m->name, p->library) == 0;
}

/* Where the library is loaded; 0: it is not. */
static uint64_t find_loaded(struct call *c)
{
	struct hodo_attach_target *t = c->e->target;
	struct stat st;

	if ((!c->p->copied && stat(c->p->library, &st) != 0) || hodo_attach_read_maps(t) != 0)
		return 0;
	for (uint32_t i = 0; i < t->nmaps; i++) {
		const struct hodo_proc_map *m = &t->maps[i];

		if (m->offset == 0 && is_library(c->p, m, &st))
			return m->start;
	}
	return 0;
}

static int load_and_listen(struct call *c, int64_t answer[3])
{
	uint64_t attach = c->p->attach, base;
	int error;

	if (!attach) {
		error = call_function(c, c->p->dlopen, c->data + offsetof(struct data, library),
				      RTLD_NOW | RTLD_LOCAL, NULL);
		if (error)
			return error;
		base = find_loaded(c);
		if (!base)
			return say_dlerror(c);
		attach = base + c->p->attach_offset;
		c->e->done->loaded = 1;
	}
	error = call_function(c, attach, c->data + offsetof(struct data, answer), 0, NULL);
	if (!error && !hodo_attach_read(c->e->target, c->data + offsetof(struct data, answer), answer, 24))
		error = -ESRCH;
	return error;
}

/* ------------------------------------------------------------------- all together */

/*
 * Returns the thread from anywhere in our calls to where it was, in a stop from which the kernel restarts
 * system calls.
 */
static int put_back(struct call *c, bool unmap)
{
	static const uint8_t zeros[HODO_ATTACH_XSTATE_MAX + sizeof(struct landing) + 64];
	const uint64_t unmapped[6] = { c->stack, STACK_BYTES };
	struct hodo_attach_tracee *e = c->e;
	int error = 0, stop;

	if (!hodo_attach_tracee_set_vectors(c->e, e->xstate))
		return -ESRCH;
	if (unmap)
		system_call(c, SYS_munmap, unmapped, &error);
	if (error)
		return error;
	if (ptrace(PTRACE_INTERRUPT, e->tid, 0, 0) != 0)
		return -ESRCH;
	while ((stop = hodo_attach_tracee_go_on(c->e, PTRACE_CONT, 0)) > 0)
		take_signal(c, stop);
	if (stop < 0)
		return stop;
	if (!hodo_attach_tracee_set_mask(c->e, e->mask) || !hodo_attach_tracee_set_regs(c->e, &e->regs))
		return -ESRCH;
	if (c->landing_size)
		hodo_attach_write(e->target, c->landing, zeros, c->landing_size);
	return 0;
}

int hodo_attach_call(struct hodo_attach_tracee *e, const struct hodo_attach_places *p,
		     const struct hodo_attach_stack *stack, int64_t answer[3])
{
	const uint64_t faults = 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGILL - 1) |
				1ull << (SIGFPE - 1) | 1ull << (SIGSYS - 1) | 1ull << (SIGTRAP - 1);
	const uint64_t mapped[6] = { 0, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK,
				     ~0ull, 0 };
	struct call c = { .e = e, .p = p };
	uint64_t errno_at = e->regs.fs_base + (uint64_t)p->errno_offset;
	int error, back;
	int64_t r;

	error = hodo_attach_tracee_save(e);
	if (error)
		return error;
	c.signal = choose_signal(e);
	c.busy_mask = (~faults | e->mask) & ~(1ull << (c.signal - 1));
	make_landing(&c, stack);
	r = system_call(&c, SYS_mmap, mapped, &error);
	if (error)
		return error;
	if (r < 0 && r > NO_ERROR) {
		put_back(&c, false);
		return (int)r;
	}
	c.stack = (uint64_t)r;
	error = -EIO;
	if (hodo_attach_read(e->target, errno_at, &c.number, sizeof(c.number)) && make_stack(&c))
		error = load_and_listen(&c, answer);
	if (error == -ESRCH || error == -ETIMEDOUT)
		return error;
	hodo_attach_write(e->target, errno_at, &c.number, sizeof(c.number));
	back = put_back(&c, true);
	return back ? back : error;
}
