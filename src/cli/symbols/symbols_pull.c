/* SPDX-License-Identifier: MIT */
/* symbols_pull.c - hodo symbols pull: the symbols of recordings, from a directory or server into the store. */
#include <cli/on_signal.h>
#include "symbols.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct pull {
	const struct symbols_args *args;
	struct symbols_place from;
	const char *store;
	struct symbols_objects objects;
	struct hodo_text missing; /* the first object of which the place has nothing */
	uint32_t files, kept, nmissing, refused; /* kept: they were in the store already */
	uint64_t bytes;
};

enum { ABSENT = 1, REFUSED };

/* Of a file that is there and is not taken. What was fetched is of no use to anybody. */
static int refuse(struct pull *p, const struct symbols_object *o, enum hodo_store_kind kind, int err)
{
	static const char *const kinds[] = { "debuginfo", "executable" };
	HODO_AUTO_FREE char *what = symbols_object_text(o);
	char size[32];

	p->refused++;
	if (err == -EFBIG)
		hodo_warning("%s: the %s of %s is larger than %s: left out: --max-size allows more", p->from.name, kinds[kind],
			     what, hodo_human_bytes(p->args->max, size));
	else
		hodo_warning("%s: the %s of %s is %s: not used", p->from.name, kinds[kind], what,
			     err == -ESTALE ? "another build" : err == -EBADMSG ? "cut short" :
			     err == -ENODATA ? "stripped, without symbols" : "no ELF file");
	return REFUSED;
}

static bool is_refused(int err)
{
	return err == -EFBIG || err == -ESTALE || err == -EBADMSG || err == -ENODATA || err == -ENOEXEC;
}

/* 0: it is in the store; REFUSED: it is there, and no good; ABSENT: the place does not have it; or a negative errno,
 * which ends all. */
static int fetch(struct pull *p, const struct symbols_object *o, enum hodo_store_kind kind)
{
	struct hodo_store_file f;
	int err = hodo_store_begin(&f, p->store, o->build_id, o->build_id_len, kind);
	off_t bytes;

	if (err) {
		p->kept += err == 1;
		return err == 1 ? 0 : err;
	}
	err = symbols_place_get(&p->from, o, kind, f.fd, p->args->max);
	if (err) {
		hodo_store_drop(&f);
		return is_refused(err) ? refuse(p, o, kind, err) : err == -ENOENT ? ABSENT : err;
	}
	bytes = lseek(f.fd, 0, SEEK_END);
	err = hodo_store_end(&f);
	if (is_refused(err))
		return refuse(p, o, kind, err);
	p->files += !err;
	p->bytes += err ? 0 : (uint64_t)bytes;
	return err;
}

/* The code, too, where stacks are to be unwound, or nothing else is to be had: then it names what it exports. */
static int fetch_object(struct pull *p, const struct symbols_object *o)
{
	int debug = fetch(p, o, HODO_STORE_DEBUGINFO), code = 0;

	if (debug > 0 || (!debug && o->code))
		code = fetch(p, o, HODO_STORE_EXECUTABLE);
	if (debug < 0 || code < 0)
		return debug < 0 ? debug : code;
	if (debug == ABSENT && code == ABSENT && !p->nmissing++) {
		HODO_AUTO_FREE char *what = symbols_object_text(o);

		hodo_text_add(&p->missing, what);
	}
	return 0;
}

static void put_missing(const struct pull *p, char more[48])
{
	more[0] = 0;
	if (p->nmissing > 1)
		snprintf(more, 48, ", and %u more", p->nmissing - 1);
}

/* The exit status, said. */
static int say_failed(const struct pull *p, int err)
{
	struct hodo_why why;

	return hodo_error("symbols: %s: %u file%s in %s: run it again to get the rest",
			  symbols_place_why(&p->from, err, p->store, why.text), p->files + p->kept,
			  p->files + p->kept == 1 ? " is" : "s are", p->store);
}

static int say(struct pull *p, int err)
{
	const char *missing = hodo_text_string(&p->missing);
	char more[48], text[128];

	put_missing(p, more);
	if (err)
		return say_failed(p, err);
	if (!p->files && !p->kept && !p->refused)
		return hodo_error("%s: no symbols of %s%s: 'hodo symbols push' puts them there, where the program was built",
				  p->from.name, missing, more);
	if (p->nmissing && !p->args->args.quiet)
		hodo_warning("%s: no symbols of %s%s", p->from.name, missing, more);
	if (p->files + p->kept && !p->args->args.quiet)
		hodo_error("%s in %s", symbols_count_text(p->files, p->kept, p->bytes, text), p->store);
	return p->refused ? HODO_EXIT_FAILURE : 0;
}

static int pull(struct pull *p)
{
	int err = 0;

	if (!p->from.server && access(p->from.name, R_OK | X_OK) < 0)
		return hodo_error("%s: %s: name a directory with symbols, or a server", p->from.name, strerror(errno));
	if (!p->objects.n && p->objects.anonymous)
		return hodo_error("symbols: the recorded programs have no build-ids: build them with -Wl,--build-id and "
				  "record again");
	if (!p->objects.n)
		return hodo_error("symbols: nothing was recorded that has functions or callers: no symbols are needed");
	for (uint32_t i = 0; i < p->objects.n && !err; i++)
		err = hodo_stopped ? -EINTR : fetch_object(p, &p->objects.list[i]);
	return say(p, err);
}

int symbols_pull(const struct symbols_args *a)
{
	static char dir_default[] = HODO_DIR_DEFAULT, *defaults[] = { dir_default, NULL };
	HODO_AUTO_FREE char *own = a->store ? NULL : hodo_store_default();
	struct pull p = { .args = a, .store = a->store ? a->store : own };
	char **recordings = a->args.n > 2 ? a->args.words + 2 : defaults;
	int status = p.store ? 0 : hodo_error("symbols: HOME is not set: name a directory with -o");

	if (!status)
		status = symbols_place_open(&p.from, a->args.words[1], a->args.quiet);
	for (; *recordings && !status; recordings++)
		status = symbols_objects_add(&p.objects, *recordings, &a->args);
	if (!status)
		status = pull(&p);
	symbols_objects_free(&p.objects);
	symbols_place_close(&p.from);
	hodo_text_free(&p.missing);
	return status;
}
