/* SPDX-License-Identifier: MIT */
/* kprobe_check.c - libFuzzer target for a probe's program as hodo.ko gets it: an accepted program keeps its bounds. */
#include <core/fields.h>
#include <core/kprobe.h>
#include <lib/fuzz.h>

#include <string.h>

static void check_value(const struct hodo_kprobe *k, const struct hodo_kprobe_value *v)
{
	fuzz_check(v->steps <= HODO_KPROBE_STEPS_MAX, "steps");
	fuzz_check(v->load <= 8 && v->shift + v->bits <= 64, "bits");
	fuzz_check(v->from != HODO_KPROBE_ARGUMENT || v->number < HODO_KPROBE_ARGUMENTS, "argument");
	fuzz_check(v->from != HODO_KPROBE_DURATION || (k->flags & HODO_KPROBE_RETURN), "duration");
	fuzz_check(hodo_fields_fixed_size(v->type) > 0 && hodo_fields_fixed_size(v->type) <= 8, "size");
	fuzz_check((v->type == HODO_TYPE_STR) == (v->text_max > 0) && v->text_max <= HODO_KPROBE_TEXT_MAX, "text");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text[HODO_FIELDS_MAX + 2];
	struct hodo_kprobe *k = malloc(size ? size : 1); /* so that a read past the end is noticed */

	memcpy(k, data, size);
	if (size >= sizeof(*k))
		k->size = (uint32_t)size;
	if (hodo_kprobe_check(k, size, text)) {
		fuzz_check(k->values <= HODO_FIELDS_MAX && hodo_kprobe_bytes(k) <= HODO_KPROBE_BYTES_MAX, "bounds");
		for (uint32_t i = 0; i < k->values; i++)
			check_value(k, &k->value[i]);
		for (uint32_t i = 0; i < k->values + 2; i++)
			fuzz_check(strlen(text[i]) > 0 && strlen(text[i]) <= HODO_NAME_MAX, "name");
	}
	free(k);
	return 0;
}
