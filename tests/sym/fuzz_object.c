/* SPDX-License-Identifier: MIT */
/* fuzz_object.c - symbols and lines of ELF files of any bytes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <sym/sym.h>

#include "help.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char path[64];
	struct hodo_sym_source source = { .path = path, .debug_root = "/nonexistent" };
	int fd = memfd_create("object", MFD_CLOEXEC), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct hodo_sym *sym;
	size_t seen = 0;

	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (hodo_sym_open(&sym, &source) == 0) {
		for (uint64_t address = 0; address < 0x8000; address += 61) {
			struct hodo_symbol s;
			const char *file;
			uint32_t line;

			if (hodo_sym_find(sym, address, &s))
				seen += strlen(s.name) + strlen(s.mangled);
			if (hodo_sym_line(sym, address, &file, &line))
				seen += strlen(file);
		}
		hodo_sym_save(sym, null);
		hodo_sym_close(sym);
	}
	close(fd);
	close(null);
	return seen == SIZE_MAX; /* keeps the reads alive */
}
