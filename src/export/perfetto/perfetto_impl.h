/* SPDX-License-Identifier: MIT */
/*
 * perfetto_impl.h - what the files of the Perfetto format share. Failures stay in the output,
 * p->e->out->error, and are checked once, when an op of the timeline returns.
 */
#pragma once

#include <export/export.h>
#include "perfetto.pb-c.h"
#include <base/intern.h>
#include <read/text/text.h>

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

/* perfetto_packet.c */
void perfetto_put(struct perfetto *p, Perfetto__TracePacket *packet);
/* An event of a track; class: NULL, or the class with its names. More can be added until it is put. */
void perfetto_event(struct perfetto *p, Perfetto__TrackEvent__Type type, int64_t ts_ns, uint64_t track,
		    const struct perfetto_class *class);
void perfetto_event_name(struct perfetto *p, const char *name, const char *category);
void perfetto_event_put(struct perfetto *p);
/* A text as UTF-8, until an event is put; NULL: no memory. */
char *perfetto_text(struct perfetto *p, const char *s, size_t len);
/* The number that a name is interned as. */
uint64_t perfetto_name(struct perfetto *p, enum perfetto_sort sort, const char *fixed);
/* Never NULL. Valid until the next call. */
const struct perfetto_class *perfetto_class(struct perfetto *p, const struct hodo_read_class *cls);

/* perfetto_notes.c: what an event says, as annotations of the one that is being made */
void perfetto_notes(struct perfetto *p, const struct hodo_read_event *event);
Perfetto__DebugAnnotation *perfetto_note(struct perfetto *p, const char *name);
void perfetto_note_bool(struct perfetto *p, const char *name);
void perfetto_note_number(struct perfetto *p, const char *name, uint64_t value);

/* perfetto_tracks.c */
void perfetto_track(struct perfetto *p, struct hodo_track *track);
static inline uint64_t perfetto_uuid(const struct hodo_track *track) /* not ASYNC */
{
	return (uint64_t)(uintptr_t)track->user;
}
/* A track below a process's, for what its stream lost. */
uint64_t perfetto_loss_track(struct perfetto *p, const struct hodo_read_loss *loss);
/* A lane for a slice of an ASYNC track; NULL: no memory. */
struct perfetto_lane *perfetto_lane_take(struct perfetto *p, const struct hodo_track *track);
void perfetto_lane_give(const struct hodo_track *track, struct perfetto_lane *lane);
