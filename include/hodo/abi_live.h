/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * hodo/abi_live.h - the frozen part, continued: processes that cannot join, conditions and context of a recording,
 * control of running processes, flight recorders, and announced images. Included by <hodo/abi.h>.
 */
#ifndef HODO_ABI_LIVE_H
#define HODO_ABI_LIVE_H

#ifndef HODO_ABI_H
#error "include <hodo/abi.h>"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------- where the recorder is */

/*
 * The value of HODO_RECORDER_ENV is PATH#NAME-KEY: the path of the recorder's socket, and the name of a
 * second one at the abstract address HODO_RECORDER_ABSTRACT NAME, for a process that cannot reach that path:
 * another user, or another root directory. Anybody can see abstract addresses, and can take them once the
 * recorder is gone. Therefore the process shows the first half of KEY in its hello, and the recorder the
 * second half in its answer.
 */
#define HODO_RECORDER_ABSTRACT "hodo-record-"
#define HODO_RECORDER_NAME 16 /* hexadecimal digits */
#define HODO_RECORDER_KEY 32  /* hexadecimal digits */
#define HODO_RECORDER_SUFFIX (1 + HODO_RECORDER_NAME + 1 + HODO_RECORDER_KEY)

/* ------------------------------------------------- another root directory */

/*
 * A process that is about to become, or start, an image in a root directory where it does not find the libraries of
 * LD_PRELOAD says hello with HODO_START_ROOT. The recorder puts copies of them there and answers with LIBRARIES;
 * the conversation is over then.
 */
#define HODO_COPY_PREFIX "hodo-copy-" /* begins the name of the directory that they are in */
struct hodo_msg_libraries {
	struct hodo_msg head;
	uint64_t key;    /* the second half */
	int32_t result;  /* negative errno: there are none */
	uint32_t reserved;
	char paths[512]; /* as LD_PRELOAD has them; NUL-terminated */
};
HODO_ASSERT_SIZE_(struct hodo_msg_libraries, 536);

/* ------------------------------------------- a process without buffers */

/* Why a process has no buffers to hand over, and the limits that may be the reason. */
enum hodo_failed_step { HODO_FAILED_CONFIG = 1, HODO_FAILED_FILE = 2, HODO_FAILED_MAP = 3, HODO_FAILED_MEMORY = 4 };
enum hodo_limit {
	HODO_LIMIT_FSIZE,
	HODO_LIMIT_AS,
	HODO_LIMIT_DATA,
	HODO_LIMIT_MEMLOCK,
	HODO_LIMIT_NOFILE,
	HODO_LIMITS
};
struct hodo_msg_failed {
	struct hodo_msg head;
	uint32_t step;  /* enum hodo_failed_step */
	int32_t error;  /* negative errno */
	uint64_t bytes; /* of the buffers */
	uint64_t limit[HODO_LIMITS]; /* as from getrlimit(2); ~0: none */
};
HODO_ASSERT_SIZE_(struct hodo_msg_failed, 64);

/* ------------------------------------------------- conditions and context */

/*
 * Something that is checked when an event happens, before it is stored, in the
 * given order. Unaligned in the message; followed by the pattern of the events that it
 * applies to (NUL-terminated) and the filter program.
 */
#define HODO_CONDITIONS_MAX 64
enum hodo_condition_kind {
	HODO_CONDITION_RATE = 1,     /* recorded at most at a rate; events beyond it are counted */
	HODO_CONDITION_SNAPSHOT = 2, /* met: hodo_shm.snapshots counts up */
	HODO_CONDITION_START = 3,    /* met: from this event on, events are recorded */
	HODO_CONDITION_STOP = 4,     /* met: from this event on, none are; HODO_WANTS_STOP */
	HODO_CONDITION_EXIT = 5      /* the same with HODO_WANTS_EXIT */
};
struct hodo_condition {
	uint32_t kind;           /* enum hodo_condition_kind */
	uint32_t after;          /* acts when met n times, and from then on (SNAPSHOT: every n-th); 0: 1 */
	uint64_t interval_ticks; /* RATE: between two events */
	uint64_t burst_ticks;    /* RATE: how far events may be ahead of it */
	uint32_t pattern_len;    /* bytes, including the NUL */
	uint32_t filter_len;     /* bytes; 0: every event meets it */
};
HODO_ASSERT_SIZE_(struct hodo_condition, 32);

/*
 * What every event has besides its fields (except functions' events). Stored between
 * the thread ID and the fields, in the order of the bits, and declared as the
 * first of the event's fields in the trace (docs/format.md, "Context").
 */
#define HODO_CONTEXT_COMM 1u      /* comm:str, the thread's name at that moment */
#define HODO_CONTEXT_PID 2u       /* pid:u32 */
#define HODO_CONTEXT_IP 4u        /* ip:ptr, in the function where the event is */
#define HODO_CONTEXT_CALLSTACK 8u /* callstack:ptr[], innermost first, found by frame pointers */
#define HODO_CONTEXT_STACK 16u    /* stack_regs:u64[] (ip, sp, bp), stack:bytes, from sp upwards */
#define HODO_CONTEXT_COUNTERS 32u /* perf_NAME:u64, one for each counter */
#define HODO_CONTEXT_CPU_TIME 64u /* cpu_time:u64, ns that the thread has run: CLOCK_THREAD_CPUTIME_ID */
#define HODO_CONTEXT_ALL 127u
#define HODO_COUNTERS_MAX 6
#define HODO_CONTEXT_FIELDS_MAX (7 + HODO_COUNTERS_MAX)
#define HODO_CONTEXT_DEPTH_MAX 128u
#define HODO_CONTEXT_STACK_MAX 32768u
struct hodo_context_config {
	uint32_t size;        /* sizeof(struct hodo_context_config) */
	uint32_t flags;       /* HODO_CONTEXT_* */
	uint32_t depth_max;   /* of callstack, frames */
	uint32_t stack_bytes; /* of stack */
	uint32_t counters;
	uint32_t reserved;
	struct {
		uint32_t type; /* as in struct perf_event_attr */
		uint32_t reserved;
		uint64_t config;
		char name[32]; /* of the field, NUL-terminated */
	} counter[HODO_COUNTERS_MAX];
};
HODO_ASSERT_SIZE_(struct hodo_context_config, 312);

/* In the catalogue of a recording with context, before all events. */
struct hodo_record_context {
	struct hodo_record head;
	struct hodo_context_config config;
};
HODO_ASSERT_SIZE_(struct hodo_record_context, 320);

/* ------------------------------------------------ processes that listen */

/*
 * A process that listens does so at $XDG_RUNTIME_DIR/hodo/PID, or else at
 * /tmp/hodo-UID/PID, or where it cannot make that, below one of HODO_LISTEN_DIRS,
 * SOCK_SEQPACKET, for its own user and root. On each connection, the client sends CONTROL and
 * the process answers with ANSWER, any number of times. After a RECORD that was answered with 0,
 * the conversation above follows on the connection, beginning with the process's HELLO. From then on nothing is sent
 * on it: when it ends, from whichever side, the recording ends too.
 *
 * A recorder accepts CONTROL with HODO_CONTROL_MEMORY, HODO_CONTROL_PROBE_* and HODO_CONTROL_PROCESS at its
 * own socket; all but the last are refused with -ENOENT if it does not record the process `pid`; 0: any
 * process.
 */
#define HODO_LISTEN_DIRS { "/run", "/dev/shm", "/var/tmp", "" }
enum hodo_control_op {
	HODO_CONTROL_STATUS = 1,
	HODO_CONTROL_RECORD = 2,  /* text: socket at which forked children may join, or "" */
	HODO_CONTROL_LIST = 3,    /* ANSWER has a memfd: uint8_t state[HODO_EVENTS_MAX], then the catalogue */
	HODO_CONTROL_ENABLE = 4,  /* text: a pattern; result: how many events match, as with hodo_enable() */
	HODO_CONTROL_DISABLE = 5,
	HODO_CONTROL_END = 6,     /* ends the recording, whoever started it; 0, or -ENOTCONN: there is none */
	HODO_CONTROL_LEAVE = 7,   /* as END; and stops listening, unless the program itself wants that */
	HODO_CONTROL_MEMORY = 8,  /* ANSWER has the memory of pid's recording, for a snapshot; text: why */
	HODO_CONTROL_REPLAN = 9,  /* the process must ask its recorder for a plan to replace its own */
	/* A recording's probes; ANSWER's path: the text of number next. -EAGAIN: a plan is being made. */
	HODO_CONTROL_PROBE_ADD = 10,    /* text: of the probe; -EEXIST: there is one of that name */
	HODO_CONTROL_PROBE_REMOVE = 11, /* text: of the probe, or its name; -ENOENT: there is none */
	HODO_CONTROL_PROBE_LIST = 12,   /* -ENOENT: there are no more */
	HODO_CONTROL_PROCESS = 13       /* ANSWER's pid: of recorded process number next; -ENOENT: no more */
};
#define HODO_CONTROL_TEXT_MAX 1024
struct hodo_msg_control {
	struct hodo_msg head;
	uint32_t op;  /* enum hodo_control_op */
	uint32_t pid; /* to a recorder: which process, 0: the first one */
	uint32_t next; /* to a recorder: skip this many, to get all processes or probes one by one */
	uint32_t reserved;
	char text[HODO_CONTROL_TEXT_MAX]; /* NUL-terminated */
};
HODO_ASSERT_SIZE_(struct hodo_msg_control, 1048);

enum hodo_recorded_by { HODO_BY_NOBODY = 0, HODO_BY_RECORDER = 1, HODO_BY_FLIGHT = 2 };
struct hodo_msg_answer {
	struct hodo_msg head;
	int32_t result;    /* negative errno; RECORD, -EBUSY: another records it, see by */
	uint32_t pid;      /* the process, as it sees itself */
	uint32_t by;       /* enum hodo_recorded_by: who is recording it */
	uint32_t recorder; /* BY_RECORDER: its PID, as the process sees it; 0: unknown */
	uint32_t events;   /* known */
	uint32_t listens;  /* 1: because the program wants it, 2: because it was made to */
	/* MEMORY: as in struct hodo_flight, for the recording in the memfd. */
	struct hodo_flight flight;
	char path[256]; /* BY_FLIGHT: the file */
};
HODO_ASSERT_SIZE_(struct hodo_msg_answer, 800);

/* HODO_CONTROL_LIST: for each event, by id. */
#define HODO_STATE_RECORDED 1u /* recorded when it happens */
#define HODO_STATE_DISABLED 2u /* by hodo_disable() or hodo disable */
#define HODO_STATE_PROBED 4u
#define HODO_STATE_FILTERED 8u
#define HODO_STATE_LOADED 16u /* a loaded object has sites of it */

/* A flight recorder in files, without a recorder process: hodo recover reads them. */
#define HODO_FLIGHT_ENV "HODO_FLIGHT"               /* directory; COMM-PID.flight in it */
#define HODO_FLIGHT_SIZE_ENV "HODO_FLIGHT_SIZE"     /* bytes for each CPU, with K, M, G; default: 1M */
#define HODO_FLIGHT_EVENTS_ENV "HODO_FLIGHT_EVENTS" /* patterns as in -e; default: all */
#define HODO_CLOCK_ENV "HODO_CLOCK"               /* tsc, monotonic; default: the TSC if the kernel uses it */
#define HODO_FLIGHT_KEEP_ENV "HODO_FLIGHT_KEEP"     /* files of dead processes that are kept; default: 64 */
/* Followed by the errno that explains why there is none: the name of a mapping, where others see it. */
#define HODO_FLIGHT_ERROR "hodo-flight-error-"
#define HODO_LISTEN_ENV "HODO_LISTEN"               /* 1: listen from the start */

/*
 * Images that the process is about to become, or has spawned: the recorder expects a hello from each, and
 * counts it as not recorded if none comes. A vfork child takes a place, too. The process gives it back if
 * exec has failed, the recorder once it knows what has become of the image; each compares who before, because
 * another image may have the place by then.
 */
#define HODO_IMAGES_MAX 256u
#define HODO_IMAGE_FREE 0ull
#define HODO_IMAGE_TAKEN 1ull /* and being written */
struct hodo_images {
	uint32_t announced; /* so far */
	uint32_t lost;      /* found no place and did not fail: it is not known whether they are recorded */
	uint32_t used;      /* places that were ever taken, from the first on; may exceed HODO_IMAGES_MAX */
	uint32_t reserved;
};
HODO_ASSERT_SIZE_(struct hodo_images, 16);
struct hodo_image {
	uint64_t who;   /* its PID, shifted left by 32, and a number that differs each time; stored last */
	/* NUL-terminated: an absolute path; or a name to search for in PATH; or "..." and the end of a path
	 * that is too long, or of a relative one if it is not known where it starts. */
	char path[248];
};
HODO_ASSERT_SIZE_(struct hodo_image, 256);

#ifdef __cplusplus
}
#endif
#endif
