/* SPDX-License-Identifier: MIT */
/*
 * call_places.h - which thread entered the frame at an address last: a coroutine may go on in
 * another thread than the one whose chain its frames are in.
 */
#ifndef HODO_READ_CALL_PLACES_H
#define HODO_READ_CALL_PLACES_H

#include <base/map.h>

#define HODO_PLACE_NONE UINT32_MAX

struct hodo_place {
	uint64_t at;
	uint32_t thread;
};

/* An empty map of them. */
#define HODO_PLACES HODO_MAP(struct hodo_place, at)

/* The thread that entered there last, HODO_PLACE_NONE if none is known. */
static inline uint32_t hodo_places_get(const struct hodo_map *places, uint64_t at)
{
	const struct hodo_place *place = hodo_map_find_u64(places, at);

	return place ? place->thread : HODO_PLACE_NONE;
}

/* The same, and thread takes its place; nobody enters at 0. false: no memory. */
static inline bool hodo_places_set(struct hodo_map *places, uint64_t at, uint32_t thread, uint32_t *before)
{
	struct hodo_place *place;
	bool is_new = true;

	*before = HODO_PLACE_NONE;
	if (!at)
		return true;
	place = hodo_map_add_u64(places, at, &is_new);
	if (!place)
		return false;
	if (!is_new)
		*before = place->thread;
	place->thread = thread;
	return true;
}

#endif
