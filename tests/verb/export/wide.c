/* SPDX-License-Identifier: MIT */
/*
 * wide.c - export_wide DIR CLASSES [NAME]: one event of each class; each class has four fields that no other has. With
 * a name, all classes have it, and their fields' names are long.
 */
#include <lib/recordings/gen.h>

#include <err.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	unsigned n = argc >= 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	struct gen_trace t;
	struct gen_stream s;

	if (n == 0)
		errx(2, "usage: export_wide DIR CLASSES [NAME]");
	gen_trace_start(&t, argv[1], "wide-7", "wide", 7, "discard", 1000000000, 1795000000, 0);
	for (unsigned i = 0; i < n; i++) {
		char names[4][160], name[32];
		struct gen_field fields[4];

		for (unsigned k = 0; k < 4; k++) {
			snprintf(names[k], sizeof(names[k]), argc > 3 ? "f%u%0120u" : "f%u", 4 * i + k, 0);
			fields[k] = (struct gen_field){ names[k], k == 3 ? HODO_TYPE_STR : HODO_TYPE_U32 };
		}
		snprintf(name, sizeof(name), "wide:e%u", i);
		gen_class(&t, 1 + i, argc > 3 ? argv[3] : name, "event", "", fields, 4);
	}
	gen_stream_start(&s, &t, "cpu0", 0);
	gen_packet_start(&s, 1000);
	for (unsigned i = 0; i < n; i++) {
		gen_event(&s, 1 + i, 7, 1000 + i);
		for (unsigned k = 0; k < 3; k++)
			gen_u32(&s, 10 * i + k);
		gen_str(&s, "a \"text\", with commas");
	}
	gen_packet_end(&s, 1000 + n, 0);
	gen_stream_end(&s);
	gen_comment(&t, "end ts=1795000000000100000");
	gen_trace_end(&t);
	return 0;
}
