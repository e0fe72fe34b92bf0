/* SPDX-License-Identifier: MIT */
/* target.h - a running process that a verb communicates with. */
#pragma once

#include <base/why.h>
#include <record/record.h>

/* The default packet size: a 16th of the ring, at most 1M. */
static inline uint32_t hodo_packet_size(uint64_t ring_size)
{
	uint64_t size = ring_size / 16;

	return size < HODO_PACKET_MIN ? HODO_PACKET_MIN : size > 1u << 20 ? 1u << 20 : (uint32_t)size;
}


struct hodo_target {
	pid_t pid;
	int pidfd; /* -1: none */
	int fd;    /* the connection; -1: it does not listen, or is no longer connected */
	bool deaf; /* it did not listen before we recorded it */
	struct hodo_attach_copy *copy; /* of libhodo in its root directory; NULL: none */
	struct hodo_why why; /* the last failure of the functions below */
};

/* Parses a pid from the command line. 0, or the exit status after a message. */
int hodo_target_parse(const char *verb, const char *text, pid_t *pid);

/* Finds the process and connects to it if it listens. 0; -ECONNREFUSED: it does not (the pidfd is open then); another
 * negative errno. */
int hodo_target_open(struct hodo_target *t, pid_t pid);

/*
 * For a verb that changes a recording: connects, making it listen if necessary and if it has libhodo; without
 * that there is nothing to change. 0 or negative errno.
 */
int hodo_target_control(struct hodo_target *t, pid_t pid);

/* Asks; 0 and the answer, whose result is not negative; else a negative errno. passed may be NULL. */
int hodo_target_ask(struct hodo_target *t, enum hodo_control_op op, const char *text,
		    struct hodo_msg_answer *answer, int *passed);

void hodo_target_close(struct hodo_target *t);

/* --------------------------------------------------------------- several, to be recorded */

#define HODO_ATTACH_MAX 256u /* processes */

struct hodo_attach_options {
	struct hodo_target *target; /* n, pid set; NULL: none */
	uint32_t n;
};

/* Adds a pid; ignores duplicates. 0, or the exit status after a message. */
int hodo_attach_options_add(struct hodo_attach_options *o, const char *verb, const char *pid);
void hodo_attach_options_free(struct hodo_attach_options *o);

/*
 * Finds the processes, before anything is changed. Those that cannot be recorded are reported and left out.
 * Returns how many remain.
 */
uint32_t hodo_attach_find(struct hodo_attach_options *o);

/*
 * Begins their recordings, one after another, while the recorder runs; makes each listen first if necessary.
 * Reports those that cannot be recorded. Returns how many are recorded.
 */
uint32_t hodo_attach_record(struct hodo_attach_options *o, struct hodo_recorder *s);
