/* SPDX-License-Identifier: MIT */
/*
 * demangle.c - readable names of C++ and Rust.
 *
 * A mangled name of a few hundred bytes can expand to gigabytes: each template may name the previous one
 * twice. The demangler emits small pieces; if there are too many, we leave it by longjmp, which is safe since
 * it uses only stack memory.
 */
#include "demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <core/symbol_name.h>

#define DEMANGLED_MAX 16384u /* bytes */
/* libiberty itself stops at half its limit of recursion, 1,024 bytes; the stack has room for more. */
#define LIBIBERTY_MAX 1024u
#define MANGLED_MAX   4096u

struct output {
	jmp_buf too_long;
	size_t len;
	char text[DEMANGLED_MAX];
};

static void take(const char *piece, size_t len, void *opaque)
{
	struct output *o = opaque;

	if (len > sizeof(o->text) - o->len)
		longjmp(o->too_long, 1);
	memcpy(o->text + o->len, piece, len);
	o->len += len;
}

static bool demangle(struct output *o, const char *mangled, size_t len, int options)
{
	const int all = options | (len > LIBIBERTY_MAX ? DMGL_NO_RECURSE_LIMIT : 0);

	if (setjmp(o->too_long) != 0)
		return false;
	/* Rust's older names look like C++ followed by a hash. */
	if (rust_demangle_callback(mangled, all, take, o))
		return o->len > 0;
	o->len = 0;
	return strncmp(mangled, "_R", 2) != 0 && cplus_demangle_v3_callback(mangled, all, take, o) &&
	       o->len > 0;
}

static char *demangled(const char *mangled, int options)
{
	size_t len = hodo_symbol_whole_name(mangled);
	struct output *o = NULL;
	char *name = strndup(mangled, len), *better;

	/* Others are not mangled names, even if they look like type codes. */
	if (!name || len > MANGLED_MAX || (strncmp(name, "_Z", 2) != 0 && strncmp(name, "_R", 2) != 0) ||
	    !hodo_symbol_demangles(name))
		return name;
	o = malloc(sizeof(*o));
	if (!o)
		return name;
	o->len = 0;
	if (demangle(o, name, len, options)) {
		better = strndup(o->text, o->len);
		if (better) {
			free(name);
			name = better;
		}
	}
	free(o);
	return name;
}

char *hodo_elf_demangle(const char *mangled)
{
	return demangled(mangled, DMGL_PARAMS | DMGL_ANSI);
}

char *hodo_elf_demangle_brief(const char *mangled, bool parameters)
{
	char *name = demangled(mangled, parameters ? DMGL_PARAMS | DMGL_ANSI : DMGL_ANSI), *brief;
	size_t len = name ? strlen(name) : 0;

	if (!name || strncmp(mangled, "_Z", 2) != 0)
		return name;
	brief = malloc(len + 1);
	if (brief)
		brief[hodo_brief_name(name, len, brief)] = 0;
	free(name);
	return brief;
}

char *hodo_elf_demangle_short(const char *mangled, bool templates)
{
	char *name = demangled(mangled, DMGL_ANSI);

	if (name && !templates)
		name[hodo_name_without_arguments(name, strlen(name))] = 0;
	return name;
}
