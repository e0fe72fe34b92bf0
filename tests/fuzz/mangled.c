/* SPDX-License-Identifier: MIT */
/* mangled.c - libFuzzer target for short names: the input is a symbol. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <func/names/mangled.h>
#include <lib/fuzz.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hodo_mangled_texts texts;
	char *text = malloc(size + 1), *out, cut[16];
	size_t n;

	memcpy(text, data, size);
	text[size] = '\0';
	n = hodo_mangled_name(text, NULL, 0);
	out = malloc(n + 1);
	if (hodo_mangled_name(text, out, n + 1) != n || strlen(out) != n ||
	    hodo_mangled_name(text, cut, sizeof(cut)) != n || strncmp(cut, out, sizeof(cut) - 1) != 0)
		abort();
	free(out);
	for (int parameters = 0; parameters < 2; parameters++)
		if (hodo_mangled_text(text, parameters, &texts) && texts.brief_len > texts.full_len)
			abort();
	free(text);
	return 0;
}
