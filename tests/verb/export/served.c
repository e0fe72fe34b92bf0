/* SPDX-License-Identifier: MIT */
/*
 * served.c - a program with spans of traces that others began, as a service has them; also compiled as C++.
 *
 *	served TRACEPARENT...	a span below each, with two inside of it
 *	served limits		a span with more than OpenTelemetry's limits
 *	served characters TRACEPARENT	each character at each place of it
 *	served threads		spans in threads, and in handlers of signals that interrupt them
 *
 * Prints a line for each span that has a context: its name, a space and its traceparent.
 */
#include <hodo/trace.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))

/* A text that stays unwritten shows it. */
static void say(const char *name)
{
	char text[HODO_TRACEPARENT_BYTES] = "not written";
	int err = hodo_span_traceparent(text);

	printf("%s %s\n", name, err ? text[0] ? "wrong" : "none" : text);
	fflush(stdout);
}

KEEP static void query(int n)
{
	HODO_SPAN_CONTEXT(web, query, NULL);
	HODO_EVENT(web, row, n);
	say("web:query");
}

KEEP static void handle(int n, const char *traceparent)
{
	HODO_SPAN_CONTEXT(web, request, traceparent, n, HODO_F(path, "/cart"));
	say("web:request");
	{
		HODO_SPAN(web, plain, n);
		query(n);
	}
	say("web:request");
}

/* A copy that ends with its page; the next page cannot be read. */
static const char *at_the_end(const char *text)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), len = strlen(text) + 1;
	char *p = (char *)mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + page, page, PROT_NONE) != 0)
		exit(1);
	return (const char *)memcpy(p + page - len, text, len);
}

KEEP static void limits(void)
{
	static char text[10001];

	memset(text, 'a', sizeof(text) - 1);
	memcpy(text + 4095, "\xc3\xbc", 2); /* a character that the limit cuts in two */
	HODO_SPAN(web, large, HODO_F(text, text));
	for (int n = 0; n < 200; n++)
		HODO_EVENT(web, step, n);
	HODO_COUNTER(web, ratio, __builtin_nan(""));
	HODO_COUNTER(web, ratio, -__builtin_inf());
}

/* An idle span is one instruction: this function contains nothing else. */
KEEP void idle(int n);
KEEP void idle(int n)
{
	HODO_SPAN_CONTEXT(idle, span, NULL, n);
}

#define THREADS 3
#define SPANS   4000
static int wrong;

static void on_alarm(int signum)
{
	HODO_SPAN_CONTEXT(web, handler, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", signum);
	char text[HODO_TRACEPARENT_BYTES];

	if (hodo_span_traceparent(text) != 0 || strcmp(text + 53, "00") != 0)
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

/* Whatever a handler did meanwhile, the thread is still in its own span. */
static void *spans(void *arg)
{
	char outer[HODO_TRACEPARENT_BYTES], inner[HODO_TRACEPARENT_BYTES], after[HODO_TRACEPARENT_BYTES];

	HODO_SPAN_CONTEXT(web, thread, NULL);
	hodo_span_traceparent(outer);
	for (int n = 0; n < SPANS; n++) {
		{
			HODO_SPAN_CONTEXT(web, step, NULL, n);
			if (hodo_span_traceparent(inner) != 0 || strncmp(inner, outer, 36) != 0 ||
			    strcmp(inner, outer) == 0 || strcmp(inner + 53, "01") != 0)
				__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
		}
		if (hodo_span_traceparent(after) != 0 || strcmp(outer, after) != 0)
			__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	}
	return arg;
}

static int threads(void)
{
	const struct itimerval often = { { 0, 200 }, { 0, 200 } }, never = { { 0, 0 }, { 0, 0 } };
	pthread_t thread[THREADS];

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, spans, NULL) != 0)
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("wrong %d\n", wrong);
	return 0;
}

static bool is_right(const char *good, size_t at, char c)
{
	bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');

	return good[at] == '-' ? c == '-' : digit;
}

/* Counts wrong decisions, either way. good: is taken, and a change of one character cannot make its version ff. */
static int characters(const char *good)
{
	char text[HODO_TRACEPARENT_BYTES], ours[HODO_TRACEPARENT_BYTES];

	for (size_t at = 0; at < sizeof(text) - 1; at++) {
		for (int c = 1; c < 256; c++) {
			memcpy(text, good, sizeof(text));
			text[at] = (char)c;
			HODO_SPAN_CONTEXT(web, character, text);
			hodo_span_traceparent(ours);
			wrong += (memcmp(ours + 3, text + 3, 32) == 0) != is_right(good, at, (char)c);
			/* Whether it is sampled, which an odd digit says. */
			wrong += is_right(good, at, (char)c) && (strtol(text + 53, NULL, 16) & 1) != ours[54] - '0';
		}
	}
	printf("wrong %d\n", wrong);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "limits") == 0) {
		limits();
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "threads") == 0)
		return threads();
	if (argc == 3 && strcmp(argv[1], "characters") == 0)
		return characters(argv[2]);
	say("outside");
	for (int n = 1; n < argc; n++)
		handle(n, n % 2 ? argv[n] : at_the_end(argv[n]));
	say("outside");
	handle(0, NULL);
	/* A child makes different identifiers. */
	for (int n = 0; n < 2; n++) {
		pid_t pid = fork();

		if (pid == 0) {
			handle(100 + n, NULL);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) < 0)
			return 1;
	}
	return 0;
}
