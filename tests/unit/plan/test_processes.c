/* SPDX-License-Identifier: MIT */
/*
 * test_processes.c - plans for several processes of the same files: each file is decoded once, what is wanted of it is
 * looked for once, and the next recording decodes nothing.
 */
#define _GNU_SOURCE
#include <lib/unit.h>

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lib/folder.h>
#include <plan/planner.h>

#define PROCESSES 5

static pid_t pids[PROCESSES];

/* Each has its libraries elsewhere. They run once they have answered. */
static int start(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PROCESSES; i++) {
		int in[2], out[2];
		char byte = 'a';

		assert_int_equal(pipe2(in, O_CLOEXEC), 0);
		assert_int_equal(pipe2(out, O_CLOEXEC), 0);
		pids[i] = fork();
		if (pids[i] == 0) {
			dup2(in[0], STDIN_FILENO);
			dup2(out[1], STDOUT_FILENO);
			execl("/bin/cat", "cat", NULL);
			_exit(127);
		}
		assert_int_equal(write(in[1], &byte, 1), 1);
		assert_int_equal(read(out[0], &byte, 1), 1);
	}
	return 0;
}

static int stop(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PROCESSES; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	return 0;
}

TEST_PROGRAM(.setup = start, .teardown = stop);

static void say(void *arg, const char *line)
{
	(void)arg;
	fprintf(stderr, "# %s\n", line);
}

static struct hodo_pattern_list none;
static struct hodo_planner_replacements nothing;

static struct hodo_planner planner_of(struct hodo_planner_probes *probes, struct hodo_pattern_list *patterns)
{
	probes->patterns = patterns;
	return (struct hodo_planner){ .functions = &none, .sdt = &none, .arguments = &none, .probes = probes,
				      .replacements = &nothing, .reporter = { say, NULL } };
}

static void plan_all(struct hodo_planner *p)
{
	for (unsigned i = 0; i < PROCESSES; i++) {
		struct hodo_plan_request r = { .pid = pids[i] };
		int fd = hodo_planner_plan(p, &r);

		assert_true(fd >= 0);
		close(fd);
	}
}

TEST(each_file_is_decoded_once_and_then_never)
{
	struct hodo_planner_probes probes = { 0 };
	struct hodo_pattern_list patterns = { 0 };
	struct hodo_planner p = planner_of(&probes, &patterns), next = planner_of(&probes, &patterns);
	uint32_t decoded, resolved;

	setenv("HODO_CACHE", folder_path("cache"), 1);
	assert_int_equal(hodo_planner_add_probe(&p, "probe:libc.so.6!write"), 0);
	plan_all(&p);
	decoded = p.files.decoded;
	resolved = p.files.resolved;
	assert_true(decoded >= 1 && resolved >= 1);
	assert_int_equal(p.files.loaded, 0);
	assert_int_equal(p.files.moved, (PROCESSES - 1) * resolved);
	plan_all(&p);
	assert_int_equal(p.files.decoded, decoded);
	assert_int_equal(p.files.resolved, resolved);

	plan_all(&next);
	assert_int_equal(next.files.decoded, decoded - next.files.loaded); /* those that are refused are not kept */
	assert_true(next.files.loaded >= 1);
	assert_int_equal(next.files.resolved, resolved);

	hodo_planner_free(&next);
	hodo_planner_free(&p);
	hodo_planner_probes_free(&probes);
	hodo_pattern_free(&patterns);
}

TEST(another_probe_is_looked_for)
{
	struct hodo_planner_probes probes = { 0 };
	struct hodo_pattern_list patterns = { 0 };
	struct hodo_planner p = planner_of(&probes, &patterns);
	uint32_t resolved, decoded;

	setenv("HODO_CACHE", "", 1);
	assert_int_equal(hodo_planner_add_probe(&p, "probe:libc.so.6!write"), 0);
	plan_all(&p);
	resolved = p.files.resolved;
	decoded = p.files.decoded;
	assert_int_equal(hodo_planner_add_probe(&p, "probe:libc.so.6!read"), 0);
	plan_all(&p);
	assert_int_equal(p.files.resolved, 2 * resolved);
	assert_int_equal(hodo_planner_remove_probe(&p, "probe:libc.so.6!write"), 0);
	plan_all(&p);
	assert_int_equal(p.files.resolved, 3 * resolved);
	assert_int_equal(p.files.decoded, decoded);
	hodo_planner_free(&p);
	hodo_planner_probes_free(&probes);
	hodo_pattern_free(&patterns);
}

TEST(only_files_with_replacements_are_looked_at_again)
{
	struct hodo_planner_replacements replacements = { 0 };
	struct hodo_planner_probes probes = { 0 };
	struct hodo_pattern_list patterns = { 0 };
	struct hodo_planner p = planner_of(&probes, &patterns);
	struct hodo_why why;
	char text[PATH_MAX];
	Dl_info library;

	setenv("HODO_CACHE", "", 1);
	assert_true(dladdr((void *)getenv, &library));
	snprintf(text, sizeof(text), "cat!main=%s:getpid", library.dli_fname);
	p.replacements = &replacements;
	assert_int_equal(hodo_planner_replacements_add(&replacements, text, &why), 0);
	assert_int_equal(hodo_planner_add_probe(&p, "probe:libc.so.6!write"), 0);
	plan_all(&p);
	assert_true(p.files.moved > 0);
	assert_int_equal(p.files.moved, (PROCESSES - 1) * (p.files.resolved - PROCESSES));
	hodo_planner_free(&p);
	hodo_planner_replacements_free(&replacements);
	hodo_planner_probes_free(&probes);
	hodo_pattern_free(&patterns);
}

TEST(a_planner_that_is_fixed_takes_no_probes)
{
	struct hodo_planner_probes probes = { 0 };
	struct hodo_pattern_list patterns = { 0 };
	struct hodo_planner p = planner_of(&probes, &patterns);
	char name[64];

	p.fixed = true;
	assert_int_equal(hodo_planner_add_probe(&p, "probe:libc.so.6!write"), -EOPNOTSUPP);
	assert_int_equal(hodo_planner_remove_probe(&p, "probe:libc.so.6!write"), -EOPNOTSUPP);
	assert_int_equal(hodo_planner_name_probe(&p, 0, name, sizeof(name)), -EOPNOTSUPP);
	assert_int_equal(probes.n, 0);
}
