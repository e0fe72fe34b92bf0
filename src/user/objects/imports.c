/* SPDX-License-Identifier: MIT */
/*
 * imports.c - slots that call a function which the object imports from libhodo, found through its tables in
 * memory. The object may not be relocated yet. Tables are trusted only inside the object's own segments.
 *
 * The object's relocations say which words of its global offset table lead
 * there; stubs of its procedure linkage table jump through them. The slots:
 *
 *	call stub              E8 rel32      off: A9, test $imm32, %eax
 *	jmp stub               E9 rel32      off: C3, ret
 *	call *word(%rip)       FF 15 rel32   off: 85 15, test %edx, word(%rip)
 *	jmp *word(%rip)        FF 25 rel32   off: C3, ret
 *
 * gcc's slots are only of the first kind: calls of a stub in their own object, whose address is in its note.
 * We have seen no other instruction with these five bytes; a jump's operand or a constant would have to hold
 * the distance from itself to the stub.
 *
 * -fno-plt and -pg make the other two. Jumps occur only at exits: the call before a function's return,
 * optimised. Nothing after a slot depends on what the no-op leaves differently from the call: these are calls
 * by the C ABI, which clobber the flags. (Around calls of __fentry__, which have a convention of their own,
 * the flags are free at a function's first instruction.) A conditional jump to the exit function, which we
 * have not seen a compiler make, stays: while nobody traces, its hook returns at once.
 *
 * With -mcmodel=large the function is called through a register, which may be loaded anywhere before. We find
 * the load, of the address or of its distance from the global offset table:
 *
 *	movabs $imm64, %reg    48 B8 imm64     stays as it is
 */
#include <dlfcn.h>
#include <elf.h>
#include <sys/auxv.h>
#include "imports.h"
#include "objects.h"

/* ------------------------------------------------------------------- tables */

/* The loader relocates the addresses in the dynamic section in place; not in every object, and not every loader. */
static uintptr_t place(uintptr_t base, uintptr_t value)
{
	return value && value < base ? base + value : value;
}

/* The second word of a hash table. GNU's: undefined symbols come before all that are in it. */
static uint32_t count_symbols(uintptr_t hash)
{
	return hodo_objects_room(hash, PF_R) >= 16 ? ((const uint32_t *)hash)[1] : 0;
}

static void take_relocations(struct hodo_dynamic *d, unsigned i, uintptr_t table, size_t bytes)
{
	size_t room = hodo_objects_room(table, PF_R);

	if (!table || !room)
		return;
	d->relocations[i].entry = (const ElfW(Rela) *)table;
	d->relocations[i].n = (bytes < room ? bytes : room) / sizeof(ElfW(Rela));
}

/*
 * GNU's table has functions whose address a program that is not position-independent takes, as if it defined
 * them; and if the table is empty, bfd writes 1. Functions called in other objects are in a relocation.
 */
static uint32_t count_referred(const struct hodo_dynamic *d, uint32_t n)
{
	for (unsigned i = 0; i < 2; i++) {
		for (size_t k = 0; k < d->relocations[i].n; k++) {
			uint32_t symbol = (uint32_t)ELF64_R_SYM(d->relocations[i].entry[k].r_info);

			n = symbol >= n && symbol < UINT32_MAX ? symbol + 1 : n;
		}
	}
	return n;
}

struct hodo_dynamic hodo_dynamic_read(const struct dl_phdr_info *info)
{
	uintptr_t base = info->dlpi_addr, value[DT_JMPREL + 1] = { 0 }, gnu = 0;
	struct hodo_dynamic d = { .base = base };
	const ElfW(Dyn) *dyn = 0;
	size_t n = 0;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) {
			dyn = (const ElfW(Dyn) *)(base + info->dlpi_phdr[i].p_vaddr);
			n = hodo_objects_room((uintptr_t)dyn, PF_R) / sizeof(*dyn);
		}
	}
	for (; dyn && n && dyn->d_tag != DT_NULL; dyn++, n--) {
		if (dyn->d_tag == DT_GNU_HASH)
			gnu = place(base, dyn->d_un.d_ptr);
		else if (dyn->d_tag > DT_NULL && dyn->d_tag <= DT_JMPREL)
			value[dyn->d_tag] = dyn->d_un.d_val;
	}
	d.got = place(base, value[DT_PLTGOT]);
	take_relocations(&d, 0, place(base, value[DT_RELA]), value[DT_RELASZ]);
	take_relocations(&d, 1, place(base, value[DT_JMPREL]), value[DT_PLTRELSZ]);
	d.symbols = (const ElfW(Sym) *)place(base, value[DT_SYMTAB]);
	d.strings = (const char *)place(base, value[DT_STRTAB]);
	d.strings_bytes = value[DT_STRSZ];
	d.nsymbols = count_symbols(gnu ? gnu : place(base, value[DT_HASH]));
	if (!base || d.nsymbols == 1)
		d.nsymbols = count_referred(&d, d.nsymbols);
	if (hodo_objects_room((uintptr_t)d.strings, PF_R) < d.strings_bytes ||
	    hodo_objects_room((uintptr_t)d.symbols, PF_R) / sizeof(*d.symbols) < d.nsymbols)
		d.nsymbols = 0;
	return d;
}

uint32_t hodo_dynamic_import(const struct hodo_dynamic *d, const char *name)
{
	size_t bytes = __builtin_strlen(name) + 1;

	for (uint32_t i = 1; i < d->nsymbols; i++) {
		const ElfW(Sym) *s = &d->symbols[i];
		const char *p = d->strings + s->st_name;

		if (s->st_shndx != SHN_UNDEF || s->st_name >= d->strings_bytes ||
		    bytes > d->strings_bytes - s->st_name || p[2] != name[2] || p[3] != name[3])
			continue;
		if (__builtin_memcmp(p, name, bytes) == 0)
			return i;
	}
	return 0;
}

/* ------------------------------------------------------------------- search */

#define WORDS_MAX 4 /* of the global offset table, for one import */
#define STUBS_MAX 12

struct target {
	const struct hodo_import *import;
	uintptr_t word[WORDS_MAX];
	uintptr_t stub[STUBS_MAX];
	unsigned nwords, nstubs;
	unsigned nwords_plain; /* of them, not the linkage table's */
};

struct search {
	struct target targets[HODO_IMPORTS_MAX];
	unsigned ntargets;
	uintptr_t start, end; /* of the current segment */
	uintptr_t got; /* what loads are relative to */
	const struct hodo_import_user *user;
	bool no_ops; /* search for slots that were made no-ops */
	bool ended;
};

#ifdef __x86_64__

bool hodo_imports_any(const struct hodo_dynamic *d, const struct hodo_import *imports, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (hodo_objects_room(imports[i].own, PF_X) || hodo_dynamic_import(d, imports[i].name))
			return true;
	}
	return false;
}

static void find_words(const struct hodo_dynamic *d, struct target *t)
{
	uint32_t symbol = hodo_dynamic_import(d, t->import->name);

	for (unsigned i = 0; symbol && i < 2; i++) {
		for (size_t k = 0; k < d->relocations[i].n && t->nwords < WORDS_MAX; k++) {
			const ElfW(Rela) *r = &d->relocations[i].entry[k];

			if (ELF64_R_SYM(r->r_info) == symbol && (ELF64_R_TYPE(r->r_info) == R_X86_64_JUMP_SLOT ||
								 ELF64_R_TYPE(r->r_info) == R_X86_64_GLOB_DAT))
				t->word[t->nwords++] = d->base + r->r_offset;
		}
		if (i == 0)
			t->nwords_plain = t->nwords;
	}
}

static uintptr_t operand(uintptr_t from)
{
	int32_t distance;

	__builtin_memcpy(&distance, (const void *)from, sizeof(distance));
	return from + 4 + (uintptr_t)(intptr_t)distance;
}

static struct target *target_of_word(struct search *s, uintptr_t word, bool *linkage)
{
	for (unsigned i = 0; i < s->ntargets; i++) {
		for (unsigned k = 0; k < s->targets[i].nwords; k++) {
			*linkage = k >= s->targets[i].nwords_plain;
			if (s->targets[i].word[k] == word)
				return &s->targets[i];
		}
	}
	return 0;
}

static inline struct target *target_of_stub(struct search *s, uintptr_t stub)
{
	for (struct target *t = s->targets, *end = t + s->ntargets; t < end; t++) {
		for (const uintptr_t *p = t->stub, *behind = p + t->nstubs; p < behind; p++) {
			if (*p == stub)
				return t;
		}
	}
	return 0;
}

/* ------------------------------------------------------------------ the text */

/*
 * Whether it is a stub of the linkage table, and not a function's last jump. A jump through DT_JMPREL's words
 * is a stub; a stub for the other words has its own shape. A last jump with that shape is taken for a stub
 * that nobody calls, and stays.
 */
static bool is_stub(const uint8_t *p, uintptr_t start)
{
	uintptr_t addr = (uintptr_t)p;

	if (addr - start >= 5 && p[-1] == 0xf2)
		return __builtin_memcmp(p - 5, "\xf3\x0f\x1e\xfa", 4) == 0;
	if (addr - start >= 4 && __builtin_memcmp(p - 4, "\xf3\x0f\x1e\xfa", 4) == 0)
		return true;
	if (addr % 16 == 0 && p[6] == 0x68 && p[11] == 0xe9) /* push index; jmp to the resolver */
		return true;
	return addr % 8 == 0 && p[6] == 0x66 && p[7] == 0x90;
}

static void add_stub(struct target *t, const uint8_t *p, uintptr_t start)
{
	uintptr_t addr = (uintptr_t)p;

	if (t->nstubs + 4 > STUBS_MAX)
		return;
	t->stub[t->nstubs++] = addr;
	if (addr > start && p[-1] == 0xf2)
		t->stub[t->nstubs++] = --addr;
	if (addr - start >= 6 && __builtin_memcmp(p - 6, "\x41\xbb", 2) == 0) /* mold's: mov $index, %r11d */
		t->stub[t->nstubs++] = addr -= 6;
	if (addr - start >= 4 && __builtin_memcmp((const void *)(addr - 4), "\xf3\x0f\x1e\xfa", 4) == 0)
		t->stub[t->nstubs++] = addr - 4;
}

/* Adds a slot: its first byte when it is a call, and when it is not. */
static void add(struct search *s, const struct target *t, const uint8_t *p, uint8_t on, uint8_t off)
{
	struct hodo_import_slot slot = { (uintptr_t)p, t->import, on, off };

	s->ended = !s->user->found(s->user->data, &slot);
}

/* Instructions FF /2 and FF /4 (or 85 and C3 in place of FF): notes stubs, or adds slots. */
static void look_indirect(struct search *s, bool stubs, uint8_t first)
{
	const uint8_t *p = (const uint8_t *)s->start, *last = (const uint8_t *)s->end - 6;

	for (; p <= last && !s->ended && (p = __builtin_memchr(p, first, (size_t)(last - p) + 1)); p++) {
		struct target *t;
		bool stub;

		if ((p[1] != 0x15 || first == 0xc3) && (p[1] != 0x25 || first == 0x85))
			continue;
		t = target_of_word(s, operand((uintptr_t)p + 2), &stub);
		if (!t)
			continue;
		stub = p[1] == 0x25 && (stub || last - p < 6 || is_stub(p, s->start));
		if (stub && stubs)
			add_stub(t, p, s->start);
		if (stubs || stub)
			continue;
		if (p[1] == 0x15)
			add(s, t, p, 0xff, 0x85);
		else if (t->import->exit)
			add(s, t, p, 0xff, 0xc3);
	}
}

static void look_direct(struct search *s, uint8_t on, uint8_t off)
{
	uint8_t opcode = s->no_ops ? off : on;
	const uint8_t *p = (const uint8_t *)s->start, *last = (const uint8_t *)s->end - 5;

	for (; p <= last && !s->ended && (p = __builtin_memchr(p, opcode, (size_t)(last - p) + 1)); p++) {
		struct target *t = target_of_stub(s, operand((uintptr_t)p + 1));

		if (t && (on == 0xe8 || t->import->exit))
			add(s, t, p, on, off);
	}
}

/* movabs $value, %reg; any register. */
static void look_load(struct search *s, const struct target *t, uintptr_t value)
{
	const uint8_t *p = (const uint8_t *)s->start + 2, *last = (const uint8_t *)s->end - sizeof(value);

	for (; p <= last && !s->ended && (p = __builtin_memchr(p, (int)(value & 0xff), (size_t)(last - p) + 1)); p++) {
		if ((p[-2] & 0xfe) == 0x48 && (p[-1] & 0xf8) == 0xb8 &&
		    __builtin_memcmp(p, &value, sizeof(value)) == 0)
			add(s, t, p - 2, p[-2], p[-2]);
	}
}

static void loads_in(struct search *s)
{
	for (struct target *t = s->targets, *end = t + s->ntargets; t < end; t++) {
		for (unsigned i = 0; i < t->nwords; i++)
			look_load(s, t, t->word[i] - s->got);
		for (unsigned i = 0; i < t->nstubs; i++)
			look_load(s, t, t->stub[i] - s->got);
	}
}

static void stubs_in(struct search *s)
{
	look_indirect(s, true, 0xff);
}

static void slots_in(struct search *s)
{
	look_direct(s, 0xe8, 0xa9);
	if (!s->targets[0].import->name)
		return;
	look_indirect(s, false, s->no_ops ? 0x85 : 0xff);
	if (s->no_ops)
		look_indirect(s, false, 0xc3);
	look_direct(s, 0xe9, 0xc3);
}

static void each_segment(struct search *s, const struct dl_phdr_info *info, void (*f)(struct search *s))
{
	for (int i = 0; i < info->dlpi_phnum && !s->ended; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || p->p_filesz < 16)
			continue;
		s->start = info->dlpi_addr + p->p_vaddr;
		s->end = s->start + p->p_filesz;
		f(s);
	}
}

void hodo_imports_scan(const struct dl_phdr_info *info, const struct hodo_dynamic *d,
		       const struct hodo_import *imports, unsigned n, bool no_ops, const struct hodo_import_user *user)
{
	/* An object that is not loaded at its link address can only contain distances. */
	struct search s = { .user = user, .no_ops = no_ops, .got = info->dlpi_addr ? d->got : 0 };

	for (unsigned i = 0; i < n && i < HODO_IMPORTS_MAX; i++) {
		struct target *t = &s.targets[s.ntargets++];

		t->import = &imports[i];
		if (imports[i].name)
			find_words(d, t);
		if (hodo_objects_room(imports[i].own, PF_X)) /* linked into the same object */
			t->stub[t->nstubs++] = imports[i].own;
	}
	if (imports[0].name)
		each_segment(&s, info, stubs_in);
	each_segment(&s, info, slots_in);
	if (user->registers && (!info->dlpi_addr || d->got))
		each_segment(&s, info, loads_in);
}

bool hodo_imports_stubs(const struct hodo_note_functions *note, struct hodo_import imports[2])
{
	imports[0] = (struct hodo_import){ 0, HODO_TARGET(note->entry), false };
	imports[1] = (struct hodo_import){ 0, HODO_TARGET(note->exit), true };
	return hodo_objects_room(imports[0].own, PF_X) >= 8 && hodo_objects_room(imports[1].own, PF_X) >= 8;
}

/* ------------------------------------------------- -finstrument-functions */

/* libc's do: nothing is lost where they are not called. */
static bool returns_at_once(uintptr_t function)
{
	const uint8_t *p = (const uint8_t *)function;

	if (__builtin_memcmp(p, "\xf3\x0f\x1e\xfa", 4) == 0)
		p += 4;
	return *p == 0xc3;
}

bool hodo_imports_instrument(struct hodo_import imports[2])
{
	const struct hodo_interposed *enter = &hodo_interposed[HODO_CYG_ENTER], *exit = &hodo_interposed[HODO_CYG_EXIT];

	imports[0] = (struct hodo_import){ "__cyg_profile_func_enter", (uintptr_t)hodo_x86_enter, false };
	imports[1] = (struct hodo_import){ "__cyg_profile_func_exit", (uintptr_t)hodo_x86_exit, true };
	/*
	 * If another library has them and libhodo comes before it (preloaded), they are still called:
	 * arch/x86_64/imports.S.
	 */
	if ((enter->next && !returns_at_once(enter->next)) || (exit->next && !returns_at_once(exit->next)))
		return false;
	return !enter->at || enter->at == (uintptr_t)hodo_x86_enter; /* else the program has functions of that name */
}

/* --------------------------------------------------- what libhodo is before */

struct hodo_interposed hodo_interposed[HODO_REPLACED];

static bool in_libc(uintptr_t function)
{
	extern __typeof__(dladdr) dladdr __attribute__((weak));
	Dl_info info, libc;

	return !&dladdr || !dladdr((void *)function, &info) || !dladdr((void *)dl_iterate_phdr, &libc) ||
	       info.dli_fbase == libc.dli_fbase;
}

/* Whether libhodo is the first library, after the program itself, in which names are searched. */
static bool first_library(const struct link_map *program)
{
	extern __typeof__(dladdr1) dladdr1 __attribute__((weak));
	const struct link_map *first = program->l_next, *own;
	Dl_info info;

	if (first && first->l_addr == getauxval(AT_SYSINFO_EHDR)) /* the vDSO has none of these names */
		first = first->l_next;
	return first && dladdr1((void *)first_library, &info, (void **)&own, RTLD_DL_LINKMAP) && own == first;
}

/*
 * Where calls of that name lead. In a program that has the function's address fixed in it, the entry of its
 * linkage table stands for the function, and leads to the first library that defines one.
 */
static uintptr_t called(const char *name, uintptr_t own)
{
	extern __typeof__(dladdr1) dladdr1 __attribute__((weak));
	void *at = dlsym(RTLD_DEFAULT, name);
	const ElfW(Sym) *symbol;
	const struct link_map *map;
	Dl_info info;

	if (at && (uintptr_t)at != own && &dladdr1 && dladdr1(at, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
	    symbol->st_shndx == SHN_UNDEF && dladdr1(at, &info, (void **)&map, RTLD_DL_LINKMAP) && first_library(map))
		return own;
	return (uintptr_t)at;
}

/* Until somebody wants functions, libhodo forwards calls to the functions that it comes before. */
void hodo_imports_places(void)
{
	static const char *const names[HODO_REPLACED] = { "__cyg_profile_func_enter", "__cyg_profile_func_exit",
							  "mcount", "__fentry__" };
	void **const to[HODO_REPLACED] = { &hodo_x86_enter_to, &hodo_x86_exit_to, &hodo_x86_mcount_to,
					   &hodo_x86_fentry_to };
	const uintptr_t own[HODO_REPLACED] = { (uintptr_t)hodo_x86_enter, (uintptr_t)hodo_x86_exit,
					       (uintptr_t)hodo_x86_mcount, (uintptr_t)hodo_x86_fentry };

	for (unsigned i = 0; i < HODO_REPLACED; i++) {
		struct hodo_interposed *p = &hodo_interposed[i];

		p->at = called(names[i], own[i]);
		p->next = (uintptr_t)dlsym(RTLD_NEXT, names[i]);
		p->foreign = p->next && !in_libc(p->next);
		hodo_store_release(to[i], (void *)p->next);
	}
}

#else

void hodo_imports_places(void)
{
}

#endif
