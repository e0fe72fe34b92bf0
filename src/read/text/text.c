/* SPDX-License-Identifier: MIT */
/* text.c - texts of libhodo-read: a buffer (base/text.h), and what else formatting events needs. */
#include "text.h"

#include <stdlib.h>

struct hodo_read_text *hodo_read_text_new(void)
{
	struct hodo_read_text *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->second = INT64_MIN;
	t->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!t->c) {
		free(t);
		return NULL;
	}
	return t;
}

void hodo_read_text_free(struct hodo_read_text *text)
{
	if (!text)
		return;
	hodo_read_text_free(text->mark);
	freelocale(text->c);
	hodo_text_free(&text->out);
	free(text);
}

const char *hodo_read_text_data(const struct hodo_read_text *text, size_t *len)
{
	*len = text->out.len;
	return text->out.data ? text->out.data : "";
}

void hodo_read_text_clear(struct hodo_read_text *text)
{
	text->out.len = 0;
	text->out.error = 0;
}

int hodo_read_text_json_string(struct hodo_read_text *text, const char *s, size_t len)
{
	hodo_text_json(&text->out, s, len, HODO_JSON_PLAIN);
	return text->out.error;
}

int hodo_read_text_plain(struct hodo_read_text *text, const char *s, size_t len)
{
	hodo_text_plain(&text->out, s, len);
	return text->out.error;
}
