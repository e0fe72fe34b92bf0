/* SPDX-License-Identifier: MIT */
/*
 * perfetto.c - a recording in Perfetto's format: packets of one sequence, with the schema in perfetto.proto.
 *
 * Times are nanoseconds since the epoch, declared as the trace's clock, the boot clock: a recording does not
 * have that, and it would add nothing. A clock snapshot declares both to be equal.
 *
 * Failures stay in the output, p->e->out->error, and are checked once, when an op of the timeline returns.
 */
#define _GNU_SOURCE
#include "perfetto.pb-c.h"

#include <base/intern.h>
#include <export/export.h>
#include <export/hosts.h>
#include <read/event/runs.h>
#include <read/text/text.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PERFETTO_NOTES_MAX (HODO_FIELDS_MAX + 8u)

/* Sets an optional field of a message. */
#define PERFETTO_SET(message, field, value) ((message).has_##field = 1, (message).field = (value))

enum perfetto_sort { PERFETTO_EVENT, PERFETTO_CATEGORY, PERFETTO_NOTE, PERFETTO_SORTS };

/* The interned names of an event class. */
struct perfetto_class {
	uint64_t address; /* of the struct hodo_read_class */
	uint64_t name, category;
	uint64_t location; /* where it is in the source; 0: not known */
};

/* A shared track: found by its object, and a number within that. */
struct perfetto_track {
	struct perfetto_track_key {
		const void *of;
		uint64_t number;
	} key;
	uint64_t uuid;
};

/*
 * Id-paired spans with the same name may overlap, slices of a track may not: each gets a lane, which is a
 * track.
 */
struct perfetto_lane {
	uint64_t uuid;
	struct perfetto_lane *next; /* free ones; the first is a dummy, the ASYNC track's user */
};

struct perfetto {
	struct hodo_export *e;
	bool begun;
	struct hodo_strings names[PERFETTO_SORTS];
	struct hodo_map classes, tracks; /* of struct perfetto_class, perfetto_track */
	uint64_t nlocations, nuuids;
	struct hodo_arena lanes, texts; /* texts: of the packet under construction */
	const struct hodo_read_stream *loss_stream; /* of the last loss */
	int64_t loss_ns;                            /* when the last loss ended */
	/* The event under construction. */
	Perfetto__TrackEvent event;
	int64_t ts_ns;
	uint64_t category, flow;
	Perfetto__DebugAnnotation notes[PERFETTO_NOTES_MAX], *note_list[PERFETTO_NOTES_MAX];
};

static inline uint64_t perfetto_uuid(const struct hodo_track *track) /* not ASYNC */
{
	return (uint64_t)(uintptr_t)track->user;
}

/* ---------------------------------------------------------------------- packets */

/* Of the one sequence. Each name is written once, before its first use, and then referred to by number. */

#define SEQUENCE         1u
#define STATE_BEGINS     1u /* bits of sequence_flags */
#define STATE_NEEDED     2u
#define PACKET_HEAD_ROOM 11u /* tag and length of a packet in the trace */

static void perfetto_put(struct perfetto *p, Perfetto__TracePacket *packet)
{
	size_t len, head = 0;
	uint8_t *o;

	packet->trusted_packet_sequence_id = SEQUENCE;
	packet->sequence_flags = p->begun ? STATE_NEEDED : STATE_BEGINS;
	p->begun = true;
	len = protobuf_c_message_get_packed_size(&packet->base);
	o = (uint8_t *)hodo_text_room(p->e->out, len + PACKET_HEAD_ROOM);
	if (!o)
		return;
	o[head++] = 1 << 3 | 2; /* Trace.packet */
	for (size_t n = len; ; n >>= 7) {
		o[head++] = (uint8_t)(n < 0x80 ? n : (n & 0x7f) | 0x80);
		if (n < 0x80)
			break;
	}
	protobuf_c_message_pack(&packet->base, o + head);
	p->e->out->len += head + len;
}

/* A text as UTF-8, until an event is put; NULL: no memory. */
static char *perfetto_text(struct perfetto *p, const char *s, size_t len)
{
	char *text = hodo_arena_alloc(&p->texts, 2 * len + 1);

	if (text)
		*hodo_escape_utf8(text, s, len, 0) = 0;
	else
		hodo_text_fail(p->e->out, -ENOMEM);
	return text;
}

/* ------------------------------------------------------------------------ names */

static void put_name(struct perfetto *p, enum perfetto_sort sort, const char *name, uint64_t iid)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__InternedName entry = PERFETTO__INTERNED_NAME__INIT, *list = &entry;

	entry.iid = iid;
	entry.name = perfetto_text(p, name, strlen(name));
	data.n_event_names = sort == PERFETTO_EVENT;
	data.n_event_categories = sort == PERFETTO_CATEGORY;
	data.n_debug_annotation_names = sort == PERFETTO_NOTE;
	data.event_names = data.event_categories = data.debug_annotation_names = &list;
	packet.interned_data = &data;
	perfetto_put(p, &packet);
}

/* number: that a name has been given, where there were `known` before. */
static uint64_t interned(struct perfetto *p, enum perfetto_sort sort, uint32_t number, uint32_t known)
{
	if (number == HODO_STRINGS_NONE)
		hodo_text_fail(p->e->out, -ENOMEM);
	else if (number == known)
		put_name(p, sort, hodo_strings_at(&p->names[sort], number), number + 1ull);
	return number + 1ull;
}

/* The number that a name is interned as. */
static uint64_t perfetto_name(struct perfetto *p, enum perfetto_sort sort, const char *fixed)
{
	uint32_t known = p->names[sort].map.n;

	return interned(p, sort, hodo_strings_add_fixed(&p->names[sort], fixed), known);
}

static uint64_t put_location(struct perfetto *p, const struct hodo_read_class *cls)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__SourceLocation entry = PERFETTO__SOURCE_LOCATION__INIT, *list = &entry;

	entry.iid = ++p->nlocations;
	entry.file_name = perfetto_text(p, cls->file, strlen(cls->file));
	if (cls->func[0])
		entry.function_name = perfetto_text(p, cls->func, strlen(cls->func));
	entry.line_number = cls->line;
	data.n_source_locations = 1;
	data.source_locations = &list;
	packet.interned_data = &data;
	perfetto_put(p, &packet);
	return entry.iid;
}

/* Never NULL. Valid until the next call. */
static const struct perfetto_class *perfetto_class(struct perfetto *p, const struct hodo_read_class *cls)
{
	static const struct perfetto_class none;
	struct hodo_strings *categories = &p->names[PERFETTO_CATEGORY];
	struct perfetto_class *k = hodo_map_add_u64(&p->classes, (uintptr_t)cls, NULL);
	uint32_t known = categories->map.n;

	if (!k) {
		hodo_text_fail(p->e->out, -ENOMEM);
		return &none;
	}
	if (k->name)
		return k;
	k->name = perfetto_name(p, PERFETTO_EVENT, cls->name);
	k->category = interned(p, PERFETTO_CATEGORY,
			       hodo_strings_add_bytes(categories, cls->name, strcspn(cls->name, ":")), known);
	if (cls->file[0] && cls->kind != HODO_KIND_FUNCTION)
		k->location = put_location(p, cls);
	return k;
}

/* ----------------------------------------------------------------------- events */

/* An event of a track; class: NULL, or the class with its names. More can be added until it is put. */
static void perfetto_event(struct perfetto *p, Perfetto__TrackEvent__Type type, int64_t ts_ns, uint64_t track,
			   const struct perfetto_class *class)
{
	p->event = (Perfetto__TrackEvent)PERFETTO__TRACK_EVENT__INIT;
	p->event.type = type;
	p->event.track_uuid = track;
	p->event.category_iids = &p->category;
	p->event.debug_annotations = p->note_list;
	p->ts_ns = ts_ns;
	if (!class)
		return;
	PERFETTO_SET(p->event, name_iid, class->name);
	p->category = class->category;
	p->event.n_category_iids = 1;
	p->event.has_source_location_iid = class->location != 0;
	p->event.source_location_iid = class->location;
}

static void perfetto_event_name(struct perfetto *p, const char *name, const char *category)
{
	PERFETTO_SET(p->event, name_iid, perfetto_name(p, PERFETTO_EVENT, name));
	if (category)
		p->category = perfetto_name(p, PERFETTO_CATEGORY, category);
	p->event.n_category_iids = 1;
}

static void perfetto_event_put(struct perfetto *p)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	PERFETTO_SET(packet, timestamp, p->ts_ns > 0 ? (uint64_t)p->ts_ns : 0);
	packet.track_event = &p->event;
	perfetto_put(p, &packet);
	hodo_arena_clear(&p->texts);
}

/* ------------------------------------------------------------------------ notes */

/* An event's data as annotations: fields, a mark's text, the context. */

#define ELEMENTS_MAX 256u  /* of arrays and bytes: viewers show no more; csv and jsonl have all */
#define ELEMENTS_ROOM (ELEMENTS_MAX * (HODO_FORMAT_FLOAT_MAX + 2) + 64)

static Perfetto__DebugAnnotation *perfetto_note(struct perfetto *p, const char *name)
{
	uint64_t iid = perfetto_name(p, PERFETTO_NOTE, name);
	Perfetto__DebugAnnotation *a = &p->notes[p->event.n_debug_annotations];

	*a = (Perfetto__DebugAnnotation)PERFETTO__DEBUG_ANNOTATION__INIT;
	a->name_iid = iid;
	p->note_list[p->event.n_debug_annotations++] = a;
	return a;
}

static void perfetto_note_bool(struct perfetto *p, const char *name)
{
	Perfetto__DebugAnnotation *a = perfetto_note(p, name);

	PERFETTO_SET(*a, bool_value, 1);
}

static void perfetto_note_number(struct perfetto *p, const char *name, uint64_t value)
{
	Perfetto__DebugAnnotation *a = perfetto_note(p, name);

	PERFETTO_SET(*a, uint_value, value);
}

/* As print shows it, or its first elements. */
static char *elements_text(struct perfetto *p, const struct hodo_read_value *v)
{
	static const struct hodo_read_field plain = { .name = "" };
	struct hodo_read_value few = *v;
	char *start = hodo_arena_alloc(&p->texts, ELEMENTS_ROOM), *o;

	if (!start) {
		hodo_text_fail(p->e->out, -ENOMEM);
		return NULL;
	}
	if (few.count > ELEMENTS_MAX)
		few.count = ELEMENTS_MAX;
	o = hodo_read_put_value(start, &plain, &few, p->e->text->c);
	if (few.count < v->count)
		o = hodo_format_u64(stpcpy(o, " of "), v->count);
	*o = 0;
	return start;
}

static void set_value(struct perfetto *p, Perfetto__DebugAnnotation *a, const struct hodo_read_field *f,
		      const struct hodo_read_value *v)
{
	const char *label = f->labels && v->type < HODO_TYPE_STR ? hodo_read_label(f->labels, v->i) : NULL;

	if (label) {
		a->string_value = perfetto_text(p, label, strnlen(label, HODO_NAME_MAX));
		return;
	}
	switch (v->type) {
	case HODO_TYPE_BOOL:
		PERFETTO_SET(*a, bool_value, v->u != 0);
		break;
	case HODO_TYPE_U8:
	case HODO_TYPE_U16:
	case HODO_TYPE_U32:
	case HODO_TYPE_U64:
		PERFETTO_SET(*a, uint_value, v->u);
		break;
	case HODO_TYPE_PTR:
		PERFETTO_SET(*a, pointer_value, v->u);
		break;
	case HODO_TYPE_F32:
	case HODO_TYPE_F64:
		PERFETTO_SET(*a, double_value, v->f);
		break;
	case HODO_TYPE_STR:
		a->string_value = v->null ? (char *)(uintptr_t)HODO_NULL_TEXT : perfetto_text(p, v->data, v->count);
		break;
	default:
		if (v->type == HODO_TYPE_BYTES || v->type & HODO_TYPE_ARRAY)
			a->string_value = elements_text(p, v);
		else
			PERFETTO_SET(*a, int_value, v->i);
	}
}

static void perfetto_notes(struct perfetto *p, const struct hodo_read_event *event)
{
	const struct hodo_read_class *cls = event->cls;
	const char *text;
	size_t len;

	if (cls->kind == HODO_KIND_MARK) {
		text = hodo_export_text(p->e, event, &len, hodo_read_text_mark);
		perfetto_note(p, "text")->string_value = perfetto_text(p, text, len);
	}
	for (uint32_t i = 0; i < cls->nfields && i < HODO_FIELDS_MAX; i++) {
		Perfetto__DebugAnnotation *a = perfetto_note(p, cls->fields[i].name);

		/* The symbols own a function's name: it stays valid. */
		if (cls->kind == HODO_KIND_FUNCTION && cls->fields[i].type == HODO_TYPE_PTR)
			a->string_value = (char *)(uintptr_t)hodo_symbols_name_at(p->e->symbols, event,
										  event->values[i].u);
		else
			set_value(p, a, &cls->fields[i], &event->values[i]);
	}
	if (cls->ncontext > 0) {
		text = hodo_export_text(p->e, event, &len, hodo_read_add_context);
		if (len > 3) /* " {…}" */
			perfetto_note(p, "context")->string_value = perfetto_text(p, text + 2, len - 3);
	}
}

/* ----------------------------------------------------------------------- tracks */

#define WHOLE_PROCESS (1ull << 32) /* the others are thread ids */
/* For unrecorded processes in the kernel's events, and their threads. */
#define UNRECORDED(pid) (WHOLE_PROCESS | (pid))
#define OF_HOST(t, number) ((number) | (uint64_t)(t)->process->host << 40)

static uint64_t find(const struct perfetto *p, const void *of, uint64_t number)
{
	const struct perfetto_track_key key = { of, number };
	const struct perfetto_track *known = hodo_map_find(&p->tracks, &key);

	return known ? known->uuid : 0;
}

static uint64_t keep(struct perfetto *p, const void *of, uint64_t number, uint64_t uuid)
{
	const struct perfetto_track_key key = { of, number };
	struct perfetto_track *known = hodo_map_add(&p->tracks, &key, NULL);

	if (known)
		known->uuid = uuid;
	else
		hodo_text_fail(p->e->out, -ENOMEM);
	return uuid;
}

static uint64_t put(struct perfetto *p, Perfetto__TrackDescriptor *track, uint64_t parent)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	track->uuid = ++p->nuuids;
	track->has_parent_uuid = parent != 0;
	track->parent_uuid = parent;
	packet.track_descriptor = track;
	perfetto_put(p, &packet);
	return track->uuid;
}

static char *text(struct perfetto *p, const char *s)
{
	return perfetto_text(p, s, strlen(s));
}

/* of: the process, or the kernel that saw it. */
static uint64_t put_process(struct perfetto *p, const struct hodo_read_process *of, uint32_t pid, const char *comm,
			    const char *exe)
{
	char name[160];
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
	char *cmdline = text(p, exe);

	process.pid = (int32_t)hodo_number_apart(of, pid);
	process.process_name = text(p, hodo_name_apart(p->e->reader, of, comm, name));
	process.n_cmdline = exe[0] != 0;
	process.cmdline = &cmdline;
	track.process = &process;
	return put(p, &track, 0);
}

static uint64_t put_thread(struct perfetto *p, uint64_t parent, const struct hodo_track *t)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ThreadDescriptor thread = PERFETTO__THREAD_DESCRIPTOR__INIT;

	thread.pid = (int32_t)hodo_number_apart(t->process, t->pid);
	thread.tid = (int32_t)hodo_number_apart(t->process, t->tid);
	thread.thread_name = text(p, t->name);
	track.thread = &thread;
	return put(p, &track, parent);
}

static uint64_t put_plain(struct perfetto *p, uint64_t parent, const char *name)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;

	track.name = text(p, name);
	return put(p, &track, parent);
}

/* ----------------------------------------------------------- processes and threads */

/* process: NULL if it was not recorded; t: a track of it. */
static uint64_t process_track(struct perfetto *p, const struct hodo_read_process *process, const struct hodo_track *t)
{
	uint64_t number = process ? WHOLE_PROCESS : OF_HOST(t, UNRECORDED(t->pid)), uuid = find(p, process, number);

	if (uuid)
		return uuid;
	uuid = process ? put_process(p, process, process->pid, process->kernel ? "kernel" : process->comm, process->exe)
		       : put_process(p, t->process, t->pid, t->pid == 0 ? "kernel" : t->name, "");
	return keep(p, process, number, uuid);
}

static uint64_t thread_track(struct perfetto *p, const struct hodo_read_process *process, const struct hodo_track *t)
{
	uint64_t number = OF_HOST(t, t->tid), uuid = find(p, process, number);

	return uuid ? uuid : keep(p, process, number, put_thread(p, process_track(p, process, t), t));
}

/* The kernel's events of a thread are below the thread's own track, if its process was also recorded. */
static uint64_t put_kernel(struct perfetto *p, const struct hodo_track *t)
{
	const struct hodo_read_process *owner = NULL, *process;

	for (uint32_t i = 0; t->pid && !owner && (process = hodo_read_process(p->e->reader, i)) != NULL; i++)
		if (!process->kernel && process->pid == t->pid && process->host == t->process->host)
			owner = process;
	return put_plain(p, thread_track(p, owner, t), "kernel");
}

/* -------------------------------------------------------------------- other tracks */

static uint64_t put_counter(struct perfetto *p, const struct hodo_track *t)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__CounterDescriptor counter = PERFETTO__COUNTER_DESCRIPTOR__INIT;
	size_t len = strlen(t->name);
	uint64_t parent = process_track(p, t->process, t);

	track.name = text(p, t->name);
	if (len >= 5 && strcmp(t->name + len - 5, "bytes") == 0)
		PERFETTO_SET(counter, unit, PERFETTO__COUNTER_DESCRIPTOR__UNIT__UNIT_SIZE_BYTES);
	track.counter = &counter;
	return put(p, &track, parent);
}

static uint64_t put_cpu(struct perfetto *p, const struct hodo_track *t)
{
	static const char all[] = "CPUs";
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT, cpus = track;
	uint64_t parent = find(p, all, 0);

	if (!parent) {
		cpus.name = text(p, all);
		PERFETTO_SET(cpus, child_ordering, PERFETTO__TRACK_DESCRIPTOR__CHILD_TRACKS_ORDERING__EXPLICIT);
		parent = keep(p, all, 0, put(p, &cpus, 0));
	}
	track.name = text(p, t->name);
	PERFETTO_SET(track, sibling_order_rank, t->cpu);
	return put(p, &track, parent);
}

/* A track below a process's, for what its stream lost. */
static uint64_t perfetto_loss_track(struct perfetto *p, const struct hodo_read_loss *loss)
{
	uint64_t uuid = find(p, loss->stream, 0);
	char name[300];

	if (uuid)
		return uuid;
	snprintf(name, sizeof(name), "lost: %.250s", loss->stream->name);
	return keep(p, loss->stream, 0, put_plain(p, process_track(p, loss->process, NULL), name));
}

static void perfetto_track(struct perfetto *p, struct hodo_track *t)
{
	struct perfetto_lane *lanes;
	uint64_t uuid;

	if (t->kind == HODO_TRACK_ASYNC) {
		t->user = lanes = hodo_arena_alloc(&p->lanes, sizeof(*lanes));
		if (lanes)
			lanes->next = NULL;
		else
			hodo_text_fail(p->e->out, -ENOMEM);
		return;
	}
	uuid = t->kind == HODO_TRACK_COUNTER ? put_counter(p, t) :
	       t->kind == HODO_TRACK_CPU     ? put_cpu(p, t) :
	       t->process->kernel            ? put_kernel(p, t) : thread_track(p, t->process, t);
	t->user = (void *)(uintptr_t)uuid;
}

/* --------------------------------------------------------------------------- lanes */

/* A lane for a slice of an ASYNC track; NULL: no memory. */
static struct perfetto_lane *perfetto_lane_take(struct perfetto *p, const struct hodo_track *track)
{
	struct perfetto_lane *lanes = track->user, *lane = lanes->next;

	if (lane) {
		lanes->next = lane->next;
		return lane;
	}
	lane = hodo_arena_alloc(&p->lanes, sizeof(*lane));
	if (lane)
		lane->uuid = put_plain(p, process_track(p, track->process, NULL), track->name);
	else
		hodo_text_fail(p->e->out, -ENOMEM);
	return lane;
}

static void perfetto_lane_give(const struct hodo_track *track, struct perfetto_lane *lane)
{
	struct perfetto_lane *lanes = track->user;

	lane->next = lanes->next;
	lanes->next = lane;
}

/* --------------------------------------------------------------------- timeline */

#define CLOCK_REAL 1u
#define CLOCK_BOOT 6u
#define BEGIN      PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN
#define END        PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END
#define INSTANT    PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT
#define COUNTER    PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER

static void begin_trace(struct perfetto *p)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__ClockSnapshot__Clock clocks[2], *list[] = { &clocks[0], &clocks[1] };
	int64_t begin_ns = hodo_read_begin_ns(p->e->reader);

	for (unsigned i = 0; i < 2; i++) {
		clocks[i] = (Perfetto__ClockSnapshot__Clock)PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT;
		clocks[i].clock_id = i ? CLOCK_BOOT : CLOCK_REAL;
		clocks[i].timestamp = begin_ns > 0 ? (uint64_t)begin_ns : 0;
	}
	snapshot.n_clocks = 2;
	snapshot.clocks = list;
	packet.clock_snapshot = &snapshot;
	PERFETTO_SET(packet, first_packet_on_sequence, 1);
	perfetto_put(p, &packet);
}

static int on_track(void *data, struct hodo_track *track)
{
	struct perfetto *p = data;

	perfetto_track(p, track);
	return p->e->out->error;
}

/* The event is one of an id-paired span: an arrow leads from the first to the last. */
static void set_flow(struct perfetto *p, const struct hodo_slice *slice)
{
	p->flow = slice->number;
	if (slice->ended_on) {
		p->event.n_terminating_flow_ids = 1;
		p->event.terminating_flow_ids = &p->flow;
	} else {
		p->event.n_flow_ids = 1;
		p->event.flow_ids = &p->flow;
	}
}

/* The start or end of an id-paired span, on the thread where it happened. */
static void put_flow(struct perfetto *p, const struct hodo_slice *slice, const struct hodo_track *thread, int64_t ts_ns,
		     const struct perfetto_class *k)
{
	perfetto_event(p, INSTANT, ts_ns, perfetto_uuid(thread), k);
	set_flow(p, slice);
	perfetto_event_put(p);
}

static int on_begin(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct perfetto *p = data;
	const struct perfetto_class *k = slice->cls ? perfetto_class(p, slice->cls) : NULL;
	struct perfetto_lane *lane = NULL;

	if (slice->kind == HODO_SLICE_ASYNC) {
		slice->user = lane = perfetto_lane_take(p, slice->track);
		if (!lane)
			return p->e->out->error;
		put_flow(p, slice, slice->began_on, slice->begin_ns, k);
	}
	perfetto_event(p, BEGIN, slice->begin_ns, lane ? lane->uuid : perfetto_uuid(slice->track), k);
	perfetto_event_name(p, slice->name, slice->kind == HODO_SLICE_CALL    ? "func" :
					    slice->kind == HODO_SLICE_RUNNING ? "sched" : NULL);
	if (lane)
		set_flow(p, slice);
	if (event && slice->kind != HODO_SLICE_CALL)
		perfetto_notes(p, event);
	if (slice->flags & HODO_SLICE_CONTINUED)
		perfetto_note_bool(p, "continued");
	if (slice->kind == HODO_SLICE_RUNNING) {
		perfetto_note_number(p, "pid", slice->pid);
		perfetto_note_number(p, "tid", slice->id);
	}
	perfetto_event_put(p);
	return p->e->out->error;
}

static int on_end(void *data, struct hodo_slice *slice, const struct hodo_read_event *event)
{
	struct perfetto *p = data;
	struct perfetto_lane *lane = slice->user;

	/* A slice without an end is drawn to the trace's end. */
	if (slice->flags & HODO_SLICE_OPEN && !lane)
		return 0;
	perfetto_event(p, END, slice->end_ns, lane ? lane->uuid : perfetto_uuid(slice->track), NULL);
	if (event && slice->kind != HODO_SLICE_CALL)
		perfetto_notes(p, event);
	if (slice->flags & HODO_SLICE_LEFT)
		perfetto_note_bool(p, "left");
	if (slice->flags & HODO_SLICE_END_LOST)
		perfetto_note_bool(p, hodo_slice_end_lost(slice));
	if (slice->flags & HODO_SLICE_OPEN)
		perfetto_note_bool(p, "unfinished");
	if (slice->kind == HODO_SLICE_RUNNING)
		perfetto_note(p, "why it ended")->string_value =
			(char *)(uintptr_t)hodo_sched_why_text(slice->sched_why);
	perfetto_event_put(p);
	if (lane)
		perfetto_lane_give(slice->track, lane);
	if (lane && slice->ended_on)
		put_flow(p, slice, slice->ended_on, slice->end_ns, perfetto_class(p, event->cls));
	return p->e->out->error;
}

static int on_instant(void *data, const struct hodo_track *track, const struct hodo_read_event *event, uint32_t depth)
{
	struct perfetto *p = data;

	perfetto_event(p, INSTANT, event->ts_ns, perfetto_uuid(track), perfetto_class(p, event->cls));
	perfetto_notes(p, event);
	perfetto_event_put(p);
	return p->e->out->error;
}

static int on_counter(void *data, const struct hodo_track *track, const struct hodo_read_event *event, double value)
{
	struct perfetto *p = data;
	const struct hodo_read_value *v = event->values;

	perfetto_event(p, COUNTER, event->ts_ns, perfetto_uuid(track), NULL);
	/* A whole number stays exact. */
	if (v->type < HODO_TYPE_F32 && (v->u <= INT64_MAX || value < 0))
		PERFETTO_SET(p->event, counter_value, v->i);
	else
		PERFETTO_SET(p->event, double_counter_value, value);
	perfetto_event_put(p);
	return p->e->out->error;
}

/* Where events are missing: a slice on a track of their stream. */
static int on_loss(void *data, const struct hodo_read_loss *loss)
{
	const struct {
		const char *name;
		uint64_t n;
	} losses[] = { { "discarded", loss->discarded }, { "overwritten", loss->overwritten },
		       { "damaged", loss->damaged } };
	struct perfetto *p = data;
	uint64_t track = perfetto_loss_track(p, loss);
	int64_t from_ns = loss->from_ns;

	/* They follow each other, whatever a damaged stream says. */
	if (p->loss_stream == loss->stream && from_ns < p->loss_ns)
		from_ns = p->loss_ns;
	p->loss_stream = loss->stream;
	p->loss_ns = loss->until_ns > from_ns ? loss->until_ns : from_ns;
	perfetto_event(p, BEGIN, from_ns, track, NULL);
	perfetto_event_name(p, "lost events", "lost");
	for (unsigned i = 0; i < 3; i++)
		if (losses[i].n)
			perfetto_note_number(p, losses[i].name, losses[i].n);
	perfetto_event_put(p);
	perfetto_event(p, END, p->loss_ns, track, NULL);
	perfetto_event_put(p);
	return p->e->out->error;
}

static int open_perfetto(void *state, struct hodo_export *e)
{
	struct perfetto *p = state;

	p->e = e;
	p->classes = (struct hodo_map)HODO_MAP(struct perfetto_class, address);
	p->tracks = (struct hodo_map)HODO_MAP(struct perfetto_track, key);
	begin_trace(p);
	return e->out->error;
}

static void free_perfetto(void *state)
{
	struct perfetto *p = state;

	for (unsigned i = 0; i < PERFETTO_SORTS; i++)
		hodo_strings_free(&p->names[i]);
	hodo_map_free(&p->classes);
	hodo_map_free(&p->tracks);
	hodo_arena_free(&p->lanes);
	hodo_arena_free(&p->texts);
}

const struct hodo_export_format hodo_export_perfetto = {
	.name = "perfetto",
	.suffix = "pftrace",
	.does = "a timeline: https://ui.perfetto.dev, trace_processor",
	.binary = true,
	.state_bytes = sizeof(struct perfetto),
	.open = open_perfetto,
	.timeline = { .track = on_track, .begin = on_begin, .end = on_end, .instant = on_instant,
		      .counter = on_counter, .loss = on_loss },
	.free = free_perfetto,
};
