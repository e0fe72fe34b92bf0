/* SPDX-License-Identifier: MIT */
/*
 * joining.h - the processes that are joining, in order of arrival; and those that wait for an answer.
 */
#pragma once

#include <record/process.h>

enum hodo_connection_state {
	HODO_JOINING_SILENT,  /* it has not said hello */
	HODO_JOINING_GREETED, /* it has its configuration */
	HODO_JOINING_READY    /* we have its buffers; it has continued, and may even have ended */
};

struct hodo_connection {
	struct hodo_watch watch; /* first */
	struct hodo_recorder *recorder;
	struct hodo_connection *next; /* came later */
	enum hodo_connection_state state;
	int fd;
	int pidfd; /* -1 until it has said hello */
	int memfd; /* -1 until it is ready */
	int plan;  /* the one it was sent; -1: none */
	bool adopted;    /* it stays */
	bool stranger;   /* it came through the abstract address, and has not shown the key */
	bool stood;      /* its threads were stopped for its plan */
	bool loaded;     /* it was asked to load libraries */
	unsigned plans;  /* how often it has asked for one */
	bool due;        /* it has yet to report on the last one */
	bool opened;     /* it is already recorded, and asks for a plan for libraries that it has opened */
	bool superseded; /* another image of the same process has said hello since: exec */
	int64_t deadline_ns; /* none if it is ready */
	uid_t uid;
	struct hodo_process_id id; /* only pid, until it has said hello */
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
