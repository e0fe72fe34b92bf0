/* SPDX-License-Identifier: MIT */
/* slowest.h - which spans, system calls and calls took longest, one by one. */
#pragma once

#include <sym/recording_symbols.h>

struct hodo_stats_slowest_row {
	uint64_t rank_ns; /* for spans the duration, for calls the self time */
	uint64_t duration_ns;
	uint64_t off_ns; /* how long its thread did not run, if off_known */
	bool off_known;
	int64_t begin_ns;
	const char *name, *comm, *host; /* host: NULL: the recording has only one, or it is not known */
	uint32_t pid, tid; /* where it began */
	bool left;
	char *thread; /* comm[tid] */
	char *fields; /* of a span; NULL: a call */
};

struct hodo_stats_slowest {
	struct hodo_symbols *symbols;
	struct hodo_read_text *text;
	bool json;     /* the rows' fields are an event in JSON */
	bool hosts;    /* there are several: rows have theirs */
	uint32_t room; /* of each list */
	struct hodo_stats_slowest_list {
		struct hodo_stats_slowest_row *row; /* longest first */
		uint32_t n;
	} spans, calls;
};

/* These return 0 or -ENOMEM. */
int slowest_start(struct hodo_stats_slowest *s, struct hodo_symbols *symbols, uint64_t room, bool json, bool hosts);
int slowest_span(struct hodo_stats_slowest *s, const struct hodo_read_event *end); /* with its start */
int slowest_call(struct hodo_stats_slowest *s, const struct hodo_read_call *call); /* that ended */
void slowest_free(struct hodo_stats_slowest *s);
