/* SPDX-License-Identifier: MIT */
/*
 * connection.h - one process that joins a recording: its messages and their answers.
 */
#ifndef HODO_RECORD_JOIN_CONNECTION_H
#define HODO_RECORD_JOIN_CONNECTION_H

#include <record/process_impl.h>

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

/* Handles what has arrived, if anything. May free the connection. */
void hodo_connection_take(struct hodo_connection *c);

/* Begins the recording of a process that is ready; frees the connection. */
void hodo_connection_start(struct hodo_connection *c);

/* Counts the image as not recorded, and says why, unless it is already recorded; frees the connection. */
void hodo_connection_refuse(struct hodo_connection *c, const char *why);

#endif
