/* SPDX-License-Identifier: MIT */
/*
 * given_up.c - warns about what the engine has given up (src/func/engine/hot_traps.c). In the handler of a trap, on any
 * stack: names are looked up on our own.
 */
#include <core/bounded_text.h>
#include <func/engine/engine.h>
#include <func/names/names.h>
#include "slots.h"
#include <func/names/mangled.h>
#include <user/event/event.h>
#include <user/user.h>

#define STACK_BYTES (256ul << 10)
#define WHY ": code jumps into the bytes that its probe replaces, again and again, at 2 us each time"

static void put_address(struct hodo_bounded *text, uintptr_t address)
{
	hodo_bounded_put(text, "at 0x");
	for (int shift = 44; shift >= 0; shift -= 4)
		hodo_bounded_bytes(text, &"0123456789abcdef"[address >> shift & 15], 1);
}

static void say(void *at)
{
	char name[256];
	struct hodo_bounded text = hodo_bounded_to(name, sizeof(name));

	if (hodo_names_function(at, name, sizeof(name)) <= 0)
		put_address(&text, (uintptr_t)at);
	hodo_catalog_warning((const char *const[]){ "function ", name, " is not recorded any more" WHY }, 3);
}

void hodo_planned_given_up(uintptr_t at)
{
	void *stack = hodo_recording.on ? hodo_map(STACK_BYTES) : 0;

	if (!stack)
		return;
	hodo_x86_on_stack(say, (void *)at, stack + STACK_BYTES);
	hodo_sys2(SYS_munmap, stack, STACK_BYTES);
}
