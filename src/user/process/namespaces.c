/* SPDX-License-Identifier: MIT */
/*
 * namespaces.c - objects in other namespaces of the loader than libhodo's: of dlmopen(3), and auditors.
 *
 * dl_iterate_phdr() gives only the caller's namespace. glibc's list for debuggers, since 2.35, leads to the
 * others. During dl_iterate_phdr()'s callback, the loader neither changes their lists nor unmaps their
 * objects.
 */
#include <user/event/event.h>
#include <user/libc/libc.h>
#include "process.h"

extern struct r_debug _r_debug __attribute__((weak));
extern ElfW(Dyn) _DYNAMIC[] __attribute__((weak, visibility("hidden")));

/*
 * If libhodo is linked into the executable, _r_debug may be a copy that the linker made there (a copy
 * relocation), whose r_state does not change; the executable's DT_DEBUG points to the loader's.
 */
const struct r_debug *hodo_namespaces_debug(void)
{
	for (const ElfW(Dyn) *d = _DYNAMIC; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_DEBUG && d->d_un.d_ptr)
			return (const struct r_debug *)d->d_un.d_ptr;
	}
	return hodo_libc_debug() ? hodo_libc_debug() : &_r_debug;
}

/* glibc's struct r_debug_extended. */
struct space {
	struct r_debug debug;
	const struct space *next; /* valid if the first one's r_version says so */
};

static const struct space *spaces(void)
{
	const struct r_debug *debug = hodo_namespaces_debug();

	return debug && hodo_libc_is_glibc() && debug->r_version >= 2 ? (const struct space *)debug : 0;
}

bool hodo_namespaces_unload(void)
{
	for (const struct space *s = spaces(); s; s = s->next) {
		if (s->debug.r_state == RT_DELETE)
			return true;
	}
	return false;
}

static bool is_ours(const struct link_map *map)
{
	while (map && map->l_ld != _DYNAMIC)
		map = map->l_next;
	return map;
}

void hodo_namespaces_each(int (*f)(struct dl_phdr_info *info, size_t size, void *data), void *data)
{
	for (const struct space *s = spaces(); s; s = s->next) {
		const struct link_map *map = is_ours(s->debug.r_map) ? 0 : s->debug.r_map;

		for (; map; map = map->l_next) {
			struct dl_phdr_info info = { .dlpi_addr = map->l_addr, .dlpi_name = map->l_name };

			if (map->l_addr == s->debug.r_ldbase) /* each of them has the loader */
				continue;
			if (hodo_libc_headers(map, &info))
				f(&info, sizeof(info), data);
			else
				hodo_catalog_warn(map->l_name, ": lies in another namespace of the loader (dlmopen), where "
						  "its events cannot be seen: they are not recorded");
		}
	}
}
