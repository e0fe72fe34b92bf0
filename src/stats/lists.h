/* SPDX-License-Identifier: MIT */
/* lists.h - what the tracers stack, loop, thread and latency found, one by one. */
#pragma once

#include <base/map.h>
#include <base/text.h>
#include <read/event/select.h>
#include <sym/recording_symbols.h>

#define HODO_STATS_CHAIN_MAX   64u
#define HODO_STATS_SLOW_MAX    10u
#define HODO_STATS_CALLEES_MAX 16u

struct hodo_stats_chain {
	uint32_t n;
	const char *name[HODO_STATS_CHAIN_MAX]; /* innermost first */
};

struct hodo_stats_stack { /* the deepest of a thread */
	struct hodo_bytes key; /* process and tid */
	uint32_t pid, tid, depth;
	const char *comm;
	uint64_t bytes;
	struct hodo_stats_chain chain;
};

struct hodo_stats_held {
	struct hodo_bytes key; /* callback and loop */
	const char *callback, *loop;
	uint64_t times, total_ns, max_ns;
};

struct hodo_stats_wrong {
	struct hodo_bytes key; /* all but times */
	const char *name;
	char wanted[64], role[64];
	uint64_t times;
	struct hodo_stats_chain chain;
};

struct hodo_stats_callee {
	const char *name; /* NULL: all others */
	uint64_t calls, total_ns, max_ns;
};

struct hodo_stats_slow { /* a call that was recorded with what it called */
	const char *name, *comm;
	uint32_t tid, ncallees;
	bool open, left;
	int64_t entry_ns;
	uint64_t duration_ns;
	struct hodo_stats_callee callee[HODO_STATS_CALLEES_MAX];
};

struct hodo_stats_lists {
	struct hodo_symbols *symbols;
	const struct hodo_select *select; /* NULL: of all threads */
	struct hodo_map stacks, held, wrong; /* struct hodo_stats_stack, … */
	const struct hodo_stats_wrong *last_wrong; /* where the last event was counted; NULL: none */
	struct hodo_stats_slow slow[HODO_STATS_SLOW_MAX]; /* longest first */
	uint32_t nslow;
	struct hodo_stats_slow next; /* callees that came before their call */
	uint32_t next_frame;
	bool failed; /* there was no memory for all of it */
	struct hodo_text key; /* of what is looked up */
};

void hodo_stats_lists_start(struct hodo_stats_lists *l, struct hodo_symbols *symbols, const struct hodo_select *select);
void hodo_stats_lists_free(struct hodo_stats_lists *l);
void hodo_stats_lists_event(struct hodo_stats_lists *l, const struct hodo_read_event *e);
void lists_call(struct hodo_stats_lists *l, const struct hodo_read_call *call); /* a late one */

/* Whether the class has this name and fields of these types: a recording's description is not trusted. */
bool lists_class_is(const struct hodo_read_class *cls, const char *name, uint32_t nfields, const uint8_t *types);

/* Ticks of the process's clock as ns. */
static inline uint64_t lists_ns(const struct hodo_read_process *p, uint64_t ticks)
{
	return p->clock.freq_hz ? (uint64_t)((unsigned __int128)ticks * 1000000000u / p->clock.freq_hz) : 0;
}
