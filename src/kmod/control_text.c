/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* control_text.c - what the control tree says: info, overflow, and each event's format. */
#include "control.h"
#include "recording.h"

#include <core/fields.h>

#include <linux/fs.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/string_helpers.h>

/* ------------------------------------------------------------------- info */

/*
 * The position is the id of the event that comes next, so that reading goes on where it was when events come and go.
 * 0: the head.
 */
static void *info_at(loff_t *pos)
{
	struct hodo_event *e;

	if (*pos == 0)
		return SEQ_START_TOKEN;
	list_for_each_entry(e, &hodo_events, list) {
		if (e->id >= *pos) {
			*pos = e->id;
			return e;
		}
	}
	return NULL;
}

static void *info_start(struct seq_file *m, loff_t *pos)
{
	int err = mutex_lock_interruptible(&hodo_lock);

	return err ? ERR_PTR(err) : info_at(pos);
}

static void *info_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct hodo_event *e = v;

	++*pos;
	if (v == SEQ_START_TOKEN)
		return info_at(pos);
	if (list_is_last(&e->list, &hodo_events))
		return NULL;
	e = list_next_entry(e, list);
	*pos = e->id;
	return e;
}

static void info_stop(struct seq_file *m, void *v)
{
	if (!IS_ERR(v))
		mutex_unlock(&hodo_lock);
}

static const char *state_of(const struct hodo_event *e)
{
	return e->recorded ? "on" : e->absent ? "absent" : e->enabled ? "enabled" : "off";
}

static void say_escaped(struct seq_file *m, const char *text)
{
	if (text && *text)
		seq_escape(m, text, "\t\n\r\\");
	else
		seq_puts(m, "-");
}

static int info_show(struct seq_file *m, void *v)
{
	const struct hodo_event *e = v;

	if (v == SEQ_START_TOKEN) {
		seq_puts(m, "# name\tid\tstate\tsource\tobject\tfilter\tfields\tformat\n");
		return 0;
	}
	seq_printf(m, "%s:%s\t%u\t%s\t%s\t", e->provider, e->name, e->id, state_of(e), e->source->name);
	say_escaped(m, e->object);
	seq_puts(m, "\t");
	say_escaped(m, e->filter);
	for (unsigned int i = 0; i < e->nfields; i++)
		seq_printf(m, "%c%s:%s", i ? ' ' : '\t', e->fields[i].name, hodo_fields_type_name(e->fields[i].type));
	seq_puts(m, e->nfields ? "\t" : "\t-\t");
	say_escaped(m, e->format);
	seq_puts(m, "\n");
	return 0;
}

static const struct seq_operations info_sops = {
	.start = info_start, .next = info_next, .stop = info_stop, .show = info_show,
};
DEFINE_SEQ_ATTRIBUTE(info);
const struct file_operations *const hodo_control_info_ops = &info_fops;

/* --------------------------------------------------------------- overflow */

/*
 * Events that are no more in the ring since later ones were written over them: those before its oldest packet. Beside
 * the writer: when the packet's number is the same before and after, what was read between is that packet's.
 */
static uint64_t overwritten(struct hodo_memory *m, uint32_t ring)
{
	uint64_t slots = m->layout.ring_size / m->layout.packet_size, before = 0;

	if (m->mode != HODO_MODE_OVERWRITE || !m->data[ring])
		return 0;
	for (int tries = 0; tries < 100; tries++) {
		uint64_t seq = hodo_ring_produced(m, ring) / m->layout.packet_size;
		const struct hodo_packet *p;

		if (seq < slots)
			return 0;
		seq -= slots - 1;
		p = (const struct hodo_packet *)(m->data[ring] + (seq & (slots - 1)) * m->layout.packet_size);
		if (smp_load_acquire(&p->packet_seq_num) != seq)
			continue;
		before = READ_ONCE(p->events_before);
		smp_rmb();
		if (READ_ONCE(p->packet_seq_num) == seq)
			break;
	}
	return before;
}

static int overflow_show(struct seq_file *m, void *v)
{
	struct hodo_memory *memory;
	int err = mutex_lock_interruptible(&hodo_lock);

	if (err)
		return err;
	memory = hodo_recording.memory;
	if (memory)
		hodo_memory_get(memory);
	mutex_unlock(&hodo_lock);
	seq_puts(m, "# ring\tlost_full\tlost_too_large\tlost_busy\toverwritten\n");
	for (uint32_t i = 0; memory && i < memory->layout.rings; i++) {
		const struct hodo_ring *r = hodo_memory_ring(memory, i);

		if (i == memory->layout.rings - 1)
			seq_puts(m, "fallback");
		else if (cpu_possible(i))
			seq_printf(m, "cpu%u", i);
		else
			continue;
		seq_printf(m, "\t%llu\t%llu\t%llu\t%llu\n", READ_ONCE(r->lost_full), READ_ONCE(r->lost_too_large),
			   READ_ONCE(r->lost_busy), overwritten(memory, i));
	}
	hodo_memory_put(memory);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(overflow);
const struct file_operations *const hodo_control_overflow_ops = &overflow_fops;

/* ----------------------------------------------------------------- format */

/* As ftrace's. offset counts from the payload's beginning; behind a field whose size changes there is none. */
static void say_field(struct seq_file *m, const struct hodo_field *f, int *offset)
{
	unsigned int fixed = hodo_fields_fixed_size(f->type);
	bool variable = hodo_fields_element_size(f->type) != 0;

	seq_printf(m, "\tfield:%s %s;\t", f->ctype ? f->ctype : hodo_fields_type_name(f->type), f->name);
	if (*offset < 0)
		seq_puts(m, "offset:-;\t");
	else
		seq_printf(m, "offset:%d;\t", *offset);
	if (variable)
		seq_puts(m, "size:-;\t");
	else
		seq_printf(m, "size:%u;\t", fixed);
	seq_printf(m, "signed:%d;\ttype:%s;\n", hodo_fields_is_signed(f->type), hodo_fields_type_name(f->type));
	*offset = variable || *offset < 0 ? -1 : *offset + (int)fixed;
}

static int format_show(struct seq_file *m, void *v)
{
	const struct hodo_event *e = m->private;
	int offset = 0, err = hodo_control_trylock();

	if (err)
		return err;
	seq_printf(m, "name: %s\nID: %u\nformat:\n", e->name, e->id);
	for (unsigned int i = 0; i < e->nfields; i++)
		say_field(m, &e->fields[i], &offset);
	seq_printf(m, "\nprint fmt: %s\n", e->format && *e->format ? e->format : "\"\"");
	mutex_unlock(&hodo_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(format);
const struct file_operations *const hodo_control_format_ops = &format_fops;
