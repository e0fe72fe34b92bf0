/* SPDX-License-Identifier: MIT */
/* report_lists.h - hodo report: what the tracers stack, loop, thread and latency left, a list of each. */
#ifndef HODO_CLI_REPORT_LISTS_H
#define HODO_CLI_REPORT_LISTS_H

#include "cli.h"
#include <base/map.h>
#include <export/symbols.h>
#include <read/key.h>

#define REPORT_CHAIN_MAX   64u
#define REPORT_LIST_MAX    1000u /* entries of each list but slow */
#define REPORT_SLOW_MAX    10u
#define REPORT_CALLEES_MAX 16u

struct report_chain {
	uint32_t n;
	const char *name[REPORT_CHAIN_MAX]; /* innermost first */
};

struct report_stack { /* the deepest of a thread */
	struct {
		const struct hodo_read_process *process;
		uint64_t tid;
	} key;
	uint32_t pid, tid, depth;
	const char *comm;
	uint64_t bytes;
	struct report_chain chain;
};

struct report_held {
	struct hodo_bytes key; /* callback and loop */
	const char *callback, *loop;
	uint64_t times, total_ns, max_ns;
};

struct report_wrong {
	struct hodo_bytes key; /* all but times */
	const char *name;
	char wanted[64], role[64];
	uint64_t times;
	struct report_chain chain;
};

struct report_callee {
	const char *name; /* NULL: all others */
	uint64_t calls, total_ns, max_ns;
};

struct report_slow { /* a call that was recorded with what it called */
	const char *name, *comm;
	uint32_t tid, ncallees;
	int64_t entry_ns;
	uint64_t duration_ns;
	struct report_callee callee[REPORT_CALLEES_MAX];
};

struct report_lists {
	struct hodo_symbols *symbols;
	const char *thread; /* --thread */
	struct hodo_map stacks, held, wrong; /* struct report_stack, … */
	const struct report_wrong *last_wrong; /* what the last event was counted in; NULL: none */
	struct report_slow slow[REPORT_SLOW_MAX]; /* longest first */
	uint32_t nslow;
	struct report_slow next; /* callees that came before their call */
	uint32_t next_frame;
	struct hodo_key key; /* of what is looked up */
	bool no_memory;
};

void report_lists_start(struct report_lists *l, struct hodo_symbols *symbols, const char *thread);
void report_lists_free(struct report_lists *l);
void report_lists_event(struct report_lists *l, const struct hodo_read_event *e);
void report_lists_call(struct report_lists *l, const struct hodo_read_call *call); /* HODO_READ_CALL_WHOLE */
void report_lists_put(struct hodo_text *to, const struct report_lists *l);
void report_lists_put_json(struct hodo_json *j, const struct report_lists *l);

/* Whether the class has this name, and fields of these types: a recording's own description is not to be trusted. */
bool report_class_is(const struct hodo_read_class *cls, const char *name, uint32_t nfields, const uint8_t *types);

/* Ticks of the process's clock as ns. */
static inline uint64_t report_ns(const struct hodo_read_process *p, uint64_t ticks)
{
	return p->clock.freq_hz ? (uint64_t)((unsigned __int128)ticks * 1000000000u / p->clock.freq_hz) : 0;
}

#endif
