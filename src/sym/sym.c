/* SPDX-License-Identifier: MIT */
/* sym.c - an object's functions: where they come from. */
#include "internal.h"

#include <errno.h>
#include <stdlib.h>

#include <base/rights.h>
#include <base/scope.h>

static int read_files(struct hodo_sym *s, const char *root)
{
	HODO_AUTO(hodo_rights_end) struct hodo_rights rights = { 0 };
	uint8_t id[HODO_ELF_BUILD_ID_MAX];
	size_t len = s->object.build_id_len;
	int err = hodo_rights_of(&rights, s->owner);

	memcpy(id, s->object.build_id, len);
	if (!err)
		err = hodo_elf_object_open(&s->object, s->path, id, len, root);
	if (err)
		return err;
	s->functions = calloc(s->object.symbols.n, sizeof(*s->functions));
	return s->functions ? 0 : -ENOMEM;
}

int hodo_sym_open(struct hodo_sym **sym, const struct hodo_sym_source *source)
{
	size_t len = source->build_id ? source->build_id_len : 0;
	int err = hodo_sym_new(sym, source->path ? source->path : "", source->build_id, len);

	if (err || (source->saved && hodo_sym_saved_read(*sym, source->saved) == 0) ||
	    (source->saved_text && hodo_sym_saved_take(*sym, strdup(source->saved_text)) == 0))
		return err;
	hodo_sym_forget(*sym);
	(*sym)->owner = source->owner;
	err = read_files(*sym, source->debug_root);
	if (err) {
		hodo_sym_close(*sym);
		*sym = NULL;
	}
	return err;
}
