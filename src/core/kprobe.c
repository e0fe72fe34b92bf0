/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "kprobe.h"

#include "fields.h"

#define NAMES 2 /* of the function and the event, before those of the fields */
#define REGISTERS_MAX 31u

static bool number_valid(const struct hodo_kprobe_value *v, bool returns)
{
	switch (v->from) {
	case HODO_KPROBE_ARGUMENT:
		return v->number < HODO_KPROBE_ARGUMENTS;
	case HODO_KPROBE_RETURNED:
	case HODO_KPROBE_DURATION:
		return returns && v->number == 0;
	case HODO_KPROBE_REGISTER:
		return v->number < REGISTERS_MAX;
	case HODO_KPROBE_STACK:
		return v->number <= HODO_KPROBE_STACK_MAX;
	}
	return false;
}

static bool is_text(const struct hodo_kprobe_value *v)
{
	return v->type == HODO_TYPE_STR;
}

static bool load_valid(const struct hodo_kprobe_value *v)
{
	if (is_text(v))
		return v->load == 0 && v->shift == 0 && v->bits == 0 && v->text_max > 0 &&
		       v->text_max <= HODO_KPROBE_TEXT_MAX;
	if (v->load != 0 && v->load != 1 && v->load != 2 && v->load != 4 && v->load != 8)
		return false;
	/* A value taken whole comes from a register, or was loaded. */
	return v->text_max == 0 && (v->bits ? v->shift + v->bits <= (v->load ? 8 * v->load : 64) : v->shift == 0);
}

static bool value_valid(const struct hodo_kprobe_value *v, bool returns)
{
	unsigned int used;

	if (!(hodo_fields_is_integer(v->type) || is_text(v)) || v->steps > HODO_KPROBE_STEPS_MAX || v->reserved != 0)
		return false;
	used = v->steps + (v->load != 0 || is_text(v));
	for (unsigned int i = used; i <= HODO_KPROBE_STEPS_MAX; i++)
		if (v->offset[i] != 0)
			return false;
	return number_valid(v, returns) && load_valid(v);
}

static bool letter_or_digit(char c, bool digit)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (digit && c >= '0' && c <= '9');
}

static bool is_identifier(const char *text)
{
	if (!letter_or_digit(*text, false))
		return false;
	while (*++text)
		if (!letter_or_digit(*text, true))
			return false;
	return true;
}

static bool is_name(const char *text)
{
	if (!*text)
		return false;
	for (; *text; text++)
		if ((unsigned char)*text <= ' ' || (unsigned char)*text >= 127 || *text == '/' || *text == ':')
			return false;
	return true;
}

/* The texts must end where the message ends. */
static bool take_texts(const struct hodo_kprobe *k, const char **text)
{
	const char *at = (const char *)&k->value[k->values], *end = (const char *)k + k->size;

	for (uint32_t i = 0; i < NAMES + k->values; i++) {
		size_t len = 0;

		while (at + len < end && at[len])
			len++;
		if (at + len == end || len > HODO_NAME_MAX || !(i < NAMES ? is_name(at) : is_identifier(at)))
			return false;
		text[i] = at;
		at += len + 1;
	}
	return at == end;
}

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static bool fields_differ(const struct hodo_kprobe *k, const char **text)
{
	for (uint32_t i = 0; i < k->values; i++)
		for (uint32_t j = 0; j < i; j++)
			if (same(text[NAMES + i], text[NAMES + j]))
				return false;
	return true;
}

uint32_t hodo_kprobe_bytes(const struct hodo_kprobe *k)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < k->values; i++)
		bytes += hodo_fields_fixed_size(k->value[i].type) + k->value[i].text_max;
	return bytes;
}

bool hodo_kprobe_check(const struct hodo_kprobe *k, size_t size, const char **text)
{
	if (size < sizeof(*k) || size > HODO_KPROBE_SIZE_MAX || k->size != size || k->flags & ~HODO_KPROBE_RETURN ||
	    k->values > HODO_FIELDS_MAX || k->reserved != 0 || sizeof(*k) + k->values * sizeof(k->value[0]) > size)
		return false;
	if (k->flags & HODO_KPROBE_RETURN && k->offset != 0)
		return false;
	for (uint32_t i = 0; i < k->values; i++)
		if (!value_valid(&k->value[i], k->flags & HODO_KPROBE_RETURN))
			return false;
	return hodo_kprobe_bytes(k) <= HODO_KPROBE_BYTES_MAX && take_texts(k, text) && fields_differ(k, text);
}
