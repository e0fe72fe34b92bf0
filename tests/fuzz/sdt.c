/* SPDX-License-Identifier: MIT */
/* sdt.c - static probes of any bytes: from an ELF file, and otherwise as the text of arguments. */
#include <string.h>
#include <unistd.h>

#include <lib/folder.h>
#include <lib/fuzz.h>

#include <elf/sdt.h>

static int take_args(void *count, const struct hodo_elf_sdt *probe)
{
	char buf[HODO_SDT_NAME_SIZE];
	const char *at = probe->args, *end = at + strlen(at);
	struct hodo_sdt_arg a;
	size_t *n = count;

	while (hodo_sdt_arg_next(&at, &a)) {
		fuzz_check(a.text >= probe->args && a.text + a.text_len <= end, "an operand outside of its text");
		fuzz_check(!a.symbol || (a.symbol >= a.text && a.symbol + a.symbol_len <= a.text + a.text_len),
			   "a symbol outside of its operand");
		*n += strlen(hodo_sdt_type_name(&a, buf)) + strlen(hodo_sdt_register_name(&a.reg, buf)) +
		      strlen(hodo_sdt_register_name(&a.base, buf)) + strlen(hodo_sdt_register_name(&a.index, buf));
	}
	fuzz_check(at <= end, "beyond the end");
	*n += strlen(probe->provider) + strlen(probe->name);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char path[32], text[512];
	struct hodo_elf_sdt as_text = { .provider = "p", .name = "n", .args = text };
	uint32_t damaged = 0;
	struct hodo_elf elf;
	size_t count = 0;
	int fd = folder_memory(path, data, len);

	if (hodo_elf_open(&elf, path) == 0) {
		hodo_elf_sdt(&elf, take_args, &count, &damaged);
		hodo_elf_close(&elf);
	} else {
		len = len < sizeof(text) ? len : sizeof(text) - 1;
		memcpy(text, data, len);
		text[len] = 0;
		take_args(&count, &as_text);
	}
	close(fd);
	return count == SIZE_MAX; /* keeps the reads alive */
}
