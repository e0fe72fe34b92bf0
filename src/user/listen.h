/* SPDX-License-Identifier: MIT */
/* listen.h - the thread that listens: what is known of it. */
#ifndef HODO_USER_LISTEN_H
#define HODO_USER_LISTEN_H

#include <sys/un.h>
#include "user.h"

enum hodo_listener_state {
	HODO_LISTENER_NONE = 0,
	HODO_LISTENER_STARTING = 1,
	HODO_LISTENER_LISTENS = 2,
	HODO_LISTENER_LEAVES = 3, /* it may be asked to stay still */
	HODO_LISTENER_CLOSES = 4
};

struct hodo_listener {
	uint32_t state; /* enum hodo_listener_state */
	uint32_t why;   /* enum hodo_listens */
	uint32_t pid;
	int error; /* of its start */
	bool own_dir; /* the socket's directory is to go with it */
	struct sockaddr_un address;
};
extern HODO_HIDDEN struct hodo_listener hodo_listener;

HODO_HIDDEN void *hodo_listener_run(void *unused); /* serve.c: what it does */
HODO_HIDDEN void hodo_listener_remove(void); /* serve.c: its socket */

#endif
