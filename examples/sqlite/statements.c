/* SPDX-License-Identifier: MIT */
/* statements.c - sqlite:statement events from sqlite3_trace_v2(). */
#include "events.h"
#include "hooks.h"

struct hook_counts hook_counts;

static int on_trace(unsigned type, void *context, void *stmt, void *unused)
{
	struct statement_hook *hook = context;

	switch (type) {
	case SQLITE_TRACE_STMT:
		hook->rows = 0;
		hook->start_ns = trace_sqlite_statement_enabled() ? now_ns() : 0;
		break;
	case SQLITE_TRACE_ROW:
		hook->rows++;
		hook_counts.rows++;
		break;
	case SQLITE_TRACE_PROFILE:
		/* The duration that SQLite passes here counts in milliseconds: ours does not. */
		hook_counts.statements++;
		if (hook->start_ns)
			trace_sqlite_statement(sqlite3_sql(stmt), now_ns() - hook->start_ns, hook->rows);
		break;
	}
	return 0;
}

int statement_hook_install(struct statement_hook *hook, sqlite3 *db)
{
	*hook = (struct statement_hook){ 0 };
	return sqlite3_trace_v2(db, SQLITE_TRACE_STMT | SQLITE_TRACE_ROW | SQLITE_TRACE_PROFILE, on_trace, hook);
}
