/* SPDX-License-Identifier: MIT */
/* process_files.h - the files that a process has mapped as code. */
#pragma once

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <base/arena.h>
#include <base/rights.h>
#include <base/text.h>

struct hodo_process_file {
	const char *path; /* as the process sees it */
	const char *ours; /* our path to that very file; NULL: replaced, or gone */
	struct stat stat; /* of it */
	uint64_t start, offset; /* where its code is first mapped, and that code's offset in the file */
};

/* All zero: none. */
struct hodo_process_files {
	struct hodo_process_file *list;
	uint32_t n;
	struct hodo_arena paths;
};

/* The code segments of a file, which show where the file is mapped. */
#define HODO_CODE_SEGMENTS_MAX 8u
struct hodo_code_segments {
	uint32_t n;
	struct {
		uint64_t address, offset; /* of pages */
	} list[HODO_CODE_SEGMENTS_MAX];
};

void hodo_code_segments_find(struct hodo_code_segments *s, Elf *elf);
/* The bias of the file's addresses there. False: it is not mapped as in its headers. */
bool hodo_code_segments_bias(const struct hodo_code_segments *s, const struct hodo_process_file *mapped,
			     uint64_t *bias);

/* Other than 0 ends it, and is returned. */
typedef int (*hodo_process_file_fn)(void *arg, const struct hodo_process_file *file);

/* Calls each once for every file, with the process's rights. 0, a negative errno, or what each returned. */
int hodo_process_files(pid_t pid, hodo_process_file_fn each, void *arg);

/* Lists the files of a process, each once. maps: in, empty; out, what the process has mapped. From then on, until
 * hodo_rights_end(), the thread has the process's rights. 0 or a negative errno; free the list in any case. */
int hodo_process_files_list(struct hodo_process_files *files, pid_t pid, struct hodo_text *maps,
			    struct hodo_rights *rights);
void hodo_process_files_free(struct hodo_process_files *files);
