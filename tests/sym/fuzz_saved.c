/* SPDX-License-Identifier: MIT */
/* fuzz_saved.c - saved symbols of any bytes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>

#include <sym/sym.h>

#include "help.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char path[] = "/tmp/hodo-fuzz-saved-XXXXXX";
	struct hodo_sym_source source = { .saved = path };
	struct hodo_sym *sym;
	size_t seen = 0;

	help_write(path, data, len);
	if (hodo_sym_open(&sym, &source) == 0) {
		int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

		for (uint64_t address = 0; address < 0x4000; address += 7) {
			struct hodo_symbol s;
			const char *file;
			uint32_t line;

			if (hodo_sym_find(sym, address, &s))
				seen += strlen(s.name) + strlen(s.mangled);
			if (hodo_sym_line(sym, address, &file, &line))
				seen += strlen(file);
		}
		hodo_sym_save(sym, fd);
		close(fd);
		hodo_sym_close(sym);
	}
	unlink(path);
	return seen == SIZE_MAX; /* keeps the reads alive */
}
