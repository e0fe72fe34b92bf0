/* SPDX-License-Identifier: MIT */
/*
 * main.c - a mixed workload on the SQLite library, traced.
 *
 *	hodo record ./sqlite-bank && hodo stat
 *
 * bank.c has the application and its events, statements.c and traced_vfs.c
 * those of SQLite. The program runs in the same way without `hodo record`.
 */
#define _GNU_SOURCE
#include "bank.h"
#include "hooks.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 256

struct options {
	unsigned long threads;
	unsigned long operations; /* of all threads together */
	const char *path;         /* database file to create and keep; NULL: a temporary one */
};

struct worker {
	pthread_t thread;
	const char *path;
	unsigned long operations;
	uint64_t seed;
	struct bank_counts counts;
	int result;
};

static const char usage[] = "usage: sqlite-bank [-t THREADS] [-n OPERATIONS] [-p NEW_DATABASE_FILE]\n"
			    "  -t, --threads N      clients at the same time, 1 to 256 (4)\n"
			    "  -n, --operations N   operations of all clients together (8000)\n"
			    "  -p, --path FILE      create the database there and keep it\n";

static bool parse_number(const char *text, unsigned long min, unsigned long max, unsigned long *number)
{
	char *end;

	errno = 0;
	*number = strtoul(text, &end, 10);
	return !errno && end != text && !*end && text[0] != '-' && *number >= min && *number <= max;
}

static bool parse_options(struct options *options, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "threads", required_argument, NULL, 't' },
		{ "operations", required_argument, NULL, 'n' },
		{ "path", required_argument, NULL, 'p' },
		{ 0 },
	};
	bool good = true;
	int c;

	*options = (struct options){ .threads = 4, .operations = 8000 };
	while ((c = getopt_long(argc, argv, "t:n:p:", longs, NULL)) != -1) {
		if (c == 't')
			good &= parse_number(optarg, 1, THREADS_MAX, &options->threads);
		else if (c == 'n')
			good &= parse_number(optarg, 1, 1000000000, &options->operations);
		else if (c == 'p')
			options->path = optarg;
		else
			good = false;
	}
	return good && optind == argc;
}

static void *work(void *arg)
{
	struct worker *w = arg;

	pthread_setname_np(pthread_self(), "client");
	w->result = bank_client(w->path, w->operations, w->seed, &w->counts);
	return NULL;
}

/* Runs the clients and sums up what they did. */
static int run_clients(const struct options *options, const char *path, struct bank_counts *total)
{
	static struct worker workers[THREADS_MAX];
	unsigned long started = 0;
	int result = 0;

	for (; started < options->threads; started++) {
		struct worker *w = &workers[started];

		w->path = path;
		w->seed = started + 1;
		w->operations = options->operations / options->threads +
				(started < options->operations % options->threads);
		if (pthread_create(&w->thread, NULL, work, w) != 0) {
			fprintf(stderr, "sqlite-bank: cannot start thread %lu\n", started + 1);
			result = -1;
			break;
		}
	}
	for (unsigned long i = 0; i < started; i++) {
		struct worker *w = &workers[i];

		pthread_join(w->thread, NULL);
		if (w->result < 0)
			result = -1;
		total->operations += w->counts.operations;
		total->transfers += w->counts.transfers;
		total->entries_added += w->counts.entries_added;
		total->entries_removed += w->counts.entries_removed;
		total->rows_read += w->counts.rows_read;
		total->checkpoints += w->counts.checkpoints;
	}
	return result;
}

static int run_bank(const struct options *options, const char *path)
{
	struct bank_counts total = { 0 };

	if (traced_vfs_register() != SQLITE_OK) {
		fprintf(stderr, "sqlite-bank: cannot register the VFS\n");
		return -1;
	}
	if (bank_create(path) < 0 || run_clients(options, path, &total) < 0 || bank_verify(path, &total) < 0)
		return -1;
	printf("sqlite-bank: %lu threads, %lu operations, %lu transfers, %lu checkpoints, %lu statements, "
	       "%lu rows, %lu reads, %lu writes, %lu syncs: verified\n",
	       options->threads, total.operations, total.transfers, total.checkpoints, hook_counts.statements,
	       hook_counts.rows, hook_counts.reads, hook_counts.writes, hook_counts.syncs);
	return 0;
}

/* The database and the files that SQLite keeps next to it. */
static void remove_database(const char *path)
{
	static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };
	char name[4096];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
		unlink(name);
	}
}

int main(int argc, char **argv)
{
	const char *tmp = getenv("TMPDIR");
	struct options options;
	char dir[2048], path[2064];
	int result;

	if (!parse_options(&options, argc, argv)) {
		fputs(usage, stderr);
		return 2;
	}
	if (options.path) {
		if (access(options.path, F_OK) == 0) {
			fprintf(stderr, "sqlite-bank: %s exists: name a new file\n", options.path);
			return 1;
		}
		return run_bank(&options, options.path) < 0;
	}
	snprintf(dir, sizeof(dir), "%s/sqlite-bank.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir)) {
		fprintf(stderr, "sqlite-bank: %s: %s\n", dir, strerror(errno));
		return 1;
	}
	snprintf(path, sizeof(path), "%s/bank.db", dir);
	result = run_bank(&options, path);
	remove_database(path);
	rmdir(dir);
	return result < 0;
}
