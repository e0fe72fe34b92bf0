/* SPDX-License-Identifier: MIT */
/* sym.c - an object's functions: where they come from. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>

/* ------------------------------------------------------------------------- open */

static int set_build_id(struct hodo_sym *s, const uint8_t *id, size_t len)
{
	if (len > sizeof(s->build_id))
		return -EINVAL;
	if (len)
		memcpy(s->build_id, id, len);
	s->build_id_len = len;
	return 0;
}

static int read_files(struct hodo_sym *s, const char *root)
{
	struct hodo_elf_object o;
	int err = hodo_elf_object_open(&o, s->path, s->build_id, s->build_id_len, root);

	if (err)
		return err;
	memcpy(s->build_id, o.build_id, o.build_id_len);
	s->build_id_len = o.build_id_len;
	s->debug_path = o.lines;
	s->symbols = o.symbols;
	s->functions = calloc(s->symbols.n, sizeof(*s->functions));
	return s->functions ? 0 : -ENOMEM;
}

int hodo_sym_open(struct hodo_sym **sym, const struct hodo_sym_source *source)
{
	struct hodo_sym *s = calloc(1, sizeof(*s));
	int err = -ENOENT;

	*sym = NULL;
	if (!s)
		return -ENOMEM;
	s->path = strdup(source->path ? source->path : "");
	if (!s->path) {
		hodo_sym_close(s);
		return -ENOMEM;
	}
	if (source->build_id && set_build_id(s, source->build_id, source->build_id_len) < 0) {
		hodo_sym_close(s);
		return -EINVAL;
	}
	if (source->saved) {
		err = hodo_sym_saved_read(s, source->saved);
		if (err)
			hodo_sym_forget(s);
	}
	if (err)
		err = read_files(s, source->debug_root);
	if (err) {
		hodo_sym_close(s);
		return err;
	}
	*sym = s;
	return 0;
}

void hodo_sym_close(struct hodo_sym *sym)
{
	if (!sym)
		return;
	hodo_sym_forget(sym);
	hodo_sym_lines_close(sym->lines);
	free(sym->debug_path);
	free(sym->path);
	free(sym);
}
