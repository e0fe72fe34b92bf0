/* SPDX-License-Identifier: MIT */
/*
 * recover_recording.c - a recording whose recorder was killed: metadata without its end and its final clock,
 * packets that are not whole, files that were about to be made.
 */
#define _GNU_SOURCE
#include "recover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <hodo/read.h>

#include <base/file.h>

#include "clock.h"
#include "ctf_metadata.h"
#include "out_dir.h"
#include "recover_stream.h"
#include "names.h"

#define ENTRIES_MAX 131072u
#define METADATA_MAX (1ull << 30)
#define SYMBOLS ".symbols"

/* What is known of one recording while it is copied. */
struct copying {
	struct hodo_recover *r;
	struct hodo_text done; /* folders below out_fd, each with its NUL */
	uint64_t ts_begin;     /* of the earliest packet */
	struct hodo_read_clock clock;
	uint32_t folders, complete, repaired;
	bool clocks_differ; /* it was killed while it gave all folders the final one */
};

/* ------------------------------------------------------------------------ names */

static bool is_piece_name(const char *name)
{
	return strncmp(name, HODO_OUT_PART, strlen(HODO_OUT_PART)) == 0 ||
	       strncmp(name, HODO_OUT_SNAPSHOT, strlen(HODO_OUT_SNAPSHOT)) == 0;
}

static int open_dir(int fd, const char *name)
{
	int d = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return d < 0 ? -errno : d;
}

static bool is_process_folder(int fd)
{
	struct stat st;

	return fstatat(fd, "metadata", &st, AT_SYMLINK_NOFOLLOW) == 0 ||
	       fstatat(fd, ".metadata.new", &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Calls each with the names in the directory, until it does not return 0. */
static int each_entry(int fd, int (*each)(void *arg, int fd, const char *name), void *arg)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	uint32_t n = 0;
	struct dirent *e;

	if (!d) {
		err = -errno;
		if (copy >= 0)
			close(copy);
		return err;
	}
	while (!err && (e = readdir(d)) && n++ < ENTRIES_MAX)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			err = each(arg, fd, e->d_name);
	closedir(d);
	return err;
}

static int look_for_folder(void *arg, int fd, const char *name)
{
	int d = open_dir(fd, name), found;

	if (d < 0)
		return 0;
	found = is_process_folder(d) ||
		(is_piece_name(name) && *(int *)arg && each_entry(d, look_for_folder, &(int){ 0 }) > 0);
	close(d);
	return found;
}

bool hodo_recover_is_recording(int fd)
{
	return is_process_folder(fd) || each_entry(fd, look_for_folder, &(int){ 1 }) > 0;
}

/* ------------------------------------------------------------------------ files */

/* Appends what the file holds. 0, -ENOENT: no regular file of that name. */
static int read_file(int dirfd, const char *name, struct hodo_text *text)
{
	int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY), err = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		if (fd >= 0)
			close(fd);
		return -ENOENT;
	}
	err = hodo_file_read(fd, METADATA_MAX, text);
	close(fd);
	return err;
}

static int write_file(int dirfd, const char *name, const struct hodo_text *text)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666), err = 0;

	if (fd < 0)
		return -errno;
	err = hodo_file_write(fd, text->data, text->len);
	if (close(fd) < 0 && !err)
		err = -errno;
	return err;
}

/* Names of functions: as they are. One that was being written has a name of its own. */
static int copy_symbols(void *arg, int fd, const char *name)
{
	struct hodo_text text = { 0 };
	int err = 0;

	if (name[0] != '.' && strspn(name, "0123456789abcdefp") == strlen(name)) {
		err = read_file(fd, name, &text);
		if (!err)
			err = write_file(*(int *)arg, name, &text);
	}
	hodo_text_free(&text);
	return err == -ENOENT || err == -EEXIST ? 0 : err;
}

/* ----------------------------------------------------------------------- folder */

struct folder {
	struct copying *c;
	int in, out;
	const char *path;
	struct hodo_read_layouts table;
	const struct hodo_read_process *process;
};

static int copy_stream(void *arg, int fd, const char *name)
{
	struct folder *f = arg;
	struct hodo_recover_stream result;
	int err;

	if (!hodo_out_dir_is_stream(name))
		return 0;
	err = hodo_recover_stream(fd, f->out, name, f->process->uuid, &f->table, &result);
	if (err)
		return err == -ENOENT ? 0 : err;
	f->c->r->events += result.events;
	f->c->r->bytes += result.bytes;
	f->c->r->torn += result.torn;
	f->c->repaired += result.repaired;
	if (result.ts_begin < f->c->ts_begin)
		f->c->ts_begin = result.ts_begin;
	return 0;
}

static int fill_table(struct folder *f)
{
	int err = 0;

	for (uint32_t i = 0; i < f->process->nclasses && !err; i++) {
		const struct hodo_read_class *c = f->process->classes[i];
		uint8_t types[HODO_PAYLOAD_FIELDS_MAX];
		uint32_t n = 0;

		for (uint32_t k = 0; k < c->ncontext && n < HODO_PAYLOAD_FIELDS_MAX; k++)
			types[n++] = (uint8_t)c->context[k].type;
		for (uint32_t k = 0; k < c->nfields && n < HODO_PAYLOAD_FIELDS_MAX; k++)
			types[n++] = (uint8_t)c->fields[k].type;
		err = hodo_read_layouts_add(&f->table, c->id, types, n);
	}
	return err == -EINVAL ? 0 : err;
}

/* The folder is made, with metadata that reads; its streams follow. */
static int copy_streams(struct folder *f)
{
	char self[32];
	struct hodo_read *reader;
	int err;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", f->out);
	err = hodo_read_open(&reader, self, NULL);
	if (err)
		return err == -ENOMEM ? err : -EBADMSG;
	f->process = hodo_read_process(reader, 0);
	if (f->c->folders++ == 0)
		f->c->clock = f->process->clock;
	else if (f->process->clock.freq_hz != f->c->clock.freq_hz ||
		 f->process->clock.offset_s != f->c->clock.offset_s ||
		 f->process->clock.offset_ticks != f->c->clock.offset_ticks)
		f->c->clocks_differ = true;
	f->c->complete += f->process->complete;
	err = fill_table(f);
	if (!err)
		err = each_entry(f->in, copy_stream, f);
	hodo_layouts_clear(&f->table);
	hodo_read_close(reader);
	return err;
}

/* Metadata is replaced as a whole: what has the name is complete, what has not yet is, perhaps. */
static int copy_metadata(const struct folder *f, const char *name)
{
	static const char head[] = "/* CTF 1.8 */\n/*@hodo ";
	struct hodo_text text = { 0 };
	int err = read_file(f->in, name, &text);

	if (!err && (text.len < sizeof(head) || memcmp(text.data, head, sizeof(head) - 1) != 0))
		err = -EBADMSG;
	if (!err)
		err = hodo_ctf_metadata_write(f->out, &text);
	hodo_text_free(&text);
	return err;
}

static int make_folder(struct hodo_recover *r, int out, const char *name, char *made, size_t size)
{
	for (unsigned int n = 1; n < 1000000; n++) {
		int fd;

		if (n == 1)
			snprintf(made, size, "%s", name);
		else
			snprintf(made, size, "%.200s-%u", name, n);
		if (mkdirat(out, made, 0777) == 0) {
			fd = open_dir(out, made);
			r->processes += fd >= 0;
			return fd;
		}
		if (errno != EEXIST)
			break;
	}
	return -errno;
}

static int is_filled_stream(void *arg, int fd, const char *name)
{
	struct stat st;

	(void)arg;
	return strcmp(name, "metadata") != 0 && strcmp(name, ".metadata.new") != 0 &&
	       fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

/* A process's folder. below: where it stands under out_fd, "" or "part-0001/". */
static int copy_folder(struct copying *c, int in, int out, const char *below, const char *name)
{
	struct folder f = { .c = c, .in = in };
	char made[NAME_MAX + 1];
	int err;

	f.out = make_folder(c->r, out, name, made, sizeof(made));
	if (f.out < 0)
		return f.out;
	err = copy_metadata(&f, "metadata");
	if (!err)
		err = copy_streams(&f);
	if (err == -ENOENT || err == -EBADMSG) {
		int other = copy_metadata(&f, ".metadata.new");

		if (!other)
			other = copy_streams(&f);
		err = other == -ENOENT ? err : other;
	}
	close(f.out);
	if (!err) {
		hodo_text_printf(&c->done, "%s%s", below, made);
		hodo_text_bytes(&c->done, "", 1);
		return c->done.error;
	}
	if (err != -ENOENT && err != -EBADMSG)
		return err;
	/* Without it nobody knows what the events are. */
	f.out = open_dir(out, made);
	if (f.out >= 0) {
		unlinkat(f.out, "metadata", 0);
		close(f.out);
	}
	unlinkat(out, made, AT_REMOVEDIR);
	c->r->processes--;
	/* One that was only begun: metadata comes before all else. */
	if (each_entry(in, is_filled_stream, NULL) <= 0)
		return 0;
	c->r->failed++;
	hodo_recover_report(c->r, "%s%s: %s", below, name, err == -ENOENT ? "it has no metadata: nothing of it can be read" :
			    "its metadata is damaged: nothing of it can be read");
	return 0;
}

/* -------------------------------------------------------------------- recording */

struct level {
	struct copying *c;
	int out;
	const char *below;
	bool top;
};

static int copy_entry(void *arg, int fd, const char *name);

static int copy_piece(struct level *up, int in, const char *name)
{
	char below[NAME_MAX + 2];
	struct level l = { .c = up->c, .below = below };
	int err;

	if (mkdirat(up->out, name, 0777) < 0 && errno != EEXIST)
		return -errno;
	l.out = open_dir(up->out, name);
	if (l.out < 0)
		return l.out;
	snprintf(below, sizeof(below), "%s/", name);
	err = each_entry(in, copy_entry, &l);
	close(l.out);
	unlinkat(up->out, name, AT_REMOVEDIR); /* one with nothing in it */
	return err;
}

static int copy_entry(void *arg, int fd, const char *name)
{
	struct level *l = arg;
	int in = open_dir(fd, name), err = 0;

	if (in < 0)
		return in == -ENOMEM || in == -EMFILE ? in : 0;
	if (l->top && strcmp(name, SYMBOLS) == 0) {
		int symbols = -EIO;

		if (mkdirat(l->out, SYMBOLS, 0777) == 0 || errno == EEXIST)
			symbols = open_dir(l->out, SYMBOLS);

		err = symbols < 0 ? symbols : each_entry(in, copy_symbols, &symbols);
		if (symbols >= 0)
			close(symbols);
	} else if (is_process_folder(in)) {
		err = copy_folder(l->c, in, l->out, l->below, name);
	} else if (l->top && is_piece_name(name)) {
		err = copy_piece(l, in, name);
	}
	close(in);
	return err;
}

/* ------------------------------------------------------------------------ clock */

/*
 * The recorder that was killed had measured the clock for some milliseconds. If the machine runs on since then, the
 * line from the first packet to now is better by orders of magnitude. That it is the same boot shows by
 * the clock itself: it is where that first measure expects it, to parts of ten thousand.
 */
static bool fit_clock(const struct copying *c, struct hodo_clock_map *map)
{
	struct hodo_clock_sample first = { 0 }, now;
	struct hodo_clock_map old = { HODO_CLOCK_TSC, c->clock.freq_hz, c->clock.offset_s,
				      (uint64_t)c->clock.offset_ticks };
	__int128 real, ns, off;

	if (c->clock.kind != HODO_CLOCK_TSC || c->ts_begin == UINT64_MAX || !hodo_clock_tsc_usable() || !old.freq_hz)
		return false;
	hodo_clock_sample(HODO_CLOCK_TSC, &now);
	if (now.ticks <= c->ts_begin)
		return false;
	real = (__int128)old.offset_s * 1000000000 + ((__int128)old.offset + c->ts_begin) * 1000000000 / old.freq_hz;
	ns = (__int128)(now.ticks - c->ts_begin) * 1000000000 / old.freq_hz;
	off = real + ns - now.real_ns;
	if (off < 0)
		off = -off;
	if (real <= 0 || real > INT64_MAX || ns < HODO_CLOCK_FIT_NS || off > ns / 5000 + 5000000)
		return false;
	first.ticks = c->ts_begin;
	first.real_ns = (int64_t)real;
	first.mono_ns = 0;
	now.mono_ns = now.real_ns - first.real_ns;
	hodo_clock_fit(HODO_CLOCK_TSC, &first, &now, map);
	return true;
}

static int set_clocks(const struct copying *c)
{
	struct hodo_clock_map map;
	int err = 0;

	if (c->complete == c->folders && !c->repaired && !c->clocks_differ)
		return 0; /* it ended in order */
	if (!fit_clock(c, &map)) {
		if (c->clock.kind == HODO_CLOCK_TSC && c->ts_begin != UINT64_MAX)
			hodo_recover_report(c->r, "the recorder had measured the clock for a moment only: times may be off by"
					    " some microseconds a second");
		return 0;
	}
	for (const char *at = c->done.data, *end = at + c->done.len; !err && at < end; at += strlen(at) + 1) {
		int fd = openat(c->r->out_fd, at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		err = fd < 0 ? -errno : hodo_ctf_metadata_set_clock(fd, &map);
		if (fd >= 0)
			close(fd);
	}
	return err;
}

int hodo_recover_recording(struct hodo_recover *r, int fd, const char *path, char *error, size_t size)
{
	struct copying c = { .r = r, .ts_begin = UINT64_MAX };
	struct level top = { &c, r->out_fd, "", true };
	const char *base = strrchr(path, '/') && strrchr(path, '/')[1] ? strrchr(path, '/') + 1 : path;
	int err;

	/* The recorder keeps it locked. */
	if (flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		snprintf(error, size, "it is being written: end that recording first");
		return -EBUSY;
	}
	err = is_process_folder(fd) ? copy_folder(&c, fd, r->out_fd, "", base) : each_entry(fd, copy_entry, &top);
	if (!err)
		err = set_clocks(&c);
	if (err)
		snprintf(error, size, "cannot be copied: %s", strerror(-err));
	else if (r->torn)
		hodo_recover_report(r, "%s: %llu events at the end of streams were not on disk as a whole", path,
				    (unsigned long long)r->torn);
	hodo_text_free(&c.done);
	return err;
}
