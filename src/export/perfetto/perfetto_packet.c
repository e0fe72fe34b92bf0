/* SPDX-License-Identifier: MIT */
/*
 * perfetto_packet.c - packets of the one sequence, and the events of tracks in them. Each name is written
 * once, before its first use, and then referred to by number.
 */
#include "perfetto_impl.h"

#include <errno.h>
#include <string.h>

#define SEQUENCE         1u
#define STATE_BEGINS     1u /* bits of sequence_flags */
#define STATE_NEEDED     2u
#define PACKET_HEAD_ROOM 11u /* tag and length of a packet in the trace */

void perfetto_put(struct perfetto *p, Perfetto__TracePacket *packet)
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

char *perfetto_text(struct perfetto *p, const char *s, size_t len)
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

uint64_t perfetto_name(struct perfetto *p, enum perfetto_sort sort, const char *fixed)
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

const struct perfetto_class *perfetto_class(struct perfetto *p, const struct hodo_read_class *cls)
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

void perfetto_event(struct perfetto *p, Perfetto__TrackEvent__Type type, int64_t ts_ns, uint64_t track,
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

void perfetto_event_name(struct perfetto *p, const char *name, const char *category)
{
	PERFETTO_SET(p->event, name_iid, perfetto_name(p, PERFETTO_EVENT, name));
	if (category)
		p->category = perfetto_name(p, PERFETTO_CATEGORY, category);
	p->event.n_category_iids = 1;
}

void perfetto_event_put(struct perfetto *p)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	PERFETTO_SET(packet, timestamp, p->ts_ns > 0 ? (uint64_t)p->ts_ns : 0);
	packet.track_event = &p->event;
	perfetto_put(p, &packet);
	hodo_arena_clear(&p->texts);
}
