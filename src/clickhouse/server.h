/* SPDX-License-Identifier: MIT */
/* server.h - statements and rows to a server, and what it says. */
#pragma once

#include "clickhouse.h"

#include <base/why.h>
#include <http/post.h>

struct hodo_clickhouse {
	struct hodo_clickhouse_options options;
	struct hodo_http *http, *http_body; /* for statements alone; for those with rows */
	struct hodo_text url, answer;
	struct hodo_why why;
};

int clickhouse_connect(struct hodo_clickhouse *c); /* 0, -ENOSYS or -ENOMEM */
/* A statement; c->answer is what comes back. Statements are tried again, and so may run twice. */
int clickhouse_run(struct hodo_clickhouse *c, struct hodo_text *sql);

/* Begins the body of a statement about rows that go with it, as table `block`: clickhouse_body_begin(), then the rows
 * as RowBinary, then clickhouse_body_run(), which sends it and is as clickhouse_run(). */
struct clickhouse_body {
	struct hodo_text text;
	char boundary[40];
};
void clickhouse_body_begin(struct clickhouse_body *b, const char *sql, const char *structure);
/* id: of no two statements of one user that run at once. */
int clickhouse_body_run(struct hodo_clickhouse *c, struct clickhouse_body *b, const char *id);

/* What the answer in RowBinary has next; false: it has no more of that. */
struct clickhouse_answer {
	const uint8_t *at, *end;
};
struct clickhouse_answer clickhouse_answer(struct hodo_clickhouse *c);
bool clickhouse_answer_number(struct clickhouse_answer *a, unsigned bytes, uint64_t *number);
bool clickhouse_answer_text(struct clickhouse_answer *a, const char **text, size_t *len);
int clickhouse_answer_bad(struct hodo_clickhouse *c);
