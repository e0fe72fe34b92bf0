/* SPDX-License-Identifier: MIT */
/*
 * test_follow.c - a recording that grows while it is read (read/file/follow.h): a copy of a finished one, of which each
 * step has more bytes, cut anywhere, and of its metadata more lines. What was read of it in steps is what the whole
 * one has.
 */
#define _GNU_SOURCE
#include <lib/recordings/help.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <read/file/follow.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/vec.h>

#define STEPS 9

struct lines {
	char **line;
	uint32_t n;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static uint32_t only_pid; /* 0: all processes */

/* What all events say that can be read now. */
static void read_lines(struct hodo_read *r, struct lines *to)
{
	struct hodo_read_text *text = hodo_read_text_new();
	const struct hodo_read_event *e;
	size_t len;
	char *line;
	int got;

	assert_non_null(text);
	while ((got = hodo_read_next(r, &e)) > 0) {
		if (only_pid && e->process->pid != only_pid)
			continue;
		hodo_read_text_clear(text);
		assert_int_equal(hodo_read_text_json(text, e), 0);
		line = (char *)hodo_read_text_data(text, &len);
		line = strndup(line, len);
		assert_non_null(line);
		assert_int_equal(hodo_vec_push(to->line, to->n, line), 0);
	}
	assert_int_equal(got, 0);
	hodo_read_text_free(text);
}

static void free_lines(struct lines *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		free(l->line[i]);
	free(l->line);
	*l = (struct lines){ 0 };
}

static void assert_same(struct lines *a, struct lines *b)
{
	qsort(a->line, a->n, sizeof(*a->line), by_text);
	qsort(b->line, b->n, sizeof(*b->line), by_text);
	for (uint32_t i = 0; i < a->n && i < b->n; i++)
		assert_string_equal(a->line[i], b->line[i]);
	assert_int_equal(a->n, b->n);
}

/* -------------------------------------------------------------------- the growing copy */

/* As the recorder does: a new file under the old one's name. */
static void replace_file(const char *path, const char *data, size_t len)
{
	char other[4096 + 8];
	FILE *f;

	snprintf(other, sizeof(other), "%s.new", path);
	f = fopen(other, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
	assert_int_equal(rename(other, path), 0);
}

/* First without half of the events, and at last with the line that says that it is complete. */
static void copy_metadata(const char *from, const char *to, unsigned step)
{
	size_t len;
	char *all = (char *)folder_read(from, &len), *text = strndup(all, len), *some = malloc(len + 1);
	char *rest = text, *line, *out = some;
	unsigned events = 0;

	while ((line = strsep(&rest, "\n"))) {
		if (step < STEPS - 1 && strncmp(line, "/*@end", 6) == 0)
			continue;
		if (step == 0 && ((strncmp(line, "/*@event", 8) == 0 && events++ % 2) || strncmp(line, "/*@labels", 9) == 0 ||
				  strncmp(line, "/*@thread", 9) == 0))
			continue;
		out = stpcpy(out, line);
		if (rest)
			*out++ = '\n';
	}
	replace_file(to, some, (size_t)(out - some));
	free(some);
	free(text);
	free(all);
}

/* What is there stays: the rest is appended, up to some byte. */
static void copy_stream(const char *from, const char *to, unsigned step)
{
	size_t len, wanted;
	uint8_t *all = folder_read(from, &len);
	int fd = open(to, O_WRONLY | O_CREAT | O_APPEND, 0600);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	wanted = step == 0 ? 0 : step == STEPS - 1 ? len : len * step / (STEPS - 1) + step * 37 % 101;
	wanted = wanted > len ? len : wanted;
	if (wanted > (size_t)st.st_size)
		assert_int_equal(write(fd, all + st.st_size, wanted - (size_t)st.st_size),
				 (ssize_t)(wanted - (size_t)st.st_size));
	close(fd);
	free(all);
}

/* folders: only every n-th process so far. */
static void grow(const char *whole, const char *copy, unsigned step)
{
	DIR *top = opendir(whole);
	struct dirent *folder, *file;
	unsigned n = 0;

	assert_non_null(top);
	while ((folder = readdir(top))) {
		char from[4096], to[4096];
		DIR *d;

		if (folder->d_name[0] == '.' || (step < 3 && n++ % 2))
			continue;
		snprintf(to, sizeof(to), "%s/%s", copy, folder->d_name);
		mkdir(to, 0700);
		snprintf(from, sizeof(from), "%s/%s", whole, folder->d_name);
		d = opendir(from);
		assert_non_null(d);
		/* Metadata first: each event that is there has a class. */
		snprintf(from, sizeof(from), "%s/%s/metadata", whole, folder->d_name);
		snprintf(to, sizeof(to), "%s/%s/metadata", copy, folder->d_name);
		copy_metadata(from, to, step);
		while ((file = readdir(d))) {
			if (file->d_name[0] == '.' || strcmp(file->d_name, "metadata") == 0)
				continue;
			snprintf(from, sizeof(from), "%s/%s/%s", whole, folder->d_name, file->d_name);
			snprintf(to, sizeof(to), "%s/%s/%s", copy, folder->d_name, file->d_name);
			copy_stream(from, to, step);
		}
		closedir(d);
	}
	closedir(top);
}

/* -------------------------------------------------------------------------- the tests */

static unsigned warnings;

static void warn(void *data, const char *text)
{
	(void)data;
	fprintf(stderr, "%s\n", text);
	warnings++;
}

/* Of whole recordings, without damage: so many steps give something, and nothing is complained of. */
static void check_follow(const char *whole, const char *copy, unsigned steps)
{
	const struct hodo_read_options options = { .size = sizeof(options), .warn = warn };
	struct hodo_read *r = help_open(whole), *followed;
	struct hodo_read_clock clock = hodo_read_process(r, 0)->clock;
	struct lines expected = { 0 }, found = { 0 };
	unsigned gave = 0;

	warnings = 0;
	assert_int_equal(mkdir(copy, 0700), 0);
	assert_int_equal(hodo_read_follow(&followed, copy, &options), 0);
	for (unsigned step = 0; step < STEPS; step++) {
		uint32_t before = found.n;

		grow(whole, copy, step);
		assert_int_equal(hodo_read_follow_on(followed, &clock, UINT64_MAX / 2), 0);
		read_lines(followed, &found);
		gave += found.n > before;
	}
	assert_int_equal(hodo_read_follow_on(followed, &clock, UINT64_MAX), 0);
	read_lines(followed, &found);
	assert_int_equal(warnings, 0);
	read_lines(r, &expected);
	assert_same(&found, &expected);
	assert_true(gave >= steps);
	free_lines(&found);
	free_lines(&expected);
	hodo_read_close(followed);
	hodo_read_close(r);
}

TEST(what_grows_is_read_in_steps)
{
	gen_fixed(folder_path("fixed"), 150000);
	check_follow(folder_path("fixed"), folder_path("fixed-copy"), 5);
	gen_text(folder_path("text"), 150000);
	check_follow(folder_path("text"), folder_path("text-copy"), 5);
}

TEST(processes_come_later)
{
	gen_many(folder_path("many"), 40);
	check_follow(folder_path("many"), folder_path("many-copy"), 1);
}

TEST(classes_labels_and_threads_come_later)
{
	gen_all(folder_path("all"));
	only_pid = 412; /* the other one has another clock */
	check_follow(folder_path("all"), folder_path("all-copy"), 1);
	only_pid = 0;
}

/* Only what was before that time; and the rest when the time has come. */
TEST(events_wait_for_their_time)
{
	struct hodo_read *r, *followed;
	struct lines expected = { 0 }, found = { 0 };
	const struct hodo_read_event *e;
	struct hodo_read_clock clock;
	uint64_t ticks[3] = { 0 };
	uint32_t n = 0;

	gen_fixed(folder_path("timed"), 1000);
	r = help_open(folder_path("timed"));
	clock = hodo_read_process(r, 0)->clock;
	while (hodo_read_next(r, &e) > 0) {
		if (n % 400 == 399)
			ticks[n / 400] = e->ticks;
		n++;
	}
	assert_true(n > 800 && ticks[1] > ticks[0]);
	assert_int_equal(hodo_read_follow(&followed, folder_path("timed"), NULL), 0);
	assert_int_equal(hodo_read_next(followed, &e), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(hodo_read_follow_on(followed, &clock, ticks[i]), 0);
		read_lines(followed, &found);
		assert_int_equal(found.n, 400 * i + 399);
	}
	assert_int_equal(hodo_read_follow_on(followed, &clock, UINT64_MAX), 0);
	read_lines(followed, &found);
	hodo_read_rewind(r);
	read_lines(r, &expected);
	assert_int_equal(found.n, expected.n);
	for (uint32_t i = 0; i < found.n; i++)
		assert_string_equal(found.line[i], expected.line[i]);
	free_lines(&found);
	free_lines(&expected);
	hodo_read_close(followed);
	hodo_read_close(r);
}

TEST(what_cannot_be_followed)
{
	struct hodo_read *r;

	assert_int_equal(hodo_read_follow(&r, folder_path("nothing"), NULL), -ENOENT);
	assert_null(r);
}
