/* SPDX-License-Identifier: MIT */
/* perfetto_notes.c - an event's data as annotations: fields, a mark's text, the context. */
#define _GNU_SOURCE
#include "perfetto_impl.h"

#include <errno.h>
#include <string.h>

#define ELEMENTS_MAX 256u  /* of arrays and bytes: viewers show no more; csv and jsonl have all */
#define ELEMENTS_ROOM (ELEMENTS_MAX * (HODO_FORMAT_FLOAT_MAX + 2) + 64)

Perfetto__DebugAnnotation *perfetto_note(struct perfetto *p, const char *name)
{
	uint64_t iid = perfetto_name(p, PERFETTO_NOTE, name);
	Perfetto__DebugAnnotation *a = &p->notes[p->event.n_debug_annotations];

	*a = (Perfetto__DebugAnnotation)PERFETTO__DEBUG_ANNOTATION__INIT;
	a->name_iid = iid;
	p->note_list[p->event.n_debug_annotations++] = a;
	return a;
}

void perfetto_note_bool(struct perfetto *p, const char *name)
{
	Perfetto__DebugAnnotation *a = perfetto_note(p, name);

	PERFETTO_SET(*a, bool_value, 1);
}

void perfetto_note_number(struct perfetto *p, const char *name, uint64_t value)
{
	Perfetto__DebugAnnotation *a = perfetto_note(p, name);

	PERFETTO_SET(*a, uint_value, value);
}

/* As print shows it, or its first elements. */
static char *elements_text(struct perfetto *p, const struct hodo_read_value *v)
{
	static const struct hodo_read_field plain = { .name = "" };
	struct hodo_read_value few = *v;
	char *start = hodo_arena_alloc(&p->texts, ELEMENTS_ROOM), *o;

	if (!start) {
		hodo_text_fail(p->e->out, -ENOMEM);
		return NULL;
	}
	if (few.count > ELEMENTS_MAX)
		few.count = ELEMENTS_MAX;
	o = hodo_read_put_value(start, &plain, &few, p->e->text->c);
	if (few.count < v->count)
		o = hodo_format_u64(stpcpy(o, " of "), v->count);
	*o = 0;
	return start;
}

static void set_value(struct perfetto *p, Perfetto__DebugAnnotation *a, const struct hodo_read_field *f,
		      const struct hodo_read_value *v)
{
	const char *label = f->labels && v->type < HODO_TYPE_STR ? hodo_read_label(f->labels, v->i) : NULL;

	if (label) {
		a->string_value = perfetto_text(p, label, strnlen(label, HODO_NAME_MAX));
		return;
	}
	switch (v->type) {
	case HODO_TYPE_BOOL:
		PERFETTO_SET(*a, bool_value, v->u != 0);
		break;
	case HODO_TYPE_U8:
	case HODO_TYPE_U16:
	case HODO_TYPE_U32:
	case HODO_TYPE_U64:
		PERFETTO_SET(*a, uint_value, v->u);
		break;
	case HODO_TYPE_PTR:
		PERFETTO_SET(*a, pointer_value, v->u);
		break;
	case HODO_TYPE_F32:
	case HODO_TYPE_F64:
		PERFETTO_SET(*a, double_value, v->f);
		break;
	case HODO_TYPE_STR:
		a->string_value = v->null ? (char *)(uintptr_t)HODO_NULL_TEXT : perfetto_text(p, v->data, v->count);
		break;
	default:
		if (v->type == HODO_TYPE_BYTES || v->type & HODO_TYPE_ARRAY)
			a->string_value = elements_text(p, v);
		else
			PERFETTO_SET(*a, int_value, v->i);
	}
}

void perfetto_notes(struct perfetto *p, const struct hodo_read_event *event)
{
	const struct hodo_read_class *cls = event->cls;
	const char *text;
	size_t len;

	if (cls->kind == HODO_KIND_MARK) {
		text = hodo_export_text(p->e, event, &len, hodo_read_text_mark);
		perfetto_note(p, "text")->string_value = perfetto_text(p, text, len);
	}
	for (uint32_t i = 0; i < cls->nfields && i < HODO_FIELDS_MAX; i++) {
		Perfetto__DebugAnnotation *a = perfetto_note(p, cls->fields[i].name);

		/* The symbols own a function's name: it stays valid. */
		if (cls->kind == HODO_KIND_FUNCTION && cls->fields[i].type == HODO_TYPE_PTR)
			a->string_value = (char *)(uintptr_t)hodo_symbols_name_at(p->e->symbols, event,
										  event->values[i].u);
		else
			set_value(p, a, &cls->fields[i], &event->values[i]);
	}
	if (cls->ncontext > 0) {
		text = hodo_export_text(p->e, event, &len, hodo_read_add_context);
		if (len > 3) /* " {…}" */
			perfetto_note(p, "context")->string_value = perfetto_text(p, text + 2, len - 3);
	}
}
