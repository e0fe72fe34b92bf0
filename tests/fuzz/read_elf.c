/* SPDX-License-Identifier: MIT */
/* read_elf.c - hodo_read_elf on any bytes. */
#include <string.h>
#include <unistd.h>

#include <lib/folder.h>
#include <lib/fuzz.h>
#include <hodo/read.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const struct hodo_read_function *functions;
	struct hodo_read_elf *elf;
	size_t names = 0;
	uint32_t n;
	char path[32];
	int fd = folder_memory(path, data, len);

	if (hodo_read_elf_open(&elf, path, NULL) == 0) {
		for (uint32_t i = 0; i < hodo_read_elf_nclasses(elf); i++) {
			const struct hodo_read_class *c = hodo_read_elf_class(elf, i);

			names += strlen(c->name) + strlen(c->format) + strlen(c->file) + strlen(c->func);
			for (uint32_t k = 0; k < c->nfields; k++)
				names += strlen(c->fields[k].name) +
					 strlen(hodo_read_type_name(c->fields[k].type));
		}
		if (hodo_read_elf_functions(elf, &functions, &n) == 0)
			for (uint32_t i = 0; i < n; i++)
				names += strlen(functions[i].name) + functions[i].exits;
		hodo_read_elf_close(elf);
	}
	close(fd);
	return names == SIZE_MAX; /* keeps the reads alive */
}
