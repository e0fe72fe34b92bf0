/* SPDX-License-Identifier: MIT */
/*
 * sdt.h - the static probes of a file: notes "stapsdt", as <sys/sdt.h> leaves them in .note.stapsdt.
 *
 * For 64-bit files of this byte order. Notes are hostile input: damaged ones are counted and skipped, and
 * only the section is read.
 */
#pragma once

#include "file.h"

#define HODO_ELF_SDT_MAX 1048576u /* probes of one file */
#define HODO_SDT_ARGS_MAX 32u     /* arguments of one probe; the header has macros for 12 */

struct hodo_elf_sdt {
	uint64_t address;   /* of the probe's instruction, as in the file's symbols */
	uint64_t semaphore; /* of a 16-bit counter of listening tools; 0: none */
	const char *provider, *name;
	const char *args; /* descriptors, with spaces between them */
};

/* Takes a probe; its texts are valid while the file is open. An errno ends the walk. */
typedef int (*hodo_elf_sdt_fn)(void *arg, const struct hodo_elf_sdt *probe);

/*
 * Calls each for every probe, in the notes' order. damaged: number of skipped notes. 0, or what each
 * returned.
 */
int hodo_elf_sdt(const struct hodo_elf *e, hodo_elf_sdt_fn each, void *arg, uint32_t *damaged);

/* -------------------------------------------------------------------- arguments */

/* Where an argument's value is. */
enum hodo_sdt_form {
	HODO_SDT_UNKNOWN, /* the descriptor is not understood */
	HODO_SDT_CONSTANT, /* offset, + symbol if there is one */
	HODO_SDT_REGISTER,
	HODO_SDT_MEMORY /* at segment : symbol + offset + base + index * scale */
};

enum hodo_sdt_class { HODO_SDT_NONE, HODO_SDT_GENERAL, HODO_SDT_VECTOR, HODO_SDT_RIP, HODO_SDT_SEGMENT };

/* A register of x86, or a part of one. */
struct hodo_sdt_register {
	uint8_t kind;   /* enum hodo_sdt_class */
	uint8_t number; /* as in instructions: rax 0, rcx 1, … r15 15; xmm0 0; for segments es 0 … gs 5 */
	uint8_t bytes;  /* that the name means: 1, 2, 4, 8, 16, 32, 64 */
	uint8_t shift;  /* bits: 8 of ah, ch, dh and bh */
};

struct hodo_sdt_arg {
	const char *text; /* the operand's text, without its size */
	size_t text_len;
	enum hodo_sdt_form form;
	uint8_t size; /* bytes, 0: the descriptor does not say */
	bool is_signed, is_float;
	struct hodo_sdt_register reg; /* HODO_SDT_REGISTER */
	struct hodo_sdt_register segment, base, index; /* HODO_SDT_MEMORY */
	uint8_t scale; /* 1, 2, 4, 8 */
	int64_t offset;
	const char *symbol; /* with what follows it (foo@tpoff); NULL: none */
	size_t symbol_len;
};

/* The next argument of *args, which advances. False: none. */
bool hodo_sdt_arg_next(const char **args, struct hodo_sdt_arg *arg);

#define HODO_SDT_NAME_SIZE 24u
/* "i32", "u64", "f64"; "?" if there is no size. */
const char *hodo_sdt_type_name(const struct hodo_sdt_arg *arg, char buf[HODO_SDT_NAME_SIZE]);
/* "%eax", or "" if there is none. */
const char *hodo_sdt_register_name(const struct hodo_sdt_register *r, char buf[HODO_SDT_NAME_SIZE]);
