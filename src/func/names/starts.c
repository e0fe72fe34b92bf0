/* SPDX-License-Identifier: MIT */
/* starts.c - where functions begin, by the object's table for unwinders, if it lies in its segments. */
#include <elf.h>
#include <func/slots/near.h>
#include <user/objects/objects.h>

/* Encodings of .eh_frame_hdr that all linkers use. */
#define PCREL_SDATA4 0x1b
#define UDATA4 0x03
#define DATAREL_SDATA4 0x3b

void hodo_starts_read(const struct dl_phdr_info *info, struct hodo_starts *starts)
{
	starts->n = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t p = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		const uint8_t *head = (const uint8_t *)p;
		size_t room;

		if (info->dlpi_phdr[i].p_type != PT_GNU_EH_FRAME)
			continue;
		room = hodo_objects_room(p, PF_R);
		if (room < 12 || head[0] != 1 || head[1] != PCREL_SDATA4 || head[2] != UDATA4 ||
		    head[3] != DATAREL_SDATA4)
			return;
		starts->origin = p;
		starts->entry = (const int32_t(*)[2])(p + 12);
		__builtin_memcpy(&starts->n, head + 8, 4);
		if (starts->n > (room - 12) / sizeof(starts->entry[0]))
			starts->n = 0;
		return;
	}
}

uintptr_t hodo_starts_find(const struct hodo_starts *starts, uintptr_t addr, uintptr_t *next)
{
	uint32_t behind = hodo_search(i, starts->n, starts->origin + (uintptr_t)(intptr_t)starts->entry[i][0] > addr);

	*next = behind < starts->n ? starts->origin + (uintptr_t)(intptr_t)starts->entry[behind][0] : ~(uintptr_t)0;
	return behind ? starts->origin + (uintptr_t)(intptr_t)starts->entry[behind - 1][0] : 0;
}
