/* SPDX-License-Identifier: MIT */
/* class.h - a class of events, and the values in their payload. */
#pragma once

#include <hodo/read.h>

struct hodo_arena;

struct hodo_class_piece {
	const char *data; /* without a NUL */
	uint32_t len;
};

/* What printing an event of this class needs, made with the class. */
struct hodo_class_text {
	struct hodo_class_piece line; /* provider:name */
	struct hodo_class_piece json; /* ,"name":"provider:name","fields":{ */
	struct {
		struct hodo_class_piece line; /*  field= */
		struct hodo_class_piece json; /* "field":, from the second on with a comma before it */
	} field[HODO_FIELDS_MAX];
	size_t room; /* bytes that suffice for everything, including values of fixed size */
};

#define CLASS_NAMES_MAX 7u

/* What an event means for a call, if its fields are as expected (calls.c). */
enum hodo_call_event {
	HODO_CALL_EVENT_NONE,
	HODO_CALL_EVENT_ENTRY,
	HODO_CALL_EVENT_EXIT,
	HODO_CALL_EVENT_ENTRY_SP,
	HODO_CALL_EVENT_EXIT_SP,
	HODO_CALL_EVENT_REACHED,
	HODO_CALL_EVENT_LANDED,
	HODO_CALL_EVENT_SWITCHED,
	HODO_CALL_EVENT_CALL,
	HODO_CALL_EVENT_OPEN,
	HODO_CALL_EVENT_CALLEE
};

/* What a start event and its end share besides paired_by (pairs.c). */
enum hodo_pairing {
	HODO_PAIRING_NONE,
	HODO_PAIRING_THREAD,
	HODO_PAIRING_NUMBER, /* the first field: unsigned, signed, or something else */
	HODO_PAIRING_SIGNED,
	HODO_PAIRING_ID,
	HODO_PAIRING_FRAME /* the second field, and the thread */
};

struct hodo_class {
	struct hodo_read_class pub;
	struct hodo_read_field fields[HODO_FIELDS_MAX];
	uint8_t types[HODO_FIELDS_MAX];
	struct hodo_class_text text;
	bool more;      /* there is a context, or nnames */
	bool labelled;  /* a field has labels */
	uint8_t nnames; /* how many names of threads its events have (threads.c) */
	bool renames;   /* from the event on, not before it */
	bool executes;  /* the name is a path's last part */
	struct {
		uint8_t tid, comm; /* fields */
	} names[CLASS_NAMES_MAX];
	enum hodo_call_event call;
	enum hodo_pairing pairing;
	uint64_t paired_by; /* an address, see role.c */
};

/* Makes the texts once name, fields and labels are there. 0 or -ENOMEM. */
int hodo_read_class_finish(struct hodo_arena *memory, struct hodo_class *c);
/* 0 if name is not a type. */
uint32_t hodo_read_type_parse(const char *name, size_t len);
uint32_t hodo_read_kind_parse(const char *name);
/* Decodes one complete value; returns its end. */
const uint8_t *hodo_read_value_take(uint32_t type, const uint8_t *p, struct hodo_read_value *v);
/* Decodes the fields of a complete event. */
void hodo_read_class_values(const struct hodo_class *c, const uint8_t *p, struct hodo_read_value *values);
