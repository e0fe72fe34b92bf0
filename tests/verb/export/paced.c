/* SPDX-License-Identifier: MIT */
/*
 * paced.c - a program that makes spans when it is told to: paced. Each line of its input is a number N; it answers
 * "N" when it has made that many requests of two spans, an event, a mark and a counter, each time in another thread.
 * One span lasts as long as the program, and each line is a span that is paired by its number.
 */
#define _GNU_SOURCE
#include <hodo/trace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>

static void *work(void *arg)
{
	int n = *(int *)arg;
	char name[16];

	snprintf(name, sizeof(name), "worker %d", n);
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < n; i++) {
		HODO_SPAN(paced, request, i, HODO_F(path, "/index"));
		HODO_EVENT(paced, step, i);
		{
			HODO_SPAN(paced, inner, HODO_F(square, (long)i * i));
			HODO_MARK(paced, note, "in %d of %d", i, n);
			HODO_COUNTER(paced, done, i);
		}
	}
	return NULL;
}

static void in_thread(int n)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, &n) != 0 || pthread_join(thread, NULL) != 0)
		abort();
}

int main(void)
{
	char line[32];

	HODO_SPAN(paced, all);
	while (fgets(line, sizeof(line), stdin)) {
		HODO_BEGIN(paced, line, (unsigned long)atoi(line));
		in_thread(atoi(line));
		HODO_END(paced, line, (unsigned long)atoi(line));
		printf("%s", line);
		fflush(stdout);
	}
	return 0;
}
