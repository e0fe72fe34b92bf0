/* SPDX-License-Identifier: MIT */
/* slot_find.c - see slots.h. */
#include "slots.h"

#include <errno.h>

int hodo_elf_slots_find(struct hodo_elf_slots *s, const struct hodo_elf *e)
{
	static int (*const finders[])(struct hodo_elf_slots *, const struct hodo_elf *) = {
		hodo_elf_slots_calls, hodo_elf_slots_xray, hodo_elf_slots_patchable
	};
	int err;

	*s = (struct hodo_elf_slots){ 0 };
	err = hodo_elf_symbols_add(&s->symbols, e->elf);
	hodo_elf_symbols_sort(&s->symbols);
	if (err != -ENOMEM)
		err = hodo_elf_symbols_join(&s->symbols);
	for (unsigned i = 0; i < sizeof(finders) / sizeof(finders[0]) && err != -ENOMEM; i++)
		err = finders[i](s, e);
	if (err == -ENOMEM)
		return err;
	hodo_elf_slots_settle(s);
	return 0;
}
