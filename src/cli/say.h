/* SPDX-License-Identifier: MIT */
/* say.h - messages of the hodo command, and exit statuses. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <base/why.h>

/* Exit statuses. The last two are for commands, as in a shell. */
#define HODO_EXIT_FAILURE        1
#define HODO_EXIT_USAGE          2
#define HODO_EXIT_CHANGED        3 /* --fail-if */
#define HODO_EXIT_NOT_EXECUTABLE 126
#define HODO_EXIT_NOT_FOUND      127

/* "hodo: TEXT" on standard error, one line, control bytes replaced. Returns the status: for errors
 * HODO_EXIT_FAILURE, for wrong usage HODO_EXIT_USAGE: "hodo: VERB: TEXT: see 'hodo VERB --help'". */
int hodo_say(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define hodo_error(...)   hodo_say(HODO_EXIT_FAILURE, __VA_ARGS__)
#define hodo_warning(...) hodo_say(0, "warning: " __VA_ARGS__)
extern const struct hodo_reporter hodo_error_reporter; /* each line is one of hodo_error() */
#define hodo_usage(verb, text, ...) \
	hodo_say(HODO_EXIT_USAGE, "%s: " text ": see 'hodo %s --help'", verb, ##__VA_ARGS__, verb)

int hodo_no_memory(void); /* prints the message; returns HODO_EXIT_FAILURE */
/*
 * A pointer that is not NULL: out of memory, the command ends with a message. For verbs that only show data,
 * and have nothing to save.
 */
#define hodo_must(pointer)                                 \
	({                                                 \
		__auto_type hodo_pointer = (pointer);      \
		if (!hodo_pointer)                         \
			exit(hodo_no_memory());            \
		hodo_pointer;                              \
	})
/* Says why a file or recording cannot be read any further, by the negative errno; returns HODO_EXIT_FAILURE. */
int hodo_cannot_read(const char *path, int err);
/* Says why a command cannot be run, by the negative errno of it; returns the exit status. */
int hodo_cannot_run(const char *command, int err);

/* Finds a program given by name only in PATH, like a shell, unless there is such a file here. */
const char *hodo_find_program(const char *word, char path[PATH_MAX]);

/* "3 processes", "the kernel", "the kernel and 1 process"; n counts the kernel. */
const char *hodo_whom(bool kernel, uint32_t n, char buf[48]);
