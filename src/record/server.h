/* SPDX-License-Identifier: MIT */
/*
 * server.h - the socket at which processes join a recording, and those that are just joining.
 */
#ifndef HODO_RECORD_SERVER_H
#define HODO_RECORD_SERVER_H

#include "connection.h"
#include "session.h"

/* 0 or negative errno. */
int hodo_server_open(struct hodo_session *s);
/* Answers all who wait, up to a bound, so that other work gets its turn. */
void hodo_server_answer(struct hodo_session *s);
/* Begins the recording of the one that handed over its buffers first. False: there is none. */
bool hodo_server_start_next(struct hodo_session *s);
/* Drops connections that were not done with in time. */
void hodo_server_expire(struct hodo_session *s, int64_t now_ns);
/* Whether a process is just joining. */
bool hodo_server_pending(const struct hodo_session *s);
/* Takes in whoever has come already: a short-lived process may have handed over its buffers and exited. */
void hodo_server_drain(struct hodo_session *s);
void hodo_server_close(struct hodo_session *s);

/* Takes in who has connected to a listening socket: processes of this user, and root's; or anybody's with the key. */
#define HODO_WITH_KEY ((uid_t)-1)
void hodo_server_accept(struct hodo_server *server, int listening_fd, uid_t uid);

/* join.c: closes the sockets of hodo_session_socket_for(), at which children of adopted processes join. */
void hodo_join_close(struct hodo_session *s);

#endif
