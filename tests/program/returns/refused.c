/* SPDX-License-Identifier: MIT */
/*
 * refused.c - where return addresses cannot be replaced: `refused taken` has something else at the table's
 * address; `refused shadow` runs itself on a kernel that claims that the shadow stack is on (ptrace stands in for it).
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <func/x86_64/returns.h>
#include "driver.h"

#define ARCH_SHSTK_STATUS 0x5005

/* Runs before driver.c's constructor. */
static __attribute__((constructor(101))) void take(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "taken") == 0)
		mmap((void *)(HODO_RETURNS_TABLE + (16ul << HODO_RETURNS_BITS)), 4096, PROT_READ,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static int check(const char *why)
{
	unsigned long slot = 5;

	if (!driver_why_not() || !strstr(driver_why_not(), why) || driver_replace(&slot) || slot != 5) {
		fprintf(stderr, "not refused for %s: %s\n", why, driver_why_not() ? driver_why_not() : "possible");
		return 1;
	}
	return 0;
}

/* Runs the program again, and answers its query. */
static int with_shadow_stack(char **argv)
{
	struct user_regs_struct regs;
	int status, asked = 0;
	pid_t pid = fork();

	if (pid == 0) {
		argv[1] = "child";
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
			_exit(77);
		execv("/proc/self/exe", argv);
		_exit(1);
	}
	for (int in = 0; waitpid(pid, &status, 0) == pid && WIFSTOPPED(status);) {
		int stop = WSTOPSIG(status);

		if (stop == (SIGTRAP | 0x80)) {
			in = !in;
			ptrace(PTRACE_GETREGS, pid, 0, &regs);
			if (!in && regs.orig_rax == SYS_arch_prctl && regs.rdi == ARCH_SHSTK_STATUS) {
				ptrace(PTRACE_POKEDATA, pid, regs.rsi, 1ul);
				regs.rax = 0;
				ptrace(PTRACE_SETREGS, pid, 0, &regs);
				asked++;
			}
			stop = 0;
		} else if (stop == SIGTRAP) {
			ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD);
			stop = 0;
		}
		if (ptrace(PTRACE_SYSCALL, pid, 0, stop) != 0)
			break;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		puts("skipped: ptrace is not allowed");
		return 77;
	}
	return !(WIFEXITED(status) && WEXITSTATUS(status) == 0 && asked == 1);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "taken") == 0)
		return check("something else is at the address");
	if (argc > 1 && strcmp(argv[1], "child") == 0)
		return check("shadow stack");
	return with_shadow_stack(argv);
}
