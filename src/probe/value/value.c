/* SPDX-License-Identifier: MIT */
/* value.c - makes a field of an event from a value's text. */
#include "value.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <base/text.h>
#include <core/fields.h>
#include <hodo/abi.h>

#include "piece.h"

#define PARTS_SHOWN 8u

/* The type of a field for the number; HODO_TYPE_NONE: not a number. */
static uint8_t scalar_type(const struct hodo_part *o, bool *is_signed, uint64_t *bytes)
{
	static const uint8_t by_size[2][4] = { { HODO_TYPE_U8, HODO_TYPE_U16, HODO_TYPE_U32, HODO_TYPE_U64 },
					       { HODO_TYPE_I8, HODO_TYPE_I16, HODO_TYPE_I32, HODO_TYPE_I64 } };
	unsigned encoding = hodo_ctype_encoding(&o->type);
	int tag = hodo_ctype_tag(&o->type);
	unsigned size;

	*bytes = o->address ? 8 : o->type.tag_known ? hodo_ctype_size(&o->type) : o->bytes;
	*is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
	if (o->address || tag == DW_TAG_pointer_type || tag == DW_TAG_subroutine_type ||
	    tag == DW_TAG_ptr_to_member_type || tag == DW_TAG_unspecified_type) {
		*bytes = 8;
		return HODO_TYPE_PTR;
	}
	if (o->is_float || encoding == DW_ATE_float)
		return *bytes == 4 ? HODO_TYPE_F32 : *bytes == 8 ? HODO_TYPE_F64 : HODO_TYPE_NONE;
	if (encoding == DW_ATE_complex_float || encoding == DW_ATE_decimal_float)
		return HODO_TYPE_NONE;
	if (encoding == DW_ATE_boolean && *bytes == 1)
		return HODO_TYPE_BOOL;
	if (*bytes == 1 && hodo_ctype_is_char(&o->type) && *is_signed)
		return HODO_TYPE_CHAR;
	size = *bytes == 1 ? 0 : *bytes == 2 ? 1 : *bytes == 4 ? 2 : *bytes == 8 ? 3 : 4;
	return size == 4 ? HODO_TYPE_NONE : by_size[*is_signed][size];
}

/* The address of bytes: an array's, or a pointer's value. most: how many there are, if known. */
static bool bytes_at(struct hodo_part *o, struct hodo_fetch *f, uint64_t *most)
{
	*most = UINT64_MAX;
	if (!o->address && (hodo_ctype_is_array(&o->type) || hodo_ctype_is_aggregate(&o->type))) {
		*most = hodo_ctype_size(&o->type);
		*most = *most ? *most : UINT64_MAX;
		return hodo_part_address(o, f);
	}
	return hodo_part_scalar(o, 8, false, f);
}

/* Whether it is text: char *, char[]. */
static bool is_text(const struct hodo_part *o)
{
	struct hodo_ctype t;
	uint64_t count;

	if (o->address)
		return hodo_ctype_is_char(&o->type);
	if (hodo_ctype_is_array(&o->type))
		return hodo_ctype_element(&o->type, &t, &count) && hodo_ctype_is_char(&t);
	return hodo_ctype_target(&o->type, &t) && hodo_ctype_is_char(&t);
}

static int make_text(struct hodo_probe_field *f, struct hodo_part *o, const char *text)
{
	uint64_t most;

	f->type = HODO_TYPE_STR;
	if (!o->address && o->type.tag_known && !hodo_ctype_is_array(&o->type) && !hodo_ctype_is_pointer(&o->type) &&
	    (o->bits || hodo_ctype_size(&o->type) != 8 || hodo_ctype_is_aggregate(&o->type)))
		return hodo_why(o->why, -EINVAL, "%s is not the address of a string", text);
	bytes_at(o, &f->fetch, &most);
	f->most = most < HODO_FETCH_TEXT_MAX ? (uint32_t)most : HODO_FETCH_TEXT_MAX;
	f->may_fault = hodo_fetch_faults(&f->fetch, f->most);
	return 0;
}

static int make_bytes(struct hodo_probe_field *f, struct hodo_part *o, const struct hodo_spec_value *v, bool result)
{
	struct hodo_part length = { .scope = o->scope, .why = o->why };
	bool is_signed;
	uint64_t bytes, most;
	int err;

	f->type = HODO_TYPE_BYTES;
	if (!o->address && o->type.tag_known && !hodo_ctype_is_array(&o->type) && !hodo_ctype_is_aggregate(&o->type) &&
	    !hodo_ctype_is_pointer(&o->type))
		return hodo_why(o->why, -EINVAL, "%s is neither a pointer nor in memory: write bytes as (ADDRESS, "
				"LENGTH)", v->text);
	bytes_at(o, &f->fetch, &most);
	f->most = HODO_FETCH_BYTES_MAX;
	if (most < f->most)
		f->most = (uint32_t)most;
	err = hodo_part_find(&length, result, &v->length, v->text);
	if (err)
		return err;
	if (v->length.base == HODO_SPEC_NUMBER) {
		f->most = v->length.number < f->most ? (uint32_t)v->length.number : f->most;
	} else {
		uint8_t type = scalar_type(&length, &is_signed, &bytes);

		if (type == HODO_TYPE_NONE || type == HODO_TYPE_F32 || type == HODO_TYPE_F64 || type == HODO_TYPE_PTR)
			return hodo_why(o->why, -EINVAL, "%s: the length is not a number", v->text);
		hodo_part_scalar(&length, bytes, is_signed, &f->length);
	}
	f->may_fault = hodo_fetch_faults(&f->fetch, f->most);
	hodo_part_lose(o, length.missing);
	return 0;
}

static int make_scalar(struct hodo_probe_field *f, struct hodo_part *o, const struct hodo_spec_value *v)
{
	uint64_t bytes;
	bool is_signed, whole = v->type == HODO_TYPE_F32 || v->type == HODO_TYPE_F64;
	unsigned wanted = v->type == HODO_TYPE_F32 ? 4 : 8;

	f->type = scalar_type(o, &is_signed, &bytes);
	if (hodo_ctype_is_aggregate(&o->type) && !o->address)
		return hodo_why(o->why, -EINVAL, "%s is a struct: name a member, or give its bytes as in (&%s, 16)",
				v->text, v->text);
	if (hodo_ctype_is_array(&o->type) && !o->address)
		return hodo_why(o->why, -EINVAL, "%s is an array: name an element, as in %s[0], or give its bytes as "
				"in (%s, 16)", v->text, v->text, v->text);
	if (f->type == HODO_TYPE_NONE) {
		f->type = HODO_TYPE_U64;
		hodo_part_lose(o, HODO_TOO_WIDE);
	}
	if (v->type) {
		/* A number of another kind is read from its bytes in memory. */
		if (whole && bytes < wanted)
			return hodo_why(o->why, -EINVAL, "%s has %u bytes, which is not an f%u", v->text,
					(unsigned)bytes, 8 * wanted);
		f->type = v->type;
		bytes = whole && !o->bits ? wanted : bytes;
	}
	hodo_part_scalar(o, bytes, is_signed, &f->fetch);
	return 0;
}

/* "rdi -> +24 -> string" */
static char *words(const struct hodo_probe_field *f)
{
	struct hodo_text t = { 0 };
	const char *all;
	char *copy;

	if (f->missing) {
		hodo_text_add(&t, hodo_missing_text(f->missing));
	} else {
		hodo_fetch_words(&f->fetch, &t);
		if (f->type == HODO_TYPE_STR)
			hodo_text_add(&t, " -> string");
		if (f->type == HODO_TYPE_BYTES)
			hodo_text_add(&t, " -> ");
		if (f->type == HODO_TYPE_BYTES && f->length.n)
			hodo_fetch_words(&f->length, &t);
		else if (f->type == HODO_TYPE_BYTES)
			hodo_text_printf(&t, "%u", f->most);
		if (f->type == HODO_TYPE_BYTES)
			hodo_text_add(&t, " bytes");
	}
	all = hodo_text_string(&t);
	copy = t.error ? NULL : strdup(all);
	hodo_text_free(&t);
	return copy;
}

static int finish(struct hodo_probe_field *f, struct hodo_part *o)
{
	struct hodo_text t = { 0 };

	f->missing = o->missing;
	if (f->missing)
		f->fetch.n = f->length.n = 0;
	if (o->type.tag_known)
		hodo_ctype_put(&o->type, &t);
	if (o->address && o->type.tag_known)
		hodo_text_add(&t, " *");
	f->type_name = t.error ? NULL : strdup(hodo_text_string(&t));
	hodo_text_free(&t);
	f->from = words(f);
	return f->name && f->type_name && f->from ? 0 : -ENOMEM;
}

int hodo_probe_field_make(struct hodo_probe_field *f, const struct hodo_scope *s, bool result,
			  const struct hodo_spec_value *v, struct hodo_why *why)
{
	struct hodo_part o = { .scope = s, .why = why };
	int err;

	*f = (struct hodo_probe_field){ .name = strdup(v->name) };
	err = hodo_part_find(&o, result, &v->expr, v->text);
	if (err)
		return err;
	if (v->bytes)
		err = make_bytes(f, &o, v, result);
	else if (v->type == HODO_TYPE_STR || (v->type == HODO_TYPE_NONE && is_text(&o)))
		err = make_text(f, &o, v->text);
	else
		err = make_scalar(f, &o, v);
	return err ? err : finish(f, &o);
}

struct parts {
	struct hodo_text text;
	unsigned n;
};

static int put_member(void *arg, const struct hodo_ctype_member *m)
{
	struct parts *p = arg;

	if (!m->name || m->base)
		return 0;
	hodo_text_add(&p->text, p->n == 0 ? "has members: " : ", ");
	hodo_text_add(&p->text, p->n == PARTS_SHOWN ? "..." : m->name);
	return p->n++ == PARTS_SHOWN;
}

int hodo_probe_field_missing(struct hodo_probe_field *f, const char *name, const struct hodo_ctype *type,
			     enum hodo_missing why)
{
	struct parts parts = { 0 };
	struct hodo_text t = { 0 };

	if (type)
		hodo_ctype_put(type, &t);
	if (type && why == HODO_PARTS)
		hodo_ctype_members(type, put_member, &parts);
	*f = (struct hodo_probe_field){ .name = strdup(name), .missing = (uint8_t)why };
	f->type_name = t.error ? NULL : strdup(hodo_text_string(&t));
	f->from = parts.text.error ? NULL : strdup(parts.n ? hodo_text_string(&parts.text) : hodo_missing_text(why));
	hodo_text_free(&t);
	hodo_text_free(&parts.text);
	return f->name && f->type_name && f->from ? 0 : -ENOMEM;
}

const char *hodo_probe_field_type(const struct hodo_probe_field *f)
{
	return hodo_fields_type_name(f->type);
}

void hodo_probe_field_free(struct hodo_probe_field *f)
{
	free(f->name);
	free(f->type_name);
	free(f->from);
	*f = (struct hodo_probe_field){ 0 };
}
