/* SPDX-License-Identifier: MIT */
/*
 * build.h - the plan that a process is handed (hodo/abi_plan.h): which functions of which objects are to be traced,
 * their slots, and the system calls that must go through libhodo as long as there are traps.
 */
#ifndef HODO_PROBE_BUILD_H
#define HODO_PROBE_BUILD_H

#include "object.h"
#include "space.h"
#include "value.h"

/* An event at an instruction of the object. Names and fields are its own. */
struct hodo_probe_event {
	uint64_t addr;
	uint64_t semaphore; /* as struct hodo_elf_sdt has it; 0: none */
	char *provider, *name;
	uint32_t probe; /* which of the caller's texts of probes it is of, from 1; 0: none */
	struct hodo_probe_field *fields; /* at most HODO_TRACE_FIELDS_MAX */
	uint32_t nfields;
	/* It is at all exits of the function whose entry is at addr; its last field is how long the call took. */
	bool exits;
	/* It is at those that return alone, and has no such field. */
	bool results;
	const struct hodo_probe_field *tail; /* in place of the fields, at jumps to other functions; NULL: the same */
	/* Out, of one at exits: those that have a window, of these jumps to other functions, and those without. */
	uint32_t left, tails, missed;
	uint64_t calls; /* … and the number of its calls: the first of its states */
	uint64_t desc;  /* … where its descriptor is in the plan's file */
	uint8_t reason; /* out: why it, or some exit, has no window; else HODO_PROBE_FINE */
	uint8_t trap; /* out: why it is by a breakpoint, and not by a jump; else HODO_PROBE_FINE */
};

/* Another function is called in the place of the one whose entry is at addr. */
struct hodo_probe_replacement {
	uint64_t addr;     /* in the file */
	uint64_t to;       /* in memory */
	uint64_t original; /* likewise, of a pointer: set to where the first function can still be called; 0: none */
	uint32_t number;   /* the caller's */
	uint8_t reason;    /* out: why it cannot be replaced; else HODO_PROBE_FINE */
	uint8_t trap;      /* out: why it is by a breakpoint, and not by a jump; else HODO_PROBE_FINE */
};

struct hodo_probe_target {
	struct hodo_probe_object *object; /* its windows are kept in it */
	uint64_t bias;
	const uint32_t *functions; /* by address: the object's functions that are wanted */
	uint32_t nfunctions;
	struct hodo_probe_event *events;
	uint32_t nevents;
	struct hodo_probe_replacement *replacements;
	uint32_t nreplacements;
	uint64_t start; /* where the program begins, at which it is to ask for another plan; 0: nowhere */
	bool landings;     /* the functions by which calls are left are planned as well */
	bool system_calls; /* those that may change signal masks are planned as well: of every object that has some */
};

struct hodo_probe_built {
	int fd;             /* of the file, sealed */
	uint32_t functions; /* whose calls can be traced */
	uint32_t refused;   /* that have no entry by a jump */
	uint32_t exits;     /* of those that can be traced; … */
	uint32_t missed;    /* … exits that have no jump: their calls end unseen */
	uint32_t calls;     /* system calls */
	uint32_t finders;   /* functions by which unwinders find descriptions */
	uint32_t events;    /* that can happen; … */
	uint32_t without;   /* … that have no window */
	uint32_t replaced;
	uint32_t landings;  /* functions by which calls are left */
	uint32_t windows;
	uint64_t bytes;     /* of slots */
	uint64_t call;      /* -EOPNOTSUPP: of the system call that cannot be replaced, in the object; … */
	enum hodo_probe_reason reason; /* … and why */
};

/*
 * Plans all of them. space: of the process, with what is mapped there; the slots are taken out of it, and its pages
 * must be this plan's alone. 0: the caller closes built->fd. -EOPNOTSUPP: a system call that may change a signal mask
 * cannot be replaced; -ENOMEM: also where there is no place for a slot; what memfd_create() and write() say.
 */
int hodo_probe_build(const struct hodo_probe_target *targets, unsigned n, struct hodo_probe_space *space,
		     struct hodo_probe_built *built);

#endif
