/* SPDX-License-Identifier: MIT */
/* ctf_names.c - see ctf_names.h. */
#include "ctf_names.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <core/fields.h>

/* The n names in the order of the structure. "": there is no member. */
struct order {
	char *name[1 + 2 * HODO_FIELDS_MAX];
	unsigned n;
};

/* Both as written. */
static bool clash(const char *before, const char *behind)
{
	return before[0] && behind[0] && (strcmp(before, behind) == 0 || strcmp(before + 1, behind) == 0);
}

/* The only keywords that begin with an underscore. */
static bool is_keyword(const char *name)
{
	return strcmp(name, "_Bool") == 0 || strcmp(name, "_Complex") == 0 || strcmp(name, "_Imaginary") == 0;
}

/* Whether the name can be at a place, considering those before `end`. */
static bool fits(const struct order *o, unsigned at, const char *name, unsigned end)
{
	if (is_keyword(name))
		return false;
	for (unsigned i = 0; i < end; i++)
		if (i != at && (i < at ? clash(o->name[i], name) : clash(name, o->name[i])))
			return false;
	return true;
}

/* Gives a place its name, with the first number that makes it fit if necessary. */
static void give(const struct order *o, unsigned at, const char *base, const char *suffix)
{
	char name[HODO_CTF_NAME_SIZE];

	snprintf(name, sizeof(name), "_%.*s%s", HODO_NAME_MAX + 1, base, suffix);
	for (unsigned again = 2; !fits(o, at, name, o->n); again++)
		snprintf(name, sizeof(name), "_%.*s%s%u", HODO_NAME_MAX + 1, base, suffix, again);
	memcpy(o->name[at], name, sizeof(name));
}

void hodo_ctf_names(struct hodo_ctf_names *names, const char *own, const char *const *field, const uint8_t *type,
		    unsigned n)
{
	struct order o = { .name = { names->own }, .n = 1 + 2 * n };

	names->own[0] = 0;
	for (unsigned i = 0; i < n; i++) {
		o.name[1 + 2 * i] = names->field[i].length;
		o.name[2 + 2 * i] = names->field[i].name;
		names->field[i].length[0] = 0;
		snprintf(names->field[i].name, HODO_CTF_NAME_SIZE, "_%.*s", HODO_NAME_MAX, field[i]);
	}
	/* The fields first: their names matter more than what we add. */
	for (unsigned i = 0; i < n; i++)
		if (!fits(&o, 2 + 2 * i, names->field[i].name, 2 + 2 * i))
			give(&o, 2 + 2 * i, field[i], "");
	for (unsigned i = 0; i < n; i++) {
		char base[HODO_NAME_MAX + 2];

		if (hodo_fields_element_size(type[i]) == 0)
			continue;
		snprintf(base, sizeof(base), "_%s", field[i]);
		give(&o, 1 + 2 * i, base, "_length");
	}
	if (own[0])
		give(&o, 0, own, "");
}

void hodo_name_quote(struct hodo_text *t, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		bool plain = c >= ' ' && c < 127 && c != '"' && c != '\\';

		/* No comment may begin or end inside, in case a reader strips comments first. */
		if ((c == '*' && s[1] == '/') || (c == '/' && (s[1] == '*' || s[1] == '/')))
			plain = false;
		hodo_text_bytes(t, plain ? s : "_", 1);
	}
}
