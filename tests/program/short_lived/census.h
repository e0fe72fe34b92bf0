/* SPDX-License-Identifier: MIT */
/*
 * census.h - the ledger: what each image of a program has written, kept without the recorder's help.
 */
#ifndef CENSUS_H
#define CENSUS_H

#include <stdint.h>

#define LEDGER_IMAGES 1024
#define LEDGER_FD 100 /* the same in every image: a program that becomes another user's could not open the file again */

/* before, after: how many events an image began and ended; they may differ in one that was killed. */
struct ledger_image {
	int32_t pid;
	int32_t parent;  /* the image that forked or started this one, or was this process before exec; -1: none */
	uint32_t silent; /* 1: only the parent could have this image recorded, or counted */
	uint32_t reserved;
	uint64_t before, after;
};

struct ledger {
	uint32_t images; /* so many were allotted; those from LEDGER_IMAGES on do not exist */
	uint32_t limit;
	struct ledger_image image[LEDGER_IMAGES];
};

/* For the image that runs, also in a library that is opened later. */
static inline void ledger_begin(struct ledger_image *i)
{
	__atomic_add_fetch(&i->before, 1, __ATOMIC_SEQ_CST);
}
static inline void ledger_end(struct ledger_image *i)
{
	__atomic_add_fetch(&i->after, 1, __ATOMIC_SEQ_CST);
}

#endif
