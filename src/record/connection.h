/* SPDX-License-Identifier: MIT */
/*
 * connection.h - one process that joins a recording: what it says, and what it is answered.
 */
#ifndef HODO_RECORD_CONNECTION_H
#define HODO_RECORD_CONNECTION_H

#include "process.h"

enum hodo_connection_state {
	HODO_JOINING_SILENT,  /* it has not said hello */
	HODO_JOINING_GREETED, /* it has its configuration */
	HODO_JOINING_READY    /* we have its buffers; it goes on, and need not be there any more */
};

struct hodo_connection {
	struct hodo_watch watch; /* first */
	struct hodo_session *session;
	struct hodo_connection *next; /* came later */
	enum hodo_connection_state state;
	int fd;
	int pidfd; /* -1 until it said hello */
	int memfd; /* -1 until it is ready */
	int plan;  /* what it was sent; -1: nothing */
	bool adopted;    /* it stays */
	bool stranger;   /* it came by the abstract address, and has not shown the key */
	bool stood;      /* its threads have, for its plan */
	bool loaded;     /* it was asked to load libraries */
	unsigned plans;  /* so often it has asked for one */
	bool due;        /* it is to say what became of the last one */
	bool opened;     /* it is recorded already, and asks for a plan for libraries that it has opened */
	bool superseded; /* another image of the same process has said hello since: exec */
	int64_t deadline_ns; /* not of one that is ready */
	uid_t uid;
	struct hodo_process_id id; /* pid alone, until it said hello */
};

/* Takes what has come, if anything has. The connection may be gone then. */
void hodo_connection_take(struct hodo_connection *c);

/* Begins the recording of a process that is ready; the connection is gone then. */
void hodo_connection_start(struct hodo_connection *c);

/* Counts the image as not recorded, and says why, unless it is recorded already; the connection is gone then. */
void hodo_connection_refuse(struct hodo_connection *c, const char *why);

#endif
