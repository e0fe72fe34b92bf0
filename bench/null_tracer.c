/* SPDX-License-Identifier: MIT */
/* null_tracer.c - linked to calls.c: registers a tracer of the program's own that does nothing, for all functions. */
#include "loop.h"

#include <hodo/tracer.h>

static void nothing(struct hodo_tracer *tracer, const struct hodo_call *call)
{
	(void)tracer;
	(void)call;
}

static struct hodo_tracer null_tracer = { .size = sizeof(null_tracer), .name = "null", .enter = nothing,
					  .exit = nothing };

__attribute__((constructor)) static void start(void)
{
	int result = hodo_tracer_register(&null_tracer);

	if (result < 0) {
		errno = -result;
		bench_fail("hodo_tracer_register");
	}
}
