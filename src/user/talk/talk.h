/* SPDX-License-Identifier: MIT */
/*
 * talk.h - the conversation with a recorder: recordings that begin and end, sessions, and the thread that listens.
 */
#pragma once

#include <user/objects/extension.h>
#include <user/user.h>

/* recording.c: beginning and ending; under the control lock. */
struct hodo_recording_memory {
	struct hodo_layout layout;
	uint8_t *shm;
	uint32_t by, recorder; /* as in struct hodo_recording */
};
HODO_HIDDEN int hodo_recording_possible(void); /* 0; -EBUSY: there is one; -EAGAIN: the last one is still ending */
/* Maps the file as the memory of memory->layout, still empty. 0 or negative errno. */
HODO_HIDDEN int hodo_recording_map(struct hodo_recording_memory *memory, int fd);
HODO_HIDDEN bool hodo_config_valid(const struct hodo_msg_config *c, long len, struct hodo_layout *layout);
/* Takes the configuration and the memory, without beginning; afterwards the catalogue is in it. */
HODO_HIDDEN int hodo_recording_take(const struct hodo_msg_config *c, const struct hodo_recording_memory *memory);
HODO_HIDDEN void hodo_recording_drop(void); /* gives up what hodo_recording_take() took */
HODO_HIDDEN int hodo_recording_begin(void); /* events are on when it returns; 0 or an error of patching */
/*
 * Events are off when it returns; releases the lock in between. 0; -ENOTCONN: none, or it is ending; -EAGAIN:
 * a thread is still inside, the memory stays.
 */
HODO_HIDDEN int hodo_recording_end(void);
HODO_HIDDEN void hodo_recording_forked(void); /* in a fork child: the memory was not inherited */

/* session.c: the session with the recorder. 0 or negative errno. */
HODO_HIDDEN int hodo_session_start(enum hodo_start start); /* on the socket in the environment, if any */
/* On a connection, which stays open. */
HODO_HIDDEN int hodo_session_converse(int fd, enum hodo_start start, uint32_t recorder);
/* Copies of the recorder's libraries for the root directory that the caller has: it waits for them. Signal safe. */
HODO_HIDDEN int hodo_session_libraries(struct hodo_msg_libraries *answer);
/* Takes a plan; the caller sets n and object of `ask`. The lock is free in between. */
HODO_HIDDEN int hodo_session_plan(struct hodo_msg_ask *ask, enum hodo_plan_step step);
HODO_HIDDEN void hodo_session_join(const char *path); /* where fork children join; "": nowhere */
HODO_HIDDEN bool hodo_session_dead(void); /* the recorder of the present recording has exited */

/* listen.c */
enum hodo_listens { HODO_LISTENS_WANTED = 1, HODO_LISTENS_MADE = 2 }; /* the program wants it; it was made to */
HODO_HIDDEN void hodo_listener_init(char *const *envp);
HODO_HIDDEN int hodo_listener_start(uint32_t why);
HODO_HIDDEN void hodo_listener_lost(void);   /* in a fork child: the thread stayed in the parent */
HODO_HIDDEN void hodo_listener_forked(void); /* after hodo_listener_lost(): without the lock, in a fork handler */

/* control.c; under the control lock */
HODO_HIDDEN int hodo_control_set(const char *pattern, bool on);

/* socket.c: packet sockets, which never block. */
HODO_HIDDEN long hodo_sys_socket_new(void); /* or negative errno */
/* passed: a descriptor, or -1 */
HODO_HIDDEN long hodo_sys_socket_send(int fd, const void *data, size_t len, int passed);
HODO_HIDDEN bool hodo_sys_socket_peer(int fd, uint32_t *pid, uint32_t *uid); /* pid 0: not known here */
