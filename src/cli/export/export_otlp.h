/* SPDX-License-Identifier: MIT */
/* export_otlp.h - hodo export --to otlp --endpoint: options, and what is said of what came of it. */
#pragma once

#include <base/arena.h>
#include <export/export.h>
#include <export/otlp/otlp_message.h>
#include <export/otlp/otlp_send.h>

#include <cli/output/output_file.h>

#define HODO_OTLP_HEADERS_MAX 32u

struct hodo_otlp_args {
	struct hodo_otlp otlp;
	const char *endpoint; /* NULL: a file */
	const char *signal[2]; /* of spans, of values: URLs of the environment, which come first; NULL */
	const char *state;    /* NULL: beside the recording */
	uint64_t retry_ns;
	uint64_t timeout_ms; /* of the environment; 0 and not timeout_set: it says nothing */
	bool timeout_set;
	bool gzip;
	const char *headers[HODO_OTLP_HEADERS_MAX + 2]; /* with one of our own, and NULL */
	unsigned nheaders;
};

/* Where the environment says that it goes, if no option does. 0, or HODO_EXIT_FAILURE having said why. */
int hodo_otlp_endpoint_of_environment(struct hodo_otlp_args *a);
static inline bool hodo_otlp_sends(const struct hodo_otlp_args *a)
{
	return a->endpoint || a->signal[0] || a->signal[1];
}
/* The value of a verb's option for the URL, or for a header. 0, or HODO_EXIT_USAGE having said why. */
int hodo_otlp_endpoint(struct hodo_otlp_args *a, const char *verb, const char *option, const char *url);
int hodo_otlp_header(struct hodo_otlp_args *a, const char *verb, const char *option, const char *header);
/* Adds what OpenTelemetry's own variables say, when the command line is read: headers, compression, timeout.
 * The texts are in memory. 0, or HODO_EXIT_FAILURE having said why. */
int hodo_otlp_environment(struct hodo_otlp_args *a, struct hodo_arena *memory);
/* "3 spans and 1 value of counters" */
const char *hodo_otlp_counted(const struct hodo_otlp_counts *n, char text[128]);
/* What the receiver did not take of what it was sent, if it says so. */
void hodo_otlp_warn_refused(const struct hodo_otlp_sender *sender);
/* Sends it, and says what came of it: the exit status. */
int hodo_otlp_export(struct hodo_otlp_args *a, const struct hodo_output_args *out,
		     const struct hodo_export_format *format, struct hodo_export *e);
