/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "labels.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads a decimal number and moves past it. The value wraps: the macro that wrote it has cast it. */
static bool take_number(const char **text, uint64_t *value)
{
	const char *p = *text;

	for (*value = 0; is_digit(*p); p++)
		*value = *value * 10 + (uint64_t)(*p - '0');
	if (p == *text || p - *text > 20)
		return false;
	*text = p;
	return true;
}

bool hodo_labels_field(const char **text, unsigned *field)
{
	uint64_t place;

	if (!take_number(text, &place) || **text != ':' || place >= HODO_FIELDS_MAX)
		return false;
	++*text;
	*field = (unsigned)place;
	return true;
}

bool hodo_labels_next(const char **text, struct hodo_label *label)
{
	const char *p = *text;
	uint64_t value;
	bool minus;

	while (*p && *p != '=' && *p != ',' && *p != ';')
		p++;
	label->name = *text;
	label->len = (size_t)(p - *text);
	if (!label->len && *p == ';')
		++*text;
	if (!label->len || *p != '=')
		return false;
	minus = *++p == '-';
	p += minus;
	if (!take_number(&p, &value) || (*p != ',' && *p != ';'))
		return false;
	label->value = (int64_t)(minus ? 0 - value : value);
	*text = p + (*p == ','); /* no name follows the ';' after the last one */
	return true;
}

enum hodo_labels_of hodo_labels_of(const char *owner, const char *event)
{
	while (*owner && *owner == *event)
		owner++, event++;
	if (*owner)
		return HODO_LABELS_OF_OTHERS;
	return !*event ? HODO_LABELS_OF_EVENT : *event == ':' ? HODO_LABELS_OF_PROVIDER : HODO_LABELS_OF_OTHERS;
}
