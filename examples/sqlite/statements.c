/* SPDX-License-Identifier: MIT */
/* statements.c - sqlite:statement events from sqlite3_trace_v2(). */
#include "events.h"
#include "hooks.h"

struct hook_counts hook_counts;

static struct running_statement *find(struct statement_hook *hook, void *stmt)
{
	for (size_t i = 0; i < sizeof(hook->running) / sizeof(hook->running[0]); i++)
		if (hook->running[i].stmt == stmt)
			return &hook->running[i];
	return NULL;
}

/* SQLite's own queries of the schema begin here but never end, so take the place of the oldest. */
static struct running_statement *take(struct statement_hook *hook)
{
	return &hook->running[hook->next++ % (sizeof(hook->running) / sizeof(hook->running[0]))];
}

static void begin(struct statement_hook *hook, void *stmt)
{
	struct running_statement *running = find(hook, stmt);

	if (!running)
		running = take(hook);
	*running = (struct running_statement){ stmt, trace_sqlite_statement_enabled() ? now_ns() : 0, 0 };
}

static void end(struct running_statement *running)
{
	hook_counts.statements++;
	hook_counts.rows += running->rows;
	/* The duration that SQLite passes to the hook is in milliseconds: ours is finer. */
	if (running->start_ns)
		trace_sqlite_statement(sqlite3_sql(running->stmt), now_ns() - running->start_ns, running->rows);
	running->stmt = NULL;
}

static int on_trace(unsigned type, void *context, void *stmt, void *unused)
{
	struct statement_hook *hook = context;
	struct running_statement *running = find(hook, stmt);

	if (type == SQLITE_TRACE_STMT)
		begin(hook, stmt);
	else if (type == SQLITE_TRACE_ROW && running)
		running->rows++;
	else if (type == SQLITE_TRACE_PROFILE && running)
		end(running);
	return 0;
}

int statement_hook_install(struct statement_hook *hook, sqlite3 *db)
{
	*hook = (struct statement_hook){ 0 };
	return sqlite3_trace_v2(db, SQLITE_TRACE_STMT | SQLITE_TRACE_ROW | SQLITE_TRACE_PROFILE, on_trace, hook);
}
