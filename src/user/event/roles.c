/* SPDX-License-Identifier: MIT */
/* roles.c - threads' roles in the program: HODO_THREAD_ROLE. */
#include <errno.h>
#include "event.h"

/* Interned, so that nothing refers to the memory of an object that may be closed. */
#define ROLES_MAX 256u
static struct {
	uint32_t state; /* 0 free, 1 being written, 2 valid */
	char name[HODO_ROLE_MAX];
} roles[ROLES_MAX];

/* Two threads that meet here may both make one, which is harmless. */
const char *hodo_role_intern(const char *name, uint32_t length)
{
	for (uint32_t i = 0; i < ROLES_MAX; i++) {
		uint32_t state = hodo_load_acquire(&roles[i].state);

		if (state == 2 && __builtin_strcmp(roles[i].name, name) == 0)
			return roles[i].name;
		if (state != 0 || !hodo_cas_acquire(&roles[i].state, &state, 1))
			continue;
		__builtin_memcpy(roles[i].name, name, length);
		hodo_store_release(&roles[i].state, 2);
		return roles[i].name;
	}
	return 0;
}

int hodo_role_set(const char *role)
{
	size_t length = role ? __builtin_strlen(role) : 0;
	const char *own = 0;

	if (length >= HODO_ROLE_MAX)
		return -ENAMETOOLONG;
	if (length) {
		own = hodo_role_intern(role, (uint32_t)length);
		if (!own)
			return -ENOSPC;
	}
	hodo_tls.role = own;
	return 0;
}
