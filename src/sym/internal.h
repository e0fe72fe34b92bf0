/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what the files of sym share.
 *
 *	table    functions by address         sym.c, filled by elf_symbols.c or saved.c
 *	lines    DWARF, opened when asked     lines.c
 */
#ifndef HODO_SYM_INTERNAL_H
#define HODO_SYM_INTERNAL_H

#include "sym.h"

#include <libelf.h>
#include <string.h>

#define HODO_SYM_FUNCTIONS_MAX (1u << 24)
#define HODO_SYM_BUILD_ID_MAX  64u /* bytes */
#define HODO_SYM_DEBUG_ROOT    "/usr/lib/debug"
#define HODO_SYM_NONE          UINT32_MAX

struct hodo_sym_function {
	uint64_t start, size;
	uint64_t end;      /* behind what it is taken to cover, also where size is 0 */
	const char *name;  /* as in the symbol table */
	char *demangled;   /* made when asked for */
	uint32_t whole;    /* index of the function that this is a part of, or its own */
	uint32_t file;     /* saved symbols: index of the source file; HODO_SYM_NONE: not known */
	uint32_t line;     /* likewise, of the first instruction; 0 not known */
};

struct hodo_sym_lines;

struct hodo_sym {
	struct hodo_sym_function *functions; /* ascending starts, all different */
	uint32_t n, room;
	char **texts; /* memory that names point into */
	uint32_t ntexts, texts_room;
	char **files; /* saved symbols: source files */
	uint32_t nfiles, files_room;
	uint8_t build_id[HODO_SYM_BUILD_ID_MAX];
	size_t build_id_len;
	char *path;       /* of the object, "" if not known */
	char *debug_path; /* of the file with debug information; NULL: none */
	bool saved;       /* read from saved symbols */
	bool lines_tried;
	struct hodo_sym_lines *lines;
};

/* Makes room for one more element in an array that doubles. 0 or -ENOMEM. */
int hodo_sym_grow(void *array_pointer, uint32_t n, uint32_t *room, size_t element_bytes);
/* Keeps the text, which is freed also on failure. 0 or -ENOMEM. */
int hodo_sym_keep_text(struct hodo_sym *sym, char *text);
/* The function that covers the address itself, parts not joined. NULL: none. */
struct hodo_sym_function *hodo_sym_at(const struct hodo_sym *sym, uint64_t address);
/* Index of the function that starts there, HODO_SYM_NONE if there is none. */
uint32_t hodo_sym_starting(const struct hodo_sym *sym, uint64_t start);

/* A file that is open. */
struct hodo_sym_elf {
	int fd;
	Elf *elf;
};
/* Opens a regular ELF file. 0; -EBADMSG no ELF; what open(2) gives. */
int hodo_sym_elf_open(struct hodo_sym_elf *e, const char *path);
void hodo_sym_elf_close(struct hodo_sym_elf *e);
/* 0, or -ESTALE if it has not that build-id. */
int hodo_sym_elf_check(const struct hodo_sym_elf *e, const uint8_t *build_id, size_t len);

/* Its build-id, cut; the length, 0 if it has none. */
size_t hodo_sym_elf_build_id(const struct hodo_sym_elf *e, uint8_t id[HODO_SYM_BUILD_ID_MAX]);

/* elf_symbols.c: adds the functions of a file's symbol tables, unsorted. *full: it has a table of all symbols,
 * not only of those for dynamic linking. 0, -EBADMSG, -ENOMEM. */
struct hodo_sym_collect;
struct hodo_sym_collect *hodo_sym_collect_new(void);
int hodo_sym_collect_add(struct hodo_sym_collect *c, struct hodo_sym *sym, Elf *elf, bool *full);
/* Sorts, decides between names of one address, joins parts. 0 or -ENOMEM. */
int hodo_sym_collect_finish(struct hodo_sym_collect *c, struct hodo_sym *sym);
void hodo_sym_collect_free(struct hodo_sym_collect *c);

/* debug_file.c: the path of the separate debug file, to be freed; NULL: none. elf NULL: by build-id only. */
char *hodo_sym_debug_file(const struct hodo_sym *sym, const struct hodo_sym_elf *e, const char *root);
bool hodo_sym_has_lines(Elf *elf);

/* lines.c */
struct hodo_sym_lines *hodo_sym_lines_open(const struct hodo_sym *sym);
void hodo_sym_lines_close(struct hodo_sym_lines *lines);
bool hodo_sym_lines_find(struct hodo_sym_lines *lines, uint64_t address, const char **file, uint32_t *line);

/* parts.c: the length of a name without its last suffix that marks a part or a clone; len if it has none. */
size_t hodo_sym_without_suffix(const char *name, size_t len);
/* … without all of them. */
size_t hodo_sym_whole_name(const char *name);

/* demangle.c: the name of a function for people, without suffixes of parts; to be freed. NULL: no memory. */
char *hodo_sym_demangle(const char *mangled);

/* saved.c: 0, -ENOENT and the like, -EBADMSG, -ENOMEM. */
int hodo_sym_saved_read(struct hodo_sym *sym, const char *path);

#endif
