/* SPDX-License-Identifier: MIT */
/* process_files.c - see process_files.h. */
#include "process_files.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <base/map.h>
#include <base/rights.h>
#include <base/scope.h>
#include <elf/file.h>
#include <proc/maps.h>

#define FILES_MAX 1024u

struct seen {
	struct hodo_bytes path;
};

/* Another file may have the name by now. */
static bool is_inode(const char *path, uint64_t inode)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_ino == inode;
}

static int take(pid_t pid, struct hodo_process_file *file, uint64_t inode, hodo_process_file_fn each, void *arg)
{
	HODO_AUTO(hodo_rights_end) struct hodo_rights rights = { 0 };
	char ours[PATH_MAX + 32];
	int err = hodo_rights_of_process(&rights, pid);

	if (err)
		return err == -ESRCH ? err : 0;
	snprintf(ours, sizeof(ours), "/proc/%d/root%s", (int)pid, file->path);
	/* The program itself is accessible even if its name has changed. */
	if (!is_inode(ours, inode))
		snprintf(ours, sizeof(ours), "/proc/%d/exe", (int)pid);
	file->ours = is_inode(ours, inode) ? ours : NULL;
	return each(arg, file);
}

/*
 * The path at which we see the process's root directory, where it is a part of ours (chroot): its maps have that before
 * the paths that it sees itself. The length; 0: it has ours, or one that we do not see.
 */
static size_t root_length(pid_t pid, char root[PATH_MAX])
{
	char path[32];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	len = readlink(path, root, PATH_MAX - 1);
	root[len > 0 ? len : 0] = 0;
	return len > 1 ? (size_t)len : 0;
}

int hodo_process_files(pid_t pid, hodo_process_file_fn each, void *arg)
{
	HODO_AUTO(hodo_map_free) struct hodo_map seen = HODO_MAP_BYTES(struct seen);
	HODO_AUTO(hodo_proc_maps_close) struct hodo_proc_maps maps;
	struct hodo_proc_map map;
	char root[PATH_MAX];
	size_t within = root_length(pid, root);
	int err = hodo_proc_maps_open(&maps, pid);

	hodo_hash_seed();
	while (!err && seen.n < FILES_MAX && hodo_proc_maps_next(&maps, &map)) {
		struct hodo_process_file file = { .path = map.name, .start = map.start, .offset = map.offset };
		bool is_new = false;

		if (within && strncmp(map.name, root, within) == 0 && map.name[within] == '/')
			file.path += within;
		if (file.path[0] != '/' || !map.executable || strlen(file.path) >= PATH_MAX)
			continue;
		if (!hodo_map_add_bytes(&seen, file.path, strlen(file.path), &is_new))
			return -ENOMEM;
		if (is_new)
			err = take(pid, &file, map.inode, each, arg);
	}
	return err;
}

/* ----------------------------------------------------------------------- segments */

void hodo_code_segments_find(struct hodo_code_segments *s, Elf *elf)
{
	const uint64_t page = 4096;
	GElf_Phdr p;

	s->n = 0;
	for (size_t i = 0; s->n < HODO_CODE_SEGMENTS_MAX && hodo_elf_segment(elf, &i, PT_LOAD, PF_X, &p);) {
		s->list[s->n].address = p.p_vaddr & ~(page - 1);
		s->list[s->n++].offset = p.p_offset & ~(page - 1);
	}
}

bool hodo_code_segments_bias(const struct hodo_code_segments *s, const struct hodo_process_file *mapped,
			     uint64_t *bias)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->list[i].offset != mapped->offset)
			continue;
		*bias = mapped->start - s->list[i].address;
		return true;
	}
	return false;
}
