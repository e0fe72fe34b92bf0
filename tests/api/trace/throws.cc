/* SPDX-License-Identifier: MIT */
/*
 * throws.cc - exceptions and events: thrown and caught in a probe and in a signal handler while an event is being
 * recorded, and through functions whose spans they end. Registers of functions are the same after all of it.
 */
#include <hodo/trace.h>
#include <csignal>
#include <cstdio>

HODO_TRACEPOINT(throws, point, (const char *, text), (int, n), (double, d));

static volatile int caught;

__attribute__((noinline)) static void throw_at(int n)
{
	if (n >= 0)
		throw n;
}

static void throw_and_catch()
{
	try {
		throw_at(1);
	} catch (int n) {
		caught = caught + n;
	}
}

static void on_signal(int) { throw_and_catch(); }

static void probe(void *, const char *, int n, double)
{
	throw_and_catch();
	raise(SIGUSR1); /* the handler runs inside of site.S */
	HODO_EVENT(throws, probed, n);
}

__attribute__((noinline)) static int inner(int n, double d)
{
	HODO_SPAN(throws, inner, n);
	trace_throws_point("text", n, d);
	throw_at(n % 3 - 1);
	return n;
}

__attribute__((noinline)) static double outer(int n, double d)
{
	HODO_SPAN(throws, outer, n, HODO_F(text, "text"));
	const double before = d * 3;

	try {
		return inner(n, d) + before;
	} catch (int thrown) {
		HODO_EVENT(throws, caught, thrown, d);
		return before + thrown * 100 + n;
	}
}

static int check()
{
	for (int n = 0; n < 300; n++) {
		const int thrown = n % 3 - 1;

		if (outer(n, n + 0.5) != (n + 0.5) * 3 + n + (thrown >= 0 ? thrown * 100 : 0)) {
			printf("%d: not so\n", n);
			return 1;
		}
	}
	return 0;
}

int main()
{
	signal(SIGUSR1, on_signal);
	if (check() != 0)
		return 1;
	if (register_trace_throws_point(probe, nullptr) != 0)
		return 2;
	if (check() != 0)
		return 1;
	printf("%d\n", caught);
	return caught == 600 ? 0 : 3;
}
