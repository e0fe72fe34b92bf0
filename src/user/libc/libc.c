/* SPDX-License-Identifier: MIT */
/*
 * libc.c - the differences between musl and glibc. The same library serves programs of both: it is built with
 * glibc's headers, whose types have the same layout where they are used, and refers weakly to what only one
 * of them has.
 *
 * musl's loader has one lock, which dl_iterate_phdr() takes too: libhodo, which is called by the loader (loader.c), or
 * has the control lock for which a thread in dlopen() waits, would wait for itself. So it walks the loader's
 * list itself, from the program to the newest object that it knows to stay: musl unloads none, but removes
 * those of a failed dlopen() from the end.
 *
 *                | each               | settle
 *   each         | excluded (control lock), and so is settle
 *   dlopen       | beside: changes what comes behind `newest`
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/uio.h>
#include "sys.h"
#include "libc.h"

/* Only in glibc. */
extern int __register_atfork(void (*before)(void), void (*parent)(void), void (*child)(void), void *object)
	__attribute__((weak));
/* Only in musl, and not in static programs. */
extern struct r_debug *const _dl_debug_addr __attribute__((weak));

static const struct link_map *newest;
static const ElfW(Phdr) *program_headers; /* of the program itself, which comes first */
static ElfW(Half) program_nheaders;

bool hodo_libc_is_glibc(void)
{
	return &__register_atfork != 0;
}

const struct r_debug *hodo_libc_debug(void)
{
	return &_dl_debug_addr && !hodo_libc_is_glibc() ? _dl_debug_addr : 0;
}

/*
 * glibc calls constructors with main()'s arguments, the first ones before it has set up anything; musl passes
 * none.
 */
char **hodo_libc_environment(char **argument)
{
	return hodo_libc_is_glibc() ? argument : __environ;
}

/* By which setuid() and the like reach all threads, and glibc's pthread_cancel(): a bit each. */
uint64_t hodo_libc_signals(void)
{
	return hodo_libc_is_glibc() ? 1ull << (32 - 1) | 1ull << (33 - 1) : 1ull << (33 - 1) | 1ull << (34 - 1);
}

/* -------------------------------------------------------------------- fork */

#ifdef HODO_SPLIT
/* glibc links it into each library that calls it, which a weak reference does not cause. */
extern __typeof__(pthread_atfork) pthread_atfork __attribute__((weak));
extern void *__dso_handle;
#endif

void hodo_libc_at_fork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
#ifdef HODO_SPLIT
	if (hodo_libc_is_glibc()) {
		__register_atfork(before, parent, child, __dso_handle);
		return;
	}
#endif
	pthread_atfork(before, parent, child);
}

/* ----------------------------------------------------------------- objects */

static int take_program(struct dl_phdr_info *info, size_t size, void *data)
{
	program_headers = info->dlpi_phdr;
	program_nheaders = info->dlpi_phnum;
	return 1;
}

void hodo_libc_objects_settle(void)
{
	const struct r_debug *debug = hodo_libc_debug();

	if (!debug)
		return;
	if (!newest)
		dl_iterate_phdr(take_program, 0);
	if (!newest)
		newest = debug->r_map;
	while (newest && newest->l_next)
		newest = newest->l_next;
}

/*
 * The list says where an object lies, and where its dynamic section is. Its ELF header is at its beginning;
 * nothing is known of objects linked otherwise. The kernel reads it, since nothing may be mapped there.
 */
bool hodo_libc_headers(const struct link_map *map, struct dl_phdr_info *info)
{
	ElfW(Ehdr) head;
	struct iovec to = { &head, sizeof(head) }, from = { (void *)map->l_addr, sizeof(head) };

	if (hodo_sys6(SYS_process_vm_readv, hodo_sys0(SYS_getpid), (long)&to, 1, (long)&from, 1, 0) != sizeof(head) ||
	    __builtin_memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phentsize != sizeof(ElfW(Phdr)) ||
	    head.e_phoff > HODO_PAGE || head.e_phnum > (HODO_PAGE - head.e_phoff) / sizeof(ElfW(Phdr)))
		return false;
	info->dlpi_phdr = (const ElfW(Phdr) *)(map->l_addr + head.e_phoff);
	info->dlpi_phnum = head.e_phnum;
	for (unsigned i = 0; i < head.e_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return map->l_addr + info->dlpi_phdr[i].p_vaddr == (uintptr_t)map->l_ld;
	}
	return false;
}

int hodo_libc_objects_each(int (*f)(struct dl_phdr_info *info, size_t size, void *data), void *data)
{
	const struct link_map *program = hodo_libc_debug()->r_map;

	for (const struct link_map *map = program; map; map = map->l_next) {
		struct dl_phdr_info info = { .dlpi_addr = map->l_addr, .dlpi_name = map->l_name,
					     .dlpi_phdr = program_headers, .dlpi_phnum = program_nheaders };

		if (map == program)
			info.dlpi_name = "";
		if (map == program || hodo_libc_headers(map, &info))
			f(&info, sizeof(info), data);
		if (map == newest)
			break;
	}
	return 0;
}
