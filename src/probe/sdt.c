/* SPDX-License-Identifier: MIT */
/*
 * sdt.c - static probes of installed programs and libraries (USDT) as events of a plan. Their arguments are
 * fields, arg1, arg2, …; those without a place in the note are left out.
 */
#include "sdt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/scope.h>
#include <base/vec.h>
#include <core/glob.h>
#include <elf/sdt.h>
#include <hodo/abi.h>

#include "operand.h"

struct taking {
	const char *const *patterns;
	unsigned n;
	struct hodo_probe_target *t;
	const struct hodo_elf *e;
};

static bool is_wanted(const struct taking *t, const struct hodo_elf_sdt *probe)
{
	HODO_AUTO_FREE char *name = NULL;
	bool wanted = false;
	int len = asprintf(&name, "%s:%s", probe->provider, probe->name);

	for (unsigned i = 0; i < t->n && len > 0 && !wanted; i++)
		wanted = hodo_glob(t->patterns[i], strlen(t->patterns[i]), name, (size_t)len);
	return wanted;
}

static int take(void *arg, const struct hodo_elf_sdt *probe)
{
	struct taking *take = arg;
	struct hodo_probe_event *e;
	const char *at = probe->args;
	struct hodo_sdt_arg a;

	if (!is_wanted(take, probe))
		return 0;
	e = hodo_vec_add(take->t->events, take->t->nevents);
	if (!e)
		return -ENOMEM;
	*e = (struct hodo_probe_event){ .addr = probe->address, .semaphore = probe->semaphore,
					.provider = strdup(probe->provider), .name = strdup(probe->name) };
	for (unsigned n = 1; e->nfields < HODO_TRACE_FIELDS_MAX && hodo_sdt_arg_next(&at, &a); n++) {
		struct hodo_probe_field *f = hodo_vec_add(e->fields, e->nfields);
		int err = f ? hodo_probe_operand(f, take->e, &a, n) : -ENOMEM;

		if (err && f)
			hodo_probe_field_free(&e->fields[--e->nfields]);
		if (err == -ENOMEM)
			return err;
	}
	return e->provider && e->name ? 0 : -ENOMEM;
}

int hodo_probe_sdt(struct hodo_probe_target *t, const char *path, const char *const *patterns, unsigned n)
{
	HODO_AUTO(hodo_elf_close) struct hodo_elf e = HODO_ELF_CLOSED;
	struct taking taking = { patterns, n, t, &e };
	uint32_t damaged;

	if (!n || hodo_elf_open(&e, path) < 0)
		return 0;
	return hodo_elf_sdt(&e, take, &taking, &damaged);
}
