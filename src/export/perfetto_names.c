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

static int put_name(struct perfetto *p, const char *name, size_t len, uint64_t iid)
{
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__EventName entry = PERFETTO__EVENT_NAME__INIT, *list = &entry;
	int err = perfetto_scratch(p, PERFETTO_TEXT_ROOM(len));

	if (err)
		return err;
	entry.has_iid = 1;
	entry.iid = iid;
	entry.name = perfetto_text(p, name, len);
	data.n_event_names = 1;
	data.event_names = &list;
	return put(p, &data);
}

static int put_category(struct perfetto *p, const char *name, size_t len, uint64_t iid)
{
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__EventCategory entry = PERFETTO__EVENT_CATEGORY__INIT, *list = &entry;
	int err = perfetto_scratch(p, PERFETTO_TEXT_ROOM(len));

	if (err)
		return err;
	entry.has_iid = 1;
	entry.iid = iid;
	entry.name = perfetto_text(p, name, len);
	data.n_event_categories = 1;
	data.event_categories = &list;
	return put(p, &data);
}

static int put_field(struct perfetto *p, const char *name, uint64_t iid)
{
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__DebugAnnotationName entry = PERFETTO__DEBUG_ANNOTATION_NAME__INIT, *list = &entry;
	size_t len = strlen(name);
	int err = perfetto_scratch(p, PERFETTO_TEXT_ROOM(len));

	if (err)
		return err;
	entry.has_iid = 1;
	entry.iid = iid;
	entry.name = perfetto_text(p, name, len);
	data.n_debug_annotation_names = 1;
	data.debug_annotation_names = &list;
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
	void **at = hodo_pointer_map_at(&p->names, name);

	if (!at)
		return 0;
	if (!*at) {
		*at = (void *)(uintptr_t)++p->nnames;
		if (put_name(p, name, strlen(name), p->nnames) < 0)
			return 0;
	}
	return (uint64_t)(uintptr_t)*at;
}

const struct perfetto_class *perfetto_class(struct perfetto *p, const struct hodo_read_class *cls)
{
	void **at = hodo_pointer_map_at(&p->classes, cls);
	struct perfetto_class *k;
	int err;

	if (!at || *at)
		return at ? *at : NULL;
	*at = k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	k->name = ++p->nnames;
	k->category = ++p->ncategories;
	k->field = p->nfields + 1;
	err = put_name(p, cls->name, strlen(cls->name), k->name);
	if (!err)
		err = put_category(p, cls->name, strcspn(cls->name, ":"), k->category);
	for (uint32_t i = 0; i < cls->nfields && !err; i++)
		err = put_field(p, cls->fields[i].name, ++p->nfields);
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
	err = put_category(p, "func", 4, p->calls);
	if (!err)
		err = put_category(p, "sched", 5, p->sched);
	if (!err)
		err = put_category(p, "lost", 4, p->lost);
	for (unsigned i = 0; i < NOTES && !err; i++)
		err = put_field(p, notes[i], ++p->nfields);
	return err;
}
