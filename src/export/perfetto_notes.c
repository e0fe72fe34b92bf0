/* SPDX-License-Identifier: MIT */
/* perfetto_notes.c - what an event says, as annotations: fields, a mark's text, the context. */
#include "perfetto_impl.h"

#include <errno.h>
#include <string.h>

#define ELEMENTS_MAX 256u  /* of arrays and bytes: a viewer shows no more; csv and jsonl have all */
#define NUMBER_ROOM  (HODO_FORMAT_FLOAT_MAX + 2)

static Perfetto__DebugAnnotation *note(struct perfetto *p, uint64_t name)
{
	Perfetto__DebugAnnotation *a = &p->notes[p->n];

	*a = (Perfetto__DebugAnnotation)PERFETTO__DEBUG_ANNOTATION__INIT;
	a->has_name_iid = 1;
	a->name_iid = name;
	p->note_list[p->n++] = a;
	return a;
}

void perfetto_note_bool(struct perfetto *p, enum perfetto_note name)
{
	Perfetto__DebugAnnotation *a = note(p, p->notes_name + name);

	a->has_bool_value = 1;
	a->bool_value = 1;
}

void perfetto_note_number(struct perfetto *p, enum perfetto_note name, uint64_t value)
{
	Perfetto__DebugAnnotation *a = note(p, p->notes_name + name);

	a->has_uint_value = 1;
	a->uint_value = value;
}

void perfetto_note_text(struct perfetto *p, enum perfetto_note name, const char *text)
{
	note(p, p->notes_name + name)->string_value = (char *)(uintptr_t)text; /* is read alone */
}

/* ------------------------------------------------------------------------- values */

static size_t room_for(const struct hodo_read_field *f, const struct hodo_read_value *v)
{
	if (v->type & HODO_TYPE_ARRAY)
		return ELEMENTS_MAX * NUMBER_ROOM + 64;
	if (v->type >= HODO_TYPE_STR)
		return PERFETTO_TEXT_ROOM(v->count) + 64;
	/* Labels are looked up again: they are few and short, and most fields have none. */
	return f->labels ? 2 * (HODO_NAME_MAX + 1) : 0;
}

/* Names in place of the addresses of functions. */
static const char *name_at(struct perfetto *p, const struct hodo_read_event *event, uint64_t address)
{
	struct hodo_place place;

	hodo_symbols_find(p->e->symbols, event->process, event->ts_ns, address, &place);
	return place.name;
}

static char *array_text(struct perfetto *p, const struct hodo_read_value *v)
{
	static const struct hodo_read_field plain = { .name = "" };
	struct hodo_read_value few = *v;
	char *start = p->scratch.data + p->scratch.len, *o;

	if (few.count > ELEMENTS_MAX)
		few.count = ELEMENTS_MAX;
	o = hodo_read_put_value(start, &plain, &few, p->e->c);
	if (few.count < v->count)
		o = hodo_format_u64(stpcpy(o, " of "), v->count);
	*o++ = 0;
	p->scratch.len += (size_t)(o - start);
	return start;
}

static char *label_of(struct perfetto *p, const struct hodo_read_field *f, const struct hodo_read_value *v)
{
	const char *label = f->labels ? hodo_read_label(f->labels, v->i) : NULL;
	size_t len = label ? strlen(label) : 0;

	return label ? perfetto_text(p, label, len < HODO_NAME_MAX ? len : HODO_NAME_MAX) : NULL;
}

static void set_value(struct perfetto *p, Perfetto__DebugAnnotation *a, const struct hodo_read_field *f,
		      const struct hodo_read_value *v)
{
	a->string_value = v->type < HODO_TYPE_STR ? label_of(p, f, v) : NULL;
	if (a->string_value)
		return;
	switch (v->type) {
	case HODO_TYPE_BOOL:
		a->has_bool_value = 1;
		a->bool_value = v->u != 0;
		break;
	case HODO_TYPE_U8:
	case HODO_TYPE_U16:
	case HODO_TYPE_U32:
	case HODO_TYPE_U64:
		a->has_uint_value = 1;
		a->uint_value = v->u;
		break;
	case HODO_TYPE_PTR:
		a->has_pointer_value = 1;
		a->pointer_value = v->u;
		break;
	case HODO_TYPE_F32:
	case HODO_TYPE_F64:
		a->has_double_value = 1;
		a->double_value = v->f;
		break;
	case HODO_TYPE_STR:
		a->string_value = perfetto_text(p, v->null ? HODO_NULL_TEXT : v->data,
						v->null ? HODO_NULL_TEXT_LEN - 1 : v->count);
		break;
	default:
		if (v->type == HODO_TYPE_BYTES || v->type & HODO_TYPE_ARRAY) {
			a->string_value = array_text(p, v);
			break;
		}
		a->has_int_value = 1;
		a->int_value = v->i;
	}
}

/* The text of what is no field: of a mark, of the context. Stays until the next event. */
static int make_text(struct perfetto *p, const struct hodo_read_event *event, size_t *mark_len)
{
	size_t len;

	hodo_read_text_clear(p->e->text);
	if (hodo_read_text_mark(p->e->text, event) < 0)
		return -ENOMEM;
	hodo_read_text_data(p->e->text, mark_len);
	if (event->cls->ncontext > 0 && hodo_read_add_context(p->e->text, event) < 0)
		return -ENOMEM;
	hodo_read_text_data(p->e->text, &len);
	return 0;
}

int perfetto_notes(struct perfetto *p, const struct perfetto_class *k, const struct hodo_read_event *event)
{
	const struct hodo_read_class *cls = event->cls;
	size_t room = 0, mark_len = 0, len = 0;
	bool functions = cls->kind == HODO_KIND_FUNCTION;
	const char *text = NULL;
	int err = 0;

	if (cls->kind == HODO_KIND_MARK || cls->ncontext > 0) {
		err = make_text(p, event, &mark_len);
		text = hodo_read_text_data(p->e->text, &len);
		room = PERFETTO_TEXT_ROOM(len) + 2;
	}
	for (uint32_t i = 0; i < cls->nfields; i++)
		room += room_for(&cls->fields[i], &event->values[i]);
	if (!err && room > 0)
		err = perfetto_scratch(p, room);
	if (err)
		return err;
	if (cls->kind == HODO_KIND_MARK)
		perfetto_note_text(p, NOTE_TEXT, perfetto_text(p, text, mark_len));
	for (uint32_t i = 0; i < cls->nfields && i < HODO_FIELDS_MAX; i++) {
		Perfetto__DebugAnnotation *a = note(p, k->field + i);

		/* A function's name is the symbols' own: it stays. */
		if (functions && cls->fields[i].type == HODO_TYPE_PTR)
			a->string_value = (char *)(uintptr_t)name_at(p, event, event->values[i].u);
		else
			set_value(p, a, &cls->fields[i], &event->values[i]);
	}
	if (len > mark_len + 3) /* " {…}" */
		perfetto_note_text(p, NOTE_CONTEXT, perfetto_text(p, text + mark_len + 2, len - mark_len - 3));
	return 0;
}
