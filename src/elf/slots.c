/* SPDX-License-Identifier: MIT */
/*
 * slots.c - finds slots of all kinds. Those that are calls, by their target:
 *
 *	the stubs of libhodo-functions, which a note names
 *	mcount, __fentry__ and __cyg_profile_func_*: in the file itself, through the linkage table, or by a
 *	pointer that the loader fills; by a register, with what loads it counted for the call
 *
 * And those that tables list: clang's XRay sleds, and -fpatchable-function-entry. If such a table holds addresses,
 * those of a position-independent file are in its relocations.
 */
#include "slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <base/order.h>
#include <base/vec.h>
#include <core/note.h>
#include <core/search.h>
#include <hodo/abi.h>

#define FOUND_MAX (1u << 24)
#define MCOUNT_BACK 16u /* bytes before a call of mcount: the frame is made there */
#define LOOK_BACK 48u /* bytes before a call in which its first argument is loaded */

/* ------------------------------------------------------------------------- lists */

static int add_function(struct hodo_elf_slots *s, uint64_t addr, enum hodo_elf_slot slot)
{
	if (s->n == FOUND_MAX)
		return 0;
	return hodo_vec_push(s->list, s->n, ((struct hodo_elf_function){ .addr = addr, .slot = slot, .name = "" }));
}

static int add_exit(struct hodo_elf_slots *s, uint64_t addr)
{
	return s->nexits == FOUND_MAX ? 0 : hodo_vec_push(s->exits, s->nexits, addr);
}

static int add_slot(struct hodo_elf_slots *s, const struct hodo_elf_slot_code *code)
{
	return s->ncode == FOUND_MAX ? 0 : hodo_vec_push(s->code, s->ncode, *code);
}

/* The function that covers the address; NULL: none. */
static const struct hodo_elf_symbol *symbol_at(const struct hodo_elf_slots *s, uint64_t addr)
{
	uint32_t i = hodo_elf_symbols_at(&s->symbols, addr);

	return i == HODO_ELF_NONE ? NULL : &s->symbols.list[i];
}

static int by_addr(const void *a, const void *b)
{
	const struct hodo_elf_function *x = a, *y = b;

	return hodo_order(x->addr, y->addr) ?: hodo_order(x->slot, y->slot);
}

static void sort_functions(struct hodo_elf_slots *s)
{
	uint32_t kept = 0;

	hodo_order_sort(s->list, s->n, by_addr);
	for (uint32_t i = 0; i < s->n; i++)
		if (kept == 0 || s->list[kept - 1].addr != s->list[i].addr)
			s->list[kept++] = s->list[i];
	s->n = kept;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct hodo_elf_symbol *symbol = symbol_at(s, s->list[i].addr);

		if (symbol)
			s->list[i].name = symbol->name;
	}
}

/* The last function from low on that starts at or below the address, or NULL. */
static struct hodo_elf_function *function_between(const struct hodo_elf_slots *s, uint64_t low, uint64_t addr)
{
	uint32_t behind = hodo_search(i, s->n, s->list[i].addr > addr);

	return behind && s->list[behind - 1].addr >= low ? &s->list[behind - 1] : NULL;
}

static void count_exits(struct hodo_elf_slots *s)
{
	for (uint32_t i = 0; i < s->nexits; i++) {
		const struct hodo_elf_symbol *symbol = symbol_at(s, s->exits[i]);
		struct hodo_elf_function *f = function_between(s, symbol ? symbol->start : 0, s->exits[i]);

		/* f.cold is elsewhere, and has exits of f. */
		if (!f && symbol && symbol->whole != symbol->first) {
			symbol = &s->symbols.list[symbol->whole];
			f = function_between(s, symbol->start, symbol->end - 1);
		}
		if (f)
			f->exits++;
	}
}

/* When all are added: sorts and names them, and counts exits. */
static void settle(struct hodo_elf_slots *s)
{
	sort_functions(s);
	count_exits(s);
}

static const struct {
	const char *name;
	enum hodo_elf_role role;
} called[] = {
	{ "__cyg_profile_func_enter", HODO_ELF_CYG_ENTER },
	{ "__cyg_profile_func_exit", HODO_ELF_CYG_EXIT },
	{ "mcount", HODO_ELF_MCOUNT },
	{ "_mcount", HODO_ELF_MCOUNT },
	{ "__fentry__", HODO_ELF_FENTRY },
};
#define CALLED (sizeof(called) / sizeof(called[0]))

static void add_target(struct hodo_elf_slots *f, uint64_t addr, enum hodo_elf_role role, bool pointer)
{
	for (uint32_t i = 0; i < f->ntargets; i++)
		if (f->target[i].addr == addr && f->target[i].pointer == pointer)
			return; /* the first counts: our stubs have the same name */
	if (f->ntargets == HODO_ELF_TARGETS_MAX)
		return;
	f->target[f->ntargets].addr = addr;
	f->target[f->ntargets].role = role;
	f->target[f->ntargets++].pointer = pointer;
}

/* ----------------------------------------------------------------------- targets */

static void note_targets(struct hodo_elf_slots *f, const struct hodo_elf *e)
{
	GElf_Shdr sh;
	Elf_Scn *scn = hodo_elf_section(e->elf, NULL, ".note.hodo", &sh);
	Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;
	const uint8_t *at = data ? data->d_buf : NULL, *start = at;
	struct hodo_elf_note note;

	while (at && hodo_note_next(&at, start + data->d_size, &note)) {
		struct hodo_note_functions n;
		uint64_t addr = sh.sh_addr + (uint64_t)(note.desc - start);

		if (note.type != HODO_NOTE_FUNCTIONS || !hodo_note_is(&note, "Hodo", 5) || note.size < sizeof(n))
			continue;
		memcpy(&n, note.desc, sizeof(n));
		add_target(f, addr + (uint64_t)(int64_t)n.entry, HODO_ELF_STUB_ENTRY, false);
		add_target(f, addr + 4 + (uint64_t)(int64_t)n.exit, HODO_ELF_STUB_EXIT, false);
	}
}

/* Words that the loader points to the called functions. */
static int pointer_target(void *arg, uint64_t offset, uint32_t type, int64_t addend, const char *symbol,
			  uint64_t value)
{
	for (unsigned i = 0; i < CALLED; i++)
		if (strcmp(symbol, called[i].name) == 0)
			add_target(arg, offset, called[i].role, true);
	return 0;
}

static void symbol_targets(struct hodo_elf_slots *f)
{
	for (uint32_t i = 0; i < f->symbols.n; i++)
		for (unsigned k = 0; k < CALLED; k++)
			if (strcmp(f->symbols.list[i].name, called[k].name) == 0)
				add_target(f, f->symbols.list[i].start, called[k].role, false);
}

/* -------------------------------------------------------------------------- code */

/* One executable segment in memory. */
struct code {
	uint8_t *bytes;
	uint64_t addr;
	size_t size;
};

/* Calls each for every executable segment that is complete in the file. */
static int each_code(struct hodo_elf_slots *f, const struct hodo_elf *e,
		     int (*each)(struct hodo_elf_slots *f, const struct code *c))
{
	uint64_t left = 0;
	struct stat st;
	GElf_Phdr ph;
	int err = 0;

	if (fstat(e->fd, &st) < 0)
		return -EBADMSG;
	left = (uint64_t)st.st_size; /* segments overlap only in files made to waste time */
	for (size_t i = 0; !err && hodo_elf_segment(e->elf, &i, PT_LOAD, PF_X, &ph);) {
		struct code c;

		if (ph.p_filesz < 6 || ph.p_filesz > left)
			continue;
		left -= ph.p_filesz;
		c.addr = ph.p_vaddr;
		c.size = ph.p_filesz;
		c.bytes = malloc(c.size);
		if (!c.bytes)
			return -ENOMEM;
		if (hodo_elf_read_at(e, c.addr, c.bytes, c.size) == 0)
			err = each(f, &c);
		free(c.bytes);
	}
	return err;
}

static uint32_t load32(const uint8_t *p)
{
	uint32_t n;

	memcpy(&n, p, sizeof(n));
	return n;
}

static uint64_t operand(const struct code *c, size_t at, size_t length)
{
	return c->addr + at + length + (uint64_t)(int64_t)(int32_t)load32(c->bytes + at + length - 4);
}

/* Entries of the linkage table: jumps through the pointers. Calls may target any of the bytes that can
 * precede the jump. */
static int find_linkage(struct hodo_elf_slots *f, const struct code *c)
{
	uint32_t pointers = f->ntargets;
	const uint8_t *p = c->bytes;

	for (size_t i = 0; i + 6 <= c->size; i++) {
		uint64_t at;

		if (p[i] != 0xff || p[i + 1] != 0x25)
			continue;
		at = operand(c, i, 6);
		for (uint32_t k = 0; k < pointers; k++) {
			size_t start = i;

			if (!f->target[k].pointer || f->target[k].addr != at)
				continue;
			add_target(f, c->addr + start, f->target[k].role, false);
			if (start >= 1 && p[start - 1] == 0xf2) /* bnd */
				add_target(f, c->addr + --start, f->target[k].role, false);
			if (start >= 6 && memcmp(p + start - 6, "\x41\xbb", 2) == 0) /* mold: mov $index, %r11d */
				add_target(f, c->addr + (start -= 6), f->target[k].role, false);
			if (start >= 4 && memcmp(p + start - 4, "\xf3\x0f\x1e\xfa", 4) == 0) /* endbr64 */
				add_target(f, c->addr + start - 4, f->target[k].role, false);
		}
	}
	return 0;
}

/* First address of the function with the call at its entry. */
static uint64_t entry_of(const struct code *c, size_t call)
{
	if (call >= 1 && c->bytes[call - 1] == 0x67) /* the linker replaced a longer call by a direct one */
		call--;
	if (call >= 4 && memcmp(c->bytes + call - 4, "\xf3\x0f\x1e\xfa", 4) == 0)
		call -= 4;
	return c->addr + call;
}

/* First address of the function with a call of mcount, which follows push %rbp; mov %rsp,%rbp. */
static uint64_t mcount_entry(const struct hodo_elf_slots *f, const struct code *c, size_t call)
{
	const struct hodo_elf_symbol *s = symbol_at(f, c->addr + call);

	if (s)
		return s->start;
	for (size_t back = 4; back <= MCOUNT_BACK && back <= call; back++)
		if (memcmp(c->bytes + call - back, "\x55\x48\x89\xe5", 4) == 0)
			return entry_of(c, call - back);
	return c->addr + call;
}

static bool is_function(const struct hodo_elf_slots *f, const struct code *c, uint64_t addr)
{
	const struct hodo_elf_symbol *s;

	if (addr < c->addr || addr - c->addr >= c->size)
		return false;
	s = symbol_at(f, addr);
	return s ? s->start == addr : !f->symbols.n;
}

/*
 * The entered function, from a call of __cyg_profile_func_enter: its first argument, loaded shortly before it
 * (lea f(%rip),reg or mov $f,reg). An inlined function has the call in another one.
 */
static uint64_t entered(const struct hodo_elf_slots *f, const struct code *c, size_t call)
{
	const struct hodo_elf_symbol *s = symbol_at(f, c->addr + call);

	for (size_t back = 5; back <= LOOK_BACK && back <= call; back++) {
		size_t at = call - back;
		const uint8_t *p = c->bytes + at;
		uint64_t addr;

		if (back >= 7 && (p[0] & 0xfb) == 0x48 && p[1] == 0x8d && (p[2] & 0xc7) == 5)
			addr = operand(c, at, 7);
		else if ((p[0] & 0xf8) == 0xb8)
			addr = load32(p + 1);
		else
			continue;
		if (is_function(f, c, addr))
			return addr;
	}
	return s ? s->start : c->addr + call;
}

#define LOAD_BYTES 10u

/* The load of a register stays, and so does the call. */
static int add_load(struct hodo_elf_slots *f, uint64_t addr, enum hodo_elf_role role)
{
	const struct hodo_elf_slot_code code = { .addr = addr, .bytes = LOAD_BYTES };
	const struct hodo_elf_symbol *s = symbol_at(f, addr);
	int err = add_slot(f, &code);

	if (err)
		return err;
	if (role == HODO_ELF_STUB_EXIT || role == HODO_ELF_CYG_EXIT)
		return add_exit(f, addr);
	return add_function(f, s ? s->start : addr, role == HODO_ELF_STUB_ENTRY ? HODO_ELF_SLOT_ENTRY_EXIT :
							  role == HODO_ELF_CYG_ENTER  ? HODO_ELF_SLOT_INSTRUMENT :
											HODO_ELF_SLOT_MCOUNT);
}

/* As src/user/objects/imports.c switches them. If gprof profiles the program, which a library cannot know, they stay.
 */
static int add_code(struct hodo_elf_slots *f, const struct code *c, size_t at, enum hodo_elf_role role)
{
	const uint8_t *p = c->bytes + at;
	bool pointer = p[0] == 0xff, jump = p[0] == 0xe9 || (pointer && p[1] == 0x25);
	const struct hodo_elf_slot_code code = { .addr = c->addr + at, .bytes = pointer ? 6 : 5,
						 .idle = jump ? 0xc3 : pointer ? 0x85 : 0xa9,
						 .switched = role < HODO_ELF_MCOUNT };

	return add_slot(f, &code);
}

static int add_call(struct hodo_elf_slots *f, const struct code *c, size_t at, enum hodo_elf_role role)
{
	int err = add_code(f, c, at, role);

	if (err)
		return err;
	switch (role) {
	case HODO_ELF_STUB_ENTRY:
		return add_function(f, entry_of(c, at), HODO_ELF_SLOT_ENTRY_EXIT);
	case HODO_ELF_CYG_ENTER:
		return add_function(f, entered(f, c, at), HODO_ELF_SLOT_INSTRUMENT);
	case HODO_ELF_MCOUNT:
		return add_function(f, mcount_entry(f, c, at), HODO_ELF_SLOT_MCOUNT);
	case HODO_ELF_FENTRY:
		return add_function(f, entry_of(c, at), HODO_ELF_SLOT_MCOUNT);
	case HODO_ELF_STUB_EXIT:
	case HODO_ELF_CYG_EXIT:
		return add_exit(f, c->addr + at);
	}
	return 0;
}

/* movabs $imm64, %reg: the address of what is called then, or its distance from the global offset table. */
static int find_loads(struct hodo_elf_slots *f, const struct code *c)
{
	const uint8_t *p = c->bytes;
	int err = 0;

	for (size_t i = 0; i + 10 <= c->size && !err; i++) {
		uint64_t value;

		if ((p[i] & 0xfe) != 0x48 || (p[i + 1] & 0xf8) != 0xb8)
			continue;
		memcpy(&value, p + i + 2, sizeof(value));
		for (uint32_t k = 0; k < f->ntargets && !err; k++) {
			if (f->target[k].addr != value && (!f->got || f->target[k].addr != value + f->got))
				continue;
			err = add_load(f, c->addr + i, f->target[k].role);
			break;
		}
	}
	return err;
}

static int find_calls(struct hodo_elf_slots *f, const struct code *c)
{
	const uint8_t *p = c->bytes;
	int err = 0;

	for (size_t i = 0; i + 6 <= c->size && !err; i++) {
		bool pointer = p[i] == 0xff && (p[i + 1] == 0x15 || p[i + 1] == 0x25);
		bool direct = p[i] == 0xe8, jump = p[i] == 0xe9 || (pointer && p[i + 1] == 0x25);
		uint64_t at;

		if (!direct && !jump && !pointer)
			continue;
		at = operand(c, i, pointer ? 6 : 5);
		for (uint32_t k = 0; k < f->ntargets && !err; k++) {
			if (f->target[k].addr != at || f->target[k].pointer != pointer)
				continue;
			/* A function may end with a jump there; the linkage table's jumps do not belong to a
			 * function. */
			if (!jump || (f->target[k].role == HODO_ELF_CYG_EXIT &&
				      (!pointer || symbol_at(f, c->addr + i))))
				err = add_call(f, c, i, f->target[k].role);
			break;
		}
	}
	return err;
}

/* DT_PLTGOT; 0: it has none. */
static uint64_t find_got(const struct hodo_elf *e)
{
	GElf_Shdr sh;
	Elf_Scn *scn = hodo_elf_section(e->elf, NULL, ".dynamic", &sh);
	Elf_Data *data = scn && sh.sh_type == SHT_DYNAMIC ? elf_getdata(scn, NULL) : NULL;
	GElf_Dyn dyn;

	for (int i = 0; data && gelf_getdyn(data, i, &dyn) && dyn.d_tag != DT_NULL; i++)
		if (dyn.d_tag == DT_PLTGOT)
			return dyn.d_un.d_ptr;
	return 0;
}

/* Adds those that are calls. 0, -EBADMSG (what was found stays), -EIO, -ENOMEM. */
static int find_slot_calls(struct hodo_elf_slots *f, const struct hodo_elf *e)
{
	GElf_Ehdr eh;
	int err;

	/* The instructions are x86's. */
	if (!gelf_getehdr(e->elf, &eh) || eh.e_machine != EM_X86_64)
		return 0;
	note_targets(f, e);
	symbol_targets(f);
	err = hodo_elf_relocations(e->elf, pointer_target, f);
	if (!err && f->ntargets)
		err = each_code(f, e, find_linkage);
	if (!err && f->ntargets)
		err = each_code(f, e, find_calls);
	if (!err && f->ntargets) {
		f->got = find_got(e);
		err = each_code(f, e, find_loads);
	}
	return err;
}

/* ------------------------------------------------------------------------ tables */

/* One entry of xray_instr_map; in version 2, both addresses are relative to their own fields. */
struct xray_entry {
	uint64_t addr;
	uint64_t function;
	uint8_t kind;
	uint8_t always;
	uint8_t version;
	uint8_t padding[13];
};
_Static_assert(sizeof(struct xray_entry) == 32, "as clang writes it");

enum { XRAY_ENTRY = 0, XRAY_EXIT = 1, XRAY_TAIL = 2, XRAY_ENTRY_ARGS = 3 };

/* A table of addresses as the loader would make it. */
struct table {
	uint8_t *bytes;
	uint64_t addr;
	size_t size;
};

/* R_X86_64_RELATIVE, R_X86_64_64 and their equivalents on other machines. */
static int relocate(void *arg, uint64_t offset, uint32_t type, int64_t addend, const char *symbol, uint64_t value)
{
	struct table *t = arg;
	uint64_t target = (uint64_t)addend + value;

	if (offset >= t->addr && offset - t->addr < t->size && t->size - (offset - t->addr) >= sizeof(target))
		memcpy(t->bytes + (offset - t->addr), &target, sizeof(target));
	return 0;
}

/* 1, 0 if there is no such section, -ENOMEM. */
static int load_table(const struct hodo_elf *e, const char *name, struct table *t)
{
	const uint8_t *bytes = hodo_elf_section_bytes(e->elf, name, &t->addr, &t->size);
	int err;

	if (!bytes || !t->size)
		return 0;
	t->bytes = malloc(t->size);
	if (!t->bytes)
		return -ENOMEM;
	memcpy(t->bytes, bytes, t->size);
	err = hodo_elf_relocations(e->elf, relocate, t);
	if (err == -ENOMEM)
		free(t->bytes);
	return err == -ENOMEM ? err : 1;
}

#define SLED_BYTES 11u

static int add_sled(struct hodo_elf_slots *f, const struct xray_entry *x)
{
	const struct hodo_elf_slot_code code = { .addr = x->addr, .bytes = SLED_BYTES,
						 .idle = x->kind == XRAY_EXIT ? 0xc3 : 0xeb, .switched = true };
	int err = x->kind <= XRAY_ENTRY_ARGS ? add_slot(f, &code) : 0;

	if (err)
		return err;
	if (x->kind == XRAY_ENTRY || x->kind == XRAY_ENTRY_ARGS)
		return add_function(f, x->function, HODO_ELF_SLOT_XRAY);
	return x->kind == XRAY_EXIT || x->kind == XRAY_TAIL ? add_exit(f, x->addr) : 0;
}

static int find_xray(struct hodo_elf_slots *f, const struct hodo_elf *e)
{
	struct table t;
	int err = load_table(e, "xray_instr_map", &t);

	if (err <= 0)
		return err;
	err = 0;
	for (size_t i = 0; i < t.size / sizeof(struct xray_entry) && !err; i++) {
		uint64_t at = t.addr + i * sizeof(struct xray_entry);
		struct xray_entry x;

		memcpy(&x, t.bytes + i * sizeof(x), sizeof(x));
		if (x.version > 2)
			continue;
		if (x.version == 2) {
			x.addr += at;
			x.function += at + offsetof(struct xray_entry, function);
		}
		err = add_sled(f, &x);
	}
	free(t.bytes);
	return err;
}

#define NOOPS_MAX 64u /* in front of a function */
static const uint8_t endbr[4] = { 0xf3, 0x0f, 0x1e, 0xfa };

/* If no-ops also precede the function, the table has the first of those. */
static uint64_t slot_of(const struct hodo_elf_slots *f, const struct hodo_elf *e, uint64_t addr)
{
	uint8_t code[4];

	for (unsigned k = 0; k < NOOPS_MAX; k++) {
		const struct hodo_elf_symbol *s = symbol_at(f, addr + k);

		/*
		 * A symbol without a size (frame_dummy) seems to reach to the next function, over that one's
		 * no-ops.
		 */
		if (!s || (s->start < addr && s->size == 0))
			continue;
		if (s->start <= addr)
			return addr;
		if (hodo_elf_read_at(e, s->start, code, sizeof(code)) == 0 && memcmp(code, endbr, sizeof(endbr)) == 0)
			return s->start + sizeof(endbr);
		return s->start;
	}
	return addr;
}

/* The first instruction of the function with these no-ops: endbr64 may precede them. */
static uint64_t function_of(const struct hodo_elf_slots *f, const struct hodo_elf *e, uint64_t addr)
{
	const struct hodo_elf_symbol *s = symbol_at(f, addr);
	uint8_t code[4];

	if (s && addr - s->start <= sizeof(endbr))
		return s->start;
	if (addr >= sizeof(code) && hodo_elf_read_at(e, addr - sizeof(code), code, sizeof(code)) == 0 &&
	    memcmp(code, endbr, sizeof(endbr)) == 0)
		return addr - sizeof(endbr);
	return addr;
}

static const uint8_t single[5] = { 0x90, 0x90, 0x90, 0x90, 0x90 };
static const uint8_t whole[5] = { 0x0f, 0x1f, 0x44, 0x00, 0x08 };

/* Adds the slot and its function, if the five bytes there are no-ops with room for a call. */
static int add_noops(struct hodo_elf_slots *f, const struct hodo_elf *e, uint64_t addr)
{
	struct hodo_elf_slot_code slot = { .addr = addr, .bytes = sizeof(single) };
	uint8_t code[5];
	GElf_Ehdr eh;
	int err;

	if (hodo_elf_read_at(e, addr, code, sizeof(code)) != 0 ||
	    (memcmp(code, single, sizeof(single)) != 0 && memcmp(code, whole, sizeof(whole)) != 0))
		return 0;
	slot.idle = code[0];
	/* In a program at low addresses, another byte is changed first (src/func/slots/entry_only.c). */
	slot.switched = code[0] != single[0] || !gelf_getehdr(e->elf, &eh) || eh.e_type != ET_EXEC;
	err = add_slot(f, &slot);
	return err ? err : add_function(f, function_of(f, e, addr), HODO_ELF_SLOT_PATCHABLE);
}

static int find_patchable(struct hodo_elf_slots *f, const struct hodo_elf *e)
{
	struct table t;
	int err = load_table(e, "__patchable_function_entries", &t);

	if (err <= 0)
		return err;
	err = 0;
	for (size_t i = 0; i < t.size / 8 && !err; i++) {
		uint64_t addr;

		memcpy(&addr, t.bytes + 8 * i, sizeof(addr));
		err = add_noops(f, e, slot_of(f, e, addr));
	}
	free(t.bytes);
	return err;
}

int hodo_elf_slots_find(struct hodo_elf_slots *s, const struct hodo_elf *e)
{
	static int (*const finders[])(struct hodo_elf_slots *, const struct hodo_elf *) = {
		find_slot_calls, find_xray, find_patchable
	};
	int err;

	*s = (struct hodo_elf_slots){ 0 };
	err = hodo_elf_symbols_add(&s->symbols, e->elf);
	hodo_elf_symbols_sort(&s->symbols);
	if (err != -ENOMEM)
		err = hodo_elf_symbols_join(&s->symbols);
	for (unsigned i = 0; i < sizeof(finders) / sizeof(finders[0]) && err != -ENOMEM; i++)
		err = finders[i](s, e);
	if (err == -ENOMEM)
		return err;
	settle(s);
	return 0;
}

void hodo_elf_slots_free(struct hodo_elf_slots *s)
{
	free(s->list);
	free(s->exits);
	free(s->code);
	hodo_elf_symbols_free(&s->symbols);
	*s = (struct hodo_elf_slots){ 0 };
}
