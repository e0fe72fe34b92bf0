/* SPDX-License-Identifier: MIT */
/* list.h - hodo list: collects what is listed, from all sources. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <elf/sdt.h>
#include <sym/recording_symbols.h>
#include <hodo/read.h>

#include <cli/cli.h>
#include <cli/output/table.h>

struct hodo_list_args {
	struct hodo_args args;
	const char *path; /* as given; for the kernel a pattern, NULL: all */
	bool events, functions, sdt, pids, kernel;
	/* Takes the table's rows, the text of the first column and of the others, instead of writing them.
	 * NULL: they are written. */
	void (*offer)(void *data, const char *name, const char *about);
	void *offer_data;
};

struct hodo_listed_function {
	uint64_t id; /* in a recording: hodo_place.id */
	const char *name;
	const char *object;
	uint64_t addr;            /* in the file */
	enum hodo_read_slot slot; /* 0: of a recording */
	uint32_t exits;
	uint64_t events; /* of a recording */
};

/* A static probe: a note of <sys/sdt.h>. */
struct hodo_listed_sdt {
	const char *name; /* sdt:PROVIDER:NAME */
	const char *object;
	uint64_t addr, semaphore; /* in the file; no semaphore: 0 */
	const char *way;    /* "jump", "trap", "none": how a recording reaches it; "site": one of ours */
	const char *reason; /* why not by a jump; NULL: by a jump */
	struct hodo_sdt_arg *args;
	uint32_t nargs;
};

struct hodo_list_file {
	char *object; /* what is shown as its path */
	struct hodo_elf sdt; /* open while texts of its notes are shown */
	struct hodo_read_elf *elf; /* NULL: it cannot be read */
	struct hodo_sym *sym;      /* NULL: it has no symbols */
};

struct hodo_list {
	struct hodo_read_class *classes; /* copies; the files, or the reader, own their texts */
	size_t n;
	struct hodo_listed_function *functions; /* traceable ones of files, or those with events in a recording */
	uint32_t nfunctions;
	struct hodo_listed_sdt *sdt;
	uint32_t nsdt;
	struct hodo_list_file *files;
	uint32_t nfiles;
	bool recording, short_names;
	uint64_t traceable; /* functions of a recording's objects */
	uint32_t objects;   /* that have traceable functions */
	struct hodo_symbols *symbols; /* of a recording */
	/* Of a process that listens, else NULL. */
	const uint8_t *states; /* HODO_STATE_*, or-ed, by the class's id */
	const struct hodo_msg_answer *answer;
	pid_t pid;
};

void hodo_list_add_class(struct hodo_list *l, const struct hodo_read_class *c, const char *object);
/* Adds a file's contents; object: its displayed path. As hodo_read_elf_open(). */
int hodo_list_add_file(struct hodo_list *l, const char *path, const char *object, const struct hodo_read_options *o,
		       const struct hodo_list_args *a);
void hodo_list_free(struct hodo_list *l);
/* Sorts the classes, drops duplicates, and writes the list. The exit status. */
int hodo_list_put(struct hodo_list *l, const struct hodo_list_args *a);
/* Writes a list of a single table; key: in JSON. The exit status. */
int hodo_list_table(const struct hodo_table *t, const char *key, const struct hodo_list_args *a);
/* " by hodo (process 12)", " by itself, in FILE", "": by nobody; and as members of an object of JSON. */
void hodo_list_put_recorder(struct hodo_text *to, const struct hodo_msg_answer *a);
void hodo_list_put_recorder_json(struct hodo_json *j, const struct hodo_msg_answer *a);

int hodo_list_process(const struct hodo_list_args *a); /* the exit status, as of the next two */
int hodo_list_kernel(const struct hodo_list_args *a);
int hodo_list_pids(const struct hodo_list_args *a);
extern const struct hodo_columns hodo_list_columns, hodo_list_kernel_columns, hodo_list_pids_columns;

/* list_functions.c: the traceable functions of a file. 0 or a negative errno. */
int hodo_list_add_functions(struct hodo_list *l, struct hodo_list_file *file, const char *path);
/* How many functions are traceable in the recording's objects; with path, those that have events, all of
 * which are read. 0 or a negative errno. */
int hodo_list_add_recorded(struct hodo_list *l, struct hodo_read *r, const char *path, const struct hodo_args *args);
extern const struct hodo_columns hodo_function_columns, hodo_seen_function_columns;
struct hodo_table hodo_list_functions(struct hodo_list *l); /* in order */
/* The line that replaces them if they are not requested. */
void hodo_list_put_function_count(struct hodo_text *to, const struct hodo_list *l, const char *path);


/* list_sdt.c: the static probes of a file; quiet: no warning about damaged ones. 0 or a negative errno. */
int hodo_list_add_sdt(struct hodo_list *l, struct hodo_list_file *file, const char *path, bool quiet);
void hodo_list_free_sdt(struct hodo_list *l);
extern const struct hodo_columns hodo_sdt_columns;
struct hodo_table hodo_list_sdt(struct hodo_list *l); /* in order */
