/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* control_text.c - texts of the control tree: info, overflow, and each event's format. */
#include "control_dir.h"
#include <kmod/state.h>
#include <kmod/writer.h>

#include <core/fields.h>

#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/string_helpers.h>

/* ------------------------------------------------------------------- info */

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

/*
 * sysfs reads a page at a time, by its offset in the text. To find that again, all earlier lines would have
 * to be written again: so we remember where readers continue. By ids, since events come and go.
 */
struct place {
	const struct file *file; /* only compared: it may have been closed */
	loff_t offset;
	uint32_t id; /* of the event whose line comes next; 0: the head */
	size_t skip; /* how much of it was already read */
};
static struct place places[8]; /* under hodo_lock, as all of this */
static unsigned int places_next;

static struct place *find_place(const struct file *file, loff_t offset)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(places); i++)
		if (offset && places[i].file == file && places[i].offset == offset)
			return &places[i];
	return NULL;
}

/* The event with the id, or the next one. */
static struct hodo_event *event_from(uint32_t id)
{
	struct hodo_event *e;

	list_for_each_entry(e, &hodo_events, list)
		if (e->id >= id)
			return e;
	return NULL;
}

/* Whole lines while there is room, or a part of one that does not fit. at: the start, then the end. */
static ssize_t put_lines(struct seq_file *m, struct place *at, bool exact, char *to, size_t len)
{
	struct hodo_event *e = event_from(at->id);
	void *line = at->id ? e : SEQ_START_TOKEN;
	size_t done = 0;

	while (line && done < len) {
		int err = hodo_control_show(m, info_show, line);
		size_t n;

		if (err)
			return err;
		if (at->skip < m->count) {
			n = m->count - at->skip;
			if (n > len - done && done > 0)
				break;
			n = min(n, len - done);
			memcpy(to + done, m->buf + at->skip, n);
			done += n;
			at->skip += n;
			if (at->skip < m->count)
				break;
		}
		/* A line that has become shorter must not affect the next one. */
		at->skip = exact ? 0 : at->skip - m->count;
		if (line != SEQ_START_TOKEN)
			e = list_is_last(&e->list, &hodo_events) ? NULL : list_next_entry(e, list);
		line = e;
		at->id = e ? e->id : U32_MAX;
	}
	return done;
}

ssize_t hodo_control_info(const struct file *file, char *to, loff_t offset, size_t len)
{
	struct place at = { file, offset, .skip = offset }, *found;
	struct seq_file m = { 0 };
	ssize_t n = mutex_lock_interruptible(&hodo_lock);

	if (n)
		return n;
	found = find_place(file, offset);
	if (found)
		at = *found;
	n = put_lines(&m, &at, found, to, len);
	if (n > 0) {
		at.offset += n;
		*(found ? found : &places[places_next++ % ARRAY_SIZE(places)]) = at;
	}
	mutex_unlock(&hodo_lock);
	kvfree(m.buf);
	return n;
}

/* --------------------------------------------------------------- overflow */

/*
 * Events overwritten by later ones: those before the ring's oldest packet. Runs beside the writer: if the
 * packet's number is the same before and after, what was read in between belongs to that packet.
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

int hodo_control_overflow(struct seq_file *m, void *data)
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

/* ----------------------------------------------------------------- format */

/* Like ftrace's. offset counts from the payload's beginning; after a field of variable size there is none. */
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

int hodo_control_format(struct seq_file *m, void *event)
{
	const struct hodo_event *e = event;
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
