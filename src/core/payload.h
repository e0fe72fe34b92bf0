/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * payload.h - the bytes after an event's header: runs of fields of fixed size, with one of variable size
 * between them. All code that walks over events or parses one uses this.
 */
#pragma once

#include <hodo/abi.h>
#include <hodo/abi_live.h>

#define HODO_PAYLOAD_FIELDS_MAX (HODO_CONTEXT_FIELDS_MAX + HODO_FIELDS_MAX)
#define HODO_PAYLOAD_PIECES_MAX (2 * HODO_FIELDS_MAX + 1) /* of an event's own fields */

struct hodo_payload {
	uint16_t variables;                          /* 0 .. HODO_PAYLOAD_FIELDS_MAX */
	uint16_t fixed[HODO_PAYLOAD_FIELDS_MAX + 1]; /* bytes before variable field i, its length included; the rest */
	uint8_t length[HODO_PAYLOAD_FIELDS_MAX];     /* bytes of that length: 2 or 4 */
	uint8_t element[HODO_PAYLOAD_FIELDS_MAX];    /* bytes of one element */
};

/* From the types of its fields. 0; -1 if there are too many, or one is not of enum hodo_type. Signal safe. */
int hodo_payload_init(struct hodo_payload *payload, const uint8_t *types, unsigned int nfields);

/*
 * Bytes of the payload at p, of which room may be read; a result above room is a lower bound. Reads each
 * length once, so that the bytes may change meanwhile. Signal safe.
 */
uint64_t hodo_payload_size(const struct hodo_payload *payload, const uint8_t *p, uint64_t room);

/*
 * Splits the payload at p into the pieces that filters need: runs of fixed size and variable fields in turn,
 * in the order written. Stops at the first that does not lie within room. Returns how many. Signal safe.
 */
size_t hodo_payload_pieces(const struct hodo_payload *payload, const uint8_t *p, uint64_t room,
			   struct hodo_piece pieces[HODO_PAYLOAD_PIECES_MAX]);
