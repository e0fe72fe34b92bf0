/* SPDX-License-Identifier: MIT */
/*
 * cmd_symbols.c - hodo symbols: programs and debug files by build-id (sym/store.h), copied from and to a place, which
 * is a directory or a server. A path of a recording is only where a file is looked for, with its owner's rights; what
 * it is called in a place follows from its build-id alone.
 */
#define _GNU_SOURCE
#include "cli.h"
#include "on_signal.h"

#include <base/clock.h>
#include <base/file.h>
#include <base/intern.h>
#include <base/quantity.h>
#include <base/rights.h>
#include <base/vec.h>
#include <elf/object.h>
#include <hodo/read.h>
#include <http/files.h>
#include <http/url.h>
#include <sym/store.h>

#include <errno.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct symbols_args {
	struct hodo_args args;
	const char *store; /* NULL: hodo_store_default() */
	char **words;      /* after the place */
	uint64_t max;      /* bytes of a file; 0: not said */
};

/* An executable or library of a recording, or a file. */
struct symbols_object {
	uint8_t build_id[HODO_ELF_BUILD_ID_MAX];
	size_t build_id_len;
	char *path;
	uid_t owner; /* with whose rights it is opened */
	bool code;   /* stacks that were saved are unwound by it */
};

struct symbols_objects {
	struct symbols_object *list;
	uint32_t n;
	struct hodo_strings ids;
	uint32_t anonymous; /* without a build-id: they are not in the list */
};

struct symbols_place {
	const char *name; /* for messages */
	struct hodo_http_files *server; /* NULL: name is a directory */
	int64_t shown_ns; /* when how far it is was shown */
	bool shown;       /* and is to be seen now */
};

struct symbols {
	const struct symbols_args *args;
	struct symbols_place place;
	uint32_t files, kept; /* copied; those that were there already */
	uint64_t bytes;
	/* pull: */
	const char *store;
	struct symbols_objects objects;
	struct hodo_text missing; /* the first object of which the place has nothing */
	uint32_t nmissing, refused;
	/* push: */
	int failed; /* the place cannot take more: a negative errno */
};

/* ---------------------------------------------------------------------- objects */

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

/* The one of that build-id, which may be new. */
static struct symbols_object *symbols_objects_new(struct symbols_objects *all, const uint8_t *build_id, size_t len,
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

/* Adds those of a recording of which functions can be shown, each build once. 0, or the exit status, having said
 * why. */
static int symbols_objects_add(struct symbols_objects *all, const char *recording, const struct hodo_args *args)
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

static void symbols_objects_free(struct symbols_objects *o)
{
	for (uint32_t i = 0; i < o->n; i++)
		free(o->list[i].path);
	free(o->list);
	hodo_strings_free(&o->ids);
}

/* "kvd, build-id 4b1c…", to be freed. */
static char *symbols_object_text(const struct symbols_object *o)
{
	char id[2 * HODO_ELF_BUILD_ID_MAX + 1], *text;
	const char *slash = strrchr(o->path, '/');

	*hodo_format_bytes(id, o->build_id, o->build_id_len) = 0;
	return hodo_must(asprintf(&text, "%s, build-id %s", slash ? slash + 1 : o->path, id) < 0 ? NULL : text);
}

/* "2 files, 36.8 KiB, and 1 from before, in DIR". */
static void say_done(const struct symbols *s, const char *where)
{
	char size[32];

	if (s->args->args.quiet || !(s->files + s->kept))
		return;
	if (!s->files)
		hodo_error("%u file%s already in %s", s->kept, s->kept == 1 ? " was" : "s were", where);
	else if (!s->kept)
		hodo_error("%u file%s, %s, in %s", s->files, s->files == 1 ? "" : "s", hodo_human_bytes(s->bytes, size),
			   where);
	else
		hodo_error("%u file%s, %s, and %u from before, in %s", s->files, s->files == 1 ? "" : "s",
			   hodo_human_bytes(s->bytes, size), s->kept, where);
}

/* ----------------------------------------------------------------------- places */

#define COPY_BYTES  (256u << 10)
#define PROGRESS_NS 500000000

static void show_progress(void *place, uint64_t done, uint64_t all)
{
	struct symbols_place *p = place;
	int64_t now = hodo_now_ns();
	char size[32], of[32];

	if (now - p->shown_ns < PROGRESS_NS)
		return;
	p->shown_ns = now;
	p->shown = true;
	/* The next message begins where this line does. */
	fprintf(stderr, "hodo: %s%s%s, %s\033[K\r", hodo_human_bytes(done, size), all ? " of " : "",
		all ? hodo_human_bytes(all, of) : "", p->name);
	fflush(stderr);
}

static int transferred(struct symbols_place *p, int err)
{
	if (p->shown)
		fputs("\033[K", stderr);
	p->shown = false;
	return err;
}

/* 0, or the exit status, having said what is wrong. */
static int symbols_place_open(struct symbols_place *p, const char *word, bool quiet)
{
	const struct hodo_http_options options = {
		.stop = &hodo_stopped,
		.progress = !quiet && isatty(STDERR_FILENO) ? show_progress : NULL,
		.data = p,
	};
	int err;

	*p = (struct symbols_place){ .name = word, .shown_ns = hodo_now_ns() };
	if (!*word)
		return hodo_usage("symbols", "a directory or address cannot be empty");
	if (!hodo_http_is(word))
		return 0;
	err = hodo_http_open(&p->server, word, &options);
	if (err == -EPROTONOSUPPORT)
		return hodo_usage("symbols", "'%s' is no address with http:// or https://", word);
	if (err == -ENOSYS)
		return hodo_error("symbols: libcurl.so.4 cannot be loaded: install it (Debian: the libcurl4 package)");
	if (err)
		return hodo_no_memory();
	p->name = hodo_http_shown(p->server);
	return 0;
}

static void symbols_place_close(struct symbols_place *p)
{
	hodo_http_close(p->server);
	p->server = NULL;
}

/* From the beginning of one to the offset of the other. */
static int copy(int from, int to, uint64_t max)
{
	HODO_AUTO_FREE char *bytes = malloc(COPY_BYTES);
	uint64_t at = 0;
	ssize_t n;
	int err;

	if (!bytes)
		return -ENOMEM;
	while ((n = hodo_file_read_at(from, bytes, COPY_BYTES, at)) > 0) {
		at += (uint64_t)n;
		err = hodo_stopped ? -EINTR : at > max ? -EFBIG : hodo_file_write(to, bytes, (size_t)n);
		if (err)
			return err;
	}
	return (int)n;
}

static int get_file(const char *folder, const struct symbols_object *o, enum hodo_store_kind kind, int fd, uint64_t max)
{
	HODO_AUTO_FREE char *path = NULL;
	struct hodo_elf e;
	int err = hodo_store_look(folder, o->build_id, o->build_id_len, kind, &path);

	if (!err)
		err = hodo_elf_open(&e, path);
	if (!err) {
		err = copy(e.fd, fd, max);
		hodo_elf_close(&e);
	}
	return err;
}

/* Writes the file to fd. 0; -ENOENT: the place does not have it; -EFBIG: it has more than max bytes; -EINTR; what is
 * wrong with it, as of hodo_store_end(); or another negative errno. */
static int symbols_place_get(struct symbols_place *p, const struct symbols_object *o, enum hodo_store_kind kind, int fd,
			     uint64_t max)
{
	char name[HODO_STORE_NAME_MAX];

	if (!p->server)
		return get_file(p->name, o, kind, fd, max);
	hodo_store_name(name, o->build_id, o->build_id_len, kind);
	return transferred(p, hodo_http_get(p->server, name, fd, max));
}

static int put_file(const char *folder, const struct symbols_object *o, enum hodo_store_kind kind, int fd)
{
	struct hodo_store_file f;
	int err = hodo_store_begin(&f, folder, o->build_id, o->build_id_len, kind);

	if (err)
		return err;
	err = copy(fd, f.fd, UINT64_MAX);
	if (err)
		hodo_store_drop(&f);
	return err ? err : hodo_store_end(&f);
}

/* Puts a file there. 0; 1: it has it; -EINTR; or another negative errno. */
static int symbols_place_put(struct symbols_place *p, const struct symbols_object *o, enum hodo_store_kind kind, int fd,
			     uint64_t bytes)
{
	char name[HODO_STORE_NAME_MAX];
	int err;

	if (!p->server)
		return put_file(p->name, o, kind, fd);
	hodo_store_name(name, o->build_id, o->build_id_len, kind);
	err = hodo_http_has(p->server, name);
	if (!err)
		return 1;
	return transferred(p, err == -ENOENT ? hodo_http_put(p->server, name, fd, bytes) : err);
}

/* What went wrong, in words, with the place's name; local: the file's or directory's at the other end. In buf. */
static const char *symbols_place_why(const struct symbols_place *p, int err, const char *local, char buf[512])
{
	const char *why = p->server ? hodo_http_why(p->server) : NULL;

	if (err == -EINTR)
		return "interrupted";
	if (why && err == -EACCES)
		snprintf(buf, 512, "%s: %s: give it a name and password in ~/.netrc", p->name, why);
	else if (why && err == -EOPNOTSUPP)
		snprintf(buf, 512, "%s: %s: it takes no files by PUT", p->name, why);
	else
		snprintf(buf, 512, "%s: %s", why ? p->name : local, why ? why : strerror(-err));
	return buf;
}

/* ------------------------------------------------------------------------- pull */

enum { ABSENT = 1, REFUSED };

/* Of a file that is there and is not taken. What was fetched is of no use to anybody. */
static int refuse(struct symbols *p, const struct symbols_object *o, enum hodo_store_kind kind, int err)
{
	static const char *const kinds[] = { "debuginfo", "executable" };
	HODO_AUTO_FREE char *what = symbols_object_text(o);
	char size[32];

	p->refused++;
	if (err == -EFBIG)
		hodo_warning("%s: the %s of %s is larger than %s: left out: --max-size allows more", p->place.name, kinds[kind],
			     what, hodo_human_bytes(p->args->max, size));
	else
		hodo_warning("%s: the %s of %s is %s: not used", p->place.name, kinds[kind], what,
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
static int fetch(struct symbols *p, const struct symbols_object *o, enum hodo_store_kind kind)
{
	struct hodo_store_file f;
	int err = hodo_store_begin(&f, p->store, o->build_id, o->build_id_len, kind);
	off_t bytes;

	if (err) {
		p->kept += err == 1;
		return err == 1 ? 0 : err;
	}
	err = symbols_place_get(&p->place, o, kind, f.fd, p->args->max);
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
static int fetch_object(struct symbols *p, const struct symbols_object *o)
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

static void put_missing(const struct symbols *p, char more[48])
{
	more[0] = 0;
	if (p->nmissing > 1)
		snprintf(more, 48, ", and %u more", p->nmissing - 1);
}

/* The exit status, said. */
static int say_failed(const struct symbols *p, int err)
{
	struct hodo_why why;

	return hodo_error("symbols: %s: %u file%s in %s: run it again to get the rest",
			  symbols_place_why(&p->place, err, p->store, why.text), p->files + p->kept,
			  p->files + p->kept == 1 ? " is" : "s are", p->store);
}

static int say_pulled(struct symbols *p, int err)
{
	const char *missing = hodo_text_string(&p->missing);
	char more[48];

	put_missing(p, more);
	if (err)
		return say_failed(p, err);
	if (!p->files && !p->kept && !p->refused)
		return hodo_error("%s: no symbols of %s%s: 'hodo symbols push' puts them there, where the program was built",
				  p->place.name, missing, more);
	if (p->nmissing && !p->args->args.quiet)
		hodo_warning("%s: no symbols of %s%s", p->place.name, missing, more);
	say_done(p, p->store);
	return p->refused ? HODO_EXIT_FAILURE : 0;
}

static int pull(struct symbols *p)
{
	int err = 0;

	if (!p->place.server && access(p->place.name, R_OK | X_OK) < 0)
		return hodo_error("%s: %s: name a directory with symbols, or a server", p->place.name, strerror(errno));
	if (!p->objects.n && p->objects.anonymous)
		return hodo_error("symbols: the recorded programs have no build-ids: build them with -Wl,--build-id and "
				  "record again");
	if (!p->objects.n)
		return hodo_error("symbols: nothing was recorded that has functions or callers: no symbols are needed");
	for (uint32_t i = 0; i < p->objects.n && !err; i++)
		err = hodo_stopped ? -EINTR : fetch_object(p, &p->objects.list[i]);
	return say_pulled(p, err);
}

/* the exit status */
static int symbols_pull(const struct symbols_args *a)
{
	HODO_AUTO_FREE char *own = a->store ? NULL : hodo_store_default();
	struct symbols p = { .args = a, .store = a->store ? a->store : own };
	int status = p.store ? 0 : hodo_error("symbols: HOME is not set: name a directory with -o");

	if (!status)
		status = symbols_place_open(&p.place, a->args.words[1], a->args.quiet);
	for (char **recording = a->words; *recording && !status; recording++)
		status = symbols_objects_add(&p.objects, *recording, &a->args);
	if (!status)
		status = pull(&p);
	symbols_objects_free(&p.objects);
	symbols_place_close(&p.place);
	hodo_text_free(&p.missing);
	return status;
}

/* ------------------------------------------------------------------------- push */

#define OPEN_MAX_DIRS 64

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
static void put(struct symbols *p, const struct hodo_elf *e, const struct symbols_object *o)
{
	bool has[2] = { 0 };
	struct stat st;

	if (fstat(e->fd, &st) < 0)
		return;
	classify(e->elf, has);
	for (unsigned kind = 0; kind < 2 && !p->failed; kind++) {
		int got = !has[kind] ? 2 : hodo_stopped ? -EINTR :
			  symbols_place_put(&p->place, o, kind, e->fd, (uint64_t)st.st_size);

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
static int put_path(struct symbols *p, const char *path, const struct symbols_object *wanted)
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

static int push_file(struct symbols *p, const char *path)
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

static struct symbols *walking; /* nftw() passes nothing on */

static int on_file(const char *path, const struct stat *st, int type, struct FTW *where)
{
	if (type == FTW_F && S_ISREG(st->st_mode))
		put_path(walking, path, NULL);
	return walking->failed;
}

/* All that has a build-id, at any depth. */
static int push_directory(struct symbols *p, const char *path)
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
static int push_recording(struct symbols *p, const char *recording)
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

static int push_word(struct symbols *p, const char *word)
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

static int say_pushed(const struct symbols *p, int status)
{
	struct hodo_why why;

	if (p->failed)
		return hodo_error("symbols: %s: %u file%s sent: run it again to send the rest",
				  symbols_place_why(&p->place, p->failed, p->place.name, why.text), p->files,
				  p->files == 1 ? " was" : "s were");
	say_done(p, p->place.name);
	return status;
}

static int symbols_push(const struct symbols_args *a)
{
	struct symbols p = { .args = a };
	int status = symbols_place_open(&p.place, a->args.words[1], a->args.quiet);

	for (char **word = a->words; *word && !status && !p.failed; word++)
		status = push_word(&p, *word);
	if (p.place.name)
		status = say_pushed(&p, status);
	symbols_place_close(&p.place);
	return status;
}

/* ---------------------------------------------------------------------- command */

#define MAX_BYTES (4ull << 30)

/* The words may be in the wrong order. */
static bool is_recording(const char *word)
{
	struct hodo_read *r;

	if (hodo_http_is(word) || hodo_read_open(&r, word, NULL) != 0)
		return false;
	hodo_read_close(r);
	return true;
}

static int run(void *args)
{
	static char usual[] = HODO_DIR_DEFAULT, *defaults[] = { usual, NULL };
	struct symbols_args *a = args;
	const char *action = a->args.n ? a->args.words[0] : "";
	bool pulls = strcmp(action, "pull") == 0;

	if (!pulls && strcmp(action, "push") != 0)
		return hodo_usage("symbols", "give 'pull' or 'push' first");
	if (a->args.n < 2)
		return hodo_usage("symbols", "'%s' takes a directory, or the address of a server", action);
	if (!pulls && a->store)
		return hodo_usage("symbols", "-o is where 'pull' writes: 'push' takes a directory without it");
	if (!pulls && a->max)
		return hodo_usage("symbols", "--max-size is for what 'pull' gets: leave it out");
	if (is_recording(a->args.words[1]))
		return hodo_usage("symbols", "'%s' is a recording: give the directory or server first, then recordings",
				  a->args.words[1]);
	a->max = a->max ? a->max : MAX_BYTES;
	a->words = a->args.n > 2 ? a->args.words + 2 : defaults;
	/* On a signal, what is being written is removed before we end, and what has been done is reported. */
	hodo_stop_by_signals();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return pulls ? symbols_pull(a) : symbols_push(a);
}

static const struct hodo_option options[] = {
	{ .name = "output", .letter = 'o', .kind = HODO_OPTION_NAME, .arg = "STORE", HODO_AT(struct symbols_args, store),
	  .wants = "the name of a directory", .words = HODO_WORD_FILE | HODO_WORD_NEW,
	  .help = "pull: write there (HODO_SYMBOLS, or ~/.cache/hodo/symbols)" },
	{ .name = "max-size", .kind = HODO_OPTION_SIZE, .arg = "SIZE", HODO_AT(struct symbols_args, max), .min = 1,
	  .max = 1ull << 40, .wants = "a size from 1 to 1T", .help = "pull: leave out files that are larger (4G)" },
	HODO_OPTION_QUIET("report errors only"),
	{ 0 },
};

static const char *const actions[] = { "pull", "push", NULL };

const struct hodo_verb hodo_verb_symbols = {
	.name = "symbols", .does = "get symbols by build-id from elsewhere, or put them there",
	.usage = "pull [-o STORE] DIR|URL [RECORDING...]\npush DIR|URL [RECORDING|FILE|DIR...]",
	.about = "'pull' copies the symbols of the programs in a RECORDING (hodo.data) to this\n"
		 "machine, where all verbs find them. 'push' puts symbols where 'pull' finds\n"
		 "them: those of program, library or debug FILEs, of all in a DIR, or of what a\n"
		 "RECORDING recorded. URL is a debuginfod server, or for 'push' one that takes\n"
		 "files by PUT.\n",
	.options = options, .column = 22, .choices = actions, .words = HODO_WORD_DIR | HODO_WORD_FILE,
	.args_bytes = sizeof(struct symbols_args), .run = run,
};
