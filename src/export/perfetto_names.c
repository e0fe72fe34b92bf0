/* SPDX-License-Identifier: MIT */
/* perfetto_names.c - names are written once, each before it is used first, and then stand as numbers. */
#include "perfetto_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int put(struct perfetto *p, Perfetto__InternedData *data)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	packet.interned_data = data;
	return perfetto_put(p, &packet);
}

/* Names of all three sorts have the same members. */
enum name_sort { EVENT, CATEGORY, FIELD };

static int put_name(struct perfetto *p, enum name_sort sort, const char *name, size_t len, uint64_t iid)
{
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__EventName event = PERFETTO__EVENT_NAME__INIT, *events = &event;
	Perfetto__EventCategory category = PERFETTO__EVENT_CATEGORY__INIT, *categories = &category;
	Perfetto__DebugAnnotationName field = PERFETTO__DEBUG_ANNOTATION_NAME__INIT, *fields = &field;

	event.name = perfetto_text_alone(p, name, len);
	if (!event.name)
		return -ENOMEM;
	category.name = field.name = event.name;
	event.has_iid = category.has_iid = field.has_iid = 1;
	event.iid = category.iid = field.iid = iid;
	data.n_event_names = sort == EVENT;
	data.event_names = &events;
	data.n_event_categories = sort == CATEGORY;
	data.event_categories = &categories;
	data.n_debug_annotation_names = sort == FIELD;
	data.debug_annotation_names = &fields;
	return put(p, &data);
}

static int put_location(struct perfetto *p, const struct hodo_read_class *cls, uint64_t iid)
{
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__SourceLocation entry = PERFETTO__SOURCE_LOCATION__INIT, *list = &entry;
	size_t file_len = strlen(cls->file), func_len = strlen(cls->func);
	int err = perfetto_scratch(p, PERFETTO_TEXT_ROOM(file_len) + PERFETTO_TEXT_ROOM(func_len));

	if (err)
		return err;
	entry.has_iid = 1;
	entry.iid = iid;
	entry.file_name = perfetto_text(p, cls->file, file_len);
	if (func_len)
		entry.function_name = perfetto_text(p, cls->func, func_len);
	entry.has_line_number = 1;
	entry.line_number = cls->line;
	data.n_source_locations = 1;
	data.source_locations = &list;
	return put(p, &data);
}

uint64_t perfetto_name(struct perfetto *p, const char *name)
{
	struct perfetto_number *n = hodo_map_add_u64(&p->names, (uintptr_t)name, NULL);

	if (!n)
		return 0;
	if (!n->number) {
		n->number = ++p->nnames;
		if (put_name(p, EVENT, name, strlen(name), p->nnames) < 0)
			return 0;
	}
	return n->number;
}

const struct perfetto_class *perfetto_class(struct perfetto *p, const struct hodo_read_class *cls)
{
	struct perfetto_class *k = p->last;
	int err;

	if (k && k->address == (uintptr_t)cls)
		return k;
	k = hodo_map_add_u64(&p->classes, (uintptr_t)cls, NULL);
	p->last = k && k->name ? k : NULL;
	if (!k || k->name)
		return k;
	k->name = ++p->nnames;
	k->category = ++p->ncategories;
	k->field = p->nfields + 1;
	err = put_name(p, EVENT, cls->name, strlen(cls->name), k->name);
	if (!err)
		err = put_name(p, CATEGORY, cls->name, strcspn(cls->name, ":"), k->category);
	for (uint32_t i = 0; i < cls->nfields && !err; i++)
		err = put_name(p, FIELD, cls->fields[i].name, strlen(cls->fields[i].name), ++p->nfields);
	if (!err && cls->file[0] && cls->kind != HODO_KIND_FUNCTION) {
		k->location = ++p->nlocations;
		err = put_location(p, cls, k->location);
	}
	return err ? NULL : k;
}

int perfetto_names(struct perfetto *p)
{
	static const char *const notes[NOTES] = { "text", "context", "left", "unfinished", "continued", "pid", "tid",
						  "why it ended", "discarded", "overwritten", "damaged" };
	int err;

	p->notes_name = p->nfields + 1;
	p->calls = ++p->ncategories;
	p->sched = ++p->ncategories;
	p->lost = ++p->ncategories;
	err = put_name(p, CATEGORY, "func", 4, p->calls);
	if (!err)
		err = put_name(p, CATEGORY, "sched", 5, p->sched);
	if (!err)
		err = put_name(p, CATEGORY, "lost", 4, p->lost);
	for (unsigned i = 0; i < NOTES && !err; i++)
		err = put_name(p, FIELD, notes[i], strlen(notes[i]), ++p->nfields);
	return err;
}
