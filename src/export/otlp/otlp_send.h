/* SPDX-License-Identifier: MIT */
/* otlp_send.h - OpenTelemetry's messages to a receiver, by HTTP, and what became of them. */
#pragma once

#include "otlp_message.h"
#include "otlp_sent.h"

#include <base/why.h>
#include <http/post.h>

#define HODO_OTLP_URL_MAX 2048u
#define HODO_OTLP_HEADERS_VARIABLE "OTEL_EXPORTER_OTLP_HEADERS"

/* Spans, and values of counters. */
struct hodo_otlp_counts {
	uint64_t spans, values;
};

struct hodo_otlp_sender {
	/* Set by the caller: */
	bool json;
	bool each; /* items are noted, not requests */
	bool gzip; /* bodies are compressed: the requests of http say so in a header */
	struct hodo_http *http;
	struct hodo_otlp_sent *sent; /* NULL: what is sent is not noted */
	/* What came of it: */
	struct hodo_otlp_counts taken, before; /* in this run; in earlier ones */
	struct hodo_otlp_counts nowhere; /* there is no URL for them */
	uint64_t refused;     /* of those that were taken, by the receiver's own count */
	char refusal[200];    /* why, the first time; "" */
	bool failed;          /* the request failed, and why says so */
	bool metrics;         /* the last one was of these */
	int note_error;       /* the first negative errno of noting it */
	struct hodo_why why;
	/* By hodo_otlp_send_to(): of traces, and of metrics; shown: without a user's name and password. */
	char url[2][HODO_OTLP_URL_MAX], shown[2][HODO_OTLP_URL_MAX];
	uint64_t to[2]; /* for otlp_sent.h */
};

/* Where it goes: a URL to which /v1/traces and /v1/metrics are added, instead of one of them that is there; valid,
 * without ? and #. 0 or -ENAMETOOLONG. */
int hodo_otlp_send_to(struct hodo_otlp_sender *sender, const char *endpoint);

/* Where spans, or values, go instead: the URL as it is. Without any, they are left out. 0 or -ENAMETOOLONG. */
int hodo_otlp_send_signal_to(struct hodo_otlp_sender *sender, bool metrics, const char *url);
/* For struct hodo_otlp: to is the sender. 0, or as hodo_http_post(). */
int hodo_otlp_send(void *to, const struct hodo_otlp_message *message);
/* For struct hodo_otlp: whether the item with that key was noted by itself: it then counts as sent before. */
bool hodo_otlp_send_has(void *to, bool metrics, uint64_t key);
