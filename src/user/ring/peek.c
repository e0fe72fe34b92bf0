/* SPDX-License-Identifier: MIT */
/* peek.c - reads memory of this process that may not be mapped, and never faults. Signal safe. */
#include <sys/uio.h>
#include <user/libc/sys.h>

uint32_t hodo_memory_read(uint32_t task, void *to, uintptr_t from, uint32_t len, struct iovec *part, uint32_t parts)
{
	struct iovec into = { to, len };
	uint32_t n = 0;
	long got;

	/* Page by page, since the kernel only promises whole parts. */
	for (uintptr_t at = from; at < from + len && n < parts; n++) {
		uintptr_t end = (at | (HODO_PAGE - 1)) + 1;

		if (end > from + len)
			end = from + len;
		part[n].iov_base = (void *)at;
		part[n].iov_len = end - at;
		at = end;
	}
	got = hodo_sys6(SYS_process_vm_readv, task, (long)&into, 1, (long)part, n, 0);
	return got > 0 ? (uint32_t)got : 0;
}
