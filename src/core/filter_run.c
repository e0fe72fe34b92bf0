/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * filter_run.c - the filter machine at work: fields, constants, and the loop.
 *
 * Runs in the traced process inside the event, in signal handlers too: no
 * locks, no allocation, about 1 KiB of stack. Operands and stack were checked by
 * hodo_filter_verify(); the event's pieces are checked here.
 */
#include "filter.h"
#include "filter_impl.h"
#include "filter_value.h"

/* ------------------------------------------------------------------- fields */

/* An integer of a fixed size at p, as C would promote it; only 64-bit ones stay unsigned. */
static void load_int(struct value *v, uint8_t type, const uint8_t *p)
{
	uint16_t half;
	uint32_t word;

	v->kind = SIGNED;
	switch (type) {
	case HODO_TYPE_I8:
	case HODO_TYPE_CHAR:
		v->i = (int8_t)*p;
		break;
	case HODO_TYPE_U8:
	case HODO_TYPE_BOOL:
		v->i = *p;
		break;
	case HODO_TYPE_I16:
	case HODO_TYPE_U16:
		__builtin_memcpy(&half, p, sizeof(half));
		v->i = type == HODO_TYPE_I16 ? (int16_t)half : half;
		break;
	case HODO_TYPE_I32:
	case HODO_TYPE_U32:
		__builtin_memcpy(&word, p, sizeof(word));
		v->i = type == HODO_TYPE_I32 ? (int32_t)word : (int64_t)word;
		break;
	default:
		v->kind = type == HODO_TYPE_I64 ? SIGNED : UNSIGNED;
		__builtin_memcpy(&v->u, p, sizeof(v->u));
	}
}

static void load_text(struct value *v, const struct hodo_piece *piece)
{
	v->kind = TEXT;
	v->text = piece->data;
	v->len = piece->len < HODO_STR_MAX ? (uint32_t)piece->len : HODO_STR_MAX;
	if (v->len == HODO_NULL_TEXT_LEN && __builtin_memcmp(v->text, HODO_NULL_TEXT, HODO_NULL_TEXT_LEN) == 0)
		set_absent(v);
}

static void load(struct value *v, const struct hodo_filter_field *field, const struct hodo_piece *pieces,
		 size_t count)
{
	const struct hodo_piece *piece = pieces + field->piece;
	const uint8_t *p;

	set_absent(v);
	if (field->type == HODO_TYPE_NONE || field->piece >= count)
		return;
	if (field->type == HODO_TYPE_STR)
		load_text(v, piece);
	if (field->type >= HODO_TYPE_STR || piece->len < field->end) /* bytes and arrays have no value */
		return;
	p = (const uint8_t *)piece->data + field->offset;
	if (field->type == HODO_TYPE_F32 || field->type == HODO_TYPE_F64)
		load_float(v, field->type, p);
	else
		load_int(v, field->type, p);
}

/* Bytes and arrays are there although they have no value to compute with. */
static void has(struct value *v, const struct hodo_filter_field *field, const struct hodo_piece *pieces,
		size_t count)
{
	load(v, field, pieces, count);
	set_int(v, v->kind != ABSENT || (field->type >= HODO_TYPE_BYTES && field->piece < count));
}

/* ------------------------------------------------------------------ machine */

static void constant(struct value *v, uint8_t op, const uint8_t *p)
{
	v->kind = op == HODO_FILTER_U64 ? UNSIGNED : SIGNED;
	switch (op) {
	case HODO_FILTER_I8:
		v->i = (int8_t)*p;
		break;
	case HODO_FILTER_F64:
		load_float(v, HODO_TYPE_F64, p);
		break;
	case HODO_FILTER_TEXT:
		v->kind = TEXT;
		v->len = hodo_filter_u16(p);
		v->text = (const char *)p + 2;
		break;
	default:
		__builtin_memcpy(&v->u, p, sizeof(v->u));
	}
}

/* Bytes of the operand at p. */
static size_t operand_len(uint8_t op, const uint8_t *p)
{
	switch (op) {
	case HODO_FILTER_I8:
	case HODO_FILTER_FIELD:
	case HODO_FILTER_HAS:
		return 1;
	case HODO_FILTER_TEXT:
		return 2 + (size_t)hodo_filter_u16(p);
	case HODO_FILTER_LAND_SKIP:
	case HODO_FILTER_LOR_SKIP:
		return 2;
	}
	return op <= HODO_FILTER_F64 ? 8 : 0;
}

static __attribute__((noinline)) bool run(const struct hodo_filter *f, const struct hodo_piece *pieces,
					  size_t count)
{
	struct value stack[HODO_FILTER_STACK_MAX + 1], *top = stack; /* stack[0] is never used */
	const uint8_t *p = f->code, *end = p + f->len;

	while (p < end) {
		uint8_t op = *p++;
		const uint8_t *next = p + operand_len(op, p);

		switch (op) {
		case HODO_FILTER_FIELD:
			load(++top, &f->fields[*p], pieces, count);
			break;
		case HODO_FILTER_HAS:
			has(++top, &f->fields[*p], pieces, count);
			break;
		case HODO_FILTER_I8 ... HODO_FILTER_TEXT:
			constant(++top, op, p);
			break;
		case HODO_FILTER_NOT ... HODO_FILTER_NEG:
			unary(op, top);
			break;
		case HODO_FILTER_LAND_SKIP:
		case HODO_FILTER_LOR_SKIP:
			if (truth_of(top) == (op == HODO_FILTER_LAND_SKIP ? NO : YES)) {
				set_int(top, op == HODO_FILTER_LOR_SKIP);
				next += hodo_filter_u16(p);
			}
			break;
		case HODO_FILTER_SELECT: {
			enum truth t = truth_of(top - 2);

			top -= 2;
			if (t == UNKNOWN)
				set_absent(top);
			else
				*top = t == YES ? top[1] : top[2];
			break;
		}
		default:
			top--;
			binary(op, top, top + 1);
		}
		p = next;
	}
	return truth_of(top) == YES;
}

bool hodo_filter_run(const struct hodo_filter *f, const struct hodo_piece *pieces, size_t count)
{
#if HODO_FILTER_FLOAT && defined(__x86_64__)
	/*
	 * The program may have unmasked floating-point exceptions, or look at
	 * their flags: compute in the default state and put its own back. The
	 * memory clobbers keep the computation, which reads memory, in between.
	 */
	if (f->flags & HODO_FILTER_USES_FLOAT) {
		unsigned int own, plain = 0x1f80;
		bool take;

		__asm__ volatile("stmxcsr %0" : "=m"(own) : : "memory");
		__asm__ volatile("ldmxcsr %0" : : "m"(plain) : "memory");
		take = run(f, pieces, count);
		__asm__ volatile("" : "+r"(take) : : "memory");
		__asm__ volatile("ldmxcsr %0" : : "m"(own) : "memory");
		return take;
	}
#endif
	return run(f, pieces, count);
}
