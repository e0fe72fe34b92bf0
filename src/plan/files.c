/* SPDX-License-Identifier: MIT */
/* files.c - see files.h. */
#include "files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <base/scope.h>
#include <base/vec.h>
#include <elf/slots.h>
#include <probe/code/landings.h>
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

void hodo_plan_file_decode(struct hodo_plan_file *f, const char *path)
{
	HODO_AUTO(hodo_elf_close) struct hodo_elf e = HODO_ELF_CLOSED;

	if (f->decoded)
		return;
	f->decoded = true;
	f->err = hodo_elf_open(&e, path);
	f->object = f->err ? NULL : calloc(1, sizeof(*f->object));
	if (!f->object)
		return;
	hodo_code_segments_find(&f->segments, e.elf);
	f->entry = entry_of(e.elf);
	f->err = hodo_probe_object_open(f->object, &e, &f->why);
	if (f->err) {
		free(f->object);
		f->object = NULL;
	}
}

struct hodo_plan_file *hodo_plan_files_get(struct hodo_plan_files *p, const char *path)
{
	struct hodo_plan_file *f;
	struct stat st;

	if (stat(path, &st) < 0)
		return NULL;
	for (uint32_t i = 0; i < p->n; i++) {
		f = &p->list[i];
		if (f->dev == st.st_dev && f->inode == st.st_ino && f->bytes == st.st_size &&
		    !memcmp(&f->changed, &st.st_mtim, sizeof(f->changed)))
			return f;
	}
	f = hodo_vec_add(p->list, p->n);
	if (!f)
		return NULL;
	f->dev = st.st_dev;
	f->inode = st.st_ino;
	f->bytes = st.st_size;
	f->changed = st.st_mtim;
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

void hodo_plan_files_free(struct hodo_plan_files *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		struct hodo_plan_file *f = &p->list[i];

		if (f->object)
			hodo_probe_object_close(f->object);
		free(f->object);
		free(f->soname);
		if (f->image)
			hodo_probe_image_close(f->image);
		free(f->image);
		free(f->path);
	}
	free(p->list);
	*p = (struct hodo_plan_files){ 0 };
}
