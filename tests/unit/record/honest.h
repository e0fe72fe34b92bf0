/* SPDX-License-Identifier: MIT */
/* honest.h - the file of a flight recorder, as a process would have left it, made here. */
#ifndef TESTS_FLIGHT_HONEST_H
#define TESTS_FLIGHT_HONEST_H

#include <stdbool.h>
#include <stdint.h>

#include <hodo/abi.h>

#define HONEST_RINGS 2u
#define HONEST_PACKET 1024u
#define HONEST_RING 8192u
#define HONEST_DATA (HODO_SHM_RINGS + HONEST_RINGS * (uint64_t)HODO_PAGE)
#define HONEST_TOTAL (HONEST_DATA + HONEST_RINGS * (uint64_t)HONEST_RING)

/* snapshot: as hodo_snapshot() copies it. The memory must be all zeros. */
void honest_make(uint8_t *file, bool snapshot);

#endif
