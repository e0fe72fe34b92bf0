/* SPDX-License-Identifier: MIT */
/* record_functions.h - what hodo record is asked of functions, and what it tells of them at the end. */
#ifndef HODO_CLI_RECORD_FUNCTIONS_H
#define HODO_CLI_RECORD_FUNCTIONS_H

#include <stdbool.h>

#include <record/functions.h>
#include <record/pattern.h>

struct hodo_function_options {
	struct hodo_functions functions; /* complete after hodo_function_options_check() */
	bool all;      /* --functions: beside the events, whatever -e says */
	bool depth, min_time, loop;
	bool excluded; /* -e !func:GLOB */
	bool kernel;   /* they are the kernel's */
};

enum hodo_function_option {
	HODO_FUNCTION_FUNCTIONS, HODO_FUNCTION_DEPTH, HODO_FUNCTION_MIN_TIME, HODO_FUNCTION_TRACER,
	HODO_FUNCTION_LOOP, HODO_FUNCTION_RETURNS, HODO_FUNCTION_ABORT
};

/* Each returns 0, or the exit status having said what is wrong. value: NULL where there is none. */
int hodo_function_options_set(struct hodo_function_options *o, enum hodo_function_option option, const char *value);
/* The value of an -e: patterns that begin with func: or !func: name functions, the others events. */
int hodo_function_options_event(struct hodo_function_options *o, struct hodo_pattern_list *events,
				const char *value);
/* When all options are read: whether they go together. events get what stands for the functions. */
int hodo_function_options_check(struct hodo_function_options *o, struct hodo_pattern_list *events);

/* With -k the functions are the kernel's, which are recorded as they come. */
int hodo_function_options_kernel(struct hodo_function_options *o);

/* One line for each thing that the user should know; quiet: not what the tracers found. program: for the messages. */
void hodo_function_options_tell(const struct hodo_function_options *o, const struct hodo_functions_seen *seen,
				const char *program, const char *recording, bool quiet);

#endif
