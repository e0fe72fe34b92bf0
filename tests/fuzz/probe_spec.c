/* SPDX-License-Identifier: MIT */
/* probe_spec.c - any text as the text of a probe. */
#include <lib/fuzz.h>
#include <probe/text/spec.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct hodo_why why = { "" };
	char *text = malloc(len + 1);
	struct hodo_spec s;
	int err;

	if (!text)
		return 0;
	memcpy(text, data, len);
	text[len] = 0;
	err = hodo_spec_parse(&s, text, &why);
	fuzz_check(err == 0 || *why.text, "an error is said");
	fuzz_check(err || s.name || s.place == HODO_SPEC_ADDRESS, "a place has a name");
	fuzz_check(s.nvalues <= HODO_SPEC_VALUES_MAX, "values are bounded");
	for (uint32_t i = 0; !err && i < s.nvalues; i++)
		fuzz_check(s.values[i].name && *s.values[i].name && s.values[i].text, "a value has a name");
	hodo_spec_free(&s);
	free(text);
	return 0;
}
