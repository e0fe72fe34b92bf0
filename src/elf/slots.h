/* SPDX-License-Identifier: MIT */
/* slots.h - the traceable functions of a file: those whose compiler left a slot at their entry. */
#pragma once

#include "symbols.h"

enum hodo_elf_slot {
	HODO_ELF_SLOT_ENTRY_EXIT = 1, /* gcc -mfentry -minstrument-return=call, with libhodo-functions */
	HODO_ELF_SLOT_XRAY,
	HODO_ELF_SLOT_INSTRUMENT, /* -finstrument-functions */
	HODO_ELF_SLOT_PATCHABLE,  /* -fpatchable-function-entry */
	HODO_ELF_SLOT_MCOUNT      /* -pg */
};

struct hodo_elf_function {
	uint64_t addr;
	enum hodo_elf_slot slot;
	uint32_t exits;   /* slots at its exits */
	const char *name; /* that is shown, "" if it has none; of the symbols */
};

/* A slot as it stands in the code. */
struct hodo_elf_slot_code {
	uint64_t addr;
	uint8_t bytes;
	uint8_t idle;  /* its first byte in a process with libhodo, while nobody traces */
	bool switched; /* that byte alone turns it on and off */
};

#define HODO_ELF_TARGETS_MAX 256u

/* What a slot that is a call is, by its target. */
enum hodo_elf_role {
	HODO_ELF_STUB_ENTRY, /* __fentry__ and __return__ of libhodo-functions */
	HODO_ELF_STUB_EXIT,
	HODO_ELF_CYG_ENTER, /* __cyg_profile_func_enter, … exit */
	HODO_ELF_CYG_EXIT,
	HODO_ELF_MCOUNT,
	HODO_ELF_FENTRY
};

struct hodo_elf_slots {
	struct hodo_elf_function *list; /* by address */
	uint32_t n;
	uint64_t *exits; /* addresses of slots at exits */
	uint32_t nexits;
	struct hodo_elf_slot_code *code; /* of all of them */
	uint32_t ncode;
	struct hodo_elf_symbols symbols;
	struct {
		uint64_t addr;
		enum hodo_elf_role role;
		bool pointer; /* addr holds the address of the called function */
	} target[HODO_ELF_TARGETS_MAX];
	uint32_t ntargets;
	uint64_t got; /* the global offset table; 0: not known */
};

/* Finds the traceable functions of a file, with names from the file itself. Skips damaged parts. 0 or
 * -ENOMEM; free it on failure, too. */
int hodo_elf_slots_find(struct hodo_elf_slots *s, const struct hodo_elf *e);
void hodo_elf_slots_free(struct hodo_elf_slots *s);
