/* SPDX-License-Identifier: MIT */
/*
 * func.h - what the parts of function tracing share. Hidden in libhodo; the
 * public side is <hodo/tracer.h>.
 *
 * A slot is an instruction that the compiler left at a function's entry or
 * before its exit, flipped between a no-op and a call. From there:
 *
 *   slot -> stub of the object -> *hook -> trampoline (func/x86_64/func.S)
 *
 * If the built-in recorder is the only tracer, the trampoline is the direct writer of func:entry and
 * func:exit events; else it is the one that calls hodo_dispatch_enter/exit (dispatch.c), which keeps the
 * thread's shadow of calls and calls the tracers.
 *
 * State that several files share is in state.c, at the bottom; libhodo calls all this through extension.c, at
 * the top. No two files need each other.
 *
 * Locking: slots, functions, filters and the list of tracers change under
 * hodo_control_lock(). Dispatch reads the list while its thread's `inside` is odd; what it may still read is
 * only freed after a grace period.
 *
 * Code that dispatch runs (dispatch.c, core/shadow.c, built-in tracers) is
 * compiled with -mgeneral-regs-only and calls nothing in libc: the vector registers hold
 * the program's arguments and results. hodo_func_emit() preserves them.
 */
#pragma once

#include <hodo/tracer.h>
#include <core/search.h>
#include <core/shadow.h>
#include <user/objects/extension.h>
#include <user/libc/sys.h>
#include <user/user.h>

/* -------------------------------------------------------------------- slots */

enum hodo_slot_at { HODO_AT_ENTRY = 0, HODO_AT_EXIT = 1 };

/* A kind of slot: how its code looks, and how to flip it. */
enum hodo_slot_kind {
	HODO_SLOT_CALL = 0,   /* E8 rel32 <-> A9: GCC's -mfentry -minstrument-return=call, -finstrument-functions */
	HODO_SLOT_XRAY = 1,   /* XRay sled: prepared once, then one byte */
	HODO_SLOT_PATCHABLE = 2, /* -fpatchable-function-entry: entry only */
	HODO_SLOT_MCOUNT = 3, /* -pg, with or without -mfentry: entry only */
	HODO_SLOT_UNUSED = 4,  /* a call that is made a no-op for good */
	HODO_SLOT_PLANNED = 5, /* a window of the engine: on and off are its states */
	HODO_SLOT_PLANNED_PART = 6 /* the same, an exit in code moved out of an unknown function */
};

struct hodo_slot {
	uint32_t addr;     /* of the byte that is flipped, relative to the object's text */
	uint32_t function; /* index in the object's functions */
	uint8_t kind;      /* enum hodo_slot_kind */
	uint8_t at;        /* enum hodo_slot_at */
	uint8_t on, off;   /* the byte */
};

struct hodo_function {
	uint32_t addr; /* of its first instruction, relative to the object's text */
	uint32_t planned; /* 1: by a plan; its other slots are not used then */
	uint64_t sets; /* filter sets that want it, see select.c */
};

/* The last one at or before the address, or else the first. They are sorted by address, and there is at least
 * one. */
static inline uint32_t hodo_function_before(const struct hodo_function *functions, uint32_t n, uint32_t addr)
{
	uint32_t behind = hodo_search(i, n, functions[i].addr > addr);

	return behind ? behind - 1 : 0;
}

/* The traceable functions of a loaded object. */
struct hodo_func_object {
	uintptr_t base, text, text_end; /* text: lowest executable address */
	struct hodo_slot *slots;        /* by address */
	struct hodo_function *functions; /* by address */
	uint32_t nslots, nfunctions;
	uint32_t slots_room, functions_room;
	void **entry_hook, **exit_hook; /* variables of its stubs, NULL: none */
	struct hodo_mirror {
		uintptr_t at;
		size_t bytes;
	} mirrors[2];                   /* mapped for it by entry_only.c */
	bool in_use;
	bool is_short;                  /* as struct hodo_object has it */
	bool seen;                      /* in the scan under way */
	bool complete;                  /* all kinds of slots were searched */
	bool left_out;                  /* has sleds of planned functions: xray.c */
	uint32_t plans;                 /* how many were applied: planned.c */
	char path[512];
};
#ifndef HODO_FUNC_OBJECTS_MAX /* a test lowers the limits */
#define HODO_FUNC_OBJECTS_MAX 1024
#endif
#define HODO_SLOTS_MAX (1u << 24) /* of one object */

/* An object while it is searched for slots: the reader of each kind adds what it finds. */
struct hodo_scan {
	const struct dl_phdr_info *info;
	struct hodo_func_object *object; /* base, text, text_end, path are set */
	struct hodo_names *names;        /* see hodo_scan_names() */
	bool names_tried;
};
/* scan.c: for the readers. function: its first instruction. false: no memory. Any order; duplicates are
 * dropped. */
bool hodo_scan_add(struct hodo_scan *scan, uintptr_t slot, uintptr_t function, enum hodo_slot_kind kind,
		   enum hodo_slot_at at, uint8_t on, uint8_t off);

/* scan.c: of the object's file, opened at the first call for all readers; NULL: none. Closed by slots.c. */
HODO_HIDDEN struct hodo_names *hodo_scan_names(struct hodo_scan *scan);

/* scan.c: sorts, drops duplicates, makes the list of functions from the entry slots, and gives each slot its
 * function. */
HODO_HIDDEN void hodo_scan_index(struct hodo_func_object *object);
HODO_HIDDEN void hodo_scan_report_limit(const char *text); /* once a process */

/* planned.c: takes the plan that has arrived on the connection to a recorder, and answers. 0 or negative
 * errno: the connection is unusable; -EINPROGRESS: again, stood; -EEXIST: ask for another plan. */
HODO_HIDDEN int hodo_planned_answer(int fd, enum hodo_plan_step step, char load[HODO_PLAN_LOAD_MAX]);
HODO_HIDDEN void hodo_planned_given_up(uintptr_t at); /* given_up.c: warns about the function at the address */
/* Whether a plan has the function; then its slots, if any, are not used. */
HODO_HIDDEN bool hodo_planned_has(uintptr_t function);
/* Whether a plan says that the function's own slots are to be used. */
HODO_HIDDEN bool hodo_planned_chose(uintptr_t function);
HODO_HIDDEN bool hodo_planned_known(const struct hodo_func_object *object); /* all plans were applied to it */

/* The readers of each kind, for one object. XRay, -finstrument-functions, entry-only. */
HODO_HIDDEN void hodo_scan_xray(struct hodo_scan *scan);       /* xray.c */
HODO_HIDDEN void hodo_scan_instrument(struct hodo_scan *scan); /* instrument.c */
HODO_HIDDEN void hodo_scan_entry_only(struct hodo_scan *scan); /* entry_only.c */
HODO_HIDDEN void hodo_scan_planned(struct hodo_scan *scan); /* planned.c: after all others */
HODO_HIDDEN void hodo_scan_roles(struct hodo_scan *scan); /* thread.c: HODO_ONLY_IN, when all slots are known */

/* sort.c: by their first words, as numbers; stable. words: per item. false: no memory. */
HODO_HIDDEN bool hodo_sort(void *items, uint32_t n, size_t words);

extern HODO_HIDDEN struct hodo_func_object hodo_func_objects[HODO_FUNC_OBJECTS_MAX]; /* under the control lock */
extern HODO_HIDDEN uint32_t hodo_func_nobjects;

/* scan.c: some slots stay calls even if their function is not wanted. */
extern HODO_HIDDEN bool hodo_func_unfiltered;
extern HODO_HIDDEN bool hodo_func_profiled; /* entry_only.c: since gprof wants them, too */

/* code.c */
HODO_HIDDEN bool hodo_xray_ready(uintptr_t slot); /* whether its sled is still as prepared */
/* First address of the function with this call in its entry slot. */
HODO_HIDDEN uintptr_t hodo_slot_function(uintptr_t call);

/* Functions are wanted: also search for kinds of slots that cost more to find. */
extern HODO_HIDDEN bool hodo_func_wanted;
HODO_HIDDEN void hodo_func_want(void); /* state.c; under the control lock */

/* slots.c; all under the control lock. */
HODO_HIDDEN void hodo_slots_scan_begin(void);
HODO_HIDDEN int64_t hodo_slots_object(const struct dl_phdr_info *info, const struct hodo_note_functions *note,
				      bool is_short);
HODO_HIDDEN void hodo_slots_scan_end(void);
HODO_HIDDEN void hodo_slots_select(void);
/* Makes every slot a call or a no-op, by the active sets. 0 or negative errno. */
HODO_HIDDEN int hodo_slots_patch(uint64_t active_sets);

/* ------------------------------------------------------------------ symbols */

/* maps.c: a mapping of this process. */
struct hodo_mapping {
	uintptr_t low, high;
	uintptr_t below; /* where the one before it ends */
	uintptr_t file;  /* where the first page of its file is mapped, at or below this address; 0: nowhere */
};
/* The mapping that contains the address; false: none. path: of its file, cut to size; size 0: not wanted. */
HODO_HIDDEN bool hodo_maps_find(uintptr_t addr, struct hodo_mapping *found, char *path, size_t size);

/*
 * names.c: function symbols of an object's file, or of its separate debug
 * file, in our own memory while it is open. For one thread at a time.
 */
struct hodo_names;
HODO_HIDDEN struct hodo_names *hodo_names_open(const struct dl_phdr_info *info, const char *path); /* NULL: none */
HODO_HIDDEN void hodo_names_close(struct hodo_names *names);
/* The symbol that contains the address, or "". *start: its first address. */
HODO_HIDDEN const char *hodo_names_find(const struct hodo_names *names, uintptr_t addr, uintptr_t *start);
/* How many names the function around the address has, and the i-th of them, from 0; the name that is shown
 * comes first. */
HODO_HIDDEN uint32_t hodo_names_count(const struct hodo_names *names, uintptr_t addr);
HODO_HIDDEN const char *hodo_names_other(const struct hodo_names *names, uintptr_t addr, uint32_t i);
/* The memory of the section with that name ("xray_instr_map"), 0 if no such section is loaded. */
HODO_HIDDEN uintptr_t hodo_names_section(const struct hodo_names *names, const char *section, size_t *size);
/* Address of the function with that name, or 0. */
HODO_HIDDEN uintptr_t hodo_names_symbol(const struct hodo_names *names, const char *symbol);
/* function_name.c */
HODO_HIDDEN int hodo_names_function(const void *address, char *name, size_t bytes); /* hodo_function_name() */
/* Objects were unloaded; others may be at their addresses now. */
HODO_HIDDEN void hodo_names_changed(void);

/* ------------------------------------------------------------------ filters */

/* select.c: turns texts of hodo_tracer.functions into sets: a bit for each distinct text. */
HODO_HIDDEN int hodo_select_get(const char *functions); /* the bit, with a reference; or -EINVAL, -ENOSPC */
HODO_HIDDEN int hodo_select_patterns(const char *texts, uint32_t n, uint32_t len); /* NUL-separated; as get */
/* Likewise, but functions of a plan are in it whatever their names. */
HODO_HIDDEN int hodo_select_recorded(const char *texts, uint32_t n, uint32_t len);
HODO_HIDDEN uint64_t hodo_select_planned(void); /* the sets that have all of a plan */
HODO_HIDDEN void hodo_select_put(int bit);
HODO_HIDDEN uint64_t hodo_select_active(void);
/* Computes `sets` of an object's functions for all active sets; called for new objects and new sets. */
HODO_HIDDEN void hodo_select_object(struct hodo_func_object *object, const struct dl_phdr_info *info);

/* ----------------------------------------------------------------- dispatch */

/*
 * hodo_frame.user: bits 0 … 31 are dispatch's (the epoch at entry), bits 32 + enum hodo_builtin the
 * built-in tracers', one each, bits 40 … 63 latency.c's; zero at entry except for HODO_USER_NO_EXIT.
 *
 * One of libhodo's own tracers: like hodo_tracer, with access to the shadow, and under the rules above. */
#define HODO_USER_NO_EXIT (1ull << 39) /* dispatch: the exit will not be seen; the duration is not known */
#define HODO_USER(tracer) (1ull << (32 + HODO_TRACER_##tracer))
struct hodo_builtin_ops {
	void (*enter)(struct hodo_shadow *shadow, struct hodo_frame *frame);
	/* In reverse order of entry; see hodo_shadow.closed. The chain still holds what the frame was inside of:
	 * frames[0 .. n-1], when end is RETURNED or LEFT and the frame was not parked. */
	void (*exit)(struct hodo_shadow *shadow, const struct hodo_frame *frame, enum hodo_frame_end end, uint64_t now);
	/* Under the control lock: start before the first call (0, or negative errno: the tracer is left out),
	 * stop when no further calls begin; some may still be running. */
	int (*start)(const struct hodo_functions_config *config);
	void (*stop)(void);
};
/* By enum hodo_builtin; record has its own direct path when it is alone, else it uses these functions. */
extern HODO_HIDDEN const struct hodo_builtin_ops hodo_builtin_record, hodo_builtin_graph, hodo_builtin_profile,
	hodo_builtin_stack, hodo_builtin_latency, hodo_builtin_loop, hodo_builtin_thread;

HODO_HIDDEN void hodo_record_exit(uint64_t addr, uint64_t at, bool sp); /* record.c */

/*
 * What dispatch and the built-in tracers keep for each thread; never unmapped, but reused by another thread
 * when its own has ended.
 */
struct hodo_func_thread {
	struct hodo_shadow shadow; /* first */
	uint32_t inside;           /* odd: the thread is in dispatch */
	uintptr_t guard;           /* stack pointer of the running dispatch, 0: none */
	uint32_t tid;
	bool main;
	uint64_t exit_ticks;       /* of the current exit, if its frame is to record it */
	struct hodo_shadow calls;  /* durations.c: of functions whose exits are events; no frames: not used yet */
	uint64_t began;            /* … when the call that has ended began, in ticks */
	const char *role;          /* thread.c */
	void *profile;             /* profile.c: its own mapping, kept when the thread has ended */
	uint64_t stack_min;        /* stack.c: lowest address seen, 0: none */
	uint64_t stack_pending;    /* stack.c: the frame there that is not recorded yet, 0: none */
	uint32_t stack_step;       /* stack.c: of the last event on the way down */
	struct hodo_open_thread *open; /* open.c: its place, NULL: none was free; for this tid and this recording */
	uint32_t open_tid, open_recording;
	uint32_t latency_free;     /* latency.c: nodes for this thread's use, kept when it has ended */
	uint64_t chain[64];        /* for an event */
	uint32_t cache_epoch;      /* of the lookup that cache was filled from */
	struct hodo_func_cached {
		uint64_t function, sets;
	} cache[64];
};
static inline struct hodo_func_thread *hodo_func_thread(struct hodo_shadow *shadow)
{
	return (struct hodo_func_thread *)shadow;
}
#ifndef HODO_FUNC_THREADS_MAX
#define HODO_FUNC_THREADS_MAX 65536u
#endif
#define HODO_FRAMES_MAX (1u << 22) /* of one thread; 64 bytes each, touched only as deep as calls go */

struct hodo_func_tls {
	struct hodo_func_thread *thread;
	bool in_tracer;  /* one of the program's tracers is running: what it calls is not traced */
};
extern HODO_HIDDEN __thread struct hodo_func_tls hodo_func_tls __attribute__((tls_model("initial-exec")));

/* dispatch.c: whether one of the program's tracers is running in this thread. */
HODO_HIDDEN bool hodo_dispatch_in_tracer(void);
HODO_HIDDEN bool hodo_dispatch_inside(void); /* the thread is in dispatch, or in a handler that interrupted it */

/* dispatch.c: encloses uses of a thread's shadows, in the thread. NULL: ignore this event, which is counted.
 * at: its frame; guard: the caller's. */
HODO_HIDDEN struct hodo_func_thread *hodo_dispatch_begin(uintptr_t at, bool entry, uintptr_t guard);
HODO_HIDDEN void hodo_dispatch_end(struct hodo_func_thread *t);

/* durations.c, by x86_64/durations.S: as HODO_IMPORT_CALL_BEGIN and _END. */
HODO_HIDDEN void hodo_duration_begin(uintptr_t at, uintptr_t function);
HODO_HIDDEN long hodo_duration_end(uintptr_t at, uintptr_t function);
HODO_HIDDEN void hodo_x86_duration_begin(void);
HODO_HIDDEN void hodo_x86_duration_end(void);

/* landings.c, by x86_64/durations.S: as HODO_IMPORT_LANDED; rdi, rsi: the function's arguments. */
HODO_HIDDEN void hodo_landed(uintptr_t at, uintptr_t function, uintptr_t rdi, uintptr_t rsi);
HODO_HIDDEN void hodo_x86_landed(void);
/* Under the control lock: ignores calls that began before. */
HODO_HIDDEN void hodo_durations_recording(void);

/* dispatch.c, in dispatch: the function's sets; none if it is not known. */
HODO_HIDDEN uint64_t hodo_dispatch_sets(uint64_t function);

/* threads.c: gets this thread's, set up; NULL: too many threads. closed: of its shadow. */
HODO_HIDDEN struct hodo_func_thread *hodo_func_thread_get(__typeof__(((struct hodo_shadow *)0)->closed) closed);
/* Makes a thread's second shadow. False: there is no memory. */
HODO_HIDDEN bool hodo_func_thread_calls(struct hodo_func_thread *t);
/* Whether another thread sleeps where it cannot be in the dispatch that it began, since a longjmp left that. */
HODO_HIDDEN bool hodo_func_thread_left(const struct hodo_func_thread *t);
/* Whether the address is on the thread's own stack. */
static inline bool hodo_func_own_stack(const struct hodo_func_thread *t, uintptr_t at)
{
	return at - t->shadow.stack_low < t->shadow.stack_high - t->shadow.stack_low;
}
HODO_HIDDEN void hodo_dispatch_count(size_t counter); /* increments the member of struct hodo_shm at this offset */
HODO_HIDDEN void hodo_func_threads_init(void);
/* ends: called at the end of each thread in which calls were seen. */
HODO_HIDDEN void hodo_func_threads_watch(void (*ends)(void *thread));
HODO_HIDDEN struct hodo_func_thread *hodo_func_thread_at(uint32_t i); /* NULL after the last; for grace periods */
HODO_HIDDEN void hodo_func_threads_after_fork(void);

/* The tracers to call; replaced as a whole, read while `inside` is odd. */
struct hodo_tracer_entry {
	const struct hodo_builtin_ops *ops; /* NULL: */
	struct hodo_tracer *tracer;
	uint64_t set;   /* its bit */
	uint32_t epoch; /* it ignores frames of an earlier epoch */
};
struct hodo_tracer_list {
	uint32_t n;
	uint32_t epoch;    /* of frames entered under this list */
	bool users;        /* some entry is one of the program's tracers */
	bool all;          /* each wants all functions: no lookup needed */
	size_t bytes;      /* of this mapping */
	struct hodo_tracer_entry entry[];
};
extern HODO_HIDDEN const struct hodo_tracer_list *hodo_tracers;
extern HODO_HIDDEN bool hodo_dispatch_fence; /* no membarrier: dispatch orders its own accesses */

/* Objects and their functions by address, for dispatch; replaced as a whole, like the list. */
struct hodo_func_lookup {
	size_t bytes;
	uint32_t n, epoch;
	struct {
		uintptr_t text, end;
		const struct hodo_function *functions;
		uint32_t nfunctions;
	} object[];
};
extern HODO_HIDDEN const struct hodo_func_lookup *hodo_func_lookup;

/* x86_64/func.S's own: a reference to the first library's would take another load */
extern HODO_HIDDEN long hodo_func_rseq_offset;

/* tracer.c; under the control lock */
HODO_HIDDEN void hodo_tracers_objects_changed(void);
HODO_HIDDEN int hodo_tracers_set_builtins(uint32_t mask, int set); /* 1 << enum hodo_builtin */
/* See <hodo/tracer.h>; without the lock. */
HODO_HIDDEN int hodo_tracers_register(struct hodo_tracer *tracer);
HODO_HIDDEN int hodo_tracers_unregister(struct hodo_tracer *tracer);

/* grace.c */
HODO_HIDDEN void hodo_grace_retire(void *memory, size_t bytes); /* under the control lock: to be unmapped later */
HODO_HIDDEN void hodo_grace_give_back(void);                    /* under the control lock: if nobody is in dispatch */
HODO_HIDDEN void hodo_grace_settle(void); /* without the lock: waits, then unmaps what was retired before */
HODO_HIDDEN bool hodo_grace_recording(void); /* waits for the end of a recording; false: a thread stays inside */

/* open.c; in dispatch. wanted: a built-in tracer wants the call, and its exit will be seen. */
extern HODO_HIDDEN struct hodo_open_thread *hodo_func_open; /* NULL: they are not wanted */
HODO_HIDDEN void hodo_open_enter(struct hodo_func_thread *t, const struct hodo_frame *frame, bool wanted);
HODO_HIDDEN void hodo_open_leave(struct hodo_func_thread *t);
HODO_HIDDEN void hodo_open_start(bool wanted); /* under the control lock: a recording has begun, or ended */

/* events.c; under the control lock */
HODO_HIDDEN void hodo_events_recording(void);

/* x86_64 */
HODO_HIDDEN void hodo_func_record_slow(long event, long pc, long at); /* called by func.S */

HODO_HIDDEN void hodo_exits_warn(void); /* exits.c; under the control lock */
HODO_HIDDEN void hodo_thread_forget(uintptr_t base); /* thread.c: an object is unloaded */

/* The recording's configuration of functions; size 0: none. Its texts are in hodo_recording.text. */
extern HODO_HIDDEN struct hodo_functions_config hodo_func_config;
static inline const char *hodo_func_config_texts(void)
{
	return (const char *)hodo_config_functions(&hodo_recording.config) + sizeof(struct hodo_functions_config);
}

/* libhodo's own events (enum below), registered when a recording asks for functions. */
enum hodo_func_event {
	HODO_FUNC_ENTRY, HODO_FUNC_EXIT, HODO_FUNC_ENTRY_SP, HODO_FUNC_EXIT_SP, HODO_FUNC_REACHED, HODO_FUNC_CALL,
	HODO_FUNC_CALLEE, HODO_FUNC_STACK, HODO_FUNC_HELD, HODO_FUNC_WRONG_THREAD, HODO_FUNC_PROFILE,
	HODO_FUNC_OPEN, HODO_FUNC_LANDED, HODO_FUNC_SWITCHED, HODO_FUNC_EVENTS
};
extern HODO_HIDDEN struct hodo_state hodo_func_states[HODO_FUNC_EVENTS];

/* Writes an event, preserving all vector registers. Only fixed fields; data must be readable up to the next
 * multiple of 8. */
HODO_HIDDEN void hodo_func_emit(enum hodo_func_event event, const void *data, size_t len);
HODO_HIDDEN void hodo_func_emit_pieces(enum hodo_func_event event, const struct hodo_piece *pieces, size_t count,
				       size_t total);

/* One of an address and a frame or stack pointer: entry, exit, reached. */
HODO_HIDDEN void hodo_func_emit_at(enum hodo_func_event event, uint64_t addr, uint64_t at);
/* --depth: the built-in tracers of single calls omit deeper ones. */
static inline bool hodo_func_too_deep(const struct hodo_frame *frame)
{
	return hodo_func_config.depth_max && frame->depth >= hodo_func_config.depth_max;
}

/* Addresses of the chain's functions, innermost first, at most max. Returns their number. */
static inline uint32_t hodo_func_chain(const struct hodo_shadow *shadow, uint64_t *out, uint32_t max)
{
	uint32_t n = 0;

	for (uint32_t i = shadow->n; i > 0 && n < max; i--)
		out[n++] = shadow->frames[i - 1].function;
	return n;
}

/* How long a call took. A call that was parked and then found to be left had ended when it was parked, or
 * before. */
static inline uint64_t hodo_func_ticks(const struct hodo_frame *frame, enum hodo_frame_end end, uint64_t now)
{
	if (end == HODO_FRAME_LEFT && frame->parked && frame->parked < now)
		now = frame->parked;
	return now > frame->entry ? now - frame->entry : 0;
}

/* func:call, for several built-in tracers. */
static inline void hodo_func_emit_call(const struct hodo_frame *frame, enum hodo_frame_end end, uint64_t ticks)
{
	struct __attribute__((packed, aligned(8))) {
		uint64_t addr;
		uint32_t frame, depth;
		uint64_t ticks;
		uint8_t left, beyond[7];
	} f = { frame->function, HODO_FRAME32(frame->at), frame->depth, ticks, end == HODO_FRAME_LEFT, { 0 } };

	hodo_func_emit(HODO_FUNC_CALL, &f, 25);
}

/* The trampolines' C side. pc: after the slot (or the function, for -finstrument-functions); at: see struct
 * hodo_frame. */
#define HODO_DISPATCH_SP 1u      /* at is the stack pointer inside the frame */
#define HODO_DISPATCH_NO_EXIT 2u /* the exit will not be seen */
#define HODO_DISPATCH_PLANNED 4u /* pc - 1 is in the function, when its two lowest bits are cleared */
#define HODO_DISPATCH_REPLACED 8u /* through a replaced return address: pc is in the caller */
HODO_HIDDEN void hodo_dispatch_enter(uintptr_t pc, uintptr_t at, unsigned flags);
HODO_HIDDEN void hodo_dispatch_exit(uintptr_t pc, uintptr_t at, unsigned flags);
HODO_HIDDEN void hodo_dispatch_thread_ends(void *unused); /* it is no longer in any call */
HODO_HIDDEN void hodo_dispatch_return(uintptr_t at); /* of a replaced return address */

/* Where slots without their own stub jump: never NULL; dispatch.c may change it at any time. */
enum hodo_hook {
	HODO_HOOK_ENTRY,      /* stack: slot's return address, function's return address */
	HODO_HOOK_EXIT,       /* the same */
	HODO_HOOK_REACHED,    /* as ENTRY, where the exit cannot be seen */
	HODO_HOOK_MCOUNT,     /* -pg: after push %rbp; mov %rsp,%rbp: the function's return address is at 8(%rbp) */
	HODO_HOOK_ENTRY_SP,   /* __cyg_profile_func_enter(function, callsite) */
	HODO_HOOK_EXIT_SP,
	HODO_HOOK_FENTRY,     /* as REACHED, then libc's __fentry__; MCOUNT likewise */
	HODO_HOOK_PLANNED_ENTRY, /* as ENTRY, for a slot followed by a number (hodo/abi_plan.h); preserves flags */
	HODO_HOOK_PLANNED_EXIT,
	HODO_HOOKS
};
extern HODO_HIDDEN void *hodo_func_hooks[HODO_HOOKS];
/* What they may be (x86_64/func.S): */
enum hodo_hooks {
	HODO_HOOKS_NONE,     /* while nobody traces */
	HODO_HOOKS_RECORD,   /* the direct writers of events */
	HODO_HOOKS_DISPATCH, /* the ways to dispatch */
	HODO_HOOKS_SHORT     /* the direct writers of calls and returns, for short objects */
};
extern HODO_HIDDEN void *const hodo_x86_hooks[HODO_HOOKS_SHORT + 1][HODO_HOOKS];

/* returns.c: true if the return address at `at` was replaced: the exit then calls hodo_dispatch_exit(). */
HODO_HIDDEN bool hodo_returns_possible(const char *trampoline, const char **why_not);
/* Where the return address that is really used is, for `at` of a function entered at pc; 0: not known. */
HODO_HIDDEN uintptr_t hodo_returns_slot(uintptr_t function, uintptr_t pc, uintptr_t at);
/* jumped: it was already replaced for a function that has jumped to this one. */
HODO_HIDDEN bool hodo_returns_replace(uintptr_t *at, uintptr_t pc, bool *jumped);
/* The original return address, which is put back. */
HODO_HIDDEN uintptr_t hodo_returns_restore(uintptr_t at);
extern HODO_HIDDEN const char hodo_x86_return[]; /* x86_64/returns.S */
