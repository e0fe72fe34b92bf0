/* SPDX-License-Identifier: MIT */
/*
 * watch.h - an entry in an epoll that waits for a descriptor to become ready.
 */
#pragma once

#include <stddef.h>

/* The struct that contains the member at the pointer. */
#define HODO_OWNER(pointer, type, member) ((type *)(void *)((char *)(pointer) - offsetof(type, member)))

/* What epoll's data points to. */
struct hodo_watch {
	void (*ready)(struct hodo_watch *w); /* may free it: events are taken one by one */
};
