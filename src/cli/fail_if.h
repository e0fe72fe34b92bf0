/* SPDX-License-Identifier: MIT */
/* fail_if.h - --fail-if of what compares recordings: which changes make it fail. */
#ifndef HODO_CLI_FAIL_IF_H
#define HODO_CLI_FAIL_IF_H

#include "table.h"

#define HODO_FAIL_IFS_MAX 16u

struct hodo_fail_if {
	const char *text;     /* as given: "p99 > +10%" */
	char column[32];      /* its key, with or without _ns */
	bool above;           /* it fails beyond the change, else below it */
	double percent;
};

struct hodo_fail_ifs {
	struct hodo_fail_if one[HODO_FAIL_IFS_MAX];
	unsigned n, met; /* changes that fail */
};

int hodo_fail_if_set(void *args, const char *text); /* of an option, for arguments that begin with a struct hodo_args */
#define HODO_OPTION_FAIL_IF \
	{ .name = "fail-if", .kind = HODO_OPTION_CALL, .arg = "LIMIT", .set = hodo_fail_if_set, \
	  .help = "with --diff: exit status 3 if a column has changed\nso far, as in 'p99 > +10%' or 'count < -5%'" }
/* One value of a row in both tables: says it if that is too much of a change. */
void hodo_fail_if_changed(struct hodo_fail_ifs *f, const struct hodo_table *t, const struct hodo_column *c,
			  const void *row, double before, double after);
/* The exit status of a comparison, whose own is given. */
int hodo_fail_if_status(const struct hodo_look *look, int status);

#endif
