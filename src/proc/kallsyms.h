/* SPDX-License-Identifier: MIT */
/* kallsyms.h - the functions of the running kernel and its modules: /proc/kallsyms. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct hodo_kallsym {
	uint64_t address; /* 0: we may not know it */
	char type;        /* t, T, w or W */
	const char *name, *module; /* "": of the kernel itself; until the next one is taken */
};

struct hodo_kallsyms {
	FILE *file;
	char *line;
	size_t room;
};

int hodo_kallsyms_open(struct hodo_kallsyms *k); /* 0 or a negative errno; close it in any case */
bool hodo_kallsyms_next(struct hodo_kallsyms *k, struct hodo_kallsym *s); /* false: there are no more */
void hodo_kallsyms_close(struct hodo_kallsyms *k);
