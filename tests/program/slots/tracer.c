/* SPDX-License-Identifier: MIT */
/*
 * tracer.c - a library for the programs of this suite (preloaded or linked): registers tracers with libhodo on
 * demand, counts their calls by function, and compares the program's text with its file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <hodo/tracer.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "slots.h"

#define FUNCTIONS 256
#define NAME 128

static struct count {
	const void *function;
	unsigned long entered, left, gone;
	unsigned flags;
} counts[FUNCTIONS];
static unsigned long total;

static struct count *count_of(const void *function)
{
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		const void *none = 0;

		if (__atomic_load_n(&counts[i].function, __ATOMIC_ACQUIRE) == function ||
		    __atomic_compare_exchange_n(&counts[i].function, &none, function, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE) ||
		    none == function)
			return &counts[i];
	}
	return &counts[0];
}

static void enter(struct hodo_tracer *tracer, const struct hodo_call *call)
{
	struct count *c = count_of(call->function);

	__atomic_fetch_add(&c->entered, 1, __ATOMIC_RELAXED);
	__atomic_fetch_or(&c->flags, call->flags, __ATOMIC_RELAXED);
	__atomic_fetch_add(&total, 1, __ATOMIC_RELAXED);
}

static void leave(struct hodo_tracer *tracer, const struct hodo_call *call)
{
	struct count *c = count_of(call->function);

	__atomic_fetch_add(call->flags & HODO_CALL_LEFT ? &c->gone : &c->left, 1, __ATOMIC_RELAXED);
}

static struct hodo_tracer tracer = { .size = sizeof(tracer), .name = "slots", .enter = enter, .exit = leave };

int slots_on(const char *functions)
{
	tracer.functions = functions;
	return hodo_tracer_register(&tracer);
}

int slots_off(void)
{
	return hodo_tracer_unregister(&tracer);
}

unsigned long slots_total(void)
{
	return __atomic_load_n(&total, __ATOMIC_RELAXED);
}

void slots_print(FILE *out)
{
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		char name[NAME];
		uintptr_t start = (uintptr_t)counts[i].function;

		if (!start)
			continue;
		if (hodo_function_name(counts[i].function, name, sizeof(name)) < 0)
			snprintf(name, sizeof(name), "?%lx", (unsigned long)start);
		fprintf(out, "%s entered=%lu left=%lu gone=%lu no_exit=%u\n", name, counts[i].entered, counts[i].left,
			counts[i].gone, (counts[i].flags & HODO_CALL_NO_EXIT) != 0);
	}
}

/* ------------------------------------------------------------- text and file */

struct compare {
	FILE *out;
	bool sleds; /* of XRay: prepared ones differ for good, after an instruction that jumps or returns */
	bool calls; /* of a hook: no-ops while nobody traces */
	bool prefix; /* the last of five no-ops may be a segment prefix */
	unsigned long differs, objects;
};

/* A byte of a prepared sled: among the 11 bytes that begin at or before it, all that nobody executes. */
static bool in_sled(const uint8_t *memory, const uint8_t *file, size_t at, size_t n)
{
	for (size_t back = 1; back <= 10 && back <= at; back++) {
		size_t s = at - back;

		if (s + 11 > n)
			continue;
		if (file[s] == 0xeb && file[s + 1] == 9 && memory[s] == 0xeb && memory[s + 1] == 9 && back >= 2)
			return true;
		if (file[s] == 0xc3 && memory[s] == 0xc3 && memory[s + 1] == 0xe8 && memory[s + 6] == 0xc3)
			return true;
	}
	return false;
}

static bool is_idle_call(uint8_t memory, const uint8_t *file)
{
	return (file[0] == 0xe8 && memory == 0xa9) || (file[0] == 0xe9 && memory == 0xc3) ||
	       (file[0] == 0xff && file[1] == 0x15 && memory == 0x85) ||
	       (file[0] == 0xff && file[1] == 0x25 && memory == 0xc3);
}

static int compare_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct compare *c = data;
	const char *path = *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
	struct stat st;
	const uint8_t *file;
	int fd;

	if (strstr(path, "vdso") || strstr(path, "libhodo") || strstr(path, "ld-linux"))
		return 0; /* libhodo changes the loader's r_brk on purpose */
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		return 0;
	file = mmap(0, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	for (int i = 0; i < info->dlpi_phnum && file != MAP_FAILED; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uint8_t *memory = (const uint8_t *)(info->dlpi_addr + p->p_vaddr), *from = file + p->p_offset;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		for (size_t k = 0; k < p->p_filesz; k++) {
			if (memory[k] == from[k] || (c->sleds && in_sled(memory, from, k, p->p_filesz)) ||
			    (c->calls && is_idle_call(memory[k], from + k)) ||
			    (c->prefix && k >= 4 && memcmp(from + k - 4, "\x90\x90\x90\x90\x90", 5) == 0 &&
			     (memory[k] == 0x2e || memory[k] == 0x36 || memory[k] == 0x26)))
				continue;
			if (c->differs++ < 5)
				fprintf(c->out, "%s: %#zx is %02x, in the file %02x\n", path, p->p_vaddr + k,
					memory[k], from[k]);
		}
	}
	munmap((void *)file, (size_t)st.st_size);
	c->objects++;
	return 0;
}

unsigned long slots_differ(FILE *out, const char *kind)
{
	struct compare c = { .out = out, .sleds = strcmp(kind, "sleds") == 0, .calls = strcmp(kind, "calls") == 0,
			     .prefix = strcmp(kind, "prefix") == 0 };

	dl_iterate_phdr(compare_object, &c);
	return c.differs;
}
