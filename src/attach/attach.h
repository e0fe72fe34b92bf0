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

/* What is written over code of the process while all its threads stand: no thread is where it could matter. */
struct hodo_attach_write {
	uint64_t addr;
	uint8_t bytes[8];
	uint8_t len;
};
/* A thread that stands there goes on there. */
struct hodo_attach_move {
	uint64_t from, to;
};
struct hodo_attach_still {
	const struct hodo_attach_write *writes;
	const struct hodo_attach_move *moves;
	uint32_t nwrites, nmoves;
	uint64_t unblocked; /* signals that no thread blocks from then on */
};

/*
 * Stops all threads of the process, which libhodo is in, writes, moves and unblocks, and lets them go on. All or
 * nothing: what was written before an error is taken back. 0, or a negative errno and why: -EAGAIN: a thread could
 * not be stopped now.
 */
int hodo_attach_still(pid_t pid, int pidfd, const struct hodo_attach_still *still, struct hodo_attach_done *done,
		      char *why, size_t why_size);

#endif
