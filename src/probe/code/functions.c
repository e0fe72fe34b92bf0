/* SPDX-License-Identifier: MIT */
/*
 * functions.c - finds the functions of an object, from frame descriptions and symbols, and which of them are
 * refused.
 */
#include "code_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <base/order.h>
#include <base/scope.h>
#include <base/vec.h>
#include <core/search.h>
#include <elf/symbols.h>

#define FRAMES_MAX (256u << 20) /* bytes of an .eh_frame without section headers */

int hodo_probe_object_add(struct hodo_probe_object *o, const struct hodo_probe_function *f)
{
	if (o->nfunctions == HODO_PROBE_FUNCTIONS_MAX)
		return 0;
	return hodo_vec_push(o->functions, o->nfunctions, *f);
}

static int add_frame(void *arg, const struct hodo_probe_frame *f)
{
	struct hodo_probe_function function = {
		.start = f->start, .end = f->end, .part = f->part,
		.reason = f->signal ? HODO_PROBE_SIGNAL_FRAME : HODO_PROBE_FINE,
	};

	return hodo_probe_object_add(arg, &function);
}

/*
 * By the program header alone, if there are no section headers: from the first description to the segment's
 * end.
 */
static int frames_by_header(struct hodo_probe_object *o, const struct hodo_elf *e)
{
	uint64_t header = 0, end = 0, address;
	HODO_AUTO_FREE uint8_t *bytes = NULL;
	uint8_t head[8];
	int32_t distance;
	GElf_Phdr ph;

	for (size_t i = 0; hodo_elf_segment(e->elf, &i, PT_GNU_EH_FRAME, 0, &ph);)
		header = ph.p_vaddr;
	/* Version 1, with the address as linkers write it: 4 bytes, relative to itself. */
	if (!header || hodo_elf_read_at(e, header, head, sizeof(head)) != 0 || head[0] != 1 || head[1] != 0x1b)
		return 0;
	memcpy(&distance, head + 4, sizeof(distance));
	address = header + 4 + (uint64_t)(int64_t)distance;
	for (size_t i = 0; hodo_elf_segment(e->elf, &i, PT_LOAD, 0, &ph);)
		if (address >= ph.p_vaddr && address - ph.p_vaddr < ph.p_filesz)
			end = ph.p_vaddr + ph.p_filesz;
	if (end <= address || end - address > FRAMES_MAX)
		return 0;
	bytes = malloc(end - address);
	if (!bytes)
		return -ENOMEM;
	return hodo_elf_read_at(e, address, bytes, end - address) ? 0 :
	       hodo_probe_frames(bytes, end - address, address, add_frame, o);
}

/* ----------------------------------------------------------------------- order */

static int compare(const void *a, const void *b)
{
	const struct hodo_probe_function *x = a, *y = b;

	return hodo_order(x->start, y->start) ?: hodo_order(x->end, y->end);
}

/*
 * Of two that begin at the same place, the longer is kept, with either's reason; of two that overlap, the
 * first ends where the second begins: the second's entry may be a jump target, and the code before it may run
 * into it.
 */
void hodo_probe_functions_sort(struct hodo_probe_object *o)
{
	struct hodo_probe_function *f = o->functions;
	uint32_t n = 0;

	hodo_order_sort(f, o->nfunctions, compare);
	for (uint32_t i = 0; i < o->nfunctions; i++) {
		struct hodo_probe_function *last = n ? &f[n - 1] : NULL;

		if (f[i].end <= f[i].start)
			continue;
		if (last && last->start == f[i].start) {
			last->end = f[i].end;
			last->reason = last->reason ? last->reason : f[i].reason;
			last->part |= f[i].part;
			last->entered |= f[i].entered;
			continue;
		}
		if (last && last->end > f[i].start)
			last->end = f[i].start;
		f[n++] = f[i];
	}
	o->nfunctions = n;
	for (uint32_t i = 0; i < n; i++)
		f[i].room = f[i].end;
}

/* --------------------------------------------------------------------- refused */

static void refuse(struct hodo_probe_object *o, uint64_t start, uint64_t end, enum hodo_probe_reason reason)
{
	uint32_t i = hodo_search(k, o->nfunctions, o->functions[k].end > start);

	for (; i < o->nfunctions && o->functions[i].start < end; i++)
		o->functions[i].reason = (uint8_t)reason;
}

static enum hodo_probe_reason reason_of_section(const char *name)
{
	if (strcmp(name, ".plt") == 0 || strncmp(name, ".plt.", 5) == 0 || strcmp(name, ".iplt") == 0)
		return HODO_PROBE_PLT;
	/* libhodo.a's, src/user/CMakeLists.txt. */
	return strncmp(name, "hodo_text", 9) == 0 ? HODO_PROBE_HODO : HODO_PROBE_FINE;
}

static void refuse_sections(struct hodo_probe_object *o, Elf *elf)
{
	GElf_Shdr sh;

	for (Elf_Scn *scn = NULL; (scn = hodo_elf_section(elf, scn, NULL, &sh)) != NULL;) {
		enum hodo_probe_reason reason = reason_of_section(hodo_elf_section_name(elf, &sh));

		if (reason && sh.sh_addr + sh.sh_size > sh.sh_addr)
			refuse(o, sh.sh_addr, sh.sh_addr + sh.sh_size, reason);
	}
}

/*
 * Thread cancellation compares the interrupted address with this function: in a slot it would be missed. In a
 * stripped libc, its body identifies it: mov %r9,%r10 among the moves of six arguments, followed by the
 * system call.
 */
static bool looks_like_cancel(const struct hodo_probe_object *o, const struct hodo_probe_function *f)
{
	static const uint8_t sixth[] = { 0x4d, 0x89, 0xca }, call[] = { 0x0f, 0x05 };
	const struct hodo_probe_segment *s = hodo_probe_segment_at(o, f->start);
	size_t len = f->end - f->start;
	const uint8_t *at;

	if (!s || len > 96 || f->end > s->end)
		return false;
	at = memmem(s->bytes + (f->start - s->start), len, sixth, sizeof(sixth));
	return at && memmem(at, (size_t)(s->bytes + (f->end - s->start) - at), call, sizeof(call));
}

static void refuse_cancel(struct hodo_probe_object *o, const struct hodo_elf_symbols *symbols)
{
	for (uint32_t i = 0; i < symbols->n; i++)
		if (strncmp(symbols->list[i].name, "__syscall_cancel_arch", 21) == 0)
			refuse(o, symbols->list[i].start, symbols->list[i].start + 1, HODO_PROBE_CANCEL);
	for (uint32_t i = 0; i < o->nfunctions; i++)
		if (!o->functions[i].reason && looks_like_cancel(o, &o->functions[i]))
			o->functions[i].reason = HODO_PROBE_CANCEL;
}

/* ------------------------------------------------------------------------- all */

/* It contains libc's return from signals: mov $15,%rax; syscall. FDEs begin a byte before it. */
static bool returns_from_signal(const struct hodo_probe_object *o, const struct hodo_probe_function *f)
{
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	const struct hodo_probe_segment *s = hodo_probe_segment_at(o, f->start);

	return s && f->end <= s->end && f->end - f->start >= sizeof(code) && f->end - f->start <= sizeof(code) + 1 &&
	       memmem(s->bytes + (f->start - s->start), f->end - f->start, code, sizeof(code));
}

int hodo_probe_functions_find(struct hodo_probe_object *o, const struct hodo_elf *e)
{
	HODO_AUTO(hodo_elf_symbols_free) struct hodo_elf_symbols symbols = { 0 };
	uint64_t address;
	size_t len;
	const uint8_t *frames = hodo_elf_section_bytes(e->elf, ".eh_frame", &address, &len);
	int err = frames ? hodo_probe_frames(frames, len, address, add_frame, o) : frames_by_header(o, e);

	if (!err && hodo_elf_symbols_add(&symbols, e->elf) == -ENOMEM)
		err = -ENOMEM;
	hodo_elf_symbols_sort(&symbols);
	for (uint32_t i = 0; !err && i < symbols.n; i++) {
		const struct hodo_elf_symbol *s = &symbols.list[i];
		struct hodo_probe_function f = { .start = s->start, .end = s->start + s->size,
						 .part = strstr(s->name, ".cold") != NULL };

		f.entered = !f.part;
		if (s->size)
			err = hodo_probe_object_add(o, &f);
	}
	if (err)
		return err;
	hodo_probe_functions_sort(o);
	refuse_sections(o, e->elf);
	refuse_cancel(o, &symbols);
	for (uint32_t i = 0; i < o->nfunctions; i++) {
		struct hodo_probe_function *f = &o->functions[i];
		const struct hodo_probe_segment *s = hodo_probe_segment_at(o, f->start);

		if (!s || f->end > s->end)
			f->reason = f->reason ? f->reason : HODO_PROBE_NO_CODE;
		else if (returns_from_signal(o, f))
			f->reason = HODO_PROBE_SIGNAL_FRAME;
	}
	return 0;
}
