/* SPDX-License-Identifier: MIT */
/* process_files.c - the files that a process has mapped as code, by its maps. */
#include "process_files.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <base/map.h>
#include <base/scope.h>
#include <base/vec.h>
#include <elf/file.h>
#include <proc/maps.h>

#define FILES_MAX 1024u

struct seen {
	struct hodo_bytes path;
};

/* Another file may have the name by now. */
static bool is_inode(const char *path, uint64_t inode, struct stat *st)
{
	return stat(path, st) == 0 && S_ISREG(st->st_mode) && st->st_ino == inode;
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

static int add(struct hodo_process_files *f, pid_t pid, struct hodo_process_file *file, uint64_t inode)
{
	char ours[PATH_MAX + 32];
	bool found;

	snprintf(ours, sizeof(ours), "/proc/%d/root%s", (int)pid, file->path);
	found = is_inode(ours, inode, &file->stat);
	if (!found) {
		/* The program itself is accessible even if its name has changed. */
		snprintf(ours, sizeof(ours), "/proc/%d/exe", (int)pid);
		found = is_inode(ours, inode, &file->stat);
	}
	file->path = hodo_arena_copy(&f->paths, file->path, strlen(file->path));
	file->ours = found ? hodo_arena_copy(&f->paths, ours, strlen(ours)) : NULL;
	return file->path && (file->ours || !found) ? hodo_vec_push(f->list, f->n, *file) : -ENOMEM;
}

static int add_all(struct hodo_process_files *f, pid_t pid, char *maps)
{
	HODO_AUTO(hodo_map_free) struct hodo_map seen = HODO_MAP_BYTES(struct seen);
	/* The iterator takes the text apart: what the caller gets stays whole. */
	struct hodo_proc_maps lines = { .next = maps };
	struct hodo_proc_map map;
	char root[PATH_MAX];
	size_t within = root_length(pid, root);
	int err = 0;

	hodo_hash_seed();
	while (!err && f->n < FILES_MAX && hodo_proc_maps_next(&lines, &map)) {
		struct hodo_process_file file = { .path = map.name, .start = map.start, .offset = map.offset };
		bool is_new = false;

		if (within && strncmp(map.name, root, within) == 0 && map.name[within] == '/')
			file.path += within;
		if (file.path[0] != '/' || !map.executable || strlen(file.path) >= PATH_MAX)
			continue;
		if (!hodo_map_add_bytes(&seen, file.path, strlen(file.path), &is_new))
			return -ENOMEM;
		if (is_new)
			err = add(f, pid, &file, map.inode);
	}
	return err;
}

int hodo_process_files_list(struct hodo_process_files *files, pid_t pid, struct hodo_text *maps,
			    struct hodo_rights *rights)
{
	HODO_AUTO_FREE char *lines = NULL;
	struct hodo_proc_maps read;
	int err = hodo_proc_maps_open(&read, pid);

	*maps = read.text; /* to the caller, who frees it */
	if (!err)
		err = hodo_rights_of_process(rights, pid);
	if (err)
		return err;
	lines = strdup(hodo_text_string(maps));
	return lines ? add_all(files, pid, lines) : -ENOMEM;
}

void hodo_process_files_free(struct hodo_process_files *files)
{
	free(files->list);
	hodo_arena_free(&files->paths);
	*files = (struct hodo_process_files){ 0 };
}

int hodo_process_files(pid_t pid, hodo_process_file_fn each, void *arg)
{
	HODO_AUTO(hodo_process_files_free) struct hodo_process_files files = { 0 };
	HODO_AUTO(hodo_rights_end) struct hodo_rights rights = { 0 };
	HODO_AUTO(hodo_text_free) struct hodo_text maps = { 0 };
	int err = hodo_process_files_list(&files, pid, &maps, &rights);

	for (uint32_t i = 0; i < files.n && !err; i++)
		err = each(arg, &files.list[i]);
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
