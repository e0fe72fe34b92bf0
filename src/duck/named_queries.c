/* SPDX-License-Identifier: MIT */
/*
 * named_queries.c - questions that have names: statements about the tables of docs/design/tables.md.
 *
 * Percentiles are those of buckets, each half a percent wide: the library's own keep every value, in memory that its
 * limit does not count.
 */
#include "duck.h"

#define BUCKET "ceil(128 * log2(duration_ns + 1))::INT AS bucket, count(*) AS n, max(duration_ns) AS ns\n"

static const struct hodo_duck_question questions[] = {
	{
		.name = "slowest",
		.does = "the spans that took longest",
		.parameters = "name=*",
		.among = "SELECT DISTINCT name FROM spans WHERE duration_ns IS NOT NULL",
		.none = "there are no spans that ended: record events that begin and end something (HODO_SPAN, HODO_BEGIN)",
		.sql = "SELECT make_timestamp_ns(ts) AS time, host, process, pid, thread, name,\n"
		       "       duration_ns / 1e6 AS ms, self_ns / 1e6 AS self_ms, fields\n"
		       "FROM spans\n"
		       "WHERE duration_ns IS NOT NULL AND name GLOB $name\n"
		       "ORDER BY duration_ns DESC, ts\n"
		       "LIMIT 20",
	},
	{
		.name = "p99",
		.does = "how long spans took, by host and minute",
		.parameters = "name=*",
		.among = "SELECT DISTINCT name FROM spans WHERE duration_ns IS NOT NULL",
		.none = "there are no spans that ended: record events that begin and end something (HODO_SPAN, HODO_BEGIN)",
		.sql = "WITH buckets AS (SELECT host, date_trunc('minute', make_timestamp_ns(ts)) AS minute, name,\n"
		       "                        " BUCKET
		       "                 FROM spans\n"
		       "                 WHERE duration_ns IS NOT NULL AND name GLOB $name\n"
		       "                 GROUP BY host, minute, name, bucket),\n"
		       "     ranks AS (SELECT *, sum(n) OVER (PARTITION BY host, minute, name) AS spans,\n"
		       "                      sum(n) OVER (PARTITION BY host, minute, name ORDER BY bucket) AS rank\n"
		       "               FROM buckets)\n"
		       "SELECT host, minute, name, sum(n)::BIGINT AS spans,\n"
		       "       min(ns) FILTER (rank >= 0.5 * spans) / 1e3 AS p50_us,\n"
		       "       min(ns) FILTER (rank >= 0.99 * spans) / 1e3 AS p99_us, max(ns) / 1e3 AS max_us\n"
		       "FROM ranks\n"
		       "GROUP BY host, minute, name\n"
		       "ORDER BY host, minute, name",
	},
	{
		.name = "waits",
		.does = "who waited for whom: threads off their CPU, and who woke them (record -k -e 'sched:*')",
		.parameters = "thread=*",
		.among = "SELECT DISTINCT thread FROM waits WHERE tid <> 0",
		.none = "it is not recorded when threads wait: record with -k -e 'sched:*'",
		.sql = "SELECT host, thread, tid, why, waker, waker_tid, count(*) AS waits,\n"
		       "       sum(duration_ns)::BIGINT / 1e6 AS total_ms, max(duration_ns) / 1e6 AS max_ms\n"
		       "FROM waits\n"
		       "WHERE thread GLOB $thread AND tid <> 0\n"
		       "GROUP BY ALL\n"
		       "ORDER BY total_ms DESC, host, tid, waker_tid\n"
		       "LIMIT 40",
	},
	{
		.name = "before",
		.does = "how often each event happened in the ten seconds before an error, second by second",
		.parameters = "event=*error*",
		.among = "SELECT DISTINCT name FROM events",
		.none = "there are no events",
		.sql = "WITH errors AS (SELECT host, ts FROM events WHERE name GLOB $event),\n"
		       "     around AS (SELECT e.name, (x.ts - e.ts) // 1000000000 AS second\n"
		       "                FROM events e JOIN errors x\n"
		       "                  ON e.host IS NOT DISTINCT FROM x.host\n"
		       "                 AND e.ts <= x.ts AND e.ts > x.ts - 10000000000)\n"
		       "SELECT name, second AS seconds_before, count(*) / (SELECT count(*) FROM errors) AS per_error\n"
		       "FROM around\n"
		       "GROUP BY name, second\n"
		       "ORDER BY name, second",
	},
	{
		.name = "outliers",
		.does = "hosts whose 99th percentile of a span is far from that of the others",
		.parameters = "name=*",
		.among = "SELECT DISTINCT name FROM spans WHERE duration_ns IS NOT NULL",
		.none = "there are no spans that ended: record events that begin and end something (HODO_SPAN, HODO_BEGIN)",
		.otherwise = "no span is of three hosts, and of two neither is the usual one: give recordings of more",
		.sql = "WITH buckets AS (SELECT host, name,\n"
		       "                        " BUCKET
		       "                 FROM spans\n"
		       "                 WHERE duration_ns IS NOT NULL AND name GLOB $name\n"
		       "                 GROUP BY host, name, bucket),\n"
		       "     ranks AS (SELECT *, sum(n) OVER (PARTITION BY host, name) AS of_host,\n"
		       "                      sum(n) OVER (PARTITION BY host, name ORDER BY bucket) AS rank\n"
		       "               FROM buckets),\n"
		       "     by_host AS (SELECT host, name, sum(n)::BIGINT AS spans,\n"
		       "                        min(ns) FILTER (rank >= 0.99 * of_host) AS p99\n"
		       "                 FROM ranks\n"
		       "                 GROUP BY host, name),\n"
		       "     fleet AS (SELECT name, median(p99) AS usual, mad(p99) AS spread, count(*) AS hosts\n"
		       "               FROM by_host GROUP BY name)\n"
		       "SELECT host, name, spans, round(p99 / 1e3, 3) AS p99_us, round(usual / 1e3, 3) AS fleet_p99_us,\n"
		       "       round(p99 / usual, 3) AS times,\n"
		       "       round((p99 - usual) / nullif(1.4826 * spread, 0), 3) AS sigmas\n"
		       "FROM by_host JOIN fleet USING (name)\n"
		       "WHERE hosts > 2\n"
		       "ORDER BY abs(ln(p99 / usual)) DESC, host, name\n"
		       "LIMIT 40",
	},
	{
		.name = "lost",
		.does = "which hosts and processes lost events, and of which some are damaged",
		.none = "no event was lost",
		.sql = "SELECT host, process, pid, recording, events, lost, damaged, complete,\n"
		       "       lost / nullif(events + lost, 0) AS share\n"
		       "FROM processes\n"
		       "WHERE lost > 0 OR NOT complete\n"
		       "ORDER BY lost DESC, host, pid",
	},
};

const struct hodo_duck_question *hodo_duck_question(unsigned i)
{
	return i < sizeof(questions) / sizeof(*questions) ? &questions[i] : NULL;
}
