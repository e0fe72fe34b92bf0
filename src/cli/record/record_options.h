/* SPDX-License-Identifier: MIT */
/* record_options.h - the options of hodo record, and its messages about them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hodo/abi.h>
#include <plan/planner.h>
#include <probe/kernel/kprobe.h>
#include <record/record.h>

#include <cli/export/export_otlp.h>
#include <cli/options.h>
#include <cli/target.h>

/* How to find out how long threads do not run. */
enum hodo_off_cpu_by {
	HODO_OFF_CPU_UNASKED,
	HODO_OFF_CPU_SWITCHES, /* the kernel's: perf events, or with -k the module's sched_switch */
	HODO_OFF_CPU_TIME,     /* each event has its thread's CPU time */
	HODO_OFF_CPU_BEST      /* the best possible: one of the others, once that is known */
};

/* Where finished parts are sent. */
struct hodo_record_to {
	const char *target;  /* NULL: nowhere */
	uint64_t backlog;    /* bytes that may be unsent */
	uint64_t keep_bytes, keep_ns; /* of the parts there; 0: all */
};

struct hodo_record_options {
	struct hodo_args args;
	const char *out;
	uint64_t ring_size;   /* bytes, 2^n */
	uint32_t packet_size; /* bytes, 2^n */
	bool overwrite, drop;
	uint64_t wait_ns; /* of writers, for room; 0: none */
	bool filter_times; /* --filter asks for $duration */
	bool waits_unasked; /* because functions are recorded */
	uint32_t realtime;  /* the recorder's priority under SCHED_RR; 0: normal scheduling */
	int64_t duration_ns; /* 0: no end */
	uint64_t packet_age_ns;
	enum hodo_clock clock; /* 0: the best */
	struct hodo_pattern_list patterns;
	struct hodo_pattern_list sdt; /* of static probes, PROVIDER:NAME */
	struct hodo_planner_probes probes;
	struct hodo_planner_replacements replacements;
	struct hodo_kprobe_list kprobes;
	bool kernel;                             /* it is recorded, too */
	struct hodo_pattern_list kernel_patterns; /* its own; made at the end */
	struct hodo_functions functions; /* complete after hodo_function_options_check() */
	uint64_t unprepared; /* at the end: how many functions without slots were searched */
	struct hodo_context_config context; /* flags 0: none */
	enum hodo_off_cpu_by off_cpu;
	struct hodo_limits limits;
	struct hodo_record_to to;
	struct hodo_snapshots snapshots;
	uint32_t drain_threads; /* 0: the recorder decides */
	int compress; /* level; 0: not */
	struct hodo_conditions conditions; /* triggers and rates */
	struct hodo_pattern_list fields; /* that the filter names */
	uint8_t filter[HODO_FILTER_MAX];
	size_t filter_len; /* 0: none */
	struct hodo_attach_options attach;
	struct hodo_otlp_args otlp; /* endpoint NULL: nothing is sent */
	char **command; /* [0] NULL: none */
};

/* What holds without options; members that are 0 are decided by hodo_record_options_check(). */
#define HODO_RECORD_DEFAULTS { .out = HODO_DIR_DEFAULT, .packet_age_ns = 3600000000000ull }

extern const struct hodo_option hodo_record_option_table[]; /* for arguments that begin with the struct above */

/* Checks that they are compatible, and completes them. 0, or the exit status after a message; so do the
 * functions below. */
int hodo_record_options_check(struct hodo_record_options *o);
void hodo_record_options_free(struct hodo_record_options *o);

extern const char *const hodo_tracer_names[]; /* by enum hodo_builtin; ends with NULL */
int hodo_function_options_names(struct hodo_pattern_list *list, const char *option, const char *value);
/* A pattern of -e: with the prefix func: or !func: it selects functions, else events. */
int hodo_function_options_event(struct hodo_functions *f, struct hodo_pattern_list *events,
				const char *pattern);
/* When all options are read. Adds patterns for the functions to events; kernel: these are the kernel's,
 * recorded as they come. */
int hodo_function_options_check(struct hodo_functions *f, struct hodo_pattern_list *events, bool kernel);
/* The kernel's events to record, by the patterns of -e, or a default. 0 or a negative errno. */
int hodo_kernel_patterns(const struct hodo_pattern_list *asked, struct hodo_pattern_list *kernel);
/* A word of --context, added to what others asked for. */
int hodo_context_options_add(struct hodo_context_config *context, const char *word);

/* So that functions have names on machines without the program. */
void hodo_record_keep_symbols(const struct hodo_record_options *o, const struct hodo_recorder_stats *stats,
			      const struct hodo_roots *roots);
/* At the end, on standard error. stopped: by a signal, before the command's end; overview: of hodo PROGRAM. */
void hodo_record_summary(struct hodo_record_options *o, const struct hodo_recorder_stats *stats, bool stopped,
			 bool overview);
