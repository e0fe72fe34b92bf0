/* SPDX-License-Identifier: MIT */
/*
 * call_places.c - finds the addresses in the process that a call needs before it is stopped. No code is written
 * there: libc's code is executed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <base/scope.h>

#include "attach_impl.h"

#define LOADER_DATA_MAX 16384

/* What __errno_location() adds to the thread pointer; 0: its code is not as expected. */
static int64_t find_errno(const struct hodo_attach_target *t)
{
	static const uint8_t endbr[4] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const uint8_t load[3] = { 0x48, 0x8b, 0x05 };        /* mov rel32(%rip), %rax */
	static const uint8_t constant[3] = { 0x48, 0xc7, 0xc0 };    /* mov $imm32, %rax */
	static const uint8_t add[10] = { 0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0, 0xc3 }; /* add %fs:0, %rax; ret */
	uint64_t at = hodo_attach_symbol(t->libc, "__errno_location", NULL);
	uint8_t code[24], *p = code;
	int64_t offset;
	int32_t n;

	if (!at || !hodo_attach_read(t, at, code, sizeof(code)))
		return 0;
	if (memcmp(p, endbr, sizeof(endbr)) == 0)
		p += sizeof(endbr);
	memcpy(&n, p + 3, sizeof(n));
	if (memcmp(p + 7, add, sizeof(add)) != 0)
		return 0;
	if (memcmp(p, constant, sizeof(constant)) == 0)
		return n;
	if (memcmp(p, load, sizeof(load)) != 0 ||
	    !hodo_attach_read(t, at + (uint64_t)(p - code) + 7 + (uint64_t)(int64_t)n, &offset, sizeof(offset)))
		return 0;
	return offset;
}

/* Searches all objects of that kind: before glibc 2.34, dlopen() was in a separate library. */
static uint64_t find_in(const struct hodo_attach_target *t, enum hodo_attach_kind kind, const char *name,
			uint64_t *size)
{
	uint64_t at = kind == HODO_ATTACH_LIBC ? hodo_attach_symbol(t->libc, name, size) : 0;

	for (uint32_t i = 0; i < t->nobjects && !at; i++)
		if (t->objects[i].kind == kind)
			at = hodo_attach_symbol(&t->objects[i], name, size);
	return at;
}

/*
 * The holder of the loader's lock may wait for the very thread that we have stopped (a constructor that waits
 * for a thread it started). The lock's place in the loader's data is private, but it is a recursive mutex,
 * whose layout is part of the ABI: lock, count, owner, users, kind.
 */
bool hodo_attach_loader_locked(const struct hodo_attach_target *t, const struct hodo_attach_places *p)
{
	uint32_t words[LOADER_DATA_MAX / 4];
	size_t size = p->loader_size < sizeof(words) ? p->loader_size & ~3ull : sizeof(words);

	if (!p->loader_data || !hodo_attach_read(t, p->loader_data, words, size))
		return false;
	for (size_t i = 0; i + 5 <= size / 4; i++) {
		const uint32_t *m = &words[i];
		char path[64];

		if ((m[0] != 1 && m[0] != 2) || !m[1] || m[1] > 100 || !m[2] || m[3] != 1 || m[4] != 1 /* recursive */)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%u", (int)t->pid, m[2]);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

/* A libhodo whose file is gone, as that of a copy, and cannot be read: NULL: there is none. */
static const struct hodo_attach_object *find_unread(const struct hodo_attach_target *t)
{
	for (uint32_t i = 0; i < t->nobjects; i++) {
		const char *slash = strrchr(t->objects[i].name, '/');

		if (slash && strncmp(slash, "/libhodo.so", 11) == 0)
			return &t->objects[i];
	}
	return NULL;
}

/* Of one build: the headers, and the build-id behind them, are alike. */
static bool is_same(const struct hodo_attach_target *t, const struct hodo_attach_object *o, int fd)
{
	uint8_t there[4096], here[4096];

	return hodo_attach_read(t, o->start, there, sizeof(there)) &&
	       pread(fd, here, sizeof(here), 0) == (ssize_t)sizeof(here) && memcmp(there, here, sizeof(here)) == 0;
}

/* A second libhodo would not do: they are not made to be two in a process. */
static int find_attach(struct hodo_attach_target *t, struct hodo_attach_places *p, const char *library)
{
	const struct hodo_attach_object *unread = find_unread(t);
	HODO_AUTO(hodo_elf_close) struct hodo_elf file = HODO_ELF_CLOSED;
	GElf_Sym attach;

	if (hodo_elf_open(&file, library) == 0 && hodo_elf_find_symbol(file.elf, "hodo_attach_", &attach))
		p->attach_offset = attach.st_value;
	if (!p->attach_offset)
		return hodo_why(t->why, -EINVAL, "%s is not libhodo of this version", library);
	if (unread && !is_same(t, unread, file.fd))
		return hodo_why(t->why, -EINVAL, "process %d has a libhodo of another build: restart it, or record "
				"it as root", t->pid);
	if (unread)
		p->attach = unread->bias + p->attach_offset;
	return 0;
}

int hodo_attach_places_find(struct hodo_attach_target *t, struct hodo_attach_places *p, const char *library,
			    const char *copy)
{
	static const uint8_t syscall_return[] = { 0x0f, 0x05, 0xc3 };
	static const uint8_t pop_rdi_return[] = { 0x5f, 0xc3 };
	static const uint8_t restorer[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	int error;

	memset(p, 0, sizeof(*p));
	p->syscall_return = hodo_attach_bytes(t, t->libc, syscall_return, sizeof(syscall_return));
	p->pop_rdi_return = hodo_attach_bytes(t, t->libc, pop_rdi_return, sizeof(pop_rdi_return));
	p->restorer = hodo_attach_bytes(t, t->libc, restorer, sizeof(restorer));
	p->raise = hodo_attach_symbol(t->libc, "raise", NULL);
	p->syscall = hodo_attach_symbol(t->libc, "syscall", NULL);
	p->errno_offset = find_errno(t);
	if (!p->syscall_return || !p->pop_rdi_return || !p->restorer || !p->raise || !p->errno_offset)
		return hodo_why(t->why, -EAGAIN, "process %d uses an unknown C library: start it with HODO_LISTEN=1",
				t->pid);
	p->loader_data = find_in(t, HODO_ATTACH_LOADER, "_rtld_global", &p->loader_size);
	p->library = copy ? copy : library;
	p->copied = copy;
	if (t->hodo) {
		p->attach = hodo_attach_symbol(t->hodo, "hodo_attach_", NULL);
		return 0;
	}
	error = find_attach(t, p, library);
	if (error || p->attach)
		return error;
	p->dlopen = find_in(t, HODO_ATTACH_LIBC, "dlopen", NULL);
	p->dlerror = find_in(t, HODO_ATTACH_LIBC, "dlerror", NULL);
	if (!p->dlopen || !p->dlerror)
		return hodo_why(t->why, -EAGAIN, "process %d has no dlopen() to load libhodo with: start it with "
				"HODO_LISTEN=1", t->pid);
	return copy ? 0 : hodo_attach_target_sees(t, library);
}
