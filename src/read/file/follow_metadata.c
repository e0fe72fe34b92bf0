/* SPDX-License-Identifier: MIT */
/*
 * follow_metadata.c - what a process's metadata says that it did not say at the last look. The recorder replaces it
 * as a whole; its lines keep their order, and new ones come at the end of their kind.
 */
#include "follow_impl.h"
#include <read/read_impl.h>

#include <base/escape.h>
#include <base/quantity.h>
#include <base/scope.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_MAX  (1u << 16) /* of threads that have got another one, of one process */
#define TEXT_ROOM  1024u

/* Whether it is another file than at the last look; notes it. */
static bool has_changed(struct hodo_trace *t, const char *path)
{
	struct hodo_tree_file file;
	struct stat st = { 0 };
	int64_t mtime_ns;

	if (hodo_tree_file(t->reader->tree, path, &file) < 0)
		return false;
	fstat(file.fd, &st);
	close(file.fd);
	mtime_ns = st.st_mtim.tv_sec * (int64_t)NS_PER_S + st.st_mtim.tv_nsec;
	if (t->followed.ino == file.ino && t->followed.mtime_ns == mtime_ns && t->followed.bytes == file.bytes)
		return false;
	t->followed.ino = file.ino;
	t->followed.mtime_ns = mtime_ns;
	t->followed.bytes = file.bytes;
	return true;
}

/* The value of " KEY=" in a line, decoded; "" if there is none, or it has no room. */
static const char *value_of(const char *line, size_t len, const char *key, char to[TEXT_ROOM])
{
	const char *at = memmem(line, len, key, strlen(key)), *end;

	to[0] = 0;
	if (!at)
		return to;
	at += strlen(key);
	for (end = at; end < line + len && *end != ' ' && *end != '*'; end++)
		;
	if (end - at >= (int)TEXT_ROOM)
		return to;
	memcpy(to, at, (size_t)(end - at));
	to[end - at] = 0;
	hodo_percent_decode(to);
	return to;
}

static uint64_t number_of(const char *line, size_t len, const char *key)
{
	char text[TEXT_ROOM];
	uint64_t n;

	return hodo_parse_number(value_of(line, len, key, text), UINT32_MAX, &n) == 0 ? n : 0;
}

/* -------------------------------------------------------------------------- threads */

static int by_tid(const void *a, const void *b)
{
	const struct hodo_read_thread *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

static struct hodo_read_thread *find_thread(const struct hodo_trace *t, uint32_t n, uint32_t tid)
{
	const struct hodo_read_thread key = { .tid = tid };

	return n ? bsearch(&key, t->threads, n, sizeof(key), by_tid) : NULL;
}

/* sorted: how many of t->threads were there at the last look. 0 or -ENOMEM. */
static int take_thread(struct hodo_trace *t, uint32_t sorted, const char *line, size_t len)
{
	uint32_t tid = (uint32_t)number_of(line, len, " tid="), pid = (uint32_t)number_of(line, len, " pid=");
	struct hodo_read_thread *thread = find_thread(t, sorted, tid);
	char comm[TEXT_ROOM];
	uint32_t text;

	value_of(line, len, " comm=", comm);
	if (thread && thread->pid == pid && strcmp(thread->comm, comm) == 0)
		return 0;
	if (t->names.texts.map.n >= NAMES_MAX)
		return 0;
	text = hodo_strings_add(&t->names.texts, comm);
	if (text == HODO_STRINGS_NONE)
		return -ENOMEM;
	thread = thread ? thread : hodo_vec_add(t->threads, t->nthreads);
	if (!thread)
		return -ENOMEM;
	*thread = (struct hodo_read_thread){ .tid = tid, .pid = pid, .comm = hodo_strings_at(&t->names.texts, text) };
	t->names.changes++;
	return 0;
}

/* The last of several for one thread counts, as everywhere. */
static void settle_threads(struct hodo_trace *t)
{
	if (t->nthreads)
		qsort(t->threads, t->nthreads, sizeof(*t->threads), by_tid);
	t->pub.threads = t->threads;
	t->pub.nthreads = t->nthreads;
	memset(t->names.recent, 0, sizeof(t->names.recent));
}

/* ----------------------------------------------------------------------------- lines */

struct counts {
	uint32_t labels, objects;
};

/* Whether the line is new, and is understood in the middle of a recording. */
static bool is_new(const struct hodo_trace *t, const char *line, size_t len, struct counts *n)
{
	uint64_t id;

	if (len > 9 && memcmp(line, "/*@event ", 9) == 0) {
		id = number_of(line, len, " id=");
		return id >= t->by_id_n || !t->by_id[id];
	}
	if (len > 10 && memcmp(line, "/*@labels ", 10) == 0)
		return n->labels++ >= t->followed.labels;
	if (len > 10 && memcmp(line, "/*@object ", 10) == 0)
		return n->objects++ >= t->followed.objects;
	return len > 7 && memcmp(line, "/*@end ", 7) == 0;
}

/* Appends the new lines; takes the threads. 0 or a negative errno. */
static int find_new(struct hodo_trace *t, const struct hodo_text *all, struct hodo_text *fresh)
{
	const char *end = all->data + all->len, *next;
	uint32_t sorted = t->nthreads;
	struct counts n = { 0 };
	int err = 0;

	for (const char *line = all->data; line < end && !err; line = next) {
		const char *eol = memchr(line, '\n', (size_t)(end - line));
		size_t len;

		eol = eol ? eol : end;
		next = eol + 1;
		len = (size_t)(eol - line);
		if (len > 10 && memcmp(line, "/*@thread ", 10) == 0)
			err = take_thread(t, sorted, line, len);
		else if (is_new(t, line, len, &n)) {
			hodo_text_bytes(fresh, line, len);
			hodo_text_char(fresh, '\n');
		}
	}
	settle_threads(t);
	t->followed.labels = n.labels;
	t->followed.objects = n.objects;
	return err ? err : fresh->error;
}

int hodo_read_metadata_more(struct hodo_trace *t)
{
	HODO_AUTO(hodo_text_free) struct hodo_text all = { 0 };
	HODO_AUTO(hodo_text_free) struct hodo_text fresh = { 0 };
	char path[2 * NAME_MAX + 16];
	uid_t owner;
	char *kept;
	int err;

	snprintf(path, sizeof(path), "%s/metadata", t->folder);
	if (t->followed.ino == 0)
		t->followed.objects = t->nobjects;
	if (!has_changed(t, path))
		return 0;
	err = hodo_tree_read(t->reader->tree, path, METADATA_MAX_BYTES, &all, &owner);
	if (err == -ENOMEM)
		return err;
	if (!err)
		err = find_new(t, &all, &fresh);
	if (err) /* removed with its part, perhaps: what was known stays */
		return err == -ENOMEM ? err : 0;
	kept = hodo_arena_copy(&t->memory, fresh.data ? fresh.data : "", fresh.len);
	if (!kept)
		return -ENOMEM;
	t->pub.complete = t->goes_on = false;
	err = hodo_read_trace_more(t, kept, fresh.len);
	t->followed.ended = t->pub.complete && !t->goes_on;
	return err;
}
