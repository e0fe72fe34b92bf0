/* SPDX-License-Identifier: MIT */
/*
 * engine.h - patches unprepared code while it runs, following a plan (hodo/abi_plan.h).
 *
 *	state.c     what the others share; below all of them
 *	plan.c      takes a plan; check.c: checks everything in it that can be checked
 *	unloaded.c      frees plans whose code is no longer mapped
 *	identical_code.c      finds an earlier plan that equals a new one
 *	apply.c     writes windows, all that must change at once
 *	events.c    the events of its windows
 *	replaced.c  functions that are replaced by others
 *	read.c      reads memory that these events' pointers lead to
 *	trap.c      SIGTRAP and SIGILL: a thread that meets one of our traps continues in its slot
 *	hot_traps.c       gives up windows that code jumps into again and again
 *	frames.c    answers unwinders about slots
 *	mask.c      the program's system calls that would block or handle these signals
 *	handlers.c  the program's handlers that were there before
 *
 * A plan stays as long as its code is mapped: a thread may be in a slot at any time. docs/design/engine.md
 * says why all this is safe.
 *
 * Who beside whom: all functions here are called under the control lock, except for the readers of plans,
 * which slots and signals call. One slot reads none, and takes the lock: the one at the program's first
 * instruction (hodo_engine_start()), where no thread of the program holds it.
 *
 *                  | apply                        | a trap             | a slot, a system call
 *   take           | excluded (the lock)          | beside: a plan is published whole
 *   give back      | excluded (the lock)          | beside: it is taken out of sight, and goes when nobody reads plans
 *   apply          | excluded (the lock)          | beside: whatever byte of a window is written, what a thread meets
 *                  |                              | is an instruction of before or of after, or a trap in the table
 *                  |                              | states as bytes; to give a window up it takes the lock, or leaves
 *                  |                              | that to the next trap
 *   a trap         |                              | beside: counts are atomic           | beside
 */
#pragma once

#include <hodo/abi_plan.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <user/libc/sys.h>

#define HODO_ENGINE_PLANS_MAX 256u

/* Of a window. */
#define HODO_ENGINE_WANTED  1u /* for a function */
#define HODO_ENGINE_WANTED_EVENT 16u /* wanted for an event */
#define HODO_ENGINE_ON      2u
#define HODO_ENGINE_REFUSED 4u /* memory is not as planned, or no longer mapped */
#define HODO_ENGINE_CHANGES 8u /* it is being written */
#define HODO_ENGINE_HOT     32u /* given up */
#define HODO_ENGINE_GONE    64u /* it is no longer mapped; also REFUSED */
#define HODO_ENGINE_TAKES   128u /* it changes, and replaces another plan's window that was on */

static inline bool hodo_engine_wanted(uint8_t state)
{
	return state & (HODO_ENGINE_WANTED | HODO_ENGINE_WANTED_EVENT) && !(state & HODO_ENGINE_HOT);
}

/* How often a thread came to a complete window after its first byte. */
struct hodo_engine_heat {
	uint32_t traps;
	uint32_t since_ms;
};

struct hodo_engine_plan {
	const uint8_t *file;
	const struct hodo_plan *head; /* hodo_engine_nothing: the place is free */
	const struct hodo_plan_pages *pages;
	const struct hodo_plan_window *windows;
	const struct hodo_plan_trap *traps;
	const struct hodo_plan_fix *fixes;
	const struct hodo_plan_function *functions;
	const struct hodo_plan_event *events;
	const struct hodo_plan_frame *frames;
	const struct hodo_plan_replacement *replacements;
	uint8_t *state; /* of each window, HODO_ENGINE_* */
	struct hodo_engine_heat *heat; /* of each window */
	uint32_t *always; /* those that are HODO_PLAN_ALWAYS */
	uint32_t nalways;
	uint32_t age;  /* the younger, the greater: where several have a place, the youngest's slots are in use */
	bool present;  /* it belongs to the present or beginning recording */
	bool gone;     /* all its windows are; to be freed */
	bool on;       /* apply.c: one of its windows was on at the last check */
};

/* ------------------------------------------------------------------ for users of probes */

/* Where the slots of plans taken from now on lead. */
HODO_HIDDEN void hodo_engine_import(enum hodo_plan_import import, uintptr_t address);

/*
 * Takes a plan: maps its slots, and switches on what must always be on. The file is sealed: F_SEAL_WRITE and
 * F_SEAL_SHRINK. more: the recording's other plans stay present, too. 0; -EINPROGRESS: taken, but threads may
 * block the signals, so that somebody who stops them must switch on what is always on: then
 * hodo_engine_guard(); -EPROTO: not a valid plan; -EEXIST: the addresses of its slots are in use; -EFAULT: a
 * system call is not where it should be; -ENOSYS: the kernel has no barrier for code; -ENOSPC: there are
 * HODO_ENGINE_PLANS_MAX; -ENOMEM, or an error of mmap() or /proc/self/mem. After an error nothing is patched.
 */
HODO_HIDDEN int hodo_engine_take(int fd, bool more);
/* The next recording has none of the plans taken so far. */
HODO_HIDDEN void hodo_engine_absent(void);
/* The always-on windows of the last plan have been set, and no thread blocks the signals. 0, or -EBUSY: they
 * were not. */
HODO_HIDDEN int hodo_engine_guard(void);

/* Of plan 0, 1, …, none of a plan that is not present; NULL after the last. */
HODO_HIDDEN const struct hodo_plan_function *hodo_engine_functions(unsigned plan, uint32_t *n);
/* Whether the last plan taken has functions there. */
HODO_HIDDEN bool hodo_engine_is_about(uintptr_t start, uintptr_t end);
/* NULL: it is refused. */
HODO_HIDDEN const struct hodo_plan_window *hodo_engine_window(unsigned plan, uint32_t i);

/* By its address: whether the next apply switches it on for HODO_ENGINE_WANTED or HODO_ENGINE_WANTED_EVENT. */
HODO_HIDDEN void hodo_engine_want(uintptr_t window, uint8_t what, bool on);
/* hodo_engine_want() for all windows at which a thread lands, of present plans: call it after functions. off:
 * functions no longer want them either. */
HODO_HIDDEN void hodo_engine_want_landings(bool on);
/* Whether the byte is in a window that is on or changing: nobody else may write it. */
HODO_HIDDEN bool hodo_engine_has(uintptr_t addr);
/* Switches the windows whose wanted state differs. 0, or an error of patching: some are unchanged then. */
HODO_HIDDEN int hodo_engine_apply(void);

/* events.c: a recording has begun or ended, and with it the events of all plans. */
HODO_HIDDEN void hodo_engine_recording(void);
/* events.c: adds the states of all plans' events when states are recounted. */
HODO_HIDDEN void hodo_engine_states(void);

/* The code is no longer mapped: its windows are neither written nor wanted. */
HODO_HIDDEN void hodo_engine_forget(uintptr_t start, uintptr_t end);
/* hot_traps.c: called when the owner of the window at this address is given up, in a handler, under the control
 * lock. */
extern HODO_HIDDEN void (*hodo_engine_gives_up)(uintptr_t at);
/* unloaded.c: frees plans of only such code, unless somebody is reading plans: then another time. */
HODO_HIDDEN void hodo_engine_give_back(void);
/* In a fork child; the fork may have happened while windows were written. */
HODO_HIDDEN void hodo_engine_forked(void);

/* Traps served so far, and those that were not ours. */
struct hodo_engine_counts {
	uint64_t served, others;
};
extern HODO_HIDDEN struct hodo_engine_counts hodo_engine_counts;

/* ------------------------------------------------------------------------- inside */

/* events.c: registers the events of a plan that is being taken. */
HODO_HIDDEN void hodo_engine_events(const struct hodo_engine_plan *p);

/* replaced.c: whether the next apply switches the plan's windows on. */
HODO_HIDDEN void hodo_engine_replace(const struct hodo_engine_plan *p, bool on);

/* identical_code.c: an earlier plan that does what this one would; NULL: none. */
HODO_HIDDEN struct hodo_engine_plan *hodo_engine_same(const struct hodo_engine_plan *fresh);
/* events.c: for a plan that is being freed, with this head: its events' states go away. */
HODO_HIDDEN void hodo_engine_events_gone(const struct hodo_engine_plan *p, const struct hodo_plan *head);
/* Of the memory at `always`. */
HODO_HIDDEN size_t hodo_engine_state_bytes(const struct hodo_plan *head);

/* state.c. Plans are published whole: by `head`, last. */
extern HODO_HIDDEN const struct hodo_plan hodo_engine_nothing;
extern HODO_HIDDEN struct hodo_engine_plan hodo_engine_plans[HODO_ENGINE_PLANS_MAX];
extern HODO_HIDDEN uint32_t hodo_engine_nplans; /* how many places were ever in use */
/* Threads that read plans without the lock: from a trap, or a system call. */
extern HODO_HIDDEN uint32_t hodo_engine_readers;
static inline void hodo_engine_look(void)
{
	/* Visible before `head` is read: a thread that frees a plan reads this after it has unpublished the
	 * plan. */
	__atomic_fetch_add(&hodo_engine_readers, 1, __ATOMIC_SEQ_CST);
}
static inline void hodo_engine_look_end(void)
{
	__atomic_fetch_sub(&hodo_engine_readers, 1, __ATOMIC_RELEASE);
}
static inline const struct hodo_plan *hodo_engine_head(const struct hodo_engine_plan *p)
{
	return __atomic_load_n(&p->head, __ATOMIC_SEQ_CST);
}
/* check.c: finds the tables of a file of that size. False: not a valid plan. */
HODO_HIDDEN bool hodo_engine_check(struct hodo_engine_plan *p, uint64_t bytes);
extern HODO_HIDDEN uint32_t hodo_engine_pid; /* of the process whose handlers are known */
/* The plan's first trap at or after the address. */
HODO_HIDDEN uint32_t hodo_engine_trap_index(const struct hodo_engine_plan *p, uint64_t from);
/* The window that contains the address; n: none. */
HODO_HIDDEN uint32_t hodo_engine_window_index(const struct hodo_engine_plan *p, uint64_t addr);

/* trap.c: takes over the signals, and gives them back. 0, or an error of rt_sigaction(). */
HODO_HIDDEN int hodo_engine_arm(void);
HODO_HIDDEN void hodo_engine_disarm(void);
HODO_HIDDEN bool hodo_engine_alone(void); /* there is one thread */
/* hot_traps.c: a thread has come to the window after its first byte. Between any two instructions of the program. */
HODO_HIDDEN void hodo_engine_heated(struct hodo_engine_plan *p, uint32_t window);
/* handlers.c: removes our signals from the masks of the program's handlers. Its system calls already go
 * through us. */
HODO_HIDDEN void hodo_engine_clean_handlers(void);
/* No thread blocks them, nor will. Until then, no window is written. */
extern HODO_HIDDEN bool hodo_engine_guarded;
HODO_HIDDEN void hodo_engine_set_guarded(bool guarded);
/* apply.c: whether its bytes are those of a window that is on, or off. */
HODO_HIDDEN bool hodo_engine_is(const struct hodo_plan_window *w, bool on);
struct hodo_engine_action { /* the kernel's layout */
	void (*handler)(int, siginfo_t *, void *);
	uint64_t flags;
	void (*restorer)(void);
	uint64_t mask;
};
/* What the program wants of SIGTRAP or SIGILL. */
HODO_HIDDEN struct hodo_engine_action *hodo_engine_action(int signal);
#define HODO_ENGINE_SET_BYTES 8 /* of the kernel's signal sets */
#define HODO_ENGINE_SIGNALS (1ull << (SIGTRAP - 1) | 1ull << (SIGILL - 1))

/* mask.c: the 8 bytes from there on. */
HODO_HIDDEN bool hodo_engine_readable(const void *p);

/* mask.c, from x86_64/engine.S. Registers as at the system call; the result is its. */
struct hodo_engine_registers {
	uint64_t back; /* in the slot, after its system call */
	uint64_t r9, r8, r10, rdx, rsi, rdi, rax, flags;
	uint64_t original; /* in the program, after its system call: an output, for unwinders */
};
#define HODO_ENGINE_SYSCALL_BYTES 15u /* of the slot of a system call, up to `back` */
HODO_HIDDEN long hodo_engine_syscall(struct hodo_engine_registers *r);

/* read.c, from x86_64/engine.S: as HODO_IMPORT_READ. Returns what rax becomes; -1: a text at 0. */
HODO_HIDDEN long hodo_engine_read(uintptr_t from, uint8_t *to, uint32_t what);

/* frames.c, replaces _dl_find_object() (dlfcn.h), which is `real`; glibc's struct dl_find_object. */
struct hodo_engine_found {
	uint64_t flags;
	uint64_t start, end; /* of the object */
	void *object;        /* struct link_map; for slots, that of their code */
	uint64_t header;     /* its .eh_frame_hdr */
	uint64_t reserved[7];
};
typedef int (*hodo_engine_find_fn)(uintptr_t address, struct hodo_engine_found *found);
HODO_HIDDEN int hodo_engine_find(uintptr_t address, struct hodo_engine_found *found, hodo_engine_find_fn real);

/* x86_64/engine.S */
HODO_HIDDEN void hodo_x86_engine_find(void);
HODO_HIDDEN void hodo_x86_engine_restore(void);
HODO_HIDDEN void hodo_x86_engine_syscall(void);
HODO_HIDDEN void hodo_x86_engine_read(void);
HODO_HIDDEN void hodo_x86_engine_start(void);

/* replaced.c, called from there: another plan, since libraries can be loaded now. */
HODO_HIDDEN void hodo_engine_start(void);
