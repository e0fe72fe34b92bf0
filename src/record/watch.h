/* SPDX-License-Identifier: MIT */
/*
 * watch.h - what waits in an epoll for a descriptor to become ready.
 */
#ifndef HODO_RECORD_WATCH_H
#define HODO_RECORD_WATCH_H

#include <stddef.h>

/* The struct of which a pointer leads to a member. */
#define HODO_OWNER(pointer, type, member) ((type *)(void *)((char *)(pointer) - offsetof(type, member)))

/* What epoll's data points to. */
struct hodo_watch {
	void (*ready)(struct hodo_watch *w); /* may free it: events are taken one by one */
};

#endif
