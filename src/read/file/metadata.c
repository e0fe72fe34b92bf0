/* SPDX-License-Identifier: MIT */
/*
 * metadata.c - the lines of a folder's metadata that start with slash, star, at.
 *
 * Values are decoded in place: the texts of classes and threads point into the
 * metadata's own memory. An unusable line is skipped with a warning; only one for each kind of fault, since a
 * damaged file may have thousands.
 */
#include "metadata.h"
#include "class.h"
#include "hosts.h"
#include "labels.h"
#include "layout.h"
#include "metadata_line.h"
#include "reader.h"
#include "stream.h"

#include <base/escape.h>
#include <base/quantity.h>
#include <base/scope.h>
#include <base/vec.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	BAD_LINE = 1u << 0,
	BAD_EVENT = 1u << 1,
	BAD_LABELS = 1u << 2,
	BAD_CLOCK = 1u << 3,
	BAD_TWICE = 1u << 4,
	BAD_LOST = 1u << 5,
	BAD_OBJECT = 1u << 6,
	BAD_CONTEXT = 1u << 7
};

#define LIMITED_MAX    (1ull << 47) /* so that a process's sum does not wrap; at 1 GHz it takes two days */
#define LOST_LINES_MAX (2 * STREAMS_MAX)

#define warn(t, once, ...) hodo_read_warn((t)->reader, &(t)->warned, once, (t)->folder, "metadata", __VA_ARGS__)

/* Warns about a skipped line. */
static int skip(struct hodo_trace *t, const struct hodo_line *l, uint32_t once, const char *why)
{
	warn(t, once, "line %u: %s", l->number, why);
	return 0;
}

/* ------------------------------------------------------------------ the words */

static int read_uuid(struct hodo_trace *t, struct hodo_line *l)
{
	char *uuid = hodo_line_get_text(l, "uuid"), *out = uuid;

	for (const char *s = uuid; *s; s++)
		if (*s != '-')
			*out++ = *s;
	*out = 0;
	return hodo_hex_bytes(t->pub.uuid, sizeof(t->pub.uuid), uuid) == sizeof(t->pub.uuid) ? 0 : -EBADMSG;
}

static int word_hodo(struct hodo_trace *t, struct hodo_line *l)
{
	const char *order = hodo_line_get_text(l, "byte_order");
	uint64_t version;

	if (t->has_hodo)
		return 0;
	if (hodo_line_get_number(l, "version", UINT32_MAX, &version) < 0 || read_uuid(t, l) < 0)
		return -EBADMSG;
	if (version != HODO_FORMAT_VERSION)
		return -EPROTONOSUPPORT;
	if (strcmp(order, "le") != 0)
		return strcmp(order, "be") == 0 ? -EPROTONOSUPPORT : -EBADMSG;
	t->has_hodo = true;
	return 0;
}

static int word_process(struct hodo_trace *t, struct hodo_line *l)
{
	struct hodo_read_process *p = &t->pub;
	const char *start = hodo_line_get_text(l, "start");

	p->pid = hodo_line_get_u32(l, "pid");
	p->ppid = hodo_line_get_u32(l, "ppid");
	p->uid = hodo_line_get_u32(l, "uid");
	if (p->owner == 0)
		p->owner = p->uid;
	p->comm = hodo_line_get_text(l, "comm");
	p->exe = hodo_line_get_text(l, "exe");
	p->start = strcmp(start, "exec") == 0   ? HODO_START_EXEC
		   : strcmp(start, "fork") == 0 ? HODO_START_FORK
		   : strcmp(start, "attach") == 0 ? HODO_START_ATTACH
						: 0;
	p->mode = strcmp(hodo_line_get_text(l, "mode"), "overwrite") == 0 ? HODO_MODE_OVERWRITE : HODO_MODE_DISCARD;
	p->nested = hodo_line_get_u32(l, "nested") != 0;
	hodo_line_get_number(l, "ring_size", UINT64_MAX, &p->ring_bytes);
	hodo_line_get_number(l, "packet_size", UINT64_MAX, &p->packet_bytes);
	return 0;
}

static int word_kernel(struct hodo_trace *t, struct hodo_line *l)
{
	t->pub.kernel = hodo_line_get_text(l, "release");
	return 0;
}

static int word_clock(struct hodo_trace *t, struct hodo_line *l)
{
	if (hodo_line_get_clock(l, &t->pub.clock) < 0)
		return skip(t, l, BAD_CLOCK, "clock damaged: times are wrong");
	t->has_clock = true;
	return 0;
}

/* Splits "NAME:TYPE,…" into at most max fields. Returns their number, or -EINVAL. */
static int read_fields(struct hodo_read_field *fields, uint8_t *types, uint32_t max, char *list)
{
	uint32_t n = 0;
	char *item;

	if (!*list)
		return 0;
	while ((item = strsep(&list, ",")) != NULL) {
		char *colon = strrchr(item, ':');
		uint32_t type;

		if (n == max || !colon || colon == item)
			return -EINVAL;
		*colon = 0;
		type = hodo_read_type_parse(colon + 1, strlen(colon + 1));
		if (!type)
			return -EINVAL;
		types[n] = (uint8_t)type;
		fields[n].type = type;
		fields[n].name = item;
		n++;
	}
	return (int)n;
}

/* Before the events, whose sizes depend on it. */
static int word_context(struct hodo_trace *t, struct hodo_line *l)
{
	uint8_t types[HODO_CONTEXT_FIELDS_MAX];
	int n;

	if (t->nclasses || t->context.known)
		return skip(t, l, BAD_CONTEXT, "context in the wrong place: skipped");
	n = read_fields(t->context.fields, types, HODO_CONTEXT_FIELDS_MAX, hodo_line_get_text(l, "fields"));
	if (n < 0)
		n = skip(t, l, BAD_CONTEXT, "context damaged: events cannot be read");
	t->context.n = (uint32_t)n;
	t->context.known = true;
	return 0;
}

/* Adds it to the trace's classes, by id, with the layout of its context and its fields. 0 or -ENOMEM. */
static int add_class(struct hodo_trace *t, const struct hodo_class *new)
{
	struct hodo_class *c = hodo_arena_alloc(&t->memory, sizeof(*c));
	uint32_t n = 0, room = t->by_id_n, id = new->pub.id;
	uint8_t types[HODO_PAYLOAD_FIELDS_MAX];
	int err;

	while (n < new->pub.ncontext) {
		types[n] = (uint8_t)new->pub.context[n].type;
		n++;
	}
	memcpy(types + n, new->types, new->pub.nfields);
	if (!c || hodo_vec_reserve(t->by_id, room, id + 1) < 0)
		return -ENOMEM;
	memset(t->by_id + t->by_id_n, 0, (room - t->by_id_n) * sizeof(*t->by_id));
	t->by_id_n = room;
	hodo_layouts_note_call(t->layouts, id, new->pub.kind, new->pub.name, new->types, new->pub.nfields);
	err = hodo_read_layouts_add(t->layouts, id, types, n + new->pub.nfields);
	if (!err)
		err = hodo_vec_push(t->classes, t->nclasses, c);
	if (err)
		return err;
	*c = *new;
	c->pub.fields = c->fields;
	c->pub.fixed_bytes = t->layouts->fixed[id];
	t->by_id[id] = c;
	return 0;
}

static int word_event(struct hodo_trace *t, struct hodo_line *l)
{
	struct hodo_class c = {
		.pub = {
			.size = sizeof(c.pub),
			.name = hodo_line_get_text(l, "name"),
			.format = hodo_line_get_text(l, "format"),
			.file = hodo_line_get_text(l, "file"),
			.func = hodo_line_get_text(l, "func"),
			.object = hodo_line_get_text(l, "object"),
			.line = hodo_line_get_u32(l, "line"),
			.kind = hodo_read_kind_parse(hodo_line_get_text(l, "kind")),
		},
	};
	uint64_t id;
	int err = hodo_line_get_number(l, "id", HODO_EVENTS_MAX - 1, &id);
	int nfields = read_fields(c.fields, c.types, HODO_FIELDS_MAX, hodo_line_get_text(l, "fields"));

	if (err || id == 0 || !*c.pub.name || !c.pub.kind || nfields < 0)
		return skip(t, l, BAD_EVENT, "event damaged: its events cannot be read");
	c.pub.id = (uint32_t)id;
	c.pub.nfields = (uint32_t)nfields;
	if (c.pub.kind != HODO_KIND_FUNCTION) {
		c.pub.ncontext = t->context.n;
		c.pub.context = t->context.fields;
	}
	if (!hodo_layouts_have(t->layouts, id))
		return add_class(t, &c);
	warn(t, BAD_TWICE, "line %u: event id %u given twice: the first counts", l->number, (unsigned)id);
	return 0;
}

static int word_labels(struct hodo_trace *t, struct hodo_line *l)
{
	char *list = hodo_line_get_text(l, "values"), *item, *end;
	HODO_AUTO_FREE int64_t *values = NULL;
	uint32_t n = 0;
	int err = 0;

	while (!err && (item = strsep(&list, ",")) != NULL) {
		int64_t value;

		errno = 0;
		value = *item == '-' ? strtoll(item, &end, 10) : (int64_t)strtoull(item, &end, 10);
		err = errno || end == item || *end ? -EINVAL : hodo_vec_push(values, n, value);
	}
	if (!err)
		err = hodo_read_labels_add(&t->labels, hodo_line_get_text(l, "provider"),
					   hodo_line_get_text(l, "field"), hodo_line_get_text(l, "names"), values, n);
	return err == -EINVAL ? skip(t, l, BAD_LABELS, "labels damaged: skipped") : err;
}

/* Hexadecimal with 0x. 0, or -EINVAL. */
static int get_address(struct hodo_line *l, const char *key, uint64_t *address)
{
	const char *value = hodo_line_get_text(l, key);

	return strncmp(value, "0x", 2) == 0 ? hodo_parse_hex(value + 2, address) : -EINVAL;
}

static int get_build_id(struct hodo_line *l, struct hodo_read_object *o)
{
	int len = hodo_hex_bytes(o->build_id, sizeof(o->build_id), hodo_line_get_text(l, "build_id"));

	o->build_id_len = len < 0 ? 0 : (uint32_t)len;
	return len < 0 ? -EINVAL : 0;
}

/* Its times are ticks until the clock is known; none: not known. */
static int word_object(struct hodo_trace *t, struct hodo_line *l)
{
	struct hodo_read_object o = { .size = sizeof(o), .path = hodo_line_get_text(l, "path") };
	uint64_t from = 0, until = UINT64_MAX, short_start = 0, short_end = 0;

	o.functions = hodo_line_get_u32(l, "functions");
	if (get_address(l, "base", &o.base) < 0 || get_address(l, "start", &o.start) < 0 ||
	    get_address(l, "end", &o.end) < 0 || o.start >= o.end || get_build_id(l, &o) < 0 ||
	    (hodo_line_get(l, "short_start") && get_address(l, "short_start", &short_start) < 0) ||
	    (hodo_line_get(l, "short_end") && get_address(l, "short_end", &short_end) < 0) ||
	    (hodo_line_get(l, "from") && hodo_line_get_number(l, "from", UINT64_MAX, &from) < 0) ||
	    (hodo_line_get(l, "until") && hodo_line_get_number(l, "until", UINT64_MAX, &until) < 0))
		return skip(t, l, BAD_OBJECT, "object damaged: its functions have no names");
	if (short_end) {
		struct hodo_short *is_short = hodo_vec_add(t->shorts.object, t->shorts.n);

		if (!is_short)
			return -ENOMEM;
		*is_short = (struct hodo_short){ short_start, short_end, from, until };
	}
	o.from_ns = (int64_t)from;
	o.until_ns = (int64_t)until;
	return hodo_vec_push(t->objects, t->nobjects, o);
}

static int word_thread(struct hodo_trace *t, struct hodo_line *l)
{
	struct hodo_read_thread *thread = hodo_vec_add(t->threads, t->nthreads);

	if (!thread)
		return -ENOMEM;
	thread->tid = hodo_line_get_u32(l, "tid");
	thread->pid = hodo_line_get_u32(l, "pid");
	thread->comm = hodo_line_get_text(l, "comm");
	return 0;
}

static int word_lost(struct hodo_trace *t, struct hodo_line *l)
{
	static const char *const keys[] = { "full", "too_large", "busy", "overwritten", "unwritten", "damaged" };
	const char *name = hodo_line_get_text(l, "stream");
	bool sound = *name && strlen(name) <= NAME_MAX && !strchr(name, '/');
	uint64_t n[6] = { 0 }, room = 0;
	struct hodo_stream *s;

	for (unsigned i = 0; i < 6; i++)
		sound &= !hodo_line_get(l, keys[i]) || hodo_line_get_number(l, keys[i], 1ull << 60, &n[i]) == 0;
	sound &= !hodo_line_get(l, "room") || hodo_line_get_number(l, "room", 1ull << 60, &room) == 0;
	if (!sound)
		return skip(t, l, BAD_LOST, "losses damaged: skipped");
	s = t->nlost++ < LOST_LINES_MAX ? hodo_read_trace_stream(t, name) : NULL;
	if (!s)
		return skip(t, l, BAD_LOST, "too many streams with losses: skipped");
	/* hodo recover adds a line, with what is damaged alone. */
	hodo_read_lost_add(&s->lost_by_cause,
			   &(struct hodo_read_lost){ n[0], n[1], n[2], n[3], n[4], .damaged = n[5] });
	s->lost_known |= hodo_line_get(l, "full") != NULL;
	s->pub.room = room > s->pub.room ? room : s->pub.room;
	return 0;
}

/* After the events. */
static int word_limited(struct hodo_trace *t, struct hodo_line *l)
{
	uint64_t id, n;

	if (hodo_line_get_number(l, "id", HODO_EVENTS_MAX - 1, &id) < 0 || hodo_line_get_number(l, "n", LIMITED_MAX, &n) < 0)
		return skip(t, l, BAD_LOST, "number of events over their rate damaged: skipped");
	if (id < t->by_id_n && t->by_id[id])
		t->by_id[id]->pub.limited += n;
	return 0;
}

/* Of the whole recording. */
static int word_unrecorded(struct hodo_trace *t, struct hodo_line *l)
{
	struct hodo_read *r = t->reader;
	struct hodo_read_unrecorded u = { .size = sizeof(u) };
	const char *why = hodo_line_get_text(l, "why");

	if (hodo_line_get_number(l, "images", 1ull << 60, &u.images) < 0)
		return skip(t, l, BAD_LOST, "number of images that are not recorded damaged: skipped");
	u.why = hodo_arena_copy(&r->memory, why, strlen(why));
	return u.why ? hodo_vec_push(r->unrecorded, r->nunrecorded, u) : -ENOMEM;
}

static int word_warning(struct hodo_trace *t, struct hodo_line *l)
{
	return hodo_vec_push(t->warnings, t->nwarnings, hodo_line_get_text(l, "text"));
}

static int word_end(struct hodo_trace *t, struct hodo_line *l)
{
	t->pub.complete = true;
	t->goes_on = hodo_line_get_u32(l, "part") != 0;
	hodo_line_get_time(l, &t->pub.end_ns);
	return 0;
}

static int word_snapshot(struct hodo_trace *t, struct hodo_line *l)
{
	t->pub.snapshot_why = hodo_line_get_text(l, "why");
	t->pub.snapshot_number = hodo_line_get_u32(l, "number");
	hodo_line_get_time(l, &t->pub.snapshot_ns);
	return 0;
}

static int use_line(struct hodo_trace *t, struct hodo_line *l)
{
	static const struct {
		const char *word;
		int (*func)(struct hodo_trace *t, struct hodo_line *l);
	} words[] = {
		{ "hodo", word_hodo },   { "process", word_process }, { "clock", word_clock },
		{ "event", word_event }, { "labels", word_labels },   { "thread", word_thread },
		{ "lost", word_lost },   { "warning", word_warning }, { "end", word_end },
		{ "snapshot", word_snapshot }, { "kernel", word_kernel },
		{ "object", word_object }, { "context", word_context }, { "limited", word_limited },
		{ "unrecorded", word_unrecorded }, { "machine", hodo_hosts_machine },
		{ "wall", hodo_hosts_wall }, { "merge", hodo_hosts_merge },
	};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].word, l->word) == 0)
			return words[i].func(t, l);
	return 0;
}

int hodo_read_metadata_parse(struct hodo_trace *t)
{
	char *p = t->metadata, *end = p + t->metadata_bytes, *next;
	unsigned number = 1;

	for (; p < end; number++, p = next) {
		char *eol = memchr(p, '\n', (size_t)(end - p));
		struct hodo_line l = { .number = number };
		int err = 0;

		eol = eol ? eol : end;
		next = eol + 1;
		if (eol > p && eol[-1] == '\r')
			eol--;
		hodo_read_hostname(t, p, eol);
		if (eol - p > 4 && memcmp(p, "/*@", 3) == 0) {
			*eol = 0; /* there is a byte after the end */
			if (memchr(p, 0, (size_t)(eol - p)) || !hodo_line_split(p + 3, eol, &l))
				warn(t, BAD_LINE, "line %u: damaged: skipped", number);
			else
				err = use_line(t, &l);
		}
		if (err)
			return err;
	}
	if (!t->has_hodo) /* damaged if it has other lines of ours, else not ours */
		return t->nclasses || t->has_clock || t->pub.pid ? -EBADMSG : -EPROTO;
	if (!t->has_clock && !(t->warned & BAD_CLOCK))
		warn(t, BAD_CLOCK, "no clock: times are wrong");
	return 0;
}
