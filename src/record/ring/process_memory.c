/* SPDX-License-Identifier: MIT */
/* process_memory.c - checks the memory that a process hands over before anything in it is used; and sees in it whether
 * the process has ended its recording. */
#include <record/process.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "shm.h"

static const char *header_flaw(const uint8_t *shm, const struct hodo_layout *l)
{
	struct hodo_shm h;

	hodo_shm_copy(&h, shm, sizeof(h));
	if (memcmp(h.magic, HODO_SHM_MAGIC, sizeof(h.magic)) != 0 || h.version != HODO_ABI_VERSION)
		return "its memory does not have Hodoscope's header";
	if (h.rings != l->rings)
		return "its memory has another layout";
	return NULL;
}

int hodo_process_map(struct hodo_process *p, const char **why)
{
	struct stat st;
	void *map;

	*why = hodo_shm_flaw(p->memfd);
	if (!*why && (fstat(p->memfd, &st) < 0 || (uint64_t)st.st_size != p->layout.total))
		*why = "its memory has the wrong size";
	if (*why)
		return -EPROTO;
	map = mmap(NULL, p->layout.total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, p->memfd, 0);
	if (map == MAP_FAILED) {
		int err = -errno;

		*why = err == -EPERM ? "its memory cannot be written" : strerror(errno);
		return err == -EPERM ? -EPROTO : err;
	}
	p->shm = map;
	*why = header_flaw(p->shm, &p->layout);
	return *why ? -EPROTO : 0;
}

bool hodo_process_has_ended(const struct hodo_process *p)
{
	return hodo_shm_load32(&((const struct hodo_shm *)p->shm)->ended) != 0;
}

void hodo_process_tell_ended(const struct hodo_process *p)
{
	if (!hodo_process_has_ended(p))
		return;
	if (p->kernel)
		hodo_report(&p->recorder->config.reporter, "the kernel's recording was ended through its control tree");
	else
		hodo_process_report(p, "its recording was ended, by 'hodo detach' or by itself");
}
