/* SPDX-License-Identifier: MIT */
/*
 * imports.c - slots that call a function which the object imports from libhodo.
 *
 * The object's relocations tell which words of its global offset table lead
 * there; stubs of its procedure linkage table jump through them. The slots:
 *
 *	call stub              E8 rel32      off: A9, test $imm32, %eax
 *	jmp stub               E9 rel32      off: C3, ret
 *	call *word(%rip)       FF 15 rel32   off: 85 15, test %edx, word(%rip)
 *	jmp *word(%rip)        FF 25 rel32   off: C3, ret
 *
 * The last two are what -fno-plt and -pg make. Jumps stand at exits only: the
 * call before a function's return, made one by optimisation. Nothing behind a slot needs what the
 * no-op leaves other than the call would: these are calls by the C ABI, which clobber the flags.
 * (Around calls of __fentry__, which have a convention of their own, the flags are free at a function's first
 * instruction.) A conditional jump to the exit function, which no compiler was seen to make here, stays as it is: while
 * nobody traces, its hook returns at once.
 */
#include <dlfcn.h>
#include <elf.h>
#include "near.h"

#define WORDS_MAX 4 /* of the global offset table, for one import */
#define STUBS_MAX 12
#define RUNS_MAX 32

struct target {
	const struct hodo_import *import;
	uintptr_t word[WORDS_MAX];
	uintptr_t stub[STUBS_MAX];
	unsigned nwords, nstubs;
	unsigned nwords_plain; /* of them, not the linkage table's */
};

struct search {
	struct hodo_scan *scan;
	struct hodo_starts starts;
	struct target targets[HODO_IMPORTS_MAX];
	unsigned ntargets;
	uintptr_t start, end; /* of the segment being looked at */
	struct {
		uint32_t first, end; /* of the object's slots: in order of addresses */
	} runs[RUNS_MAX];
	unsigned nruns;
};

#ifdef __x86_64__

static const char *const resolved_names[] = { "mcount", "__fentry__", "__cyg_profile_func_enter",
					      "__cyg_profile_func_exit" };
static uintptr_t resolved[4][2];
static bool foreign[4];

static bool in_libc(uintptr_t function)
{
	extern __typeof__(dladdr) dladdr __attribute__((weak));
	Dl_info info, libc;

	return !&dladdr || !dladdr((void *)function, &info) || !dladdr((void *)dl_iterate_phdr, &libc) ||
	       info.dli_fbase == libc.dli_fbase;
}

/* Once, without the control lock: dlsym() takes the loader's, which a thread in dlopen() holds while it waits for
 * that one. dladdr() does, too. */
void hodo_imports_init(void)
{
	extern __typeof__(dlsym) dlsym __attribute__((weak));

	for (unsigned i = 0; i < 4 && &dlsym; i++) {
		resolved[i][0] = (uintptr_t)dlsym(RTLD_DEFAULT, resolved_names[i]);
		resolved[i][1] = (uintptr_t)dlsym(RTLD_NEXT, resolved_names[i]);
		foreign[i] = resolved[i][1] && !in_libc(resolved[i][1]);
	}
}

uintptr_t hodo_imports_resolve(const char *name, bool next)
{
	for (unsigned i = 0; i < 4; i++) {
		if (__builtin_strcmp(name, resolved_names[i]) == 0)
			return resolved[i][next];
	}
	return 0;
}

bool hodo_imports_foreign(const char *name)
{
	for (unsigned i = 0; i < 4; i++) {
		if (foreign[i] && __builtin_strcmp(name, resolved_names[i]) == 0)
			return true;
	}
	return false;
}

static bool holds(const struct hodo_scan *scan, uintptr_t addr)
{
	return addr >= scan->object->text && addr < scan->object->text_end;
}

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

static struct target *target_of_stub(struct search *s, uintptr_t stub)
{
	for (unsigned i = 0; i < s->ntargets; i++) {
		for (unsigned k = 0; k < s->targets[i].nstubs; k++) {
			if (s->targets[i].stub[k] == stub)
				return &s->targets[i];
		}
	}
	return 0;
}

/* ---------------------------------------------------------- whose slot it is */

/*
 * GCC moves code that is seldom reached out of its function, to a place with an unwind entry and
 * a symbol of its own, "f.cold". The slot there belongs to f.
 */
static uintptr_t function_of_cold(struct search *s, uintptr_t start)
{
	const struct hodo_names *names = hodo_scan_names(s->scan);
	char name[512];
	uintptr_t at, whole;
	const char *cold;

	if (!names)
		return start;
	cold = hodo_names_find(names, start, &at);
	for (size_t n = 0; n < sizeof(name) - 1 && cold[n]; n++) {
		name[n] = cold[n];
		if (__builtin_memcmp(cold + n, ".cold", 5) == 0) {
			name[n] = 0;
			whole = hodo_names_symbol(names, name);
			return whole ? whole : start;
		}
	}
	return start;
}

/* Whether the first slot at or behind a function's start is its entry. */
static bool has_entry(const struct search *s, uintptr_t start)
{
	const struct hodo_func_object *o = s->scan->object;
	uint32_t addr = (uint32_t)(start - o->text);

	for (unsigned i = 0; i < s->nruns; i++) {
		uint32_t low = s->runs[i].first, high = s->runs[i].end;

		while (low < high) {
			uint32_t middle = low + (high - low) / 2;

			if (o->slots[middle].addr < addr)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < s->runs[i].end && o->slots[low].at == HODO_AT_ENTRY && o->slots[low].function == addr)
			return true;
	}
	return false;
}

/* The function that holds a slot: not the one that the slot's call names, which may be inlined into it. The slots of
 * one body of code are on or off together. */
static uintptr_t function_of(struct search *s, uintptr_t slot, bool entry)
{
	uintptr_t next, start = hodo_starts_find(&s->starts, slot, &next);

	if (!start) {
		const struct hodo_names *names = hodo_scan_names(s->scan);

		if (names && *hodo_names_find(names, slot, &start))
			return start;
		return entry ? hodo_slot_function(slot) : slot;
	}
	return entry || has_entry(s, start) ? start : function_of_cold(s, start);
}

static bool add(struct search *s, const struct target *t, const uint8_t *p, uint8_t off)
{
	bool entry = t->import->at == HODO_AT_ENTRY;
	uintptr_t slot = (uintptr_t)p;

	if (!hodo_scan_add(s->scan, slot, function_of(s, slot, entry), (enum hodo_slot_kind)t->import->kind,
			   (enum hodo_slot_at)t->import->at, *p, t->import->always ? *p : off))
		return false;
	s->runs[s->nruns - 1].end = s->scan->object->nslots;
	return true;
}

static bool run_begin(struct search *s)
{
	if (s->nruns == RUNS_MAX)
		return false;
	s->runs[s->nruns].first = s->runs[s->nruns].end = s->scan->object->nslots;
	s->nruns++;
	return true;
}

/* ------------------------------------------------------------------ the text */

/*
 * A stub of the linkage table, as opposed to a function's last jump. What
 * is reached through DT_JMPREL's words is one; a stub for a word of the other kind has a shape of its own. A
 * last jump that looks the same is taken for a stub that nobody calls, and stays.
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

	if (t->nstubs + 3 > STUBS_MAX)
		return;
	t->stub[t->nstubs++] = addr;
	if (addr > start && p[-1] == 0xf2)
		t->stub[t->nstubs++] = --addr;
	if (addr - start >= 4 && __builtin_memcmp((const void *)(addr - 4), "\xf3\x0f\x1e\xfa", 4) == 0)
		t->stub[t->nstubs++] = addr - 4;
}

/* Instructions FF /2 and FF /4: stubs are noted, or slots added. */
static void look_indirect(struct search *s, bool stubs)
{
	const uint8_t *p = (const uint8_t *)s->start, *last = (const uint8_t *)s->end - 6;

	for (; p <= last && (p = __builtin_memchr(p, 0xff, (size_t)(last - p) + 1)); p++) {
		struct target *t;
		bool stub;

		if (p[1] != 0x15 && p[1] != 0x25)
			continue;
		t = target_of_word(s, operand((uintptr_t)p + 2), &stub);
		if (!t)
			continue;
		stub = p[1] == 0x25 && (stub || last - p < 6 || is_stub(p, s->start));
		if (stub && stubs)
			add_stub(t, p, s->start);
		if (stubs || stub)
			continue;
		if (p[1] == 0x15 && !add(s, t, p, 0x85))
			return;
		if (p[1] == 0x25 && t->import->at == HODO_AT_EXIT && !add(s, t, p, 0xc3))
			return;
	}
}

static void look_direct(struct search *s, uint8_t opcode, uint8_t off)
{
	const uint8_t *p = (const uint8_t *)s->start, *last = (const uint8_t *)s->end - 5;

	for (; p <= last && (p = __builtin_memchr(p, opcode, (size_t)(last - p) + 1)); p++) {
		struct target *t = target_of_stub(s, operand((uintptr_t)p + 1));

		if (t && (opcode == 0xe8 || t->import->at == HODO_AT_EXIT) && !add(s, t, p, off))
			return;
	}
}

static void each_segment(struct search *s, void (*f)(struct search *s))
{
	const struct dl_phdr_info *info = s->scan->info;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || p->p_filesz < 16)
			continue;
		s->start = info->dlpi_addr + p->p_vaddr;
		s->end = s->start + p->p_filesz;
		f(s);
	}
}

static void stubs_in(struct search *s)
{
	look_indirect(s, true);
}

/* Entries first: an exit in a body of code that has no entry is one that was moved out of its function. */
static void slots_in(struct search *s)
{
	if (run_begin(s))
		look_direct(s, 0xe8, 0xa9);
	if (run_begin(s))
		look_indirect(s, false);
	if (run_begin(s))
		look_direct(s, 0xe9, 0xc3);
}

void hodo_imports_scan(struct hodo_scan *scan, const struct hodo_dynamic *d, const struct hodo_import *imports,
		       unsigned n)
{
	struct search s = { .scan = scan };

	for (unsigned i = 0; i < n && i < HODO_IMPORTS_MAX; i++) {
		struct target *t = &s.targets[s.ntargets++];

		t->import = &imports[i];
		find_words(d, t);
		if (holds(scan, imports[i].own)) /* linked into the same object */
			t->stub[t->nstubs++] = imports[i].own;
	}
	hodo_starts_read(scan->info, &s.starts);
	each_segment(&s, stubs_in);
	each_segment(&s, slots_in);
}

#endif
