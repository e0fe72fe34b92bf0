/* SPDX-License-Identifier: MIT */
/*
 * function_name.c - hodo_function_name().
 *
 * Tracers call it while the program holds any locks, even the loader's, in a thread that is in
 * dl_iterate_phdr or dlopen. So it takes neither the loader's locks nor the control lock, but finds the
 * object in /proc/self/maps. Its own lock is held with signals blocked, and its holder waits only for the
 * disk.
 *
 * The lock and the cache are on pages that a fork child finds empty: the owner may have stayed in the parent.
 */
#include <sys/mman.h>
#include "names_file.h"
#include "names.h"
#include <errno.h>
#include <func/names/names_file.h>
#include <user/libc/sys.h>

#define OBJECTS_MAX 1024u
#define PHDRS_MAX 64

struct known {
	uintptr_t low, high; /* the requested mapping */
	struct hodo_names *names; /* NULL: it has none */
};

struct object_table {
	uint32_t owner;  /* thread, 0: free */
	uint32_t count;
	uint32_t changes; /* of loaded objects, at the time it was filled */
	uint32_t next;   /* the next to replace when all are in use */
	struct known known[OBJECTS_MAX];
	ElfW(Phdr) phdr[PHDRS_MAX];
	char path[4096];
};

static struct object_table *shared;
static uint32_t changes;

void hodo_names_changed(void)
{
	hodo_add(&changes, 1);
}

/* ------------------------------------------------------------------------- lock */

static struct object_table *make_table(void)
{
	struct object_table *fresh, *none = 0;

	fresh = hodo_map(sizeof(*fresh));
	if (!fresh)
		return 0;
	if (hodo_sys3(SYS_madvise, fresh, (sizeof(*fresh) + HODO_PAGE - 1) & -(size_t)HODO_PAGE,
		      MADV_WIPEONFORK) == 0 &&
	    __atomic_compare_exchange_n(&shared, &none, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return fresh;
	hodo_sys2(SYS_munmap, fresh, sizeof(*fresh));
	return none;
}

static struct object_table *lock(uint64_t *mask)
{
	struct object_table *b = hodo_load_acquire(&shared);
	uint32_t tid, owner = 0;

	b = b ? b : make_table();
	if (!b)
		return 0;
	*mask = hodo_signals_block();
	tid = hodo_gettid();
	while (!hodo_cas_acquire(&b->owner, &owner, tid)) {
		hodo_sleep_ns(50000);
		owner = 0;
	}
	return b;
}

static void unlock(struct object_table *b, uint64_t mask)
{
	hodo_store_release(&b->owner, 0);
	hodo_signals_restore(mask);
}

/* ---------------------------------------------------------------------- objects */

/*
 * Rebuilds the loader's information on the object that contains the mapping, from the first page of its file.
 */
static struct hodo_names *open_object(struct object_table *b, const struct hodo_mapping *m)
{
	/* No name: a running program that was replaced or removed is still accessible. */
	struct dl_phdr_info info = { .dlpi_name = "", .dlpi_phdr = b->phdr };
	ElfW(Ehdr) header;

	if (b->path[0] != '/' || !m->file || !hodo_names_peek(m->file, &header, sizeof(header)) ||
	    !hodo_names_header(&header) || header.e_phnum > PHDRS_MAX ||
	    !hodo_names_peek(m->file + header.e_phoff, b->phdr, header.e_phnum * sizeof(b->phdr[0])))
		return 0;
	info.dlpi_phnum = header.e_phnum;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		const ElfW(Phdr) *p = &b->phdr[i];

		if (p->p_type != PT_LOAD || p->p_offset >= HODO_PAGE)
			continue;
		info.dlpi_addr = m->file - (p->p_vaddr - p->p_offset);
		return hodo_names_open(&info, b->path);
	}
	return 0;
}

static void forget_all(struct object_table *b)
{
	for (uint32_t i = 0; i < b->count; i++)
		hodo_names_close(b->known[i].names);
	b->count = b->next = 0;
}

static struct known *room(struct object_table *b)
{
	struct known *k;

	if (b->count < OBJECTS_MAX)
		return &b->known[b->count++];
	k = &b->known[b->next++ % OBJECTS_MAX];
	hodo_names_close(k->names);
	return k;
}

static const struct known *find_object(struct object_table *b, uintptr_t addr)
{
	uint32_t now = hodo_load_acquire(&changes);
	struct hodo_mapping m;
	struct known *k;

	if (b->changes != now)
		forget_all(b);
	b->changes = now;
	for (uint32_t i = 0; i < b->count; i++) {
		if (addr >= b->known[i].low && addr < b->known[i].high)
			return &b->known[i];
	}
	if (!hodo_maps_find(addr, &m, b->path, sizeof(b->path)))
		return 0;
	k = room(b);
	k->low = m.low;
	k->high = m.high;
	k->names = open_object(b, &m);
	return k;
}

/* ------------------------------------------------------------------------- public */

static int copy_name(const char *from, char *to, size_t bytes)
{
	size_t n = 0;

	for (; from[n]; n++) {
		if (n + 1 < bytes)
			to[n] = from[n];
	}
	if (bytes)
		to[n < bytes ? n : bytes - 1] = 0;
	return n ? (int)n : -ENOENT;
}

int hodo_names_function(const void *address, char *name, size_t bytes)
{
	const struct known *object;
	struct object_table *b;
	uint64_t mask;
	int ret;

	if (!name && bytes)
		return -EINVAL;
	b = lock(&mask);
	if (!b)
		return copy_name("", name, bytes);
	object = find_object(b, (uintptr_t)address);
	ret = copy_name(object && object->names ? hodo_names_find(object->names, (uintptr_t)address, 0) : "", name,
			bytes);
	unlock(b, mask);
	return ret;
}
