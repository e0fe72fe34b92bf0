/* SPDX-License-Identifier: MIT */
/* tables.c - the tables that are there for every recording. Their columns stand in the order of enums. */
#include "tables.h"

#define HEAD                                                                                                 \
	{ "ts", HODO_TYPE_I64 }, { "host", HODO_ROWS_NAME }, { "process", HODO_ROWS_NAME }, { "pid", HODO_TYPE_U32 }, \
	{ "thread", HODO_ROWS_NAME }, { "tid", HODO_TYPE_U32 }, { "cpu", HODO_TYPE_I32 }

const struct hodo_rows_column hodo_rows_head[HODO_ROWS_OWN] = {
	HEAD,
	{ "text", HODO_TYPE_STR },
	{ "function", HODO_ROWS_NAME },
};

static const struct hodo_rows_column events[] = {
	HEAD,
	{ "text", HODO_TYPE_STR },
	{ "function", HODO_ROWS_NAME },
	{ "name", HODO_ROWS_NAME },
	{ "fields", HODO_ROWS_FIELDS },
};

static const struct hodo_rows_column spans[] = {
	HEAD,
	{ "name", HODO_ROWS_NAME },
	{ "kind", HODO_ROWS_NAME },
	{ "state", HODO_ROWS_NAME },
	{ "end_ns", HODO_TYPE_I64 },
	{ "duration_ns", HODO_TYPE_I64 },
	{ "self_ns", HODO_TYPE_I64 },
	{ "off_cpu_ns", HODO_TYPE_I64 },
	{ "depth", HODO_TYPE_U32 },
	{ "id", HODO_TYPE_I64 },
	{ "parent_id", HODO_TYPE_I64 },
	{ "parent", HODO_ROWS_NAME },
	{ "end_tid", HODO_TYPE_U32 },
	{ "fields", HODO_ROWS_FIELDS },
};

static const struct hodo_rows_column calls[] = {
	HEAD,
	{ "function", HODO_ROWS_NAME },
	{ "object", HODO_ROWS_NAME },
	{ "state", HODO_ROWS_NAME },
	{ "end_ns", HODO_TYPE_I64 },
	{ "duration_ns", HODO_TYPE_I64 },
	{ "self_ns", HODO_TYPE_I64 },
	{ "depth", HODO_TYPE_U32 },
	{ "id", HODO_TYPE_I64 },
	{ "parent_id", HODO_TYPE_I64 },
	{ "parent", HODO_ROWS_NAME },
};

static const struct hodo_rows_column waits[] = {
	HEAD,
	{ "end_ns", HODO_TYPE_I64 },
	{ "duration_ns", HODO_TYPE_I64 },
	{ "woken_ns", HODO_TYPE_I64 },
	{ "why", HODO_ROWS_NAME },
	{ "waker", HODO_ROWS_NAME },
	{ "waker_tid", HODO_TYPE_U32 },
};

static const struct hodo_rows_column samples[] = {
	HEAD,
	{ "name", HODO_ROWS_NAME },
	{ "value", HODO_TYPE_F64 },
};

static const struct hodo_rows_column losses[] = {
	{ "ts", HODO_TYPE_I64 },
	{ "host", HODO_ROWS_NAME },
	{ "process", HODO_ROWS_NAME },
	{ "pid", HODO_TYPE_U32 },
	{ "cpu", HODO_TYPE_I32 },
	{ "end_ns", HODO_TYPE_I64 },
	{ "discarded", HODO_TYPE_U64 },
	{ "overwritten", HODO_TYPE_U64 },
	{ "damaged", HODO_TYPE_U64 },
};

static const struct hodo_rows_column processes[] = {
	{ "ts", HODO_TYPE_I64 },
	{ "host", HODO_ROWS_NAME },
	{ "process", HODO_ROWS_NAME },
	{ "pid", HODO_TYPE_U32 },
	{ "ppid", HODO_TYPE_U32 },
	{ "uid", HODO_TYPE_U32 },
	{ "exe", HODO_ROWS_NAME },
	{ "kernel", HODO_ROWS_NAME },
	{ "recording", HODO_ROWS_NAME },
	{ "folder", HODO_ROWS_NAME },
	{ "uuid", HODO_TYPE_STR },
	{ "end_ns", HODO_TYPE_I64 },
	{ "complete", HODO_TYPE_BOOL },
	{ "events", HODO_TYPE_U64 },
	{ "lost", HODO_TYPE_U64 },
	{ "damaged", HODO_TYPE_U64 },
	{ "event_numbers", HODO_TYPE_STR },
};

static const struct hodo_rows_column hosts[] = {
	{ "ts", HODO_TYPE_I64 },
	{ "host", HODO_ROWS_NAME },
	{ "recording", HODO_ROWS_NAME },
	{ "end_ns", HODO_TYPE_I64 },
	{ "processes", HODO_TYPE_U32 },
	{ "kernel", HODO_ROWS_NAME },
	{ "events", HODO_TYPE_U64 },
	{ "lost", HODO_TYPE_U64 },
	{ "damaged", HODO_TYPE_U64 },
};

#define TABLE(columns) { #columns, NULL, sizeof(columns) / sizeof(*(columns)), columns }

const struct hodo_rows_table hodo_rows_fixed[HODO_ROWS_FIXED] = {
	[HODO_ROWS_EVENTS] = TABLE(events),
	[HODO_ROWS_SPANS] = TABLE(spans),
	[HODO_ROWS_CALLS] = TABLE(calls),
	[HODO_ROWS_WAITS] = TABLE(waits),
	[HODO_ROWS_SAMPLES] = TABLE(samples),
	[HODO_ROWS_LOSSES] = TABLE(losses),
	[HODO_ROWS_PROCESSES] = TABLE(processes),
	[HODO_ROWS_HOSTS] = TABLE(hosts),
};
