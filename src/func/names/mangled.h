/* SPDX-License-Identifier: MIT */
/* mangled.h - short names of C++ functions. Under the control lock. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * "ns::cls::f" of an Itanium-mangled name (Itanium C++ ABI, chapter 5.1), without template arguments,
 * parameters and ABI tags; a name that is not mangled, or not understood, stays as it is, but without
 * suffixes of parts. Names may be hostile. Returns the length; out is cut to size and terminated.
 */
size_t hodo_mangled_name(const char *mangled, char *out, size_t size);

/*
 * As src/elf shows it: the name with template arguments, with or without parameters; also in its short form
 * (core/symbol_name.h). False: it is not mangled, or too long. Names may be hostile.
 */
struct hodo_mangled_texts {
	size_t full_len, brief_len;
	char full[16384], brief[16384]; /* without terminators */
};
bool hodo_mangled_text(const char *mangled, bool parameters, struct hodo_mangled_texts *texts);

/* hodo_x86_on_stack (x86_64/own_stack.S): function(argument), on the stack that ends at top. */
__attribute__((visibility("hidden"))) void hodo_x86_on_stack(void (*function)(void *), void *argument, void *top);

/* Frees the memory that demangling used. */
void hodo_mangled_done(void);
