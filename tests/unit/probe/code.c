/* SPDX-License-Identifier: MIT */
/* code.c - see code.h. */
#include "code.h"

#include <lib/unit.h>

void code_object(struct hodo_probe_object *o, const uint8_t *code, size_t len, size_t end)
{
	struct hodo_probe_function f = { .start = CODE_AT, .end = CODE_AT + (end ? end : len) };

	*o = (struct hodo_probe_object){ 0 };
	assert_int_equal(hodo_probe_object_add_code(o, CODE_AT, code, len), 0);
	assert_int_equal(hodo_probe_object_add(o, &f), 0);
	assert_int_equal(hodo_probe_object_decode(o, NULL), 0);
}

struct hodo_probe_window code_entry(const struct hodo_probe_object *o)
{
	struct hodo_probe_window w;

	hodo_probe_window_entry(o, &o->functions[0], &w);
	return w;
}

struct hodo_probe_window code_exit(const struct hodo_probe_object *o, uint32_t n)
{
	struct hodo_probe_window w;

	assert_true(n < o->nexits);
	hodo_probe_window_exit(o, &o->exits[n], &w);
	return w;
}
