/* SPDX-License-Identifier: MIT */
/* ctf_types.c - see ctf_types.h. Byte by byte, little-endian or as the trace says. */
#include "ctf_types.h"

#include <core/fields.h>
#include <hodo/abi.h>

#include "ctf_names.h"

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

void hodo_ctf_uuid(struct hodo_text *t, const uint8_t uuid[16])
{
	for (int i = 0; i < 16; i++)
		hodo_text_printf(t, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}
