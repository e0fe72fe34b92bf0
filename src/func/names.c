/* SPDX-License-Identifier: MIT */
/* names.c - function symbols of loaded objects. */
#include "func.h"

struct hodo_names *hodo_names_open(const struct dl_phdr_info *info, const char *path)
{
	return 0;
}

void hodo_names_close(struct hodo_names *names)
{
}

const char *hodo_names_find(const struct hodo_names *names, uintptr_t addr, uintptr_t *start)
{
	return "";
}

uintptr_t hodo_names_section(const struct hodo_names *names, const char *section, size_t *size)
{
	return 0;
}

uintptr_t hodo_names_symbol(const struct hodo_names *names, const char *symbol)
{
	return 0;
}
