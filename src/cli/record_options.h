/* SPDX-License-Identifier: MIT */
/* record_options.h - what hodo record was asked for, and what it says of it. */
#ifndef HODO_CLI_RECORD_OPTIONS_H
#define HODO_CLI_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hodo/abi.h>
#include <kprobe/kprobe.h>
#include <record/record.h>

#include "options.h"
#include "record_probes.h"
#include "record_replace.h"
#include "target.h"

/* By what it is to be known how long threads do not run. */
enum hodo_off_cpu_by {
	HODO_OFF_CPU_UNASKED,
	HODO_OFF_CPU_SWITCHES, /* the kernel's: perf events, or with -k the module's sched_switch */
	HODO_OFF_CPU_TIME,     /* each event says its thread's CPU time */
	HODO_OFF_CPU_BEST      /* what is possible: one of the others, once that is known */
};

struct hodo_function_options {
	struct hodo_functions functions; /* complete after hodo_function_options_check() */
	bool all;      /* --functions: beside the events, whatever -e says */
	bool excluded; /* -e !func:GLOB */
	struct hodo_pattern_list arguments; /* functions whose arguments and results are recorded, too */
	uint64_t min_bytes; /* of functions without slots */
	uint64_t unprepared; /* at the end: functions without slots, in which was looked for those that are meant */
};

struct hodo_record_options {
	struct hodo_args args;
	const char *out;
	uint64_t ring_size;   /* bytes, 2^n */
	uint32_t packet_size; /* bytes, 2^n */
	bool overwrite, drop;
	uint64_t wait_ns; /* of writers, for room; 0: none */
	bool waits_unasked; /* since functions are recorded */
	uint32_t realtime;  /* the recorder's priority under SCHED_RR; 0: it is scheduled as others */
	int64_t duration_ns; /* 0: no end */
	uint64_t packet_age_ns;
	enum hodo_clock clock; /* 0: the best */
	struct hodo_pattern_list patterns;
	struct hodo_pattern_list sdt; /* of static probes, PROVIDER:NAME */
	struct hodo_record_probes probes;
	struct hodo_record_replacements replacements;
	struct hodo_kprobe_list kprobes;
	bool kernel;                             /* it is recorded, too */
	struct hodo_pattern_list kernel_patterns; /* its own; made at the end */
	struct hodo_function_options functions;
	struct hodo_context_config context; /* flags 0: none */
	enum hodo_off_cpu_by off_cpu;
	struct hodo_limits limits;
	struct hodo_snapshots snapshots;
	uint32_t drain_threads; /* 0: the recorder decides */
	int compress; /* level; 0: not */
	struct hodo_conditions conditions; /* triggers and rates */
	struct hodo_pattern_list fields; /* that the filter names */
	uint8_t filter[HODO_FILTER_MAX];
	size_t filter_len; /* 0: none */
	struct hodo_attach_options attach;
	char **command; /* [0] NULL: none */
};

/* What is not asked for. */
#define HODO_RECORD_DEFAULTS { .out = HODO_DIR_DEFAULT, .packet_age_ns = 3600000000000ull }

extern const struct hodo_option hodo_record_option_table[]; /* for arguments that begin with the struct above */

/* Whether they go together; makes what follows from them. 0, or the exit status, having said what is wrong, as of what
 * follows. */
int hodo_record_options_check(struct hodo_record_options *o);
void hodo_record_options_free(struct hodo_record_options *o);

extern const char *const hodo_tracer_names[]; /* by enum hodo_builtin; ends with NULL */
int hodo_function_options_names(struct hodo_pattern_list *list, const char *option, const char *value);
/* A pattern of -e: with func: or !func: in front it names functions, else events. */
int hodo_function_options_event(struct hodo_function_options *o, struct hodo_pattern_list *events,
				const char *pattern);
/* When all options are read. events get what stands for the functions; kernel: these are its, recorded as they come. */
int hodo_function_options_check(struct hodo_function_options *o, struct hodo_pattern_list *events, bool kernel);
/* What is recorded of the kernel, by the patterns of -e: these, or what is worth seeing without any. 0 or a negative
 * errno. */
int hodo_kernel_patterns(const struct hodo_pattern_list *asked, struct hodo_pattern_list *kernel);
/* What off_cpu means here, and what follows from it. 0 or the exit status, having said why not. */
int hodo_off_cpu_settle(struct hodo_record_options *o);
/* Where they are the recorder's to record; what fails is said. */
void hodo_off_cpu_begin(const struct hodo_record_options *o, struct hodo_session *s);
/* For hodo_launch_start(). */
struct hodo_launch_before hodo_off_cpu_before(struct hodo_session *s);

/* The recorder before others, by SCHED_RR, priority 0: only less nice. check: before the command is started. 0 or the
 * exit status, having said why. */
int hodo_realtime_check(uint32_t priority);
void hodo_realtime_begin(uint32_t priority);

/* A word of --context, added to what others asked for. */
int hodo_context_options_add(struct hodo_context_config *context, const char *word);

/* At the end, on standard error. stopped: by a signal, before the command's end; overview: of hodo PROGRAM. */
void hodo_record_summary(struct hodo_record_options *o, const struct hodo_session_stats *stats, bool stopped,
			 bool overview);
/* Why there is no event, and what would have given some. */
void hodo_record_nothing(const struct hodo_record_options *o, const struct hodo_session_stats *stats);
/* Whether any process's buffers were written for themselves, and not only snapshots. */
bool hodo_record_wrote_all(const struct hodo_session_stats *stats);

#endif
