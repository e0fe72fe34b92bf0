/* SPDX-License-Identifier: MIT */
/*
 * keeper.c - the end of a process whose first thread left before the others (pthread_exit() in main).
 *
 * Such a process ends with its last thread, in which libc calls exit(0) then. The thread that listens is one more
 * that libc counts and that never ends: without this, the process would not, either. Nor may it be the last:
 * exit() writes out what stdio holds, and that thread's descriptors are not the program's. So the first thread,
 * when it leaves, starts one that waits until nobody else is there, has the listener leave, and ends last.
 *
 * A first thread that has left before anybody listened is not noticed: nothing of it runs any more.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include "listen.h"
#include "sys.h"

#define LOOK_NS 50000000

static pthread_key_t key; /* whose destructor runs when the first thread leaves; set there alone */
static bool has_key;
static sigset_t leader_mask;

/* The first one, which has left, is one of them to the end. 0: not to be had. */
static uint64_t count_threads(void)
{
	struct stat st;

	if (hodo_sys4(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &st, 0) != 0 || st.st_nlink < 2)
		return 0;
	return st.st_nlink - 2;
}

static void have_it_leave(void)
{
	struct hodo_listener *l = &hodo_listener;
	uint32_t listens = HODO_LISTENER_LISTENS;
	long fd;

	hodo_cas_seq(&l->state, &listens, HODO_LISTENER_LEAVES);
	if (hodo_load_seq(&l->state) != HODO_LISTENER_LEAVES)
		return;
	/* So that it looks. */
	fd = hodo_socket_new();
	if (fd < 0)
		return;
	hodo_sys3(SYS_connect, fd, &l->address, sizeof(l->address));
	hodo_sys1(SYS_close, fd);
}

static void *keep(void *unused)
{
	for (;;) {
		bool listens = hodo_load_acquire(&hodo_listener.state) != HODO_LISTENER_NONE;

		/* The first, this one, and the listener. */
		if (count_threads() <= (listens ? 3u : 2u)) {
			if (!listens)
				break;
			have_it_leave();
		}
		hodo_sleep_ns(LOOK_NS);
	}
	pthread_sigmask(SIG_SETMASK, &leader_mask, 0); /* for what exit() calls */
	return 0;
}

static void leader_leaves(void *unused)
{
	pthread_sigmask(SIG_SETMASK, 0, &leader_mask);
	hodo_thread_start(keep);
}

void hodo_keeper_watch(void)
{
	if (hodo_gettid() != (uint32_t)hodo_sys0(SYS_getpid))
		return;
	if (!has_key)
		has_key = pthread_key_create(&key, leader_leaves) == 0;
	if (has_key)
		pthread_setspecific(key, &key);
}
