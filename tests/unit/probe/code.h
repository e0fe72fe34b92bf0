/* SPDX-License-Identifier: MIT */
/* code.h - small functions in assembly for the planner, which sees them at CODE_AT. */
#ifndef HODO_TESTS_PROBE_CODE_H
#define HODO_TESTS_PROBE_CODE_H

#include <probe/patch/window.h>

#define CODE_AT 0x10000u

/* The bytes of the assembly, from code_NAME to code_NAME_end. They never run. */
#define CODE(name, text)                                                                                     \
	__asm__(".pushsection .rodata\ncode_" #name ":\n" text "\ncode_" #name "_end:\n.popsection");          \
	extern const uint8_t code_##name[], code_##name##_end[]

/* The object whose only function is that code, decoded; the bytes after the offset `end` belong to no function. */
#define CODE_OBJECT(o, name) code_object(o, code_##name, (size_t)(code_##name##_end - code_##name), 0)
#define CODE_OBJECT_TO(o, name, end) code_object(o, code_##name, (size_t)(code_##name##_end - code_##name), end)

void code_object(struct hodo_probe_object *o, const uint8_t *code, size_t len, size_t end);
/* The window at its function's entry. */
struct hodo_probe_window code_entry(const struct hodo_probe_object *o);
/* … at the function's n-th exit. */
struct hodo_probe_window code_exit(const struct hodo_probe_object *o, uint32_t n);

#endif
