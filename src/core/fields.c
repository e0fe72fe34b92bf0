/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "fields.h"

#include "bounded_text.h"

#define NAME_MAX_BYTES 100 /* of one field */

/* End of the argument that starts at p: the next comma outside brackets and quotes, or the end. */
static const char *arg_end(const char *p)
{
	int depth = 0;

	for (; *p; p++) {
		if (*p == '"' || *p == '\'') {
			char quote = *p++;

			while (*p && *p != quote)
				p += p[0] == '\\' && p[1] ? 2 : 1;
			if (!*p)
				return p;
		} else if (*p == '(' || *p == '[' || *p == '{') {
			depth++;
		} else if (*p == ')' || *p == ']' || *p == '}') {
			depth--;
		} else if (*p == ',' && depth <= 0) {
			return p;
		}
	}
	return p;
}

static int starts(const char *p, const char *end, const char *word, const char **after)
{
	while (*word) {
		while (p < end && *p == ' ' && *word != ' ')
			p++;
		if (*word == ' ') {
			word++;
			continue;
		}
		if (p >= end || *p != *word)
			return 0;
		p++, word++;
	}
	*after = p;
	return 1;
}

/* Narrows [p, end) to the part that names the value. */
static void name_part(const char **p, const char **end)
{
	static const char *const wrappers[] = { "HODO_F (", "HODO_STR (", "HODO_BYTES (", "HODO_ARRAY (",
						"( ( void ) \"\" \"" };

	for (unsigned round = 0; round < 4; round++) {
		unsigned i;

		for (i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++) {
			const char *inner, *stop;

			if (!starts(*p, *end, wrappers[i], &inner))
				continue;
			stop = arg_end(inner);
			if (i == 4) /* HODO_F after its expansion: the name is in quotes */
				for (stop = inner; stop < *end && *stop != '"'; stop++)
					;
			*p = inner;
			if (stop < *end)
				*end = stop;
			break;
		}
		if (i == sizeof(wrappers) / sizeof(wrappers[0]))
			return;
	}
}

/* Writes [p, end) as an identifier; returns its length. */
static size_t identifier(const char *p, const char *end, char *out)
{
	size_t n = 0;
	int gap = 0;

	for (; p < end && n < NAME_MAX_BYTES; p++) {
		if (!hodo_is_word(*p)) {
			gap = n > 0;
			continue;
		}
		if (gap)
			out[n++] = '_';
		gap = 0;
		if (n == 0 && *p >= '0' && *p <= '9')
			out[n++] = '_';
		out[n++] = *p;
	}
	return n;
}

int hodo_fields_names(const char *args, unsigned nfields, char *buf, size_t size, const char **names)
{
	const char *p = args;
	size_t used = 0;

	if (nfields > HODO_FIELDS_MAX)
		return -1;
	for (unsigned i = 0; i < nfields; i++) {
		char name[NAME_MAX_BYTES + 8];
		struct hodo_bounded t = hodo_bounded_to(name, sizeof(name));
		const char *end = arg_end(p), *from = p, *to = end;

		name_part(&from, &to);
		t.len = identifier(from, to, name);
		name[t.len] = 0;
		if (t.len == 0) {
			hodo_bounded_put(&t, "arg");
			hodo_bounded_number(&t, i + 1);
		}
		for (unsigned k = 0; k < i && t.len <= NAME_MAX_BYTES + 4; k++) {
			if (!hodo_bounded_is(name, t.len, names[k]))
				continue;
			hodo_bounded_put(&t, "_");
			hodo_bounded_number(&t, i + 1);
			k = (unsigned)-1; /* the new name may be taken, too */
		}
		if (used + t.len + 1 > size)
			return -1;
		__builtin_memcpy(buf + used, name, t.len + 1);
		names[i] = buf + used;
		used += t.len + 1;
		p = *end ? end + 1 : end;
	}
	return 0;
}

#define SCALAR(name, bytes, is_signed) { name, name "[]", bytes, is_signed }

/* For a field of variable size, the fixed part holds its length: 2 bytes for a text, 4 for others. */
static const struct {
	char name[6];
	char array[8]; /* "": there are no such arrays */
	uint8_t bytes;
	uint8_t is_signed;
} types[] = {
	[HODO_TYPE_I8] = SCALAR("i8", 1, 1),	 [HODO_TYPE_U8] = SCALAR("u8", 1, 0),
	[HODO_TYPE_I16] = SCALAR("i16", 2, 1),	 [HODO_TYPE_U16] = SCALAR("u16", 2, 0),
	[HODO_TYPE_I32] = SCALAR("i32", 4, 1),	 [HODO_TYPE_U32] = SCALAR("u32", 4, 0),
	[HODO_TYPE_I64] = SCALAR("i64", 8, 1),	 [HODO_TYPE_U64] = SCALAR("u64", 8, 0),
	[HODO_TYPE_BOOL] = SCALAR("bool", 1, 0), [HODO_TYPE_CHAR] = SCALAR("char", 1, 1),
	[HODO_TYPE_F32] = SCALAR("f32", 4, 0),	 [HODO_TYPE_F64] = SCALAR("f64", 8, 0),
	[HODO_TYPE_PTR] = SCALAR("ptr", 8, 0),
	[HODO_TYPE_STR] = { "str", "", 2, 0 },	 [HODO_TYPE_BYTES] = { "bytes", "", 4, 0 },
};

static const uint8_t ntypes = sizeof(types) / sizeof(types[0]);

const char *hodo_fields_type_name(uint8_t type)
{
	uint8_t base = type & (uint8_t)~HODO_TYPE_ARRAY;
	const char *name = base >= ntypes ? "" : base == type ? types[base].name : types[base].array;

	return name[0] ? name : "?";
}

int hodo_fields_is_signed(uint8_t type)
{
	type &= (uint8_t)~HODO_TYPE_ARRAY;
	return type < ntypes && types[type].is_signed;
}

unsigned hodo_fields_fixed_size(uint8_t type)
{
	if (type & HODO_TYPE_ARRAY)
		return hodo_fields_element_size(type) ? 4 : 0;
	return type < ntypes ? types[type].bytes : 0;
}

unsigned hodo_fields_element_size(uint8_t type)
{
	if (type == HODO_TYPE_STR || type == HODO_TYPE_BYTES)
		return 1;
	if (!(type & HODO_TYPE_ARRAY))
		return 0;
	type &= (uint8_t)~HODO_TYPE_ARRAY;
	return type >= HODO_TYPE_I8 && type <= HODO_TYPE_PTR ? hodo_fields_fixed_size(type) : 0;
}
