/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "payload.h"

#include "fields.h"

struct unaligned16 {
	uint16_t v;
} __attribute__((packed, may_alias));
struct unaligned32 {
	uint32_t v;
} __attribute__((packed, may_alias));

int hodo_payload_init(struct hodo_payload *payload, const uint8_t *types, unsigned int nfields)
{
	unsigned int n = 0;

	*payload = (struct hodo_payload){ 0 };
	if (nfields > HODO_PAYLOAD_FIELDS_MAX)
		return -1;
	for (unsigned int i = 0; i < nfields; i++) {
		unsigned int fixed = hodo_fields_fixed_size(types[i]), element = hodo_fields_element_size(types[i]);

		if (!fixed)
			return -1;
		payload->fixed[n] = (uint16_t)(payload->fixed[n] + fixed);
		if (!element)
			continue;
		payload->length[n] = (uint8_t)fixed;
		payload->element[n] = (uint8_t)element;
		n++;
	}
	payload->variables = (uint16_t)n;
	return 0;
}

/* Bytes of variable field i, whose length stands before end. No overflow: 8 * 2^32 at most. */
static uint64_t variable_size(const struct hodo_payload *payload, unsigned int i, const uint8_t *end)
{
	uint64_t n;

	if (payload->length[i] == sizeof(uint16_t))
		n = ((const volatile struct unaligned16 *)(end - sizeof(uint16_t)))->v;
	else
		n = ((const volatile struct unaligned32 *)(end - sizeof(uint32_t)))->v;
	return n * payload->element[i];
}

uint64_t hodo_payload_size(const struct hodo_payload *payload, const uint8_t *p, uint64_t room)
{
	uint64_t at = 0;

	for (unsigned int i = 0; i < payload->variables; i++) {
		at += payload->fixed[i];
		if (at <= room)
			at += variable_size(payload, i, p + at);
		if (at > room)
			return at;
	}
	return at + payload->fixed[payload->variables];
}

size_t hodo_payload_pieces(const struct hodo_payload *payload, const uint8_t *p, uint64_t room,
			   struct hodo_piece pieces[HODO_PAYLOAD_PIECES_MAX])
{
	size_t n = 0;

	for (unsigned int i = 0; i <= payload->variables && payload->fixed[i] <= room; i++) {
		uint64_t bytes = 0;

		if (payload->fixed[i] || i < payload->variables)
			pieces[n++] = (struct hodo_piece){ p, payload->fixed[i] };
		p += payload->fixed[i];
		room -= payload->fixed[i];
		if (i < payload->variables)
			bytes = variable_size(payload, i, p);
		if (i == payload->variables || bytes > room)
			break;
		pieces[n++] = (struct hodo_piece){ p, (size_t)bytes };
		p += bytes;
		room -= bytes;
	}
	return n;
}
