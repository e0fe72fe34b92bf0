/* SPDX-License-Identifier: MIT */
/*
 * trap.c - the signals that a trap raises, and the program's own use of them.
 *
 * A thread that meets one of our traps continues in the slot, in the copy of the instruction that was there:
 * the handler changes only its return address. Other traps go to the program's own handler, just as without
 * us: with the mask that the program asked for, only once if it asked for that, and with the kernel's default
 * if it has none.
 *
 * The handler runs between any two instructions of the program, on any stack: it calls nothing, takes no lock, and
 * touches neither errno nor a vector register.
 */
#include "engine.h"

#include <core/atomic.h>
#include <core/search.h>
#include <fcntl.h>
#include <ucontext.h>
#include <user/libc/libc.h>

#define RESTORER 0x04000000u /* SA_RESTORER: the kernel has no other way back */
#define SIGNAL_BYTES HODO_ENGINE_SET_BYTES
#define INT3 0xcc

static bool armed;

/* Not ours: nothing of ours is there, nor was when the trap was met; it may even be other code now. */
static bool is_gone(uint8_t state)
{
	return (state & (HODO_ENGINE_REFUSED | HODO_ENGINE_ON)) == HODO_ENGINE_REFUSED;
}

/* The plan's slot for a trap at the address, and its window; 0: none. */
static uint64_t find_in(const struct hodo_engine_plan *p, const struct hodo_plan *head, uint64_t from, uint32_t *window)
{
	uint32_t k = hodo_search(i, head->traps.n, p->traps[i].from >= from);
	uint32_t w = hodo_search(i, head->windows.n, p->windows[i].addr > from);

	if (k == head->traps.n || p->traps[k].from != from || !w ||
	    from - p->windows[w - 1].addr >= p->windows[w - 1].len || is_gone(hodo_load(&p->state[w - 1])))
		return 0;
	*window = w - 1;
	return p->traps[k].to;
}

static bool find(uint64_t from, greg_t *at)
{
	struct hodo_engine_plan *found = 0;
	uint32_t window = 0, w;

	/* The youngest plan's slot: if several plans have the place, that one is in use. */
	hodo_engine_look();
	for (uint32_t i = 0; i < hodo_load_acquire(&hodo_engine_nplans); i++) {
		struct hodo_engine_plan *p = &hodo_engine_plans[i];
		const struct hodo_plan *head = hodo_engine_head(p);
		uint64_t to = head->traps.n && (!found || p->age > found->age) ? find_in(p, head, from, &w) : 0;

		if (!to)
			continue;
		found = p;
		window = w;
		*at = (greg_t)to;
	}
	hodo_engine_look_end();
	/* The thread has trapped there, so its code is mapped: this plan stays. */
	if (found && from != found->windows[window].addr)
		hodo_engine_heated(found, window);
	return found;
}

/* Also false if that cannot be known. */
static bool is_int3(uint64_t addr)
{
	return hodo_engine_readable((const void *)addr) && *(const uint8_t *)addr == INT3;
}

/*
 * int3 leaves rip after itself, unless a debugger saw it first and set rip back. An int3 there that is not
 * ours is the program's own. So are the signals of single steps and watchpoints.
 */
static bool serve(int signal, const siginfo_t *info, greg_t *at)
{
	uint64_t rip = (uint64_t)*at;

	if (signal != SIGTRAP)
		return info->si_code > 0 && find(rip, at);
	return info->si_code == SI_KERNEL && (find(rip - 1, at) || (!is_int3(rip - 1) && find(rip, at)));
}

/* As if we had no handler. */
static void die(int signal, siginfo_t *info)
{
	struct hodo_engine_action none = { 0 };

	hodo_sys4(SYS_rt_sigaction, signal, &none, 0, SIGNAL_BYTES);
	/* The instruction runs again, and the kernel does the rest; an int3 is already past. */
	if (signal == SIGILL && info->si_code > 0)
		return;
	hodo_sys4(SYS_rt_tgsigqueueinfo, hodo_sys0(SYS_getpid), hodo_gettid(), signal, info);
}

static void pass_on(int signal, siginfo_t *info, void *context)
{
	struct hodo_engine_action *action = hodo_engine_action(signal), now;
	uintptr_t handler = hodo_load_acquire((uintptr_t *)&action->handler); /* what belongs to it stands there then */
	uint64_t mask;

	now = *action;
	mask = now.mask | (now.flags & SA_NODEFER ? 0 : 1ull << (signal - 1));
	hodo_add(&hodo_engine_counts.others, 1);
	if (handler == (uintptr_t)SIG_IGN && info->si_code <= 0)
		return;
	if (handler == (uintptr_t)SIG_IGN || handler == (uintptr_t)SIG_DFL) {
		die(signal, info);
		return;
	}
	mask &= ~HODO_ENGINE_SIGNALS;
	hodo_sys4(SYS_rt_sigprocmask, SIG_BLOCK, &mask, 0, sizeof(mask));
	if (now.flags & SA_RESETHAND) { /* unless another thread has set a new one meanwhile */
		uintptr_t is = handler;

		hodo_cas_acquire((uintptr_t *)&action->handler, &is, (uintptr_t)SIG_DFL);
	}
	((void (*)(int, siginfo_t *, void *))handler)(signal, info, context);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
	greg_t *at = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	if (serve(signal, info, at))
		hodo_add(&hodo_engine_counts.served, 1);
	else
		pass_on(signal, info, context);
}

static void count_entry(long dir, const char *name, void *threads)
{
	(void)dir;
	*(unsigned *)threads += name[0] != '.';
}

/* Other threads may block the signals, and the first trap that they meet would kill them. */
bool hodo_engine_alone(void)
{
	long dir = hodo_sys4(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	unsigned threads = 0;

	if (dir < 0)
		return false;
	hodo_sys_file_each(dir, count_entry, &threads);
	hodo_sys1(SYS_close, dir);
	return threads == 1;
}

void hodo_engine_set_guarded(bool guarded)
{
	const uint64_t ours = HODO_ENGINE_SIGNALS;

	hodo_signals_all = guarded ? ~ours : ~0ull;
	hodo_engine_guarded = guarded;
	/* Here, too: the caller has blocked all signals. */
	if (guarded)
		hodo_sys4(SYS_rt_sigprocmask, SIG_UNBLOCK, &ours, 0, SIGNAL_BYTES);
}

static int take_over(int signal)
{
	/* SA_ONSTACK: the current stack may have no room. SA_NODEFER: neither is ever blocked. */
	const uint64_t flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART | RESTORER;
	const struct hodo_engine_action ours = { on_signal, flags, hodo_x86_engine_restore, 0 };
	struct hodo_engine_action was;
	int error = (int)hodo_sys4(SYS_rt_sigaction, signal, 0, &was, SIGNAL_BYTES);

	if (error || was.handler == on_signal)
		return error;
	*hodo_engine_action(signal) = was;
	return (int)hodo_sys4(SYS_rt_sigaction, signal, &ours, 0, SIGNAL_BYTES);
}

/* Until its system calls go through us, the program may have set handlers since the last time. */
int hodo_engine_arm(void)
{
	int error;

	if (hodo_engine_guarded)
		return 0;
	error = take_over(SIGTRAP);
	if (!error)
		error = take_over(SIGILL);
	if (error)
		return error;
	hodo_engine_pid = (uint32_t)hodo_sys0(SYS_getpid);
	armed = true;
	return 0;
}

static void give_back(int signal)
{
	struct hodo_engine_action is;

	if (hodo_sys4(SYS_rt_sigaction, signal, 0, &is, SIGNAL_BYTES) == 0 && is.handler == on_signal)
		hodo_sys4(SYS_rt_sigaction, signal, hodo_engine_action(signal), 0, SIGNAL_BYTES);
}

void hodo_engine_disarm(void)
{
	if (!armed)
		return;
	give_back(SIGTRAP);
	give_back(SIGILL);
	armed = false;
}
