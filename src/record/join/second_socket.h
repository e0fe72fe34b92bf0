/* SPDX-License-Identifier: MIT */
/*
 * second_socket.h - the second socket at which processes join: for those that cannot reach the path of the first.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <hodo/abi.h>

#include <record/watch.h>

struct hodo_connection;
struct hodo_recorder;

/* ready: somebody has connected. 0 or negative errno. */
int hodo_second_socket_open(struct hodo_recorder *s, void (*ready)(struct hodo_watch *w));
void hodo_second_socket_close(struct hodo_recorder *s);
/* Whether to accept connections, or leave them in the socket's queue. */
void hodo_second_socket_watch(struct hodo_recorder *s, bool on);

/* Whether so many strangers were refused that no more are accepted now. */
bool hodo_second_socket_flooded(const struct hodo_recorder *s);
void hodo_second_socket_step(struct hodo_recorder *s, int64_t now_ns);

/* For a message of len bytes: whether the connection needs no key, or the message shows it. */
bool hodo_second_socket_admit(struct hodo_connection *c, const struct hodo_msg_hello *hello, ssize_t len);
