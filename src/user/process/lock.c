/* SPDX-License-Identifier: MIT */
/*
 * lock.c - the control lock, and how to recognise a fork child.
 *
 * A fork child must not write into its parent's rings. The table of views lies in memory that the kernel wipes on fork,
 * so that every thread takes the slow path at once, even after clone() or _Fork(), which run no handlers; a
 * mark on another wiped page tells the slow path why. The rings themselves are not inherited (MADV_DONTFORK).
 */
#include <user/libc/sys.h>
#include "process.h"

static uint32_t not_watched = HODO_SET_UP;
const uint32_t *hodo_fork_mark = &not_watched;
static uint32_t *fork_mark;
static void (*set_up_child)(void);
static uint32_t set_up_by; /* the thread that sets this process up, while the mark says so */
static uint32_t control_owner;

void hodo_control_retake(void)
{
	uint32_t tid = hodo_gettid(), owner = 0;

	for (unsigned i = 1; !hodo_cas_acquire(&control_owner, &owner, tid); owner = 0, i++) {
		/* Finally sleep: yielding alone would starve an owner with lower real-time priority. */
		if (i > 1000)
			hodo_sleep_ns(50000);
		else if (i % 16 == 0)
			hodo_sys0(SYS_sched_yield);
	}
}

void hodo_control_release(void)
{
	hodo_store_release(&control_owner, 0);
}

uint64_t hodo_control_lock(void)
{
	uint64_t mask = hodo_signals_block();

	/* In a child that ran no fork handler, the owner may be a thread of the parent. */
	hodo_process_check_fork();
	hodo_control_retake();
	return mask;
}

bool hodo_control_try(uint64_t *mask)
{
	uint32_t nobody = 0;

	if (hodo_process_forked())
		return false;
	*mask = hodo_signals_block();
	if (hodo_cas_acquire(&control_owner, &nobody, hodo_gettid()))
		return true;
	hodo_signals_restore(*mask);
	return false;
}

void hodo_control_unlock(uint64_t mask)
{
	hodo_control_release();
	hodo_signals_restore(mask);
}

/*
 * musl's fork() waits for the loader's lock after its handlers, which hold the control lock. Code that the
 * loader calls, under its lock, may borrow the control lock of a thread that is about to fork: that thread
 * gets no farther until the loader is done, and then first takes the lock back.
 *
 *                | borrow, give back            | lend, take back
 *   borrow, …    | excluded (the loader's lock) | one compare-and-swap decides
 *   lend, …      |                              | excluded (control lock)
 */
enum { OWN = 0, LENT = 1, BORROWED = 2 };
static uint32_t lending;

void hodo_control_lend(void)
{
	hodo_store_release(&lending, LENT);
}

void hodo_control_take_back(void)
{
	hodo_await(&lending, LENT, OWN);
}

uint64_t hodo_control_borrow(bool *borrowed)
{
	uint64_t mask = hodo_signals_block();

	hodo_process_check_fork();
	for (;;) {
		uint32_t owner = 0, lent = LENT;

		*borrowed = false;
		if (hodo_cas_acquire(&control_owner, &owner, hodo_gettid()))
			return mask;
		*borrowed = true;
		if (hodo_cas_acquire(&lending, &lent, BORROWED))
			return mask;
		hodo_sleep_ns(50000);
	}
}

void hodo_control_give_back(uint64_t mask, bool borrowed)
{
	if (borrowed)
		hodo_store_release(&lending, LENT);
	else
		hodo_control_release();
	hodo_signals_restore(mask);
}

/* -------------------------------------------------------------------- fork */

static void *wiped_mapping(size_t len)
{
	void *p = hodo_map(len);

	if (!p)
		return 0;
	if (hodo_sys3(SYS_madvise, p, len, MADV_WIPEONFORK) != 0) {
		hodo_sys2(SYS_munmap, p, len);
		return 0;
	}
	return p;
}

void hodo_process_views(void)
{
	struct hodo_view *all = hodo_recording.views ? 0 : wiped_mapping(sizeof(struct hodo_view) * HODO_VIEWS_ALL);

	if (all)
		hodo_recording.views = all + HODO_VIEWS_BEFORE;
}

bool hodo_process_watch_forks(void (*set_up)(void))
{
	set_up_child = set_up;
	fork_mark = wiped_mapping(HODO_PAGE);
	if (!fork_mark)
		return false;
	*fork_mark = HODO_SET_UP;
	hodo_store_release(&hodo_fork_mark, fork_mark);
	return true;
}

void hodo_process_set_up_child(void)
{
	hodo_store(&set_up_by, hodo_gettid());
	hodo_store_release(fork_mark, HODO_SETTING_UP);
	set_up_child();
	hodo_store_release(fork_mark, HODO_SET_UP);
}

static void after_fork(long a, long b, long c)
{
	uint64_t mask = hodo_signals_block();
	uint32_t mark = HODO_FORKED;

	if (hodo_cas_acquire(fork_mark, &mark, HODO_SETTING_UP)) {
		control_owner = hodo_gettid(); /* its holder stayed in the parent */
		/* The forked thread is another one, and keeps its table, which stays empty from now on. */
		if (control_owner != (uint32_t)hodo_sys0(SYS_getpid))
			hodo_recording.views = 0;
		hodo_process_set_up_child();
		hodo_store_release(&control_owner, 0);
	}
	/* A thread does not wait for itself: what it calls while it sets the child up may be traced, and that event is
	 * left out. */
	while (hodo_load_acquire(fork_mark) == HODO_SETTING_UP && hodo_load(&set_up_by) != hodo_gettid())
		hodo_sleep_ns(50000);
	hodo_signals_restore(mask);
}

/*
 * In a child that ran no fork handler. It may have started threads since: one sets the child up, the others
 * wait.
 */
void hodo_process_after_fork(void)
{
#ifdef __x86_64__
	hodo_x86_keep(after_fork, 0, 0, 0);
#else
	after_fork(0, 0, 0);
#endif
}
