/* SPDX-License-Identifier: MIT */
/*
 * images.h - process images that recorded processes have announced (abi.h, struct hodo_image), and those that
 * have connected.
 *
 * An image that has not connected to the socket when its process ends, or when the recording ends, is not
 * recorded. Only in the recording of a command: children of an attached process are not expected.
 */
#pragma once

#include <base/text.h>
#include <stdbool.h>
#include <sys/types.h>

struct hodo_process;
struct hodo_recorder;

void hodo_images_begin(struct hodo_recorder *s);

/* An image of the recording has connected, whatever becomes of it. Returns its number. */
uint64_t hodo_image_came(struct hodo_recorder *s, pid_t pid);

/* Examines what a process has announced since; all: also earlier announcements. */
void hodo_images_look(struct hodo_process *p, bool all);
/* The process is about to be finished; alive: it may run on. */
void hodo_images_take(struct hodo_process *p, bool alive);

/* Counts those that have ended and never connected; called now and then. */
void hodo_images_check(struct hodo_recorder *s, int64_t now_ns);
/* The recording has ended: nobody can connect any more. Counts the others, and frees all. */
void hodo_images_end(struct hodo_recorder *s);

/* ----------------------------------------------------------- those not recorded */

/* Counts one that connected, and reports it to the user, up to a bound. */
void hodo_unrecorded_add(struct hodo_recorder *s, pid_t pid, const char *why);

/* Appends their metadata lines. */
void hodo_unrecorded_text(const struct hodo_recorder *s, struct hodo_text *t);
