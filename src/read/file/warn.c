/* SPDX-License-Identifier: MIT */
/* warn.c - warnings about damage: each once, so many at most, and harmless to a terminal. */
#include "warn.h"
#include "reader.h"

#include <base/escape.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WARNINGS_MAX 100u

void hodo_read_clean(char *dst, size_t size, const char *text)
{
	snprintf(dst, size, "%s", text);
	hodo_mask_unseen(dst);
}

void hodo_read_warn(struct hodo_read *r, uint32_t *warned, uint32_t once, const char *folder, const char *file,
		    const char *fmt, ...)
{
	char text[WARNING_BYTES], clean[WARNING_BYTES];
	bool top = strcmp(folder, ".") == 0, again = warned && (*warned & once);
	va_list ap;
	int n;

	if (warned)
		*warned |= once;
	if (again || !r->warn || r->nwarnings > WARNINGS_MAX)
		return;
	if (r->nwarnings++ == WARNINGS_MAX) {
		r->warn(r->warn_data, "more damage is not listed");
		return;
	}
	n = snprintf(text, sizeof(text), "%.100s%s%.100s%s%.60s: ", r->path, top ? "" : "/",
		     top ? "" : folder, *file ? "/" : "", file);
	va_start(ap, fmt);
	if (n > 0 && (size_t)n < sizeof(text))
		vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	hodo_read_clean(clean, sizeof(clean), text);
	r->warn(r->warn_data, clean);
}
