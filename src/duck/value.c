/* SPDX-License-Identifier: MIT */
/* value.c - one value of a result as text: what is nested as JSON, in all forms. */
#include "value.h"

#include <base/csv.h>
#include <base/number.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEPTH_MAX 32u

/* ------------------------------------------------------------------------------ types */

static bool add_member(struct duck_value_type *t, uint32_t i, duck_handle type, unsigned depth)
{
	bool known = duck_value_type(&t->members[i], type, depth + 1);

	duck.destroy_logical_type(&type);
	return known;
}

static bool add_members(struct duck_value_type *t, duck_handle type, unsigned depth)
{
	bool known = true;

	t->n = t->id == DUCK_LIST ? 1 : t->id == DUCK_MAP ? 2 : (uint32_t)duck.struct_type_child_count(type);
	t->members = calloc(t->n, sizeof(*t->members));
	t->keys = calloc(t->n, sizeof(*t->keys));
	if (!t->members || !t->keys)
		return false;
	if (t->id == DUCK_LIST)
		return add_member(t, 0, duck.list_type_child_type(type), depth);
	if (t->id == DUCK_MAP)
		return add_member(t, 0, duck.map_type_key_type(type), depth) &&
		       add_member(t, 1, duck.map_type_value_type(type), depth);
	for (uint32_t i = 0; i < t->n && known; i++) {
		t->keys[i] = duck.struct_type_child_name(type, i);
		known = t->keys[i] && add_member(t, i, duck.struct_type_child_type(type, i), depth);
	}
	return known;
}

bool duck_value_type(struct duck_value_type *t, duck_handle type, unsigned depth)
{
	*t = (struct duck_value_type){ .id = duck.get_type_id(type) };
	switch (t->id) {
	case DUCK_LIST:
	case DUCK_MAP:
	case DUCK_STRUCT:
		return depth < DEPTH_MAX && add_members(t, type, depth);
	case DUCK_DECIMAL:
		t->scale = duck.decimal_scale(type);
		t->stored = duck.decimal_internal_type(type);
		return true;
	case DUCK_ENUM:
		return false;
	default:
		return (t->id >= DUCK_BOOLEAN && t->id <= DUCK_TIMESTAMP_NS) || t->id == DUCK_TIMESTAMP_TZ ||
		       t->id == DUCK_UHUGEINT || t->id == DUCK_SQLNULL;
	}
}

void duck_value_type_free(struct duck_value_type *t)
{
	for (uint32_t i = 0; t->members && i < t->n; i++)
		duck_value_type_free(&t->members[i]);
	for (uint32_t i = 0; t->keys && i < t->n; i++)
		if (t->keys[i])
			duck.free(t->keys[i]);
	free(t->members);
	free(t->keys);
}

bool duck_value_is_number(const struct duck_value_type *t)
{
	return (t->id >= DUCK_TINYINT && t->id <= DUCK_DOUBLE) || t->id == DUCK_HUGEINT || t->id == DUCK_UHUGEINT ||
	       t->id == DUCK_DECIMAL;
}

/* ---------------------------------------------------------------------------- numbers */

/* Whole, or with a point before its last digits. */
static void put_wide(struct hodo_text *to, unsigned __int128 v, bool negative, unsigned decimals)
{
	char digits[48], *p = digits + sizeof(digits);
	unsigned n = 0;

	do {
		if (decimals && n == decimals)
			*--p = '.';
		*--p = (char)('0' + (unsigned)(v % 10));
		v /= 10;
		n++;
	} while (v || n <= decimals);
	if (negative)
		hodo_text_char(to, '-');
	hodo_text_bytes(to, p, (size_t)(digits + sizeof(digits) - p));
}

static void put_signed_wide(struct hodo_text *to, __int128 v, unsigned decimals)
{
	put_wide(to, v < 0 ? -(unsigned __int128)v : (unsigned __int128)v, v < 0, decimals);
}

static __int128 integer_at(const void *data, int type, uint64_t row)
{
	switch (type) {
	case DUCK_TINYINT:
		return ((const int8_t *)data)[row];
	case DUCK_SMALLINT:
		return ((const int16_t *)data)[row];
	case DUCK_INTEGER:
		return ((const int32_t *)data)[row];
	case DUCK_BIGINT:
		return ((const int64_t *)data)[row];
	case DUCK_UTINYINT:
		return ((const uint8_t *)data)[row];
	case DUCK_USMALLINT:
		return ((const uint16_t *)data)[row];
	case DUCK_UINTEGER:
		return ((const uint32_t *)data)[row];
	case DUCK_UBIGINT:
		return ((const uint64_t *)data)[row];
	default: {
		const struct duck_hugeint *h = (const struct duck_hugeint *)data + row;

		return (__int128)((unsigned __int128)(uint64_t)h->high << 64 | h->low);
	}
	}
}

/* JSON has no numbers that are none. */
static void put_float(struct hodo_text *to, double v, bool is_single, bool json)
{
	static locale_t c;
	char *o = hodo_text_room(to, HODO_FORMAT_FLOAT_MAX + 2);

	if (!c)
		c = newlocale(LC_ALL_MASK, "C", NULL);
	if (!c)
		hodo_text_fail(to, -ENOMEM);
	else if (o)
		to->len += (size_t)(hodo_format_float(o, v, is_single, json, c) - o);
}

/* ------------------------------------------------------------------------------ times */

static void put_time(struct hodo_text *to, int64_t value, int64_t per_second, unsigned decimals, bool zone)
{
	int64_t second = value / per_second, rest = value % per_second;
	time_t when;
	struct tm tm;
	char text[40];

	if (rest < 0) {
		rest += per_second;
		second--;
	}
	when = (time_t)second;
	if (!gmtime_r(&when, &tm) || !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm)) {
		hodo_text_add(to, value < 0 ? "-infinity" : "infinity");
		return;
	}
	hodo_text_add(to, text);
	if (decimals && rest)
		hodo_text_printf(to, ".%0*lld", (int)decimals, (long long)rest);
	hodo_text_add(to, zone ? "+00" : "");
}

static void put_date(struct hodo_text *to, int32_t day)
{
	time_t when = (time_t)day * 86400;
	struct tm tm;
	char text[40];

	if (!gmtime_r(&when, &tm) || !strftime(text, sizeof(text), "%Y-%m-%d", &tm))
		hodo_text_add(to, day < 0 ? "-infinity" : "infinity");
	else
		hodo_text_add(to, text);
}

static void put_clock(struct hodo_text *to, int64_t us)
{
	hodo_text_printf(to, "%02lld:%02lld:%02lld", (long long)(us / 3600000000), (long long)(us / 60000000 % 60),
			 (long long)(us / 1000000 % 60));
	if (us % 1000000)
		hodo_text_printf(to, ".%06lld", (long long)(us % 1000000));
}

/* As the library writes one: "1 year 2 months -3 days 04:05:06.5". */
static void put_interval(struct hodo_text *to, const struct duck_interval *i)
{
	const struct {
		int64_t n;
		const char *what;
	} parts[] = { { i->months / 12, "year" }, { i->months % 12, "month" }, { i->days, "day" } };
	size_t begin = to->len;

	for (unsigned k = 0; k < sizeof(parts) / sizeof(*parts); k++)
		if (parts[k].n)
			hodo_text_printf(to, "%s%lld %s%s", to->len > begin ? " " : "", (long long)parts[k].n,
					 parts[k].what, parts[k].n == 1 || parts[k].n == -1 ? "" : "s");
	if (!i->us && to->len > begin)
		return;
	hodo_text_add(to, to->len > begin ? " " : "");
	if (i->us < 0)
		hodo_text_char(to, '-');
	/* The least one has no negative. */
	put_clock(to, i->us == INT64_MIN ? INT64_MAX : i->us < 0 ? -i->us : i->us);
}

/* False: it is no time. */
static bool put_when(struct hodo_text *to, const void *data, int id, uint64_t row)
{
	const int64_t *times = data;

	switch (id) {
	case DUCK_TIMESTAMP:
	case DUCK_TIMESTAMP_TZ:
		put_time(to, times[row], 1000000, 6, id == DUCK_TIMESTAMP_TZ);
		return true;
	case DUCK_TIMESTAMP_S:
		put_time(to, times[row], 1, 0, false);
		return true;
	case DUCK_TIMESTAMP_MS:
		put_time(to, times[row], 1000, 3, false);
		return true;
	case DUCK_TIMESTAMP_NS:
		put_time(to, times[row], 1000000000, 9, false);
		return true;
	case DUCK_DATE:
		put_date(to, ((const int32_t *)data)[row]);
		return true;
	case DUCK_TIME:
		put_clock(to, times[row]);
		return true;
	case DUCK_INTERVAL:
		put_interval(to, (const struct duck_interval *)data + row);
		return true;
	default:
		return false;
	}
}

/* ------------------------------------------------------------------------------ texts */

static struct hodo_rows_bytes string_at(const void *data, uint64_t row)
{
	const union duck_string *s = (const union duck_string *)data + row;

	return (struct hodo_rows_bytes){ s->len <= DUCK_INLINE_MAX ? s->inlined : s->far.data, s->len };
}

static void put_text(struct hodo_text *to, const char *text, size_t len, enum hodo_duck_form form)
{
	if (form == HODO_DUCK_JSON)
		hodo_text_json(to, text, len, HODO_JSON_PLAIN);
	else if (form == HODO_DUCK_CSV)
		hodo_csv_text(to, text, len);
	else
		hodo_text_bytes(to, text, len);
}

static void put_blob(struct hodo_text *to, struct hodo_rows_bytes bytes, bool json)
{
	char *o = hodo_text_room(to, 2 * (size_t)bytes.n + 2), *start = o;

	if (!o)
		return;
	if (json)
		*o++ = '"';
	o = hodo_format_bytes(o, bytes.data, bytes.n);
	if (json)
		*o++ = '"';
	to->len += (size_t)(o - start);
}

/* ----------------------------------------------------------------------------- nested */

static void put_pairs(struct hodo_text *to, duck_handle vector, const struct duck_value_type *t, struct duck_list list)
{
	duck_handle child = duck.list_vector_get_child(vector), keys = duck.struct_vector_get_child(child, 0);
	duck_handle values = duck.struct_vector_get_child(child, 1);
	struct hodo_text key = { 0 };

	hodo_text_char(to, '{');
	for (uint64_t i = list.offset; i < list.offset + list.len; i++) {
		key.len = 0;
		duck_value_put(&key, keys, &t->members[0], i, HODO_DUCK_TEXT);
		if (i > list.offset)
			hodo_text_char(to, ',');
		hodo_text_json(to, key.data, key.len, HODO_JSON_PLAIN);
		hodo_text_char(to, ':');
		duck_value_put(to, values, &t->members[1], i, HODO_DUCK_JSON);
	}
	hodo_text_char(to, '}');
	hodo_text_fail(to, key.error);
	hodo_text_free(&key);
}

/* For people what is null is left out: events of other classes have those fields. */
static void put_struct(struct hodo_text *to, duck_handle vector, const struct duck_value_type *t, uint64_t row,
		       bool nulls)
{
	bool any = false, has;

	hodo_text_char(to, '{');
	for (uint32_t i = 0; i < t->n; i++) {
		size_t begin = to->len;

		hodo_text_add(to, any ? "," : "");
		hodo_text_json(to, t->keys[i], strlen(t->keys[i]), HODO_JSON_PLAIN);
		hodo_text_char(to, ':');
		has = duck_value_put(to, duck.struct_vector_get_child(vector, i), &t->members[i], row, HODO_DUCK_JSON);
		if (has || nulls)
			any = true;
		else
			to->len = begin;
	}
	hodo_text_char(to, '}');
}

static void put_nested(struct hodo_text *to, duck_handle vector, const struct duck_value_type *t, uint64_t row,
		       enum hodo_duck_form form)
{
	if (t->id == DUCK_STRUCT) {
		put_struct(to, vector, t, row, form != HODO_DUCK_TEXT);
	} else {
		struct duck_list list = ((const struct duck_list *)duck.vector_get_data(vector))[row];

		if (t->id == DUCK_MAP) {
			put_pairs(to, vector, t, list);
			return;
		}
		hodo_text_char(to, '[');
		for (uint64_t i = list.offset; i < list.offset + list.len; i++) {
			hodo_text_add(to, i > list.offset ? "," : "");
			duck_value_put(to, duck.list_vector_get_child(vector), &t->members[0], i, HODO_DUCK_JSON);
		}
		hodo_text_char(to, ']');
	}
}

/* What is JSON, or a time, as a text of the form. */
static void put_aside(struct hodo_text *to, duck_handle vector, const void *data, const struct duck_value_type *t,
		      uint64_t row, enum hodo_duck_form form)
{
	struct hodo_text aside = { 0 };
	bool is_time = put_when(&aside, data, t->id, row);

	if (!is_time)
		put_nested(&aside, vector, t, row, form);
	if (is_time || form == HODO_DUCK_CSV)
		put_text(to, hodo_text_string(&aside), aside.len, form);
	else
		hodo_text_bytes(to, aside.data, aside.len);
	hodo_text_fail(to, aside.error);
	hodo_text_free(&aside);
}

bool duck_value_put(struct hodo_text *to, duck_handle vector, const struct duck_value_type *t, uint64_t row,
		    enum hodo_duck_form form)
{
	const uint64_t *valid = duck.vector_get_validity(vector);
	const void *data = duck.vector_get_data(vector);
	struct hodo_rows_bytes text;

	if (t->id == DUCK_SQLNULL || (valid && !(valid[row / 64] >> row % 64 & 1))) {
		hodo_text_add(to, form == HODO_DUCK_JSON ? "null" : "");
		return false;
	}
	switch (t->id) {
	case DUCK_BOOLEAN:
		hodo_text_add(to, ((const bool *)data)[row] ? "true" : "false");
		break;
	case DUCK_FLOAT:
		put_float(to, (double)((const float *)data)[row], true, form == HODO_DUCK_JSON);
		break;
	case DUCK_DOUBLE:
		put_float(to, ((const double *)data)[row], false, form == HODO_DUCK_JSON);
		break;
	case DUCK_DECIMAL:
		put_signed_wide(to, integer_at(data, t->stored, row), t->scale);
		break;
	case DUCK_UHUGEINT:
		put_wide(to, (unsigned __int128)integer_at(data, DUCK_HUGEINT, row), false, 0);
		break;
	case DUCK_VARCHAR:
		text = string_at(data, row);
		put_text(to, text.data, text.n, form);
		break;
	case DUCK_BLOB:
		put_blob(to, string_at(data, row), form == HODO_DUCK_JSON);
		break;
	default:
		if (duck_value_is_number(t))
			put_signed_wide(to, integer_at(data, t->id, row), 0);
		else
			put_aside(to, vector, data, t, row, form);
	}
	return true;
}
