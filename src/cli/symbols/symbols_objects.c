/* SPDX-License-Identifier: MIT */
/* symbols_objects.c - the executables and libraries of a recording whose symbols are wanted: see symbols.h. */
#define _GNU_SOURCE
#include "symbols.h"

#include <string.h>

#include <base/vec.h>
#include <sym/symbols_dir.h>

static bool has_context(const struct hodo_read_process *p, bool *stacks)
{
	bool any = false;

	for (uint32_t i = 0; i < p->nclasses; i++) {
		const struct hodo_read_class *c = p->classes[i];

		any |= c->ncontext > 0;
		for (uint32_t k = 0; k < c->ncontext; k++)
			*stacks |= strcmp(c->context[k].name, "stack") == 0;
	}
	return any;
}

struct symbols_object *symbols_objects_new(struct symbols_objects *all, const uint8_t *build_id, size_t len,
					   const char *path)
{
	uint32_t i = hodo_strings_add_bytes(&all->ids, (const char *)build_id, len);
	struct symbols_object *o;

	if (i == HODO_STRINGS_NONE)
		exit(hodo_no_memory());
	if (i < all->n)
		return &all->list[i];
	o = hodo_must(hodo_vec_add(all->list, all->n));
	memcpy(o->build_id, build_id, len);
	o->build_id_len = len;
	o->path = hodo_must(strdup(path));
	return o;
}

int symbols_objects_add(struct symbols_objects *all, const char *recording, const struct hodo_args *args)
{
	HODO_AUTO_READ struct hodo_read *r = hodo_open(recording, args->quiet);

	if (!r)
		return HODO_EXIT_FAILURE;
	for (uint32_t i = 0; i < hodo_read_nprocesses(r); i++) {
		const struct hodo_read_process *p = hodo_read_process(r, i);
		bool stacks = false, context = has_context(p, &stacks);

		for (uint32_t k = 0; k < p->nobjects; k++) {
			const struct hodo_read_object *o = &p->objects[k];
			struct symbols_object *wanted;

			/* As hodo_symbols_keep() has it. Of the kernel and the vdso there are no such files. */
			if ((!o->functions && !context) || *o->path != '/')
				continue;
			if (!o->build_id_len) {
				all->anonymous++;
				continue;
			}
			wanted = symbols_objects_new(all, o->build_id, o->build_id_len, o->path);
			wanted->owner = p->owner;
			wanted->code |= stacks;
		}
	}
	return 0;
}

void symbols_objects_free(struct symbols_objects *o)
{
	for (uint32_t i = 0; i < o->n; i++)
		free(o->list[i].path);
	free(o->list);
	hodo_strings_free(&o->ids);
}

char *symbols_object_text(const struct symbols_object *o)
{
	char id[2 * HODO_ELF_BUILD_ID_MAX + 1], *text;
	const char *slash = strrchr(o->path, '/');

	*hodo_format_bytes(id, o->build_id, o->build_id_len) = 0;
	return hodo_must(asprintf(&text, "%s, build-id %s", slash ? slash + 1 : o->path, id) < 0 ? NULL : text);
}

const char *symbols_count_text(uint32_t files, uint32_t kept, uint64_t bytes, char buf[128])
{
	char size[32];

	if (!files)
		snprintf(buf, 128, "%u file%s already", kept, kept == 1 ? " was" : "s were");
	else
		snprintf(buf, 128, kept ? "%u file%s, %s, and %u from before," : "%u file%s, %s,", files,
			 files == 1 ? "" : "s", hodo_human_bytes(bytes, size), kept);
	return buf;
}
