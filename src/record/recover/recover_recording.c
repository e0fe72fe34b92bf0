/* SPDX-License-Identifier: MIT */
/*
 * recover_recording.c - a recording whose recorder was killed: metadata without its end and its final clock,
 * incomplete packets, half-made files.
 */
#include "recover.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <hodo/read.h>

#include <base/file.h>
#include <base/map.h>
#include <base/quantity.h>
#include <base/scope.h>
#include <read/file/packets.h>

#include <record/clock.h>
#include <record/write/ctf_metadata.h>
#include <record/write/out_dir.h>

#define ENTRIES_MAX 131072u
#define METADATA_MAX (1ull << 30)

/* The state of copying one recording. */
struct copying {
	struct hodo_recover *r;
	struct hodo_text done; /* folders below out_fd, each with its NUL */
	uint64_t ts_begin;     /* of the earliest packet */
	struct hodo_read_clock clock;
	struct hodo_map names; /* of folders: a process has one in each part */
	uint32_t folders, complete;
	bool clocks_differ; /* the recorder was killed while it gave all folders the final clock */
};

static bool is_process_folder(int fd)
{
	struct stat st;

	return fstatat(fd, "metadata", &st, AT_SYMLINK_NOFOLLOW) == 0 ||
	       fstatat(fd, ".metadata.new", &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* pieces: also search parts and snapshots. */
static bool has_folder(int fd, bool pieces)
{
	HODO_AUTO_CLOSEDIR DIR *d = hodo_dir_list(fd, ".");
	const char *name;
	bool found = false;

	for (uint32_t n = 0; !found && n < ENTRIES_MAX && (name = hodo_dir_next(d)); n++) {
		HODO_AUTO_CLOSE int entry = hodo_dir_open(fd, name);

		found = entry >= 0 && (is_process_folder(entry) ||
				       (pieces && hodo_out_dir_is_piece(name) && has_folder(entry, false)));
	}
	return found;
}

bool hodo_recover_is_recording(int fd)
{
	return is_process_folder(fd) || has_folder(fd, true);
}

/* ------------------------------------------------------------------------ files */

/* Appends the file's contents. 0, -ENOENT: no regular file with that name. */
static int read_file(int dirfd, const char *name, struct hodo_text *text)
{
	HODO_AUTO_CLOSE int fd = hodo_file_open(dirfd, name);

	return fd < 0 ? -ENOENT : hodo_file_read(fd, METADATA_MAX, text);
}

static int write_file(int dirfd, const char *name, const struct hodo_text *text)
{
	HODO_AUTO_CLOSE int fd = hodo_file_make(dirfd, name);
	int err = fd < 0 ? fd : hodo_file_write(fd, text->data, text->len);

	/* Some file systems report only here that there was no room. */
	return !err && close(hodo_take_fd(&fd)) < 0 ? -errno : err;
}

static int copy_file(int from, int to, const char *name)
{
	struct hodo_text text = { 0 };
	int err = read_file(from, name, &text);

	if (!err)
		err = write_file(to, name, &text);
	hodo_text_free(&text);
	return err == -ENOENT || err == -EEXIST ? 0 : err;
}

/* Names of functions: copied unchanged. A file that was being written has another name. */
static int copy_symbols(int from, int out)
{
	int made = hodo_dir_make(out, HODO_OUT_SYMBOLS);
	HODO_AUTO_CLOSE int to = made && made != -EEXIST ? made : hodo_dir_open(out, HODO_OUT_SYMBOLS);
	HODO_AUTO_CLOSEDIR DIR *d = hodo_dir_list(from, ".");
	int err = to < 0 ? to : d ? 0 : -errno;
	const char *name;

	for (uint32_t n = 0; !err && n < ENTRIES_MAX && (name = hodo_dir_next(d)); n++)
		if (strspn(name, "0123456789abcdefp") == strlen(name))
			err = copy_file(from, to, name);
	return err;
}

/* ----------------------------------------------------------------------- folder */

struct folder {
	struct copying *c;
	int in, out;
	const struct hodo_read_process *process;
	struct hodo_text damaged; /* lines for the metadata */
};

static int copy_stream(struct folder *f, const struct hodo_read_stream *stream)
{
	struct hodo_recover_stream result;
	int err = hodo_recover_stream(f->process, stream, f->out, &result);

	if (err)
		return err;
	hodo_ctf_add_damaged(&f->damaged, stream->name, result.torn);
	f->c->r->events += result.events;
	f->c->r->bytes += result.bytes;
	f->c->r->torn += result.torn;
	if (result.ts_begin < f->c->ts_begin)
		f->c->ts_begin = result.ts_begin;
	return 0;
}

static int copy_all_streams(struct folder *f, struct hodo_read *reader)
{
	char self[32];
	int err;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", f->in);
	err = hodo_packets_open(reader, self);
	for (uint32_t i = 0; !err && i < f->process->nstreams; i++)
		if (hodo_out_dir_is_stream(f->process->streams[i]->name))
			err = copy_stream(f, f->process->streams[i]);
	return err;
}

/* The folder exists, with readable metadata; copies its streams. */
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
	err = copy_all_streams(f, reader);
	if (!err && f->damaged.len)
		err = hodo_ctf_metadata_complete(f->out, NULL, NULL, &f->damaged);
	hodo_text_free(&f->damaged);
	hodo_read_close(reader);
	return err;
}

/* Metadata is replaced as a whole: the file with the final name is complete, one without it may be. */
static int copy_metadata(const struct folder *f, const char *name)
{
	static const char head[] = HODO_OUT_METADATA_HEAD;
	struct hodo_text text = { 0 };
	struct stat st = { .st_uid = geteuid() };
	int err = read_file(f->in, name, &text);

	if (!err && fstatat(f->in, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		err = -errno;
	if (!err && (text.len < sizeof(head) || memcmp(text.data, head, sizeof(head) - 1) != 0))
		err = -EBADMSG;
	if (!err)
		err = hodo_ctf_metadata_write(f->out, &text, st.st_uid);
	hodo_text_free(&text);
	return err;
}

static int copy_with(struct folder *f, const char *metadata)
{
	int err = copy_metadata(f, metadata);

	return err ? err : copy_streams(f);
}

static bool has_filled_stream(int fd)
{
	HODO_AUTO_CLOSEDIR DIR *d = hodo_dir_list(fd, ".");
	const char *name;
	struct stat st;

	for (uint32_t n = 0; n < ENTRIES_MAX && (name = hodo_dir_next(d)); n++)
		if (strcmp(name, "metadata") != 0 && strcmp(name, ".metadata.new") != 0 &&
		    fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
			return true;
	return false;
}

static int note_folder(struct copying *c, const char *below, const char *name)
{
	bool is_new;

	if (!hodo_map_add_bytes(&c->names, name, strlen(name), &is_new))
		return -ENOMEM;
	c->r->processes += is_new;
	hodo_text_printf(&c->done, "%s%s", below, name);
	hodo_text_char(&c->done, 0);
	return c->done.error;
}

/* A process's folder. below: where it is under out_fd, "" or "part-0001/". */
static int copy_folder(struct copying *c, int in, int out, const char *below, const char *name)
{
	char made[NAME_MAX + 1];
	HODO_AUTO_CLOSE int to = hodo_out_dir_add(out, name, made, sizeof(made));
	struct folder f = { .c = c, .in = in, .out = to };
	int err, other;

	if (to < 0)
		return to;
	err = copy_with(&f, "metadata");
	if (err == -ENOENT || err == -EBADMSG) {
		other = copy_with(&f, ".metadata.new");
		err = other == -ENOENT ? err : other;
	}
	if (!err)
		return note_folder(c, below, made);
	if (err != -ENOENT && err != -EBADMSG)
		return err;
	/* Without it, the events cannot be decoded. */
	unlinkat(to, "metadata", 0);
	unlinkat(out, made, AT_REMOVEDIR);
	/* It was only begun: metadata is written first. */
	if (!has_filled_stream(in))
		return 0;
	c->r->failed++;
	hodo_report(&c->r->reporter, "%s%s: %s: nothing of it can be read", below, name,
		    err == -ENOENT ? "it has no metadata" : "its metadata is damaged");
	return 0;
}

/* -------------------------------------------------------------------- recording */

static int copy_entries(struct copying *c, int in, int out, const char *below);

static int copy_piece(struct copying *c, int in, int out, const char *name)
{
	char below[NAME_MAX + 2];
	HODO_AUTO_CLOSE int to = -1;
	int err = hodo_dir_make(out, name);

	if (err && err != -EEXIST)
		return err;
	to = hodo_dir_open(out, name);
	if (to < 0)
		return to;
	snprintf(below, sizeof(below), "%s/", name);
	err = copy_entries(c, in, to, below);
	unlinkat(out, name, AT_REMOVEDIR); /* an empty one */
	return err;
}

/* The contents of a recording, or of a part or a snapshot of it. */
static int copy_entries(struct copying *c, int in, int out, const char *below)
{
	HODO_AUTO_CLOSEDIR DIR *d = hodo_dir_list(in, ".");
	int err = d ? 0 : -errno;
	bool top = !below[0];
	const char *name;

	for (uint32_t n = 0; !err && n < ENTRIES_MAX && (name = hodo_dir_next(d)); n++) {
		HODO_AUTO_CLOSE int entry = hodo_dir_open(in, name);

		if (entry < 0)
			err = entry == -ENOMEM || entry == -EMFILE ? entry : 0;
		else if (top && strcmp(name, HODO_OUT_SYMBOLS) == 0)
			err = copy_symbols(entry, out);
		else if (is_process_folder(entry))
			err = copy_folder(c, entry, out, below, name);
		else if (top && hodo_out_dir_is_piece(name))
			err = copy_piece(c, entry, out, name);
	}
	return err;
}

/* ------------------------------------------------------------------------ clock */

/*
 * The killed recorder had measured the clock for only some milliseconds. If the machine has been running
 * since, the line from the first packet to now is better by orders of magnitude. The clock itself shows that
 * it is the same boot: it is where the first measurement predicts, to parts in ten thousand.
 */
static bool fit_clock(const struct copying *c, struct hodo_read_clock *map)
{
	struct hodo_clock_sample first = { 0 }, now;
	const struct hodo_read_clock *old = &c->clock;
	__int128 real, ns, off;

	if (c->clock.kind != HODO_CLOCK_TSC || c->ts_begin == UINT64_MAX || !hodo_clock_tsc_usable() || !old->freq_hz)
		return false;
	hodo_clock_sample(HODO_CLOCK_TSC, &now);
	if (now.ticks <= c->ts_begin)
		return false;
	real = (__int128)old->offset_s * 1000000000 +
	       ((__int128)old->offset_ticks + c->ts_begin) * 1000000000 / old->freq_hz;
	ns = (__int128)(now.ticks - c->ts_begin) * 1000000000 / old->freq_hz;
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
	struct hodo_read_clock map;
	int err = 0;

	if (c->complete == c->folders && !c->clocks_differ)
		return 0; /* it ended normally */
	if (!fit_clock(c, &map)) {
		if (c->clock.kind == HODO_CLOCK_TSC && c->ts_begin != UINT64_MAX)
			hodo_report(&c->r->reporter, "the recorder measured the clock only briefly: times "
				    "may be off by some microseconds a second");
		return 0;
	}
	for (const char *at = c->done.data, *end = at + c->done.len; !err && at < end; at += strlen(at) + 1) {
		HODO_AUTO_CLOSE int fd = hodo_dir_open(c->r->out_fd, at);

		err = fd < 0 ? fd : hodo_ctf_metadata_complete(fd, NULL, &map, NULL);
	}
	return err;
}

int hodo_recover_recording(struct hodo_recover *r, int fd, const char *path, struct hodo_why *why)
{
	struct copying c = { .r = r, .ts_begin = UINT64_MAX, .names = HODO_MAP_BYTES(struct hodo_bytes) };
	const char *base = strrchr(path, '/') && strrchr(path, '/')[1] ? strrchr(path, '/') + 1 : path;
	char number[32];
	int err;

	/* The recorder keeps it locked. */
	if (flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return hodo_why(why, -EBUSY, "it is being written: end that recording first");
	err = is_process_folder(fd) ? copy_folder(&c, fd, r->out_fd, "", base) : copy_entries(&c, fd, r->out_fd, "");
	if (!err)
		err = set_clocks(&c);
	hodo_map_free(&c.names);
	if (err)
		hodo_why(why, 0, "cannot be copied: %s", strerror(-err));
	else if (r->torn)
		hodo_report(&r->reporter, "%s: %s event%s damaged, or only partly on disk", path,
			    hodo_grouped(r->torn, number), r->torn == 1 ? " was" : "s were");
	hodo_text_free(&c.done);
	return err;
}
