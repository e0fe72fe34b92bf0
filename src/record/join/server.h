/* SPDX-License-Identifier: MIT */
/*
 * server.h - the socket at which processes join a recording, and those that are joining.
 */
#pragma once

#include "connection.h"
#include <record/recorder.h>

/* 0 or negative errno. */
int hodo_server_open(struct hodo_recorder *s);
/* Answers all waiting processes, up to a bound, so that other work gets its turn. */
void hodo_server_answer(struct hodo_recorder *s);
/* Begins the recording of the first process that handed over its buffers. False: none. */
bool hodo_server_start_next(struct hodo_recorder *s);
/* Closes connections past their deadline. */
void hodo_server_expire(struct hodo_recorder *s, int64_t now_ns);
/* Whether a process is joining. */
bool hodo_server_pending(const struct hodo_recorder *s);
/*
 * Handles all that have already connected: a short-lived process may have handed over its buffers and exited.
 */
void hodo_server_drain(struct hodo_recorder *s);
void hodo_server_close(struct hodo_recorder *s);

/*
 * Accepts connections to a listening socket: of this user's processes, and root's; or of anybody with the
 * key.
 */
#define HODO_WITH_KEY ((uid_t)-1)
void hodo_server_accept(struct hodo_server *server, int listening_fd, uid_t uid);

/* way_in.c: closes the sockets of hodo_recorder_socket_for(), at which children of adopted processes join. */
void hodo_way_in_close(struct hodo_recorder *s);
