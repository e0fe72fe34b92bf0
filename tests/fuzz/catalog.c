/* SPDX-License-Identifier: MIT */
/*
 * catalog.c - the catalogue parser, and the metadata written of what it took.
 *
 * Input: the catalogue's bytes, published in two steps.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <lib/fuzz.h>
#include <record/catalog.h>
#include <record/write/ctf_metadata.h>

static void check_metadata(const struct hodo_catalog *c)
{
	struct hodo_read_clock clock = { HODO_CLOCK_TSC, 1000000000, 1, 2 };
	struct hodo_flight flight = { .comm = "fuzz" };
	struct hodo_ctf_metadata m = { .flight = &flight, .clock = &clock, .catalog = c };
	struct hodo_text text = { 0 };
	const char *p;

	hodo_ctf_metadata_text(&m, &text);
	p = hodo_text_string(&text);
	/* Whatever the names are, all is printable, and no name ends a comment. */
	for (size_t i = 0; i < text.len; i++) {
		char ch = p[i];

		if ((ch < ' ' || ch > '~') && ch != '\n' && ch != '\t')
			abort();
		if (ch == '*' && p[i + 1] == '/' && p[i + 2] != '\n')
			abort();
	}
	hodo_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct hodo_catalog c = { 0 };
	int n;

	if (len > HODO_CATALOG_SIZE)
		return 0;
	n = hodo_catalog_read(&c, data, len / 2 & ~(size_t)7);
	if (n < 0 && n != -EBADMSG)
		abort();
	n = hodo_catalog_read(&c, data, len & ~(size_t)7);
	if ((n < 0 && n != -EBADMSG) || c.parsed > len)
		abort();
	check_metadata(&c);
	hodo_catalog_free(&c);
	return 0;
}
