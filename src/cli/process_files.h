/* SPDX-License-Identifier: MIT */
/* process_files.h - the files that a process has mapped as code. */
#ifndef HODO_CLI_PROCESS_FILES_H
#define HODO_CLI_PROCESS_FILES_H

#include <stdint.h>
#include <sys/types.h>

struct hodo_process_file {
	const char *path; /* as the process sees it */
	const char *ours; /* how we open that very file; NULL: it is another one by now, or gone */
	uint64_t start, offset; /* where code of it is mapped first, and that code's place in the file */
};

/* Other than 0 ends it, and is returned. */
typedef int (*hodo_process_file_fn)(void *arg, const struct hodo_process_file *file);

/* Calls each for every one of them, once, with the process's rights. 0, a negative errno, or what each returned. */
int hodo_process_files(pid_t pid, hodo_process_file_fn each, void *arg);

#endif
