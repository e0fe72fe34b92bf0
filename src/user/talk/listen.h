/* SPDX-License-Identifier: MIT */
/* listen.h - the state of the thread that listens. */
#pragma once

#include <user/user.h>
#include <sys/un.h>

#define HODO_LISTENER_CLIENTS 16

enum hodo_listener_state {
	HODO_LISTENER_NONE = 0,
	HODO_LISTENER_STARTING = 1,
	HODO_LISTENER_LISTENS = 2,
	HODO_LISTENER_LEAVES = 3, /* it can still be asked to stay */
	HODO_LISTENER_CLOSES = 4
};

struct hodo_listener {
	uint32_t state; /* enum hodo_listener_state */
	uint32_t why;   /* enum hodo_listens */
	uint32_t pid, tid;
	int error; /* of its start */
	bool own_dir; /* remove the socket's directory with it */
	struct sockaddr_un address;
};
extern HODO_HIDDEN struct hodo_listener hodo_listener;

HODO_HIDDEN void *hodo_listener_run(void *unused); /* serve.c: its main function */
/* listener_socket.c: the descriptor of a new one, or negative errno. */
HODO_HIDDEN long hodo_listener_bind(void);
HODO_HIDDEN void hodo_listener_remove(void); /* its file */
/* It ends soon, unless somebody wants it meanwhile. Only who may connect to its socket wakes it. */
HODO_HIDDEN void hodo_listener_leave(void);
/* keeper.c: how many there are; a first one that has left counts. 0: not available. */
HODO_HIDDEN uint64_t hodo_keeper_threads(void);
