/* SPDX-License-Identifier: MIT */
/* compile.c - makes the program of a probe: its values, their names, and the defaults if none are given. */
#include "kernel_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/kprobe.h>

struct program {
	struct hodo_kprobe *k;
	char *at, *end; /* of the names */
	char field[HODO_FIELDS_MAX][HODO_NAME_MAX + 1];
	struct hodo_kprobe_value value[HODO_FIELDS_MAX];
	uint32_t n;
};

/* The last member or variable, and elements after it. */
static void name_field(const struct hodo_spec_value *text, char name[HODO_NAME_MAX + 1])
{
	const struct hodo_spec_expr *e = &text->expr;
	size_t len = (size_t)snprintf(name, HODO_NAME_MAX + 1, "%.200s", text->name);
	unsigned from = 0;

	if (text->named)
		return;
	for (unsigned i = 0; i < e->n; i++)
		from = e->step[i].kind == HODO_SPEC_MEMBER ? i + 1 : from;
	for (; from < e->n && len < HODO_NAME_MAX - 16; from++)
		if (e->step[from].kind == HODO_SPEC_ELEMENT)
			len += (size_t)snprintf(name + len, HODO_NAME_MAX + 1 - len, "_%u", e->step[from].element);
}

/* The later of two equal names gets its number appended. */
static void make_unique(struct program *p)
{
	char *name = p->field[p->n];
	size_t len = strlen(name);
	uint32_t number = p->n + 1;

	for (uint32_t i = 0; i < p->n; i++) {
		if (strcmp(p->field[i], name) != 0)
			continue;
		snprintf(name + len, HODO_NAME_MAX + 1 - len, "%u", number++);
		i = UINT32_MAX; /* again, from the first */
	}
}

static int add_value(struct program *p, const struct hodo_kprobe_walk *like, const struct hodo_spec_value *text)
{
	struct hodo_kprobe_walk w = *like;
	int err;

	w.v = &p->value[p->n];
	memset(w.v, 0, sizeof(*w.v));
	err = hodo_kprobe_walk(&w, text);
	if (err)
		return err;
	name_field(text, p->field[p->n]);
	make_unique(p);
	p->n++;
	return 0;
}

/* The default values: those arguments that fit; at a return, the result and the duration. */
static int add_usual(struct program *p, const struct hodo_kprobe_walk *like)
{
	struct hodo_spec_value text = { .name = "retval", .expr = { .base = HODO_SPEC_RETVAL, .name = "$retval" } };
	const struct btf_type *t = like->prototype;

	if (like->probe->place == HODO_SPEC_RETURN) {
		if (!t || t->type)
			add_value(p, like, &text); /* not a struct */
		text.expr.base = HODO_SPEC_DURATION;
		text.name = "duration";
		return add_value(p, like, &text);
	}
	text.expr.base = HODO_SPEC_NAME;
	for (uint32_t i = 0; t && i < btf_vlen(t) && !like->probe->number && p->n < HODO_FIELDS_MAX; i++) {
		uint32_t id = btf_params(t)[i].type;
		const struct btf_type *type = id ? hodo_kprobe_type(like->btf, &id) : NULL;

		text.name = text.expr.name = btf__name_by_offset(like->btf, btf_params(t)[i].name_off);
		/* A buffer that the function may be about to fill is not a text yet. */
		text.type = type && btf_is_ptr(type) && !hodo_kprobe_is_const(like->btf, type->type) ? HODO_TYPE_PTR :
			    HODO_TYPE_NONE;
		if (text.name && *text.name)
			(void)add_value(p, like, &text); /* values that cannot be recorded are left out */
	}
	return 0;
}

static bool put_name(char **at, const char *end, const char *name)
{
	size_t len = strlen(name) + 1;

	if (len > (size_t)(end - *at))
		return false;
	memcpy(*at, name, len);
	*at += len;
	return true;
}

static int make(const struct hodo_kprobe_text *t, const struct program *p, struct hodo_kprobe *k,
		struct hodo_why *why)
{
	char *at = (char *)&k->value[p->n], *end = (char *)k + HODO_KPROBE_SIZE_MAX;
	const char *texts[HODO_FIELDS_MAX + 2];
	bool fits;

	memset(k, 0, sizeof(*k));
	k->flags = t->spec.place == HODO_SPEC_RETURN ? HODO_KPROBE_RETURN : 0;
	k->offset = t->spec.number;
	k->values = p->n;
	memcpy(k->value, p->value, p->n * sizeof(*p->value));
	fits = put_name(&at, end, t->spec.name) && put_name(&at, end, strchr(t->event, ':') + 1);
	for (uint32_t i = 0; i < p->n; i++)
		fits = fits && put_name(&at, end, p->field[i]);
	k->size = (uint32_t)(at - (char *)k);
	if (hodo_kprobe_bytes(k) > HODO_KPROBE_BYTES_MAX)
		return hodo_why(why, -E2BIG, "%s: its strings may have %u bytes together, and the limit is %u: "
				"record fewer", t->event, hodo_kprobe_bytes(k), HODO_KPROBE_BYTES_MAX);
	if (!fits || !hodo_kprobe_check(k, k->size, texts))
		return hodo_why(why, -EINVAL, "%s cannot be a probe: its names are too long", t->event);
	return 0;
}

int hodo_kprobe_compile(const struct hodo_kprobe_text *t, const struct btf *btf, struct hodo_kprobe *k,
			struct hodo_why *why)
{
	struct hodo_kprobe_walk like = { .probe = &t->spec, .event = t->event, .btf = btf, .why = why,
					 .prototype = hodo_kprobe_prototype(btf, t->spec.name) };
	struct program *p = calloc(1, sizeof(*p));
	int err = p ? 0 : hodo_why(why, -ENOMEM, "out of memory");

	if (!err && !t->spec.listed)
		err = add_usual(p, &like);
	for (uint32_t i = 0; i < t->spec.nvalues && !err; i++)
		err = add_value(p, &like, &t->spec.values[i]);
	if (!err)
		err = make(t, p, k, why);
	free(p);
	return err;
}
