/* SPDX-License-Identifier: MIT */
/*
 * probes.c - registering probes: returns, order, activation, and the grace
 * period under load. Run alone, preloaded and recorded; probes PASSES.
 */
#include <hodo/control.h>
#include <hodo/trace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

HODO_TRACEPOINT(probes, step, (const char *, text), (int, n));
HODO_TRACEPOINT(probes, bare);

#define CHECK(x)                                                                      \
	do {                                                                          \
		if (!(x)) {                                                           \
			fprintf(stderr, "probes.c:%d: not so: %s\n", __LINE__, #x);   \
			exit(1);                                                      \
		}                                                                     \
	} while (0)

static char calls[64];

static void probe_a(void *data, const char *text, int n)
{
	size_t len = strlen(calls);

	if (len + 3 < sizeof(calls))
		snprintf(calls + len, sizeof(calls) - len, "%s%d ", (const char *)data, n);
	CHECK(strcmp(text, "text") == 0);
}

static void probe_bare(void *data) { ++*(int *)data; }

static int self_result;
static void probe_self(void *data, const char *text, int n)
{
	self_result = unregister_trace_probes_step(probe_self, data);
}

static void expect(const char *text)
{
	calls[0] = 0;
	trace_probes_step("text", 1);
	if (strcmp(calls, text) != 0) {
		fprintf(stderr, "probes: \"%s\", expected \"%s\"\n", calls, text);
		exit(1);
	}
}

static void test_basics(void)
{
	int count = 0;

	CHECK(unregister_trace_probes_step(probe_a, "a") == -ENOENT);
	CHECK(register_trace_probes_step(probe_a, (void *)"a") == 0);
	CHECK(trace_probes_step_enabled());
	CHECK(register_trace_probes_step(probe_a, (void *)"a") == -EEXIST);
	expect("a1 ");
	CHECK(register_trace_probes_step(probe_a, (void *)"b") == 0);
	CHECK(register_trace_probes_step(probe_a, (void *)"c") == 0);
	expect("a1 b1 c1 ");
	CHECK(unregister_trace_probes_step(probe_a, (void *)"b") == 0);
	expect("a1 c1 ");
	/* Recording and probes do not switch each other off. */
	CHECK(hodo_disable("probes:*") == 2);
	expect("a1 c1 ");
	hodo_enable("probes:*");
	CHECK(unregister_trace_probes_step(probe_a, (void *)"a") == 0);
	CHECK(unregister_trace_probes_step(probe_a, (void *)"c") == 0);
	expect("");
	CHECK(register_trace_probes_bare(probe_bare, &count) == 0);
	trace_probes_bare();
	trace_probes_bare();
	CHECK(unregister_trace_probes_bare(probe_bare, &count) == 0);
	trace_probes_bare();
	CHECK(count == 2);
	CHECK(register_trace_probes_step(probe_self, &count) == 0);
	trace_probes_step("text", 2);
	CHECK(self_result == -EDEADLK);
	CHECK(unregister_trace_probes_step(probe_self, &count) == 0);
	for (int i = 0; i < 64; i++)
		CHECK(register_trace_probes_step(probe_a, calls + i) == 0);
	CHECK(register_trace_probes_step(probe_a, calls + 64) == -ENOSPC);
	for (int i = 0; i < 64; i++)
		CHECK(unregister_trace_probes_step(probe_a, calls + i) == 0);
}

/* A probe whose data is invalid once it is unregistered. */
struct owner {
	unsigned alive;
	unsigned long hits;
};
static void probe_owner(void *data, const char *text, int n)
{
	struct owner *o = data;

	if (o->alive != 0x600d)
		abort();
	o->hits++;
	for (volatile int i = 0; i < n % 200; i++)
		;
	if (o->alive != 0x600d)
		abort();
}

static volatile int stop;
static void *fire(void *arg)
{
	for (int i = 0; !stop; i++)
		trace_probes_step("text", i);
	return NULL;
}

static void *churn(void *arg)
{
	unsigned long hits = 0;

	for (long i = *(long *)arg; i > 0; i--) {
		struct owner *o = malloc(sizeof(*o));

		*o = (struct owner){ 0x600d, 0 };
		CHECK(register_trace_probes_step(probe_owner, o) == 0);
		for (volatile int k = 0; k < i % 1000; k++)
			;
		CHECK(unregister_trace_probes_step(probe_owner, o) == 0);
		o->alive = 0xdead;
		hits += o->hits;
		free(o);
	}
	return (void *)hits;
}

static void test_grace_period(long passes)
{
	pthread_t firing[3], churning[2];
	void *hits[2];

	for (int i = 0; i < 3; i++)
		pthread_create(&firing[i], NULL, fire, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&churning[i], NULL, churn, &passes);
	for (int i = 0; i < 2; i++)
		pthread_join(churning[i], &hits[i]);
	stop = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(firing[i], NULL);
	printf("%lu calls of probes that came and went\n", (unsigned long)hits[0] + (unsigned long)hits[1]);
	CHECK(passes == 0 || hits[0] || hits[1]);
}

int main(int argc, char **argv)
{
	test_basics();
	test_grace_period(argc > 1 ? atol(argv[1]) : 1000);
	trace_probes_step("end", 99);
	return 0;
}
