/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <hodo/abi.h>
#include <read/table/schema.h>
#include <stdio.h>
#include <strings.h>

#define FILE_NAME_MAX 150u /* of the escaped name; the files of a column have some letters more */

static void quote(struct hodo_text *sql, const char *text, char mark)
{
	hodo_text_char(sql, mark);
	for (const char *p = text; *p; p++) {
		if (*p == mark || *p == '\\')
			hodo_text_char(sql, '\\');
		hodo_text_char(sql, *p);
	}
	hodo_text_char(sql, mark);
}

void clickhouse_quote_name(struct hodo_text *sql, const char *name)
{
	quote(sql, name, '`');
}

void clickhouse_quote_text(struct hodo_text *sql, const char *text)
{
	quote(sql, text, '\'');
}

uint64_t clickhouse_number(const char *text)
{
	uint64_t number = 0xcbf29ce484222325ull;

	for (const char *p = text; *p; p++)
		number = (number ^ (uint8_t)*p) * 0x100000001b3ull;
	return number;
}

/* As ClickHouse does that: letters, digits and _ stay, others become %XX. */
static unsigned file_bytes(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ? 1 : 3;
}

void clickhouse_safe_name(struct hodo_text *to, const char *name, bool column)
{
	bool ours = strncasecmp(name, "hodo_", 5) == 0;
	size_t begin = to->len, cut = begin;
	unsigned bytes = 0;

	for (const char *p = name; *p; p++) {
		size_t before = to->len;
		/* A name is cut between characters. */
		if (bytes <= FILE_NAME_MAX - 24 && ((uint8_t)*p & 0xc0) != 0x80)
			cut = before;
		if (bytes > 2 * FILE_NAME_MAX)
			break;
		if (*p == '%' || (*p == '.' && (column || p == name)) || (ours && p == name))
			hodo_text_printf(to, "%%%02X", (uint8_t)*p);
		else
			hodo_text_char(to, *p);
		for (size_t i = before; i < to->len; i++)
			bytes += file_bytes(to->data[i]);
	}
	if (bytes <= FILE_NAME_MAX || to->error)
		return;
	to->len = cut;
	hodo_text_printf(to, "%%~%016llx", (unsigned long long)clickhouse_number(name));
}

const char *clickhouse_type(uint32_t type, bool null, char to[32])
{
	static const char *const types[] = {
		[HODO_TYPE_NONE] = "UInt8", [HODO_TYPE_I8] = "Int8",     [HODO_TYPE_U8] = "UInt8",
		[HODO_TYPE_I16] = "Int16",  [HODO_TYPE_U16] = "UInt16",  [HODO_TYPE_I32] = "Int32",
		[HODO_TYPE_U32] = "UInt32", [HODO_TYPE_I64] = "Int64",   [HODO_TYPE_U64] = "UInt64",
		[HODO_TYPE_BOOL] = "UInt8", [HODO_TYPE_CHAR] = "Int8",   [HODO_TYPE_F32] = "Float32",
		[HODO_TYPE_F64] = "Float64", [HODO_TYPE_PTR] = "UInt64", [HODO_TYPE_STR] = "String",
		[HODO_TYPE_BYTES] = "String",
	};
	uint32_t element = type & ~(uint32_t)HODO_TYPE_ARRAY;
	const char *name = element < sizeof(types) / sizeof(*types) ? types[element] : "UInt8";

	if (type == HODO_ROWS_NAME)
		snprintf(to, 32, "String");
	else if (type & HODO_TYPE_ARRAY)
		snprintf(to, 32, "Array(%s)", name);
	else
		snprintf(to, 32, null ? "Nullable(%s)" : "%s", name);
	return to;
}
