/* SPDX-License-Identifier: MIT */
/*
 * planes.h - reorders bytes before they are compressed: of records of one size, first the first byte of each,
 * then the second of each, and so on ("shuffle" in Blosc and HDF5). Bytes that change little between records
 * are then adjacent.
 *
 * A skippable frame before such a frame, the mark, gives the bytes before the records, and the records' size.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HODO_PLANES_MAX  64u /* bytes of a record */
#define HODO_PLANES_MARK 16u /* bytes of a mark */

struct hodo_planes {
	uint32_t head;   /* bytes before the records, which stay where they are */
	uint32_t record; /* bytes of one; 0: all bytes stay where they are */
};

/* The distance at which bytes are most often equal, the probable record size; 0: none stands out. */
uint32_t hodo_planes_guess(const uint8_t *bytes, size_t len);

/*
 * Splits the records in these bytes; a partial one at the end stays. to and from have len bytes and must
 * differ.
 */
void hodo_planes_split(uint8_t *to, const uint8_t *from, size_t len, uint32_t record);
void hodo_planes_join(uint8_t *to, const uint8_t *from, size_t len, uint32_t record);

void hodo_planes_write_mark(uint8_t mark[HODO_PLANES_MARK], struct hodo_planes planes);
/* Whether it is a valid mark. */
bool hodo_planes_read_mark(const uint8_t mark[HODO_PLANES_MARK], struct hodo_planes *planes);
