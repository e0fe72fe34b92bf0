/* SPDX-License-Identifier: MIT */
/*
 * call_places.h - which thread entered the frame at an address last: a coroutine may go on in
 * another thread than the one whose chain its frames are in.
 */
#ifndef HODO_READ_CALL_PLACES_H
#define HODO_READ_CALL_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#define HODO_PLACE_NONE UINT32_MAX

struct hodo_places {
	struct hodo_place_slot {
		uint64_t at; /* 0: free */
		uint32_t thread;
	} *slots; /* open addressing */
	uint32_t mask, count;
};

/* The thread that entered there last, HODO_PLACE_NONE if none is known. */
uint32_t hodo_places_get(const struct hodo_places *places, uint64_t at);
/* The same, and thread takes its place. false: no memory. */
bool hodo_places_set(struct hodo_places *places, uint64_t at, uint32_t thread, uint32_t *before);
void hodo_places_free(struct hodo_places *places);

#endif
