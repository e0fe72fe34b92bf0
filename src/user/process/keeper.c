/* SPDX-License-Identifier: MIT */
/*
 * keeper.c - ends a process whose first thread left before the others (pthread_exit() in main).
 *
 * Such a process ends with its last thread, in which libc then calls exit(0). libc counts the thread that
 * listens, too, which never ends: without this, the process would not, either. Nor may that thread be the
 * last: exit() flushes stdio, and that thread's descriptors are not the program's. So when the first thread
 * leaves, it starts one that waits until nobody else is there, has the listener leave, and ends last.
 *
 * A first thread that left before anybody listened goes unnoticed: it runs no more code.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <user/talk/listen.h>
#include <user/libc/sys.h>
#include "process.h"

#define LOOK_NS 50000000

static pthread_key_t key; /* whose destructor runs when the first thread leaves; set only there */
static bool has_key;
static sigset_t leader_mask;

uint64_t hodo_keeper_threads(void)
{
	struct stat st;

	if (hodo_sys4(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &st, 0) != 0 || st.st_nlink < 2)
		return 0;
	return st.st_nlink - 2;
}

static void *keep(void *unused)
{
	for (;;) {
		bool listens = hodo_load_acquire(&hodo_listener.state) != HODO_LISTENER_NONE;

		/* The first, this one, and the listener. */
		if (hodo_keeper_threads() <= (listens ? 3u : 2u)) {
			if (!listens)
				break;
			hodo_listener_leave();
		}
		hodo_sleep_ns(LOOK_NS);
	}
	pthread_sigmask(SIG_SETMASK, &leader_mask, 0); /* for the functions that exit() calls */
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
