/* SPDX-License-Identifier: MIT */
/*
 * ctf.c - a CTF trace for other viewers, with process, thread and its name in each event. One trace for all
 * processes, on one clock. Calls are events with LTTng's names, and nest as in the timeline; all other events
 * are as recorded.
 */
#define _GNU_SOURCE
#include <base/intern.h>
#include <base/vec.h>
#include <core/fields.h>
#include <export/export.h>
#include <read/file/tsdl.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A CPU's events, of all processes; a file. */
struct ctf_stream {
	uint64_t key;
	int32_t cpu;             /* -1: of threads on the fallback path */
	struct hodo_text body;   /* of the current packet */
	uint64_t begin, last;    /* ticks of its first and last event */
	uint64_t packets, discarded;
	uint32_t next_loss;      /* of ctf.losses */
};

struct ctf_loss {
	int32_t cpu;
	int64_t from_ns, until_ns;
	uint64_t events;
};

struct ctf {
	struct hodo_export *e;
	int64_t base_s; /* ticks are ns since then */
	uint8_t uuid[16];
	struct hodo_map streams;           /* struct ctf_stream by CPU */
	struct hodo_map classes;           /* struct ctf_class: ids by address */
	struct hodo_strings descriptions;  /* of events, without their ids */
	struct hodo_text text;             /* of one */
	struct ctf_loss *losses;           /* in order of time, once there are events */
	uint32_t nlosses, losses_room;
	bool ready;                        /* losses are in order */
	const struct hodo_read_event *at;  /* the current event */
};

struct ctf_class {
	uint64_t address; /* of the class */
	uint32_t id;
};

/* The first two descriptions are those of calls. */
enum { CTF_FUNC_ENTRY, CTF_FUNC_EXIT, CTF_EVENTS };

struct ctf_event {
	int32_t cpu;
	int64_t ts_ns;
	uint32_t id, pid, tid;
	const char *comm;
};

/* ------------------------------------------------------------------------ types */

/*
 * Events in TSDL. Byte for byte, without bit fields or variants. Texts are preceded by their length, as in
 * recordings: babeltrace2 2.0.4 shows an empty one with the content of an older event, however it is written;
 * the length tells that it is empty.
 */

/* Names have a leading underscore, which readers remove, except Trace Compass, which expects it. */
static const char head_stream[] =
	"typealias integer { size = 64; align = 8; signed = false; map = clock.hodo.value; } := timestamp_t;\n"
	"stream {\n"
	"\tid = 0;\n"
	"\tpacket.context := struct {\n"
	"\t\ttimestamp_t timestamp_begin; timestamp_t timestamp_end;\n"
	"\t\tuint64_t content_size; uint64_t packet_size;\n"
	"\t\tuint64_t packet_seq_num; uint64_t events_discarded; uint32_t cpu_id;\n"
	"\t};\n"
	"\tevent.header := struct { uint32_t id; timestamp_t timestamp; };\n"
	"\tevent.context := struct { uint32_t _vpid; uint32_t _vtid; string { encoding = UTF8; } _procname; };\n"
	"};\n";

static void add_member(struct hodo_text *t, const struct hodo_read_field *f, const char *name, const char *length)
{
	if (hodo_fields_element_size((uint8_t)f->type)) {
		hodo_text_printf(t, "uint32_t %s; %s %s[%s];\n", length, hodo_ctf_type((uint8_t)f->type), name, length);
	} else {
		if (f->labels && f->labels->n && hodo_ctf_has_labels((uint8_t)f->type))
			hodo_ctf_enum(t, (uint8_t)f->type, f->labels->n, f->labels->names, f->labels->values);
		else
			hodo_text_add(t, hodo_ctf_type((uint8_t)f->type));
		hodo_text_printf(t, " %s;\n", name);
	}
}

/* Fields as members; own: the name of a structure before them, "": none. */
static void name_fields(struct hodo_ctf_names *names, const char *own, const struct hodo_read_field *fields, uint32_t n)
{
	static const char identifier[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	char plain[HODO_FIELDS_MAX][HODO_NAME_MAX + 1];
	const char *name[HODO_FIELDS_MAX];
	uint8_t type[HODO_FIELDS_MAX];

	for (uint32_t i = 0; i < n; i++) {
		size_t len = strnlen(fields[i].name, HODO_NAME_MAX);

		/* A recording's names are not trusted. */
		for (size_t k = 0; k < len; k++)
			plain[i][k] = strchr(identifier, fields[i].name[k]) ? fields[i].name[k] : '_';
		plain[i][len] = '\0';
		name[i] = plain[i];
		type[i] = (uint8_t)fields[i].type;
	}
	hodo_ctf_names(names, own, name, type, n);
}

static void add_members(struct hodo_text *t, const struct hodo_ctf_names *names, const struct hodo_read_field *fields,
			uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		hodo_text_add(t, "\t\t");
		add_member(t, &fields[i], names->field[i].name, names->field[i].length);
	}
}

/* The context precedes the fields: babeltrace2 2.0.4 aborts if an event's context contains a sequence. */
static void describe(struct hodo_text *t, const struct hodo_read_class *cls)
{
	struct hodo_ctf_names names, context;

	hodo_text_add(t, "\tname = \"");
	hodo_name_quote(t, cls->name);
	hodo_text_add(t, "\";\n\tfields := struct {\n");
	name_fields(&names, cls->ncontext ? "context" : "", cls->fields, cls->nfields);
	if (cls->ncontext) {
		name_fields(&context, "", cls->context, cls->ncontext);
		hodo_text_add(t, "\t\tstruct {\n");
		add_members(t, &context, cls->context, cls->ncontext);
		hodo_text_printf(t, "\t\t} %s;\n", names.own);
	}
	add_members(t, &names, cls->fields, cls->nfields);
	hodo_text_add(t, "\t};\n");
}

/* As Trace Compass's view of LTTng's call stacks expects them; the text is for other readers. */
static int ctf_describe_calls(struct ctf *c)
{
	uint32_t entry = hodo_strings_add(&c->descriptions,
					  "\tname = \"lttng_ust_cyg_profile:func_entry\";\n\tfields := struct {\n"
					  "\t\tpointer_t _addr;\n\t\tstring { encoding = UTF8; } _name;\n\t};\n");
	uint32_t exit = hodo_strings_add(&c->descriptions,
					 "\tname = \"lttng_ust_cyg_profile:func_exit\";\n\tfields := struct {\n"
					 "\t\tpointer_t _addr;\n\t\tstring { encoding = UTF8; } _name;\n"
					 "\t\tstring { encoding = UTF8; } _how;\n\t};\n");

	return entry == CTF_FUNC_ENTRY && exit == CTF_FUNC_EXIT ? 0 : -ENOMEM;
}

static uint32_t ctf_describe(struct ctf *c, const struct hodo_read_class *cls)
{
	bool is_new;
	struct ctf_class *k = hodo_map_add_u64(&c->classes, (uintptr_t)cls, &is_new);

	if (!k || !is_new)
		return k ? k->id : UINT32_MAX;
	c->text.len = 0;
	describe(&c->text, cls);
	k->id = c->text.error ? UINT32_MAX : hodo_strings_add_bytes(&c->descriptions, c->text.data, c->text.len);
	return k->id;
}

/* Trace Compass recognises traces of programs by the domain. */
static void ctf_metadata(struct ctf *c, struct hodo_text *t)
{
	hodo_text_add(t, "/* CTF 1.8 */\n");
	hodo_ctf_declare_types(t);
	hodo_text_add(t, "trace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
	hodo_ctf_uuid(t, c->uuid);
	hodo_text_printf(t, "\";\n\tbyte_order = %s;\n"
			    "\tpacket.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; };\n};\n",
			 __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "be" : "le");
	hodo_text_add(t, "env {\n\tdomain = \"ust\";\n\ttracer_name = \"hodo\";\n};\n");
	hodo_text_printf(t, "clock { name = hodo; freq = 1000000000; offset_s = %lld; absolute = true; };\n",
			 (long long)c->base_s);
	hodo_text_add(t, head_stream);
	for (uint32_t i = 0; i < c->descriptions.map.n; i++) {
		hodo_text_printf(t, "event {\n\tid = %u;\n\tstream_id = 0;\n", i);
		hodo_text_add(t, hodo_strings_at(&c->descriptions, i));
		hodo_text_add(t, "};\n");
	}
}

/* ----------------------------------------------------------------------- values */

static void put_value(struct hodo_text *to, const struct hodo_read_value *v)
{
	unsigned element = hodo_fields_element_size((uint8_t)v->type);
	float f = (float)v->f;

	if (element) {
		static const char null[] = "(null)"; /* with its NUL, as in recordings */
		bool is_null = v->type == HODO_TYPE_STR && v->null;
		uint32_t count = is_null ? sizeof(null) : v->count;

		hodo_text_bytes(to, &count, sizeof(count));
		hodo_text_bytes(to, is_null ? null : v->data, (size_t)count * element);
	} else if (v->type == HODO_TYPE_F32) {
		hodo_text_bytes(to, &f, sizeof(f));
	} else if (v->type == HODO_TYPE_F64) {
		hodo_text_bytes(to, &v->f, sizeof(v->f));
	} else {
		unsigned size = hodo_fields_fixed_size((uint8_t)v->type);
		bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

		hodo_text_bytes(to, (const char *)&v->u + (big ? sizeof(v->u) - size : 0), size);
	}
}

/* An event's values, after its header. */
static void ctf_values(struct hodo_text *to, const struct hodo_read_event *e)
{
	for (uint32_t i = 0; i < e->cls->ncontext; i++)
		put_value(to, &e->context[i]);
	for (uint32_t i = 0; i < e->cls->nfields; i++)
		put_value(to, &e->values[i]);
}

/* ---------------------------------------------------------------------- streams */

/* Files of packets, one for each CPU, in which losses are counted. */

#define PACKET_BYTES (256u << 10)

/* As head_stream describes it. */
struct packet {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream_id;
	uint64_t timestamp_begin, timestamp_end, content_size, packet_size, packet_seq_num, events_discarded;
	uint32_t cpu_id;
} __attribute__((packed));

static int write_packet(struct ctf *c, struct ctf_stream *s, uint64_t begin, uint64_t end, const void *body, size_t len)
{
	struct packet h = { .magic = HODO_CTF_MAGIC, .timestamp_begin = begin, .timestamp_end = end,
			    .content_size = 8 * (sizeof(h) + len), .packet_size = 8 * (sizeof(h) + len),
			    .packet_seq_num = s->packets, .events_discarded = s->discarded,
			    .cpu_id = (uint32_t)s->cpu };
	struct hodo_text bytes = { 0 };
	char name[32] = "fallback";
	int err;

	if (s->cpu >= 0)
		snprintf(name, sizeof(name), "cpu%d", s->cpu);
	memcpy(h.uuid, c->uuid, sizeof(h.uuid));
	hodo_text_bytes(&bytes, &h, sizeof(h));
	hodo_text_bytes(&bytes, body, len);
	err = bytes.error ? bytes.error : c->e->file(c->e->folder, name, bytes.data, bytes.len);
	hodo_text_free(&bytes);
	s->packets++;
	return err;
}

/* Readers count losses by the difference of two packets: one without losses comes first. */
static int write_origin(struct ctf *c, struct ctf_stream *s, uint64_t before)
{
	uint64_t at = before > 0 ? before - 1 : 0;

	return s->packets == 0 ? write_packet(c, s, at, at, "", 0) : 0;
}

static int flush(struct ctf *c, struct ctf_stream *s)
{
	int err = s->body.error;

	if (!err && s->body.len > 0)
		err = write_packet(c, s, s->begin, s->last, s->body.data, s->body.len);
	s->body.len = 0;
	return err;
}

static uint64_t ticks_of(const struct ctf *c, int64_t ns)
{
	int64_t begin = c->base_s * 1000000000;

	return ns > begin ? (uint64_t)ns - (uint64_t)begin : 0;
}

/* Counts losses up to a time: between the previous packet and the next one. */
static int take_losses(struct ctf *c, struct ctf_stream *s, int64_t until_ns)
{
	uint64_t lost = 0, first = 0;
	int err;

	for (; s->next_loss < c->nlosses && c->losses[s->next_loss].from_ns <= until_ns; s->next_loss++) {
		const struct ctf_loss *l = &c->losses[s->next_loss];

		if (l->cpu != s->cpu)
			continue;
		first = lost ? first : ticks_of(c, l->from_ns);
		lost += l->events;
	}
	if (!lost)
		return 0;
	err = flush(c, s);
	if (!err)
		err = write_origin(c, s, first);
	s->discarded += lost;
	return err;
}

static int by_time(const void *a, const void *b)
{
	const struct ctf_loss *x = a, *y = b;

	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

/* NULL: no memory. */
static struct ctf_stream *stream_of(struct ctf *c, int32_t cpu)
{
	bool is_new;
	struct ctf_stream *s = hodo_map_add_u64(&c->streams, (uint32_t)cpu, &is_new);

	if (s && is_new)
		s->cpu = cpu;
	if (!c->ready && c->nlosses)
		qsort(c->losses, c->nlosses, sizeof(*c->losses), by_time);
	c->ready = true;
	return s;
}

/* Begins an event in its CPU's packet. Returns where its values go. NULL: error is set in *err. */
static struct hodo_text *ctf_begin(struct ctf *c, const struct ctf_event *event, int *err)
{
	struct ctf_stream *s = stream_of(c, event->cpu);
	uint64_t ticks = ticks_of(c, event->ts_ns);
	const uint32_t ids[] = { event->pid, event->tid };

	*err = s ? take_losses(c, s, event->ts_ns) : -ENOMEM;
	if (!*err && s->body.len >= PACKET_BYTES)
		*err = flush(c, s);
	if (*err)
		return NULL;
	/* An event noticed late is placed after those already written. */
	if (s->packets + s->body.len > 0 && ticks < s->last)
		ticks = s->last;
	s->begin = s->body.len ? s->begin : ticks;
	s->last = ticks;
	hodo_text_bytes(&s->body, &event->id, sizeof(event->id));
	hodo_text_bytes(&s->body, &ticks, sizeof(ticks));
	hodo_text_bytes(&s->body, ids, sizeof(ids));
	hodo_text_bytes(&s->body, event->comm, strlen(event->comm) + 1);
	return &s->body;
}

/* Writes what there is. A packet without events reports losses after the last event. */
static int ctf_finish(struct ctf *c)
{
	int err = 0;

	for (uint32_t i = 0; i < c->nlosses && !err; i++)
		err = stream_of(c, c->losses[i].cpu) ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < c->streams.n && !err; i++) {
		struct ctf_stream *s = hodo_map_at(&c->streams, i);
		uint64_t before = s->discarded, at = s->last;

		for (uint32_t k = s->next_loss; k < c->nlosses; k++)
			if (c->losses[k].cpu == s->cpu && ticks_of(c, c->losses[k].until_ns) > at)
				at = ticks_of(c, c->losses[k].until_ns);
		err = take_losses(c, s, INT64_MAX);
		if (!err)
			err = s->discarded > before ? write_packet(c, s, at, at, "", 0) : flush(c, s);
	}
	return err;
}

static int on_loss(void *data, const struct hodo_read_loss *loss)
{
	struct ctf *c = data;
	struct ctf_loss *l = hodo_vec_reserve(c->losses, c->losses_room, c->nlosses + 1) < 0 ? NULL :
			     &c->losses[c->nlosses++];

	if (!l)
		return -ENOMEM;
	*l = (struct ctf_loss){ loss->stream->cpu, loss->from_ns, loss->until_ns,
				loss->discarded + loss->overwritten + loss->damaged };
	return 0;
}

static void ctf_streams_free(struct ctf *c)
{
	for (uint32_t i = 0; i < c->streams.n; i++)
		hodo_text_free(&((struct ctf_stream *)hodo_map_at(&c->streams, i))->body);
	hodo_map_free(&c->streams);
	free(c->losses);
}

/* --------------------------------------------------------------------- timeline */

static int put_event(struct ctf *c, const struct hodo_read_event *e)
{
	uint32_t id = ctf_describe(c, e->cls);
	const struct ctf_event event = { e->cpu, e->ts_ns, id, e->pid, e->tid, e->comm };
	struct hodo_text *to;
	int err = 0;

	if (id == UINT32_MAX)
		return -ENOMEM;
	to = ctf_begin(c, &event, &err);
	if (to)
		ctf_values(to, e);
	return to ? to->error : err;
}

static int on_event(void *data, const struct hodo_read_event *e)
{
	struct ctf *c = data;

	c->at = e;
	if (e->cls->role == HODO_READ_ROLE_CALL_ENTRY || e->cls->role == HODO_READ_ROLE_CALL_EXIT)
		return 0; /* it is an end of a slice */
	return put_event(c, e);
}

/* On the CPU of its event. how: of an exit, else NULL. */
static int put_call(struct ctf *c, const struct hodo_slice *s, int64_t ts_ns, const char *how)
{
	const struct ctf_event event = { c->at ? c->at->cpu : -1, ts_ns, how ? CTF_FUNC_EXIT : CTF_FUNC_ENTRY,
					 s->track->pid, s->track->tid, s->track->name };
	struct hodo_text *to;
	int err = 0;

	to = ctf_begin(c, &event, &err);
	if (!to)
		return err;
	hodo_text_bytes(to, &s->place->start, sizeof(s->place->start));
	hodo_text_bytes(to, s->place->name, strlen(s->place->name) + 1);
	if (how)
		hodo_text_bytes(to, how, strlen(how) + 1);
	return to->error;
}

/* A late call stays a single event: its entry lies before what has been written. */
static int on_begin(void *data, struct hodo_slice *s, const struct hodo_read_event *e)
{
	bool call = s->kind == HODO_SLICE_CALL && (e || s->flags & HODO_SLICE_CONTINUED);

	s->user = call ? data : NULL;
	return call ? put_call(data, s, s->begin_ns, NULL) : 0;
}

static int on_end(void *data, struct hodo_slice *s, const struct hodo_read_event *e)
{
	uint32_t f = s->flags;

	if (!s->user || f & HODO_SLICE_OPEN)
		return 0;
	return put_call(data, s, s->end_ns, f & HODO_SLICE_LEFT ? "left" : f & HODO_SLICE_END_LOST ? "exit lost" :
			f & HODO_SLICE_NO_EXIT ? "not seen" : f & HODO_SLICE_SPLIT ? "goes on" : "returned");
}

static int start(void *state, struct hodo_export *e)
{
	const struct hodo_read_process *p = hodo_read_process(e->reader, 0);
	int64_t begin_ns = hodo_read_begin_ns(e->reader);
	struct ctf *c = state;

	c->e = e;
	c->streams = (struct hodo_map)HODO_MAP(struct ctf_stream, key);
	c->classes = (struct hodo_map)HODO_MAP(struct ctf_class, address);
	/* A packet without losses may precede everything by a little. */
	c->base_s = begin_ns / 1000000000 - (begin_ns > 1000000000);
	/* Not the recording's own: a viewer that opens both would merge them into one trace. */
	for (unsigned i = 0; i < sizeof(c->uuid); i++)
		c->uuid[i] = (p ? p->uuid[i] : 0) ^ 0x5a;
	return ctf_describe_calls(c);
}

static int finish(void *state, struct hodo_export *e, struct hodo_call_tree *tree)
{
	struct ctf *c = state;
	int err = ctf_finish(c);

	c->text.len = 0;
	ctf_metadata(c, &c->text);
	if (!err)
		err = c->text.error ? c->text.error : e->file(e->folder, "metadata", c->text.data, c->text.len);
	return err;
}

static void drop(void *state)
{
	struct ctf *c = state;

	ctf_streams_free(c);
	hodo_map_free(&c->classes);
	hodo_strings_free(&c->descriptions);
	hodo_text_free(&c->text);
}

const struct hodo_export_format hodo_export_ctf = {
	.name = "ctf",
	.suffix = "ctf",
	.whole_names = true,
	.does = "CTF, process and thread in each event: Trace Compass, babeltrace2",
	.folder = true,
	.state_bytes = sizeof(struct ctf),
	.open = start,
	.timeline = { .event = on_event, .begin = on_begin, .end = on_end, .loss = on_loss },
	.write = finish,
	.free = drop,
};
