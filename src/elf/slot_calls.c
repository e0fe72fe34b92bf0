/* SPDX-License-Identifier: MIT */
/*
 * slot_calls.c - slots that are calls, found by their target:
 *
 *	the stubs of libhodo-functions, which a note names
 *	mcount, __fentry__ and __cyg_profile_func_*: in the file itself, through the linkage table, or by a
 *	pointer that the loader fills; by a register, with what loads it counted for the call
 */
#include "slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <core/note.h>
#include <hodo/abi.h>

#define MCOUNT_BACK 16u /* bytes before a call of mcount: the frame is made there */
#define LOOK_BACK 48u /* bytes before a call in which its first argument is loaded */

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

/* The same for a call of mcount, which follows push %rbp; mov %rsp,%rbp. */
static uint64_t mcount_entry(const struct hodo_elf_slots *f, const struct code *c, size_t call)
{
	const struct hodo_elf_symbol *s = hodo_elf_slots_symbol(f, c->addr + call);

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
	s = hodo_elf_slots_symbol(f, addr);
	return s ? s->start == addr : !f->symbols.n;
}

/*
 * The entered function, from a call of __cyg_profile_func_enter: its first argument, loaded shortly before it
 * (lea f(%rip),reg or mov $f,reg). An inlined function has the call in another one.
 */
static uint64_t entered(const struct hodo_elf_slots *f, const struct code *c, size_t call)
{
	const struct hodo_elf_symbol *s = hodo_elf_slots_symbol(f, c->addr + call);

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
	const struct hodo_elf_symbol *s = hodo_elf_slots_symbol(f, addr);
	int err = hodo_elf_slots_code(f, &code);

	if (err)
		return err;
	if (role == HODO_ELF_STUB_EXIT || role == HODO_ELF_CYG_EXIT)
		return hodo_elf_slots_exit(f, addr);
	return hodo_elf_slots_add(f, s ? s->start : addr, role == HODO_ELF_STUB_ENTRY ? HODO_ELF_SLOT_ENTRY_EXIT :
							  role == HODO_ELF_CYG_ENTER  ? HODO_ELF_SLOT_INSTRUMENT :
											HODO_ELF_SLOT_MCOUNT);
}

/* As src/user/objects/imports.c switches them. If gprof profiles the program, which a library cannot know, they stay.
 * */
static int add_code(struct hodo_elf_slots *f, const struct code *c, size_t at, enum hodo_elf_role role)
{
	const uint8_t *p = c->bytes + at;
	bool pointer = p[0] == 0xff, jump = p[0] == 0xe9 || (pointer && p[1] == 0x25);
	const struct hodo_elf_slot_code code = { .addr = c->addr + at, .bytes = pointer ? 6 : 5,
						 .idle = jump ? 0xc3 : pointer ? 0x85 : 0xa9,
						 .switched = role < HODO_ELF_MCOUNT };

	return hodo_elf_slots_code(f, &code);
}

static int add_call(struct hodo_elf_slots *f, const struct code *c, size_t at, enum hodo_elf_role role)
{
	int err = add_code(f, c, at, role);

	if (err)
		return err;
	switch (role) {
	case HODO_ELF_STUB_ENTRY:
		return hodo_elf_slots_add(f, entry_of(c, at), HODO_ELF_SLOT_ENTRY_EXIT);
	case HODO_ELF_CYG_ENTER:
		return hodo_elf_slots_add(f, entered(f, c, at), HODO_ELF_SLOT_INSTRUMENT);
	case HODO_ELF_MCOUNT:
		return hodo_elf_slots_add(f, mcount_entry(f, c, at), HODO_ELF_SLOT_MCOUNT);
	case HODO_ELF_FENTRY:
		return hodo_elf_slots_add(f, entry_of(c, at), HODO_ELF_SLOT_MCOUNT);
	case HODO_ELF_STUB_EXIT:
	case HODO_ELF_CYG_EXIT:
		return hodo_elf_slots_exit(f, c->addr + at);
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
				      (!pointer || hodo_elf_slots_symbol(f, c->addr + i))))
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

int hodo_elf_slots_calls(struct hodo_elf_slots *f, const struct hodo_elf *e)
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
