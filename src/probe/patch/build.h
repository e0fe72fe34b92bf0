/* SPDX-License-Identifier: MIT */
/*
 * build.h - makes the plan for a process (hodo/abi_plan.h): which functions of which objects to trace, their
 * slots, and the system calls that must go through libhodo as long as there are traps.
 */
#pragma once

#include <probe/code/object.h>
#include "space.h"
#include <probe/value/value.h>

/* An event at an instruction of the object. It owns names and fields. */
struct hodo_probe_event {
	uint64_t addr;
	uint64_t semaphore; /* as in struct hodo_elf_sdt; 0: none */
	char *provider, *name;
	uint32_t probe; /* the number, from 1, of the caller's text of the probe; 0: none */
	struct hodo_probe_field *fields; /* at most HODO_TRACE_FIELDS_MAX */
	uint32_t nfields;
	/*
	 * It is at all exits of the function whose entry is at addr; its last field is the call's duration.
	 */
	bool exits;
	/* It is only at exits that return, and has no such field. */
	bool results;
	const struct hodo_probe_field *tail; /* the fields at jumps to other functions; NULL: as at other exits */
	/*
	 * Out, for one at exits: how many have a window, how many of these are jumps to other functions, and
	 * how many have none.
	 */
	uint32_t left, tails, missed;
	uint64_t calls; /* out, for one at exits: the number that identifies its calls: its first state */
	uint64_t desc;  /* out, for one at exits: its descriptor's offset in the plan's file */
	uint8_t reason; /* out: why it, or some exit, has no window; else HODO_PROBE_FINE */
	uint8_t trap; /* out: why it is by a breakpoint, and not by a jump; else HODO_PROBE_FINE */
};

/* Another function replaces the one whose entry is at addr. */
struct hodo_probe_replacement {
	uint64_t addr;     /* in the file */
	uint64_t to;       /* in memory */
	uint64_t original; /* in memory: a pointer to set to where the original can still be called; 0: none */
	uint32_t number;   /* the caller's */
	uint8_t reason;    /* out: why it cannot be replaced; else HODO_PROBE_FINE */
	uint8_t trap;      /* out: why it is by a breakpoint, and not by a jump; else HODO_PROBE_FINE */
};

/* What was planned for a target. */
struct hodo_probe_piece;

struct hodo_probe_target {
	struct hodo_probe_object *object;
	uint64_t bias;
	const uint32_t *functions; /* by address: the wanted functions of the object */
	uint32_t nfunctions;
	const uint32_t *slotted; /* those whose own slots are to be used: nothing is patched for them */
	uint32_t nslotted;
	struct hodo_probe_event *events;
	uint32_t nevents;
	struct hodo_probe_replacement *replacements;
	uint32_t nreplacements;
	uint64_t start; /* the program's start, where it must ask for another plan; 0: nowhere */
	bool landings;     /* also plan the functions by which calls are left */
	bool system_calls; /* also plan those that may change signal masks, of every object that has some */
	/* In: what was planned for the same target with any bias; NULL: nothing yet. Out: also after an error; the
	 * caller frees it. */
	struct hodo_probe_piece *piece;
};

struct hodo_probe_built {
	int fd;             /* of the file, sealed */
	uint32_t functions; /* whose calls can be traced */
	uint32_t slotted;   /* whose own slots are to be used */
	uint32_t refused;   /* that have no entry by a jump */
	uint32_t exits;     /* exits of traceable functions */
	uint32_t missed;    /* exits that have no jump: their calls end unseen */
	uint32_t calls;     /* system calls */
	uint32_t finders;   /* functions through which unwinders find descriptions */
	uint32_t events;    /* events with a window */
	uint32_t without;   /* events without a window */
	uint32_t replaced;
	uint32_t landings;  /* functions by which calls are left */
	uint32_t windows;
	uint64_t bytes;     /* of slots */
	uint64_t call;      /* -EOPNOTSUPP: of the system call that cannot be replaced, in the object */
	enum hodo_probe_reason reason; /* -EOPNOTSUPP: why the system call cannot be replaced */
};

/*
 * Plans all of them. space: of the process, with its mappings; the slots are taken from it. 0: the caller closes
 * built->fd. -EOPNOTSUPP: a system call that may change a signal mask cannot be replaced; -ENOMEM, also if there is no
 * place for a slot; errors of memfd_create() and write().
 */
int hodo_probe_build(struct hodo_probe_target *targets, unsigned n, struct hodo_probe_space *space,
		     struct hodo_probe_built *built);
void hodo_probe_piece_free(struct hodo_probe_piece *p); /* may be NULL */
