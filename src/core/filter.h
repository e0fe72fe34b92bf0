/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * filter.h - the filter machine: decides in the traced process whether an
 * event is recorded.
 *
 * The recorder compiles an expression (src/core/filter_parse.h) and sends the
 * program over the socket; the process verifies it once, binds it to each event
 * (which names are which fields), and runs it when the event happens. Freestanding:
 * no allocation, no library calls but memcpy and memcmp, constant stack.
 *
 * Program, in the machine's byte order:
 *
 *   'H' 'F' version names            4 bytes
 *   names times: length, bytes       1 + length bytes each: fields and $variables, not NUL-terminated
 *   instructions to the end          postfix; leave exactly one value
 *
 * Values are absent, a 64-bit integer (signed or unsigned), a double, or a
 * text. docs/design/filter.md says what each operation gives.
 */
#pragma once

#include <hodo/abi.h>

#ifndef __KERNEL__
#include <stdbool.h>
#endif

/* 0 where no floating point may be used (the kernel): constants are refused, fields absent. */
#ifndef HODO_FILTER_FLOAT
#ifdef __KERNEL__
#define HODO_FILTER_FLOAT 0
#else
#define HODO_FILTER_FLOAT 1
#endif
#endif

#define HODO_FILTER_VERSION 2
#define HODO_FILTER_HEADER 4u     /* bytes before the first name */
#define HODO_FILTER_NAMES_MAX 32u /* distinct field names in one program */
#define HODO_FILTER_STACK_MAX 32u /* values */
#define HODO_FILTER_LABELS_MAX 32u /* places in one program where a label may stand */
#define HODO_FILTER_TESTS_MAX 24u /* steps of a bound program */

enum hodo_filter_op {
	/* Constants and fields: push one value. */
	HODO_FILTER_I8 = 1,    /* int8_t */
	HODO_FILTER_I64 = 2,   /* int64_t */
	HODO_FILTER_U64 = 3,   /* uint64_t */
	HODO_FILTER_F64 = 4,   /* double */
	HODO_FILTER_TEXT = 5,  /* uint16_t length, bytes */
	HODO_FILTER_FIELD = 6, /* uint8_t name */
	HODO_FILTER_HAS = 7,   /* uint8_t name; 1 if the event has the field and it is not NULL, else 0 */
	/*
	 * Compared with the field `of`: a name that may be one of its labels, unless it is a field itself; a
	 * text that may be one, if `of` is an integer. slot numbers the program's labels.
	 */
	HODO_FILTER_LABEL = 8,      /* uint8_t slot, of, name */
	HODO_FILTER_LABEL_TEXT = 9, /* uint8_t slot, of; uint16_t length, bytes */
	HODO_FILTER_LEN = 10,       /* uint8_t name; bytes of a text or of bytes, elements of an array */

	/* Replace the top. */
	HODO_FILTER_NOT = 16, /* ! */
	HODO_FILTER_INV = 17, /* ~ */
	HODO_FILTER_NEG = 18, /* - */
	HODO_FILTER_ELEMENT = 19, /* uint8_t name: the element with that index of a text, bytes or an array */

	/* Replace the two topmost, the right operand on top. */
	HODO_FILTER_MUL = 32,
	HODO_FILTER_DIV = 33,
	HODO_FILTER_MOD = 34,
	HODO_FILTER_ADD = 35,
	HODO_FILTER_SUB = 36,
	HODO_FILTER_SHL = 37,
	HODO_FILTER_SHR = 38,
	HODO_FILTER_AND = 39, /* & */
	HODO_FILTER_XOR = 40,
	HODO_FILTER_OR = 41,
	HODO_FILTER_LT = 48,
	HODO_FILTER_LE = 49,
	HODO_FILTER_GT = 50,
	HODO_FILTER_GE = 51,
	HODO_FILTER_EQ = 52,
	HODO_FILTER_NE = 53,
	HODO_FILTER_MATCH = 54,  /* =~ */
	HODO_FILTER_UNLIKE = 55, /* !~ */
	HODO_FILTER_LAND = 56,   /* && */
	HODO_FILTER_LOR = 57,    /* || */

	HODO_FILTER_SELECT = 64, /* replace condition, b, c by b or c: ?: */

	/*
	 * uint16_t distance: if the top alone decides && (||), make it 0 (1) and skip that many bytes; else
	 * continue. What is skipped must not change the depth of the stack.
	 */
	HODO_FILTER_LAND_SKIP = 80,
	HODO_FILTER_LOR_SKIP = 81,
};

/* What an expression may use besides the event's fields, named with a $. */
enum hodo_filter_var {
	HODO_FILTER_TID = 0,
	HODO_FILTER_PID = 1,
	HODO_FILTER_CPU = 2,
	HODO_FILTER_COMM = 3,     /* a text */
	HODO_FILTER_DURATION = 4, /* ns */
	HODO_FILTER_OFF_CPU = 5,  /* ns; known only when a recording is read */
	HODO_FILTER_VARS = 6
};
extern const char *const hodo_filter_var_names[HODO_FILTER_VARS]; /* "$tid" … */

/* Supplies them: get is called when one is needed. false: it does not apply here, and is absent. */
struct hodo_filter_vars {
	bool (*get)(struct hodo_filter_vars *vars, enum hodo_filter_var var, int64_t *number);
	char comm[16]; /* set by get for COMM, whose length is *number */
};

/* Finds the value of a label of the event's field; false: the field has no such label. */
struct hodo_filter_labels {
	bool (*find)(const struct hodo_filter_labels *labels, unsigned int field, const char *name, size_t len,
		     int64_t *value);
};

/*
 * A program bound to one event. Refers to the program, which must neither move nor change. Opaque except for
 * its size: hodo_filter_size() bytes are in use, and may be copied elsewhere.
 */
struct hodo_filter_field {
	uint8_t type;   /* enum hodo_type, HODO_TYPE_NONE: the event has no such field; or HODO_FILTER_TYPE_VAR */
	uint8_t piece;  /* the run of fixed bytes that holds it, or the text itself; the variable */
	uint8_t offset; /* of a scalar: its offset in the run */
	uint8_t last;   /* of a scalar: the offset of its last byte */
};
/*
 * A step: one comparison, and which step is next. Most programs become a few of them; the rest becomes a step
 * of kind HODO_TEST_CODE, which runs instructions.
 */
struct hodo_filter_test {
	uint8_t kind; /* enum hodo_test_kind, in filter_impl.h */
	uint8_t negate;
	uint8_t yes, no; /* next step, or HODO_TEST_ACCEPT, HODO_TEST_REJECT */
	struct hodo_filter_field field;
	union {
		struct {
			uint64_t mask, first, span; /* met: (value & mask) - first <= span */
		};
		struct {
			const uint8_t *bytes; /* text, or instructions */
			uint64_t len;
		};
	};
};
struct hodo_filter {
	const uint8_t *code; /* first instruction */
	uint16_t len;        /* bytes of instructions */
	uint8_t flags;
	uint8_t first;       /* step */
	uint8_t tests;
	uint8_t reserved[3];
	uint32_t label_set;  /* bit i: label[i] holds a value */
	struct hodo_filter_field fields[HODO_FILTER_NAMES_MAX];
	int64_t label[HODO_FILTER_LABELS_MAX];
	struct hodo_filter_test test[HODO_FILTER_TESTS_MAX];
};

/*
 * Whether the len bytes at code are a program that can run: complete, known instructions, every operand and
 * skip inside it, never more than HODO_FILTER_STACK_MAX values on the stack and exactly one at the end. The
 * bytes may come from anywhere. Returns 0 or -EINVAL. Signal safe.
 */
int hodo_filter_verify(const uint8_t *code, size_t len);

/*
 * Prepare *out to run the program on the events of one kind, whose nfields fields have these types (enum hodo_type) and
 * NUL-terminated names. labels may be NULL. Verifies the program again. A name that the event lacks is always
 * absent; of two equal field names, the first counts. Returns 0, or -EINVAL if the program is not valid,
 * nfields is over HODO_FIELDS_MAX, or a type is unknown. Signal safe.
 */
int hodo_filter_bind(struct hodo_filter *out, const uint8_t *code, size_t len, unsigned int nfields,
		     const uint8_t *types, const char *const *names, const struct hodo_filter_labels *labels);
size_t hodo_filter_size(const struct hodo_filter *f);

extern const struct hodo_filter hodo_filter_none; /* takes no event */

/* Whether it accepts, or refuses, all events of the kind that it was bound to. */
bool hodo_filter_always(const struct hodo_filter *f);
bool hodo_filter_never(const struct hodo_filter *f);
/* Whether a verified program names the variable. */
bool hodo_filter_names_var(const uint8_t *code, enum hodo_filter_var var);

/*
 * Whether the event is to be recorded. The pieces are those of the event's payload: even ones are runs of fixed bytes
 * (scalars, and the lengths of variable fields), odd ones the data of the variable fields in order; a last run that
 * would be empty may be missing. Pieces that do not fit the event's types make the fields absent; nothing
 * outside of the pieces is read. vars may be NULL: all are absent. Signal safe; any number of threads may
 * call it at once. Preserves the floating-point state and raises no floating-point exception.
 */
bool hodo_filter_run(const struct hodo_filter *f, const struct hodo_piece *pieces, size_t count,
		     struct hodo_filter_vars *vars);
/* hodo_filter_run() that does not preserve the vector registers: in libhodo, the other one does, and calls this. */
bool hodo_filter_run_floats(const struct hodo_filter *f, const struct hodo_piece *pieces, size_t count,
		     struct hodo_filter_vars *vars);
