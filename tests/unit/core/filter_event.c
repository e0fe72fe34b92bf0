/* SPDX-License-Identifier: MIT */
/* filter_event.c - see event.h. */
#include "filter_event.h"

#include <core/filter.h>
#include <read/event/filter_compile.h>

#include <stdlib.h>
#include <string.h>

static struct test_field *add(struct test_event *e, const char *name, uint8_t type)
{
	struct test_field *f = &e->fields[e->n];

	if (e->n == HODO_FIELDS_MAX)
		abort();
	memset(f, 0, sizeof(*f));
	f->name = e->names[e->n] = name;
	f->type = e->types[e->n] = type;
	e->n++;
	return f;
}

void event_int(struct test_event *e, const char *name, uint8_t type, int64_t i)
{
	add(e, name, type)->i = i;
}

#if HODO_FILTER_FLOAT
void event_float(struct test_event *e, const char *name, uint8_t type, double d)
{
	add(e, name, type)->d = d;
}
#else
void event_bits(struct test_event *e, const char *name, uint8_t type, const void *d, const void *f)
{
	if (type == HODO_TYPE_F32)
		memcpy(&add(e, name, type)->i, f, 4);
	else
		memcpy(&add(e, name, type)->i, d, 8);
}
#endif

void event_text(struct test_event *e, const char *name, const char *text, size_t len)
{
	struct test_field *f = add(e, name, HODO_TYPE_STR);

	f->null = !text;
	f->len = text ? len : HODO_NULL_TEXT_LEN;
	if (f->len > FIELD_TEXT_MAX)
		abort();
	memcpy(f->text, text ? text : HODO_NULL_TEXT, f->len);
}

void event_data(struct test_event *e, const char *name, uint8_t type, size_t elements)
{
	add(e, name, type)->len = elements;
}

/* Writes the fixed bytes of a field; returns how many. */
static size_t fixed(const struct test_field *f, uint8_t *out)
{
#if HODO_FILTER_FLOAT
	float f32 = (float)f->d;
#else
	uint32_t f32 = (uint32_t)f->i;
#endif
	uint16_t len16 = (uint16_t)f->len;
	uint32_t len32 = (uint32_t)f->len;

	switch (f->type) {
	case HODO_TYPE_F32:
		memcpy(out, &f32, 4);
		return 4;
#if HODO_FILTER_FLOAT
	case HODO_TYPE_F64:
		memcpy(out, &f->d, 8);
		return 8;
#endif
	case HODO_TYPE_STR:
		memcpy(out, &len16, 2);
		return 2;
	case HODO_TYPE_I8:
	case HODO_TYPE_U8:
	case HODO_TYPE_BOOL:
	case HODO_TYPE_CHAR:
		memcpy(out, &f->i, 1);
		return 1;
	case HODO_TYPE_I16:
	case HODO_TYPE_U16:
		memcpy(out, &f->i, 2);
		return 2;
	case HODO_TYPE_I32:
	case HODO_TYPE_U32:
		memcpy(out, &f->i, 4);
		return 4;
	case HODO_TYPE_I64:
	case HODO_TYPE_U64:
	case HODO_TYPE_PTR:
#if !HODO_FILTER_FLOAT
	case HODO_TYPE_F64:
#endif
		memcpy(out, &f->i, 8);
		return 8;
	}
	memcpy(out, &len32, 4);
	return 4;
}

static void add_piece(struct test_event *e, const void *bytes, size_t len)
{
	void *copy = malloc(len ? len : 1);

	memcpy(copy, bytes, len);
	e->pieces[e->count++] = (struct hodo_piece){ copy, len };
}

void event_build(struct test_event *e)
{
	static const uint8_t element[FIELD_TEXT_MAX];
	uint8_t run[HODO_FIELDS_MAX * 8];
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < e->n; i++) {
		const struct test_field *f = &e->fields[i];

		len += fixed(f, run + len);
		if (f->type < HODO_TYPE_STR)
			continue;
		add_piece(e, run, len);
		add_piece(e, f->type == HODO_TYPE_STR ? (const uint8_t *)f->text : element, f->len);
		len = 0;
	}
	if (len)
		add_piece(e, run, len);
}

void event_free(struct test_event *e)
{
	size_t i;

	for (i = 0; i < e->count; i++)
		free((void *)(uintptr_t)e->pieces[i].data);
	memset(e, 0, sizeof(*e));
}

bool event_wants_floats(const char *error)
{
	return !HODO_FILTER_FLOAT && strstr(error, "floating-point numbers are not allowed here at column ");
}

int event_filter(const struct test_event *e, const char *expr, char *error)
{
	uint8_t *code = malloc(HODO_FILTER_MAX), *exact;
	struct hodo_filter f;
	size_t len = 0;
	int rc;

	rc = hodo_filter_compile(expr, code, HODO_FILTER_MAX, &len, error, error ? 128 : 0);
	exact = malloc(len ? len : 1); /* so that a sanitizer sees reads beyond the program */
	memcpy(exact, code, len);
	free(code);
	if (!rc)
		rc = hodo_filter_bind(&f, exact, len, e->n, e->types, e->names, NULL);
	if (!rc)
		rc = hodo_filter_run(&f, e->pieces, e->count, NULL);
	free(exact);
	return rc;
}

int event_bind(struct hodo_filter *f, uint8_t *code, const char *expr, const struct test_event *e)
{
	size_t len;

	if (hodo_filter_compile(expr, code, HODO_FILTER_MAX, &len, NULL, 0) != 0)
		abort();
	return hodo_filter_bind(f, code, len, e->n, e->types, e->names, NULL);
}
