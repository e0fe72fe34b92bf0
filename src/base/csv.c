/* SPDX-License-Identifier: MIT */
/* csv.c - cells of a table: see csv.h. */
#include "csv.h"

#include <stdbool.h>
#include <string.h>

void hodo_csv_text(struct hodo_text *out, const char *text, size_t len)
{
	char *o = hodo_text_room(out, 2 * len + 3), *start = o;
	bool quoted = len == 0 || text[0] == ' ' || text[len - 1] == ' ', plain = true;
	bool formula = len > 0 && memchr("=+-@\t\r\n'", text[0], 8);

	if (!o)
		return;
	for (size_t i = 0; i < len; i++) {
		uint8_t c = (uint8_t)text[i];

		quoted |= c == ',' || c == '"' || c == '\n' || c == '\r';
		plain &= c < 0x80 && c != '"';
	}
	if (quoted)
		*o++ = '"';
	if (formula)
		*o++ = '\'';
	o = plain ? (char *)mempcpy(o, text, len) : hodo_escape_utf8(o, text, len, '"');
	if (quoted)
		*o++ = '"';
	out->len += (size_t)(o - start);
}
