/* SPDX-License-Identifier: MIT */
/*
 * views.c - the named questions as views, in SQL.
 *
 * A view has no parameters: its reader adds WHERE. So rows are named by what they may be chosen by, and the limits
 * of the questions are not here, but where a question would sort everything. In a statement, @ is the database.
 */
#include "views.h"

#include "names.h"

#include <base/scope.h>

static const struct {
	const char *name, *sql;
} views[] = {
	{ "hodo_q_slowest",
	  "SELECT hodo_time AS time, ts, host, process, pid, thread, name, duration_ns / 1e6 AS ms, self_ns / 1e6 AS self_ms, "
	  "`fields.name`, `fields.value` FROM @.spans WHERE duration_ns IS NOT NULL "
	  "ORDER BY duration_ns DESC, ts LIMIT 1000" },
	{ "hodo_q_p99",
	  "SELECT host, toStartOfMinute(hodo_time) AS minute, name, count() AS spans, "
	  "quantileExact(0.5)(assumeNotNull(duration_ns)) / 1e3 AS p50_us, "
	  "quantileExact(0.99)(assumeNotNull(duration_ns)) / 1e3 AS p99_us, "
	  "max(assumeNotNull(duration_ns)) / 1e3 AS max_us "
	  "FROM @.spans WHERE duration_ns IS NOT NULL GROUP BY host, minute, name ORDER BY host, minute, name" },
	{ "hodo_q_waits",
	  "SELECT host, thread, tid, why, waker, waker_tid, count() AS waits, sum(duration_ns) / 1e6 AS total_ms, "
	  "max(duration_ns) / 1e6 AS max_ms FROM @.waits WHERE tid != 0 "
	  "GROUP BY host, thread, tid, why, waker, waker_tid ORDER BY total_ms DESC, host, tid, waker_tid" },
	/* The number of errors comes with each: a subquery for it would run, on all servers, when the view is made. */
	{ "hodo_q_before",
	  "SELECT name, intDiv(error_ts - ts, 1000000000) AS seconds_before, count() / any(errors) AS per_error "
	  "FROM (SELECT host, name, ts, intDiv(ts, 1000000000) AS second FROM @.events) "
	  "ALL INNER JOIN (SELECT length(hosts) AS errors, error_host AS host, error_at AS error_ts, "
	  "intDiv(error_at, 1000000000) - arrayJoin(range(11)) AS second "
	  "FROM (SELECT groupArray(host) AS hosts, groupArray(ts) AS times FROM @.events WHERE name LIKE '%error%') "
	  "ARRAY JOIN hosts AS error_host, times AS error_at) USING (host, second) "
	  "WHERE ts <= error_ts AND ts > error_ts - 10000000000 "
	  "GROUP BY name, seconds_before ORDER BY name, seconds_before" },
	{ "hodo_q_outliers",
	  "SELECT host, name, spans, p99 / 1e3 AS p99_us, usual / 1e3 AS fleet_p99_us, p99 / usual AS times, "
	  "if(spread = 0, NULL, (p99 - usual) / (1.4826 * spread)) AS sigmas "
	  "FROM (SELECT host, name, count() AS spans, quantileExact(0.99)(assumeNotNull(duration_ns)) AS p99 "
	  "FROM @.spans WHERE duration_ns IS NOT NULL GROUP BY host, name) "
	  "ALL INNER JOIN (SELECT name, length(p99s) AS hosts, arrayReduce('medianExact', p99s) AS usual, "
	  "arrayReduce('medianExact', arrayMap(x -> abs(x - usual), p99s)) AS spread "
	  "FROM (SELECT name, groupArray(p99) AS p99s FROM (SELECT host, name, "
	  "quantileExact(0.99)(assumeNotNull(duration_ns)) AS p99 FROM @.spans WHERE duration_ns IS NOT NULL "
	  "GROUP BY host, name) GROUP BY name)) USING (name) "
	  "WHERE hosts > 1 ORDER BY abs(log(p99 / usual)) DESC, host, name" },
	{ "hodo_q_lost",
	  "SELECT host, process, pid, recording, events, lost, lost / (events + lost) AS share FROM @.processes "
	  "WHERE lost > 0 ORDER BY lost DESC, host, pid" },
};

static int make(struct hodo_clickhouse *c, const char *database, const char *name, const char *does)
{
	HODO_AUTO(hodo_text_free) struct hodo_text sql = { 0 };
	int err;

	hodo_text_add(&sql, "DROP TABLE IF EXISTS ");
	clickhouse_quote_name(&sql, database);
	hodo_text_printf(&sql, ".%s", name);
	err = clickhouse_run(c, &sql);
	sql.len = 0;
	/* Somebody else may have made it meanwhile. */
	hodo_text_add(&sql, "CREATE VIEW IF NOT EXISTS ");
	clickhouse_quote_name(&sql, database);
	hodo_text_printf(&sql, ".%s AS ", name);
	for (const char *p = does; *p; p++) {
		if (*p == '@')
			clickhouse_quote_name(&sql, database);
		else
			hodo_text_char(&sql, *p);
	}
	return err ? err : clickhouse_run(c, &sql);
}

int clickhouse_views_make(struct hodo_clickhouse *c, const char *database)
{
	int err = 0;

	for (unsigned i = 0; !err && i < sizeof(views) / sizeof(*views); i++)
		err = make(c, database, views[i].name, views[i].sql);
	return err;
}
