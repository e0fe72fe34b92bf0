/* SPDX-License-Identifier: MIT */
/* slots.h - the loaded objects' functions and slots: found, chosen by names, planned, and flipped. */
#pragma once

#include <core/search.h>
#include <user/objects/extension.h>
#include <user/objects/objects.h>

enum hodo_slot_at { HODO_AT_ENTRY = 0, HODO_AT_EXIT = 1 };

/* A kind of slot: how its code looks, and how to flip it. */
enum hodo_slot_kind {
	HODO_SLOT_CALL = 0,   /* E8 rel32 <-> A9: GCC's -mfentry -minstrument-return=call, -finstrument-functions */
	HODO_SLOT_XRAY = 1,   /* XRay sled: prepared once, then one byte */
	HODO_SLOT_PATCHABLE = 2, /* -fpatchable-function-entry: entry only */
	HODO_SLOT_MCOUNT = 3, /* -pg, with or without -mfentry: entry only */
	HODO_SLOT_UNUSED = 4,  /* a call that is made a no-op for good */
	HODO_SLOT_PLANNED = 5, /* a window of the engine: on and off are its states */
	HODO_SLOT_PLANNED_PART = 6 /* as PLANNED, an exit in code moved out of an unknown function */
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

extern HODO_HIDDEN struct hodo_func_object hodo_func_objects[HODO_FUNC_OBJECTS_MAX]; /* under the control lock */
extern HODO_HIDDEN uint32_t hodo_func_nobjects;

/* scan.c: some slots stay calls even if their function is not wanted. */
extern HODO_HIDDEN bool hodo_func_unfiltered;
extern HODO_HIDDEN bool hodo_func_profiled; /* entry_only.c: since gprof wants them, too */

/* code.c */
HODO_HIDDEN bool hodo_xray_ready(uintptr_t slot); /* whether its sled is still as prepared */
/* First address of the function with this call in its entry slot. */
HODO_HIDDEN uintptr_t hodo_slot_function(uintptr_t call);

/* slots.c; all under the control lock. */
HODO_HIDDEN void hodo_slots_scan_begin(void);
HODO_HIDDEN int64_t hodo_slots_object(const struct dl_phdr_info *info, const struct hodo_note_functions *note,
				      bool is_short);
HODO_HIDDEN void hodo_slots_scan_end(void);
HODO_HIDDEN void hodo_slots_select(void);
/* Makes every slot a call or a no-op, by the active sets. 0 or negative errno. */
HODO_HIDDEN int hodo_slots_patch(uint64_t active_sets);

/* select.c: turns texts of hodo_tracer.functions into sets: a bit for each distinct text. */
HODO_HIDDEN int hodo_select_get(const char *functions); /* the bit, with a reference; or -EINVAL, -ENOSPC */
HODO_HIDDEN int hodo_select_patterns(const char *texts, uint32_t n, uint32_t len); /* NUL-separated; as get */
/* hodo_select_patterns(), but functions of a plan are in the set whatever their names. */
HODO_HIDDEN int hodo_select_recorded(const char *texts, uint32_t n, uint32_t len);
HODO_HIDDEN uint64_t hodo_select_planned(void); /* the sets that have all of a plan */
HODO_HIDDEN void hodo_select_put(int bit);
HODO_HIDDEN uint64_t hodo_select_active(void);
/* Computes `sets` of an object's functions for all active sets; called for new objects and new sets. */
HODO_HIDDEN void hodo_select_object(struct hodo_func_object *object, const struct dl_phdr_info *info);

HODO_HIDDEN void hodo_exits_warn(void); /* exits.c; under the control lock */
HODO_HIDDEN void hodo_thread_forget(uintptr_t base); /* thread.c: an object is unloaded */

/* returns.c: true if the return address at `at` was replaced: the exit then calls hodo_dispatch_exit(). */
HODO_HIDDEN bool hodo_returns_possible(const char *trampoline, const char **why_not);
/* Where the return address that is really used is, for `at` of a function entered at pc; 0: not known. */
HODO_HIDDEN uintptr_t hodo_returns_slot(uintptr_t function, uintptr_t pc, uintptr_t at);
/* jumped: it was already replaced for a function that has jumped to this one. */
HODO_HIDDEN bool hodo_returns_replace(uintptr_t *at, uintptr_t pc, bool *jumped);
/* The original return address, which is put back. */
HODO_HIDDEN uintptr_t hodo_returns_restore(uintptr_t at);
extern HODO_HIDDEN const char hodo_x86_return[]; /* x86_64/returns.S */
