/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "export_otlp.h"

#include <cli/recording.h>
#include <cli/say.h>
#include <cli/on_signal.h>

#include <errno.h>
#include <string.h>

#include <base/arena.h>
#include <base/escape.h>
#include <base/quantity.h>
#include <http/url.h>

#define HEADERS_VARIABLE HODO_OTLP_HEADERS_VARIABLE
#define TIMEOUT_VARIABLE "OTEL_EXPORTER_OTLP_TIMEOUT"
#define COMPRESSION_VARIABLE "OTEL_EXPORTER_OTLP_COMPRESSION"
#define AGAIN            "run the same command again to send the rest"
#define TRY_MIN_NS 10000000000ll /* of one try: as long as OpenTelemetry's exporters wait; aborted, it may come twice */
#define TRY_MAX_NS 60000000000ll

/* ------------------------------------------------------------------------- options */

int hodo_otlp_endpoint(struct hodo_otlp_args *a, const char *verb, const char *option, const char *url)
{
	if (!hodo_http_url_valid(url) || strpbrk(url, "?#") || strlen(url) > 1024)
		return hodo_usage(verb, "%s: '%s' is not the URL of a receiver, as in http://localhost:4318", option, url);
	a->endpoint = url;
	return 0;
}

static int url_of_environment(const char *variable, const char **url)
{
	const char *value = getenv(variable);

	*url = value && *value ? value : NULL;
	if (*url && (!hodo_http_url_valid(*url) || strlen(*url) > 1024))
		return hodo_error("%s: not the URL of a receiver, as in http://localhost:4318: correct it, or write a file with "
				  "-o", variable);
	return 0;
}

int hodo_otlp_endpoint_of_environment(struct hodo_otlp_args *a)
{
	const char *protocol = getenv("OTEL_EXPORTER_OTLP_PROTOCOL");
	int status = url_of_environment("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &a->signal[0]);

	if (!status)
		status = url_of_environment("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", &a->signal[1]);
	if (!status)
		status = url_of_environment("OTEL_EXPORTER_OTLP_ENDPOINT", &a->endpoint);
	if (!status && a->endpoint && strpbrk(a->endpoint, "?#"))
		status = hodo_error("OTEL_EXPORTER_OTLP_ENDPOINT: not a URL to which /v1/traces can be added: correct it, or "
				    "write a file with -o");
	if (!status && hodo_otlp_sends(a) && protocol && strcmp(protocol, "grpc") == 0)
		status = hodo_error("OTEL_EXPORTER_OTLP_PROTOCOL: grpc is not known here: give a URL for OTLP over HTTP with "
				    "--endpoint, or write a file with -o");
	return status;
}

static int set_urls(struct hodo_otlp_sender *s, const struct hodo_otlp_args *a)
{
	int err = a->endpoint ? hodo_otlp_send_to(s, a->endpoint) : 0;

	for (unsigned i = 0; i < 2 && !err; i++)
		if (a->signal[i])
			err = hodo_otlp_send_signal_to(s, i > 0, a->signal[i]);
	return err;
}

int hodo_otlp_header(struct hodo_otlp_args *a, const char *verb, const char *option, const char *header)
{
	if (!hodo_http_header_valid(header))
		return hodo_usage(verb, "%s: give NAME: VALUE, without control characters", option);
	if (a->nheaders == HODO_OTLP_HEADERS_MAX)
		return hodo_usage(verb, "%s: at most %u of them", option, HODO_OTLP_HEADERS_MAX);
	a->headers[a->nheaders++] = header;
	return 0;
}

/* "name=value,name=value", as OpenTelemetry's own exporters have it; text stays. */
static int headers_of_environment(struct hodo_otlp_args *a, struct hodo_arena *memory)
{
	const char *variable = getenv(HEADERS_VARIABLE);
	char *rest = variable ? hodo_must(hodo_arena_copy(memory, variable, strlen(variable))) : NULL, *one;

	while ((one = strsep(&rest, ","))) {
		char *value = strchr(one, '='), *header;

		one += strspn(one, " ");
		if (!*one)
			continue;
		if (value)
			*value++ = 0;
		header = hodo_must(hodo_arena_alloc(memory, strlen(one) + (value ? strlen(value) : 0) + 3));
		if (!value || !hodo_percent_decode(value))
			return hodo_error(HEADERS_VARIABLE ": not NAME=VALUE,NAME=VALUE: correct it or unset it");
		stpcpy(stpcpy(stpcpy(header, one), ": "), value);
		if (!hodo_http_header_valid(header) || a->nheaders == HODO_OTLP_HEADERS_MAX)
			return hodo_error(HEADERS_VARIABLE ": not NAME=VALUE,NAME=VALUE: correct it or unset it");
		a->headers[a->nheaders++] = header;
	}
	return 0;
}

int hodo_otlp_environment(struct hodo_otlp_args *a, struct hodo_arena *memory)
{
	const char *compression = getenv(COMPRESSION_VARIABLE), *timeout = getenv(TIMEOUT_VARIABLE);
	int status = headers_of_environment(a, memory);

	if (!status && compression && *compression && strcmp(compression, "none") != 0) {
		if (strcmp(compression, "gzip") != 0)
			return hodo_error(COMPRESSION_VARIABLE ": neither gzip nor none: correct it or unset it");
		a->gzip = true;
	}
	if (!status && timeout && *timeout && hodo_parse_number(timeout, 86400000, &a->timeout_ms) < 0)
		return hodo_error(TIMEOUT_VARIABLE ": not a number of milliseconds: correct it or unset it");
	a->timeout_set = timeout && *timeout;
	if (a->gzip)
		a->headers[a->nheaders] = "Content-Encoding: gzip";
	return status;
}

/* ------------------------------------------------------------------------- results */

const char *hodo_otlp_counted(const struct hodo_otlp_counts *n, char text[128])
{
	snprintf(text, 128, "%llu span%s and %llu value%s of counters", (unsigned long long)n->spans,
		 n->spans == 1 ? "" : "s", (unsigned long long)n->values, n->values == 1 ? "" : "s");
	return text;
}

/* What to do about a request that will be refused again. */
static const char *advice(const struct hodo_otlp_sender *s)
{
	long status = hodo_http_status(s->http);

	if (status == 0 || (status >= 200 && status < 300))
		return "check --endpoint";
	if (status >= 300 && status < 400)
		return "give --endpoint as the server has it, since redirections are not followed";
	if (status == 404 || status == 405)
		return "check --endpoint: no receiver of OTLP over HTTP is at this URL";
	return "check the receiver's log, and what it takes (--json, --gzip)";
}

static int say_failed(const struct hodo_otlp_sender *s, int err)
{
	struct hodo_otlp_counts all = { s->taken.spans + s->before.spans, s->taken.values + s->before.values };
	const char *url = s->shown[s->metrics];
	char sent[128];

	hodo_otlp_counted(&all, sent);
	if (err == -EINTR)
		return hodo_say(128 + hodo_stopped, "interrupted: %s were sent: " AGAIN, sent);
	if (err == -EACCES)
		return hodo_error("%s: %s: give other credentials with --header or " HEADERS_VARIABLE "; %s were sent: "
				  AGAIN, url, s->why.text, sent);
	if (err == -ETIMEDOUT)
		return hodo_error("%s: %s: %s; %s were sent: " AGAIN, url,
				  hodo_http_status(s->http) ? "the server answered" : "cannot be reached", s->why.text,
				  sent);
	return hodo_error("%s: %s: %s; %s were sent: %s, then " AGAIN, url,
			  hodo_http_status(s->http) >= 300 ? "refused" : "cannot be used", s->why.text, sent,
			  advice(s));
}

static void say_sent(const struct hodo_otlp_sender *s, const char *endpoint)
{
	char sent[128], before[128];

	hodo_otlp_counted(&s->taken, sent);
	hodo_otlp_counted(&s->before, before);
	if (s->before.spans + s->before.values == 0)
		hodo_error("%s sent to %s", sent, endpoint);
	else if (s->taken.spans + s->taken.values == 0)
		hodo_error("%s were sent to %s before: --force sends them again", before, endpoint);
	else
		hodo_error("%s sent to %s; %s were sent before", sent, endpoint, before);
}

void hodo_otlp_warn_refused(const struct hodo_otlp_sender *s)
{
	if (s->refused)
		hodo_warning("the receiver took the requests, but not %llu of the spans or values in them%s%s",
			     (unsigned long long)s->refused, s->refusal[0] ? ": " : "", s->refusal);
}

static void warn_sent(const struct hodo_otlp_sender *s, const char *state)
{
	char counted[128];

	if (s->nowhere.spans + s->nowhere.values)
		hodo_warning("%s have no receiver: give one for all with --endpoint or OTEL_EXPORTER_OTLP_ENDPOINT",
			     hodo_otlp_counted(&s->nowhere, counted));
	if (s->note_error)
		hodo_warning("%s: what was sent cannot be noted: %s: a second run sends all of it again, as the same "
			     "spans; --state names another file", state, strerror(-s->note_error));
}

struct waiting {
	const struct hodo_otlp_sender *sender;
	bool said;
};

static void say_waits(void *data, const char *why, int64_t ns)
{
	struct waiting *w = data;

	if (!w->said)
		hodo_warning("%s: %s: trying again, for as long as --retry says",
			     w->sender->shown[w->sender->metrics], why);
	w->said = true;
}

/* ---------------------------------------------------------------------------- run */

static int run_export(const struct hodo_export_format *format, struct hodo_export *e, const struct hodo_args *args)
{
	struct hodo_symbols *symbols = hodo_open_symbols(args, args->dir);
	struct hodo_callers *callers = hodo_must(hodo_callers_new(symbols));
	struct hodo_text none = { 0 };
	int err;

	hodo_read_symbols(e->reader, hodo_function_name_at, symbols);
	hodo_read_code(e->reader, &hodo_callers_ops, callers);
	e->symbols = symbols;
	e->out = &none;
	err = hodo_export_run(format, e);
	hodo_text_free(&none);
	hodo_callers_free(callers);
	hodo_symbols_free(symbols);
	return err;
}

static int open_sender(struct hodo_otlp_sender *s, struct hodo_otlp_args *a, const char *state, bool forget,
		       struct waiting *waiting)
{
	const int64_t retry_ns = (int64_t)a->retry_ns;
	const struct hodo_http_options options = { .headers = a->headers, .retry_ns = retry_ns,
						   .timeout_ns = a->timeout_ms ? (int64_t)a->timeout_ms * 1000000 :
								 retry_ns < TRY_MIN_NS ? TRY_MIN_NS :
								 retry_ns > TRY_MAX_NS ? TRY_MAX_NS : retry_ns,
						   .stop = &hodo_stopped, .waits = waiting ? say_waits : NULL,
						   .data = waiting };
	int err = hodo_otlp_sent_open(&s->sent, state, forget);

	if (err == -ESTALE)
		return hodo_error("%s: is not a regular file: name another one with --state", state);
	if (err == -EBADMSG)
		return hodo_error("%s: has other lines than those of what was sent, and is left as it is: name another file with "
				  "--state", state);
	if (err)
		return hodo_error("%s: cannot be read: %s: name another file with --state", state, strerror(-err));
	err = hodo_http_new(&s->http, &options);
	return err == -ENOSYS ? hodo_error("libcurl.so.4 is missing: install Debian's libcurl4, or write a file with -o")
	       : err	      ? hodo_no_memory()
			      : 0;
}

int hodo_otlp_export(struct hodo_otlp_args *a, const struct hodo_output_args *out,
		     const struct hodo_export_format *format, struct hodo_export *e)
{
	struct hodo_otlp_sender s = { .json = a->otlp.json };
	HODO_AUTO_FREE char *beside = a->state ? NULL : hodo_must(hodo_output_beside(out->args.dir, "otlp-sent"));
	const char *url = a->endpoint ? a->endpoint : a->signal[0] ? a->signal[0] : a->signal[1];
	HODO_AUTO_FREE char *plain = hodo_must(malloc(strlen(url) + 1));
	const char *state = a->state ? a->state : beside;
	struct hodo_arena memory = { 0 };
	struct waiting waiting = { .sender = &s };
	int status = hodo_otlp_environment(a, &memory), err;

	s.gzip = a->gzip;
	hodo_http_url_plain(url, plain);
	if (!status && set_urls(&s, a) < 0)
		status = hodo_error("--endpoint: the URL is too long");
	if (!status)
		status = open_sender(&s, a, state, out->force, out->args.quiet ? NULL : &waiting);
	if (!status) {
		hodo_stop_by_signals();
		a->otlp.send = hodo_otlp_send;
		a->otlp.has = hodo_otlp_send_has;
		a->otlp.to = &s;
		err = run_export(format, e, &out->args);
		if (s.failed)
			status = say_failed(&s, err);
		else if (err)
			status = hodo_cannot_read(out->args.dir, err);
		else if (!out->args.quiet)
			say_sent(&s, plain);
		hodo_otlp_warn_refused(&s); /* it is lost, and nothing else says so */
		if (!out->args.quiet)
			warn_sent(&s, state);
	}
	hodo_http_free(s.http);
	hodo_otlp_sent_close(s.sent);
	hodo_arena_free(&memory);
	return status;
}
