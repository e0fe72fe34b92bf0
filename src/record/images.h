/* SPDX-License-Identifier: MIT */
/*
 * images.h - process images that recorded processes have announced (abi.h, struct hodo_image), and who has come.
 *
 * An image of which nobody has come to the socket when its process has ended, or when the recording ends, is not
 * recorded. Only in the recording of a command: what a process starts that was running is not asked for.
 */
#ifndef HODO_RECORD_IMAGES_H
#define HODO_RECORD_IMAGES_H

#include <base/map.h>
#include <stdbool.h>
#include <sys/types.h>

struct hodo_process;
struct hodo_session;

struct hodo_image_came {
	uint32_t pid;
	uint64_t number; /* of the latest */
};

struct hodo_images_awaited {
	struct hodo_map came;    /* of struct hodo_image_came, by pid */
	uint64_t number;         /* of images that have come */
	struct hodo_map awaited; /* whose place in the process's memory is free again */
	uint32_t next;           /* those below it are looked at next */
	uint64_t lost;           /* of which nothing is known */
	int64_t looked_ns;
};

void hodo_images_begin(struct hodo_session *s);

/* One of the recording has come to the socket, whatever becomes of it. Its number. */
uint64_t hodo_image_came(struct hodo_session *s, pid_t pid);

/* Looks at what a process has announced since; all: also at what it had before. */
void hodo_images_look(struct hodo_process *p, bool all);
/* The process is about to be finished; alive: it may run on. */
void hodo_images_take(struct hodo_process *p, bool alive);

/* Counts those that have ended and never came; now and then. */
void hodo_images_check(struct hodo_session *s, int64_t now_ns);
/* The recording has ended: nobody can come any more. Counts the others, and frees all. */
void hodo_images_end(struct hodo_session *s);

#endif
