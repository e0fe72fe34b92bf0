/* SPDX-License-Identifier: MIT */
/*
 * sdt.c - reads the notes of static probes. A note's descriptor: the address of the probe, that of .stapsdt.base when
 * it was linked, that of the semaphore, and three texts. prelink moves an object's sections but does not relocate the
 * contents of notes: .stapsdt.base shows by how much.
 *
 * The third text has a descriptor for each argument, [SIZE@]OPERAND, where the operand is in the compiler's assembly
 * syntax (AT&T's):
 *
 *	-4@$12  4@$sym+8             constants; the size is negative of a signed value
 *	8@%rax  -1@%bl  8f@%xmm0     registers; f: a float
 *	-4@-20(%rbp,%rax,4)  8@sym+4(%rip)  8@%fs:sym@tpoff  8@(,%rdi,8)
 *
 * An operand that is not understood remains as text.
 */
#include "sdt.h"

#include <stdio.h>
#include <string.h>

#include <core/note.h>

#define NOTE_SDT 3

struct words {
	uint64_t address, base, semaphore;
};

/* The text at *at, which advances past it; NULL: it does not end before end. */
static const char *take_text(const uint8_t **at, const uint8_t *end)
{
	const uint8_t *text = *at, *nul = memchr(text, 0, (size_t)(end - text));

	if (!nul)
		return NULL;
	*at = nul + 1;
	return (const char *)text;
}

/* base: where .stapsdt.base is; 0: the file has none. */
static bool take_probe(uint64_t base, const struct hodo_elf_note *note, struct hodo_elf_sdt *probe)
{
	const uint8_t *at = note->desc, *end = at + note->size;
	struct words words;
	uint64_t moved;

	if (note->size < sizeof(words))
		return false;
	memcpy(&words, at, sizeof(words));
	at += sizeof(words);
	moved = base && words.base ? base - words.base : 0;
	probe->address = words.address + moved;
	probe->semaphore = words.semaphore ? words.semaphore + moved : 0;
	probe->provider = take_text(&at, end);
	probe->name = probe->provider ? take_text(&at, end) : NULL;
	probe->args = probe->name ? take_text(&at, end) : NULL;
	return probe->args && *probe->provider && *probe->name;
}

/* One section of notes. */
static int take_section(const Elf_Data *data, uint64_t base, uint32_t *probes, hodo_elf_sdt_fn each, void *arg,
			uint32_t *damaged)
{
	const uint8_t *at = data->d_buf, *end = at + data->d_size;
	struct hodo_elf_note note;

	while (hodo_note_next(&at, end, &note)) {
		struct hodo_elf_sdt probe;
		int err;

		if (note.type != NOTE_SDT || !hodo_note_is(&note, "stapsdt", sizeof("stapsdt")))
			continue;
		if (*probes >= HODO_ELF_SDT_MAX || !take_probe(base, &note, &probe)) {
			++*damaged;
			continue;
		}
		++*probes;
		err = each(arg, &probe);
		if (err)
			return err;
	}
	/* Only padding may be left over. */
	while (at < end && *at == 0)
		at++;
	*damaged += at < end;
	return 0;
}

int hodo_elf_sdt(const struct hodo_elf *e, hodo_elf_sdt_fn each, void *arg, uint32_t *damaged)
{
	const char *ident = elf_getident(e->elf, NULL);
	uint32_t probes = 0;
	Elf_Scn *scn = NULL;
	uint64_t base = 0;
	GElf_Shdr sh;
	int err = 0;

	*damaged = 0;
	if (!ident || ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
		return 0;
	if (hodo_elf_section(e->elf, NULL, ".stapsdt.base", &sh))
		base = sh.sh_addr;
	while (!err && (scn = hodo_elf_section(e->elf, scn, ".note.stapsdt", &sh)) != NULL) {
		Elf_Data *data = elf_rawdata(scn, NULL);

		if (data && data->d_buf && sh.sh_type == SHT_NOTE)
			err = take_section(data, base, &probes, each, arg, damaged);
		else
			++*damaged;
	}
	return err;
}

/* -------------------------------------------------------------------- registers */

static const char *const general[16][4] = {
	{ "rax", "eax", "ax", "al" }, { "rcx", "ecx", "cx", "cl" }, { "rdx", "edx", "dx", "dl" },
	{ "rbx", "ebx", "bx", "bl" }, { "rsp", "esp", "sp", "spl" }, { "rbp", "ebp", "bp", "bpl" },
	{ "rsi", "esi", "si", "sil" }, { "rdi", "edi", "di", "dil" }, { "r8", "r8d", "r8w", "r8b" },
	{ "r9", "r9d", "r9w", "r9b" }, { "r10", "r10d", "r10w", "r10b" }, { "r11", "r11d", "r11w", "r11b" },
	{ "r12", "r12d", "r12w", "r12b" }, { "r13", "r13d", "r13w", "r13b" }, { "r14", "r14d", "r14w", "r14b" },
	{ "r15", "r15d", "r15w", "r15b" },
};
static const char *const high[4] = { "ah", "ch", "dh", "bh" };
static const char *const segments[6] = { "es", "cs", "ss", "ds", "fs", "gs" };
static const uint8_t general_bytes[4] = { 8, 4, 2, 1 };

static bool is(const char *name, size_t len, const char *wanted)
{
	return strlen(wanted) == len && memcmp(name, wanted, len) == 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* -1: it is none of them. */
static int index_of(const char *const *names, int n, const char *name, size_t len)
{
	while (n-- > 0 && !is(name, len, names[n]))
		;
	return n;
}

static bool find_named(const char *name, size_t len, struct hodo_sdt_register *r)
{
	int i;

	if ((i = index_of(&general[0][0], 64, name, len)) >= 0)
		*r = (struct hodo_sdt_register){ HODO_SDT_GENERAL, (uint8_t)(i / 4), general_bytes[i % 4], 0 };
	else if ((i = index_of(high, 4, name, len)) >= 0)
		*r = (struct hodo_sdt_register){ HODO_SDT_GENERAL, (uint8_t)i, 1, 8 };
	else if ((i = index_of(segments, 6, name, len)) >= 0)
		*r = (struct hodo_sdt_register){ HODO_SDT_SEGMENT, (uint8_t)i, 2, 0 };
	else if (is(name, len, "rip") || is(name, len, "eip"))
		*r = (struct hodo_sdt_register){ HODO_SDT_RIP, 0, 8, 0 };
	else
		return false;
	return true;
}

/* xmm0 … zmm31 */
static bool find_vector(const char *name, size_t len, struct hodo_sdt_register *r)
{
	int n = -1;

	if (len < 4 || len > 5 || name[0] < 'x' || name[0] > 'z' || name[1] != 'm' || name[2] != 'm')
		return false;
	if (is_digit(name[3]) && (len == 4 || is_digit(name[4])))
		n = len == 4 ? name[3] - '0' : 10 * (name[3] - '0') + name[4] - '0';
	*r = (struct hodo_sdt_register){ HODO_SDT_VECTOR, (uint8_t)n, (uint8_t)(16u << (name[0] - 'x')), 0 };
	return n >= 0 && n < 32;
}

const char *hodo_sdt_register_name(const struct hodo_sdt_register *r, char buf[HODO_SDT_NAME_SIZE])
{
	unsigned part = r->bytes == 8 ? 0 : r->bytes == 4 ? 1 : r->bytes == 2 ? 2 : 3;

	buf[0] = 0;
	if (r->kind == HODO_SDT_GENERAL && r->shift)
		snprintf(buf, HODO_SDT_NAME_SIZE, "%%%s", high[r->number & 3]);
	else if (r->kind == HODO_SDT_GENERAL)
		snprintf(buf, HODO_SDT_NAME_SIZE, "%%%s", general[r->number & 15][part]);
	else if (r->kind == HODO_SDT_VECTOR)
		snprintf(buf, HODO_SDT_NAME_SIZE, "%%%cmm%u", r->bytes == 64 ? 'z' : r->bytes == 32 ? 'y' : 'x',
			 r->number);
	else if (r->kind == HODO_SDT_RIP)
		snprintf(buf, HODO_SDT_NAME_SIZE, "%%rip");
	else if (r->kind == HODO_SDT_SEGMENT)
		snprintf(buf, HODO_SDT_NAME_SIZE, "%%%s", segments[r->number % 6]);
	return buf;
}

/* -------------------------------------------------------------------- operands */

struct operand {
	const char *at, *end;
};

static bool take(struct operand *o, char c)
{
	bool there = o->at < o->end && *o->at == c;

	o->at += there;
	return there;
}

static bool in_name(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '@' ||
	       c == '$' || (c & 0x80);
}

static bool take_register(struct operand *o, struct hodo_sdt_register *r)
{
	const char *name;

	if (!take(o, '%'))
		return false;
	for (name = o->at; o->at < o->end && in_name(*o->at); o->at++)
		;
	return find_named(name, (size_t)(o->at - name), r) || find_vector(name, (size_t)(o->at - name), r);
}

/* A number in decimal, octal or hexadecimal, modulo 2^64, as in assembly. */
static bool take_value(struct operand *o, uint64_t *value)
{
	unsigned base = 10;
	const char *start;

	if (o->at < o->end && *o->at == '0') {
		base = 8;
		if (o->end - o->at > 2 && (o->at[1] | 0x20) == 'x') {
			base = 16;
			o->at += 2;
		}
	}
	start = o->at;
	*value = 0;
	for (; o->at < o->end; o->at++) {
		char c = (char)(*o->at | 0x20);
		unsigned digit = base;

		if (is_digit(*o->at))
			digit = (unsigned)(*o->at - '0');
		else if (c >= 'a' && c <= 'f')
			digit = (unsigned)(c - 'a' + 10);
		if (digit >= base)
			break;
		if (*value > (UINT64_MAX - digit) / base)
			return false;
		*value = *value * base + digit;
	}
	return o->at > start;
}

/* A sum of numbers and at most one symbol, which is not subtracted; empty means 0. */
static bool take_sum(struct operand *o, struct hodo_sdt_arg *arg)
{
	uint64_t sum = 0, value;
	bool minus = take(o, '-'), first = !minus && !take(o, '+');

	for (;; first = false) {
		if (o->at < o->end && is_digit(*o->at)) {
			if (!take_value(o, &value))
				return false;
			sum += minus ? -value : value;
		} else if (o->at < o->end && in_name(*o->at) && *o->at != '@') {
			if (arg->symbol || minus)
				return false;
			arg->symbol = o->at;
			while (o->at < o->end && in_name(*o->at))
				o->at++;
			arg->symbol_len = (size_t)(o->at - arg->symbol);
		} else if (!first) {
			return false;
		}
		minus = o->at < o->end && *o->at == '-';
		if (!take(o, '-') && !take(o, '+'))
			break;
	}
	arg->offset = (int64_t)sum;
	return true;
}

/* "(base,index,scale)", each of which is optional. */
static bool take_address(struct operand *o, struct hodo_sdt_arg *arg)
{
	uint64_t scale = 1;

	if (o->at < o->end && *o->at == '%' && !take_register(o, &arg->base))
		return false;
	if (take(o, ',')) {
		if (o->at < o->end && *o->at == '%' && !take_register(o, &arg->index))
			return false;
		if (take(o, ',') && !take_value(o, &scale))
			return false;
	}
	if (scale != 1 && scale != 2 && scale != 4 && scale != 8)
		return false;
	arg->scale = (uint8_t)scale;
	/* Addresses consist of whole general registers, or of rip alone. */
	if ((arg->base.kind != HODO_SDT_NONE && arg->base.kind != HODO_SDT_RIP &&
	     (arg->base.kind != HODO_SDT_GENERAL || arg->base.bytes < 4)) ||
	    (arg->index.kind != HODO_SDT_NONE &&
	     (arg->index.kind != HODO_SDT_GENERAL || arg->index.bytes < 4 || arg->index.number == 4 ||
	      arg->base.kind == HODO_SDT_RIP)))
		return false;
	return take(o, ')');
}

static enum hodo_sdt_form take_operand(struct operand *o, struct hodo_sdt_arg *arg)
{
	if (take(o, '$'))
		return take_sum(o, arg) && (arg->symbol || o->at[-1] != '$') ? HODO_SDT_CONSTANT : HODO_SDT_UNKNOWN;
	if (o->at < o->end && *o->at == '%') {
		if (!take_register(o, &arg->reg))
			return HODO_SDT_UNKNOWN;
		if (arg->reg.kind == HODO_SDT_GENERAL || arg->reg.kind == HODO_SDT_VECTOR)
			return HODO_SDT_REGISTER;
		if (arg->reg.kind != HODO_SDT_SEGMENT || !take(o, ':'))
			return HODO_SDT_UNKNOWN;
		arg->segment = arg->reg;
		arg->reg = (struct hodo_sdt_register){ 0 };
	}
	arg->scale = 1;
	if (o->at == o->end || !take_sum(o, arg) || (take(o, '(') && !take_address(o, arg)))
		return HODO_SDT_UNKNOWN;
	return HODO_SDT_MEMORY;
}

/* "-4@", "8f@": o advances past it, if there is one. */
static void take_size(struct operand *o, struct hodo_sdt_arg *arg)
{
	struct operand s = *o;
	bool minus = take(&s, '-');
	uint64_t size = 0;

	for (; s.at < s.end && is_digit(*s.at) && size <= UINT8_MAX; s.at++)
		size = 10 * size + (unsigned)(*s.at - '0');
	arg->is_float = take(&s, 'f');
	if (!size || size > UINT8_MAX || !take(&s, '@')) {
		arg->is_float = false;
		return;
	}
	arg->size = (uint8_t)size;
	arg->is_signed = minus;
	*o = s;
}

bool hodo_sdt_arg_next(const char **args, struct hodo_sdt_arg *arg)
{
	const char *start = *args + strspn(*args, " ");
	struct operand o = { start, start + strcspn(start, " ") };

	*args = o.end;
	if (o.at == o.end)
		return false;
	*arg = (struct hodo_sdt_arg){ 0 };
	take_size(&o, arg);
	arg->text = o.at;
	arg->text_len = (size_t)(o.end - o.at);
	arg->form = take_operand(&o, arg);
	if (o.at != o.end)
		arg->form = HODO_SDT_UNKNOWN;
	return true;
}

const char *hodo_sdt_type_name(const struct hodo_sdt_arg *arg, char buf[HODO_SDT_NAME_SIZE])
{
	if (!arg->size)
		return "?";
	snprintf(buf, HODO_SDT_NAME_SIZE, "%c%u", arg->is_float ? 'f' : arg->is_signed ? 'i' : 'u', arg->size * 8u);
	return buf;
}
