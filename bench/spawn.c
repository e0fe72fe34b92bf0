/* SPDX-License-Identifier: MIT */
/*
 * spawn.c - what it costs to start a program: posix_spawn to exit, in variants
 * that take turns.
 *
 *	spawn COUNT VARIANT…
 *
 * A variant is NAME:ENVIRONMENT:PROGRAM; ENVIRONMENT says what of this process's
 * own environment the program gets: "none" nothing of Hodoscope, "preload" only
 * LD_PRELOAD, "all" everything. Prints "NAME=MICROSECONDS …", medians: of the
 * first variant the time, of the others what they take longer than the first
 * one did just before.
 */
#include "loop.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#define VARIANTS_MAX 8
#define COUNT_MAX 100000
#define ENV_MAX 4096

extern char **environ;

struct variant {
	char *name;
	char *program;
	char *env[ENV_MAX];
	double *us;
};

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static void parse_variant(struct variant *v, char *text, size_t count)
{
	char *environment;
	size_t n = 0;

	v->name = strsep(&text, ":");
	environment = strsep(&text, ":");
	v->program = text;
	v->us = calloc(count, sizeof(*v->us));
	if (!text || !v->us) {
		fprintf(stderr, "bench: a variant is NAME:ENVIRONMENT:PROGRAM\n");
		exit(2);
	}
	for (char **e = environ; *e && n < ENV_MAX - 1; e++) {
		bool preload = starts(*e, "LD_PRELOAD=");

		if (strcmp(environment, "all") == 0 || (!preload && !starts(*e, "HODO_")) ||
		    (preload && strcmp(environment, "preload") == 0))
			v->env[n++] = *e;
	}
}

static double spawn_us(struct variant *v)
{
	char *argv[] = { v->program, NULL };
	uint64_t start_ns = bench_now_ns();
	int status;
	pid_t pid;

	errno = posix_spawn(&pid, v->program, NULL, NULL, argv, v->env);
	if (errno)
		bench_fail(v->program);
	if (waitpid(pid, &status, 0) < 0)
		bench_fail("waitpid");
	if (status != 0) {
		fprintf(stderr, "bench: %s: status %d\n", v->program, status);
		exit(1);
	}
	return (double)(bench_now_ns() - start_ns) / 1000;
}

int main(int argc, char **argv)
{
	static struct variant variants[VARIANTS_MAX];
	int n = argc - 2;
	size_t count;

	if (n < 1 || n > VARIANTS_MAX)
		return 2;
	count = bench_number(argv[1], 1, COUNT_MAX);
	for (int i = 0; i < n; i++)
		parse_variant(&variants[i], argv[i + 2], count);
	for (size_t round = 0; round < count; round++)
		for (int i = 0; i < n; i++) {
			/* Each takes each place, since the one before leaves its traces in caches and queues. */
			struct variant *v = &variants[(i + round) % (size_t)n];

			v->us[round] = spawn_us(v);
		}
	for (int i = n - 1; i > 0; i--)
		for (size_t round = 0; round < count; round++)
			variants[i].us[round] -= variants[0].us[round];
	for (int i = 0; i < n; i++)
		printf("%s%s=%.2f", i ? " " : "", variants[i].name, bench_median(variants[i].us, count));
	putchar('\n');
	return 0;
}
