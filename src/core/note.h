/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * note.h - the notes of an ELF file or a loaded object, one after the other.
 *
 * Notes are aligned to 4 bytes, whatever the alignment of their segment or section says: mold and gold put
 * NT_GNU_PROPERTY_TYPE_0, the one kind that is aligned to 8, into one segment with all others. That kind
 * reads the same either way: its name has 4 bytes and its descriptor a multiple of 8. Zeros may precede it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct hodo_elf_note {
	uint32_t type, name_size, size;
	const uint8_t *name; /* name_size includes its terminating NUL */
	const uint8_t *desc; /* size bytes */
};

/* Reads the note at or after *at and advances *at past it. False: no complete note before end. */
static inline bool hodo_note_next(const uint8_t **at, const uint8_t *end, struct hodo_elf_note *note)
{
	uint32_t head[3]; /* bytes of the name, of the descriptor, type */
	size_t room, desc;

	do {
		room = (size_t)(end - *at);
		if (room < sizeof(head))
			return false;
		memcpy(head, *at, sizeof(head));
		if (head[0] == 0)
			*at += 4;
	} while (head[0] == 0);
	desc = sizeof(head) + (((size_t)head[0] + 3) & ~(size_t)3);
	if (desc > room || head[1] > room - desc)
		return false;
	*note = (struct hodo_elf_note){ head[2], head[0], head[1], *at + sizeof(head), *at + desc };
	desc += ((size_t)head[1] + 3) & ~(size_t)3;
	*at = desc < (size_t)(end - *at) ? *at + desc : end;
	return true;
}

static inline bool hodo_note_is(const struct hodo_elf_note *note, const char *name, uint32_t name_size)
{
	return note->name_size == name_size && memcmp(note->name, name, name_size) == 0;
}
