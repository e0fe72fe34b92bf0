/* SPDX-License-Identifier: MIT */
/* maps.c - takes the lines of /proc/PID/maps apart:
 *
 *	7f2b3c000000-7f2b3c021000 r-xp 00001000 08:01 1234   /usr/lib/libfoo.so
 */
#include "maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include <base/file.h>
#include <base/scope.h>

#define BYTES_MAX (64u << 20)

int hodo_proc_maps_open(struct hodo_proc_maps *m, pid_t pid)
{
	HODO_AUTO_CLOSE int fd = -1;
	char path[32];
	int err;

	*m = (struct hodo_proc_maps){ .next = NULL };
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	err = fd < 0 ? -errno : hodo_file_read(fd, BYTES_MAX, &m->text);
	if (!err && !*hodo_text_string(&m->text))
		err = m->text.error;
	m->next = err ? NULL : m->text.data;
	return err;
}

bool hodo_proc_maps_next(struct hodo_proc_maps *m, struct hodo_proc_map *map)
{
	for (char *line = m->next, *end; line && (end = strchr(line, '\n')); line = m->next) {
		unsigned int major, minor;
		char mode[5];
		int at = 0;

		*end = '\0';
		m->next = end + 1;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &map->start, &map->end,
			   mode, &map->offset, &major, &minor, &map->inode, &at) < 7)
			continue;
		map->dev = makedev(major, minor);
		map->readable = mode[0] == 'r';
		map->writable = mode[1] == 'w';
		map->executable = mode[2] == 'x';
		map->name = line + at;
		return true;
	}
	return false;
}

void hodo_proc_maps_close(struct hodo_proc_maps *m)
{
	hodo_text_free(&m->text);
	m->next = NULL;
}
