/* SPDX-License-Identifier: MIT */
/*
 * abstract.h - the second socket at which processes join: for those that cannot reach the path of the first.
 */
#ifndef HODO_RECORD_ABSTRACT_H
#define HODO_RECORD_ABSTRACT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <hodo/abi.h>

#include "watch.h"

struct hodo_connection;
struct hodo_session;

struct hodo_abstract {
	struct hodo_watch watch; /* of the listening socket */
	bool watched;
	int fd;
	uint64_t hello_key;  /* what a process shows */
	uint64_t answer_key; /* what it is shown */
	uint32_t refused;    /* in the present window of time, for want of the key */
	int64_t window_ns;   /* its end */
	char suffix[HODO_RECORDER_SUFFIX + 1]; /* #NAME-KEY; empty until it is open */
};

/* ready: somebody has connected. 0 or negative errno. */
int hodo_abstract_open(struct hodo_session *s, void (*ready)(struct hodo_watch *w));
void hodo_abstract_close(struct hodo_session *s);
/* Whether connections are taken, or left in the socket's queue. */
void hodo_abstract_watch(struct hodo_session *s, bool on);

/* Whether no more strangers are to be taken in now, since so many were refused. */
bool hodo_abstract_flooded(const struct hodo_session *s);
void hodo_abstract_step(struct hodo_session *s, int64_t now_ns);

/* A message of len bytes has come: whether the connection is one that needs no key, or this shows it. */
bool hodo_abstract_admit(struct hodo_connection *c, const struct hodo_msg_hello *hello, ssize_t len);

#endif
