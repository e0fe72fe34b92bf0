/* SPDX-License-Identifier: MIT */
/*
 * sym.h - names, files and lines for addresses of one object file: from its
 * symbol tables, debug information and separate debug file (elfutils), or from a file of symbols saved beside
 * a trace. Knows nothing of traces.
 *
 * Object files and saved files are hostile input. One hodo_sym by one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hodo_sym;

struct hodo_sym_source {
	const char *path;        /* of the object as it was mapped; NULL: do not look there */
	const uint8_t *build_id; /* NULL: accept any file at that path */
	size_t build_id_len;
	const char *saved_text;  /* what hodo_sym_save() wrote; NULL: none; used as `saved` is */
	const char *saved;       /* a file that hodo_sym_save() wrote; NULL: none. Preferred to the object's file */
	uid_t owner;             /* whose path it is: root opens it, and debug files, with that user's rights */
	const char *debug_root;  /* where separate debug files lie; NULL: /usr/lib/debug */
	const char *store;       /* a folder of files by build-id (store.h); NULL: none */
};

struct hodo_symbol {
	const char *name;    /* demangled; lives as long as the hodo_sym */
	const char *mangled; /* as in the symbol table */
	uint64_t start;      /* address in the file */
	uint64_t size;       /* bytes, without its parts elsewhere; 0: not known */
	uint32_t index;      /* of the function, among the hodo_sym's */
};

/*
 * 0; -ENOENT neither the file nor anything saved; -ESTALE the file has another build-id; -ENODATA no symbols;
 * -EBADMSG damaged; -ENOMEM; or errors of open(2). Debug files are searched by build-id and .gnu_debuglink
 * under debug_root and beside the file; nothing is fetched from a network. If the file itself has been
 * removed or replaced, its debug file by build-id is used.
 */
int hodo_sym_open(struct hodo_sym **sym, const struct hodo_sym_source *source);
/* The running kernel and its modules, with present addresses; path and build_id describe it. 0; -ENODATA: it
 * hides them from us; other errno. */
int hodo_sym_open_kernel(struct hodo_sym **sym, const char *path, const uint8_t *build_id, size_t len);
void hodo_sym_close(struct hodo_sym *sym); /* NULL is allowed */

/* The function that contains the file's address. A compiler's part of a function (f.cold, f.part.0,
 * f.isra.0), or a clone, counts as the function. false: none. */
bool hodo_sym_find(struct hodo_sym *sym, uint64_t address, struct hodo_symbol *symbol);
/* The short name of a function that was found (core/symbol_name.h), without parameters unless another function of the
 * object would look the same: "Store<string>::put". Lives as long as the hodo_sym. */
const char *hodo_sym_brief(struct hodo_sym *sym, const struct hodo_symbol *symbol);
bool hodo_sym_has_lines(const struct hodo_sym *sym); /* of some functions */
/* Source file and line; false: not known. file lives as long as sym. Saved symbols have those of the function's
 * first instruction for all of it. */
bool hodo_sym_line(struct hodo_sym *sym, uint64_t address, const char **file, uint32_t *line);

/*
 * Writes the results of hodo_sym_find() and the line of each function's start for all functions to the file
 * descriptor, to be opened as `saved` on another machine. 0 or negative errno.
 */
int hodo_sym_save(struct hodo_sym *sym, int fd);
