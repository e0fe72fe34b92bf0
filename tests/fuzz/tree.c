/* SPDX-License-Identifier: MIT */
/* tree.c - a packed recording, all of it hostile: all listed files can be opened, and none leads elsewhere. */
#include <string.h>
#include <unistd.h>

#include <lib/folder.h>
#include <lib/fuzz.h>
#include <pack/archive.h>
#include <pack/files.h>
#include <pack/tree.h>

#define TEXT_MAX (1u << 20)

static void check_file(const struct hodo_tree *tree, const struct hodo_file_name *name, size_t len)
{
	struct hodo_text text = { 0 };
	struct hodo_tree_file file;
	uid_t owner;

	fuzz_check(hodo_archive_path_ok(name->path), "a path");
	fuzz_check(name->path[0] != '/' && strncmp(name->path, "../", 3) != 0, "a way out");
	fuzz_check(!strstr(name->path, "/../"), "a way out in the middle");
	fuzz_check(hodo_tree_has(tree, name->path), "a file that is not there");
	fuzz_check(hodo_tree_file(tree, name->path, &file) == 0, "a file that cannot be opened");
	fuzz_check(file.at <= len && file.bytes <= len - file.at, "a file beyond the end");
	close(file.fd);
	hodo_tree_read(tree, name->path, TEXT_MAX, &text, &owner);
	fuzz_check(text.len <= TEXT_MAX, "more than was asked for");
	hodo_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct hodo_files files;
	struct hodo_tree *tree;
	char path[32];
	int fd = folder_memory(path, data, len);

	if (hodo_tree_open(&tree, path) == 0) {
		fuzz_check(hodo_files_find(&files, tree, "") == 0, "it cannot be listed");
		for (uint32_t i = 0; i < files.n; i++) {
			fuzz_check(i == 0 || strcmp(files.files[i - 1].path, files.files[i].path) < 0, "the order");
			check_file(tree, &files.files[i], len);
		}
		hodo_files_free(&files);
		hodo_tree_close(tree);
	}
	close(fd);
	return 0;
}
