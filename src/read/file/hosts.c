/* SPDX-License-Identifier: MIT */
/*
 * hosts.c - which hosts a recording has, and how far their clocks are known. Only `hodo merge` puts several into one
 * recording: each folder then has a line that says whose it is. Without it, all folders are of the one host.
 */
#include "hosts.h"
#include "reader.h"
#include "trace.h"

#include <base/vec.h>

#include <errno.h>
#include <string.h>

int hodo_hosts_machine(struct hodo_trace *t, struct hodo_line *l)
{
	const char *boot_id = hodo_line_get(l, "boot");

	if (boot_id && *boot_id)
		t->pub.boot_id = boot_id;
	return 0;
}

/* What is damaged counts as not known. */
int hodo_hosts_wall(struct hodo_trace *t, struct hodo_line *l)
{
	struct hodo_wall w = { .known = true };
	uint64_t error = 0, max_error = 0;

	if (hodo_line_get_signed(l, "mono", &w.mono_ns) < 0 || hodo_line_get_signed(l, "real", &w.real_ns) < 0 ||
	    hodo_line_get_number(l, "error", INT64_MAX, &error) < 0 ||
	    hodo_line_get_number(l, "max_error", INT64_MAX, &max_error) < 0)
		return 0;
	w.error_ns = (int64_t)error;
	w.max_error_ns = (int64_t)max_error;
	w.synchronised = hodo_line_get_u32(l, "synchronised") == 1;
	hodo_line_get_signed(l, "drift", &w.drift_ppb);
	hodo_line_get_signed(l, "tai", &w.tai_s);
	t->walls[strcmp(hodo_line_get_text(l, "at"), "end") == 0] = w;
	return 0;
}

int hodo_hosts_merge(struct hodo_trace *t, struct hodo_line *l)
{
	struct hodo_read_host h = { .size = sizeof(h), .error_ns = -1 };
	const char *name = hodo_line_get_text(l, "host");
	uint64_t n;

	if (!*name)
		return 0;
	h.name = name;
	h.by = hodo_line_get_text(l, "by");
	hodo_line_get_number(l, "pairs", UINT64_MAX, &h.pairs);
	hodo_line_get_signed(l, "offset", &h.offset_ns);
	hodo_line_get_signed(l, "drift", &h.drift_ppb);
	if (hodo_line_get_number(l, "error", INT64_MAX, &n) == 0)
		h.error_ns = (int64_t)n;
	t->merged = h;
	return 0;
}

const struct hodo_wall *hodo_read_walls(const struct hodo_read_process *process)
{
	return hodo_trace_of(process)->walls;
}

/* The name of the host whose folder it is; NULL: not known. A merge's folder without its line has only its own name. */
static const char *name_of(const struct hodo_trace *t)
{
	const char *slash = strchr(t->folder, '/');

	if (t->merged.by || !slash || strncmp(t->folder, HODO_HOST_FOLDER, sizeof(HODO_HOST_FOLDER) - 1) != 0)
		return t->merged.name;
	return t->pub.hostname;
}

/* 0 or -ENOMEM. */
static int add_host(struct hodo_read *r, struct hodo_trace *t, const char *name)
{
	struct hodo_read_host *h = hodo_vec_add(r->hosts, r->nhosts);

	if (!h)
		return -ENOMEM;
	*h = t->merged.by ? t->merged : (struct hodo_read_host){ .size = sizeof(*h), .error_ns = -1 };
	h->name = name;
	return 0;
}

static int settle_host(struct hodo_read *r, struct hodo_trace *t, struct hodo_strings *names)
{
	const char *name = name_of(t);
	uint32_t number = hodo_strings_add(names, name ? name : "");
	struct hodo_read_host *h;

	/* Numbers are given in order, as hosts are. */
	if (number == HODO_STRINGS_NONE || (number == r->nhosts && add_host(r, t, name ? name : t->pub.hostname) < 0))
		return -ENOMEM;
	t->pub.host = number;
	h = &r->hosts[number];
	h->processes++;
	if (!h->boot_id)
		h->boot_id = t->pub.boot_id;
	if (name)
		t->pub.hostname = name;
	return 0;
}

int hodo_hosts_settle(struct hodo_read *r)
{
	struct hodo_strings names = { 0 };
	int err = 0;

	hodo_hash_seed();
	for (uint32_t i = 0; i < r->ntraces && !err; i++)
		err = settle_host(r, r->traces[i], &names);
	hodo_strings_free(&names);
	return err;
}

uint32_t hodo_read_nhosts(const struct hodo_read *reader)
{
	return reader->nhosts;
}

const struct hodo_read_host *hodo_read_host(const struct hodo_read *reader, uint32_t i)
{
	return i < reader->nhosts ? &reader->hosts[i] : NULL;
}

/* ------------------------------------------------------------------------------------ a host's own name */

/* It stands in CTF's own words alone: a line of its env block, with a backslash before " and itself. */
void hodo_read_hostname(struct hodo_trace *t, char *line, char *eol)
{
	static const char begin[] = "\thostname = \"";
	char *out, *from = line + sizeof(begin) - 1;

	if (t->pub.hostname || eol < from || memcmp(line, begin, sizeof(begin) - 1) != 0)
		return;
	out = from;
	t->pub.hostname = out;
	for (; from < eol && *from && *from != '"'; from++) {
		if (*from == '\\' && from + 1 < eol)
			from++;
		*out++ = *from;
	}
	*out = 0;
}
