/* SPDX-License-Identifier: MIT */
/* fail_if.h - --fail-if for comparisons of recordings: which changes make them fail. */
#pragma once

#include <cli/output/table.h>

#define HODO_FAIL_IFS_MAX 16u

/* How far a limit has come: the best of all rows. */
enum hodo_fail_if_reach {
	HODO_FAIL_IF_NO_ROW, /* no table with the column has a row */
	HODO_FAIL_IF_IN_ONE, /* a row is in one of the recordings */
	HODO_FAIL_IF_IN_BOTH, /* a row is in both recordings, but has no figure there, or changes from 0 */
	HODO_FAIL_IF_COMPARED
};

struct hodo_fail_if {
	const char *text;     /* as given: "p99 > +10%" */
	char column[32];      /* its key, with or without _ns */
	bool above;           /* it fails beyond the change, else below it */
	double percent;
	enum hodo_fail_if_reach reach;
};

struct hodo_fail_ifs {
	struct hodo_fail_if one[HODO_FAIL_IFS_MAX];
	unsigned n, met; /* changes that fail */
	const struct hodo_columns *const *tables; /* of the verb */
};

int hodo_fail_if_set(void *args, const char *text); /* of an option, for arguments that begin with a struct hodo_args */
#define HODO_OPTION_FAIL_IF \
	{ .name = "fail-if", .kind = HODO_OPTION_CALL, .arg = "LIMIT", .set = hodo_fail_if_set, \
	  .help = "with --diff: exit status 3 if a column changed by\n" \
		  "more, as in 'p99 > +10%' or 'count < -5%'" }
/* Compares a row of both tables, NULL where it is missing, and reports each change that is too large. */
void hodo_fail_if_row(struct hodo_fail_ifs *f, const struct hodo_table t[2], const void *const row[2]);
/*
 * The exit status of a comparison, given its own. A limit that was compared with no row is an error, which is
 * reported: a test of nothing must not pass.
 */
int hodo_fail_if_status(const struct hodo_show *look, int status);
