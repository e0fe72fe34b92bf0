/* SPDX-License-Identifier: MIT */
/*
 * metadata.c - the lines of a folder's metadata that start with slash, star, at.
 *
 * Values are decoded in place: the texts of classes and threads point into the
 * metadata's own memory. A line that cannot be used is skipped with a warning;
 * one for each kind of fault, since a damaged file may have thousands.
 */
#include "internal.h"
#include "layout.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include <base/escape.h>
#include <base/quantity.h>
#include <base/scope.h>

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

#define KEYS_MAX       16
#define LIMITED_MAX    (1ull << 47) /* so that the sum of a process's does not wrap; at a GHz it takes two days */
#define LOST_LINES_MAX (2 * STREAMS_MAX)

struct line {
	char *word, *empty; /* "" */
	unsigned number;
	unsigned n;
	struct {
		char *key, *value;
	} pair[KEYS_MAX];
};

#define warn(t, once, ...) hodo_read_warn((t)->reader, &(t)->warned, once, (t)->folder, "metadata", __VA_ARGS__)

/* Of a line that is not used. */
static int skip(struct hodo_trace *t, const struct line *l, uint32_t once, const char *why)
{
	warn(t, once, "line %u: %s", l->number, why);
	return 0;
}

static char *get(struct line *l, const char *key)
{
	for (unsigned i = 0; i < l->n; i++)
		if (strcmp(l->pair[i].key, key) == 0)
			return l->pair[i].value;
	return NULL;
}

static char *get_text(struct line *l, const char *key)
{
	char *value = get(l, key);

	return value ? value : l->empty;
}

/* 0, or -EINVAL if the key is missing or its value no number up to max. */
static int get_number(struct line *l, const char *key, uint64_t max, uint64_t *number)
{
	return hodo_parse_number(get_text(l, key), max, number);
}

/* Like get_number(), with a sign allowed. */
static int get_signed(struct line *l, const char *key, int64_t *number)
{
	const char *value = get_text(l, key);
	bool minus = *value == '-';
	uint64_t n;
	int err = hodo_parse_number(value + minus, INT64_MAX, &n);

	if (!err)
		*number = minus ? -(int64_t)n : (int64_t)n;
	return err;
}

static uint32_t get_u32(struct line *l, const char *key)
{
	uint64_t n = 0;

	return get_number(l, key, UINT32_MAX, &n) == 0 ? (uint32_t)n : 0;
}

/* ------------------------------------------------------------------ the words */

static int read_uuid(struct hodo_trace *t, struct line *l)
{
	char *uuid = get_text(l, "uuid"), *out = uuid;

	for (const char *s = uuid; *s; s++)
		if (*s != '-')
			*out++ = *s;
	*out = 0;
	return hodo_hex_bytes(t->pub.uuid, sizeof(t->pub.uuid), uuid) == sizeof(t->pub.uuid) ? 0 : -EBADMSG;
}

static int word_hodo(struct hodo_trace *t, struct line *l)
{
	const char *order = get_text(l, "byte_order");
	uint64_t version;

	if (t->has_hodo)
		return 0;
	if (get_number(l, "version", UINT32_MAX, &version) < 0 || read_uuid(t, l) < 0)
		return -EBADMSG;
	if (version != HODO_FORMAT_VERSION)
		return -EPROTONOSUPPORT;
	if (strcmp(order, "le") != 0)
		return strcmp(order, "be") == 0 ? -EPROTONOSUPPORT : -EBADMSG;
	t->has_hodo = true;
	return 0;
}

static int word_process(struct hodo_trace *t, struct line *l)
{
	struct hodo_read_process *p = &t->pub;
	const char *start = get_text(l, "start");

	p->pid = get_u32(l, "pid");
	p->ppid = get_u32(l, "ppid");
	p->uid = get_u32(l, "uid");
	if (p->owner == 0)
		p->owner = p->uid;
	p->comm = get_text(l, "comm");
	p->exe = get_text(l, "exe");
	p->start = strcmp(start, "exec") == 0   ? HODO_START_EXEC
		   : strcmp(start, "fork") == 0 ? HODO_START_FORK
		   : strcmp(start, "attach") == 0 ? HODO_START_ATTACH
						: 0;
	p->mode = strcmp(get_text(l, "mode"), "overwrite") == 0 ? HODO_MODE_OVERWRITE : HODO_MODE_DISCARD;
	p->nested = get_u32(l, "nested") != 0;
	get_number(l, "ring_size", UINT64_MAX, &p->ring_bytes);
	get_number(l, "packet_size", UINT64_MAX, &p->packet_bytes);
	return 0;
}

static int word_kernel(struct hodo_trace *t, struct line *l)
{
	t->pub.kernel = get_text(l, "release");
	return 0;
}

static int word_clock(struct hodo_trace *t, struct line *l)
{
	struct hodo_read_clock c = { 0 };

	/* Above 1 THz the conversion's arithmetic would not fit; no clock ticks so fast. */
	if (get_number(l, "freq", 1000 * NS_PER_S, &c.freq_hz) < 0 || c.freq_hz == 0 ||
	    get_signed(l, "offset_s", &c.offset_s) < 0 || get_signed(l, "offset", &c.offset_ticks) < 0)
		return skip(t, l, BAD_CLOCK, "clock damaged: times are wrong");
	c.kind = strcmp(get_text(l, "kind"), "tsc") == 0 ? HODO_CLOCK_TSC : HODO_CLOCK_MONOTONIC;
	t->pub.clock = c;
	t->has_clock = true;
	return 0;
}

/* Cuts "NAME:TYPE,…" into at most max fields. Their number, or -EINVAL. */
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
static int word_context(struct hodo_trace *t, struct line *l)
{
	uint8_t types[HODO_CONTEXT_FIELDS_MAX];
	int n;

	if (t->nclasses || t->context.known)
		return skip(t, l, BAD_CONTEXT, "context in the wrong place: skipped");
	n = read_fields(t->context.fields, types, HODO_CONTEXT_FIELDS_MAX, get_text(l, "fields"));
	if (n < 0)
		n = skip(t, l, BAD_CONTEXT, "context damaged: events cannot be read");
	t->context.n = (uint32_t)n;
	t->context.known = true;
	return 0;
}

/* Among the trace's, by its number; the types of its context, then of its fields, are its layout. 0 or -ENOMEM. */
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

static int word_event(struct hodo_trace *t, struct line *l)
{
	struct hodo_class c = {
		.pub = {
			.size = sizeof(c.pub),
			.name = get_text(l, "name"),
			.format = get_text(l, "format"),
			.file = get_text(l, "file"),
			.func = get_text(l, "func"),
			.object = get_text(l, "object"),
			.line = get_u32(l, "line"),
			.kind = hodo_read_kind_parse(get_text(l, "kind")),
		},
	};
	uint64_t id;
	int err = get_number(l, "id", HODO_EVENTS_MAX - 1, &id);
	int nfields = read_fields(c.fields, c.types, HODO_FIELDS_MAX, get_text(l, "fields"));

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

static int word_labels(struct hodo_trace *t, struct line *l)
{
	char *list = get_text(l, "values"), *item, *end;
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
		err = hodo_read_labels_add(&t->labels, get_text(l, "provider"), get_text(l, "field"),
					   get_text(l, "names"), values, n);
	return err == -EINVAL ? skip(t, l, BAD_LABELS, "labels damaged: skipped") : err;
}

/* Hexadecimal with 0x. 0, or -EINVAL. */
static int get_address(struct line *l, const char *key, uint64_t *address)
{
	const char *value = get_text(l, key);

	return strncmp(value, "0x", 2) == 0 ? hodo_parse_hex(value + 2, address) : -EINVAL;
}

static int get_build_id(struct line *l, struct hodo_read_object *o)
{
	int len = hodo_hex_bytes(o->build_id, sizeof(o->build_id), get_text(l, "build_id"));

	o->build_id_len = len < 0 ? 0 : (uint32_t)len;
	return len < 0 ? -EINVAL : 0;
}

/* Until the clock is known, its times are ticks; none: not known. */
static int word_object(struct hodo_trace *t, struct line *l)
{
	struct hodo_read_object o = { .size = sizeof(o), .path = get_text(l, "path") };
	uint64_t from = 0, until = UINT64_MAX, short_start = 0, short_end = 0;

	o.functions = get_u32(l, "functions");
	if (get_address(l, "base", &o.base) < 0 || get_address(l, "start", &o.start) < 0 ||
	    get_address(l, "end", &o.end) < 0 || o.start >= o.end || get_build_id(l, &o) < 0 ||
	    (get(l, "short_start") && get_address(l, "short_start", &short_start) < 0) ||
	    (get(l, "short_end") && get_address(l, "short_end", &short_end) < 0) ||
	    (get(l, "from") && get_number(l, "from", UINT64_MAX, &from) < 0) ||
	    (get(l, "until") && get_number(l, "until", UINT64_MAX, &until) < 0))
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

static int word_thread(struct hodo_trace *t, struct line *l)
{
	struct hodo_read_thread *thread = hodo_vec_add(t->threads, t->nthreads);

	if (!thread)
		return -ENOMEM;
	thread->tid = get_u32(l, "tid");
	thread->pid = get_u32(l, "pid");
	thread->comm = get_text(l, "comm");
	return 0;
}

static int word_lost(struct hodo_trace *t, struct line *l)
{
	static const char *const keys[] = { "full", "too_large", "busy", "overwritten", "unwritten" };
	const char *name = get_text(l, "stream");
	bool sound = *name && strlen(name) <= NAME_MAX && !strchr(name, '/');
	uint64_t n[5] = { 0 }, room = 0;
	struct hodo_stream *s;

	for (unsigned i = 0; i < 5; i++)
		sound &= !get(l, keys[i]) || get_number(l, keys[i], 1ull << 60, &n[i]) == 0;
	sound &= !get(l, "room") || get_number(l, "room", 1ull << 60, &room) == 0;
	if (!sound)
		return skip(t, l, BAD_LOST, "losses damaged: skipped");
	s = t->nlost++ < LOST_LINES_MAX ? hodo_read_trace_stream(t, name) : NULL;
	if (!s)
		return skip(t, l, BAD_LOST, "too many streams with losses: skipped");
	s->lost_by_cause = (struct hodo_read_lost){ n[0], n[1], n[2], n[3], n[4], 0 };
	s->lost_known = true;
	s->pub.room = room;
	return 0;
}

/* Behind the events. */
static int word_limited(struct hodo_trace *t, struct line *l)
{
	uint64_t id, n;

	if (get_number(l, "id", HODO_EVENTS_MAX - 1, &id) < 0 || get_number(l, "n", LIMITED_MAX, &n) < 0)
		return skip(t, l, BAD_LOST, "number of events over their rate damaged: skipped");
	if (id < t->by_id_n && t->by_id[id])
		t->by_id[id]->pub.limited += n;
	return 0;
}

/* Of the whole recording. */
static int word_unrecorded(struct hodo_trace *t, struct line *l)
{
	struct hodo_read *r = t->reader;
	struct hodo_read_unrecorded u = { .size = sizeof(u) };
	const char *why = get_text(l, "why");

	if (get_number(l, "images", 1ull << 60, &u.images) < 0)
		return skip(t, l, BAD_LOST, "number of images that are not recorded damaged: skipped");
	u.why = hodo_arena_copy(&r->memory, why, strlen(why));
	return u.why ? hodo_vec_push(r->unrecorded, r->nunrecorded, u) : -ENOMEM;
}

static int word_warning(struct hodo_trace *t, struct line *l)
{
	return hodo_vec_push(t->warnings, t->nwarnings, get_text(l, "text"));
}

/* time=SECONDS.NANOSECONDS, with nine digits behind the point. */
static void get_time(struct line *l, int64_t *time_ns)
{
	char *seconds = get_text(l, "time"), *rest = seconds;
	uint64_t s, ns = 0;

	strsep(&rest, ".");
	if (rest && strlen(rest) == 9)
		hodo_parse_number(rest, NS_PER_S - 1, &ns);
	if (hodo_parse_number(seconds, INT64_MAX / NS_PER_S - 1, &s) == 0)
		*time_ns = (int64_t)(s * NS_PER_S + ns);
}

static int word_end(struct hodo_trace *t, struct line *l)
{
	t->pub.complete = true;
	t->goes_on = get_u32(l, "part") != 0;
	get_time(l, &t->pub.end_ns);
	return 0;
}

static int word_snapshot(struct hodo_trace *t, struct line *l)
{
	t->pub.snapshot_why = get_text(l, "why");
	t->pub.snapshot_number = get_u32(l, "number");
	get_time(l, &t->pub.snapshot_ns);
	return 0;
}

static int use_line(struct hodo_trace *t, struct line *l)
{
	static const struct {
		const char *word;
		int (*func)(struct hodo_trace *t, struct line *l);
	} words[] = {
		{ "hodo", word_hodo },   { "process", word_process }, { "clock", word_clock },
		{ "event", word_event }, { "labels", word_labels },   { "thread", word_thread },
		{ "lost", word_lost },   { "warning", word_warning }, { "end", word_end },
		{ "snapshot", word_snapshot }, { "kernel", word_kernel },
		{ "object", word_object }, { "context", word_context }, { "limited", word_limited },
		{ "unrecorded", word_unrecorded },
	};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].word, l->word) == 0)
			return words[i].func(t, l);
	return 0;
}

/* Takes apart the line between its marks. false if it is none. */
static bool split_line(char *s, char *end, struct line *l)
{
	if (end - s < 2 || end[-1] != '/' || end[-2] != '*')
		return false;
	end[-2] = 0;
	l->empty = end - 2;
	l->n = 0;
	l->word = strsep(&s, " ");
	while (s) {
		char *item = strsep(&s, " "), *value = strchr(item, '=');

		if (!value)
			return false;
		if (l->n == KEYS_MAX)
			continue;
		*value++ = 0;
		hodo_percent_decode(value);
		l->pair[l->n].key = item;
		l->pair[l->n++].value = value;
	}
	return true;
}

int hodo_read_metadata_parse(struct hodo_trace *t)
{
	char *p = t->metadata, *end = p + t->metadata_bytes;
	unsigned number = 1;

	for (; p < end; number++) {
		char *eol = memchr(p, '\n', (size_t)(end - p)), *next;
		struct line l = { .number = number };
		int err = 0;

		eol = eol ? eol : end;
		next = eol + 1;
		if (eol > p && eol[-1] == '\r')
			eol--;
		if (eol - p > 4 && memcmp(p, "/*@", 3) == 0) {
			*eol = 0; /* there is a byte behind the end */
			if (memchr(p, 0, (size_t)(eol - p)) || !split_line(p + 3, eol, &l))
				warn(t, BAD_LINE, "line %u: damaged: skipped", number);
			else
				err = use_line(t, &l);
		}
		if (err)
			return err;
		p = next;
	}
	if (!t->has_hodo) /* damaged if it has other lines of ours, else not ours */
		return t->nclasses || t->has_clock || t->pub.pid ? -EBADMSG : -EPROTO;
	if (!t->has_clock && !(t->warned & BAD_CLOCK))
		warn(t, BAD_CLOCK, "no clock: times are wrong");
	return 0;
}
