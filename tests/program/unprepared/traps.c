/* SPDX-License-Identifier: MIT */
/* traps.c - see scenes.h. The functions are in a library of their own, odd.S. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "scenes.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "load.h"
#include <user/objects/objects.h>
#include <user/process/process.h>

#define SECOND 2 /* where the second instruction of odd_sum() begins */
#define TIMES 100000

int odd_sum(int x);
int odd_jump(int x, const void *to);
int odd_break(int x);
int odd_step(int x);

static bool is_patched(const void *code)
{
	return *(const volatile uint8_t *)code == 0xe9;
}

static void plan(void)
{
	const char *const ends[] = { "/libengine_odd.so" };
	uint64_t seed = 1;

	load_plan(ends, 1);
	load_switch(true, 100, &seed);
	CHECK(is_patched((const void *)odd_sum));
}

void scene_hot(void)
{
	const char *second = (const char *)odd_sum + SECOND;
	uint64_t seed = 1, served;

	plan();
	for (int i = 0; i < 100; i++)
		CHECK(odd_jump(i, second) == i + 3);
	CHECK(hodo_engine_counts.served == 100 && is_patched((const void *)odd_sum));
	for (int i = 0; i < TIMES; i++)
		CHECK(odd_jump(i, second) == i + 3);
	served = hodo_engine_counts.served;
	printf("hot %llu\n", (unsigned long long)served);
	CHECK(served >= 1000 && served < TIMES / 2);
	CHECK(!is_patched((const void *)odd_sum) && is_patched((const void *)odd_jump));
	/* The function stays given up. */
	load_switch(false, 100, &seed);
	load_switch(true, 100, &seed);
	CHECK(!is_patched((const void *)odd_sum) && is_patched((const void *)odd_jump));
	CHECK(odd_sum(1) == 4 && odd_jump(1, second) == 4 && hodo_engine_counts.served == served);
	CHECK(hodo_engine_counts.others == 0);
}

static volatile int trapped, stepped, at_window;

static void on_trap(int signal, siginfo_t *info, void *context)
{
	uintptr_t rip = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)signal;
	if (info->si_code == TRAP_TRACE) {
		stepped++;
		at_window += rip == (uintptr_t)odd_sum;
	} else {
		trapped++;
	}
}

/* The program has a window after its own int3, and where it single-steps to: its traps are not libhodo's. */
void scene_steps(void)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	plan();
	CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
	CHECK(odd_break(0) == 5 && trapped == 0);
	CHECK(odd_break(1) == 6 && trapped == 1);
	CHECK(odd_step(1) == 4);
	printf("stepped %d\n", stepped);
	CHECK(stepped > 5 && at_window == 1 && trapped == 1);
	CHECK(hodo_engine_counts.served == 0);
}

/* ------------------------------------------------------------------- a plan that is refused */

static int take(int fd)
{
	uint64_t mask = hodo_control_lock();
	int error = hodo_engine_take(fd, false);

	hodo_control_unlock(mask);
	return error;
}

/* Asks the kernel itself. */
static bool is_default(int signal)
{
	struct hodo_engine_action is;

	CHECK(hodo_sys4(SYS_rt_sigaction, signal, 0, &is, HODO_ENGINE_SET_BYTES) == 0);
	return (uintptr_t)is.handler == (uintptr_t)SIG_DFL;
}

/* The place of the slots is taken: nothing is left behind, and the next plan is taken as if it were the first. */
static void refuse_and_take(void)
{
	const char *const ends[] = { "/libengine_odd.so" };
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
	struct hodo_probe_built built = load_build(ends, 1);
	struct hodo_plan_pages pages;
	struct hodo_plan head;
	void *at;

	CHECK(pread(built.fd, &head, sizeof(head), 0) == sizeof(head));
	CHECK(pread(built.fd, &pages, sizeof(pages), (off_t)head.pages.offset) == sizeof(pages));
	at = mmap((void *)pages.addr, pages.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	CHECK(at == (void *)pages.addr);
	CHECK(take(built.fd) == -EEXIST);
	CHECK(!hodo_engine_guarded && is_default(SIGTRAP) && is_default(SIGILL));
	CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
	CHECK(munmap(at, pages.bytes) == 0);
	CHECK(take(built.fd) == 0 && hodo_engine_guarded);
}

/* Taken any number of times, a plan uses the slots of the first time again. */
static void take_again(void)
{
	const char *const ends[] = { "/libengine_odd.so" };
	struct hodo_probe_built built = load_build(ends, 1);
	uint32_t plans = hodo_engine_nplans;
	uint64_t seed = 1, before;

	for (int i = 0; i < 1000; i++)
		CHECK(take(built.fd) == 0);
	CHECK(hodo_engine_nplans == plans);
	load_switch(false, 100, &seed);
	before = entries;
	CHECK(odd_sum(1) == 4 && entries == before);
	load_switch(true, 100, &seed);
	CHECK(odd_sum(1) == 4 && entries == before + 1);
}

static void on_foreign(int signal, siginfo_t *info, void *context)
{
	static const uint8_t was = 0x89;

	(void)signal;
	(void)info;
	trapped++;
	CHECK(hodo_patch_write((uintptr_t)odd_sum, &was, 1) == 0);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP]--;
}

/* Another object is where one with windows was: its traps are its own. */
static void replace_object(void)
{
	static const uint8_t trap = 0xcc;
	struct sigaction action = { .sa_sigaction = on_foreign, .sa_flags = SA_SIGINFO };
	uint64_t seed = 1, served = hodo_engine_counts.served;

	load_switch(false, 100, &seed);
	hodo_engine_forget((uintptr_t)odd_sum, (uintptr_t)odd_sum + 16);
	CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
	CHECK(hodo_patch_write((uintptr_t)odd_sum, &trap, 1) == 0);
	trapped = 0;
	CHECK(odd_sum(1) == 4 && trapped == 1 && hodo_engine_counts.served == served);
}

void scene_refused(void)
{
	uint64_t seed = 1;

	hodo_engine_import(HODO_IMPORT_ENTRY, (uintptr_t)count_entry);
	hodo_engine_import(HODO_IMPORT_EXIT, (uintptr_t)count_exit);
	refuse_and_take();
	load_switch(true, 100, &seed);
	CHECK(odd_jump(1, (const char *)odd_sum + SECOND) == 4 && trapped == 0 && hodo_engine_counts.served == 1);
	CHECK(odd_break(1) == 6 && trapped == 1);
	take_again();
	replace_object();
}
