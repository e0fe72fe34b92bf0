/* SPDX-License-Identifier: MIT */
/*
 * mask.c - the program's system calls that would block or handle SIGTRAP or SIGILL. The kernel kills a thread
 * that meets a trap while its signal is blocked, so neither is ever blocked; to the program it looks as if
 * nobody ever sent them.
 *
 * The calls are in libc, in any state of it, also in a vfork child, which has its parent's memory and its own
 * handlers. If the memory that the program passes is not mapped, the kernel reports that, as it would have.
 */
#include "engine.h"
#include <user/process/process.h>

#define SIZE HODO_ENGINE_SET_BYTES

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

/* The kernel reads the set before it checks the operation, and 0x7fff is none. */
bool hodo_engine_readable(const void *p)
{
	return hodo_sys4(SYS_rt_sigprocmask, 0x7fff, p, 0, SIZE) == -EINVAL;
}

static bool is_writable(void *p)
{
	return hodo_sys4(SYS_rt_sigprocmask, SIG_BLOCK, 0, p, SIZE) == 0;
}

/* The mark tells an attaching process that the thread is in the program's call, not in our code. */
static long call(const struct hodo_engine_registers *r)
{
	register uint64_t r10 __asm__("r10") = r->r10;
	register uint64_t r8 __asm__("r8") = r->r8;
	register uint64_t r9 __asm__("r9") = r->r9;
	long result;

	__asm__ volatile("syscall\n\t" HODO_PLAN_CALL_MARK
			 : "=a"(result)
			 : "a"(r->rax), "D"(r->rdi), "S"(r->rsi), "d"(r->rdx), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/*
 * Replaces the set that the register points to by one without ours. False: unchanged, the kernel will judge
 * it.
 */
static bool clean(uint64_t *pointer, uint64_t *set)
{
	if (!*pointer || !hodo_engine_readable((const void *)*pointer))
		return false;
	*set = *(const uint64_t *)*pointer & ~HODO_ENGINE_SIGNALS;
	*pointer = (uintptr_t)set;
	return true;
}

/* ------------------------------------------------------------------------- handlers */

/* A vfork child has its own handlers, and must not change the parent's record of its handlers. */
static bool is_us(void)
{
	return hodo_process_forked() || (uint32_t)hodo_sys0(SYS_getpid) == hodo_engine_pid;
}

static long our_action(int signal, const struct hodo_engine_action *new, struct hodo_engine_action *old)
{
	struct hodo_engine_action *action = hodo_engine_action(signal), was = *action;

	if (new && (!hodo_engine_readable(new) || !hodo_engine_readable((const char *)(new + 1) - SIZE)))
		return -EFAULT;
	if (old && (!is_writable(old) || !is_writable((char *)(old + 1) - SIZE)))
		return -EFAULT;
	if (new && is_us()) {
		struct hodo_engine_action wanted = *new;

		/* The handler last: a trap that is not ours may come at any time. */
		action->flags = wanted.flags;
		action->mask = wanted.mask;
		action->restorer = wanted.restorer;
		hodo_store_release((uintptr_t *)&action->handler, (uintptr_t)wanted.handler);
	}
	if (old)
		*old = was;
	return 0;
}

static long action(struct hodo_engine_registers *r)
{
	const struct hodo_engine_action *new = (const struct hodo_engine_action *)r->rsi;
	struct hodo_engine_action wanted;

	if (r->r10 != SIZE)
		return call(r);
	if (r->rdi == SIGTRAP || r->rdi == SIGILL)
		return our_action((int)r->rdi, new, (struct hodo_engine_action *)r->rdx);
	if (!new || !hodo_engine_readable(new) || !hodo_engine_readable((const char *)(new + 1) - SIZE))
		return call(r);
	wanted = *new;
	wanted.mask &= ~HODO_ENGINE_SIGNALS;
	r->rsi = (uintptr_t)&wanted;
	return call(r);
}

/* ---------------------------------------------------------------------------- masks */

static long with_set(struct hodo_engine_registers *r, uint64_t *pointer, uint64_t size)
{
	uint64_t set;

	if (size == SIZE)
		clean(pointer, &set);
	return call(r);
}

/* pselect6, io_pgetevents: the set's address and its size, in memory. */
static long with_pair(struct hodo_engine_registers *r)
{
	const uint64_t *pair = (const uint64_t *)r->r9;
	uint64_t set, ours[2];

	if (!pair || !hodo_engine_readable(pair) || !hodo_engine_readable(pair + 1))
		return call(r);
	ours[0] = pair[0];
	ours[1] = pair[1];
	if (ours[1] == SIZE)
		clean(&ours[0], &set);
	r->r9 = (uintptr_t)ours;
	return call(r);
}

/*
 * Where it is in the program: an unwinder that starts there, for example to cancel the thread, finds the
 * program's code.
 */
static uint64_t original_in(const struct hodo_engine_plan *p, uint64_t back)
{
	for (uint32_t k = 0; k < p->nalways; k++) {
		const struct hodo_plan_window *w = &p->windows[p->always[k]];
		int32_t distance;
		uint64_t slot;

		__builtin_memcpy(&distance, w->jump + 1, sizeof(distance));
		slot = w->addr + sizeof(w->jump) + (uint64_t)(int64_t)distance;
		if (back - slot <= HODO_ENGINE_SYSCALL_BYTES)
			return w->addr + 2;
	}
	return 0;
}

static uint64_t original(uint64_t back)
{
	uint64_t found = 0;

	hodo_engine_look();
	for (uint32_t i = 0; i < hodo_load_acquire(&hodo_engine_nplans) && !found; i++) {
		const struct hodo_engine_plan *p = &hodo_engine_plans[i];

		if (hodo_engine_head(p) != &hodo_engine_nothing)
			found = original_in(p, back);
	}
	hodo_engine_look_end();
	return found ? found : back;
}

long hodo_engine_syscall(struct hodo_engine_registers *r)
{
	r->original = original(r->back);
	switch (r->rax) {
	case SYS_rt_sigaction: return action(r);
	case SYS_rt_sigprocmask: return r->rdi == SIG_UNBLOCK ? call(r) : with_set(r, &r->rsi, r->r10);
	case SYS_rt_sigsuspend: return with_set(r, &r->rdi, r->rsi);
	case SYS_ppoll: return with_set(r, &r->r10, r->r8);
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2: return with_set(r, &r->r8, r->r9);
	default: return with_pair(r); /* pselect6, io_pgetevents */
	}
}
