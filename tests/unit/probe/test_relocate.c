/* SPDX-License-Identifier: MIT */
/*
 * test_relocate.c - real libraries run with a probe on every function's entry and exits, and do what they did before.
 * Each runs in its own process, which ends together with the changes to its code.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <lib/unit.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "live.h"
#include "workload.h"

struct scene {
	const char *library;
	uint64_t (*work)(void);
	unsigned hit;   /* probes that must be hit, at least */
	uint64_t calls; /* … and how often in total */
	unsigned off;   /* largest difference of the numbers of entries and exits, in % of the entries */
};

static void compare(const struct scene *s, unsigned how)
{
	static const char *const names[] = { "", ", entered", ", without int3", ", entered, without int3",
					     ", all by traps" };
	static struct live l;
	uint64_t before = s->work(), after, calls = 0, entries, exits;
	unsigned hit;

	/* The second time leaves out what the library does only once. */
	assert_int_equal(s->work(), before);
	live_open(&l, s->library, how);
	live_set(&l);
	after = s->work();
	live_unset(&l);
	hit = live_hit(&l, &calls);
	live_balance(&l, &entries, &exits);
	printf("%s%s: %u by a jump, %u by a trap, in %u pages; %u were hit, %llu entries, %llu exits; %llu SIGTRAP, %llu SIGILL\n",
	       s->library, names[how], l.jumps, l.traps, l.space.npages, hit, (unsigned long long)entries,
	       (unsigned long long)exits, (unsigned long long)l.trapped, (unsigned long long)l.undefined);
	assert_int_equal(after, before);
	assert_true(hit >= s->hit);
	assert_true(calls >= s->calls);
	assert_true(l.trapped + l.undefined > 0);
	assert_in_range(exits, entries - entries * s->off / 100, entries + entries * s->off / 100);
	assert_int_equal(s->work(), before);
	live_hit(&l, &after);
	assert_int_equal(after, calls);
	live_close(&l);
}

/* Returns 0 if all was as it was, else the status of wait(2). */
static int in_child(const struct scene *s, unsigned how)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		alarm(600);
		compare(s, how);
		fflush(stdout);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void run(const struct scene *s)
{
	assert_int_equal(in_child(s, 0), 0);
	assert_int_equal(in_child(s, LIVE_ENTER | LIVE_UNDEFINED), 0);
}

TEST(zlib_compresses)
{
	run(&(struct scene){ "/libz.so.1", workload_zlib, 40, 10000, 0 });
}

TEST(sqlite_answers)
{
	run(&(struct scene){ "/libsqlite3.so.0", workload_sqlite, 800, 100000, 1 });
}

TEST(libm_reckons)
{
	run(&(struct scene){ "/libm.so.6", workload_math, 60, 20000, 1 });
}

TEST(all_traps_go_on_where_jumps_do)
{
	assert_int_equal(in_child(&(struct scene){ "/libm.so.6", workload_math, 60, 20000, 1 }, LIVE_TRAPS), 0);
	assert_int_equal(in_child(&(struct scene){ "/libstdc++.so.6", workload_cxx, 150, 20000, 5 }, LIVE_TRAPS), 0);
}

TEST(libc_formats_sorts_and_allocates)
{
	run(&(struct scene){ "/libc.so.6", workload_libc, 150, 50000, 2 });
}

TEST(libstdcxx_throws)
{
	run(&(struct scene){ "/libstdc++.so.6", workload_cxx, 200, 20000, 5 });
}

TEST(libcrypto_digests)
{
	void *library = dlopen("libcrypto.so.3", RTLD_NOW);

	if (!library) {
		printf("libcrypto: not installed\n");
		return;
	}
	run(&(struct scene){ "/libcrypto.so.3", workload_crypto, 60, 1000, 5 });
}

/* ---------------------------------------------------------------- bytes that trap */

static volatile int raised;
static volatile uint64_t raised_at;
static sigjmp_buf back;

static void take_signal(int signal, siginfo_t *info, void *context)
{
	(void)info;
	raised = signal;
	raised_at = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	siglongjmp(back, 1);
}

TEST(each_byte_that_is_taken_for_a_trap_is_one)
{
	struct sigaction act = { .sa_sigaction = take_signal, .sa_flags = SA_SIGINFO }, trap, ill;
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(code, MAP_FAILED);
	assert_int_equal(sigaction(SIGTRAP, &act, &trap), 0);
	assert_int_equal(sigaction(SIGILL, &act, &ill), 0);
	for (unsigned k = 0; k < HODO_PROBE_TRAPS; k++) {
		/* Whatever bytes follow it: zeros, ones, nop. */
		for (int behind = 0; behind < 3; behind++) {
			memset(code, behind == 0 ? 0 : behind == 1 ? 0xff : 0x90, 64);
			code[0] = hodo_probe_traps[k];
			raised = 0;
			if (!sigsetjmp(back, 1))
				((void (*)(void))(uintptr_t)code)();
			assert_int_equal(raised, k ? SIGILL : SIGTRAP);
			assert_int_equal(raised_at, (uintptr_t)code + !k);
		}
	}
	sigaction(SIGTRAP, &trap, NULL);
	sigaction(SIGILL, &ill, NULL);
	munmap(code, 4096);
}
