/* SPDX-License-Identifier: MIT */
/* test_maps.c - lines of a process's maps, as the kernel writes them for hostile names. */
#include <lib/unit.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <proc/maps.h>
#include <proc/process.h>

static struct hodo_proc_maps maps;
static struct hodo_proc_map map;

static void give(const char *text)
{
	hodo_proc_maps_close(&maps);
	maps = (struct hodo_proc_maps){ 0 };
	hodo_text_add(&maps.text, text);
	hodo_text_string(&maps.text);
	maps.next = maps.text.data;
}

TEST(lines_are_taken_apart)
{
	give("7f2b3c000000-7f2b3c021000 r-xp 00001000 08:11 1234                       /usr/lib/a b.so\n"
	     "ffffffffff600000-ffffffffff601000 -w-s 00000000 00:00 0 \n"
	     "5000-6000 r--p 00000000 00:00 0                          [heap]\n");
	assert_true(hodo_proc_maps_next(&maps, &map));
	assert_true(map.start == 0x7f2b3c000000 && map.end == 0x7f2b3c021000 && map.offset == 0x1000);
	assert_true(map.readable && !map.writable && map.executable);
	assert_true(map.dev == makedev(8, 0x11) && map.inode == 1234);
	assert_string_equal(map.name, "/usr/lib/a b.so");
	assert_true(hodo_proc_maps_next(&maps, &map));
	assert_true(map.start == 0xffffffffff600000 && !map.readable && map.writable && !map.executable);
	assert_string_equal(map.name, "");
	assert_true(hodo_proc_maps_next(&maps, &map));
	assert_string_equal(map.name, "[heap]");
	assert_false(hodo_proc_maps_next(&maps, &map));
	assert_false(hodo_proc_maps_next(&maps, &map));
}

TEST(names_stay_as_the_kernel_has_them)
{
	give("1000-2000 r-xp 00000000 08:01 1 /tmp/a\\012b\\0125000-6000 r-xp (deleted)\n"
	     "2000-3000 r-xp 00000000 00:01 2 /memfd:hodo (deleted)\n");
	assert_true(hodo_proc_maps_next(&maps, &map));
	assert_string_equal(map.name, "/tmp/a\\012b\\0125000-6000 r-xp (deleted)");
	assert_true(hodo_proc_maps_next(&maps, &map));
	assert_string_equal(map.name, "/memfd:hodo (deleted)");
	assert_false(hodo_proc_maps_next(&maps, &map));
}

TEST(what_is_no_mapping_is_left_out)
{
	give("\n-\n1000-2000\nnonsense /usr/lib/a.so\n1000-2000 r-xp 0 08:01 7 /a\n3000-4000 r-xp 0 08:01 8 /cut");
	assert_true(hodo_proc_maps_next(&maps, &map));
	assert_string_equal(map.name, "/a");
	assert_false(hodo_proc_maps_next(&maps, &map));
	give("");
	assert_false(hodo_proc_maps_next(&maps, &map));
}

TEST(a_huge_line_is_one_mapping)
{
	size_t len = 1u << 20;
	char *text = malloc(len + 100);
	int at;

	assert_non_null(text);
	at = sprintf(text, "1000-2000 r-xp 0 08:01 7 /");
	memset(text + at, 'x', len);
	strcpy(text + at + len, "\n2000-3000 r-xp 0 08:01 7 /b\n");
	give(text);
	free(text);
	assert_true(hodo_proc_maps_next(&maps, &map));
	assert_int_equal(strlen(map.name), len + 1);
	assert_true(hodo_proc_maps_next(&maps, &map));
	assert_string_equal(map.name, "/b");
}

TEST(our_own_are_read)
{
	static const char here;
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t wanted[] = { (uintptr_t)&here, (uintptr_t)page };

	assert_ptr_not_equal(page, MAP_FAILED);
	for (unsigned i = 0; i < 2; i++) {
		bool found = false;

		assert_int_equal(hodo_proc_maps_open(&maps, getpid()), 0);
		while (!found && hodo_proc_maps_next(&maps, &map))
			found = map.start <= wanted[i] && wanted[i] < map.end;
		assert_true(found && map.readable && map.writable == (i == 1));
		hodo_proc_maps_close(&maps);
	}
	assert_int_equal(hodo_proc_maps_open(&maps, 0), -ENOENT);
	hodo_proc_maps_close(&maps);
	munmap(page, 4096);
}

TEST(a_state_is_read_behind_any_name)
{
	struct hodo_proc_stat s;
	char name[32];

	assert_true(hodo_proc_stat(getpid(), "stat", &s));
	assert_true(s.state == 'R' && s.start_time > 0 && s.exit_code == 0);
	snprintf(name, sizeof(name), "task/%d/stat", (int)getpid());
	assert_true(hodo_proc_stat(getpid(), name, &s));
	assert_false(hodo_proc_stat(0, "stat", &s));
	assert_true(s.state == 0 && s.start_time == 0);
	assert_string_equal(hodo_proc_field("A:\t1\nAb:\t 2\n", "Ab"), "2\n");
	assert_null(hodo_proc_field("A:\t1\n", "B"));
}
