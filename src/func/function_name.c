/* SPDX-License-Identifier: MIT */
/*
 * function_name.c - hodo_function_name().
 *
 * It is called by tracers, thus with whatever locks the program holds: the loader's, by a thread that
 * is in dl_iterate_phdr or dlopen, too. So it takes none of the loader's locks and not the control lock, but finds
 * the object in /proc/self/maps. Its own lock is held with signals blocked, and whoever holds it
 * waits for nothing but the disk.
 *
 * The lock and what was found lie on pages that a fork child finds empty: the owner may have stayed in the parent.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include "names.h"

#define OBJECTS_MAX 1024u
#define LINE_MAX_BYTES 4352u /* of /proc/self/maps: a path, and what is before it */

struct known {
	uintptr_t low, high; /* the mapping that was asked for */
	struct hodo_names *names; /* NULL: it has none */
};

struct object_table {
	uint32_t owner;  /* thread, 0: free */
	uint32_t count;
	uint32_t changes; /* of loaded objects, when it was filled */
	uint32_t next;   /* to be replaced when all are in use */
	struct known known[OBJECTS_MAX];
	ElfW(Phdr) phdr[HODO_NAMES_PHDRS_MAX];
	char line[LINE_MAX_BYTES];
	char input[HODO_PAGE];
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
	struct timespec pause = { 0, 50000 };
	uint32_t tid, owner = 0;

	b = b ? b : make_table();
	if (!b)
		return 0;
	*mask = hodo_signals_block();
	tid = hodo_gettid();
	while (!hodo_cas_acquire(&b->owner, &owner, tid)) {
		hodo_sys2(SYS_nanosleep, &pause, 0);
		owner = 0;
	}
	return b;
}

static void unlock(struct object_table *b, uint64_t mask)
{
	hodo_store_release(&b->owner, 0);
	hodo_signals_restore(mask);
}

/* --------------------------------------------------------------------- mappings */

struct mapping {
	uintptr_t low, high;
	bool code;
	uint64_t offset, device, inode;
	const char *path;
};

struct reader {
	struct object_table *b;
	long fd;
	uint32_t n, at;
};

static int next_char(struct reader *r)
{
	long n;

	if (r->at == r->n) {
		do
			n = hodo_sys3(SYS_read, r->fd, r->b->input, sizeof(r->b->input));
		while (n == -EINTR);
		r->n = n > 0 ? (uint32_t)n : 0;
		r->at = 0;
		if (!r->n)
			return -1;
	}
	return (unsigned char)r->b->input[r->at++];
}

/* A line, cut to what there is room for. */
static bool next_line(struct reader *r)
{
	uint32_t len = 0;
	int c;

	while ((c = next_char(r)) >= 0 && c != '\n') {
		if (len < LINE_MAX_BYTES - 1)
			r->b->line[len++] = (char)c;
	}
	r->b->line[len] = 0;
	return c >= 0 || len > 0;
}

static uint64_t number(const char **p, unsigned base)
{
	uint64_t value = 0;

	for (;; (*p)++) {
		unsigned c = (unsigned char)**p;
		unsigned digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;

		if (digit >= base)
			break;
		value = value * base + digit;
	}
	*p += **p != 0; /* what ends it */
	return value;
}

/* "low-high rwxp offset major:minor inode   path" */
static void parse_line(const char *p, struct mapping *m)
{
	uint64_t major;

	m->low = number(&p, 16);
	m->high = number(&p, 16);
	m->code = false;
	for (; *p && *p != ' '; p++)
		m->code = m->code || *p == 'x';
	p += *p != 0;
	m->offset = number(&p, 16);
	major = number(&p, 16);
	m->device = major << 32 | number(&p, 16);
	m->inode = number(&p, 10);
	while (*p == ' ')
		p++;
	m->path = p;
}

static bool find_mapping(struct object_table *b, uintptr_t addr, struct mapping *m)
{
	struct reader r = { b, hodo_sys4(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0), 0, 0 };
	bool found = false;

	if (r.fd < 0)
		return false;
	while (!found && next_line(&r)) {
		parse_line(b->line, m);
		found = addr >= m->low && addr < m->high;
	}
	hodo_sys1(SYS_close, r.fd);
	return found && m->path[0] == '/';
}

/* ---------------------------------------------------------------------- objects */

/* Where the file is loaded, judged by where the mapping's part of it is to be. */
static bool find_base(const ElfW(Phdr) *phdr, unsigned n, const struct mapping *m, uintptr_t *base)
{
	bool found = false;

	for (unsigned i = 0; i < n; i++) {
		const ElfW(Phdr) *p = &phdr[i];
		uint64_t start = p->p_offset & -(uint64_t)HODO_PAGE;

		if (p->p_type != PT_LOAD || m->offset < start || m->offset >= p->p_offset + p->p_filesz ||
		    (found && !(p->p_flags & PF_X) == m->code))
			continue;
		*base = m->low - (p->p_vaddr + (uintptr_t)(m->offset - p->p_offset));
		found = true;
	}
	return found;
}

static struct hodo_names *open_path(struct object_table *b, const struct mapping *m, const char *path,
				    bool must_be_same)
{
	struct dl_phdr_info info = { .dlpi_name = path, .dlpi_phdr = b->phdr };
	uint64_t size, device, inode;
	struct hodo_names *names = 0;
	ElfW(Ehdr) header;
	bool same;
	long fd = hodo_names_file(path, &size, &device, &inode);

	if (fd < 0)
		return 0;
	/* On some stacked file systems the two differ for one file: the build-id decides then. */
	same = device == m->device && inode == m->inode;
	if ((same || !must_be_same) && hodo_names_read(fd, 0, &header, sizeof(header)) && hodo_names_header(&header) &&
	    header.e_phnum <= HODO_NAMES_PHDRS_MAX &&
	    hodo_names_read(fd, header.e_phoff, b->phdr, header.e_phnum * sizeof(b->phdr[0])) &&
	    find_base(b->phdr, header.e_phnum, m, &info.dlpi_addr)) {
		info.dlpi_phnum = header.e_phnum;
		names = hodo_names_open(&info, path);
	}
	hodo_sys1(SYS_close, fd);
	if (names && !same && !hodo_names_verified(names)) {
		hodo_names_close(names);
		return 0;
	}
	return names;
}

/* A program that was replaced or removed while it runs is still to be had. */
static struct hodo_names *open_mapping(struct object_table *b, const struct mapping *m)
{
	struct hodo_names *names = open_path(b, m, m->path, false);

	if (!names)
		names = open_path(b, m, "/proc/self/exe", true);
	if (names)
		hodo_names_trim(names);
	return names;
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
	struct mapping m;
	struct known *k;

	if (b->changes != now)
		forget_all(b);
	b->changes = now;
	for (uint32_t i = 0; i < b->count; i++) {
		if (addr >= b->known[i].low && addr < b->known[i].high)
			return &b->known[i];
	}
	if (!find_mapping(b, addr, &m))
		return 0;
	k = room(b);
	k->low = m.low;
	k->high = m.high;
	k->names = open_mapping(b, &m);
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
