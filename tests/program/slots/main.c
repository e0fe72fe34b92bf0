/* SPDX-License-Identifier: MIT */
/*
 * main.c KIND - runs w_work() untraced, traced, with a filter, and untraced again; prints counts for check.py.
 * LIBRARY: w_work is in the library that the environment names, opened while tracing is on.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "slots.h"
#include "work.h"

#define ROUNDS 30

#define SELF __attribute__((no_instrument_function))

static SELF void fail(const char *what, long value)
{
	printf("FAILED %s %ld\n", what, value);
	exit(1);
}

SELF int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "exact";
	const char *library = getenv("SLOTS_LIBRARY");
	long (*work)(int) = 0, plain, r;
	unsigned long before;

#ifndef LIBRARY
	work = w_work;
	plain = work(ROUNDS);
	if (slots_total())
		fail("untraced, but entered", (long)slots_total());
#endif
	if ((r = slots_on(0)) != 0)
		fail("register", r);
#ifdef LIBRARY
	void *handle = dlopen(library, RTLD_NOW);

	if (!handle)
		fail(dlerror(), 0);
	work = (long (*)(int))dlsym(handle, "w_work");
	plain = work(0);
	plain = work(ROUNDS);
#else
	(void)library;
	if (work(0) != 0)
		fail("nothing", 0);
	if ((r = work(ROUNDS)) != plain)
		fail("result", r);
#endif
	if ((r = slots_off()) != 0)
		fail("unregister", r);
	before = slots_total();
	if ((r = work(ROUNDS)) != plain || slots_total() != before)
		fail("untraced again", r);
	if ((r = (long)slots_differ(stdout, kind)) != 0)
		fail("text differs", r);
	slots_print(stdout);
	printf("-- filtered\n");
	if ((r = slots_on("w_void,w_t*")) != 0)
		fail("register with a filter", r);
	if ((r = work(ROUNDS)) != plain)
		fail("result", r);
	slots_off();
	if ((r = work(ROUNDS)) != plain || slots_differ(stdout, kind))
		fail("result", r);
	slots_print(stdout);
	printf("result %ld total %lu\n", plain, slots_total());
	return 0;
}
