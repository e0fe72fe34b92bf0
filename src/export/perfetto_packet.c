/* SPDX-License-Identifier: MIT */
/* perfetto_packet.c - packets of the one sequence, the texts in them, and events of tracks. */
#define _GNU_SOURCE
#include "perfetto_impl.h"

#include <errno.h>
#include <string.h>

#define SEQUENCE         1u
#define STATE_BEGINS     1u /* bits of sequence_flags */
#define STATE_NEEDED     2u
#define PACKET_HEAD_ROOM 11u /* tag and length of a packet in the trace */

int perfetto_put(struct perfetto *p, Perfetto__TracePacket *packet)
{
	size_t len, head = 0;
	uint8_t *o;

	packet->has_trusted_packet_sequence_id = 1;
	packet->trusted_packet_sequence_id = SEQUENCE;
	packet->has_sequence_flags = 1;
	packet->sequence_flags = p->begun ? STATE_NEEDED : STATE_BEGINS;
	p->begun = true;
	len = protobuf_c_message_get_packed_size(&packet->base);
	o = (uint8_t *)hodo_text_room(p->e->out, len + PACKET_HEAD_ROOM);
	if (!o)
		return p->e->out->error;
	o[head++] = 1 << 3 | 2; /* Trace.packet */
	for (size_t n = len; ; n >>= 7) {
		o[head++] = (uint8_t)(n < 0x80 ? n : (n & 0x7f) | 0x80);
		if (n < 0x80)
			break;
	}
	protobuf_c_message_pack(&packet->base, o + head);
	p->e->out->len += head + len;
	return 0;
}

int perfetto_scratch(struct perfetto *p, size_t len)
{
	p->scratch.len = 0;
	return hodo_text_room(&p->scratch, len) ? 0 : p->scratch.error;
}

char *perfetto_text_alone(struct perfetto *p, const char *s, size_t len)
{
	return perfetto_scratch(p, PERFETTO_TEXT_ROOM(len)) < 0 ? NULL : perfetto_text(p, s, len);
}

char *perfetto_text(struct perfetto *p, const char *s, size_t len)
{
	const uint8_t *in = (const uint8_t *)s, *end = in + len;
	char *text = p->scratch.data + p->scratch.len, *o = text;

	while (in < end) {
		unsigned n = *in < 0x80 ? 1 : hodo_utf8(in, end);

		if (n == 1) {
			*o++ = (char)*in++;
		} else if (n == 0) { /* the character of that number */
			*o++ = (char)(0xc0 | *in >> 6);
			*o++ = (char)(0x80 | (*in++ & 0x3f));
		} else {
			memcpy(o, in, n);
			o += n;
			in += n;
		}
	}
	*o++ = 0;
	p->scratch.len += (size_t)(o - text);
	return text;
}

int perfetto_point(struct perfetto *p, const struct perfetto_point *point)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	uint64_t category = point->category, flow = point->flow;

	packet.has_timestamp = 1;
	packet.timestamp = point->ts_ns > 0 ? (uint64_t)point->ts_ns : 0;
	packet.track_event = &event;
	event.has_type = 1;
	event.type = point->type;
	event.has_track_uuid = 1;
	event.track_uuid = point->track;
	event.has_name_iid = point->name != 0;
	event.name_iid = point->name;
	event.n_category_iids = category != 0;
	event.category_iids = &category;
	event.has_source_location_iid = point->location != 0;
	event.source_location_iid = point->location;
	event.n_debug_annotations = p->n;
	event.debug_annotations = p->note_list;
	if (flow && point->flow_ends) {
		event.n_terminating_flow_ids = 1;
		event.terminating_flow_ids = &flow;
	} else if (flow) {
		event.n_flow_ids = 1;
		event.flow_ids = &flow;
	}
	p->n = 0;
	return perfetto_put(p, &packet);
}
