/* SPDX-License-Identifier: MIT */
/* driver.c - calls the replaced returns by hand. Compiled with general registers only, and without hooks. */
#include "driver.h"
#include <func/dispatch.h>
#include <func/slots/slots.h>

unsigned long driver_entries, driver_jumped, driver_refused, driver_exits;
int driver_off;
bool hodo_func_profiled; /* in place of state.c's: false */

void driver_entered(uintptr_t *at); /* fentry.S */

static const char *why_not = "not asked";

static __attribute__((constructor(102))) void start(void)
{
	if (hodo_returns_possible(hodo_x86_return, &why_not))
		why_not = 0;
}

const char *driver_why_not(void)
{
	return why_not;
}

int driver_replace(unsigned long *at)
{
	bool jumped;

	return hodo_returns_replace((uintptr_t *)at, 0, &jumped);
}

void driver_entered(uintptr_t *at)
{
	bool jumped;

	if (driver_off)
		return;
	if (!hodo_returns_replace(at, 0, &jumped))
		hodo_add(&driver_refused, 1);
	else
		hodo_add(jumped ? &driver_jumped : &driver_entries, 1);
}

void hodo_dispatch_return(uintptr_t at)
{
	uintptr_t pc = hodo_returns_restore(at);

	if (*(uintptr_t *)at != pc)
		__builtin_trap();
	hodo_add(&driver_exits, 1);
	/* Changes all registers that a function may change. */
	__asm__ volatile("mov $-1, %%rax\n mov %%rax, %%rcx\n mov %%rax, %%rdx\n mov %%rax, %%rsi\n mov %%rax, %%rdi\n"
			 "mov %%rax, %%r8\n mov %%rax, %%r9\n mov %%rax, %%r10\n mov %%rax, %%r11\n"
			 ::: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");
}
