/* SPDX-License-Identifier: MIT */
#include "server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define ANSWER_MAX (16u << 20)
#define TIMEOUT_NS 300000000000ll /* of a request: a busy server takes long for a block, and is not to get it twice */

/*
 * A block becomes one part of a table, or none: one thread makes it, which gathers all rows before it writes them.
 * Versions differ in what they do else.
 */
#define SETTINGS "max_threads=1&min_insert_block_size_rows=1000000000&min_insert_block_size_bytes=0"

/* --------------------------------------------------------------------- what it says */

/* "Code: 241, e.displayText() = DB::Exception: …"; "Code: 241. DB::Exception: …". 0: it says no code. */
static unsigned long code_of(const char *answer)
{
	return strncmp(answer, "Code: ", 6) == 0 ? strtoul(answer + 6, NULL, 10) : 0;
}

static bool may_pass(void *data, long status, const char *answer)
{
	switch (code_of(answer)) {
	case 159: /* TIMEOUT_EXCEEDED */
	case 202: /* TOO_MANY_SIMULTANEOUS_QUERIES */
	case 209: /* SOCKET_TIMEOUT */
	case 210: /* NETWORK_ERROR */
	case 216: /* QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING: an earlier try, or somebody with the same recording */
	case 236: /* ABORTED: it ends */
	case 241: /* MEMORY_LIMIT_EXCEEDED */
	case 242: /* TABLE_IS_READ_ONLY: as long as it has no connection to its keeper */
	case 252: /* TOO_MANY_PARTS */
	case 279: /* ALL_CONNECTION_TRIES_FAILED */
	case 394: /* QUERY_WAS_CANCELLED */
	case 439: /* CANNOT_SCHEDULE_TASK */
	case 473: /* DEADLOCK_AVOIDED */
	case 999: /* KEEPER_EXCEPTION */
		return true;
	default:
		return false;
	}
}

static bool is_about_rights(unsigned long code)
{
	/* UNKNOWN_USER, WRONG_PASSWORD, REQUIRED_PASSWORD, IP_ADDRESS_NOT_ALLOWED, DATABASE_ACCESS_DENIED,
	 * ACCESS_DENIED, AUTHENTICATION_FAILED */
	return (code >= 192 && code <= 195) || code == 291 || code == 497 || code == 516;
}

/* Of an error in the answer: what is for people. */
static void shorten(struct hodo_clickhouse *c)
{
	const char *answer = hodo_text_string(&c->answer), *said = strstr(answer, "DB::Exception: "), *end;
	unsigned long code = code_of(answer);

	if (!code)
		return;
	said = said ? said + 15 : answer;
	end = strstr(said, ", e.what() = ");
	if (!end)
		end = said + strlen(said);
	if (memchr(said, '\n', (size_t)(end - said)))
		end = memchr(said, '\n', (size_t)(end - said));
	hodo_why(&c->why, 0, "%.*s (code %lu)", (int)(end - said < 300 ? end - said : 300), said, code);
}

static int send(struct hodo_clickhouse *c, struct hodo_http *http, const char *type, const struct hodo_text *body)
{
	int err = body->error ? body->error : c->url.error;

	if (err)
		return hodo_why(&c->why, err, "no memory");
	hodo_text_string(&c->url);
	err = hodo_http_post(http, c->url.data, type, body->data, body->len, &c->answer, &c->why);
	if (err == -ENOMEM)
		return hodo_why(&c->why, err, "no memory");
	if (!err || err == -EINTR)
		return err;
	if (strncmp(c->why.text, "HTTP status ", 12) == 0)
		shorten(c);
	return is_about_rights(code_of(hodo_text_string(&c->answer))) ? -EACCES : err;
}

static void set_url(struct hodo_clickhouse *c, const char *settings)
{
	size_t len = strlen(c->options.url);

	while (len > 0 && c->options.url[len - 1] == '/')
		len--;
	c->url.len = 0;
	hodo_text_printf(&c->url, "%.*s/?%s", (int)len, c->options.url, settings);
}

/* ---------------------------------------------------------------------- statements */

int clickhouse_run(struct hodo_clickhouse *c, struct hodo_text *sql)
{
	set_url(c, "max_threads=2");
	return send(c, c->http, "Content-Type: text/plain", sql);
}

static void add_part(struct clickhouse_body *b, const char *name, const char *file, const char *value)
{
	hodo_text_printf(&b->text, "--%s\r\nContent-Disposition: form-data; name=\"%s\"%s\r\n\r\n", b->boundary, name,
			 file);
	hodo_text_add(&b->text, value);
	if (!*file)
		hodo_text_add(&b->text, "\r\n");
}

void clickhouse_body_begin(struct clickhouse_body *b, const char *sql, const char *structure)
{
	uint64_t random[2] = { 0 };

	/* Random: the programs whose rows these are cannot know it. */
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		hodo_text_fail(&b->text, -EIO);
	snprintf(b->boundary, sizeof(b->boundary), "%016llx%016llx", (unsigned long long)random[0],
		 (unsigned long long)random[1]);
	b->text.len = 0;
	add_part(b, "query", "", sql);
	add_part(b, "block_structure", "", structure);
	add_part(b, "block_format", "", "RowBinary");
	add_part(b, "block", "; filename=\"block\"", "");
}

int clickhouse_body_run(struct hodo_clickhouse *c, struct clickhouse_body *b, const char *id)
{
	char type[128], settings[256];

	hodo_text_printf(&b->text, "\r\n--%s--\r\n", b->boundary);
	snprintf(type, sizeof(type), "Content-Type: multipart/form-data; boundary=%s", b->boundary);
	snprintf(settings, sizeof(settings), "query_id=%s&" SETTINGS, id);
	set_url(c, settings);
	return send(c, c->http_body, type, &b->text);
}

/* ------------------------------------------------------------------------- answers */

struct clickhouse_answer clickhouse_answer(struct hodo_clickhouse *c)
{
	const uint8_t *data = (const uint8_t *)hodo_text_string(&c->answer);

	return (struct clickhouse_answer){ data, data + c->answer.len };
}

bool clickhouse_answer_number(struct clickhouse_answer *a, unsigned bytes, uint64_t *number)
{
	*number = 0;
	if (a->end - a->at < (ptrdiff_t)bytes)
		return false;
	memcpy(number, a->at, bytes);
	a->at += bytes;
	return true;
}

bool clickhouse_answer_text(struct clickhouse_answer *a, const char **text, size_t *len)
{
	*len = 0;
	for (unsigned shift = 0; a->at < a->end && shift < 35; shift += 7) {
		uint8_t byte = *a->at++;

		*len |= (size_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		*text = (const char *)a->at;
		if (*len > (size_t)(a->end - a->at))
			return false;
		a->at += *len;
		return true;
	}
	return false;
}

int clickhouse_answer_bad(struct hodo_clickhouse *c)
{
	return hodo_why(&c->why, -EREMOTEIO, "this is no answer of ClickHouse's interface of HTTP, which is at port "
			"8123");
}

/* ------------------------------------------------------------------------- clients */

int clickhouse_connect(struct hodo_clickhouse *c)
{
	/* 18.16 does not read a body of several parts to its end, and takes what is left for the next request. */
	static const char *const close[] = { "Connection: close", NULL };
	struct hodo_http_options options = {
		.user = c->options.user,
		.password = c->options.password,
		.retry_ns = c->options.retry_ns,
		.timeout_ns = TIMEOUT_NS,
		.answer_max = ANSWER_MAX,
		.may_pass = may_pass,
		.stop = c->options.stop,
		.waits = c->options.waits,
		.data = c->options.data,
	};
	int err = hodo_http_new(&c->http, &options);

	options.headers = close;
	return err ? err : hodo_http_new(&c->http_body, &options);
}
