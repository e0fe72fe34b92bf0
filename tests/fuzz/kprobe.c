/* SPDX-License-Identifier: MIT */
/* kprobe.c - libFuzzer target for a probe's text: what is understood makes a program that hodo.ko accepts. */
#include <core/kprobe.h>
#include <probe/kernel/kprobe.h>
#include <lib/fuzz.h>

#include <string.h>

#include <unit/probe_kernel/types.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct btf *types;
	static union {
		struct hodo_kprobe k;
		uint8_t bytes[HODO_KPROBE_SIZE_MAX];
	} made;
	const char *names[HODO_FIELDS_MAX + 2];
	struct hodo_why why;
	char *text = malloc(size + 8);
	struct hodo_kprobe_text t;

	if (!types)
		types = kprobe_types();
	memcpy(text, "kprobe:", 7);
	memcpy(text + 7, data, size);
	text[7 + size] = '\0';
	if (hodo_kprobe_parse(&t, text, &why) == 0) {
		for (int with = 0; with < 2; with++)
			if (hodo_kprobe_compile(&t, with ? types : NULL, &made.k, &why) == 0)
				fuzz_check(hodo_kprobe_check(&made.k, made.k.size, names), "a program that is none");
		hodo_kprobe_text_free(&t);
	}
	free(text);
	return 0;
}
