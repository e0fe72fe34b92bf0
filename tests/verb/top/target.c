/* SPDX-License-Identifier: MIT */
/*
 * target.c - a program whose events follow commands, one per line on standard input or on a FIFO (argv[1]):
 *
 *   a N, b N, text N    N events of a kind
 *   thread NAME N       a thread of this name records N events of kind a, and waits for the end
 *   name NAME           renames the first thread
 *   flood               records as fast as it can, without end
 *   fork N              a child process records N events of kind b, and ends
 *   say TEXT            writes TEXT to standard output
 *   exit STATUS
 *
 * It answers each with a line "done" on the file argv[2], if given, after carrying all of it out.
 */
#define _GNU_SOURCE
#include <hodo/trace.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static FILE *answers;

static void record(const char *kind, long n)
{
	for (long i = 0; i < n; i++) {
		if (strcmp(kind, "a") == 0)
			HODO_EVENT(top, alpha, i);
		else if (strcmp(kind, "b") == 0)
			HODO_EVENT(top, beta, i, n);
		else
			HODO_EVENT(top, text, kind);
	}
}

struct helper {
	char name[16];
	long n;
	pthread_barrier_t done;
};

static void *help(void *arg)
{
	struct helper *h = arg;

	prctl(PR_SET_NAME, h->name);
	record("a", h->n);
	pthread_barrier_wait(&h->done);
	pause();
	return NULL;
}

static void start_thread(const char *name, long n)
{
	struct helper *h = calloc(1, sizeof(*h));
	pthread_t thread;

	snprintf(h->name, sizeof(h->name), "%s", name);
	h->n = n;
	pthread_barrier_init(&h->done, NULL, 2);
	pthread_create(&thread, NULL, help, h);
	pthread_barrier_wait(&h->done);
}

static void start_child(long n)
{
	pid_t pid = fork();

	if (pid == 0) {
		record("b", n);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void obey(const char *line)
{
	char name[200] = "";
	long n = 0;

	if (strcmp(line, "flood") == 0) {
		for (;;)
			record("a", 1 << 20);
	} else if (sscanf(line, "thread %15s %ld", name, &n) == 2) {
		start_thread(name, n);
	} else if (sscanf(line, "name %15s", name) == 1) {
		prctl(PR_SET_NAME, name);
	} else if (sscanf(line, "fork %ld", &n) == 1) {
		start_child(n);
	} else if (sscanf(line, "exit %ld", &n) == 1) {
		exit((int)n);
	} else if (strncmp(line, "say ", 4) == 0) {
		puts(line + 4);
		fflush(stdout);
	} else if (sscanf(line, "%15s %ld", name, &n) == 2) {
		record(name, n);
	}
	if (answers) {
		fputs("done\n", answers);
		fflush(answers);
	}
}

int main(int argc, char **argv)
{
	FILE *in = argc > 1 ? fopen(argv[1], "r") : stdin;
	char line[256];

	answers = argc > 2 ? fopen(argv[2], "w") : NULL;
	while (in && fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = 0;
		obey(line);
	}
	return 0;
}
