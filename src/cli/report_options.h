/* SPDX-License-Identifier: MIT */
/* report_options.h - hodo report: what is asked for, and how it is shown. */
#ifndef HODO_CLI_REPORT_OPTIONS_H
#define HODO_CLI_REPORT_OPTIONS_H

#include "table.h"

#define REPORT_PAIRS_MAX      64u
#define REPORT_VALUES_MAX     64u
#define REPORT_KEY_FIELDS_MAX 4u

enum report_by { REPORT_BY_NONE, REPORT_BY_THREAD, REPORT_BY_CPU, REPORT_BY_PROCESS, REPORT_BY_FIELD };

/* What is the same at the begin and the end of a pair. */
#define REPORT_KEY_THREAD  1u
#define REPORT_KEY_CPU     2u
#define REPORT_KEY_PROCESS 4u

struct report_pair {
	char *begin, *end;
	char *by; /* as given; NULL: by thread */
	unsigned key;
	const char *field[REPORT_KEY_FIELDS_MAX]; /* in fields */
	uint32_t nfields;
	char *fields;
};

struct report_value {
	char *event;
	const char *field; /* in event */
};

struct report_options {
	struct hodo_args args;
	enum report_by by;
	const char *by_text; /* as given: thread, cpu, process or a field */
	struct report_pair pairs[REPORT_PAIRS_MAX];
	struct report_value values[REPORT_VALUES_MAX];
	uint32_t npairs, nvalues;
	bool diff; /* what has another number in another recording goes by its name alone */
};

/* "A,B" or "A,B by KEY,…". 0, -EINVAL, -ENOMEM. */
int report_pair_parse(struct report_pair *pair, const char *text);
int report_value_parse(struct report_value *value, const char *text);
void report_options_free(struct report_options *o);

struct report_look {
	struct hodo_look table;
	bool histogram;
	const char *histogram_of; /* a glob for names; NULL: all */
};

#endif
