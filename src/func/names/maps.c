/* SPDX-License-Identifier: MIT */
/* maps.c - looks up an address in /proc/self/maps. Takes no lock, and little stack. Also runs in dispatch. */
#include <fcntl.h>
#include "names.h"
#include <user/libc/sys.h>

struct maps {
	long fd;
	uint32_t n, at;
	char text[1024];
};

/* The next character, -1: there is none. */
static int next_char(struct maps *m)
{
	if (m->at == m->n) {
		long n = hodo_sys3(SYS_read, m->fd, m->text, sizeof(m->text));

		m->n = n > 0 ? (uint32_t)n : 0;
		m->at = 0;
		if (!m->n)
			return -1;
	}
	return (unsigned char)m->text[m->at++];
}

/* Reads a hexadecimal number and the character after it. */
static uint64_t number(struct maps *m)
{
	uint64_t value = 0;

	for (int c; (c = next_char(m)) >= '0' && c != ':';)
		value = value << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	return value;
}

/* "low-high rwxp offset major:minor inode   path" */
bool hodo_maps_find(uintptr_t addr, struct hodo_mapping *found, char *path, size_t size)
{
	uint64_t offset, file[2], first_file[2] = { 0, 0 };
	uintptr_t first = 0;
	size_t len;
	int c;
	struct maps m; /* not initialised as a whole: that would call memset */

	m.n = m.at = 0;
	m.fd = hodo_sys4(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	if (m.fd < 0)
		return false;
	found->high = 0;
	do {
		found->below = found->high;
		found->low = number(&m);
		found->high = number(&m);
		while ((c = next_char(&m)) != ' ' && c >= 0)
			;
		offset = number(&m);
		file[0] = number(&m) << 32;
		file[0] |= number(&m);
		file[1] = number(&m);
		/* A small object's data may be from its first page, too. */
		if (!offset && (found->low != found->below || file[0] != first_file[0] || file[1] != first_file[1])) {
			first = found->low;
			first_file[0] = file[0];
			first_file[1] = file[1];
		}
		while ((c = next_char(&m)) == ' ')
			;
		for (len = 0; c != '\n' && c >= 0; c = next_char(&m))
			if (len + 1 < size)
				path[len++] = (char)c;
		if (size)
			path[len] = 0;
	} while (c >= 0 && addr >= found->high);
	hodo_sys1(SYS_close, m.fd);
	found->file = file[0] == first_file[0] && file[1] == first_file[1] ? first : 0;
	return addr >= found->low && addr < found->high;
}
