/* SPDX-License-Identifier: MIT */
/*
 * wait.c - makes writers wait for room in a full ring, if the recording asks for it (hodo record --wait).
 *
 *   a writer, signals blocked                     the recorder
 *   1  seen = space                               a  consumed = ...
 *   2  waiters = 1                                b  waiting = exchange(waiters, 0)
 *   3  the ring is full still? else try again     c  space += 1
 *   4  with its own signals: sleep if space       d  if waiting: wake all
 *      is seen
 *
 *                 | write, switch | wait   | the recorder
 *   wait          | beside        | beside | beside, in the order above
 *
 * 1 before 3: a writer that reads space late and consumed early would sleep on a number that never changes
 * again. 2 before 3: otherwise the recorder may check the flag for the last time before it is set, and both
 * sleep. c after b: a writer that reads the new number has yet to set its flag, and one whose flag was
 * cleared has the old number, on which it no longer sleeps. Model: tests/model/hodo_wait.pml.
 *
 * A sleeper holds nothing; if it is killed, or leaves by longjmp, it leaves a flag that costs the recorder
 * one system call. Handlers may wait, too: the recorder does not depend on the program. Threads that others
 * depend on do not wait: libhodo's own listener, and processes that share the memory (vfork).
 *
 * Writers wait for a stopped recorder. They check for a dead one before each sleep and ten times a second
 * during it. From then on nobody waits, as if --wait had not been given.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <user/libc/sys.h>
#include "rings.h"
#include "wait.h"
#include <user/libc/libc.h>
#include <user/process/process.h>

#define SPINS	 200	   /* a running recorder has often made room by then */
#define SLICE_NS 100000000 /* the longest time until a dead recorder is noticed */
#define PAUSE_NS 50000

/* When the recorder started, in ticks since boot; 0: not known. Its pid alone may be reused. */
static uint64_t recorder_started;
static uint32_t listener;

/* In /proc/PID/stat the state follows the name's ')', the start's time is 19 fields further. False: no such file. */
static bool read_stat(uint32_t pid, char *state, uint64_t *started)
{
	char path[32] = "/proc/", text[512];
	const char *at = text;
	long n;

	hodo_fixed_text_number(path, sizeof(path), pid);
	hodo_fixed_text_add(path, sizeof(path), "/stat");
	n = hodo_sys_file_read(AT_FDCWD, path, text, sizeof(text));
	if (n <= 0)
		return false;
	for (long i = 0; i + 2 < n; i++)
		at = text[i] == ')' ? text + i + 2 : at;
	*state = *at;
	for (int fields = 0; fields < 19 && at < text + n; at++)
		fields += *at == ' ';
	*started = 0;
	for (; at < text + n && *at >= '0' && *at <= '9'; at++)
		*started = *started * 10 + (uint64_t)(*at - '0');
	return true;
}

static bool recorder_is_dead(void)
{
	uint32_t pid = hodo_recording.recorder;
	uint64_t started;
	char state;

	if (hodo_sys2(SYS_kill, pid, 0) == -ESRCH)
		return true;
	return read_stat(pid, &state, &started) &&
	       (state == 'Z' || state == 'X' || (recorder_started && started != recorder_started));
}

void hodo_wait_never(uint32_t tid)
{
	hodo_store(&listener, tid);
}

void hodo_wait_begin(void)
{
	struct hodo_recording *r = &hodo_recording;
	char state;

	/* A recorder in another pid namespace cannot be watched by its pid, and could die unnoticed. */
	r->waits = r->config.wait_ns && r->ring.mode == HODO_MODE_DISCARD && r->recorder;
	recorder_started = 0;
	if (r->waits)
		read_stat(r->recorder, &state, &recorder_started);
}

/* With signals blocked, in a recording. Writers in assembly again count events that find no room. */
static void stop_waiting(void)
{
	const struct hodo_layout *l = &hodo_recording.layout;

	hodo_store(&hodo_recording.waits, false);
	for (uint32_t i = 0; i < l->rings; i++) {
		struct hodo_view *v = hodo_view_of(i);

		if (hodo_load_acquire(&v->packet_size))
			hodo_store(&v->capacity, l->ring_size / l->packet_size);
	}
}

static uint64_t now_ns(void)
{
	return (uint64_t)hodo_clock_ns(CLOCK_MONOTONIC);
}

static bool may_wait(const struct hodo_wait *wait)
{
	const struct hodo_shm *shm = hodo_shm();
	uint64_t most = hodo_recording.config.wait_ns;

	if (!hodo_load(&hodo_recording.waits) || hodo_load_seq(&shm->stopped) || hodo_load_seq(&shm->waits_not))
		return false;
	if (hodo_gettid() == hodo_load(&listener) || (uint32_t)hodo_sys0(SYS_getpid) != shm->pid)
		return false;
	if (wait->begun_ns)
		return most == HODO_WAIT_FOREVER || now_ns() - wait->begun_ns < most;
	if (!recorder_is_dead())
		return true;
	stop_waiting();
	return false;
}

bool hodo_wait_prepare(struct hodo_wait *wait, struct hodo_ring *ring)
{
	uint64_t consumed;

	if (!may_wait(wait))
		return false;
	if (!wait->begun_ns)
		wait->begun_ns = now_ns();
	wait->space = 0;
	if (!ring)
		return true;
	consumed = hodo_load_acquire(&ring->consumed);
	for (int i = 0; i < SPINS && hodo_load(&ring->consumed) == consumed; i++) {
#ifdef __x86_64__
		__builtin_ia32_pause();
#endif
	}
	wait->space = &ring->space;
	wait->seen = hodo_load_seq(&ring->space);
	hodo_store_seq(&ring->waiters, 1);
	return true;
}

/* The memory may be gone: a handler may have forked. in_vain: nobody has woken it, and the recorder may be dead. */
static void account(uint64_t since, bool in_vain)
{
	uint64_t mask = hodo_signals_block();

	if (hodo_process_recording()) {
		hodo_add(&hodo_shm()->waited_ns, now_ns() - since);
		if (in_vain && hodo_recording.waits && recorder_is_dead())
			stop_waiting();
	}
	hodo_signals_restore(mask);
}

void hodo_wait_sleep(struct hodo_wait *wait)
{
	uint64_t most = hodo_recording.config.wait_ns, since = now_ns(), spent = since - wait->begun_ns;
	struct timespec slice = { 0, SLICE_NS };
	long n = 0;

	if (most < spent + SLICE_NS)
		slice.tv_nsec = (long)(most > spent ? most - spent : 1);
	HODO_INJECT(HODO_INJECT_WAIT);
	if (wait->space)
		n = hodo_sys6(SYS_futex, (long)wait->space, FUTEX_WAIT, wait->seen, (long)&slice, 0, 0);
	else
		hodo_sleep_ns(PAUSE_NS);
	account(since, n == -ETIMEDOUT);
}
