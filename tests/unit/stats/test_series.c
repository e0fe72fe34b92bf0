/* SPDX-License-Identifier: MIT */
/* test_series.c - rows of series and groups: what they count, their names, and what happens beyond their bounds. */
#include <string.h>
#include <lib/unit.h>

#include <read/event/threads.h>
#include <stats/series.h>

static struct hodo_stats_options options;
static struct hodo_stats_rows rows;
static struct hodo_read_process process = { .pid = 7, .comm = "server", .hostname = "one" };

static int start(void **state)
{
	options = (struct hodo_stats_options){ .by = HODO_STATS_BY_THREAD };
	series_start(&rows, &options);
	return 0;
}

static int end(void **state)
{
	series_free(&rows);
	return 0;
}

static uint32_t group(const char *comm, uint32_t tid, int32_t cpu)
{
	return series_group_of(&rows, &(struct hodo_stats_who){ &process, comm, process.pid, tid, cpu });
}

TEST(a_name_in_two_sections_is_two_series, .setup = start, .teardown = end)
{
	uint32_t event = series_number(&rows, HODO_STATS_EVENTS, "app:job");
	uint32_t span = series_number(&rows, HODO_STATS_SPANS, "app:job");

	assert_int_not_equal(event, span);
	assert_int_equal(series_number(&rows, HODO_STATS_EVENTS, "app:job"), event);
	assert_string_equal(hodo_stats_series_name(hodo_stats_series_at(&rows, span)), "app:job");
	assert_int_equal(hodo_stats_series_at(&rows, span)->section, HODO_STATS_SPANS);
}

TEST(a_row_is_found_again_whatever_the_cache_holds, .setup = start, .teardown = end)
{
	uint32_t series = series_number(&rows, HODO_STATS_EVENTS, "app:job");

	/* Many more than the cache has places. */
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t g = 1; g < 2000; g++)
			series_row(&rows, series, g)->times.n++;
	for (uint32_t g = 1; g < 2000; g++)
		assert_int_equal(series_row(&rows, series, g)->times.n, 3);
	assert_int_equal(rows.rows.n, 1999);
	assert_false(rows.others);
}

TEST(what_is_beyond_the_bounds_is_counted_together, .setup = start, .teardown = end)
{
	uint32_t series = series_number(&rows, HODO_STATS_EVENTS, "app:job"), n = 70000;
	uint64_t counted = 0;

	for (uint32_t g = 1; g <= n; g++)
		series_row(&rows, series, g)->times.n++;
	assert_true(rows.others);
	assert_in_range(series_row(&rows, series, HODO_STATS_OTHERS)->times.n, 1, n - 1);
	for (uint32_t i = 0; i < rows.rows.n; i++)
		counted += ((struct hodo_stats_row *)hodo_map_at(&rows.rows, i))->times.n;
	assert_int_equal(counted, n); /* none is lost */
	/* A row of the whole series still has its own place. */
	assert_int_equal(hodo_stats_row_group(series_row(&rows, series, 0)), 0);
}

TEST(only_what_takes_time_has_percentiles, .setup = start, .teardown = end)
{
	uint32_t span = series_number(&rows, HODO_STATS_SPANS, "app:job");
	struct hodo_stats_times *times;

	assert_null(series_row(&rows, series_number(&rows, HODO_STATS_EVENTS, "app:tick"), 0)->times.histogram);
	times = &series_row(&rows, span, 0)->times;
	assert_non_null(times->histogram);
	assert_int_equal(hodo_stats_times_at(times, 0.5), 0);
	for (uint64_t ns = 1; ns <= 1000; ns++)
		assert_true(series_times_add(times, 1000 * ns));
	assert_int_equal(times->n, 1000);
	assert_int_equal(times->sum_ns, 1000 * 500500ull);
	assert_in_range(hodo_stats_times_at(times, 0.5), 480000, 520000);
	/* A bucket's middle may lie outside of what was seen; a quantile does not. */
	assert_int_equal(hodo_stats_times_at(times, 1), 1000000);
	assert_in_range(hodo_stats_times_at(times, 0), 1000, 1100);
}

TEST(threads_are_groups_with_their_names, .setup = start, .teardown = end)
{
	uint32_t one = group("worker", 8, 0), other = group("worker", 9, 0);

	assert_int_not_equal(one, other);
	assert_int_equal(group("worker", 8, 1), one); /* on another CPU */
	assert_string_equal(hodo_stats_group_name(&rows, one), "worker[8]");
	assert_string_equal(hodo_stats_group_name(&rows, other), "worker[9]");
	assert_null(hodo_stats_group_name(&rows, 0));
	assert_string_equal(hodo_stats_group_name(&rows, HODO_STATS_OTHERS), "(others)");
}

TEST(a_process_has_its_last_name, .setup = start, .teardown = end)
{
	uint32_t one;

	options.by = HODO_STATS_BY_PROCESS;
	one = group("sh", 7, 0);
	process.comm = "program"; /* as by execve */
	assert_int_equal(group("program", 7, 0), one);
	series_end(&rows);
	assert_string_equal(hodo_stats_group_name(&rows, one), "program[7]");
	process.comm = "server";
}

TEST(numbers_mean_nothing_in_another_recording, .setup = start, .teardown = end)
{
	options.compares = true;
	assert_int_equal(group("worker", 8, 0), group("worker", 9, 1));
	assert_string_equal(hodo_stats_group_name(&rows, group("worker", 8, 0)), "worker");
}

TEST(cpus_of_several_hosts_are_named_with_theirs, .setup = start, .teardown = end)
{
	options.by = HODO_STATS_BY_CPU;
	assert_string_equal(hodo_stats_group_name(&rows, group("worker", 8, 3)), "cpu3");
	rows.hosts = true;
	assert_string_equal(hodo_stats_group_name(&rows, group("worker", 8, 4)), "one cpu4");
	assert_string_equal(hodo_stats_group_name(&rows, group("worker", 8, -1)), "one fallback");
}
