/* SPDX-License-Identifier: MIT */
/*
 * event_code.c - see event_code.h. On the stack, from where the program's pointer was:
 *
 *	-128      the red zone
 *	-136      rax
 *	-144      flags, by lahf and seto
 *	-152      r10
 *	-160      r11
 *	then      the values, one behind the other, as the event's payload is
 *
 * While values are gathered rax alone is changed: r10 and r11 are saved for what follows.
 */
#include "event_code.h"

#include <stdbool.h>
#include <string.h>

#define RED_ZONE 128u
#define SAVED    32u
#define RAX_AT   24u /* in what is saved */
#define RAX 0u
#define RSP 4u
#define BEFORE_BYTES 8u /* of a value that is stored, read by eights: there is as much room */

struct out {
	uint8_t *to;
	size_t n, room;
	unsigned frame; /* bytes of values, rounded up */
};

static void put(struct out *o, const void *bytes, size_t len)
{
	if (len <= o->room - o->n)
		memcpy(o->to + o->n, bytes, len);
	else
		o->room = 0; /* from now on nothing fits */
	o->n += o->room ? len : 0;
}

static void put_byte(struct out *o, unsigned byte)
{
	uint8_t b = (uint8_t)byte;

	put(o, &b, 1);
}

static void put32(struct out *o, int64_t number)
{
	int32_t n = (int32_t)number;

	put(o, &n, sizeof(n));
}

static void put_distance(struct out *o, uint64_t address, uint64_t target)
{
	put32(o, (int64_t)(target - (address + o->n + 4)));
}

/* An instruction with the register and memory at disp(%rsp). prefix: 0: none. */
static void put_stack(struct out *o, unsigned prefix, bool wide, unsigned opcode, unsigned reg, unsigned disp)
{
	if (prefix)
		put_byte(o, prefix);
	put_byte(o, 0x40 | (wide ? 8u : 0) | (reg & 8) >> 1);
	if (opcode > 0xff)
		put_byte(o, opcode >> 8);
	put_byte(o, opcode & 0xff);
	put_byte(o, 0x84 | (reg & 7) << 3);
	put_byte(o, 0x24);
	put32(o, disp);
}

/* The register's low bytes to disp(%rsp). */
static void store(struct out *o, unsigned reg, unsigned bytes, unsigned disp)
{
	put_stack(o, bytes == 2 ? 0x66 : 0, bytes == 8, bytes == 1 ? 0x88 : 0x89, reg, disp);
}

/* rax as it was. */
static void load_rax(struct out *o)
{
	put_stack(o, 0, true, 0x8b, RAX, o->frame + RAX_AT);
}

/* mov offset(base,index,scale),%rax, as many bytes as the value has. */
static void load_memory(struct out *o, const struct hodo_probe_operand *v)
{
	unsigned base = v->base, index = v->index, scale = (unsigned)__builtin_ctz(v->scale ? v->scale : 1u);
	int64_t offset = v->offset + (base == RSP ? o->frame + SAVED + RED_ZONE : 0);
	bool none = base == HODO_PROBE_NO_REGISTER, alone = index == HODO_PROBE_NO_REGISTER;

	if (base == RAX || index == RAX)
		load_rax(o);
	if (v->fs)
		put_byte(o, 0x64);
	if (v->bytes == 2)
		put_byte(o, 0x66);
	put_byte(o, 0x40 | (v->bytes == 8 ? 8u : 0) | (alone ? 0 : (index & 8) >> 2) | (none ? 0 : (base & 8) >> 3));
	put_byte(o, v->bytes == 1 ? 0x8a : 0x8b);
	/* With a SIB byte always: index 4 is none, and base 5 without a displacement in ModRM is none. */
	put_byte(o, none ? 0x04 : 0x84);
	put_byte(o, scale << 6 | (alone ? 4 : index & 7) << 3 | (none ? 5 : base & 7));
	put32(o, offset);
}

static void put_value(struct out *o, const struct hodo_probe_operand *v, unsigned at)
{
	switch (v->form) {
	case HODO_PROBE_CONSTANT:
		put_byte(o, 0x48);
		put_byte(o, 0xb8);
		put(o, &v->offset, sizeof(v->offset));
		store(o, RAX, v->bytes, at);
		break;
	case HODO_PROBE_VECTOR: /* movq, movd: no vector register is changed */
		put_stack(o, 0x66, v->bytes == 8, 0x0f7e, v->base, at);
		break;
	case HODO_PROBE_MEMORY:
		load_memory(o, v);
		store(o, RAX, v->bytes, at);
		break;
	default:
		if (v->base == RAX)
			load_rax(o);
		if (v->base == RSP) /* lea what it was,%rax */
			put_stack(o, 0, true, 0x8d, RAX, o->frame + SAVED + RED_ZONE);
		if (v->shift) { /* ah, ch, dh, bh: through rax */
			if (v->base != RAX && v->base != RSP) {
				put_byte(o, 0x48);
				put_byte(o, 0x89);
				put_byte(o, 0xc0 | (v->base & 7u) << 3);
			}
			put(o, "\x48\xc1\xe8\x08", 4); /* shr $8,%rax */
		}
		store(o, v->shift || v->base == RSP ? RAX : v->base, v->bytes, at);
		break;
	}
}

size_t hodo_probe_event_code(const struct hodo_probe_event_code *c, uint64_t address, uint8_t *to, size_t room)
{
	struct out o = { .to = to, .room = room };
	unsigned bytes = 0;

	for (unsigned i = 0; i < c->nvalues; i++)
		bytes += c->values[i].bytes;
	o.frame = (bytes + BEFORE_BYTES + 15) / 16 * 16;
	put(&o, "\x48\x8d\x64\x24\x80", 5);             /* lea -128(%rsp),%rsp */
	put(&o, "\x50\x9f\x0f\x90\xc0\x50", 6);          /* push %rax; lahf; seto %al; push %rax */
	put(&o, "\x41\x52\x41\x53", 4);                   /* push %r10; push %r11 */
	put(&o, "\x48\x8d\xa4\x24", 4);                   /* lea -frame(%rsp),%rsp */
	put32(&o, -(int64_t)o.frame);
	bytes = 0;
	for (unsigned i = 0; i < c->nvalues; i++) {
		put_value(&o, &c->values[i], bytes);
		bytes += c->values[i].bytes;
	}
	put(&o, "\x49\x89\xe3", 3);                       /* mov %rsp,%r11 */
	put(&o, "\x4c\x8d\x15", 3);                       /* lea back(%rip),%r10 */
	put32(&o, 6 + 4);
	put(&o, "\xff\x25", 2);                           /* jmp *site(%rip) */
	put_distance(&o, address, c->site);
	put32(&o, (int64_t)(c->state - (address + o.n + 4))); /* from back, which is behind */
	put(&o, "\x48\x8d\xa4\x24", 4);                   /* back: lea frame(%rsp),%rsp */
	put32(&o, o.frame);
	put(&o, "\x41\x5b\x41\x5a", 4);                   /* pop %r11; pop %r10 */
	put(&o, "\x58\x04\x7f\x9e\x58", 5);               /* pop %rax; add $127,%al; sahf; pop %rax */
	put(&o, "\x48\x8d\xa4\x24\x80\0\0\0", 8);        /* lea 128(%rsp),%rsp */
	return o.room ? o.n : 0;
}
