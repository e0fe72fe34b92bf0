/* SPDX-License-Identifier: MIT */
/*
 * output_parquet.c - a directory of Parquet files, see output_file.h: TABLE/host=HOST/day=DAY/RECORDING-NNNN.parquet.
 *
 * All is written aside first. What is added to a directory gets its names one after the other, the table of hosts last:
 * a recording whose hosts are there is there whole, and one that is not may be written again.
 */
#define _GNU_SOURCE
#include <cli/recording.h>
#include <cli/say.h>
#include <cli/output/output_aside.h>
#include <cli/output/output_file.h>

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <string.h>
#include <sys/stat.h>

#include <base/file.h>
#include <base/near.h>
#include <duck/duck.h>

#define DEPTH  3 /* of the folders in it */
#define HOSTS  "hosts"
#define SUFFIX ".parquet"

/* ------------------------------------------------------------------------ walks */

struct walk {
	/* Of each file; what it returns but 0 ends the walk. */
	int (*file)(struct walk *w, int dirfd, const char *name);
	const char *stem;
	bool removes; /* folders, once they are empty; of one recording: those where it had files */
	uint32_t removed; /* files */
	int hosts;    /* but 0: of folders "host=…" only those that are in this one are looked into */
};

/* Directories with thousands of hosts would take long otherwise, for each one that is added. */
static bool is_looked_at(const struct walk *w, const char *folder)
{
	return !w->hosts || strncmp(folder, "host=", 5) != 0 ||
	       faccessat(w->hosts, folder, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* name: a directory, no link; one that is not there has no files. */
static int walk(struct walk *w, int dirfd_, const char *name, int depth)
{
	HODO_AUTO_CLOSEDIR DIR *dir = hodo_dir_list(dirfd_, name);
	uint32_t before = w->removed;
	const char *entry;
	int err = 0;

	if (!dir)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : -errno;
	while (!err && (entry = hodo_dir_next(dir))) {
		struct stat st;

		if (fstatat(dirfd(dir), entry, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISREG(st.st_mode))
			err = w->file(w, dirfd(dir), entry);
		else if (S_ISDIR(st.st_mode) && depth && is_looked_at(w, entry))
			err = walk(w, dirfd(dir), entry, depth - 1);
	}
	if (!err && w->removes && (!w->stem || w->removed > before))
		unlinkat(dirfd_, name, AT_REMOVEDIR); /* fails where something else is in it */
	return err;
}

static bool is_of(const struct walk *w, const char *name)
{
	size_t len = strlen(name), suffix = strlen(SUFFIX);

	return len > suffix && strcmp(name + len - suffix, SUFFIX) == 0 &&
	       (!w->stem || strncmp(name, w->stem, strlen(w->stem)) == 0);
}

static int find_one(struct walk *w, int dirfd_, const char *name)
{
	return is_of(w, name);
}

/* Another export may remove the same. */
static int remove_one(struct walk *w, int dirfd_, const char *name)
{
	bool ours = is_of(w, name) || (!w->stem && strcmp(name, HODO_DUCK_MARK) == 0);

	if (ours && unlinkat(dirfd_, name, 0) < 0)
		return errno == ENOENT ? 0 : -errno;
	w->removed += ours;
	return 0;
}

/* ------------------------------------------------------------------ what is there */

struct target {
	const struct hodo_output_args *a;
	char *path, *aside;
	char stem[HODO_DUCK_STEM];
	bool there;   /* the directory, and it is one of ours */
	bool found;   /* the recording is in it, whole */
	bool replace; /* all of it; else the recording is added */
};

static int refuse(const struct target *t, const char *why, int err)
{
	return hodo_error("%s: %s%s%s: name another directory with -o", t->path, why, err ? ": " : "",
			  err ? strerror(-err) : "");
}

/* 0, or the exit status, having said why. */
static int look(struct target *t)
{
	HODO_AUTO_CLOSEDIR DIR *dir = opendir(t->path);
	HODO_AUTO_CLOSE int fd = -1;
	struct walk w = { .file = find_one, .stem = t->stem };
	bool empty = false;
	int found;

	if (!dir)
		return errno == ENOENT ? 0 : refuse(t, "cannot be written", -errno);
	fd = openat(dirfd(dir), HODO_DUCK_MARK, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	/* Another export moves its files into what was empty, the mark first. */
	if (fd < 0 && hodo_dir_next(dir))
		fd = openat(dirfd(dir), HODO_DUCK_MARK, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	else if (fd < 0)
		empty = true;
	if (fd < 0 && !empty)
		return refuse(t, "is not what hodo export makes", 0);
	t->there = true;
	if (t->replace)
		return 0;
	found = walk(&w, dirfd(dir), HOSTS, DEPTH);
	if (found < 0)
		return refuse(t, "cannot be read", found);
	t->found = found > 0;
	if (found && !t->a->force)
		return hodo_error("%s has this recording: give --force to replace it, or name another directory with -o",
				  t->path);
	return 0;
}

/* ------------------------------------------------------------------------- places */

#define TRIES 20

static int move_all(int from, int to, const char *but);

/* Into the folder of this name, which is made if need be. Another export of a recording to the same place removes
 * folders that get empty, even one that was just made or opened here: then it is made again. */
static int move_folder(int from, int to, const char *name)
{
	int err = 0;

	for (int i = 0; i == 0 || (err == -ENOENT && i < TRIES); i++) {
		HODO_AUTO_CLOSE int there = -1;

		if (mkdirat(to, name, 0777) < 0 && errno != EEXIST)
			return -errno;
		there = hodo_dir_open(to, name);
		err = there < 0 ? there : move_all(from, there, NULL);
	}
	return err;
}

/* Moves what is in a directory into another one, name by name. but: not this one. 0 or a negative errno. */
static int move_all(int from, int to, const char *but)
{
	HODO_AUTO_CLOSEDIR DIR *dir = hodo_dir_list(from, ".");
	const char *name;
	int err = 0;

	if (!dir)
		return -errno;
	while (!err && (name = hodo_dir_next(dir))) {
		HODO_AUTO_CLOSE int below = hodo_dir_open(from, name);

		if (*name == '.' || (but && strcmp(name, but) == 0))
			continue;
		if (below < 0) {
			err = renameat(from, name, to, name) < 0 ? -errno : 0;
			continue;
		}
		err = move_folder(below, to, name);
	}
	return err;
}

/* Adds what was written to what is there. */
static int add(const struct target *t)
{
	HODO_AUTO_CLOSE int from = open(t->aside, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	HODO_AUTO_CLOSE int to = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), hosts = -1;
	struct walk w = { .file = remove_one, .stem = t->stem, .removes = true };
	int err;

	if (from < 0 || to < 0)
		return -errno;
	hosts = hodo_dir_open(from, HOSTS);
	/* Of an earlier run there may be more files than of this one; of one that was whole, with another host. */
	w.hosts = t->found || hosts < 0 ? 0 : hosts;
	err = walk(&w, to, HOSTS, DEPTH);
	if (!err)
		err = walk(&w, to, ".", DEPTH);
	if (!err && renameat(from, HODO_DUCK_MARK, to, HODO_DUCK_MARK) < 0)
		err = -errno;
	if (!err)
		err = move_all(from, to, HOSTS);
	return err || hosts < 0 ? err : move_folder(hosts, to, HOSTS);
}

static int place(const struct target *t)
{
	struct walk w = { .file = remove_one, .removes = true };
	int err = 0;

	if (t->there && !t->replace)
		return add(t);
	if (t->there)
		err = walk(&w, AT_FDCWD, t->path, DEPTH);
	return err ? err : hodo_aside_place(t->aside, t->path, false);
}

/* Of one recording more in a directory: whether another one has its events. refused: the exit status, having said so;
 * with --force it is a warning. 0 or a negative errno. */
static int check_twice(const struct target *t, int *refused, struct hodo_why *why)
{
	char other[300] = "";
	int twice = t->there && !t->replace ?
		    hodo_duck_parquet_twice(t->path, t->aside, t->stem, other, sizeof(other), why) : 0;

	if (twice > 0 && !t->a->force)
		*refused = hodo_error("%s is left out: %s in %s has the same events, or some of them: name another "
				      "directory with -o, or give --force to have them twice", t->a->args.dir, other, t->path);
	else if (twice > 0 && !t->a->args.quiet)
		hodo_warning("%s and %s in %s have the same events, or some of them: they are counted twice",
			     t->a->args.dir, other, t->path);
	return twice < 0 ? twice : 0;
}

/* Others may write to the same directory: one that was not there may have been made meanwhile. refused: the exit
 * status, having said why. */
static int place_beside_others(struct target *t, int *refused, struct hodo_why *why, bool *failed_write)
{
	int err = check_twice(t, refused, why);

	if (err || *refused)
		return err;
	err = place(t);
	if ((err == -EEXIST || err == -ENOTEMPTY) && !t->there) {
		*refused = look(t);
		err = *refused ? 0 : check_twice(t, refused, why);
		if (err || *refused)
			return err;
		err = place(t);
	}
	*failed_write = err < 0;
	if (err)
		hodo_why(why, 0, "%s", strerror(-err));
	return err;
}

/* --------------------------------------------------------------------------- write */

bool hodo_output_wants(void *data, const char *table)
{
	const char *p = data;

	for (size_t len; *p; p += len + (p[len] == ',')) {
		len = strcspn(p, ",");
		if (len == strlen(table) && strncasecmp(p, table, len) == 0)
			return true;
		/* All of the event classes. */
		if (len == 7 && strncmp(p, "classes", len) == 0 && strchr(table, ':'))
			return true;
	}
	return false;
}

struct wanted {
	struct hodo_near near;
	bool found;
};

static int see_table(void *data, const char *table)
{
	struct wanted *w = data;

	w->found |= strcasecmp(w->near.wanted, table) == 0;
	hodo_near_look(&w->near, table);
	return 0;
}

/* Whether there are all of the tables. 0, or the exit status, having said which is not there. */
static int check_tables(struct hodo_read *reader, const char *tables)
{
	for (size_t len; tables && *tables; tables += len + (tables[len] == ',')) {
		struct wanted w = { 0 };
		char *name;
		int err = 0;

		len = strcspn(tables, ",");
		name = hodo_must(strndup(tables, len));
		w.near.wanted = name;
		w.found = strcmp(name, "classes") == 0;
		hodo_near_look(&w.near, "classes");
		if (!w.found)
			err = hodo_duck_each_table(reader, see_table, &w);
		if (err || !w.found)
			err = err ? hodo_no_memory() :
			      hodo_error("--tables: the recording has no table '%s'%s", name, w.near.n ?
					 hodo_near_text(&w.near) : ": 'hodo query --tables' lists them");
		free(name);
		if (err)
			return err;
	}
	return 0;
}

/* What one file's rows leave is the next one's: no new pages, which would have to be cleared. */
static void keep_memory(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	mallopt(M_TOP_PAD, 4 << 20);
#endif
}

static int write_aside(struct target *t, struct hodo_read *reader, const char *tables)
{
	const struct hodo_args *a = &t->a->args;
	struct hodo_duck_parquet p = {
		.reader = reader,
		.symbols = hodo_open_symbols(a, a->dir),
		.recording = a->dir,
		.since_ns = a->since_ns,
		.until_ns = a->until_ns,
		.to = t->aside,
		.memory = HODO_DUCK_MEMORY,
		.wanted = tables ? hodo_output_wants : NULL,
		.data = (void *)tables,
		.warn = hodo_output_warn(a->quiet),
	};
	struct hodo_why why = { "" };
	char rows[32], files[32];
	int err = hodo_duck_parquet(&p, &why), status = 0;

	hodo_symbols_free(p.symbols);
	if (!err)
		err = place_beside_others(t, &status, &why, &p.failed_write);
	if (err || status || t->there)
		hodo_aside_remove(t->aside);
	hodo_aside_over();
	if (err && p.failed_write)
		status = hodo_error("%s: cannot be written: %s: nothing of this recording is there: make room, or name "
				    "another directory with -o, and run it again", t->path, why.text);
	else if (err)
		status = hodo_error("%s: %s", a->dir, why.text);
	else if (!status && !a->quiet)
		hodo_error("%s row%s in %s file%s in %s", hodo_grouped(p.rows, rows), p.rows == 1 ? "" : "s",
			   hodo_grouped(p.files, files), p.files == 1 ? "" : "s", t->path);
	return status;
}

/* Its descriptor, or -1 and errno. In another container or on another machine a process may have our number. */
static int make_aside(struct target *t, mode_t mode)
{
	int fd = -1;

	for (int i = 0; i == 0 || (fd < 0 && errno == EEXIST && i < TRIES); i++) {
		free(t->aside);
		t->aside = NULL;
		if ((i ? asprintf(&t->aside, "%s.%d-%d.part", t->path, (int)getpid(), i)
		       : asprintf(&t->aside, "%s.%d.part", t->path, (int)getpid())) < 0)
			exit(hodo_no_memory());
		fd = hodo_aside_make(t->aside, mode, true);
	}
	return fd;
}

int hodo_output_parquet(const struct hodo_output_args *a, struct hodo_read *reader, const char *tables)
{
	struct target t = { .a = a, .replace = !a->path };
	struct stat st;
	mode_t mode;
	int status, fd;

	if (a->path && strcmp(a->path, "-") == 0)
		return hodo_usage(a->args.verb->name, "this format is a directory: name one with -o, not standard output");
	t.path = hodo_must(a->path ? strdup(a->path) : hodo_output_beside(a->args.dir, "parquet"));
	for (size_t n = strlen(t.path); n > 1 && t.path[n - 1] == '/'; n--)
		t.path[n - 1] = '\0';
	hodo_duck_stem(reader, t.stem);
	status = check_tables(reader, tables);
	if (!status)
		status = look(&t);
	if (!status) {
		/* Who may not read the recording does not read what is made of it. */
		mode = stat(a->args.dir, &st) == 0 ? 0700 | (st.st_mode & 055) : 0700;
		keep_memory();
		hodo_aside_prepare();
		hodo_aside_sweep(t.path, a->args.quiet);
		hodo_aside_say("hodo: interrupted: nothing was written: run it again\n");
		fd = make_aside(&t, mode);
		status = fd < 0 ? refuse(&t, "cannot be written", -errno) : write_aside(&t, reader, tables);
		if (fd >= 0)
			close(fd);
	}
	free(t.path);
	free(t.aside);
	return status;
}
