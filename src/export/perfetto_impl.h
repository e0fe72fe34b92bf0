/* SPDX-License-Identifier: MIT */
/* perfetto_impl.h - what the files of the Perfetto format share. */
#ifndef HODO_EXPORT_PERFETTO_IMPL_H
#define HODO_EXPORT_PERFETTO_IMPL_H

#include "export.h"
#include "scheduling.h"
#include <base/map.h>
#include <read/text.h>

#include "perfetto.pb-c.h"

#define PERFETTO_NOTES_MAX (HODO_FIELDS_MAX + 8u)

/* Names of annotations that are not fields. */
enum perfetto_note { NOTE_TEXT, NOTE_CONTEXT, NOTE_LEFT, NOTE_OPEN, NOTE_CONTINUED, NOTE_PID, NOTE_TID, NOTE_WHY,
		     NOTE_DISCARDED, NOTE_OVERWRITTEN, NOTE_DAMAGED, NOTES };

/* The interned names of an event class. */
struct perfetto_class {
	uint64_t address;  /* of the struct hodo_read_class */
	uint64_t name;     /* the event's full name */
	uint64_t category; /* its provider */
	uint64_t location; /* where it is in the source; 0: not known */
	uint64_t field;    /* of the first field; the others follow */
};

/* Id-paired spans of one name may overlap, slices of a track may not: the lowest lane that is free is taken. */
struct perfetto_lanes {
	uint64_t address; /* of the track */
	uint64_t *busy; /* bits */
	uint64_t *flows; /* of each lane's open slice */
	uint32_t words; /* of busy */
	uint32_t first; /* all words before are full */
};

/* The number of something that is found by its address; of a track by its uuid. */
struct perfetto_number {
	uint64_t key, number;
};

struct perfetto {
	struct hodo_export *e;
	struct hodo_map classes, lanes;
	struct perfetto_class *last; /* of the last event */
	struct hodo_map names, processes, tracks; /* of struct perfetto_number; tracks: those that are written */
	uint64_t nnames, ncategories, nfields, nlocations, nflows;
	uint64_t notes_name;                                       /* of NOTE_TEXT; the others follow */
	uint64_t calls, sched, lost;                               /* categories */
	bool begun;
	const struct hodo_read_stream *loss_stream; /* of the last loss, … */
	int64_t loss_ns;                            /* … and when it ended */
	Perfetto__DebugAnnotation notes[PERFETTO_NOTES_MAX], *note_list[PERFETTO_NOTES_MAX];
	uint32_t n; /* of notes */
	struct hodo_text scratch; /* texts of the packet that is being made */
};

/* Bits of uuids, above a number. */
#define PERFETTO_THREAD  (1ull << 60)
#define PERFETTO_PROCESS (2ull << 60)
#define PERFETTO_PID     (3ull << 60) /* a process that the kernel's events name and that was not recorded */
#define PERFETTO_TID     (4ull << 60) /* its threads */
#define PERFETTO_KERNEL  (5ull << 60) /* what the kernel says of a thread */
#define PERFETTO_LANE    (6ull << 60)
#define PERFETTO_TRACK   (7ull << 60) /* counters, CPUs */
#define PERFETTO_CPUS    (8ull << 60) /* the parent of these */
#define PERFETTO_LOSSES  (9ull << 60) /* of a stream */

/* perfetto_packet.c; all return 0 or a negative errno */
int perfetto_put(struct perfetto *p, Perfetto__TracePacket *packet);

/* An event, with the annotations that were made for it. */
struct perfetto_point {
	int64_t ts_ns;
	uint64_t track;
	Perfetto__TrackEvent__Type type;
	uint64_t name, category, location; /* 0: none */
	uint64_t flow;
	bool flow_ends;
};
int perfetto_point(struct perfetto *p, const struct perfetto_point *point);

/* Texts: room for len bytes in all is made first, which ends the texts before. */
int perfetto_scratch(struct perfetto *p, size_t len);
#define PERFETTO_TEXT_ROOM(len) (2 * (len) + 1)
char *perfetto_text(struct perfetto *p, const char *s, size_t len); /* as UTF-8 */
char *perfetto_text_alone(struct perfetto *p, const char *s, size_t len); /* the packet's only one; NULL: no memory */

/* perfetto_names.c */
int perfetto_names(struct perfetto *p); /* the fixed ones */
/* NULL, 0: no memory, or the output has an error. */
const struct perfetto_class *perfetto_class(struct perfetto *p, const struct hodo_read_class *cls);
uint64_t perfetto_name(struct perfetto *p, const char *name);

/* perfetto_notes.c: what an event says, as annotations */
int perfetto_notes(struct perfetto *p, const struct perfetto_class *k, const struct hodo_read_event *event);
void perfetto_note_bool(struct perfetto *p, enum perfetto_note name);
void perfetto_note_number(struct perfetto *p, enum perfetto_note name, uint64_t value);
void perfetto_note_text(struct perfetto *p, enum perfetto_note name, const char *text);

/* perfetto_tracks.c */
int perfetto_processes(struct perfetto *p);
/* The uuid of the track of a thread of an event's process, written if it was not yet. */
int perfetto_thread(struct perfetto *p, const struct hodo_read_process *process, uint32_t pid, uint32_t tid,
		    const char *comm, uint64_t *uuid);
int perfetto_track(struct perfetto *p, struct hodo_track *track); /* not ASYNC; its uuid */
uint64_t perfetto_uuid(const struct hodo_track *track);
/* A track below a process's, for what its stream lost. */
int perfetto_loss_track(struct perfetto *p, const struct hodo_read_process *process, uint32_t stream, uint64_t *uuid);
/* A lane for a slice of an ASYNC track. */
int perfetto_lane_take(struct perfetto *p, const struct hodo_track *track, uint64_t flow, uint32_t *lane);
uint64_t perfetto_lane_give(struct perfetto *p, const struct hodo_track *track, uint32_t lane); /* its flow */
uint64_t perfetto_lane_uuid(const struct hodo_track *track, uint32_t lane);
void perfetto_lanes_free(struct perfetto *p);

#endif
