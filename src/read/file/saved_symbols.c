/* SPDX-License-Identifier: MIT */
/* saved_symbols.c - what a recording has kept of the symbols of an object, in one of its folders .symbols. */
#include "reader.h"

#include <read/text/text.h>

#include <base/escape.h>
#include <elf/demangle.h>
#include <errno.h>
#include <hodo/columns.h>
#include <stdio.h>
#include <stdlib.h>

#define SYMBOLS_MAX_BYTES (1u << 30)

/* As docs/format.md says: the build-id, else "p" and a hash of the path. */
static void file_name(char name[2 * sizeof(((struct hodo_read_object *)0)->build_id) + 1],
		      const struct hodo_read_object *o)
{
	uint64_t h = 0xcbf29ce484222325ull;

	if (o->build_id_len) {
		*hodo_format_bytes(name, o->build_id, o->build_id_len) = 0;
		return;
	}
	for (const char *p = o->path; *p; p++)
		h = (h ^ (uint8_t)*p) * 0x100000001b3ull;
	snprintf(name, 18, "p%016llx", (unsigned long long)h);
}

int hodo_read_saved_symbols(const struct hodo_read *r, const struct hodo_read_object *object,
			    struct hodo_read_text *text)
{
	char name[2 * sizeof(object->build_id) + 1];
	size_t len = text->out.len;
	int err = -ENOENT;

	file_name(name, object);
	for (uint32_t i = 0; i <= r->nparts && err == -ENOENT; i++) {
		const char *part = i ? r->parts[i - 1].name : "";
		char path[PATH_MAX];
		uid_t owner;

		if (i && (!part || !*part))
			continue;
		snprintf(path, sizeof(path), "%s%s.symbols/%s", part, i ? "/" : "", name);
		err = hodo_tree_read(r->tree, path, SYMBOLS_MAX_BYTES, &text->out, &owner);
		if (err)
			text->out.len = len;
	}
	return err;
}

int hodo_read_text_symbol(struct hodo_read_text *text, const char *symbol)
{
	char *name = hodo_elf_demangle(symbol);

	if (!name)
		return -ENOMEM;
	hodo_text_add(&text->out, name);
	free(name);
	return text->out.error;
}
