/* SPDX-License-Identifier: MIT */
/* thread.c - the thread tracer. */
#include "func.h"

const struct hodo_builtin_ops hodo_builtin_thread = { 0 };

void hodo_thread_roles(const struct dl_phdr_info *info, const struct hodo_note_roles *note)
{
}

int hodo_thread_set_role(const char *role)
{
	return 0;
}
