/* SPDX-License-Identifier: MIT */
/*
 * walk.c - the program of one value: a walk from a register through the kernel's types, whose pointers become steps and
 * whose members become offsets.
 */
#include "kernel_impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <core/fields.h>

/* As in struct pt_regs. */
#ifdef __x86_64__
static const char *const registers[] = { "r15", "r14", "r13", "r12", "bp", "bx", "r11", "r10", "r9", "r8", "ax", "cx",
					 "dx", "si", "di", "orig_ax", "ip", "cs", "flags", "sp", "ss", NULL };
#else
static const char *const registers[] = { NULL };
#endif

/* ------------------------------------------------------------------- roots */

static int fail_unknown(struct hodo_kprobe_walk *w, const char *name)
{
	char list[256] = "";
	size_t len = 0;

	if (!w->prototype)
		return hodo_why(w->why, -EINVAL, "%s: the kernel does not say what arguments %s has (BTF): use $arg1 "
				"to $arg6 in place of '%s'", w->event, w->probe->name, name);
	for (uint32_t i = 0; i < btf_vlen(w->prototype) && len < sizeof(list); i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
					btf__name_by_offset(w->btf, btf_params(w->prototype)[i].name_off));
	return hodo_why(w->why, -EINVAL, "%s: %s has no argument '%s': it has (%s)", w->event, w->probe->name, name,
			list);
}

/* An argument, by its index. */
static int begin_argument(struct hodo_kprobe_walk *w, uint32_t n)
{
	const struct btf_type *t = w->prototype;

	if (w->probe->number)
		return hodo_why(w->why, -EINVAL, "%s: arguments are known only where the function begins: use "
				"registers here, such as %%di for '%s'", w->event, w->what);
	if (!t || n >= btf_vlen(t)) {
		if (n >= HODO_KPROBE_ARGUMENTS)
			return hodo_why(w->why, -EINVAL, "%s: '%s': only $arg1 to $arg6 are in registers: use "
					"$stack1 and up for later arguments", w->event, w->what);
		w->v->from = HODO_KPROBE_ARGUMENT;
		w->v->number = (uint8_t)n;
		return 0;
	}
	w->type = btf_params(t)[n].type;
	if (!hodo_kprobe_place(w->btf, t, n, w->v))
		return hodo_why(w->why, -EINVAL, "%s: '%s' is not passed in one word: it cannot be recorded",
				w->event, w->what);
	if (w->v->from == HODO_KPROBE_STACK && w->probe->place == HODO_SPEC_RETURN)
		return hodo_why(w->why, -EINVAL, "%s: '%s' is on the stack, which is gone where the function "
				"returns: record it at the entry", w->event, w->what);
	return 0;
}

static int begin_returned(struct hodo_kprobe_walk *w)
{
	w->v->from = HODO_KPROBE_RETURNED;
	w->type = w->prototype ? w->prototype->type : 0;
	if (w->prototype && !w->type)
		return hodo_why(w->why, -EINVAL, "%s: %s returns nothing: leave out $retval", w->event,
				w->probe->name);
	return 0;
}

static int begin_register(struct hodo_kprobe_walk *w, const char *name)
{
	const char *plain = name + 1;

	if (*plain == 'r' && plain[1] >= 'a') /* rdi is di */
		plain++;
	for (uint8_t i = 0; registers[i]; i++) {
		if (strcmp(registers[i], plain) == 0) {
			w->v->from = HODO_KPROBE_REGISTER;
			w->v->number = i;
			return 0;
		}
	}
	return hodo_why(w->why, -EINVAL, "%s: there is no register %s: they are %%ax, %%bx, %%cx, %%dx, %%si, %%di, "
			"%%bp, %%sp, %%r8 to %%r15, %%ip and %%flags", w->event, name);
}

static int begin(struct hodo_kprobe_walk *w, const struct hodo_spec_expr *e)
{
	const struct btf_type *t = w->prototype;

	w->what = e->name;
	if ((e->base == HODO_SPEC_RETVAL || e->base == HODO_SPEC_DURATION) && w->probe->place != HODO_SPEC_RETURN)
		return hodo_why(w->why, -EINVAL, "%s: %s is known only where the function returns: use "
				"kprobe:%s%%return", w->event, e->name, w->probe->name);
	switch (e->base) {
	case HODO_SPEC_RETVAL:
		return begin_returned(w);
	case HODO_SPEC_ARG:
		return begin_argument(w, (uint32_t)e->number - 1);
	case HODO_SPEC_REGISTER:
		return begin_register(w, e->name);
	case HODO_SPEC_DURATION:
		w->v->from = HODO_KPROBE_DURATION;
		return 0;
	case HODO_SPEC_STACK:
		w->v->from = HODO_KPROBE_STACK;
		w->v->number = (uint8_t)e->number;
		return 0;
	}
	for (uint32_t i = 0; t && i < btf_vlen(t); i++)
		if (strcmp(btf__name_by_offset(w->btf, btf_params(t)[i].name_off), e->name) == 0)
			return begin_argument(w, i);
	return fail_unknown(w, e->name);
}

/* ------------------------------------------------------------------- steps */

/* Follows the pointer at the place. */
static int follow(struct hodo_kprobe_walk *w)
{
	struct hodo_kprobe_value *v = w->v;

	if (!w->in_memory) {
		w->in_memory = true;
		w->offset = 0;
		return 0;
	}
	if (v->steps == HODO_KPROBE_STEPS_MAX)
		return hodo_why(w->why, -EINVAL, "%s: '%s': more than %u pointers to follow", w->event, w->what,
				HODO_KPROBE_STEPS_MAX);
	v->offset[v->steps++] = (int32_t)w->offset;
	w->offset = 0;
	return 0;
}

static int move(struct hodo_kprobe_walk *w, int64_t bytes)
{
	w->offset += bytes;
	if (w->offset > INT32_MAX || w->offset < INT32_MIN)
		return hodo_why(w->why, -EINVAL, "%s: '%s' lies too far away", w->event, w->what);
	return 0;
}

static int fail_member(struct hodo_kprobe_walk *w, const struct btf_type *t, const char *name)
{
	struct hodo_near near = { .wanted = name };
	char type[100];

	if (!w->type)
		return hodo_why(w->why, -EINVAL, "%s: the kernel does not say what type '%s' is: '%s' cannot be "
				"found in it", w->event, w->what, name);
	hodo_kprobe_type_name(w->btf, w->type, type, sizeof(type));
	if (t && btf_is_fwd(t))
		return hodo_why(w->why, -EINVAL, "%s: the kernel does not say what is in %s: '%s' cannot be found",
				w->event, type, name);
	if (!t || !btf_is_composite(t))
		return hodo_why(w->why, -EINVAL, "%s: '%s' is %s, not a struct: it has no '%s'", w->event, w->what,
				type, name);
	hodo_kprobe_near_members(w->btf, t, &near);
	return hodo_why(w->why, -EINVAL, "%s: %s has no member '%s'%s", w->event, type, name, hodo_near_text(&near));
}

/* Steps through a pointer, if it is one; t: the type then. */
static int through(struct hodo_kprobe_walk *w, const struct btf_type **t)
{
	int err;

	*t = w->type ? hodo_kprobe_type(w->btf, &w->type) : NULL;
	if (!*t || !btf_is_ptr(*t))
		return 0;
	err = follow(w);
	w->type = (*t)->type;
	*t = w->type ? hodo_kprobe_type(w->btf, &w->type) : NULL;
	return err;
}

static int member(struct hodo_kprobe_walk *w, const char *name)
{
	struct hodo_kprobe_member m;
	const struct btf_type *t;
	int err = through(w, &t);

	if (err)
		return err;
	if (!t || !btf_is_composite(t) || !hodo_kprobe_find_member(w->btf, t, name, &m))
		return fail_member(w, t, name);
	if (!w->in_memory)
		return hodo_why(w->why, -EINVAL, "%s: '%s' is passed by value: its members cannot be recorded",
				w->event, w->what);
	w->what = name;
	w->type = m.type;
	w->bits = m.bits;
	w->shift = m.offset_bits % 8;
	return move(w, m.offset_bits / 8);
}

static int element(struct hodo_kprobe_walk *w, uint32_t n)
{
	const struct btf_type *t = w->type ? hodo_kprobe_type(w->btf, &w->type) : NULL;
	uint32_t inner;
	int64_t bytes;
	int err;

	if (!t || !(btf_is_ptr(t) || (btf_is_array(t) && w->in_memory)))
		return hodo_why(w->why, -EINVAL, "%s: '%s' is neither an array nor a pointer of a known type",
				w->event, w->what);
	inner = btf_is_ptr(t) ? t->type : btf_array(t)->type;
	bytes = inner ? btf__resolve_size(w->btf, inner) : -1;
	if (bytes <= 0)
		return hodo_why(w->why, -EINVAL, "%s: the size of the elements of '%s' is not known", w->event,
				w->what);
	if (btf_is_array(t) && btf_array(t)->nelems && n >= btf_array(t)->nelems)
		return hodo_why(w->why, -EINVAL, "%s: '%s' has %u elements, the last is [%u]", w->event, w->what,
				btf_array(t)->nelems, btf_array(t)->nelems - 1);
	err = btf_is_ptr(t) ? follow(w) : 0;
	w->type = inner;
	return err ? err : move(w, bytes * n);
}

/* --------------------------------------------------------------------- ends */

static int end_text(struct hodo_kprobe_walk *w, uint32_t max)
{
	w->v->type = HODO_TYPE_STR;
	w->v->text_max = max && max < HODO_KPROBE_TEXT_MAX ? max : HODO_KPROBE_TEXT_MAX;
	w->v->offset[w->v->steps] = (int32_t)w->offset;
	return 0;
}

/* At a pointer to a text. */
static int end_pointed_text(struct hodo_kprobe_walk *w)
{
	int err = follow(w);

	return err ? err : end_text(w, 0);
}

static int end_number(struct hodo_kprobe_walk *w, uint8_t type)
{
	struct hodo_kprobe_value *v = w->v;
	unsigned int bytes = hodo_fields_fixed_size(type);

	v->type = type;
	if (!w->in_memory)
		return 0;
	if (w->bits) {
		/* The fewest bytes that contain them, starting with their first byte. */
		for (bytes = 1; 8 * bytes < w->shift + w->bits && bytes < 8;)
			bytes *= 2;
		if (8 * bytes < w->shift + w->bits)
			return hodo_why(w->why, -EINVAL, "%s: '%s' lies across two words: it cannot be recorded",
					w->event, w->what);
		v->bits = (uint8_t)w->bits;
		v->shift = (uint8_t)w->shift;
	}
	v->load = (uint8_t)bytes;
	v->offset[v->steps] = (int32_t)w->offset;
	return 0;
}

static int end_as(struct hodo_kprobe_walk *w, uint8_t type)
{
	const struct btf_type *t = w->type ? hodo_kprobe_type(w->btf, &w->type) : NULL;

	if (type != HODO_TYPE_STR)
		return end_number(w, type);
	return t && btf_is_array(t) && w->in_memory ? end_text(w, btf_array(t)->nelems) : end_pointed_text(w);
}

/* By the kernel's types; without them, a whole register. */
static int end(struct hodo_kprobe_walk *w)
{
	const struct btf_type *t = w->type ? hodo_kprobe_type(w->btf, &w->type) : NULL;
	uint8_t type = w->type ? hodo_kprobe_scalar(w->btf, w->type) : 0;
	char name[100];

	if (!w->type && !w->in_memory)
		return end_number(w, w->v->from == HODO_KPROBE_RETURNED ? HODO_TYPE_I64 : HODO_TYPE_U64);
	if (t && btf_is_ptr(t) && t->type && hodo_kprobe_is_char(w->btf, t->type))
		return end_pointed_text(w);
	if (t && btf_is_array(t) && w->in_memory && hodo_kprobe_is_char(w->btf, btf_array(t)->type))
		return end_text(w, btf_array(t)->nelems);
	if (type)
		return end_number(w, type);
	if (!w->type)
		return hodo_why(w->why, -EINVAL, "%s: the kernel does not say what '%s' points to: name a type, such "
				"as :u64", w->event, w->what);
	hodo_kprobe_type_name(w->btf, w->type, name, sizeof(name));
	return hodo_why(w->why, -EINVAL, "%s: '%s' is %s: name %s of it", w->event, w->what, name,
			t && btf_is_array(t) ? "an element, such as [0]," : "a member");
}

int hodo_kprobe_walk(struct hodo_kprobe_walk *w, const struct hodo_spec_value *text)
{
	int err = begin(w, &text->expr);

	for (uint32_t i = 0; i < text->expr.n && !err; i++) {
		const struct hodo_spec_step *s = &text->expr.step[i];

		if (w->bits)
			return hodo_why(w->why, -EINVAL, "%s: '%s' is a bit field: it has no members", w->event,
					w->what);
		err = s->kind == HODO_SPEC_MEMBER ? member(w, s->member) : element(w, s->element);
	}
	if (err)
		return err;
	return text->type ? end_as(w, text->type) : end(w);
}
