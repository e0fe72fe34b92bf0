/* SPDX-License-Identifier: MIT */
/* record_attach.h - hodo record -p: the running processes that are to be recorded. */
#ifndef HODO_CLI_RECORD_ATTACH_H
#define HODO_CLI_RECORD_ATTACH_H

#include <stdint.h>

#include "target.h"

#define HODO_ATTACH_MAX 256u /* processes */

struct hodo_attach_options {
	struct hodo_target *target; /* n, pid set; NULL: none */
	uint32_t n;
};

/* A process's number; the same twice is once. 0 or the exit status, having said what is wrong. */
int hodo_attach_options_add(struct hodo_attach_options *o, const char *verb, const char *pid);
void hodo_attach_options_free(struct hodo_attach_options *o);

/*
 * Finds the processes, before anything is changed anywhere. What cannot be recorded is reported, and left out.
 * How many remain.
 */
uint32_t hodo_attach_find(struct hodo_attach_options *o);

/*
 * Begins their recordings, one after another, while the session goes on; each is brought to listen first if need
 * be. What cannot be recorded is reported. How many are.
 */
uint32_t hodo_attach_record(struct hodo_attach_options *o, struct hodo_session *s);

#endif
