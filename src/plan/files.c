/* SPDX-License-Identifier: MIT */
/* files.c - the files of the processes of a recording. */
#include "files.h"

#include "cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/scope.h>
#include <base/vec.h>
#include <elf/slots.h>
#include <probe/value/events.h>
#include <probe/code/landings.h>
#include <probe/code/saved.h>
#include <probe/code/syscalls.h>

static uint64_t entry_of(Elf *elf)
{
	GElf_Ehdr header;

	return gelf_getehdr(elf, &header) ? header.e_entry : 0;
}

bool hodo_plan_file_has_slots(struct hodo_plan_file *f, const char *path)
{
	HODO_AUTO(hodo_elf_slots_free) struct hodo_elf_slots slots = { 0 };
	HODO_AUTO(hodo_elf_close) struct hodo_elf e = HODO_ELF_CLOSED;

	if (!f->slots_known && hodo_elf_open(&e, path) == 0)
		f->slots = hodo_elf_slots_find(&slots, &e) == 0 && slots.n;
	f->slots_known = true;
	return f->slots;
}

bool hodo_plan_file_may_call(struct hodo_plan_file *f, const char *path)
{
	HODO_AUTO(hodo_elf_close) struct hodo_elf e = HODO_ELF_CLOSED;

	if (!f->calls_known && hodo_elf_open(&e, path) == 0)
		f->calls = hodo_probe_may_call(&e);
	f->calls_known = true;
	return f->calls;
}

unsigned hodo_plan_file_landings(struct hodo_plan_file *f, const char *path)
{
	HODO_AUTO(hodo_elf_close) struct hodo_elf e = HODO_ELF_CLOSED;

	if (!f->landings_known && hodo_elf_open(&e, path) == 0)
		f->landings = hodo_probe_landings_in(e.elf);
	f->landings_known = true;
	return f->landings;
}

const char *hodo_plan_file_soname(struct hodo_plan_file *f, const char *path)
{
	HODO_AUTO(hodo_elf_close) struct hodo_elf e = HODO_ELF_CLOSED;

	if (!f->soname)
		f->soname = strdup(hodo_elf_open(&e, path) == 0 ? hodo_elf_soname(e.elf) : "");
	return f->soname ? f->soname : "";
}

/* A file that was written to has another time, whatever its writer sets. */
static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       memcmp(&a->st_mtim, &b->st_mtim, sizeof(a->st_mtim)) == 0 &&
	       memcmp(&a->st_ctim, &b->st_ctim, sizeof(a->st_ctim)) == 0;
}

static void close_object(struct hodo_plan_file *f)
{
	if (f->object)
		hodo_probe_object_close(f->object);
	free(f->object);
	f->object = NULL;
}

static int store(const struct hodo_plan_files *p, const struct hodo_plan_file *f, const struct hodo_plan_identity *id)
{
	HODO_AUTO_FREE uint8_t *bytes = NULL;
	size_t n;
	int err = hodo_probe_object_save(f->object, &bytes, &n);

	return err ? err : hodo_plan_cache_store(p->cache, id, bytes, n);
}

/* From the cache, or as the cache gets it. */
static void open_object(struct hodo_plan_files *p, struct hodo_plan_file *f, const struct hodo_elf *e)
{
	HODO_AUTO(hodo_text_free) struct hodo_text known = { 0 };
	struct hodo_plan_identity id;

	hodo_plan_identify(&id, e, &f->stat);
	if (!p->asked)
		p->cache = hodo_plan_cache_open();
	p->asked = true;
	if (p->cache >= 0 && hodo_plan_cache_load(p->cache, &id, &known) &&
	    hodo_probe_object_restore(f->object, e, (const uint8_t *)known.data, known.len) == 0) {
		p->loaded++;
		return;
	}
	p->decoded++;
	f->err = hodo_probe_object_open(f->object, e, &f->why);
	if (!f->err && p->cache >= 0)
		store(p, f, &id);
}

int hodo_plan_file_decode(struct hodo_plan_files *p, struct hodo_plan_file *f, const char *path,
			  struct hodo_rights *rights)
{
	HODO_AUTO(hodo_elf_close) struct hodo_elf e = HODO_ELF_CLOSED;
	struct stat st;

	if (f->decoded)
		return 0;
	f->err = hodo_elf_open(&e, path);
	if (!f->err && (fstat(e.fd, &st) < 0 || !is_same(&st, &f->stat)))
		f->err = -ESTALE;
	/* The process may have ended, or its file have changed. */
	f->decoded = f->err != -ENOENT && f->err != -ESRCH && f->err != -ESTALE;
	f->object = f->err ? NULL : calloc(1, sizeof(*f->object));
	if (!f->object)
		return 0;
	hodo_code_segments_find(&f->segments, e.elf);
	f->entry = entry_of(e.elf);
	hodo_rights_end(rights);
	open_object(p, f, &e);
	if (f->err)
		close_object(f);
	return hodo_rights_again(rights);
}

struct hodo_plan_file *hodo_plan_files_get(struct hodo_plan_files *p, const struct stat *st)
{
	struct hodo_plan_file *f;

	for (uint32_t i = 0; i < p->n; i++)
		if (is_same(&p->list[i]->stat, st))
			return p->list[i];
	f = calloc(1, sizeof(*f));
	if (!f || hodo_vec_push(p->list, p->n, f) < 0) {
		free(f);
		return NULL;
	}
	f->stat = *st;
	return f;
}

int hodo_plan_file_image(struct hodo_plan_file *f, const char *path)
{
	int err;

	if (f->image)
		return 0;
	f->path = strdup(path);
	f->image = calloc(1, sizeof(*f->image));
	err = f->path && f->image ? hodo_probe_image_open(f->image, f->path, NULL) : -ENOMEM;
	if (err) {
		free(f->image);
		free(f->path);
		f->image = NULL;
		f->path = NULL;
		return err;
	}
	f->image->code = f->object;
	return 0;
}

void hodo_plan_kept_free(struct hodo_plan_kept *k)
{
	hodo_probe_events_free(&k->target);
	hodo_probe_piece_free(k->target.piece);
	free(k->target.replacements);
	free((void *)k->target.functions);
	free((void *)k->target.slotted);
	free(k->path);
	*k = (struct hodo_plan_kept){ 0 };
}

void hodo_plan_files_free(struct hodo_plan_files *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		struct hodo_plan_file *f = p->list[i];

		hodo_plan_kept_free(&f->kept);
		close_object(f);
		free(f->soname);
		if (f->image)
			hodo_probe_image_close(f->image);
		free(f->image);
		free(f->path);
		free(f);
	}
	free(p->list);
	if (p->asked && p->cache >= 0)
		close(p->cache);
	*p = (struct hodo_plan_files){ 0 };
}
