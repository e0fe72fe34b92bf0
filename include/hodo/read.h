/* SPDX-License-Identifier: MIT */
/*
 * hodo/read.h - libhodo-read: reads recordings.
 *
 *	struct hodo_read *r;
 *	const struct hodo_read_event *e;
 *	char error[256];
 *	struct hodo_read_options o = { .size = sizeof(o), .error = error, .error_bytes = sizeof(error) };
 *
 *	if (hodo_read_open(&r, "hodo.data", &o) < 0)
 *		errx(1, "%s", error);
 *	while (hodo_read_next(r, &e) > 0)
 *		printf("%lld %s\n", (long long)e->ts_ns, e->cls->name);
 *	hodo_read_close(r);
 *
 * A recording is hostile input to this library: nothing in it makes a function
 * crash, loop for ever or take memory out of proportion to its files. Damaged
 * parts are reported as warnings and skipped; what can be read is read.
 * Streams are read with pread(2) into bounded buffers, never mapped, so that a
 * file that shrinks meanwhile causes a warning and no SIGBUS. A recording that
 * is still being written can be read; what is written later is not seen.
 *
 * Functions return 0 or a positive count, or a negative errno; none prints,
 * exits, changes the locale or keeps global state. Different readers may be used
 * from different threads at once; one reader, or one text buffer, by one thread
 * at a time. None of this is safe in signal handlers.
 *
 * Structs that functions return belong to the reader and live until it is closed.
 * They may grow at the end: `size` says how many bytes this library filled.
 */
#ifndef HODO_READ_H
#define HODO_READ_H

#include <hodo/abi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ------------------------------------------------------- what a recording says */

/* Names for the values of an integer field. */
struct hodo_read_labels {
	uint32_t n;
	const int64_t *values;    /* n, ascending; a u64 value is kept with its bits */
	const char *const *names; /* n */
};

struct hodo_read_field {
	const char *name;
	uint32_t type;                         /* enum hodo_type */
	const struct hodo_read_labels *labels; /* NULL if none */
};

/* What an event is to its reader. */
enum hodo_read_role {
	HODO_READ_ROLE_POINT,      /* stands for itself: an event, a mark, a tracepoint */
	HODO_READ_ROLE_COUNTER,    /* a value over time: the first field */
	HODO_READ_ROLE_SPAN_BEGIN, /* HODO_SPAN: its end is the thread's next one of that base name; they nest */
	HODO_READ_ROLE_SPAN_END,
	HODO_READ_ROLE_BEGIN,      /* HODO_BEGIN: its end has its base name and id (the first field), in any thread */
	HODO_READ_ROLE_END,
	HODO_READ_ROLE_SYSCALL_BEGIN, /* the kernel's sys_enter_NAME: a thread is in one system call at a time */
	HODO_READ_ROLE_SYSCALL_END,
	HODO_READ_ROLE_CALL_ENTRY, /* of a function (hodo_read_calls_event()) */
	HODO_READ_ROLE_CALL_EXIT,
	HODO_READ_ROLE_CALL        /* more on calls */
};

/* An event class: what the metadata says of one event id of one process. */
struct hodo_read_class {
	size_t size;
	uint32_t id;
	uint32_t kind;      /* enum hodo_kind */
	const char *name;   /* "kv:get", "kv:compact.begin" */
	const char *format; /* marks: a printf format; else "" */
	const char *file;
	const char *func;
	const char *object; /* path of the executable or library that holds it */
	uint32_t line;
	uint32_t nfields; /* 0 .. HODO_FIELDS_MAX */
	const struct hodo_read_field *fields;
	uint32_t fixed_bytes; /* size of each event, with 6 bytes of header; 0: varies. Calls may take less */
	uint32_t sites;       /* hodo_read_elf only: places in the code */
	uint64_t count;       /* set by hodo_read_count: events */
	uint64_t bytes;       /* set by hodo_read_count: their bytes in the streams, with headers */
	uint32_t ncontext;    /* fields of record --context: 0 .. HODO_CONTEXT_FIELDS_MAX */
	const struct hodo_read_field *context;
	uint64_t limited; /* events that exceeded their rate (record --rate) and so are not in the recording */
	uint32_t role;    /* enum hodo_read_role; hodo_read_elf: 0 */
	const char *base; /* the name without ".begin", ".end"; "syscalls:read" of "syscalls:sys_enter_read".
			   * Classes of one process that have the same share one text; hodo_read_elf: NULL */
};

struct hodo_read_thread {
	uint32_t tid;
	uint32_t pid; /* of its process, in the kernel's folder; 0: not known, or the folder's own */
	const char *comm;
};

/* Events that happened and are not in the recording, by cause. */
struct hodo_read_lost {
	uint64_t full;        /* the ring was full (record -m keeps them) */
	uint64_t too_large;   /* larger than a packet (record --packet-size), or with a text over 65,535 bytes */
	uint64_t busy;        /* the fallback ring was contended */
	uint64_t overwritten; /* flight recorder: newer events overwrote them */
	uint64_t unwritten;   /* the output could not be written */
	uint64_t unknown;     /* counted in the stream; the recording ended before the cause was written */
	uint64_t damaged;     /* the program wrote over its buffers, or a file is damaged or cut short */
};

/*
 * A stream: the events of one CPU, or of all threads on the fallback path. The
 * numbers from `packets` on are complete after hodo_read_scan() or
 * hodo_read_count(), or when hodo_read_next() has returned 0.
 */
struct hodo_read_stream {
	size_t size;
	const char *name; /* "cpu0", "fallback" */
	int32_t cpu;      /* -1: the fallback stream */
	uint64_t bytes;   /* of the file, compressed or not; 0 if there is no file, since all its events were lost */
	uint64_t packets;
	uint64_t events;  /* as the packets' headers announce */
	uint64_t damaged; /* of these, unreadable; hodo_read_scan() knows only those that a file is too short for */
	int64_t begin_ns; /* start of the first packet, since the epoch; 0 if there is no packet */
	int64_t end_ns;   /* end of the last packet */
	struct hodo_read_lost lost;
	uint64_t room;    /* bytes of a ring (record -m) that would have kept lost.full or .overwritten; 0: not known */
};

struct hodo_read_clock {
	uint32_t kind;    /* enum hodo_clock */
	uint64_t freq_hz; /* ticks a second */
	int64_t offset_s; /* seconds since the epoch at tick -offset_ticks */
	int64_t offset_ticks;
};

/* An executable or library that was mapped in a process (recordings with functions). */
struct hodo_read_object {
	size_t size;
	const char *path;
	uint64_t base;    /* added to the file's addresses */
	uint64_t start;   /* lowest address mapped */
	uint64_t end;     /* after the highest */
	int64_t from_ns;  /* seen from then on, since the epoch; INT64_MIN: from the beginning */
	int64_t until_ns; /* not mapped from then on; INT64_MAX: to the end */
	uint32_t functions; /* traceable */
	uint32_t build_id_len; /* bytes, 0: none */
	uint8_t build_id[32];
};

/* One process image that was recorded. */
struct hodo_read_process {
	size_t size;
	const char *folder; /* "kvd-412", or "part-0003/kvd-412", the last one; "" if this folder itself was opened */
	uint32_t pid;
	uint32_t ppid;
	uint32_t uid;
	uint32_t start; /* enum hodo_start; 0 unknown */
	const char *comm;
	const char *exe;
	uint32_t mode;  /* enum hodo_mode */
	bool complete;  /* the recording of this process ended in an orderly way */
	int64_t end_ns; /* if complete: when, since the epoch */
	uint64_t ring_bytes;
	uint64_t packet_bytes;
	uint8_t uuid[16];
	struct hodo_read_clock clock;
	uint32_t nclasses;
	uint32_t nthreads;
	uint32_t nstreams;
	uint32_t nwarnings;
	const struct hodo_read_class *const *classes; /* ascending ids */
	const struct hodo_read_thread *threads;       /* ascending tids */
	const struct hodo_read_stream *const *streams;
	const char *const *warnings; /* given while recording */
	uint64_t bytes;              /* of the folder's files */
	uint32_t nobjects;
	const struct hodo_read_object *objects; /* ascending start, then from_ns */
	/* For a snapshot, taken while the process ran on: why. NULL: this is not a snapshot. */
	const char *snapshot_why;
	uint32_t snapshot_number; /* in its recording; 0: it was taken by hodo snapshot */
	int64_t snapshot_ns;      /* when, since the epoch */
	const char *kernel; /* the kernel's release, if this is the kernel and not a process; else NULL */
	/* Who chose the paths in it: the owner of the folder's metadata, or if that is root, the process's user. Root
	 * should open them only with that user's rights. */
	uint32_t owner;
	bool nested; /* in a pid namespace below the recorder's, where it has this pid and these tids */
	const char *hostname; /* of the machine or container that was recorded; NULL: not known */
	uint32_t host;        /* which one in the recording: hodo_read_host() */
	const char *boot_id;  /* of that machine's boot, as the kernel has it; NULL: not known */
};

/* -------------------------------------------------------------- open and close */

struct hodo_read;

struct hodo_read_options {
	size_t size; /* sizeof(struct hodo_read_options) */
	/* Called during any function with the reader for each damaged or foreign part, at most once for
	 * each kind of damage in each file, at most 100 times in all. One line, no newline, no control bytes.
	 */
	void (*warn)(void *data, const char *text);
	void *data;
	char *error;        /* if not NULL: gets a line that says why opening failed and what to do */
	size_t error_bytes; /* room there */
};

/*
 * Opens a recording directory, one COMM-PID folder of it, or a file made by `hodo pack`. options may be NULL. Reads
 * metadata and each stream's first packet header.
 *
 * 0, or: -ENOENT no such directory; -ENOTDIR neither a directory nor packed; -EINVAL bad
 * arguments; -ENODATA no recording in it; -ENOTUNIQ several snapshots, of which
 * you must name one; -EPROTO a CTF trace of another tool; -EPROTONOSUPPORT a
 * newer format, or the other byte order; -EBADMSG metadata too damaged to use;
 * -ENOMEM; what open(2) and read(2) give.
 */
int hodo_read_open(struct hodo_read **reader, const char *path, const struct hodo_read_options *options);
void hodo_read_close(struct hodo_read *reader); /* NULL is allowed */

/*
 * A recording that was written in parts (record --rotate) is read as one: one process for all its folders, one
 * stream for all its files. A directory with one snapshot is read as that snapshot; one with several is not read.
 */
struct hodo_read_part {
	size_t size;
	const char *name;   /* "part-0001": a directory that is a complete recording */
	uint32_t processes; /* with a folder in it */
	uint64_t bytes;     /* of its folders' files */
	/* Complete when the streams' figures are. */
	uint64_t packets;
	uint64_t events;
	int64_t begin_ns; /* start of its first packet, since the epoch; 0 if there is none */
	int64_t end_ns;   /* end of its last packet */
};

/* 0: the recording was not written in parts, or you opened one of them. */
uint32_t hodo_read_nparts(const struct hodo_read *reader);
/* In order; NULL if there is no i-th. */
const struct hodo_read_part *hodo_read_part(const struct hodo_read *reader, uint32_t i);

uint32_t hodo_read_nprocesses(const struct hodo_read *reader);
/* In the order of their folders' names; NULL if there is no i-th. */
const struct hodo_read_process *hodo_read_process(const struct hodo_read *reader, uint32_t i);

/*
 * A host of a recording. There is one, unless `hodo merge` made the recording of several: then it has moved their
 * times to those of one of them, by a line. Thread and process IDs mean something within one host only.
 */
struct hodo_read_host {
	size_t size;
	const char *name;   /* hostname of its processes, or NULL; hosts of the same name have got others */
	const char *boot_id; /* NULL: not known */
	uint32_t processes; /* and the kernel, if it was recorded */
	/* How its times were moved; NULL: they were not, this is not merged. "reference": the others were moved to its
	 * times; "boot": it is the same machine, and has the same clock; "messages", "NTP", "wall clock". */
	const char *by;
	uint64_t pairs;     /* messages that were found on both sides, between it and others */
	int64_t offset_ns;  /* added to its times, at their middle */
	int64_t drift_ppb;  /* its clock gains that much less, or if negative more, than the reference's */
	int64_t error_ns;   /* its times are wrong by at most that; -1: not known */
};

uint32_t hodo_read_nhosts(const struct hodo_read *reader);
/* NULL if there is no i-th. */
const struct hodo_read_host *hodo_read_host(const struct hodo_read *reader, uint32_t i);

/* When the earliest packet begins, in ns since the epoch; 0 if there is none. */
int64_t hodo_read_begin_ns(const struct hodo_read *reader);

/* The sum of the losses of a process's streams, or of all processes if process is NULL; complete when the streams'
 * figures are. */
struct hodo_read_lost hodo_read_lost(const struct hodo_read *reader, const struct hodo_read_process *process);

/* The sum of `limited` over the classes of a process, or of all processes if process is NULL. */
uint64_t hodo_read_limited(const struct hodo_read *reader, const struct hodo_read_process *process);

/* Process images that came to the recorder and are not in the recording, for one reason. */
struct hodo_read_unrecorded {
	size_t size;
	uint64_t images;
	const char *why; /* a line of text, which any program could have put there */
};

/* The i-th reason; NULL after the last. Valid as long as the reader. */
const struct hodo_read_unrecorded *hodo_read_unrecorded(const struct hodo_read *reader, uint32_t i);

/* Whether two classes mean the same event: they agree in name, kind, names and types of fields, and format. */
bool hodo_read_class_same(const struct hodo_read_class *a, const struct hodo_read_class *b);

/* ---------------------------------------------------------------------- events */

struct hodo_read_value {
	uint32_t type;  /* enum hodo_type */
	bool null;      /* HODO_TYPE_STR: NULL was recorded */
	uint32_t count; /* STR: bytes up to the first NUL; BYTES: bytes; arrays: elements */
	union {
		int64_t i;        /* I8 … I64, CHAR */
		uint64_t u;       /* U8 … U64, BOOL, PTR */
		double f;         /* F32, F64 */
		const void *data; /* STR (not terminated), BYTES, arrays (not aligned) */
	};
};

/* The event that began what another one ends. */
struct hodo_read_begin {
	size_t size;
	int64_t ts_ns; /* since the epoch */
	int32_t cpu;   /* -1: written through the fallback ring */
	uint32_t pid, tid;
	const struct hodo_read_class *cls;
	const struct hodo_read_value *values; /* cls->nfields */
	const void *payload; /* the fields as recorded, without the context */
	uint32_t payload_bytes;
};

/* How long a thread did not run between the event that began something and the one that ended it. */
struct hodo_read_off_cpu {
	size_t size;
	uint64_t ns;
	bool counted;       /* the rest is known, too, from the kernel's switches */
	uint64_t waits;     /* it left its CPU to wait for something */
	uint64_t preempted; /* it left its CPU because the kernel ran another thread */
};

/* Valid until the next call with this reader. */
struct hodo_read_event {
	size_t size;
	int64_t ts_ns;  /* since the epoch */
	uint64_t ticks; /* of the process's clock */
	int32_t cpu;    /* -1: written through the fallback ring */
	uint32_t pid;   /* of the process; for the kernel's events, the one in which they happened, 0: not known */
	uint32_t tid;
	const char *comm; /* the thread's name, else the process's; for the kernel's events also "swapper/N", "?" */
	const struct hodo_read_class *cls;
	const struct hodo_read_process *process;
	const struct hodo_read_stream *stream;
	const struct hodo_read_value *values; /* cls->nfields */
	const void *payload;                  /* the fields as recorded, without the context */
	uint32_t payload_bytes;
	const struct hodo_read_value *context; /* cls->ncontext */
	/* After hodo_read_spans(): the start of the span, system call or call that this event ends. NULL: it ends none,
	 * or its start is not known: it was before the recording, more than a second before the limits, or lost. */
	const struct hodo_read_begin *begin;
	/* Set if there is one in the same thread. NULL: not known, since neither record --off-cpu nor the kernel's
	 * sched_switch was recorded, or some of their events were lost meanwhile. */
	const struct hodo_read_off_cpu *off_cpu;
};

/*
 * Returns the next event in time order over all processes and streams; events of
 * the same ns in order of processes, then streams; within a stream always as
 * recorded. 1, 0 at the end, or a negative errno (-EIO, -ENOMEM) after which
 * the reader can only be rewound or closed.
 */
int hodo_read_next(struct hodo_read *reader, const struct hodo_read_event **event);

/* Starts again at the first event. Limits that you have set remain. */
void hodo_read_rewind(struct hodo_read *reader);

/* Only events with since_ns <= ts_ns < until_ns from now on (ns since the epoch); rewinds. */
void hodo_read_limit(struct hodo_read *reader, int64_t since_ns, int64_t until_ns);

/*
 * From now on, events that end something have `begin`: the event that began it. At most 1,048,576 of these wait for
 * their ends; one more, and the oldest is given up. With limits, those in the second before them are known, too. 0 or
 * -ENOMEM; rewinds.
 */
int hodo_read_spans(struct hodo_read *reader);

/*
 * From now on, only events for which takes() returns 1. It returns 0 for others, or a negative errno, which ends
 * hodo_read_next(). NULL: all events. With whole, takes() decides about the event that ends something, and the one that
 * begins it goes with it; for this, takes() is called once for all events before the first one is returned. 0 or
 * -ENOMEM; rewinds. Limits remain, and apply before takes() is called.
 */
int hodo_read_choose(struct hodo_read *reader, int (*takes)(void *data, const struct hodo_read_event *event),
		     void *data, bool whole);

/* Reads all packets' headers: completes each struct hodo_read_stream. 0 or -EIO, -ENOMEM; rewinds. */
int hodo_read_scan(struct hodo_read *reader);

struct hodo_read_totals {
	size_t size; /* set by the caller: sizeof(struct hodo_read_totals) */
	uint64_t events;
	uint64_t bytes;   /* of the events, with headers */
	uint64_t damaged; /* events that are there but unreadable */
	int64_t begin_ns; /* first event, since the epoch; 0 if none */
	int64_t end_ns;   /* last event */
};

/*
 * Counts all events, without merging: sets count and bytes of each class, and
 * completes the streams. totals may be NULL. 0 or -EIO, -ENOMEM; rewinds. After hodo_read_choose() it counts the events
 * that hodo_read_next() returns; otherwise limits do not apply.
 */
int hodo_read_count(struct hodo_read *reader, struct hodo_read_totals *totals);

/* Where events are missing in a stream. */
struct hodo_read_loss {
	size_t size;
	const struct hodo_read_process *process;
	const struct hodo_read_stream *stream;
	int64_t from_ns;  /* not before, since the epoch */
	int64_t until_ns; /* not after */
	uint64_t discarded;   /* refused, or not written; the causes are the stream's */
	uint64_t overwritten; /* flight recorder: newer events overwrote them */
	uint64_t damaged;     /* they are there, or were, but cannot be read */
};

/*
 * Calls found() for each place in the recording where events are missing, stream by stream, in order of time in each:
 * one of discarded, overwritten and damaged is not 0. If a full ring was the only cause of a stream's losses, from_ns
 * is the last event before. If found() returns anything but 0, the reading ends and that is returned; otherwise 0, or
 * -EIO, -ENOMEM; rewinds. Limits do not apply. Reads all events, as hodo_read_count() does, and completes the streams.
 */
int hodo_read_losses(struct hodo_read *reader, int (*found)(void *data, const struct hodo_read_loss *loss), void *data);

/* The label of a value, or NULL. */
const char *hodo_read_label(const struct hodo_read_labels *labels, int64_t value);

/* ------------------------------------------------------------------------ text */

/* A buffer that grows, and text appended to it. */
struct hodo_read_text;

struct hodo_read_text *hodo_read_text_new(void); /* NULL: no memory */
void hodo_read_text_free(struct hodo_read_text *text);
const char *hodo_read_text_data(const struct hodo_read_text *text, size_t *len); /* not terminated */
void hodo_read_text_clear(struct hodo_read_text *text);

#define HODO_READ_COLOR  1u /* with escape sequences for colour */
#define HODO_READ_FIELDS 2u /* only what follows the name, from the space on */
#define HODO_READ_UNTIMED 4u /* without how long it took, in events that end something */

/*
 * Appends "[HH:MM:SS.nnnnnnnnn] CPU TID COMM provider:name field=value …" and a
 * newline, in local time; marks print their formatted text instead of the fields.
 * Control bytes in names and texts are escaped. 0 or -ENOMEM.
 */
int hodo_read_text_line(struct hodo_read_text *text, const struct hodo_read_event *event, unsigned flags);
/* Both functions add the context after the fields: here as " {comm=… ip=name+0x1c callstack=[…]}", in JSON as an object
 * "context", and the names as "symbols". */

/*
 * Appends the event as one JSON object and a newline. Bytes of a text that are
 * not UTF-8 become \u00XX; numbers that JSON does not have are the strings "NaN",
 * "Infinity", "-Infinity". 0 or -ENOMEM.
 */
int hodo_read_text_json(struct hodo_read_text *text, const struct hodo_read_event *event);

/*
 * Appends a mark's text as printf() would make it, with nothing escaped. A
 * conversion that does not fit the recorded value prints the value as its type
 * suggests, one without a value prints itself; widths and precisions above 1024
 * count as 1024. Does nothing for other kinds. 0 or -ENOMEM.
 */
int hodo_read_text_mark(struct hodo_read_text *text, const struct hodo_read_event *event);

/* Appends a string as a JSON string with its quotes. 0 or -ENOMEM. */
int hodo_read_text_json_string(struct hodo_read_text *text, const char *s, size_t len);

/* Appends a string with control bytes and bytes that are not UTF-8 escaped (\n, \xNN). 0 or -ENOMEM. */
int hodo_read_text_plain(struct hodo_read_text *text, const char *s, size_t len);

/*
 * Sets names for addresses in events of kind HODO_KIND_FUNCTION. hodo_read_text_line() writes the name in place of
 * "addr=0x…", and of the addresses in other fields. hodo_read_text_json() adds "function", "loop" and "chain" next to
 * "fields", null for an address without a name. name() returns NULL if it knows none; its result is used at once. NULL:
 * addresses are shown as they are.
 */
void hodo_read_symbols(struct hodo_read *reader,
		       const char *(*name)(void *data, const struct hodo_read_process *process, int64_t ts_ns,
					   uint64_t address),
		       void *data);

/* What the stack looked like at an event with the context `stack`. */
struct hodo_read_stack {
	size_t size;
	uint64_t ip, sp, bp;
	const void *bytes; /* from sp upwards */
	uint32_t nbytes;
};

/*
 * Sets what is known of the code of recorded processes, for the texts of events with context. The addresses there
 * follow a call. ops are copied; NULL: addresses are shown as they are, and a stack by its size.
 */
struct hodo_read_code_ops {
	size_t size; /* sizeof(struct hodo_read_code_ops) */
	/* The name of the function that makes the call before the address, used at once; NULL: not known. offset: from
	 * the function's start to the address. */
	const char *(*name)(void *data, const struct hodo_read_process *process, int64_t ts_ns, uint64_t address,
			    uint64_t *offset);
	/* May be NULL. Fills addresses with ip and then its callers, innermost first, at most max; returns how many. */
	uint32_t (*unwind)(void *data, const struct hodo_read_process *process, int64_t ts_ns,
			   const struct hodo_read_stack *stack, uint64_t *addresses, uint32_t max);
};
void hodo_read_code(struct hodo_read *reader, const struct hodo_read_code_ops *ops, void *data);
/* The stack of an event; false: it has none. */
bool hodo_read_event_stack(const struct hodo_read_event *event, struct hodo_read_stack *stack);

/* ----------------------------------------------------------------------- calls */

/*
 * The calls of functions in func:* events, and which call made which. An exit belongs to the entry with the same
 * frame address, whatever happened between them: exceptions, longjmp, coroutines that change threads
 * (docs/design/functions.md).
 */
struct hodo_read_calls;

#define HODO_READ_CALL_LEFT 1u    /* left by longjmp, an exception or the like: end_ns is when this was first noticed,
				   * or the last event of a thread that ended */
#define HODO_READ_CALL_OPEN 2u    /* not over when its thread, its process or the recording ended */
#define HODO_READ_CALL_NO_EXIT 4u /* its exit cannot be seen (func:reached): end_ns means nothing */
#define HODO_READ_CALL_WHOLE 8u   /* late: known only at its end (func:call, func:open): enter and leave come together */
#define HODO_READ_CALL_EXIT_LOST 16u /* in place of LEFT and OPEN if events of its process were lost meanwhile: its exit
				      * may be among them, and it may have returned before end_ns */

struct hodo_read_call {
	size_t size;
	const struct hodo_read_process *process;
	const char *comm;  /* of the thread at its entry */
	uint64_t function; /* an address in it */
	uint64_t user;     /* for your use: set it in enter, find it again in leave */
	int64_t entry_ns;  /* since the epoch */
	int64_t end_ns;    /* leave */
	uint64_t self_ns;  /* leave: time outside calls that it made */
	uint32_t tid;      /* of the thread that entered it */
	uint32_t depth;    /* number of calls that it was inside of */
	uint32_t flags;    /* HODO_READ_CALL_* */
};

struct hodo_read_calls_ops {
	size_t size; /* sizeof(struct hodo_read_calls_ops) */
	void (*enter)(void *data, struct hodo_read_call *call);
	void (*leave)(void *data, const struct hodo_read_call *call); /* once for each enter, inner ones first */
	/* Whether two addresses are in one function; may be NULL. Tells a lost event from a match. */
	bool (*same)(void *data, const struct hodo_read_process *process, int64_t ts_ns, uint64_t a, uint64_t b);
	/* May be NULL. Called when the thread's events show that it is not in the call any more: most likely the call
	 * was left (flags have HODO_READ_CALL_LEFT or _EXIT_LOST), or it belongs to a coroutine that waits. leave comes
	 * later, when that is known. */
	void (*away)(void *data, const struct hodo_read_call *call);
};

struct hodo_read_calls_totals {
	size_t size;       /* set by the caller */
	uint64_t calls;    /* entered */
	uint64_t returned; /* calls left through their exit */
	uint64_t left;     /* HODO_READ_CALL_LEFT */
	uint64_t open;     /* HODO_READ_CALL_OPEN */
	uint64_t orphans;  /* exits whose entry is not in the recording */
	uint64_t exit_lost; /* HODO_READ_CALL_EXIT_LOST */
};

struct hodo_read_calls *hodo_read_calls_new(const struct hodo_read_calls_ops *ops, void *data); /* NULL: no memory */
void hodo_read_calls_free(struct hodo_read_calls *calls); /* NULL is allowed */
/* Takes the next event, in time order; events of other kinds are ignored. 0 or -ENOMEM. */
int hodo_read_calls_event(struct hodo_read_calls *calls, const struct hodo_read_event *event);
/* Closes what is open, as of ts_ns. 0 or -ENOMEM. */
int hodo_read_calls_end(struct hodo_read_calls *calls, int64_t ts_ns);
void hodo_read_calls_totals(const struct hodo_read_calls *calls, struct hodo_read_calls_totals *totals);
/* How many calls the thread is inside of now: the depth of an event in the call graph. */
uint32_t hodo_read_calls_depth(const struct hodo_read_calls *calls, const struct hodo_read_process *process,
			       uint32_t tid);

/* -------------------------------------------------------------- packets by hand */

/*
 * Layouts of events by id, and the walk over the events of one packet, if your
 * packets do not come from a directory.
 */
struct hodo_read_layouts;

struct hodo_read_layouts *hodo_read_layouts_new(void); /* NULL: no memory */
void hodo_read_layouts_free(struct hodo_read_layouts *layouts);

/* id 1 .. 65535, types of enum hodo_type: the context's fields, then the event's own, HODO_CONTEXT_FIELDS_MAX +
 * HODO_FIELDS_MAX at most. 0, -EINVAL, -EEXIST if the id has other types, -ENOMEM. */
int hodo_read_layouts_add(struct hodo_read_layouts *layouts, uint32_t id, const uint8_t *types,
			  uint32_t nfields);

enum hodo_read_stop {
	HODO_READ_STOP_END = 0,   /* all bytes are whole events, or events_max was reached */
	HODO_READ_STOP_SHORT = 1, /* the next event is not whole */
	HODO_READ_STOP_ID = 2,    /* its id has no layout, or it is not a record, or there is no anchor before it */
	HODO_READ_STOP_TIME = 3,  /* its time stamp is beyond the limit (also when it runs back) */
};

struct hodo_read_walk {
	uint64_t events;         /* valid ones */
	size_t bytes;            /* their size */
	uint64_t timestamp_last; /* 64-bit time of the last, timestamp_begin if none */
	enum hodo_read_stop stop;
};

/* Makes calls and returns (HODO_FORM_CALL, HODO_FORM_RETURN) events of these ids, which have a HODO_TYPE_PTR and a
 * HODO_TYPE_U32 each. Without this they end a walk, as an id without a layout does. 0 or -EINVAL. */
int hodo_read_layouts_calls(struct hodo_read_layouts *layouts, uint32_t entry, uint32_t exit);

/*
 * Walks the records at body (after the packet's header) while they are valid: first an anchor, known ids, all lengths
 * within bytes, times from timestamp_begin to timestamp_limit. An anchor that is earlier than the record before it
 * counts as beyond the limit; no other record can be earlier. Stops before an event that would be one more than
 * events_max: anchors do not count. Each byte is read once, and may change meanwhile without harm to the caller's
 * memory. -EINVAL for a NULL argument, else 0.
 */
int hodo_read_walk(const struct hodo_read_layouts *layouts, const void *body, size_t bytes,
		   uint64_t timestamp_begin, uint64_t timestamp_limit, uint64_t events_max,
		   struct hodo_read_walk *walk);

/* ------------------------------------------------------------- events of a binary */

struct hodo_read_elf;

/*
 * Lists the events that an executable or a library offers, without running it.
 * options as for hodo_read_open(). 0; -ENOENT and the like; -ENOEXEC not a
 * linked 64-bit ELF file of this byte order; -EBADMSG damaged; -ENOMEM. A file
 * without events gives an empty list.
 */
int hodo_read_elf_open(struct hodo_read_elf **elf, const char *path, const struct hodo_read_options *options);
void hodo_read_elf_close(struct hodo_read_elf *elf); /* NULL is allowed */
uint32_t hodo_read_elf_nclasses(const struct hodo_read_elf *elf);
/* Sorted by name; ids are 0; NULL if there is no i-th. */
const struct hodo_read_class *hodo_read_elf_class(const struct hodo_read_elf *elf, uint32_t i);

/* How a function can be traced. */
enum hodo_read_slot {
	HODO_READ_SLOT_ENTRY_EXIT = 1, /* gcc -pg -mfentry -minstrument-return=call, with libhodo-functions */
	HODO_READ_SLOT_XRAY = 2,       /* clang -fxray-instrument */
	HODO_READ_SLOT_INSTRUMENT = 3, /* -finstrument-functions */
	HODO_READ_SLOT_PATCHABLE = 4,  /* -fpatchable-function-entry: entry only */
	HODO_READ_SLOT_MCOUNT = 5      /* -pg: entry only */
};
struct hodo_read_function {
	size_t size;
	uint64_t addr;      /* of its first instruction, in the file */
	enum hodo_read_slot slot;
	uint32_t exits;     /* slots at its exits */
	const char *name;   /* as the symbol table has it; "" if it has none */
};
/* The traceable functions of the file, by address. 0 or -ENOMEM; they belong to elf. */
int hodo_read_elf_functions(struct hodo_read_elf *elf, const struct hodo_read_function **functions, uint32_t *n);

/* ----------------------------------------------------------------------- names */

/* "i32", "u8[]", "str" …; "?" for a number that is not a type. */
const char *hodo_read_type_name(uint32_t type);
/* "event", "mark", "span_begin" …; "?" for a number that is not a kind. */
const char *hodo_read_kind_name(uint32_t kind);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
