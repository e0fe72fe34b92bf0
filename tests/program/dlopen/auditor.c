/* SPDX-License-Identifier: MIT */
/* auditor.c - an auditor (rtld-audit(7)) that has events. */
#define _GNU_SOURCE
#include <link.h>

#include <hodo/trace.h>

__attribute__((visibility("default"))) unsigned int la_version(unsigned int version);
__attribute__((visibility("default"))) unsigned int la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie);

unsigned int la_version(unsigned int version)
{
	return version;
}

unsigned int la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie)
{
	HODO_EVENT(auditor, objopen, HODO_F(name, (const char *)map->l_name));
	return 0;
}
