/* SPDX-License-Identifier: MIT */
/*
 * joining.h - the processes that are joining, in order of arrival; and those that wait for an answer.
 */
#ifndef HODO_RECORD_JOIN_JOINING_H
#define HODO_RECORD_JOIN_JOINING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct hodo_connection;
struct hodo_recorder;
struct hodo_watch;

struct hodo_joining {
	struct hodo_connection *first, **last;
	uint32_t n;
	uint32_t strangers; /* of them */
	int answers_fd; /* epoll: of all who wait for an answer */
};

/* Adds or removes descriptors at which somebody waits for an answer. 0 or negative errno. */
int hodo_joining_watch(struct hodo_recorder *s, int fd, struct hodo_watch *w);
void hodo_joining_unwatch(struct hodo_recorder *s, int fd);

/* NULL: no memory; fd stays the caller's. */
struct hodo_connection *hodo_joining_add(struct hodo_recorder *s, int fd, pid_t pid, uid_t uid,
					 void (*ready)(struct hodo_watch *w));
void hodo_joining_drop(struct hodo_connection *c);

/* Handles what earlier images of the connection's process have sent. */
void hodo_joining_supersede(struct hodo_connection *c);

/* An earlier connection of the same process whose buffers have arrived, even if not read yet; NULL: none. */
struct hodo_connection *hodo_joining_ready(struct hodo_connection *c);

/* Whether this process's buffers may be about to arrive. */
bool hodo_joining_has(const struct hodo_recorder *s, pid_t pid);

/* Whether the process has more silent connections than images: the present one and earlier ones. */
bool hodo_joining_too_many(const struct hodo_recorder *s, pid_t pid);

#endif
