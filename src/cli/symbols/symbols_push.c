/* SPDX-License-Identifier: MIT */
/* symbols_push.c - hodo symbols push: programs and debug files into a directory or to a server. */
#define _GNU_SOURCE
#include <cli/on_signal.h>
#include "symbols.h"

#include <elf/object.h>
#include <errno.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

#include <base/rights.h>

#define OPEN_MAX_DIRS 64

struct push {
	const struct symbols_args *args;
	struct symbols_place to;
	uint32_t files, kept;
	uint64_t bytes;
	int failed; /* the place cannot take more: a negative errno */
};

/* --------------------------------------------------------------------------- a file */

/* What it is good for: it has code, or symbols. */
static void classify(Elf *elf, bool has[2])
{
	GElf_Shdr sh;

	has[HODO_STORE_DEBUGINFO] = hodo_elf_has_symbols(elf);
	for (Elf_Scn *scn = NULL; (scn = hodo_elf_section(elf, scn, NULL, &sh)) != NULL;)
		if ((sh.sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) == (SHF_ALLOC | SHF_EXECINSTR))
			has[HODO_STORE_EXECUTABLE] = true;
}

/* Each for what it is: one that was not stripped is both. */
static void put(struct push *p, const struct hodo_elf *e, const struct symbols_object *o)
{
	bool has[2] = { 0 };
	struct stat st;

	if (fstat(e->fd, &st) < 0)
		return;
	classify(e->elf, has);
	for (unsigned kind = 0; kind < 2 && !p->failed; kind++) {
		int got = !has[kind] ? 2 : hodo_stopped ? -EINTR :
			  symbols_place_put(&p->to, o, kind, e->fd, (uint64_t)st.st_size);

		p->failed = got < 0 ? got : 0;
		p->files += got == 0;
		p->bytes += got == 0 ? (uint64_t)st.st_size : 0;
		p->kept += got == 1;
	}
}

/*
 * wanted: NULL: whatever build it is. What fails with the place is in p->failed. Of the file: 0; -ENODATA: it has no
 * build-id; -ESTALE: it is another build; -EBADMSG: it is cut short; -ENOEXEC: no ELF file; or another negative errno.
 */
static int put_path(struct push *p, const char *path, const struct symbols_object *wanted)
{
	HODO_AUTO(hodo_rights_end) struct hodo_rights rights = { 0 };
	struct symbols_object own = { 0 };
	struct hodo_elf e;
	int err = wanted ? hodo_rights_of(&rights, wanted->owner) : 0;

	if (!err)
		err = hodo_elf_open(&e, path);
	hodo_rights_end(&rights);
	if (err)
		return err;
	own.build_id_len = hodo_elf_build_id(&e, own.build_id);
	if (own.build_id_len < 2)
		err = -ENODATA;
	else if (wanted && !hodo_elf_is(&e, wanted->build_id, wanted->build_id_len))
		err = -ESTALE;
	else if (!hodo_elf_is_whole(&e))
		err = -EBADMSG;
	else
		put(p, &e, &own);
	hodo_elf_close(&e);
	return err;
}

/* -------------------------------------------------------------------- what is given */

static int push_file(struct push *p, const char *path)
{
	int err = put_path(p, path, NULL);

	if (!err)
		return 0;
	if (err == -ENODATA)
		return hodo_error("%s: has no build-id: build it with -Wl,--build-id", path);
	return hodo_error("%s: %s", path, err == -ENOEXEC ? "neither a recording nor an ELF file: give a program, library or "
							    "debug file" :
			  err == -EBADMSG ? "the file is cut short: copy it again" : strerror(-err));
}

static struct push *walking; /* nftw() passes nothing on */

static int on_file(const char *path, const struct stat *st, int type, struct FTW *where)
{
	if (type == FTW_F && S_ISREG(st->st_mode))
		put_path(walking, path, NULL);
	return walking->failed;
}

/* All that has a build-id, at any depth. */
static int push_directory(struct push *p, const char *path)
{
	uint32_t before = p->files + p->kept;

	walking = p;
	if (nftw(path, on_file, OPEN_MAX_DIRS, FTW_PHYS) < 0 && !p->failed)
		return hodo_error("%s: %s", path, strerror(errno));
	if (p->files + p->kept == before && !p->failed)
		return hodo_error("%s: no program, library or debug file with a build-id in it: build with "
				  "-Wl,--build-id", path);
	return 0;
}

/* The files of a recording that are on this machine, and their debug files. */
static int push_recording(struct push *p, const char *recording)
{
	struct symbols_objects objects = { 0 };
	uint32_t before = p->files + p->kept;
	int status = symbols_objects_add(&objects, recording, &p->args->args);

	for (uint32_t i = 0; i < objects.n && !status && !p->failed; i++) {
		const struct symbols_object *o = &objects.list[i];
		HODO_AUTO(hodo_rights_end) struct hodo_rights rights = { 0 };
		struct hodo_elf_object found = { 0 };

		if (hodo_rights_of(&rights, o->owner) == 0)
			hodo_elf_object_open(&found, o->path, o->build_id, o->build_id_len, NULL);
		hodo_rights_end(&rights);
		put_path(p, o->path, o);
		if (!p->failed && found.lines && strcmp(found.lines, o->path) != 0)
			put_path(p, found.lines, o);
		hodo_elf_object_close(&found);
	}
	if (!status && !objects.n)
		status = objects.anonymous ?
			 hodo_error("%s: the recorded programs have no build-ids: build them with -Wl,--build-id", recording) :
			 hodo_error("%s: nothing was recorded in it that has functions or callers, so it names no programs: "
				    "give their files", recording);
	else if (!status && !p->failed && p->files + p->kept == before)
		status = hodo_error("%s: none of the %u programs and libraries recorded is on this machine, as the build "
				    "that was recorded", recording, objects.n);
	symbols_objects_free(&objects);
	return status;
}

static int push_word(struct push *p, const char *word)
{
	struct hodo_read *r;
	struct hodo_elf e;
	struct stat st;

	if (stat(word, &st) < 0)
		return hodo_error("%s: %s: check the path", word, strerror(errno));
	if (S_ISREG(st.st_mode) && hodo_elf_open(&e, word) == 0) {
		hodo_elf_close(&e);
		return push_file(p, word);
	}
	if (hodo_read_open(&r, word, NULL) == 0) {
		hodo_read_close(r);
		return push_recording(p, word);
	}
	return S_ISDIR(st.st_mode) ? push_directory(p, word) : push_file(p, word);
}

/* --------------------------------------------------------------------------- the end */

static int say(const struct push *p, int status)
{
	struct hodo_why why;
	char text[128];

	if (p->failed)
		return hodo_error("symbols: %s: %u file%s sent: run it again to send the rest",
				  symbols_place_why(&p->to, p->failed, p->to.name, why.text), p->files,
				  p->files == 1 ? " was" : "s were");
	if (!p->args->args.quiet && p->files + p->kept)
		hodo_error("%s in %s", symbols_count_text(p->files, p->kept, p->bytes, text), p->to.name);
	return status;
}

int symbols_push(const struct symbols_args *a)
{
	static char dir_default[] = HODO_DIR_DEFAULT, *defaults[] = { dir_default, NULL };
	struct push p = { .args = a };
	char **words = a->args.n > 2 ? a->args.words + 2 : defaults;
	int status = symbols_place_open(&p.to, a->args.words[1], a->args.quiet);

	for (; *words && !status && !p.failed; words++)
		status = push_word(&p, *words);
	if (p.to.name)
		status = say(&p, status);
	symbols_place_close(&p.to);
	return status;
}
