/* SPDX-License-Identifier: MIT */
/* tsdl.c - the TSDL that record and export write: byte by byte, little-endian or as the trace says. */
#include "tsdl.h"

#include <core/fields.h>
#include <hodo/abi.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char declarations[] =
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"typealias integer { size = 8; align = 8; signed = true; } := int8_t;\n"
	"typealias integer { size = 16; align = 8; signed = true; } := int16_t;\n"
	"typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
	"typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n"
	"typealias integer { size = 8; align = 8; signed = false; base = 16; } := byte_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; base = 16; } := pointer_t;\n"
	"typealias integer { size = 8; align = 8; signed = false; encoding = UTF8; } := text_t;\n"
	"typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; } := float_t;\n"
	"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := double_t;\n";

static const struct {
	const char *tsdl;
	bool integer;
} types[] = {
	[HODO_TYPE_I8] = { "int8_t", true },	  [HODO_TYPE_U8] = { "uint8_t", true },
	[HODO_TYPE_I16] = { "int16_t", true },	  [HODO_TYPE_U16] = { "uint16_t", true },
	[HODO_TYPE_I32] = { "int32_t", true },	  [HODO_TYPE_U32] = { "uint32_t", true },
	[HODO_TYPE_I64] = { "int64_t", true },	  [HODO_TYPE_U64] = { "uint64_t", true },
	[HODO_TYPE_BOOL] = { "uint8_t", false },  [HODO_TYPE_CHAR] = { "int8_t", false },
	[HODO_TYPE_F32] = { "float_t", false },	  [HODO_TYPE_F64] = { "double_t", false },
	[HODO_TYPE_PTR] = { "pointer_t", false }, [HODO_TYPE_STR] = { "text_t", false },
	[HODO_TYPE_BYTES] = { "byte_t", false },
};

void hodo_ctf_declare_types(struct hodo_text *t)
{
	hodo_text_bytes(t, declarations, sizeof(declarations) - 1);
}

const char *hodo_ctf_type(uint8_t type)
{
	return types[type & ~HODO_TYPE_ARRAY].tsdl;
}

bool hodo_ctf_has_labels(uint8_t type)
{
	return type < sizeof(types) / sizeof(*types) && types[type].integer;
}

void hodo_ctf_enum(struct hodo_text *t, uint8_t type, uint32_t n, const char *const *labels, const int64_t *values)
{
	unsigned unused = 64 - 8 * hodo_fields_fixed_size(type);

	hodo_text_printf(t, "enum : %s {", hodo_ctf_type(type));
	for (uint32_t i = 0; i < n; i++) {
		uint64_t high = (uint64_t)values[i] << unused;

		hodo_text_add(t, i ? ", \"" : " \"");
		hodo_name_quote(t, labels[i]);
		hodo_text_add(t, "\" = ");
		if (hodo_fields_is_signed(type))
			hodo_text_i64(t, (int64_t)high >> unused);
		else
			hodo_text_u64(t, high >> unused);
	}
	hodo_text_add(t, " }");
}

/* absolute: all our traces count from the epoch, so that readers may merge them. */
void hodo_ctf_clock(struct hodo_text *t, const struct hodo_read_clock *c)
{
	hodo_text_printf(t, "clock { name = hodo; freq = %" PRIu64 "; offset_s = %" PRId64 "; offset = %" PRId64
			    "; absolute = true; };\n", c->freq_hz / 4, c->offset_s, c->offset_ticks / 4);
}

void hodo_ctf_uuid(struct hodo_text *t, const uint8_t uuid[16])
{
	for (int i = 0; i < 16; i++)
		hodo_text_printf(t, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

/* ------------------------------------------------------------------------------------------------ names */

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
