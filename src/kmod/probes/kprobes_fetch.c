/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * kprobes_fetch.c - reads an event's values: registers, and memory behind pointers, which may be anywhere.
 * Reading never faults: unmapped memory gives 0, or the text "(fault)".
 *
 * hodo_kprobe_check() has checked the program; a text ends at its bound, and the others have the size of
 * their type.
 */
#include <kmod/compat.h>
#include "kprobes.h"

#include <core/fields.h>

#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#define FAULT "(fault)"
#define FAULT_LEN 7u
#define WORD sizeof(unsigned long)

static unsigned long argument(struct pt_regs *regs, unsigned int n)
{
#ifdef CONFIG_HAVE_FUNCTION_ARG_ACCESS_API
	return regs_get_kernel_argument(regs, n);
#else
	return 0;
#endif
}

uint32_t hodo_kprobe_keeps(const struct hodo_kprobe *k)
{
	uint32_t keeps = 0;

	for (uint32_t i = 0; i < k->values; i++) {
		if (k->value[i].from == HODO_KPROBE_ARGUMENT)
			keeps |= 1u << k->value[i].number;
		else if (k->value[i].from == HODO_KPROBE_DURATION)
			keeps |= HODO_KPROBE_KEEPS_TIME;
	}
	return keeps;
}

void hodo_kprobe_keep(struct hodo_kprobe_entry *entry, uint32_t keeps, struct pt_regs *regs)
{
	for (unsigned int i = 0; i < HODO_KPROBE_ARGUMENTS; i++)
		if (keeps & 1u << i)
			entry->argument[i] = argument(regs, i);
	if (keeps & HODO_KPROBE_KEEPS_TIME)
		entry->ns = ktime_get_mono_fast_ns();
}

/* Memory of the kernel, or of the current process. */
static bool read_memory(void *to, unsigned long from, size_t size)
{
#ifdef TASK_SIZE_MAX
	if (from < TASK_SIZE_MAX)
#else
	if (from < TASK_SIZE)
#endif
		return copy_from_user_nofault(to, (const void __user *)from, size) == 0;
	return copy_from_kernel_nofault(to, (const void *)from, size) == 0;
}

/* A value's start. */
static bool begin(const struct hodo_kprobe_value *v, struct pt_regs *regs, const struct hodo_kprobe_entry *entry,
		  uint64_t *value)
{
	unsigned long word = 0;
	uint64_t now;
	bool good = true;

	switch (v->from) {
	case HODO_KPROBE_ARGUMENT:
		*value = entry ? entry->argument[v->number] : argument(regs, v->number);
		return true;
	case HODO_KPROBE_RETURNED:
		*value = regs_return_value(regs);
		return true;
	case HODO_KPROBE_DURATION:
		now = ktime_get_mono_fast_ns();
		*value = entry && now > entry->ns ? now - entry->ns : 0;
		return true;
	case HODO_KPROBE_REGISTER:
		good = (v->number + 1u) * WORD <= sizeof(*regs);
		*value = good ? regs_get_register(regs, v->number * WORD) : 0;
		return good;
	case HODO_KPROBE_STACK:
		good = read_memory(&word, kernel_stack_pointer(regs) + v->number * WORD, WORD);
		*value = word;
		return good;
	}
	return false;
}

/* Follows the pointers. */
static bool follow(const struct hodo_kprobe_value *v, uint64_t *value)
{
	for (unsigned int i = 0; i < v->steps; i++) {
		unsigned long word;

		if (!read_memory(&word, (unsigned long)*value + v->offset[i], WORD))
			return false;
		*value = word;
	}
	return true;
}

static uint64_t bit_field(const struct hodo_kprobe_value *v, uint64_t value)
{
	unsigned int above = 64 - v->bits;

	if (v->bits == 0)
		return value;
	value = value >> v->shift << above;
	return hodo_fields_is_signed(v->type) ? (uint64_t)((int64_t)value >> above) : value >> above;
}

static uint8_t *put_number(const struct hodo_kprobe_value *v, uint64_t value, bool good, uint8_t *to)
{
	unsigned int size = hodo_fields_fixed_size(v->type);
	uint64_t loaded = 0;

	if (good && v->load) {
		good = read_memory(&loaded, (unsigned long)value + v->offset[v->steps], v->load);
		value = loaded;
	}
	value = good ? bit_field(v, value) : 0;
	if (v->type == HODO_TYPE_BOOL)
		value = (value & (v->load == 0 ? 0xff : ~0ull)) != 0;
#ifndef __LITTLE_ENDIAN
#error the low bytes of a number come first
#endif
	memcpy(to, &value, size);
	return to + size;
}

/* In pieces within a page; its length without the NUL, -1: not mapped. */
static long read_text(uint8_t *to, unsigned long from, uint32_t max)
{
	uint32_t n = 0;

	while (n < max) {
		uint32_t piece = min_t(uint32_t, max - n, WORD - (from + n) % WORD), len;

		if (!read_memory(to + n, from + n, piece))
			return n ? (long)n : -1;
		len = strnlen((const char *)to + n, piece);
		n += len;
		if (len < piece)
			break;
	}
	return n;
}

static uint8_t *put_text(const struct hodo_kprobe_value *v, uint64_t value, bool good, uint8_t *to)
{
	unsigned long from = (unsigned long)value + v->offset[v->steps];
	long n = good && from ? read_text(to + 2, from, v->text_max) : -1;

	/* Neither is longer than a text's bound has room for. */
	if (n < 0 && good && !from) {
		n = min(HODO_NULL_TEXT_LEN, v->text_max);
		memcpy(to + 2, HODO_NULL_TEXT, n);
	} else if (n < 0) {
		n = min(FAULT_LEN, v->text_max);
		memcpy(to + 2, FAULT, n);
	}
	put_unaligned((uint16_t)n, (uint16_t *)to);
	return to + 2 + n;
}

uint8_t *hodo_kprobe_fetch(const struct hodo_kprobe *k, struct pt_regs *regs, const struct hodo_kprobe_entry *entry,
			   uint8_t *to)
{
	for (uint32_t i = 0; i < k->values; i++) {
		const struct hodo_kprobe_value *v = &k->value[i];
		uint64_t value = 0;
		bool good = begin(v, regs, entry, &value) && follow(v, &value);

		to = v->type == HODO_TYPE_STR ? put_text(v, value, good, to) : put_number(v, value, good, to);
	}
	return to;
}
