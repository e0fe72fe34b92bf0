/* SPDX-License-Identifier: MIT */
#include "planes.h"

#include <string.h>

#include "le.h"

#define MARK_MAGIC   0x184d2a51u
#define RECORD_MIN   4u
#define LOOKED_AT    4096u
#define CLEARLY_MORE 16u /* a 16th */

static uint32_t equal_at(const uint8_t *bytes, size_t len, uint32_t distance)
{
	uint32_t n = 0;

	for (size_t i = distance; i < len; i++)
		n += bytes[i] == bytes[i - distance];
	return n;
}

uint32_t hodo_planes_guess(const uint8_t *bytes, size_t len)
{
	uint32_t best = 0, most = 0;

	if (len > LOOKED_AT)
		len = LOOKED_AT;
	for (uint32_t distance = RECORD_MIN; distance <= HODO_PLANES_MAX && distance < len; distance++) {
		uint32_t n = equal_at(bytes, len, distance);

		/* At twice the distance, as many are equal: take the shortest. */
		if (n > most + most / CLEARLY_MORE) {
			most = n;
			best = distance;
		}
	}
	return best;
}

void hodo_planes_split(uint8_t *to, const uint8_t *from, size_t len, uint32_t record)
{
	size_t n = len / record;

	for (uint32_t byte = 0; byte < record; byte++)
		for (size_t i = 0; i < n; i++)
			*to++ = from[i * record + byte];
	memcpy(to, from + n * record, len - n * record);
}

void hodo_planes_join(uint8_t *to, const uint8_t *from, size_t len, uint32_t record)
{
	size_t n = len / record;

	for (uint32_t byte = 0; byte < record; byte++)
		for (size_t i = 0; i < n; i++)
			to[i * record + byte] = *from++;
	memcpy(to + n * record, from, len - n * record);
}

void hodo_planes_write_mark(uint8_t mark[HODO_PLANES_MARK], struct hodo_planes planes)
{
	hodo_put_le32(mark, MARK_MAGIC);
	hodo_put_le32(mark + 4, HODO_PLANES_MARK - 8);
	hodo_put_le32(mark + 8, planes.head);
	hodo_put_le32(mark + 12, planes.record);
}

bool hodo_planes_read_mark(const uint8_t mark[HODO_PLANES_MARK], struct hodo_planes *planes)
{
	struct hodo_planes p = { (uint32_t)hodo_get_le(mark + 8, 4), (uint32_t)hodo_get_le(mark + 12, 4) };

	if (hodo_get_le(mark, 4) != MARK_MAGIC || hodo_get_le(mark + 4, 4) != HODO_PLANES_MARK - 8 || p.record < 2 ||
	    p.record > HODO_PLANES_MAX)
		return false;
	*planes = p;
	return true;
}
