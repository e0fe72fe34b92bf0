/* SPDX-License-Identifier: MIT */
/*
 * event_code.c - writes an event's code. On the stack, from where the program's pointer was:
 *
 *	-128      the red zone
 *	-136      rax
 *	-144      flags, by lahf and seto
 *	-152      r10
 *	-160      r11
 *	then      the frame, from its lowest address on: the values, one behind the other, as a site hands them over (of
 *	          a text or a byte range where it is and how long), 8 bytes of which some are read with the last value,
 *	          8 for loads that may fault, and what texts and byte ranges are copied to
 */
#include "event_code.h"

#include <core/fields.h>
#include <hodo/abi.h>
#include <hodo/abi_plan.h>
#include <string.h>

#include "machine_code.h"

#define BEFORE_BYTES 8u  /* values are stored and read in units of 8: leave room */
#define DATA_BYTES   16u /* a pointer and a length */
#define WORD_BYTES   8u  /* "(fault)" and the like */
#define ABSENT       "(absent)"

static bool varies(const struct hodo_probe_field *f)
{
	return f->type == HODO_TYPE_STR || f->type == HODO_TYPE_BYTES;
}

static unsigned value_bytes(const struct hodo_probe_field *f)
{
	return varies(f) ? DATA_BYTES : hodo_fields_fixed_size(f->type);
}

static unsigned data_bytes(const struct hodo_probe_field *f)
{
	unsigned most = f->most > WORD_BYTES ? f->most : WORD_BYTES;

	return varies(f) ? (most + 7) & ~7u : 0;
}

static void put_number(struct hodo_machine_code *c, const struct hodo_probe_field *f, unsigned at)
{
	unsigned bytes = hodo_fields_fixed_size(f->type), reg;
	const struct hodo_fetch_step *first = &f->fetch.step[0];

	if (!f->fetch.n) { /* it is missing */
		hodo_code_constant(c, HODO_CODE_RAX, 0);
		hodo_code_store(c, HODO_CODE_RAX, bytes, at);
		return;
	}
	if (f->fetch.n == 1 && first->op == HODO_FETCH_REGISTER && first->reg >= HODO_FETCH_XMM0 && bytes >= 4) {
		hodo_code_store_vector(c, first->reg - HODO_FETCH_XMM0, bytes, at);
		return;
	}
	reg = hodo_code_fetch(c, &f->fetch, f->type == HODO_TYPE_BOOL ? 8 : bytes);
	if (f->type == HODO_TYPE_BOOL) {
		hodo_code_store(c, reg, 8, c->scratch);
		hodo_code_put(c, "\x48\x83\xbc\x24", 4); /* cmpq $0,scratch(%rsp); setne %al */
		hodo_code_put32(c, c->scratch);
		hodo_code_put(c, "\0\x0f\x95\xc0", 4);
		reg = HODO_CODE_RAX;
	}
	hodo_code_failed(c, 0);
	hodo_code_store(c, reg, bytes, at);
}

/* To rax. */
static void fetch(struct hodo_machine_code *c, const struct hodo_fetch *f, int32_t failed, unsigned disp)
{
	unsigned reg = hodo_code_fetch(c, f, 8);

	hodo_code_failed(c, failed);
	hodo_code_store(c, reg, 8, disp);
}

/* Stores the requested number of bytes as the value's length: from 0 to most. */
static void put_length(struct hodo_machine_code *c, const struct hodo_probe_field *f, unsigned disp)
{
	if (!f->length.n) {
		hodo_code_constant(c, HODO_CODE_RAX, f->most);
		hodo_code_store(c, HODO_CODE_RAX, 8, disp);
		return;
	}
	fetch(c, &f->length, 0, disp);
	hodo_code_load(c, HODO_CODE_RAX, disp);
	hodo_code_put(c, "\x45\x31\xdb\x48\x85\xc0\x49\x0f\x48\xc3", 10); /* xor %r11d,%r11d; test %rax,%rax; cmovs %r11,%rax */
	hodo_code_constant(c, HODO_CODE_R11, f->most);
	hodo_code_put(c, "\x4c\x39\xd8\x49\x0f\x47\xc3", 7); /* cmp %r11,%rax; cmova %r11,%rax */
	hodo_code_store(c, HODO_CODE_RAX, 8, disp);
}

static void put_data(struct hodo_machine_code *c, const struct hodo_probe_field *f, unsigned at, unsigned data)
{
	bool text = f->type == HODO_TYPE_STR;
	int64_t word;

	if (f->missing) {
		memcpy(&word, ABSENT, sizeof(word));
		hodo_code_constant(c, HODO_CODE_RAX, word);
		hodo_code_store(c, HODO_CODE_RAX, 8, data);
		hodo_code_put(c, "\x4c\x8d\x94\x24", 4); /* lea data(%rsp),%r10 */
		hodo_code_put32(c, data);
		hodo_code_constant(c, HODO_CODE_RAX, text ? (int64_t)strlen(ABSENT) : 0);
	} else {
		if (!text)
			put_length(c, f, at + 8);
		fetch(c, &f->fetch, -1, c->scratch);
		hodo_code_load(c, HODO_CODE_RAX, c->scratch);
		if (!text)
			hodo_code_load(c, HODO_CODE_R11, at + 8);
		hodo_code_read(c, data, text ? f->most | HODO_PLAN_READ_TEXT : 0);
	}
	hodo_code_store(c, HODO_CODE_R10, 8, at);
	hodo_code_store(c, HODO_CODE_RAX, 8, at + 8);
}

static void put_values(struct hodo_machine_code *c, const struct hodo_probe_event_code *e, unsigned data)
{
	unsigned at = 0;

	for (unsigned i = 0; i < e->nfields - (e->part == HODO_EVENT_END); i++) {
		const struct hodo_probe_field *f = &e->fields[i];

		if (varies(f))
			put_data(c, f, at, data);
		else
			put_number(c, f, at);
		at += value_bytes(f);
		data += data_bytes(f);
	}
}

static unsigned data_bytes_of(const struct hodo_probe_field *fields, unsigned n)
{
	unsigned data = 0;

	for (unsigned i = 0; i < n && data <= HODO_PROBE_DATA_MAX; i++)
		data += data_bytes(&fields[i]);
	return data;
}

static unsigned values_of(const struct hodo_probe_field *fields, unsigned n)
{
	unsigned values = 0;

	for (unsigned i = 0; i < n; i++)
		values += value_bytes(&fields[i]);
	return values;
}

static unsigned scratch_of(const struct hodo_probe_field *fields, unsigned n)
{
	return (values_of(fields, n) + BEFORE_BYTES + 7) / 8 * 8;
}

static unsigned frame_of(const struct hodo_probe_field *fields, unsigned n)
{
	return (scratch_of(fields, n) + 8 + data_bytes_of(fields, n) + 15) / 16 * 16;
}

unsigned hodo_probe_event_stack(const struct hodo_probe_field *fields, unsigned n)
{
	return HODO_SAVED_BYTES + HODO_SAVED_RED_ZONE + frame_of(fields, n);
}

static void put_prologue(struct hodo_machine_code *c)
{
	hodo_code_put(c, "\x48\x8d\x64\x24\x80", 5);    /* lea -128(%rsp),%rsp */
	hodo_code_put(c, "\x50\x9f\x0f\x90\xc0\x50", 6); /* push %rax; lahf; seto %al; push %rax */
	hodo_code_put(c, "\x41\x52\x41\x53", 4);          /* push %r10; push %r11 */
	hodo_code_put(c, "\x48\x8d\xa4\x24", 4);          /* lea -frame(%rsp),%rsp */
	hodo_code_put32(c, -(int64_t)c->frame);
}

static void put_epilogue(struct hodo_machine_code *c)
{
	hodo_code_put(c, "\x48\x8d\xa4\x24", 4);          /* lea frame(%rsp),%rsp */
	hodo_code_put32(c, c->frame);
	hodo_code_put(c, "\x41\x5b\x41\x5a", 4);          /* pop %r11; pop %r10 */
	hodo_code_put(c, "\x58\x04\x7f\x9e\x58", 5);      /* pop %rax; add $127,%al; sahf; pop %rax */
	hodo_code_put(c, "\x48\x8d\xa4\x24\x80\0\0\0", 8); /* lea 128(%rsp),%rsp */
}

static void put_call(struct hodo_machine_code *c, const struct hodo_probe_event_code *e)
{
	hodo_code_put(c, "\x48\x8d\x84\x24", 4);          /* lea what rsp was,%rax */
	hodo_code_put32(c, c->frame + HODO_SAVED_BYTES + HODO_SAVED_RED_ZONE);
	hodo_code_put(c, "\x49\xbb", 2);                  /* mov $function,%r11 */
	hodo_code_put(c, &e->function, sizeof(e->function));
	hodo_code_put(c, "\xff\x15", 2);                  /* call *call(%rip) */
	hodo_code_put_distance(c, e->call);
}

/*
 * Stores the duration in the event's last field; without a known begin there is no event. Returns where the
 * jump's distance is.
 */
static size_t put_duration(struct hodo_machine_code *c, const struct hodo_probe_event_code *e, unsigned at)
{
	size_t jump;

	put_call(c, e);
	hodo_code_put(c, "\x48\x85\xc0\x0f\x88", 5);      /* test %rax,%rax; js */
	jump = c->n;
	hodo_code_put32(c, 0);
	hodo_code_store(c, HODO_CODE_RAX, 8, at);
	return jump;
}

static void put_site(struct hodo_machine_code *c, const struct hodo_probe_event_code *e)
{
	hodo_code_put(c, "\x49\x89\xe3", 3);              /* mov %rsp,%r11 */
	hodo_code_put(c, "\x4c\x8d\x15", 3);              /* lea back(%rip),%r10 */
	hodo_code_put32(c, 6 + 1 + 4);
	hodo_code_put(c, "\xff\x25", 2);                  /* jmp *site(%rip) */
	hodo_code_put_distance(c, e->site);
	hodo_code_put(c, "\xa9", 1);                      /* test: makes the distance decodable */
	hodo_code_put32(c, (int64_t)(e->state - (c->address + c->n + 4))); /* distance from back, which follows */
}

size_t hodo_probe_event_code(const struct hodo_probe_event_code *e, uint64_t address, uint8_t *to, size_t room)
{
	struct hodo_machine_code c = { .to = to, .room = room, .address = address, .read = e->read, .bias = e->bias,
				       .pc = e->pc };
	size_t jump = 0;

	if (e->part == HODO_EVENT_BEGIN) {
		put_prologue(&c);
		put_call(&c, e);
		put_epilogue(&c);
		return c.room ? c.n : 0;
	}
	if (data_bytes_of(e->fields, e->nfields) > HODO_PROBE_DATA_MAX)
		return 0;
	c.scratch = scratch_of(e->fields, e->nfields);
	c.frame = frame_of(e->fields, e->nfields);
	put_prologue(&c);
	if (e->part == HODO_EVENT_END)
		jump = put_duration(&c, e, values_of(e->fields, e->nfields - 1));
	put_values(&c, e, c.scratch + 8);
	put_site(&c, e);
	if (jump && c.room) {
		int32_t distance = (int32_t)(c.n - (jump + 4));

		memcpy(to + jump, &distance, sizeof(distance));
	}
	put_epilogue(&c);
	return c.room ? c.n : 0;
}
