/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "otlp_send.h"

#include <export/deflate.h>
#include "otlp_answer.h"
#include "otlp_impl.h"

#include <errno.h>
#include <http/url.h>
#include <stdio.h>

#define GZIP_LEVEL 1 /* the higher ones take longer, and save little of such bodies */

static void count(struct hodo_otlp_counts *counts, bool metrics, uint32_t items)
{
	*(metrics ? &counts->values : &counts->spans) += items;
}

/* Without slashes at the end. */
static size_t length_of(const char *url, size_t len)
{
	while (len > 0 && url[len - 1] == '/')
		len--;
	return len;
}

int hodo_otlp_send_to(struct hodo_otlp_sender *s, const char *endpoint)
{
	static const char *const paths[2] = { "/v1/traces", "/v1/metrics" };
	size_t len = length_of(endpoint, strlen(endpoint));

	for (unsigned i = 0; i < 2; i++) {
		size_t path = strlen(paths[i]);

		/* Others take the whole URL of one of the two. */
		if (len > path && memcmp(endpoint + len - path, paths[i], path) == 0) {
			len = length_of(endpoint, len - path);
			break;
		}
	}
	for (unsigned i = 0; i < 2; i++) {
		char url[HODO_OTLP_URL_MAX];
		int n = snprintf(url, sizeof(url), "%.*s%s", (int)len, endpoint, paths[i]);
		int err = n < (int)sizeof(url) ? hodo_otlp_send_signal_to(s, i > 0, url) : -ENAMETOOLONG;

		if (err)
			return err;
	}
	return 0;
}

int hodo_otlp_send_signal_to(struct hodo_otlp_sender *s, bool metrics, const char *url)
{
	if (snprintf(s->url[metrics], sizeof(s->url[metrics]), "%s", url) >= (int)sizeof(s->url[metrics]))
		return -ENAMETOOLONG;
	hodo_http_url_plain(s->url[metrics], s->shown[metrics]);
	s->to[metrics] = hodo_otlp_sent_to(s->shown[metrics], metrics);
	return 0;
}

bool hodo_otlp_send_has(void *to, bool metrics, uint64_t key)
{
	struct hodo_otlp_sender *s = to;

	if (!s->sent || !hodo_otlp_sent_has(s->sent, hodo_otlp_sent_key(s->to[metrics], &key, sizeof(key))))
		return false;
	count(&s->before, metrics, 1);
	return true;
}

/* What is sent is more than that it is noted. */
static void note(struct hodo_otlp_sender *s, const struct hodo_otlp_message *message, uint64_t key)
{
	if (!s->sent || s->note_error)
		return;
	if (s->each)
		s->note_error = hodo_otlp_sent_write(s->sent, s->to[s->metrics], message->keys, message->items);
	else
		s->note_error = hodo_otlp_sent_add(s->sent, key, message->items);
}

/* The receiver may take a request, and some of what is in it not. */
static void read_answer(struct hodo_otlp_sender *s, const struct hodo_text *text)
{
	struct hodo_otlp_answer answer;

	if (text->error)
		return;
	hodo_otlp_answer_read(&answer, hodo_http_type(s->http), text->data, text->len);
	s->refused += answer.rejected;
	if (answer.rejected && !s->refusal[0])
		snprintf(s->refusal, sizeof(s->refusal), "%s", answer.why);
}

/* A receiver answers with protobuf or JSON, or with nothing: what else is there, such as a web server, took nothing. */
static int check_answer(struct hodo_otlp_sender *s, const struct hodo_text *answer)
{
	const char *type = hodo_http_type(s->http);

	if (!answer->len || !*type || strcasestr(type, "protobuf") || strcasestr(type, "json"))
		return 0;
	hodo_why(&s->why, 0, "it answered with %s, and is no receiver of OTLP", type);
	return -EREMOTEIO;
}

static int post(struct hodo_otlp_sender *s, const struct hodo_otlp_message *message, struct hodo_text *answer)
{
	const char *type = s->json ? "Content-Type: application/json" : "Content-Type: application/x-protobuf";
	const char *url = s->url[message->metrics];
	struct hodo_text packed = { 0 };
	struct hodo_deflate deflate;
	int err;

	if (!s->gzip)
		return hodo_http_post(s->http, url, type, message->data, message->len, answer, &s->why);
	hodo_deflate_start(&deflate, &packed, GZIP_LEVEL, true);
	hodo_text_bytes(&deflate.in, message->data, message->len);
	err = hodo_deflate_end(&deflate);
	if (!err)
		err = hodo_http_post(s->http, url, type, packed.data, packed.len, answer, &s->why);
	hodo_text_free(&packed);
	return err;
}

int hodo_otlp_send(void *to, const struct hodo_otlp_message *message)
{
	struct hodo_otlp_sender *s = to;
	struct hodo_text answer = { 0 };
	uint64_t key;
	int err;

	s->metrics = message->metrics;
	if (!s->url[s->metrics][0]) {
		count(&s->nowhere, s->metrics, message->items);
		return 0;
	}
	/* Of what is compressed: another zlib may make other bytes of the same. */
	key = hodo_otlp_sent_key(s->to[s->metrics], message->data, message->len);
	if (s->sent && hodo_otlp_sent_has(s->sent, key)) {
		count(&s->before, s->metrics, message->items);
		return 0;
	}
	err = post(s, message, &answer);
	if (!err)
		err = check_answer(s, &answer);
	if (!err) {
		count(&s->taken, s->metrics, message->items);
		read_answer(s, &answer);
		note(s, message, key);
	} else {
		s->failed = true;
	}
	hodo_text_free(&answer);
	return err;
}
