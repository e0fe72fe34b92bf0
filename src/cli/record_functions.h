/* SPDX-License-Identifier: MIT */
/* record_functions.h - what hodo record is asked of functions, and what it reports of them at the end. */
#ifndef HODO_CLI_RECORD_FUNCTIONS_H
#define HODO_CLI_RECORD_FUNCTIONS_H

#include <stdbool.h>

#include <record/record.h>

struct hodo_function_options {
	struct hodo_functions functions; /* complete after hodo_function_options_check() */
	bool all;      /* --functions: beside the events, whatever -e says */
	bool excluded; /* -e !func:GLOB */
	bool kernel;   /* they are the kernel's */
};

extern const char *const hodo_tracer_names[]; /* by enum hodo_builtin; ends with NULL */

/* Each returns 0, or the exit status having said what is wrong. */
int hodo_function_options_names(struct hodo_function_names *list, const char *option, const char *value);
/* A pattern of -e: with func: or !func: in front it names functions, else events. */
int hodo_function_options_event(struct hodo_function_options *o, struct hodo_pattern_list *events,
				const char *pattern);
/* When all options are read: whether they go together. events get what stands for the functions. */
int hodo_function_options_check(struct hodo_function_options *o, struct hodo_pattern_list *events);

/* With -k the functions are the kernel's, which are recorded as they come. */
int hodo_function_options_kernel(struct hodo_function_options *o);

/* One line for each thing that the user should know; quiet: not what the tracers found. program: for the messages. */
void hodo_function_options_report(const struct hodo_function_options *o, const struct hodo_functions_seen *seen,
				const char *program, const char *recording, bool quiet);

#endif
