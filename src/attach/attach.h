/* SPDX-License-Identifier: MIT */
/*
 * attach.h - bringing libhodo into a process that runs, by ptrace(2).
 *
 * One thread of the process is stopped briefly, at a place where it holds no lock
 * of the loader or of an allocator, and made to load the library and to
 * listen; then it goes on where it was, as if nothing had been. All other
 * threads run on.
 */
#ifndef HODO_ATTACH_ATTACH_H
#define HODO_ATTACH_ATTACH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct hodo_attach_done {
	uint64_t stopped_ns; /* how long the thread stood, all stops together */
	uint64_t longest_ns; /* the longest of them */
	unsigned int stops;
	int loaded; /* 1: libhodo was brought in; 0: it was there */
};

/*
 * Makes the process behind pidfd, whose number is pid, listen (abi.h, section
 * 4); library: the path of libhodo.so, taken where the process has none. It
 * is left as it was when this fails. 0, or a negative errno and one line in why that
 * says what to do. done may be NULL.
 */
int hodo_attach_process(pid_t pid, int pidfd, const char *library, struct hodo_attach_done *done, char *why,
			size_t why_size);

#endif
