/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - hodo symbols: programs and debug files by build-id (sym/store.h), copied from and to a place, which is a
 * directory or a server. A path of a recording is only where a file is looked for, with its owner's rights; what it is
 * called in a place follows from its build-id alone.
 */
#pragma once

#include <cli/cli.h>

#include <base/intern.h>
#include <hodo/read.h>
#include <http/files.h>
#include <sym/store.h>

struct symbols_args {
	struct hodo_args args;
	const char *store; /* NULL: hodo_store_default() */
	uint64_t max;      /* bytes of a file; 0: not said */
};

/* An executable or library of a recording, or a file. */
struct symbols_object {
	uint8_t build_id[HODO_ELF_BUILD_ID_MAX];
	size_t build_id_len;
	char *path;
	uid_t owner; /* with whose rights it is opened */
	bool code;   /* stacks that were saved are unwound by it */
};

struct symbols_objects {
	struct symbols_object *list;
	uint32_t n;
	struct hodo_strings ids;
	uint32_t anonymous; /* without a build-id: they are not in the list */
};

/* The one of that build-id, which may be new. */
struct symbols_object *symbols_objects_new(struct symbols_objects *all, const uint8_t *build_id, size_t len,
					   const char *path);

/* Adds those of a recording of which functions can be shown, each build once. 0, or the exit status, having said
 * why. */
int symbols_objects_add(struct symbols_objects *o, const char *recording, const struct hodo_args *args);
void symbols_objects_free(struct symbols_objects *o);
/* "kvd, build-id 4b1c…", to be freed. */
char *symbols_object_text(const struct symbols_object *o);

/* "2 files, 36.8 KiB, and 1 from before,", to be followed by "in" and where. */
const char *symbols_count_text(uint32_t files, uint32_t kept, uint64_t bytes, char buf[128]);

/* symbols_place.c */
struct symbols_place {
	const char *name; /* for messages */
	struct hodo_http_files *server; /* NULL: name is a directory */
	int64_t shown_ns; /* when how far it is was shown */
	bool shown;       /* and is to be seen now */
};
/* 0, or the exit status, having said what is wrong. */
int symbols_place_open(struct symbols_place *p, const char *word, bool quiet);
void symbols_place_close(struct symbols_place *p);
/* Writes the file to fd. 0; -ENOENT: the place does not have it; -EFBIG: it has more than max bytes; -EINTR; what is
 * wrong with it, as of hodo_store_end(); or another negative errno. */
int symbols_place_get(struct symbols_place *p, const struct symbols_object *o, enum hodo_store_kind kind, int fd,
		      uint64_t max);
/* Puts a file there. 0; 1: it has it; -EINTR; or another negative errno. */
int symbols_place_put(struct symbols_place *p, const struct symbols_object *o, enum hodo_store_kind kind, int fd,
		      uint64_t bytes);
/* What went wrong, in words, with the place's name; local: the file's or directory's at the other end. In buf. */
const char *symbols_place_why(const struct symbols_place *p, int err, const char *local, char buf[512]);

int symbols_pull(const struct symbols_args *a); /* the exit status */
int symbols_push(const struct symbols_args *a);
