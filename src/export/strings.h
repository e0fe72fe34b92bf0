/* SPDX-License-Identifier: MIT */
/* strings.h - texts that are written once and named by number. */
#ifndef HODO_EXPORT_STRINGS_H
#define HODO_EXPORT_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hodo_strings {
	char **text; /* n, each ends with a NUL */
	uint32_t n, room;
	uint32_t *slots, mask; /* by hash: index + 1 */
	struct hodo_read_text *plain;
};

#define HODO_STRINGS_NONE UINT32_MAX

/* The number of a text, from 0 on in the order in which they came first; NONE: no memory. Control bytes and what is not
 * UTF-8 are escaped before (plain), or nothing is. */
uint32_t hodo_strings_add(struct hodo_strings *s, const char *text);
uint32_t hodo_strings_add_plain(struct hodo_strings *s, const char *text);
void hodo_strings_free(struct hodo_strings *s);

#endif
