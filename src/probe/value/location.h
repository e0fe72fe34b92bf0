/* SPDX-License-Identifier: MIT */
/*
 * location.h - where variables are at one place in the code: its scopes, and DWARF's location expressions
 * there, as fetch programs.
 *
 *	location.c   expressions
 *	scope.c      scopes, and the variables in them
 *	abi.c        parameters and results without expressions, by the System V ABI
 */
#pragma once

#include "fetch.h"
#include "image.h"
#include "type.h"

/* Why there is no value. */
enum hodo_missing {
	HODO_THERE,
	HODO_REMOVED,    /* the compiler removed it here */
	HODO_ENTRY_ONLY, /* only its value at the entry is known */
	HODO_NOT_YET,    /* at the entry, local variables have no value yet */
	HODO_THREAD,     /* thread-local (TLS) */
	HODO_COMPUTED,   /* by an expression that is not supported */
	HODO_SCATTERED,  /* it is in several places */
	HODO_TOO_WIDE,   /* long double and the like */
	HODO_NO_ABI,     /* this function does not follow the ABI */
	HODO_UNKNOWN,    /* there is no such value here */
	HODO_NOWHERE,    /* at an address that the file does not have */
	HODO_EXIT_ONLY,  /* known only at the exit */
	HODO_PARTS,      /* it has members, one of which must be named */
	HODO_ELSEWHERE,  /* another function, which is jumped to, returns it */
	HODO_MISSINGS
};
const char *hodo_missing_key(enum hodo_missing m); /* for programs */
const char *hodo_missing_text(enum hodo_missing m);

#define HODO_WHERE_PIECES 4u

/* Where a variable is: in memory at the address that the fetch program gives, or as the value that it gives. */
struct hodo_where {
	uint8_t missing; /* enum hodo_missing */
	uint8_t n;
	struct {
		uint64_t at, bytes; /* of the variable */
		uint8_t missing;    /* of this piece */
		bool memory;
		struct hodo_fetch fetch;
	} piece[HODO_WHERE_PIECES];
};

void hodo_where_missing(struct hodo_where *w, enum hodo_missing why);
/* One piece, all of it. */
void hodo_where_is(struct hodo_where *w, const struct hodo_fetch *f, bool memory);

#define HODO_SCOPES_MAX 32u

/* A place in the code. */
struct hodo_scope {
	const struct hodo_probe_image *image;
	uint64_t pc;
	uint64_t slot_end; /* of the slot at the entry, from where clang's location lists begin; 0: none */
	bool entry;  /* it is the entry of its function */
	bool frame;  /* rbp is the frame pointer here */
	bool by_cfa; /* the debug information is relative to the frame's end, which is the same everywhere */
	bool gnu;    /* compiled by GCC */
	bool clone;  /* its parameters may differ from the source's */
	Dwarf_Die unit;
	Dwarf_Die chain[HODO_SCOPES_MAX]; /* the function, and its scopes that contain the place, innermost last */
	unsigned n;  /* 0: there is no debug information for it */
	bool split;  /* that is in another file (-gsplit-dwarf) */
};

/* Whether the unwinder takes the frame from rbp there. cfi: NULL if there is none: false. */
bool hodo_frame_pointer_at(Dwarf_CFI *cfi, uint64_t pc);

/* entry: the place is the entry of a function, which has the symbol of that name. */
void hodo_scope_open(struct hodo_scope *s, const struct hodo_probe_image *i, uint64_t pc, bool entry,
		     const char *symbol);
/* Enters the start of a function's copy inlined there, given its debug information. */
void hodo_scope_enter(struct hodo_scope *s, Dwarf_Off copy);

/* Evaluates an attribute like DW_AT_location. */
void hodo_location(const struct hodo_scope *s, Dwarf_Attribute *location, struct hodo_where *w);

/* Variables and parameters, innermost first. A result other than 0 ends the walk, and is returned. depth: 0
 * for parameters and variables of the function, more in blocks, -1 for the source file's. */
typedef int (*hodo_variable_fn)(void *arg, Dwarf_Die *die, int depth);
int hodo_scope_variables(const struct hodo_scope *s, bool files, hodo_variable_fn each, void *arg);
/* By its name. False: there is none. */
bool hodo_scope_find(const struct hodo_scope *s, const char *name, Dwarf_Die *die);
/* The n-th parameter of the function, from 1. */
bool hodo_scope_parameter(const struct hodo_scope *s, unsigned n, Dwarf_Die *die);
/* Where it is. */
void hodo_scope_where(const struct hodo_scope *s, Dwarf_Die *variable, struct hodo_where *w);

/* The parameter at the function's entry; function: the debug entry with all its parameters as children. */
void hodo_abi_parameter(Dwarf_Die *function, Dwarf_Die *parameter, struct hodo_where *w);
/* The result, of that type, at the function's exits. */
void hodo_abi_result(Dwarf_Die *function, const struct hodo_ctype *type, struct hodo_where *w);
#define HODO_ABI_INTEGERS 6u
/* The n-th register of integers, from 1. False: there is none. */
bool hodo_abi_register(unsigned n, struct hodo_fetch *f);
