/* SPDX-License-Identifier: MIT */
/* shm.c - memory shared with a traced process: whether it is safe, and which parts are in use. */
#include "shm.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <base/file.h>

const char *hodo_shm_flaw(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct statfs fs;
	struct stat st;

	if (seals < 0)
		return "it did not send a memfd";
	if ((seals & (F_SEAL_SHRINK | F_SEAL_GROW)) != (F_SEAL_SHRINK | F_SEAL_GROW))
		return "its memory is not sealed";
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || fstatfs(fd, &fs) < 0 || fs.f_type != TMPFS_MAGIC)
		return "its memory is of the wrong kind";
	return NULL;
}

uint32_t hodo_shm_next_ring(const struct hodo_layout *layout, int fd, uint32_t from)
{
	uint64_t at;

	if (fd < 0 || from >= layout->rings)
		return from;
	at = hodo_file_data_at(fd, hodo_layout_ring(from), layout->data);
	if (at >= layout->data)
		return layout->rings;
	return (uint32_t)((at - HODO_SHM_RINGS) / HODO_PAGE);
}
