/* SPDX-License-Identifier: MIT */
/*
 * flight_memory.h - reads the file of a flight recorder, or a snapshot of one, into our own memory.
 *
 * It is read, not mapped, so that no change of the file can end us by SIGBUS; it is never changed. Holes and
 * zeros take no memory.
 */
#pragma once

#include <stdbool.h>

#include <base/why.h>
#include <hodo/abi.h>

struct hodo_flight_memory {
	uint8_t *shm; /* layout.total bytes; a copy, flags has HODO_SHM_SNAPSHOT */
	struct hodo_layout layout;
	struct hodo_flight flight;
	uint32_t pid;
	uint32_t number; /* of a snapshot, 0: not a snapshot */
	char why[sizeof(((struct hodo_shm *)0)->why)]; /* of a snapshot */
	bool alive;      /* its process is running, and still writing */
	bool cut;        /* the file was truncated */
	uint32_t repaired; /* rings whose lost position was recovered from their packets */
};

/*
 * Reads fd, which the caller keeps. 0, or a negative errno and a line in why. While it is open, no process
 * removes the file to make room.
 */
int hodo_flight_memory_read(struct hodo_flight_memory *m, int fd, struct hodo_why *why);
void hodo_flight_memory_free(struct hodo_flight_memory *m);
