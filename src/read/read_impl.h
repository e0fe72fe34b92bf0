/* SPDX-License-Identifier: MIT */
/*
 * read_impl.h - what the files of libhodo-read share.
 *
 *	reader   an open recording          open.c, order.c, count.c
 *	trace    one COMM-PID folder        folder.c, metadata.c, class.c
 *	stream   one file of it             stream.c (packets), order.c (events)
 */
#ifndef HODO_READ_READ_IMPL_H
#define HODO_READ_READ_IMPL_H

#include <base/intern.h>
#include <base/vec.h>
#include <hodo/read.h>
#include <limits.h>
#include <pack/tree.h>
#include <stdarg.h>
#include <string.h>
#include <sys/types.h>

#include <read/file/layout.h>
#include <read/file/load.h>
#include <read/event/losses.h>
#include <read/file/wall.h>

#define METADATA_MAX_BYTES (1u << 30)
#define FOLDERS_MAX        65536u
#define HODO_FOLDER_ROOM   (3 * NAME_MAX + 16) /* for the path of one: a host's, a part's, its own */
#define STREAMS_MAX        (HODO_CPUS_MAX + 1u) /* of one folder */
#define WARNINGS_MAX       100u
#define NS_PER_S           1000000000ull

/* ----------------------------------------------------------------------- clock */

/* Ticks to ns since the epoch, rounded down and clamped to 64 bits. freq_hz > 0. */
int64_t hodo_read_clock_ns(const struct hodo_read_clock *clock, uint64_t ticks);

/* The same near a point already converted, in 64 bits. */
struct hodo_clock_near {
	uint64_t ticks; /* the point */
	int64_t ns;
	uint64_t rest; /* (the rounding error) * freq / 1 ns */
	uint64_t span; /* up to there, the arithmetic below fits */
};
void hodo_read_clock_near_set(struct hodo_clock_near *near, const struct hodo_read_clock *clock,
			      uint64_t ticks);

static inline int64_t hodo_read_clock_near_ns(struct hodo_clock_near *near,
					      const struct hodo_read_clock *clock, uint64_t ticks)
{
	uint64_t delta = ticks - near->ticks;

	if (__builtin_expect(delta > near->span, 0)) {
		hodo_read_clock_near_set(near, clock, ticks);
		return near->ns;
	}
	if (clock->freq_hz == NS_PER_S)
		return near->ns + (int64_t)delta;
	return near->ns + (int64_t)((delta * NS_PER_S + near->rest) / clock->freq_hz);
}

/* --------------------------------------------------------------------- streams */

enum hodo_stream_warning {
	WARN_SHORT = 1u << 0,
	WARN_HEADER = 1u << 1,
	WARN_EVENT = 1u << 2,
	WARN_TIME = 1u << 3,
	WARN_ORDER = 1u << 4,
	WARN_COUNT = 1u << 5,
	WARN_CPU = 1u << 6,
	WARN_DISCARDED = 1u << 7,
	WARN_FILE = 1u << 8,
	WARN_EFFORT = 1u << 9,
	WARN_FRAMES = 1u << 10,
};

static inline uint64_t hodo_read_lost_sum(const struct hodo_read_lost *l)
{
	return l->full + l->too_large + l->busy + l->overwritten + l->unwritten + l->damaged;
}

static inline void hodo_read_lost_add(struct hodo_read_lost *sum, const struct hodo_read_lost *lost)
{
	sum->full += lost->full;
	sum->too_large += lost->too_large;
	sum->busy += lost->busy;
	sum->overwritten += lost->overwritten;
	sum->unwritten += lost->unwritten;
	sum->unknown += lost->unknown;
	sum->damaged += lost->damaged;
}

struct hodo_trace;

/* A file of a stream (segments.c). */
struct hodo_segment {
	const char *folder; /* relative to the reader's directory; the reader's, as the stream's name */
	uint32_t part; /* number of hodo_read.parts */
	bool suffixed;              /* its name is the stream's with .zst */
	struct hodo_frames *frames; /* of a compressed file, once opened */
	uint64_t disk_bytes;        /* the file's own size */
	dev_t dev;
	ino_t ino;
	uint64_t begin, end; /* where its bytes are in the stream, when it was opened: later ones are not read */
	uint64_t packets, events; /* in this walk */
	uint64_t bare_begin, bare_end; /* the longest stretch without a header, which other walks skip */
};

struct hodo_stream {
	struct hodo_read_stream pub;
	struct hodo_trace *trace;
	struct hodo_segment *segments;       /* one, or one for each part of the recording */
	uint32_t nsegments;
	uint32_t at;                         /* the last segment used */
	uint64_t file_bytes;                 /* of all of them, before compression */
	uint32_t warned;                     /* enum hodo_stream_warning */
	uint32_t order;                      /* index among all streams: decides between equal times */
	struct hodo_read_lost lost_by_cause; /* from the metadata */
	bool lost_known;
	bool has_begin; /* pub.begin_ns is set */
	bool lost_before; /* events are known to be overwritten before the first packet */
	uint64_t first;   /* number of its first event; 0 also if there is none */
	struct hodo_loss_walk loss;
	struct hodo_losses losses; /* found so far, in this walk */

	/* Where the walk is: the packet, and the part of the file that is in memory. */
	int fd;           /* -1: none is open */
	uint32_t fd_of;   /* its segment */
	bool keep_open;   /* else it is opened for each read */
	uint32_t walked;  /* the segment of the last header; UINT32_MAX: none */
	uint8_t *buf;
	size_t buf_room;
	size_t window; /* bytes to read at a time */
	uint64_t buf_off;
	size_t buf_len;
	uint64_t next_off; /* next packet's header */
	struct hodo_packet head;
	uint64_t body_off, body_end; /* in the file */
	bool cut;                    /* the file ends in this packet */
	uint64_t read_bytes;         /* from the file, in this walk */
	uint64_t packet_events;      /* found in this packet */
	uint64_t events_next;        /* expected events_before of the next header */
	uint64_t events_gap;         /* events missing between headers: overwritten, unwritten or damaged */
	uint64_t hole;               /* of these, before this packet: in packets that no longer have a header */
	uint64_t holes;              /* sum of these */
	uint64_t seq;                /* the packet's number before */
	uint64_t discarded;          /* the last header's, and those of the segments before */
	uint64_t discarded_before;   /* the segments before */
	struct hodo_cursor cursor;     /* after the last record of this packet */
	uint64_t time_limit;         /* latest valid time in this packet */

	/* The next event in this stream (order.c). */
	const uint8_t *p, *avail; /* the rest of the packet in memory; NULL: none yet */
	const uint8_t *event;
	uint32_t event_id;
	uint32_t event_bytes;
	uint64_t event_ticks;
	uint32_t event_tid;
	struct {
		uint64_t addr;
		uint32_t frame;
	} __attribute__((packed)) call; /* payload of an event that was a call or return */
	int64_t event_ns;
	bool started;
	bool rests; /* all that there is has been read, and more may come (follow.c) */
	bool skip; /* this packet's events are not wanted */
	struct hodo_clock_near near;
	/* The last thread looked up: its tid, and trace->names.changes above it. */
	uint64_t known_as;
	uint32_t pid;
	const char *comm;
	char idle[24]; /* the kernel's: name of each CPU's idle thread */
};

/* Adds a file after the others, in the trace's folder. 0 or -ENOMEM. */
int hodo_read_segment_add(struct hodo_stream *s, const struct hodo_trace *t, bool suffixed);
/* An open descriptor of the original file, or a negative errno. */
int hodo_read_segment_open(struct hodo_stream *s, struct hodo_segment *g);
/* The segment that contains off, or ends before it. NULL: the stream has no file. */
struct hodo_segment *hodo_read_segment_at(struct hodo_stream *s, uint64_t off);
/* Likewise; at the end of a segment, off moves to the next. NULL: at the end of all. */
struct hodo_segment *hodo_read_segment_enter(struct hodo_stream *s, uint64_t *off);
/* The number of parts that are not here, between that one of hodo_read.parts and the one before it in its directory. */
uint64_t hodo_read_parts_missing(const struct hodo_read *r, uint32_t part);
/* Whether a part that is not here may have a segment of the stream between the two. */
bool hodo_read_segment_missing(const struct hodo_stream *s, const struct hodo_segment *from,
			       const struct hodo_segment *to);
/* Adds the packet at hand to the figures of its part; forgets all of the stream's, which will be counted again. */
void hodo_read_segment_note(struct hodo_stream *s, struct hodo_segment *g, int64_t begin_ns);
void hodo_read_segments_forget(struct hodo_stream *s);
/* Events of the packet at hand that cannot be read are not its part's. */
void hodo_read_segment_take_back(struct hodo_stream *s, uint64_t events);
/* The offset in its file. */
unsigned long long hodo_read_stream_place(struct hodo_stream *s, uint64_t off);

/* Checks the file and its first header. 0, or 1 if it is not a stream (warned). */
int hodo_read_stream_probe(struct hodo_stream *s);
/* Publishes that header's contents, once the metadata is read. */
void hodo_read_stream_settle(struct hodo_stream *s);
void hodo_read_stream_free(struct hodo_stream *s);
/* Starts a walk: all figures of pub from packets on are zero again. window bytes are read at a time. */
void hodo_read_stream_start(struct hodo_stream *s, size_t window, bool keep_open);
/* Ends a walk (frees the memory) and completes pub. May be called twice. */
void hodo_read_stream_finish(struct hodo_stream *s);
/* Steps to the next packet that has a sound header. 1, 0 at the end, -EIO, -ENOMEM. */
int hodo_read_stream_packet(struct hodo_stream *s);
/* The offset in the stream of a byte in memory. */
static inline uint64_t hodo_read_stream_offset(const struct hodo_stream *s, const uint8_t *p)
{
	return s->buf_off + (uint64_t)(p - s->buf);
}
/* Ensures that the packet's next event is completely in memory, at s->p. 1; 0: there is none, or it is
 * broken; or a negative errno. */
int hodo_read_stream_event(struct hodo_stream *s);
/* Walks all streams, one after the other: each() gets one that is at its begin (order.c). What it returns but 0 ends
 * the walk, and is returned. */
int hodo_read_each_stream(struct hodo_read *r, size_t window, int (*each)(struct hodo_stream *s, void *arg), void *arg);
/* At the end of each packet: compares the events found with the header's. */
void hodo_read_stream_packet_end(struct hodo_stream *s);
/* Warns about the current file; once: enum hodo_stream_warning. */
#define hodo_read_stream_warn(s, once, ...)                                                                  \
	hodo_read_warn((s)->trace->reader, &(s)->warned, once,                                               \
		       (s)->nsegments ? (s)->segments[(s)->at].folder : (s)->trace->folder, (s)->pub.name, __VA_ARGS__)

/* --------------------------------------------------------------------- classes */

struct hodo_class_piece {
	const char *data; /* without a NUL */
	uint32_t len;
};

/* What printing an event of this class needs, made with the class. */
struct hodo_class_text {
	struct hodo_class_piece line; /* provider:name */
	struct hodo_class_piece json; /* ,"name":"provider:name","fields":{ */
	struct {
		struct hodo_class_piece line; /*  field= */
		struct hodo_class_piece json; /* "field":, from the second on with a comma before it */
	} field[HODO_FIELDS_MAX];
	size_t room; /* bytes that suffice for everything, including values of fixed size */
};

/* The context before the fields of each event except functions' (context.c); its texts are in the metadata.
 * */
struct hodo_context {
	bool known;
	uint32_t n;
	struct hodo_read_field fields[HODO_CONTEXT_FIELDS_MAX];
};

#define CLASS_NAMES_MAX 7u

/* What an event means for a call, if its fields are as expected (calls.c). */
enum hodo_call_event {
	HODO_CALL_EVENT_NONE,
	HODO_CALL_EVENT_ENTRY,
	HODO_CALL_EVENT_EXIT,
	HODO_CALL_EVENT_ENTRY_SP,
	HODO_CALL_EVENT_EXIT_SP,
	HODO_CALL_EVENT_REACHED,
	HODO_CALL_EVENT_LANDED,
	HODO_CALL_EVENT_SWITCHED,
	HODO_CALL_EVENT_CALL,
	HODO_CALL_EVENT_OPEN,
	HODO_CALL_EVENT_CALLEE
};

/* What a begin and its end share besides paired_by (pairs.c). */
enum hodo_pairing {
	HODO_PAIRING_NONE,
	HODO_PAIRING_THREAD,
	HODO_PAIRING_NUMBER, /* the first field: unsigned, signed, or something else */
	HODO_PAIRING_SIGNED,
	HODO_PAIRING_ID,
	HODO_PAIRING_FRAME /* the second field, and the thread */
};

struct hodo_class {
	struct hodo_read_class pub;
	struct hodo_read_field fields[HODO_FIELDS_MAX];
	uint8_t types[HODO_FIELDS_MAX];
	struct hodo_class_text text;
	bool more;      /* there is a context, or nnames */
	bool labelled;  /* a field has labels */
	uint8_t nnames; /* how many names of threads its events have (threads.c) */
	bool renames;   /* from the event on, not before it */
	bool executes;  /* the name is a path's last part */
	struct {
		uint8_t tid, comm; /* fields */
	} names[CLASS_NAMES_MAX];
	enum hodo_call_event call;
	enum hodo_pairing pairing;
	uint64_t paired_by; /* an address, see role.c */
};

/* Determines the role of a class's events (role.c). 0 or -ENOMEM. */
int hodo_read_role_settle(struct hodo_trace *t, struct hodo_class *c);
/* Makes the texts once name, fields and labels are there. 0 or -ENOMEM. */
int hodo_read_class_finish(struct hodo_trace *t, struct hodo_class *c);
/* 0 if name is not a type. */
uint32_t hodo_read_type_parse(const char *name, size_t len);
uint32_t hodo_read_kind_parse(const char *name);
/* Decodes one complete value; returns its end. */
const uint8_t *hodo_read_value_take(uint32_t type, const uint8_t *p, struct hodo_read_value *v);
/* Decodes the fields of a complete event. */
void hodo_read_class_values(const struct hodo_class *c, const uint8_t *p, struct hodo_read_value *values);

/* ---------------------------------------------------------------------- traces */

/* Names for values, by provider or event, and field. All zero: none. */
struct hodo_labels {
	struct hodo_map by_field;
	struct hodo_arena memory;
};

/* What is known of a thread at this time, perhaps nothing. */
struct hodo_known_thread {
	bool is;
	uint32_t tid, pid; /* pid: from the metadata; 0: not known */
	uint32_t len;      /* of comm; UINT32_MAX: from no event */
	const char *comm;  /* NULL: not known */
};

/* Names of threads, as seen in events. */
struct hodo_names {
	struct hodo_known_thread recent[32]; /* by the last digits of the tid */
	struct hodo_map by_tid;
	struct hodo_strings texts;
	uint32_t changes;
};

struct hodo_trace {
	struct hodo_read_process pub;
	struct hodo_read *reader;
	const char *folder; /* relative to the reader's directory; "." for the directory itself */
	uint32_t part; /* index in hodo_read.parts, of the last one that has it */
	char *metadata;
	size_t metadata_bytes;
	bool has_hodo, has_clock;    /* lines seen */
	bool left_out;               /* none of its events is wanted: they are not read */
	bool goes_on;                /* it ends with a part: another one should follow */
	struct hodo_wall walls[2];   /* at its begin and end */
	struct hodo_read_host merged; /* as the metadata has it; by NULL: it does not */
	struct hodo_class **classes; /* ascending ids */
	uint32_t nclasses;
	struct hodo_class **by_id; /* by_id_n entries, NULL where unknown */
	uint32_t by_id_n;
	struct hodo_read_layouts *layouts;
	struct hodo_read_thread *threads;
	uint32_t nthreads;
	struct hodo_stream **streams;
	uint32_t nstreams;
	uint32_t nfiles; /* the first ones; the others appear only in lost lines */
	struct hodo_context context;
	struct hodo_labels labels;
	struct hodo_names names;
	struct hodo_strings bases; /* base names of classes */
	struct hodo_arena memory;  /* of classes and their texts */
	struct hodo_read_object *objects;
	uint32_t nobjects;
	struct hodo_shorts shorts;
	char **warnings;
	uint32_t nwarnings;
	uint32_t warned;
	uint32_t nlost; /* lines */
	struct hodo_losses losses; /* of all streams */
	/* If the recording is followed: what its metadata was at the last look. */
	struct {
		bool ended; /* nothing more comes */
		ino_t ino; /* 0: there was no look */
		int64_t mtime_ns;
		uint64_t bytes;
		uint32_t labels, objects; /* lines */
	} followed;
};

/* Opens the folder. 0, or a negative errno: -ENODATA no metadata, and those of hodo_read_open(). */
int hodo_read_trace_open(struct hodo_trace *t);
void hodo_read_trace_free(struct hodo_trace *t);
/* Joins the traces of one process in an earlier and a later part into *earlier. 0, or -ENOMEM: then free
 * both. */
int hodo_read_trace_join(struct hodo_trace **earlier, struct hodo_trace *t);
/* After all joining: completes the public part. */
void hodo_read_trace_settle(struct hodo_trace *t);
/* Reads the lines of t->metadata. 0 or a negative errno. */
int hodo_read_metadata_parse(struct hodo_trace *t);
/* Takes the host's name from a line of the metadata, if it is the one that has it; the line changes. */
void hodo_read_hostname(struct hodo_trace *t, char *line, char *eol);
/* Labels: all are added first, a list of names and as many values, which need not be aligned; then looked up
 * for each class. Provider and field are copied; names are split in place and must stay. 0; -EINVAL: not as
 * many; -ENOMEM. */
int hodo_read_labels_add(struct hodo_labels *l, const char *provider, const char *field, char *names,
			 const void *values, uint32_t n);
int hodo_read_labels_attach(const struct hodo_labels *l, const char *event, struct hodo_read_field *fields,
			    uint32_t nfields);
void hodo_read_labels_free(struct hodo_labels *l);
/* Streams. A new one; NULL: no memory. */
struct hodo_stream *hodo_read_stream_new(struct hodo_trace *t, const char *name);
void hodo_read_streams_sort(struct hodo_trace *t); /* cpu0, cpu1 … cpu10, then the others */
/* Searches the first n, which are sorted; NULL: none with that name. */
struct hodo_stream *hodo_read_streams_find(const struct hodo_trace *t, uint32_t n, const char *name);
/* Finds the stream, or adds one without a file; NULL: no memory, or too many. */
struct hodo_stream *hodo_read_trace_stream(struct hodo_trace *t, const char *name);

/* Names of the kernel's threads (threads.c): clear when reading begins; learn takes them from the values of a
 * class with names, 0 or -ENOMEM. */
void hodo_read_names_bind(struct hodo_class *c);
struct hodo_known_thread *hodo_read_know_thread(struct hodo_trace *t, uint32_t tid); /* none of the last ones */

/* What is known of a thread; valid until the next call. */
static inline struct hodo_known_thread *hodo_read_known_thread(struct hodo_trace *t, uint32_t tid)
{
	struct hodo_known_thread *known = &t->names.recent[tid % 32];

	return known->is && known->tid == tid ? known : hodo_read_know_thread(t, tid);
}

void hodo_read_names_clear(struct hodo_trace *t);
int hodo_read_names_learn(struct hodo_trace *t, const struct hodo_class *c, const struct hodo_read_value *values);
void hodo_read_names_free(struct hodo_trace *t);

/* --------------------------------------------------------------------- readers */

struct hodo_read {
	struct hodo_tree *tree;
	bool single; /* a COMM-PID folder was opened itself */
	char *path;
	struct hodo_arena memory; /* of names of files and folders */
	struct hodo_frames_pool frames;
	void (*warn)(void *data, const char *text);
	void *warn_data;
	uint32_t nwarnings;
	struct hodo_trace **traces;
	uint32_t ntraces;
	uint32_t nstreams;
	struct hodo_read_part *parts; /* one without a name if there are no parts */
	uint32_t nparts;
	char several[1024]; /* snapshots: a line for the user */
	struct hodo_read_unrecorded *unrecorded;
	uint32_t nunrecorded;
	struct hodo_read_host *hosts; /* hosts.c */
	uint32_t nhosts;

	struct hodo_stream **heap;
	uint32_t heap_n, heap_room;
	struct hodo_follow *follow; /* NULL: it is read as it is now */
	void (*follow_free)(struct hodo_follow *follow);
	bool goes_on; /* more may come of it */
	int64_t upto_ns; /* events from there on are not given yet */
	bool running; /* the heap is set up */
	int failed;
	struct hodo_stream *given; /* the stream of the last event given */
	int64_t since_ns, until_ns;
	struct hodo_spans *spans; /* NULL: nobody wants pairs */
	bool begins; /* … and ends have their begins */
	int (*takes)(void *data, const struct hodo_read_event *event); /* NULL: all events */
	void *takes_data;
	struct hodo_select *select; /* of hodo_read_select(); NULL: none */
	bool whole;   /* begins go with their ends */
	bool learned; /* whether it is known which */
	const char *(*symbol)(void *data, const struct hodo_read_process *process, int64_t ts_ns,
			      uint64_t address); /* NULL: none */
	void *symbol_data;
	struct hodo_read_event event;
	struct hodo_read_value values[HODO_FIELDS_MAX];
	struct hodo_read_value context[HODO_CONTEXT_FIELDS_MAX];
	struct hodo_read_code_ops code; /* name NULL: none */
	void *code_data;
};

/* Opens the directory as a process folder; or all folders in it (parts.c). 0 or a negative errno. */
int hodo_read_open_single(struct hodo_read *r);
int hodo_read_open_all(struct hodo_read *r);

#define WARNING_BYTES 1024

/* warned: NULL, or the bits of warnings already given, which are given once. */
void hodo_read_warn(struct hodo_read *r, uint32_t *warned, uint32_t once, const char *folder, const char *file,
		    const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* Copies a text to dst with control bytes replaced. */
void hodo_read_clean(char *dst, size_t size, const char *text);

#endif
