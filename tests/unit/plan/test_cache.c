/* SPDX-License-Identifier: MIT */
/* test_cache.c - the cache of decoded files: what is not ours, not whole, or of another file is not used. */
#include <lib/unit.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <base/file.h>
#include <lib/folder.h>
#include <plan/cache.h>

static const struct hodo_plan_identity id = { .dev = 0x803, .inode = 0x4711, .bytes = 7, .build_id_len = 2,
					      .build_id = { 1, 2 } };
static const char entry[] = "803-4711", content[] = "what was found";
static char place[64];

static bool has(int dir, const struct hodo_plan_identity *of)
{
	struct hodo_text text = { 0 };
	bool found = hodo_plan_cache_load(dir, of, &text);

	if (found)
		assert_string_equal(hodo_text_string(&text), content);
	hodo_text_free(&text);
	return found;
}

static int store(int dir)
{
	return hodo_plan_cache_store(dir, &id, content, strlen(content));
}

/* A new empty cache with the entry. */
static int fresh(void)
{
	static int n;
	int dir;

	snprintf(place, sizeof(place), "%s", folder_path("cache"));
	snprintf(place + strlen(place), sizeof(place) - strlen(place), "%d", n++);
	setenv("HODO_CACHE", place, 1);
	dir = hodo_plan_cache_open();
	assert_true(dir >= 0);
	assert_int_equal(store(dir), 0);
	assert_true(has(dir, &id));
	return dir;
}

static uint32_t files(int dir)
{
	DIR *list = hodo_dir_list(dir, ".");
	uint32_t n = 0;

	while (hodo_dir_next(list))
		n++;
	closedir(list);
	return n;
}

TEST(an_entry_is_found_again_and_replaced)
{
	int dir = fresh();

	assert_int_equal(files(dir), 1);
	assert_int_equal(store(dir), 0);
	assert_int_equal(files(dir), 1);
	close(dir);
	dir = hodo_plan_cache_open();
	assert_true(has(dir, &id));
	close(dir);
}

TEST(it_is_below_the_users_cache)
{
	const char *home = folder_path("home");
	struct stat st;
	char path[96];

	unsetenv("HODO_CACHE");
	unsetenv("XDG_CACHE_HOME");
	assert_int_equal(mkdir(home, 0700), 0);
	setenv("HOME", home, 1);
	close(hodo_plan_cache_open());
	snprintf(path, sizeof(path), "%s/.cache/hodo/code", home);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	setenv("XDG_CACHE_HOME", folder_path("xdg"), 1);
	close(hodo_plan_cache_open());
	assert_int_equal(stat(folder_path("xdg/hodo/code"), &st), 0);
	setenv("HODO_CACHE", "", 1);
	assert_true(hodo_plan_cache_open() < 0);
}

TEST(another_file_has_none)
{
	int dir = fresh();
	struct hodo_plan_identity other[7];

	for (unsigned i = 0; i < 7; i++)
		other[i] = id;
	other[0].bytes++;
	other[1].changed_s++;
	other[2].changed_ns++;
	other[3].written_ns++;
	other[4].build_id[1]++;
	other[5].build_id_len--;
	other[6].inode++;
	for (unsigned i = 0; i < 7; i++)
		assert_false(has(dir, &other[i]));
	assert_true(has(dir, &id));
	close(dir);
}

/* Each length, and each byte changed: of the identity, version, checksum, content. */
TEST(a_damaged_entry_is_none_and_is_replaced)
{
	int dir = fresh(), fd;
	size_t len;
	char path[96];
	uint8_t *bytes;

	snprintf(path, sizeof(path), "%s/%s", place, entry);
	bytes = folder_read(path, &len);
	for (size_t n = 0; n < len; n++) {
		fd = openat(dir, entry, O_WRONLY | O_TRUNC);
		assert_int_equal(hodo_file_write(fd, bytes, n), 0);
		close(fd);
		assert_false(has(dir, &id));
	}
	for (size_t n = 0; n < len; n++) {
		bytes[n] ^= 0x41;
		fd = openat(dir, entry, O_WRONLY | O_TRUNC);
		assert_int_equal(hodo_file_write(fd, bytes, len), 0);
		close(fd);
		assert_false(has(dir, &id));
		bytes[n] ^= 0x41;
	}
	assert_int_equal(store(dir), 0);
	assert_true(has(dir, &id));
	free(bytes);
	close(dir);
}

TEST(what_others_could_write_is_not_used)
{
	int dir = fresh();

	assert_int_equal(fchmodat(dir, entry, 0620, 0), 0);
	assert_false(has(dir, &id));
	assert_int_equal(fchmodat(dir, entry, 0602, 0), 0);
	assert_false(has(dir, &id));
	assert_int_equal(store(dir), 0);
	assert_true(has(dir, &id));
	if (geteuid() == 0) {
		assert_int_equal(fchownat(dir, entry, 65534, 65534, 0), 0);
		assert_false(has(dir, &id));
	}
	assert_int_equal(chmod(place, 0770), 0);
	assert_true(hodo_plan_cache_open() < 0);
	assert_int_equal(chmod(place, 0700), 0);
	if (geteuid() == 0) {
		assert_int_equal(chown(place, 65534, 65534), 0);
		assert_true(hodo_plan_cache_open() < 0);
	}
	close(dir);
}

TEST(links_and_other_things_are_not_followed)
{
	int dir = fresh();
	char elsewhere[96];

	assert_int_equal(renameat(dir, entry, dir, "elsewhere"), 0);
	assert_int_equal(symlinkat("elsewhere", dir, entry), 0);
	assert_false(has(dir, &id));
	assert_int_equal(store(dir), 0); /* replaces the link, and leaves what it leads to */
	assert_true(has(dir, &id));
	assert_int_equal(unlinkat(dir, entry, 0), 0);
	assert_int_equal(mkfifoat(dir, entry, 0600), 0);
	assert_false(has(dir, &id));
	assert_int_equal(unlinkat(dir, entry, 0), 0);
	assert_int_equal(mkdirat(dir, entry, 0700), 0);
	assert_false(has(dir, &id));
	assert_true(store(dir) < 0);
	snprintf(elsewhere, sizeof(elsewhere), "%s-link", place);
	assert_int_equal(symlink(place, elsewhere), 0);
	setenv("HODO_CACHE", elsewhere, 1);
	assert_true(hodo_plan_cache_open() < 0);
	close(dir);
}

TEST(where_nothing_can_be_written_nothing_is)
{
	const struct rlimit none = { 16, RLIM_INFINITY };
	struct rlimit before;
	int dir = fresh(), err;

	setenv("HODO_CACHE", folder_path("no/such/folder"), 1);
	assert_true(hodo_plan_cache_open() < 0);
	folder_write(folder_path("file"), "", 0);
	setenv("HODO_CACHE", folder_path("file"), 1);
	assert_true(hodo_plan_cache_open() < 0);

	/* As on a full disk: the write fails in the middle. */
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	err = store(dir);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(err, -EFBIG);
	assert_int_equal(files(dir), 1);
	assert_true(has(dir, &id));
	close(dir);
}

TEST(the_oldest_make_room)
{
	const struct timespec long_ago[2] = { { 1, 0 }, { 1, 0 } };
	struct hodo_plan_identity other = id;
	int dir = fresh(), fd;

	for (unsigned i = 1; i < HODO_PLAN_CACHE_FILES + 10; i++) {
		other.inode = i;
		assert_int_equal(hodo_plan_cache_store(dir, &other, content, strlen(content)), 0);
		if (i == 5)
			assert_int_equal(utimensat(dir, "803-5", long_ago, 0), 0);
	}
	assert_int_equal(files(dir), HODO_PLAN_CACHE_FILES);
	other.inode = 5;
	assert_false(has(dir, &other));

	/* Large ones, which take no room here. */
	for (unsigned i = 0; i < 5; i++) {
		char name[16];

		snprintf(name, sizeof(name), "large%u", i);
		fd = openat(dir, name, O_WRONLY | O_CREAT, 0600);
		assert_int_equal(ftruncate(fd, HODO_PLAN_CACHE_ENTRY), 0);
		close(fd);
	}
	assert_int_equal(store(dir), 0);
	assert_true(has(dir, &id));
	assert_true(files(dir) <= 5);
	assert_int_equal(hodo_plan_cache_store(dir, &id, content, HODO_PLAN_CACHE_ENTRY), -EFBIG);
	close(dir);
}
