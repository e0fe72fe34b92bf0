/* SPDX-License-Identifier: MIT */
/*
 * location.h - where variables are at one place in the code: the scopes that hold it, and what DWARF's location
 * expressions say there, as fetch programs.
 *
 *	location.c   expressions
 *	scope.c      scopes, and the variables in them
 *	abi.c        parameters and results without expressions, by the System V ABI
 */
#ifndef HODO_PROBE_LOCATION_H
#define HODO_PROBE_LOCATION_H

#include "fetch.h"
#include "image.h"
#include "type.h"

/* Why there is no value. */
enum hodo_missing {
	HODO_THERE,
	HODO_REMOVED,    /* the compiler left it out, here */
	HODO_ENTRY_ONLY, /* it is known what it was at the entry, and not what it is */
	HODO_NOT_YET,    /* at the entry, local variables have no value yet */
	HODO_THREAD,     /* of each thread (TLS) */
	HODO_COMPUTED,   /* by an expression that is not followed */
	HODO_SCATTERED,  /* it stands in several places */
	HODO_TOO_WIDE,   /* long double and the like */
	HODO_NO_ABI,     /* this function does not take it as others do */
	HODO_UNKNOWN,    /* there is no such value here */
	HODO_NOWHERE,    /* at an address that the file does not have */
	HODO_EXIT_ONLY,  /* known at the exit alone */
	HODO_PARTS,      /* it has parts, of which one must be named */
	HODO_ELSEWHERE,  /* another function returns it, which is jumped to */
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
	uint64_t slot_end; /* of the slot at the entry, from which on clang's lists of places are; 0: there is none */
	bool entry;  /* it is the entry of its function */
	bool frame;  /* rbp is the frame pointer here */
	bool by_cfa; /* the debug information counts from the frame's end, which is the same everywhere */
	bool gnu;    /* compiled by GCC */
	bool clone;  /* its parameters may not be those of the source */
	Dwarf_Die unit;
	Dwarf_Die chain[HODO_SCOPES_MAX]; /* the function, and what of it holds the place, innermost last */
	unsigned n;  /* 0: there is no debug information for it */
	bool split;  /* that is in another file (-gsplit-dwarf) */
};

/* entry: the place is the entry of a function, of which a symbol of that name is. */
void hodo_scope_open(struct hodo_scope *s, const struct hodo_probe_image *i, uint64_t pc, bool entry,
		     const char *symbol);
/* Goes to the begin of a copy of a function that was inlined there, by its entry in the debug information. */
void hodo_scope_enter(struct hodo_scope *s, Dwarf_Off copy);

/* What an attribute of the kind DW_AT_location says. */
void hodo_location(const struct hodo_scope *s, Dwarf_Attribute *location, struct hodo_where *w);

/* Variables and parameters, innermost first. Other than 0 ends it, and is returned. depth: 0 of parameters and
 * variables of the function, more in blocks, -1 of the source file's. */
typedef int (*hodo_variable_fn)(void *arg, Dwarf_Die *die, int depth);
int hodo_scope_variables(const struct hodo_scope *s, bool files, hodo_variable_fn each, void *arg);
/* By its name. False: there is none. */
bool hodo_scope_find(const struct hodo_scope *s, const char *name, Dwarf_Die *die);
/* The n-th parameter of the function, from 1. */
bool hodo_scope_parameter(const struct hodo_scope *s, unsigned n, Dwarf_Die *die);
/* Where it is. */
void hodo_scope_where(const struct hodo_scope *s, Dwarf_Die *variable, struct hodo_where *w);

/* The parameter at the function's entry; function: the entry that has all its parameters as children. */
void hodo_abi_parameter(Dwarf_Die *function, Dwarf_Die *parameter, struct hodo_where *w);
/* The result, of that type, at the function's exits. */
void hodo_abi_result(Dwarf_Die *function, const struct hodo_ctype *type, struct hodo_where *w);
#define HODO_ABI_INTEGERS 6u
/* The n-th register of integers, from 1. False: there is none. */
bool hodo_abi_register(unsigned n, struct hodo_fetch *f);

#endif
