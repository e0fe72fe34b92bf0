/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * hodo/abi.h - frozen: what instrumented objects, libhodo, recorder and kernel module agree on, byte for byte.
 *
 * Users include <hodo/trace.h>, and use nothing here directly. The size of every struct that crosses a boundary is
 * asserted below, so that a change of layout does not compile.
 *
 * Four boundaries:
 *   1. instrumented object <-> libhodo      hodo_desc, hodo_site, hodo_state, hodo_ops
 *   2. writer <-> consumer (shared memory)  hodo_packet, hodo_ring, hodo_layout
 *   3. process -> recorder (catalogue)      hodo_record_*
 *   4. process <-> recorder (socket)        hodo_msg_*
 */
#ifndef HODO_ABI_H
#define HODO_ABI_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stddef.h>
#include <stdint.h>
#endif

#ifdef __cplusplus
extern "C" {
#define HODO_ASSERT_SIZE_(type, bytes) static_assert(sizeof(type) == (bytes), #type " is frozen")
#else
#define HODO_ASSERT_SIZE_(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " is frozen")
#endif

#define HODO_ABI_VERSION 3
#include <hodo/abi_context.h>

/* ------------------------------------------------------------------ limits */

#define HODO_FIELDS_MAX 32      /* fields of one event; the kernel has events with this many */
#define HODO_TRACE_FIELDS_MAX 16 /* the number that <hodo/trace.h> and libhodo accept */
#define HODO_EVENTS_MAX 65536   /* event ids are 16 bits; id 0 is never given */
#define HODO_NAME_MAX 255       /* bytes of provider, event or field name */
#define HODO_STR_MAX 65535      /* bytes of one recorded string */
#define HODO_CPUS_MAX 65536     /* the ring table is indexed by 16 bits of cpu id */
#define HODO_PACKET_MIN 1024u   /* bytes */
#define HODO_PACKET_MAX (4u << 20) /* bytes; keeps the event count within the commit word's 20 bits */
#define HODO_RING_MAX (1ull << 40) /* bytes of one ring */

/* ------------------------------------------------------------------- types */

/*
 * Type of a field, one byte. Scalars are stored in the machine's byte order,
 * packed. A string is a 16-bit length and that many bytes; bytes and
 * arrays are a 32-bit element count and the elements.
 *
 * A string ends at its first NUL, if it has one: the kernel's arrays of constant length do,
 * those of libhodo never do. A NULL string is stored as the seven bytes of HODO_NULL_TEXT.
 */
enum hodo_type {
	HODO_TYPE_NONE = 0, /* cannot be recorded */
	HODO_TYPE_I8 = 1,
	HODO_TYPE_U8 = 2,
	HODO_TYPE_I16 = 3,
	HODO_TYPE_U16 = 4,
	HODO_TYPE_I32 = 5,
	HODO_TYPE_U32 = 6,
	HODO_TYPE_I64 = 7,
	HODO_TYPE_U64 = 8,
	HODO_TYPE_BOOL = 9,  /* 1 byte, 0 or 1 */
	HODO_TYPE_CHAR = 10, /* 1 byte, signed */
	HODO_TYPE_F32 = 11,
	HODO_TYPE_F64 = 12,
	HODO_TYPE_PTR = 13, /* 8 bytes, even on 32-bit machines */
	HODO_TYPE_STR = 14,
	HODO_TYPE_BYTES = 15,
	HODO_TYPE_ARRAY = 0x40 /* or-ed with the element's scalar type */
};
#define HODO_NULL_TEXT "(null)" /* with its terminating NUL: 7 bytes */
#define HODO_NULL_TEXT_LEN 7u

enum hodo_kind {
	HODO_KIND_EVENT = 1,
	HODO_KIND_MARK = 2,       /* format holds a printf format */
	HODO_KIND_TRACEPOINT = 3, /* may have probes */
	HODO_KIND_SPAN_BEGIN = 4, /* named provider:name.begin */
	HODO_KIND_SPAN_END = 5,   /* named provider:name.end */
	HODO_KIND_BEGIN = 6,      /* async span, paired by its first field; .begin */
	HODO_KIND_END = 7,        /* .end */
	HODO_KIND_COUNTER = 8,    /* one field, "value" */
	HODO_KIND_LABELS = 9,     /* not an event: names for the values of a field */
	HODO_KIND_FUNCTION = 10   /* one of libhodo's own, func:*; see "functions" below */
};

/* ------------------------------------- 1. instrumented object <-> libhodo */

/*
 * What a site says about its event. Read-only, in one piece and free of pointers
 * (no relocation is needed to read it, in a file or in memory that the loader
 * has mapped and not yet relocated):
 *
 *   struct hodo_desc
 *   uint8_t types[nfields]                     enum hodo_type
 *   at .strings: six NUL-terminated strings: provider, name, args, format, file, function
 *   at .labels (kind LABELS only): int64_t values[nlabels], 8-aligned; the
 *              names are the comma-separated parts of args
 *
 * args is the source text of the arguments, from which the field names come
 * (HODO_F names, or else the expression turned into an identifier).
 */
struct hodo_desc {
	uint16_t size;    /* sizeof(struct hodo_desc) */
	uint8_t version;  /* HODO_ABI_VERSION */
	uint8_t kind;     /* enum hodo_kind */
	uint16_t nfields; /* 0 .. HODO_FIELDS_MAX */
	uint16_t nlabels; /* kinds other than LABELS: bit n: field n is a string with a length (HODO_STR) */
	uint32_t line;
	uint32_t strings; /* offset from the start of this struct */
	uint32_t labels;  /* offset; kinds other than LABELS: HODO_DESC_*, or-ed */
	uint32_t total;   /* bytes of the whole descriptor */
};
HODO_ASSERT_SIZE_(struct hodo_desc, 24);
#define HODO_DESC_DIFFERS 1u /* other events of that name may have other fields: each definition is an event */
/* There is a seventh text, of the labels that fields of this event have: "0:RED=0,GREEN=1;3:OFF=0,ON=1;", each field by
 * its place. libhodo makes records of them, with the event's name in the place of a provider's. */
#define HODO_DESC_LABELLED 2u

/*
 * One record for each site in section "hodo_sites"; places are relative to the field
 * that holds them. addr == 0: no code to patch (an event without its own site,
 * labels, or a site in flag mode, which tests state->flag); cold is
 * then 0, or a semaphore: a uint16_t that is 1 greater while the event is on.
 */
struct hodo_site {
	int32_t addr;  /* the 5-byte instruction A9 rel32 */
	int32_t cold;  /* where it jumps when enabled */
	int32_t state; /* struct hodo_state; 0 for labels */
	int32_t desc;  /* struct hodo_desc */
};
HODO_ASSERT_SIZE_(struct hodo_site, 16);

/* The library's side of an event; opaque to instrumented code. */
struct hodo_event;

/* Writable, zero at first; one for each event in each object that has sites of it. */
struct hodo_state {
	uint32_t *on;             /* the event's word in the table of on words, or a word that stays 0 */
	struct hodo_event *event; /* NULL until registered, or refused */
	uint16_t id;              /* event id, 0 until registered */
	uint8_t flag;             /* 0: off; HODO_FLAG_*, or-ed: what flag mode tests */
	uint8_t how;              /* this and the next: the library's, for sites that enter it by a jump */
	uint16_t values;          /* their bytes; with strings or arrays, the descriptor's nlabels */
	uint8_t refused;          /* it gets no id */
	uint8_t outline;          /* in the object. 1: a function of the headers, with a frame pointer, is
				   * between. 2: a plan's, the program is elsewhere: struct hodo_plan_state */
};
HODO_ASSERT_SIZE_(struct hodo_state, 2 * sizeof(void *) + 8);
#define HODO_OUTLINE_PLANNED 2u
#define HODO_FLAG_ON 1u
#define HODO_FLAG_RAISED 2u /* its semaphore is counted up */

/* Bits of an event's on word (shared memory; the writers load it inside the critical section). */
#define HODO_ON_RECORD 1u /* exactly this value: the fast path takes the event */
#define HODO_ON_FILTER 2u /* a filter decides first */
#define HODO_ON_AGE 4u    /* close a packet that has become too old before writing */
#define HODO_ON_RULES 8u   /* conditions are checked first; also without HODO_ON_RECORD (a start trigger) */
#define HODO_ON_CONTEXT 16u /* the event's fields follow its context; see struct hodo_context_config */
enum hodo_enter { HODO_ENTER_SITE, HODO_ENTER_SPAN_END, HODO_ENTERS }; /* what sites jump to on x86-64 (trace_user.h) */
/* One run of bytes of an event's payload, in order. */
struct hodo_piece {
	const void *data;
	size_t len; /* bytes */
};

struct hodo_probe {
	void (*func)(void); /* cast to the tracepoint's own type by the header */
	void *data;
};
struct hodo_probes {
	uint32_t n;
	struct hodo_probe probe[]; /* n */
};

/*
 * What libhodo provides to an instrumented object. The object holds one hidden
 * pointer to it, which is NULL while no library is there; sites are enabled only after
 * it is set. New members are added at the end; size says how many there are.
 * All of them are safe in signal handlers unless they say otherwise.
 */
struct hodo_ops {
	uint32_t size;    /* bytes of this struct */
	uint32_t version; /* HODO_ABI_VERSION */
	/* Fields of fixed size only: len bytes at data, readable up to the next multiple of 8. */
	void (*emit_fixed)(struct hodo_state *state, const void *data, size_t len);
	/* Any fields: total is the sum of the lengths; SIZE_MAX / 2 or more means that one is too long. */
	void (*emit_pieces)(struct hodo_state *state, const struct hodo_piece *pieces, size_t count, size_t total);
	/* The tracepoint's probes, NULL if none; keeps them valid until probe_leave(token). */
	const struct hodo_probes *(*probe_enter)(struct hodo_state *state, uint32_t *token);
	void (*probe_leave)(uint32_t token);
	/* Not signal safe. 0 or negative errno; see register_trace_x in hodo/trace.h. */
	int (*probe_register)(const struct hodo_desc *desc, void (*func)(void), void *data);
	int (*probe_unregister)(const struct hodo_desc *desc, void (*func)(void), void *data);
	/* Sets the calling thread's role from now on; NULL: none. See hodo/tracer.h. 0 or negative errno. */
	int (*thread_role)(const char *role);
	/* What HODO_SPAN_CONTEXT and hodo_span_traceparent() call: hodo/abi_context.h. */
	void (*context_enter)(struct hodo_trace_context *context, const char *traceparent);
	void (*context_leave)(const struct hodo_trace_context *context);
	int (*context_text)(char *traceparent);
};

/* Note in .note.hodo, name "Hodo", one or more for each object: places relative to each field. */
#define HODO_NOTE_TYPE 1
struct hodo_note {
	int32_t sites_start;
	int32_t sites_stop;
	int32_t ops; /* the object's struct hodo_ops pointer */
	int32_t enter; /* its hodo_enter_: a pointer for each enum hodo_enter; 0: it has none */
};
HODO_ASSERT_SIZE_(struct hodo_note, 16);

/* Note of an object that was linked with libhodo-functions.a: places relative to each field. */
#define HODO_NOTE_FUNCTIONS 2
struct hodo_note_functions {
	int32_t entry;      /* __fentry__, which the slots at functions' entries call */
	int32_t exit;       /* __return__, which those before returns and tail jumps call */
	int32_t entry_hook; /* void *: where __fentry__ jumps to; NULL at first: it returns */
	int32_t exit_hook;
};
HODO_ASSERT_SIZE_(struct hodo_note_functions, 16);

/* Note of libhodo itself: a struct hodo_note without sites. */
#define HODO_NOTE_LIBRARY 4

/* Note of a translation unit that says which thread may call a function (HODO_ONLY_IN). */
#define HODO_NOTE_ROLES 3
struct hodo_note_roles {
	int32_t roles_start; /* struct hodo_role[] in section hodo_roles */
	int32_t roles_stop;
	int32_t reserved[2];
};
HODO_ASSERT_SIZE_(struct hodo_note_roles, 16);

struct hodo_role {
	int32_t addr; /* of an instruction in the function, relative to this field */
	int32_t name; /* of the NUL-terminated role, relative to this field */
};
HODO_ASSERT_SIZE_(struct hodo_role, 8);

/* -------------------------------------------- 2. writer <-> consumer (rings) */

#include <hodo/abi_records.h>

/*
 * The commit word: byte position << 20 | events in the open packet.
 *
 * position counts bytes of ring, including headers, modulo 2^44: its low bits are the offset in the packet, the rest is
 * the packet's number. 0 means that the ring was never used. 2^44 bytes wrap around after hours at full speed, so
 * nothing compares positions of different laps; the full 64-bit sequence number is in the packet's header, and is what
 * readers and the packet switch compare. The count stays below 2^20 because a packet of HODO_PACKET_MAX bytes holds
 * fewer than 2^20 events of at least HODO_EVENT_HEADER bytes. Anchors are not counted.
 */
#define HODO_WORD_COUNT_BITS 20
#define HODO_WORD_COUNT_MASK ((1u << HODO_WORD_COUNT_BITS) - 1)

/* Control block of a ring, shared. Three cache lines, each with one kind of writer. */
struct hodo_ring {
	uint64_t word; /* commit word; written by the CPU's writers, as the next two */
	uint64_t anchor; /* tid << 32 | epoch of the last anchor, 0: the next event needs one first; see core/ring.h */
	uint64_t window; /* its window's lowest address + 8, where a frame may be */
	uint64_t latest; /* fallback ring, and the kernel's: ticks of its last event */
	uint8_t pad0[32];
	uint64_t consumed; /* packets 0 .. consumed-1 may be reused (discard mode); written by the consumer */
	uint8_t pad1[56];
	uint64_t lost_full;      /* events refused: ring full (discard mode) */
	uint64_t lost_too_large; /* events refused: larger than a packet */
	uint64_t lost_busy;      /* events refused: the fallback ring's lock was taken */
	uint32_t activation;     /* 0 unused, 1 being set up, 2 in use */
	uint32_t owner;          /* fallback ring: tid of the writer inside, 0 if none */
	uint64_t word_before;    /* in a copy (HODO_SHM_SNAPSHOT): the commit word before the packets were copied;
				  * word is what it was afterwards */
	uint32_t space;          /* a futex: the consumer changes it, then wakes threads that wait for room */
	uint32_t waiters;        /* 1: somebody may be waiting; cleared by the consumer */
	uint8_t pad2[16];
};
HODO_ASSERT_SIZE_(struct hodo_ring, 192);

enum hodo_mode { HODO_MODE_DISCARD = 0, HODO_MODE_OVERWRITE = 1 };
enum hodo_clock { HODO_CLOCK_TSC = 1, HODO_CLOCK_MONOTONIC = 2 /* ticks are ns */ };

/* A thread that recorded events: its name at its first event. tid is stored last. In the kernel's memory: a
 * thread that was there, and its last name, anywhere in the table; tid is 0 while the entry is being
 * replaced. */
struct hodo_thread {
	uint32_t tid; /* 0: not valid */
	uint32_t reserved; /* in the kernel's memory: of its process */
	char comm[16]; /* NUL-terminated */
};
HODO_ASSERT_SIZE_(struct hodo_thread, 24);
#define HODO_THREADS_MAX 65536u
/* First page of the shared memory. The recorder trusts none of it. */
struct hodo_shm {
	uint8_t magic[8]; /* "HODOSHM" and NUL */
	uint32_t version; /* HODO_ABI_VERSION */
	uint32_t rings;
	uint32_t pid;
	uint32_t waits_not;     /* set by the consumer: it may never make room again: do not wait for it */
	uint64_t catalog_used;  /* bytes of catalogue published */
	uint64_t catalog_lost;  /* records that did not fit */
	uint32_t threads;       /* given out; may exceed HODO_THREADS_MAX. Kernel: names stored so far */
	uint32_t stopped;       /* set by the consumer: recording is over, nobody reads any more */
	uint32_t functions;     /* traceable functions found so far, in all objects */
	uint32_t functions_on;  /* of these, patched at present */
	uint64_t func_missed;   /* entries that a tracer did not see: in a signal handler that interrupted it */
	uint64_t func_deep;     /* entries that were deeper than the limit of frames */
	uint64_t func_threads;  /* entries in threads beyond the limit of threads */
	uint64_t profile_used;  /* entries of the profile given out; may exceed HODO_PROFILE_ENTRIES */
	uint64_t profile_lost;  /* calls that found no entry */
	uint32_t ended;         /* set by the process: it does not write here any more */
	uint32_t wants;         /* HODO_WANTS_*, or-ed by the process */
	uint32_t snapshots;     /* requested so far by triggers and by hodo_snapshot() */
	uint32_t flags;         /* HODO_SHM_*, set when it was made */
	uint64_t limited;       /* events beyond their rate; see HODO_SHM_LIMITED */
	char why[80];           /* the reason for the latest snapshot; NUL-terminated unless being written */
	uint64_t waited_ns;     /* for room, all threads together */
};
HODO_ASSERT_SIZE_(struct hodo_shm, 208);
/* What a trigger asks of the consumer. */
#define HODO_WANTS_STOP 1u /* end this process's recording */
#define HODO_WANTS_EXIT 2u /* end the recording of all processes */
/* The process's own request: semaphores are up, which somebody must count down if the consumer is killed. */
#define HODO_WANTS_GUARD 4u
#define HODO_SHM_FLIGHT 1u   /* a process's own file: struct hodo_flight is there */
#define HODO_SHM_SNAPSHOT 2u /* a copy made while the process was running: see hodo_ring.word_before */
#define HODO_SHM_LOCKED 4u   /* the file is locked (flock) as long as its process has it mapped */
#define HODO_SHM_MAGIC "HODOSHM"
#define HODO_SHM_MAKING "HODONEW" /* the magic of a flight recorder's file until it is complete */

/*
 * Layout of the shared memory, which both sides compute from the recorder's
 * configuration. Sparse: what is not touched costs no memory.
 */
#define HODO_PAGE 4096u
#define HODO_SHM_ON HODO_PAGE                                           /* uint32_t on[HODO_EVENTS_MAX] */
#define HODO_SHM_LIMITED (HODO_SHM_ON + 4ull * HODO_EVENTS_MAX)        /* uint64_t limited[HODO_EVENTS_MAX] */
#define HODO_SHM_THREADS (HODO_SHM_LIMITED + 8ull * HODO_EVENTS_MAX)    /* struct hodo_thread[] */
#define HODO_SHM_CATALOG (HODO_SHM_THREADS + 24ull * HODO_THREADS_MAX)  /* bytes */
#define HODO_IMAGES_SIZE 65536ull                                       /* see struct hodo_image */
#define HODO_CATALOG_SIZE ((16ull << 20) - HODO_IMAGES_SIZE)            /* bytes: almost 256 for each event */
#define HODO_SHM_IMAGES (HODO_SHM_CATALOG + HODO_CATALOG_SIZE)          /* struct hodo_image[HODO_IMAGES_MAX] */
#define HODO_SHM_RINGS (HODO_SHM_IMAGES + HODO_IMAGES_SIZE)             /* a page for each ring */

/* In the first page, after struct hodo_shm: how often each condition was met; what a flight recorder's file
 * says about itself, which a recorder knows from the conversation; and how many images were announced. */
#define HODO_SHM_MATCHED 1024u /* uint64_t matched[HODO_CONDITIONS_MAX] */
#define HODO_SHM_FLIGHT_HEAD 2048u /* struct hodo_flight */
#define HODO_SHM_IMAGES_HEAD 3072u /* struct hodo_images */

/* The profile: entries of struct hodo_profile_entry, after the rings, only if it was asked for. */
#define HODO_PROFILE_ENTRIES 98304ull
#define HODO_PROFILE_ENTRY 704u /* bytes */
#define HODO_PROFILE_BUCKETS 160u

/* The calls that threads are inside: struct hodo_open_thread, also after the rings. The first place belongs
 * to no thread: its n is the number of places given out, and may exceed the number of places. */
#define HODO_OPEN_THREADS 2048ull
#define HODO_OPEN_THREAD 8192u /* bytes */
#define HODO_OPEN_CALLS 341u

/* One moment by three clocks. */
struct hodo_moment {
	uint64_t ticks;   /* of the recording's clock */
	int64_t mono_ns;  /* CLOCK_MONOTONIC */
	int64_t real_ns;  /* CLOCK_REALTIME; 0: this moment was not taken */
};

struct hodo_flight {
	uint32_t size; /* sizeof(struct hodo_flight) */
	uint32_t packet_size;
	uint64_t ring_size;
	uint32_t mode;  /* enum hodo_mode */
	uint32_t clock; /* enum hodo_clock */
	uint8_t uuid[16];
	uint32_t ppid, uid;
	uint32_t start; /* enum hodo_start */
	uint32_t context; /* HODO_CONTEXT_*: 0 so far */
	char comm[16];
	char exe[256];
	char hostname[64];
	char boot_id[40]; /* as in /proc/sys/kernel/random/boot_id */
	struct hodo_moment first; /* when it began */
	struct hodo_moment last[2]; /* later ones, each fully written before latest says so */
	uint32_t latest;  /* index into last */
	uint32_t ended;   /* the process ended its recording, or itself by exit() */
};
HODO_ASSERT_SIZE_(struct hodo_flight, 512);

struct hodo_layout {
	uint32_t rings;       /* CPUs + 1; the last is the fallback ring */
	uint32_t packet_size; /* bytes, 2^n */
	uint64_t ring_size;   /* bytes, packet_size * 2^m, m >= 2 */
	uint64_t data;        /* offset of ring 0's packets; ring r's at data + r * ring_size */
	uint64_t profile;     /* offset of the profile's entries, 0: none */
	uint64_t open;        /* offset of the threads' open calls, 0: none */
	uint64_t total;       /* bytes of shared memory */
};

/* 0, or -1 if the numbers are out of range. */
static inline int hodo_layout_init(struct hodo_layout *l, uint32_t rings, uint32_t packet_size,
				   uint64_t ring_size)
{
	if (rings < 2 || rings > HODO_CPUS_MAX || packet_size < HODO_PACKET_MIN ||
	    packet_size > HODO_PACKET_MAX || (packet_size & (packet_size - 1)) != 0 ||
	    ring_size > HODO_RING_MAX || (ring_size & (ring_size - 1)) != 0 ||
	    ring_size / 4 < packet_size || ring_size < HODO_PAGE)
		return -1;
	l->rings = rings;
	l->packet_size = packet_size;
	l->ring_size = ring_size;
	l->data = HODO_SHM_RINGS + (uint64_t)rings * HODO_PAGE;
	l->profile = l->open = 0;
	l->total = l->data + (uint64_t)rings * ring_size;
	return 0;
}
/* Adds space for a profile (HODO_TRACER_PROFILE). */
static inline void hodo_layout_add_profile(struct hodo_layout *l)
{
	l->profile = l->total;
	l->total += HODO_PROFILE_ENTRIES * HODO_PROFILE_ENTRY;
}
/* Adds space for open calls, for tracers that report a call only at its end; see hodo_functions_end_only(). */
static inline void hodo_layout_add_open(struct hodo_layout *l)
{
	l->open = l->total;
	l->total += HODO_OPEN_THREADS * HODO_OPEN_THREAD;
}
static inline uint64_t hodo_layout_ring(uint32_t ring)
{
	return HODO_SHM_RINGS + (uint64_t)ring * HODO_PAGE;
}

/*
 * Calls of one function in one thread, times in ticks. Written only by that thread; addr last when it is new.
 * bucket[b] counts calls by duration d: if d < 4, b = d; otherwise, with o = floor(log2(d)),
 * b = 4 * (o - 1) + (d >> (o - 2) & 3). Longer calls are in the last bucket. A bucket that is full stays full.
 */
struct hodo_profile_entry {
	uint64_t addr; /* in the function; 0: not in use */
	uint64_t calls;
	uint64_t total; /* of those that are not inside another call of the function */
	uint64_t self;  /* of all, without the time in other traced functions that it called */
	uint64_t min, max;
	uint64_t sum;     /* of all calls */
	uint64_t no_exit; /* calls whose exit cannot be seen: only counted in calls */
	uint32_t bucket[HODO_PROFILE_BUCKETS];
};
HODO_ASSERT_SIZE_(struct hodo_profile_entry, HODO_PROFILE_ENTRY);
/*
 * Entries are given out in batches, each to one thread. The first entry of a batch belongs to no function:
 * its addr is HODO_PROFILE_THREAD, and its calls is the thread's tid, or 0 if several threads used the batch
 * one after another.
 */
#define HODO_PROFILE_BATCH 16u
#define HODO_PROFILE_THREAD 1ull

/* A call that has not ended. Times in ticks. */
struct hodo_open_call {
	uint64_t addr; /* in the function; 0: a call that must not be recorded */
	uint64_t entry;
	uint32_t frame, depth;
};
HODO_ASSERT_SIZE_(struct hodo_open_call, 24);
/* Written only by its thread; n after the calls. */
struct hodo_open_thread {
	uint32_t tid;
	uint32_t n; /* calls, outermost first; may exceed HODO_OPEN_CALLS: then only the first are here */
	struct hodo_open_call call[HODO_OPEN_CALLS];
};
HODO_ASSERT_SIZE_(struct hodo_open_thread, HODO_OPEN_THREAD);

/* -------------------------------------------------------------- functions */

/*
 * Events of kind HODO_KIND_FUNCTION. addr is in the function (at its start, or
 * after a slot); frame is the address of the function's return address,
 * shifted right by 3 and cut to 32 bits: the same at entry and exit, and
 * different for all frames that exist at the same time (except those 32 GiB apart).
 * Times are ticks.
 *
 *   func:entry         addr:ptr frame:u32          a function was entered
 *   func:exit          addr:ptr frame:u32          a function is about to return, or to jump to another
 *   func:entry_sp      addr:ptr sp:u32             entered, its frame not known: sp is the stack pointer inside
 *                                                  it, shifted and cut as frame is
 *   func:exit_sp       addr:ptr sp:u32             exit, its frame not known: sp is near the entry's
 *   func:reached       addr:ptr frame:u32          entered; its exit cannot be seen
 *   func:call          addr:ptr frame:u32 depth:u32 ticks:u64 left:bool
 *                                                  a call that ended now and took ticks; left by longjmp,
 *                                                  an exception or the like if left
 *   func:open          addr:ptr frame:u32 depth:u32 ticks:u64
 *                                                  a call that had not ended when its thread, its process or the
 *                                                  recording did; used where func:call records the others
 *   func:callee        addr:ptr frame:u32 calls:u64 ticks:u64 max:u64
 *                                                  before the func:call of the same frame: what that called
 *   func:stack         bytes:u64 depth:u32 chain:ptr[]
 *                                                  the deepest stack of the thread so far, innermost first
 *   func:held          addr:ptr loop:ptr ticks:u64 an event loop was held by a callback
 *   func:wrong_thread  addr:ptr wanted:str role:str chain:ptr[]
 *   func:profile       addr:ptr tid:u32 calls:u64 total:u64 self:u64 min:u64 max:u64 buckets:u32[]
 *                      sum:u64 no_exit:u64         written by the recorder, at the end
 */
#define HODO_FRAME32(address) ((uint32_t)((uint64_t)(address) >> 3))

/* ----------------------------------------------------------- 3. catalogue */

/*
 * Append-only records at HODO_SHM_CATALOG, each 8-aligned, published by
 * hodo_shm.catalog_used. size counts the whole record, including padding.
 */
enum hodo_record_type {
	HODO_RECORD_EVENT = 1,
	HODO_RECORD_LABELS = 2,
	HODO_RECORD_WARNING = 3,
	HODO_RECORD_OBJECT = 4, /* an object is mapped */
	HODO_RECORD_UNLOAD = 5, /* an object is no longer mapped */
	HODO_RECORD_CONTEXT = 6 /* struct hodo_record_context; before all events */
};
struct hodo_record {
	uint32_t size;
	uint16_t type;
	uint16_t id; /* event id; 0 for others */
};
HODO_ASSERT_SIZE_(struct hodo_record, 8);

/* Followed by uint8_t types[nfields] and NUL-terminated strings: full name
 * ("kv:put", "kv:compact.begin"), the nfields field names (identifiers, all
 * different), format, file, function, path of the object. */
struct hodo_record_event {
	struct hodo_record head;
	uint8_t kind;
	uint8_t nfields;
	uint16_t reserved;
	uint32_t line;
};
HODO_ASSERT_SIZE_(struct hodo_record_event, 16);

/* Followed by int64_t values[n] and strings: provider, field name, n labels. An event's full name ("kv:put") instead
 * of the provider means that the labels belong to that event only; they precede its provider's. */
struct hodo_record_labels {
	struct hodo_record head;
	uint32_t n;
	uint32_t reserved;
};
HODO_ASSERT_SIZE_(struct hodo_record_labels, 16);

/* A mapped executable or library; with --functions only. Followed by its path. */
struct hodo_record_object {
	struct hodo_record head;
	uint64_t base;  /* what must be added to the file's addresses (p_vaddr, st_value) */
	uint64_t start; /* lowest address that is mapped from it */
	uint64_t end;   /* after the highest */
	uint64_t ticks; /* when it was first seen; 0: before the recording */
	uint32_t functions; /* traceable */
	uint16_t build_id_len;
	uint16_t reserved;
	uint8_t build_id[32];
	/* Its code, if the object is short, that is, if its calls may be records of HODO_FORM_CALL and
	 * HODO_FORM_RETURN. While it is mapped, no other short object has code at an address that differs
	 * from one of these by a multiple of HODO_SHORT_SPAN. Both are 0 if it is not short. */
	uint64_t short_start, short_end;
};
HODO_ASSERT_SIZE_(struct hodo_record_object, 96);

struct hodo_record_unload {
	struct hodo_record head;
	uint64_t start; /* of the object */
	uint64_t ticks;
};
HODO_ASSERT_SIZE_(struct hodo_record_unload, 24);

/* A warning is the record's head and one NUL-terminated string, without a
 * trailing full stop or newline; the recorder prints "hodo: COMM[PID]: TEXT". */

/* -------------------------------------------------------------- 4. socket */

/*
 * SOCK_SEQPACKET Unix socket at $HODO_RECORDER, one connection for each process
 * image, closed by the process once its buffers are handed over:
 *
 *   process -> recorder   hodo_msg_hello
 *   recorder -> process   hodo_msg_config, or the connection is closed: not recorded
 *   (with HODO_CONFIG_PLANS: what hodo/abi_plan.h says)
 *   process -> recorder   hodo_msg_ready + the memfd (SCM_RIGHTS), or hodo_msg_failed: it has none
 *
 * The recorder opens a pidfd before it answers. The process waits at most
 * HODO_HELLO_TIMEOUT_MS for the answer, then runs on without being recorded.
 */
#define HODO_RECORDER_ENV "HODO_RECORDER"
#define HODO_HELLO_TIMEOUT_MS 2000
#define HODO_MSG_MAGIC 0x4f444f48u /* "HODO" */
enum hodo_msg_type {
	HODO_MSG_HELLO = 1,
	HODO_MSG_CONFIG = 2,
	HODO_MSG_READY = 3,
	HODO_MSG_CONTROL = 4, /* to a process that listens, or to a recorder */
	HODO_MSG_ANSWER = 5,
	HODO_MSG_FAILED = 6,
	HODO_MSG_PLAN = 7,
	HODO_MSG_PLANNED = 8, HODO_MSG_LIBRARIES = 9
};

struct hodo_msg {
	uint32_t magic;
	uint16_t version; /* HODO_ABI_VERSION */
	uint16_t type;
};

enum hodo_start { HODO_START_EXEC = 1, HODO_START_FORK = 2, HODO_START_ATTACH = 3, HODO_START_OPENED = 4,
		  HODO_START_ROOT = 5 };
struct hodo_msg_hello {
	struct hodo_msg head;
	uint32_t pid;   /* as the process sees it */
	uint32_t ppid;
	uint32_t cpus;  /* possible CPUs */
	uint32_t start; /* enum hodo_start */
	uint32_t tsc;   /* 1 if the process can read an invariant TSC in its critical section */
	uint32_t reserved;
	char comm[16];
	char exe[256]; /* path, cut */
	uint64_t key;  /* 0: it has none */
};
HODO_ASSERT_SIZE_(struct hodo_msg_hello, 312);

#define HODO_CONFIG_TEXT_MAX 16384
#define HODO_FILTER_MAX 4096
#define HODO_FUNCTIONS_MAX 16384
#define HODO_EXTRAS_MAX 32768 /* of conditions and context together */
struct hodo_msg_config {
	struct hodo_msg head;
	uint8_t uuid[16]; /* for the packets' headers */
	uint32_t rings;
	uint32_t packet_size;
	uint64_t ring_size;
	uint32_t mode;  /* enum hodo_mode */
	uint32_t clock; /* enum hodo_clock */
	uint64_t packet_age_ticks; /* age at which HODO_ON_AGE closes a packet */
	uint64_t wait_ns; /* longest wait for room in a full ring (discard mode); 0: none; HODO_WAIT_FOREVER */
	uint64_t key;
	uint32_t patterns;     /* count of NUL-terminated patterns in text; none: all events */
	uint32_t patterns_len; /* bytes */
	uint32_t filter_len;   /* bytes of filter program after the patterns; 0: none */
	uint32_t functions_len; /* bytes of hodo_functions_config and its strings after that; 0: none */
	uint32_t conditions;     /* the number of struct hodo_condition after that */
	uint32_t conditions_len; /* their bytes, including strings and programs */
	uint32_t context_len;    /* 0, or bytes of struct hodo_context_config after those */
	uint32_t flags;          /* HODO_CONFIG_* */
	/* sent up to what is used */
	uint8_t text[HODO_CONFIG_TEXT_MAX + HODO_FILTER_MAX + HODO_FUNCTIONS_MAX + HODO_EXTRAS_MAX];
};
#define HODO_WAIT_FOREVER UINT64_MAX
#define HODO_CONFIG_AWAITS_START 1u /* nothing is recorded before a condition HODO_CONDITION_START is met */
#define HODO_CONFIG_PLANS 2u        /* the process must ask for a plan */

/* What to do with functions. Unaligned in the message. */
struct hodo_functions_config {
	uint32_t size;         /* sizeof(struct hodo_functions_config) */
	uint32_t tracers;      /* 1 << enum hodo_builtin, or-ed */
	uint32_t depth_max;    /* record, graph: deeper calls are left out; 0: none */
	uint32_t flags;        /* HODO_FUNCTIONS_* */
	uint64_t limit_ticks;  /* graph, latency, loop: shorter calls are left out */
	uint64_t ticks_per_s;  /* of the recording's clock, about */
	uint32_t patterns;     /* NUL-terminated, after this struct: which functions; none: all */
	uint32_t patterns_len; /* bytes */
	uint32_t loops;        /* NUL-terminated, after the patterns: functions of event loops (HODO_TRACER_LOOP) */
	uint32_t loops_len;
};
HODO_ASSERT_SIZE_(struct hodo_functions_config, 48);
enum hodo_builtin {
	HODO_TRACER_RECORD = 0,
	HODO_TRACER_GRAPH = 1,
	HODO_TRACER_PROFILE = 2,
	HODO_TRACER_STACK = 3,
	HODO_TRACER_LATENCY = 4,
	HODO_TRACER_LOOP = 5,
	HODO_TRACER_THREAD = 6
};
/* Whether calls are recorded only at their end, so that open ones must be kept in the shared memory. */
static inline int hodo_functions_end_only(uint32_t tracers)
{
	return (tracers & (1u << HODO_TRACER_GRAPH | 1u << HODO_TRACER_LATENCY | 1u << HODO_TRACER_PROFILE)) &&
	       !(tracers & 1u << HODO_TRACER_RECORD);
}
#define HODO_FUNCTIONS_RETURNS 1u /* replace return addresses if a function has a slot only at its entry */
#define HODO_FUNCTIONS_ABORT 2u   /* HODO_TRACER_THREAD: raise SIGABRT in the wrong thread */

struct hodo_msg_ready {
	struct hodo_msg head;
	uint64_t events; /* known so far */
};

#ifdef __cplusplus
}
#endif

#include <hodo/abi_live.h>

#endif
