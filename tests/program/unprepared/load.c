/* SPDX-License-Identifier: MIT */
/* load.c - see load.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "load.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <user/process/process.h>

#define MAPS_BYTES (1u << 20)
#define OBJECTS_MAX 8u

struct wanted {
	const char *end;
	char *path;
	uint64_t *bias;
};

static int find(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct wanted *w = arg;
	size_t len = strlen(info->dlpi_name), end = strlen(w->end);

	(void)size;
	if (len < end || strcmp(info->dlpi_name + len - end, w->end) != 0)
		return 0;
	snprintf(w->path, 4096, "%s", info->dlpi_name);
	*w->bias = info->dlpi_addr;
	return 1;
}

bool load_find(const char *end, char path[4096], uint64_t *bias)
{
	struct wanted wanted = { end, path, bias };

	return dl_iterate_phdr(find, &wanted) == 1;
}

static void read_maps(struct hodo_probe_space *s)
{
	static char text[MAPS_BYTES];
	FILE *f = fopen("/proc/self/maps", "r");
	size_t n;

	CHECK(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	CHECK(n > 100 && n < sizeof(text) - 1);
	CHECK(hodo_probe_space_maps(s, text) == 0);
}

static void open_target(struct hodo_probe_target *t, struct hodo_probe_object *o, const char *end, bool functions)
{
	char path[4096];
	struct hodo_elf e;
	enum hodo_probe_reason why;
	uint32_t *list;

	CHECK(load_find(end, path, &t->bias));
	CHECK(hodo_elf_open(&e, path) == 0);
	CHECK(hodo_probe_object_open(o, &e, &why) == 0);
	hodo_elf_close(&e);
	list = calloc(o->nfunctions + 1, sizeof(*list));
	CHECK(list);
	for (uint32_t i = 0; i < o->nfunctions; i++)
		list[i] = i;
	t->object = o;
	t->functions = list;
	t->nfunctions = functions ? o->nfunctions : 0;
	t->system_calls = true;
}

struct hodo_probe_built load_build(const char *const *ends, unsigned n)
{
	static struct hodo_probe_object objects[OBJECTS_MAX];
	struct hodo_probe_target targets[OBJECTS_MAX] = { 0 };
	struct hodo_probe_space space = { 0 };
	struct hodo_probe_built built;
	bool libc = false;
	int err;

	CHECK(n < OBJECTS_MAX);
	for (unsigned i = 0; i < n; i++) {
		open_target(&targets[i], &objects[i], ends[i], true);
		libc = libc || strcmp(ends[i], "/libc.so.6") == 0;
	}
	if (!libc) {
		open_target(&targets[n], &objects[n], "/libc.so.6", false);
		n++;
	}
	read_maps(&space);
	err = hodo_probe_build(targets, n, &space, &built);
	if (err)
		fprintf(stderr, "build: %s: %llx: %s\n", strerror(-err), (unsigned long long)built.call,
			hodo_probe_reason_text(built.reason));
	CHECK(err == 0);
	for (unsigned i = 0; i < n; i++) {
		free((void *)(uintptr_t)targets[i].functions);
		hodo_probe_piece_free(targets[i].piece);
		hodo_probe_object_close(&objects[i]);
	}
	hodo_probe_space_free(&space);
	return built;
}

/* What the planner, in the same process, has allocated may be where the plan has its slots. */
#define TRIES 10

struct hodo_probe_built load_plan(const char *const *ends, unsigned n)
{
	struct hodo_probe_built built;
	int err = -EEXIST;

	hodo_engine_import(HODO_IMPORT_ENTRY, (uintptr_t)count_entry);
	hodo_engine_import(HODO_IMPORT_EXIT, (uintptr_t)count_exit);
	for (int i = 0; i < TRIES && err == -EEXIST; i++) {
		uint64_t mask;

		built = load_build(ends, n);
		mask = hodo_control_lock();
		err = hodo_engine_take(built.fd, false);
		hodo_control_unlock(mask);
		close(built.fd);
	}
	if (err)
		fprintf(stderr, "take: %s\n", strerror(-err));
	CHECK(err == 0);
	return built;
}

void load_switch(bool on, unsigned percent, uint64_t *seed)
{
	uint64_t mask = hodo_control_lock();

	for (uint32_t p = 0; p < hodo_engine_nplans; p++) {
		uint32_t n = hodo_engine_plans[p].head->windows.n;

		for (uint32_t i = 0; i < n; i++) {
			*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
			if ((*seed >> 33) % 100 < percent)
				hodo_engine_want(hodo_engine_plans[p].windows[i].addr, HODO_ENGINE_WANTED, on);
		}
	}
	CHECK(hodo_engine_apply() == 0);
	hodo_control_unlock(mask);
}

uint32_t load_windows(void)
{
	uint32_t n = 0;

	for (uint32_t p = 0; p < hodo_engine_nplans; p++)
		for (uint32_t i = 0; i < hodo_engine_plans[p].head->windows.n; i++)
			n += (hodo_engine_plans[p].state[i] & HODO_ENGINE_ON) != 0;
	return n;
}
