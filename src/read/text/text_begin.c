/* SPDX-License-Identifier: MIT */
/* text_begin.c - what an end shows of its begin: the duration, and the begin's fields. */
#include <read/event/off_cpu.h>
#include "text.h"

#include <base/quantity.h>
#include <string.h>

static bool has_field(const struct hodo_read_class *cls, const char *name)
{
	for (uint32_t i = 0; i < cls->nfields; i++)
		if (strcmp(cls->fields[i].name, name) == 0)
			return true;
	return false;
}

/* Clocks of several CPUs may differ a little. */
static uint64_t duration_ns(const struct hodo_read_event *e)
{
	return e->ts_ns > e->begin->ts_ns ? (uint64_t)(e->ts_ns - e->begin->ts_ns) : 0;
}

/* A call's begin has its function, as its end does. */
static uint32_t nfields(const struct hodo_read_begin *b)
{
	return b->cls->kind == HODO_KIND_FUNCTION ? 0 : b->cls->nfields;
}

void hodo_read_add_off_cpu(struct hodo_text *text, const struct hodo_read_off_cpu *off)
{
	char time[32];

	hodo_text_printf(text, " off_cpu=%s", hodo_duration_plain(off->ns, time));
	if (off->counted)
		hodo_text_printf(text, " waits=%llu preempted=%llu", (unsigned long long)off->waits,
				 (unsigned long long)off->preempted);
}

int hodo_read_add_begin(struct hodo_read_text *t, const struct hodo_read_event *e, bool timed)
{
	const struct hodo_class *c = (const struct hodo_class *)(const void *)e->begin->cls;
	char duration[32];

	if (timed)
		hodo_text_printf(&t->out, " duration=%s", hodo_duration_plain(duration_ns(e), duration));
	if (timed && e->off_cpu)
		hodo_read_add_off_cpu(&t->out, e->off_cpu);
	for (uint32_t i = 0; i < nfields(e->begin); i++) {
		/* Both have the id. */
		if (has_field(e->cls, c->fields[i].name))
			continue;
		hodo_text_bytes(&t->out, c->text.field[i].line.data, c->text.field[i].line.len);
		hodo_read_add_value(&t->out, &c->fields[i], &e->begin->values[i], t->c);
	}
	return t->out.error;
}

int hodo_read_add_begin_json(struct hodo_read_text *t, const struct hodo_read_event *e)
{
	const struct hodo_class *c = (const struct hodo_class *)(const void *)e->begin->cls;

	hodo_text_printf(&t->out, ",\"duration_ns\":%llu", (unsigned long long)duration_ns(e));
	if (e->off_cpu)
		hodo_text_printf(&t->out, ",\"off_cpu_ns\":%llu", (unsigned long long)e->off_cpu->ns);
	if (e->off_cpu && e->off_cpu->counted)
		hodo_text_printf(&t->out, ",\"waits\":%llu,\"preempted\":%llu", (unsigned long long)e->off_cpu->waits,
				 (unsigned long long)e->off_cpu->preempted);
	hodo_text_printf(&t->out, ",\"begin\":{\"ts\":%lld,\"fields\":{", (long long)e->begin->ts_ns);
	for (uint32_t i = 0; i < nfields(e->begin); i++) {
		hodo_text_bytes(&t->out, c->text.field[i].json.data, c->text.field[i].json.len);
		hodo_read_add_value_json(&t->out, &e->begin->values[i], t->c);
	}
	hodo_text_char(&t->out, '}');
	if (nfields(e->begin))
		hodo_read_add_labels_json(&t->out, c, e->begin->values);
	hodo_text_char(&t->out, '}');
	return t->out.error;
}
