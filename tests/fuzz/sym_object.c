/* SPDX-License-Identifier: MIT */
/* sym_object.c - symbols and lines of ELF files of any bytes. */
#include <lib/folder.h>
#include <lib/fuzz.h>

#include "sym_ask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char path[32];
	struct hodo_sym_source source = { .path = path, .debug_root = "/nonexistent" };
	int fd = folder_memory(path, data, len);
	struct hodo_sym *sym;
	size_t seen = 0;

	if (hodo_sym_open(&sym, &source) == 0) {
		seen = ask_all(sym, 0x8000, 61);
		hodo_sym_close(sym);
	}
	close(fd);
	return seen == SIZE_MAX; /* keeps the reads alive */
}
