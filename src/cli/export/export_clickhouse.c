/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "export_clickhouse.h"

#include <cli/recording.h>
#include <cli/say.h>
#include <cli/selection.h>
#include <cli/on_signal.h>

#include <clickhouse/clickhouse.h>
#include <errno.h>
#include <http/url.h>
#include <string.h>

#define DATABASE          "hodo"
#define USER_VARIABLE     "CLICKHOUSE_USER" /* both as clickhouse-client has them */
#define PASSWORD_VARIABLE "CLICKHOUSE_PASSWORD"
#define AGAIN             "run the same command again to send the rest"

/* ------------------------------------------------------------------------- options */

int hodo_clickhouse_url(struct hodo_clickhouse_args *a, const char *url)
{
	if (!hodo_http_url_valid(url) || strpbrk(url, "?#") || strlen(url) > 1024)
		return hodo_usage("export", "--url: this is not the address of a server, as in http://localhost:8123");
	a->url = url;
	return 0;
}

static bool is_name(const char *name)
{
	return strlen(name) <= HODO_CLICKHOUSE_NAME_MAX && !strpbrk(name, "./");
}

static int check(const struct hodo_clickhouse_args *a, const struct hodo_output_args *out)
{
	if (!a->url)
		return hodo_usage("export", "--to clickhouse: --url is missing, such as http://localhost:8123");
	if (out->path || out->force)
		return hodo_usage("export", "-o and -f are not for --to clickhouse");
	if ((a->database && !is_name(a->database)) || (a->cluster && !is_name(a->cluster)))
		return hodo_usage("export", "--database, --cluster: a name has at most %u bytes, no dot and no slash",
				  HODO_CLICKHOUSE_NAME_MAX);
	if (out->args.n > 1 && hodo_selection_given(&out->args))
		return hodo_usage("export", "with options that select events, one recording at a time");
	return 0;
}

/* ------------------------------------------------------------------------- results */

struct sending {
	const struct hodo_clickhouse_args *a;
	struct hodo_output_args *out;
	struct hodo_clickhouse *c;
	char *shown; /* the URL */
	uint64_t rows, before;
	bool said; /* that it is tried again */
};

static void say_waits(void *data, const char *why, int64_t ns)
{
	struct sending *s = data;

	if (!s->said && !s->out->args.quiet)
		hodo_warning("%s: trying again, for as long as --retry says", why);
	s->said = true;
}

static int say_failed(const struct sending *s, int err)
{
	const char *error = hodo_clickhouse_error(s->c), *rows;
	char text[32];

	rows = hodo_grouped(s->rows, text);
	switch (err) {
	case -ENOMEM:
		return hodo_no_memory();
	case -EINTR:
		return hodo_say(128 + hodo_stopped, "interrupted: %s rows were sent: " AGAIN, rows);
	case -ESTALE:
		return hodo_error("%s: %s", s->shown, error);
	case -EACCES:
		return hodo_error("%s: %s: give other credentials with " USER_VARIABLE " and " PASSWORD_VARIABLE
				  " or ~/.netrc; %s rows were sent: " AGAIN, s->shown, error, rows);
	case -ETIMEDOUT:
		return hodo_error("%s: cannot be reached, or is busy: %s; %s rows were sent: " AGAIN, s->shown, error,
				  rows);
	default:
		return hodo_error("%s: refused: %s; %s rows were sent: " AGAIN, s->shown, error, rows);
	}
}

static void say_sent(const struct sending *s)
{
	const char *database = s->a->database ? s->a->database : DATABASE;
	char rows[32], before[32];

	if (s->before)
		hodo_error("%s rows sent to %s, database %s; %s were there before", hodo_grouped(s->rows, rows),
			   s->shown, database, hodo_grouped(s->before, before));
	else
		hodo_error("%s rows sent to %s, database %s", hodo_grouped(s->rows, rows), s->shown, database);
}

/* ---------------------------------------------------------------------------- run */

static int send_recording(struct sending *s, char *dir)
{
	struct hodo_args *args = &s->out->args;
	HODO_AUTO_READ struct hodo_read *r = NULL;
	struct hodo_clickhouse_load load = {
		.recording = dir,
		.wanted = s->a->tables ? hodo_output_wants : NULL,
		.data = (void *)s->a->tables,
		.warn = hodo_output_warn(args->quiet),
	};
	int status, err;

	args->dir = dir;
	status = hodo_open_selected(&r, args);
	if (status)
		return status;
	load.reader = r;
	load.since_ns = args->since_ns;
	load.until_ns = args->until_ns;
	load.selection = hodo_selection_number(args);
	load.symbols = hodo_open_symbols(args, dir);
	hodo_read_symbols(r, hodo_function_name_at, load.symbols);
	err = hodo_clickhouse_load(s->c, &load);
	hodo_symbols_free(load.symbols);
	s->rows += load.rows;
	s->before += load.before;
	if (err && load.read_failed)
		return hodo_cannot_read(dir, err);
	if (err)
		return say_failed(s, err);
	if (!args->quiet)
		hodo_tell_lost(r);
	return 0;
}

static int open_server(struct sending *s)
{
	bool own = strcspn(s->a->url, "@") != strlen(s->a->url); /* the URL has credentials */
	const char *user = own ? NULL : getenv(USER_VARIABLE), *password = own ? NULL : getenv(PASSWORD_VARIABLE);
	const struct hodo_clickhouse_options options = {
		.url = s->a->url,
		.user = user || !password ? user : "default",
		.password = user || password ? (password ? password : "") : NULL,
		.database = s->a->database ? s->a->database : DATABASE,
		.cluster = s->a->cluster,
		.retry_ns = (int64_t)s->a->retry_ns,
		.stop = &hodo_stopped,
		.waits = say_waits,
		.data = s,
	};
	int err = hodo_clickhouse_open(&s->c, &options);

	if (err == -ENOSYS)
		return hodo_error("libcurl.so.4 is missing: install Debian's libcurl4");
	return err ? say_failed(s, err) : 0;
}

int hodo_clickhouse_export(struct hodo_clickhouse_args *a, struct hodo_output_args *out)
{
	struct sending s = { .a = a, .out = out };
	char *usual[] = { (char *)(uintptr_t)out->args.dir, NULL };
	char **words = out->args.n ? out->args.words : usual;
	int status = check(a, out);

	if (status)
		return status;
	s.shown = hodo_must(malloc(strlen(a->url) + 1));
	hodo_http_url_plain(a->url, s.shown);
	hodo_stop_by_signals();
	status = open_server(&s);
	for (unsigned i = 0; !status && words[i]; i++)
		status = send_recording(&s, words[i]);
	if (!status && !out->args.quiet)
		say_sent(&s);
	hodo_clickhouse_close(s.c);
	free(s.shown);
	return status;
}
