/* SPDX-License-Identifier: MIT */
/* list.h - hodo list: what is put, wherever it comes from. */
#ifndef HODO_CLI_LIST_H
#define HODO_CLI_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <hodo/abi.h>
#include <hodo/read.h>

#include "list_functions.h"

struct hodo_list_args {
	struct hodo_args args;
	const char *path; /* as it was given; of the kernel a pattern, NULL: all */
	bool events, functions, pids, kernel;
	struct hodo_look look;
};

struct hodo_list {
	const struct hodo_read_class **classes;
	size_t n;
	struct hodo_function_list functions;
	/* Of a process that listens, else NULL. */
	const uint8_t *states; /* HODO_STATE_*, or-ed, by the class's id */
	const struct hodo_msg_answer *answer;
	pid_t pid;
};

/* Sorts the classes, each once, and puts the list. The exit status. */
int hodo_list_put(struct hodo_list *l, const struct hodo_list_args *a);
/* Puts a table that is all there is to list; key: in JSON. The exit status. */
int hodo_list_table(struct hodo_table *t, const char *key, const struct hodo_list_args *a);
/* Says why it could not be made. The exit status. */
int hodo_list_failed(const char *path, int err);

/* list_process.c: the events of a process, by what it says itself, else by its files. The exit status. */
int hodo_list_process(const struct hodo_list_args *a);
/* list_kernel.c: the kernel's events. The exit status. */
int hodo_list_kernel(const struct hodo_list_args *a);
/* list_pids.c: the processes that listen. The exit status. */
int hodo_list_pids(const struct hodo_list_args *a);
extern const struct hodo_columns hodo_list_kernel_columns, hodo_list_pids_columns;
/* "by hodo (process 12)", "by itself, in FILE", "": by nobody. */
const char *hodo_list_recorded_by(const struct hodo_msg_answer *a, char *buffer, size_t size);
/* The same as members of an object of JSON. */
void hodo_list_recorded_by_json(struct hodo_json *j, const struct hodo_msg_answer *a);

#endif
