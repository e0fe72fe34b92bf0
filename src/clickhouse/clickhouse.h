/* SPDX-License-Identifier: MIT */
/*
 * clickhouse.h - recordings in a database of ClickHouse, over its interface of HTTP (docs/design/clickhouse.md).
 *
 * What is there of a recording is not sent again, whatever became of the run that sent it. Functions return 0 or a
 * negative errno, and then hodo_clickhouse_error() says in one line what went wrong: -EINTR: stopped; -EACCES: who we
 * are or what we may do; -ETIMEDOUT: the server was not there as long as it was tried; -ESTALE: what is in the database
 * is not ours, or of another version, and the line says what helps; -EREMOTEIO: the server refused it; -ENOMEM, or one
 * of the reader's.
 */
#pragma once

#include <sym/recording_symbols.h>
#include <hodo/read.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define HODO_CLICKHOUSE_NAME_MAX 100u /* bytes of a database's or cluster's name */

struct hodo_clickhouse;

struct hodo_clickhouse_options {
	const char *url;      /* valid, without ? and # */
	const char *user, *password; /* NULL: those of the URL, or of ~/.netrc */
	const char *database; /* made if it is not there */
	const char *cluster;  /* tables over its servers are made, too; NULL: none */
	int64_t retry_ns;     /* how long one request is tried again */
	const volatile sig_atomic_t *stop;
	void (*waits)(void *data, const char *why, int64_t ns); /* as in http/client.h */
	void *data;
};

/* Makes the database and its tables, or checks that they are as they must be. Also -ENOSYS: there is no libcurl. A
 * client that failed is returned, too, for its error, unless there was no memory for it. */
int hodo_clickhouse_open(struct hodo_clickhouse **c, const struct hodo_clickhouse_options *options);
void hodo_clickhouse_close(struct hodo_clickhouse *c); /* NULL is allowed */
const char *hodo_clickhouse_error(struct hodo_clickhouse *c);

struct hodo_clickhouse_load {
	struct hodo_read *reader; /* at its first event; limits and selection, if there are any, are set */
	struct hodo_symbols *symbols;
	const char *recording;    /* its path */
	int64_t since_ns, until_ns; /* the reader's limits; until_ns 0: there are none */
	uint64_t selection;       /* a number for what is selected; 0: everything */
	bool (*wanted)(void *data, const char *table); /* NULL: all tables are */
	void *data;
	void (*warn)(const char *text);
	/* What came of it: */
	uint64_t rows;    /* that were sent */
	uint64_t before;  /* that were there */
	bool read_failed; /* what went wrong was reading the recording */
};

int hodo_clickhouse_load(struct hodo_clickhouse *c, struct hodo_clickhouse_load *load);
