/* SPDX-License-Identifier: MIT */
/*
 * query_notes.h - what is missing in recordings that a statement reads, once for each, however often it reads them:
 * the warnings that other verbs give when they read one.
 *
 * Who runs beside whom: the threads of a statement, which read a recording each. The mutex is held while anything here
 * is looked at or changed.
 */
#pragma once

#include <base/intern.h>
#include <pthread.h>

#include <cli/cli.h>

struct query_notes {
	pthread_mutex_t mutex;
	bool quiet;                /* nothing is told */
	struct hodo_strings told;  /* warnings, and recordings of which it has been told what they lost */
	uint32_t nlost;            /* of these recordings, those that lost something */
};

void query_notes_start(struct query_notes *notes, bool quiet);
/* A warning of a reader, whose warn_data the notes are. */
void query_notes_warn(void *notes, const char *text);
/* The recording has been read to its end. */
void query_notes_read(void *notes, const char *path, struct hodo_read *reader);
void query_notes_end(struct query_notes *notes);
