/* SPDX-License-Identifier: MIT */
/*
 * doctor_uprobes.c - whether the kernel's uprobes, which perf and bpftrace use, leave programs intact. From
 * Linux 6.18 on one over a 5-byte nop becomes a call, which writes the 8 bytes below the stack pointer: a
 * function that calls none may keep a variable there (System V ABI, AMD64 supplement, 3.2.2). Fixed kernels
 * use 10-byte nops.
 */
#define _GNU_SOURCE
#include "doctor.h"

#include <fcntl.h>
#include <link.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <base/file.h>
#include <base/scope.h>

#ifdef __x86_64__

#define TRIES 100 /* at its first hit it is still a breakpoint */
#define HINT "record them with hodo, -e sdt:PROVIDER:NAME or -e probe:PLACE, or use a kernel with the fix"

/* Returns its argument, which it keeps below the stack pointer meanwhile. */
long doctor_keeps(long n);
extern const char doctor_keeps_place[];
__asm__(".pushsection .text\n"
	".globl doctor_keeps, doctor_keeps_place\n"
	".type doctor_keeps, @function\n"
	"doctor_keeps:\n\t"
	".cfi_startproc\n\t"
	"movq %rdi,-8(%rsp)\n"
	"doctor_keeps_place:\n\t"
	".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n\t"
	"movq -8(%rsp),%rax\n\t"
	"ret\n\t"
	".cfi_endproc\n"
	".size doctor_keeps, .-doctor_keeps\n"
	".popsection\n");

static int find_offset(struct dl_phdr_info *info, size_t size, void *offset)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t in = (uintptr_t)doctor_keeps_place - (info->dlpi_addr + p->p_vaddr);

		if (p->p_type == PT_LOAD && in < p->p_memsz) {
			*(uint64_t *)offset = in + p->p_offset;
			return 1;
		}
	}
	return 0;
}

/* A descriptor; -1: it may not be opened, or there are none. */
static int open_uprobe(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	char type[16], path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n <= 0 || hodo_file_line(AT_FDCWD, "/sys/bus/event_source/devices/uprobe/type", type, sizeof(type)) <= 0)
		return -1;
	path[n] = 0;
	attr.type = (uint32_t)strtoul(type, NULL, 10);
	attr.config1 = (uintptr_t)path;
	dl_iterate_phdr(find_offset, &attr.config2);
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* In a child, so that only its code changes. Exit status: 0 intact, 1 broken, 2 not tried. */
static int try_uprobe(void)
{
	HODO_AUTO_CLOSE int fd = open_uprobe();
	int wrong = 0;

	for (long i = 1; fd >= 0 && i <= TRIES; i++)
		wrong += doctor_keeps(i) != i;
	return fd < 0 ? 2 : wrong > 0;
}

static int try_in_child(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(try_uprobe());
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 2;
	return WEXITSTATUS(status);
}

void doctor_check_uprobes(struct doctor_finding *f)
{
	unsigned int major = 0, minor = 0;
	struct utsname u;
	int tried = try_in_child();

	uname(&u);
	sscanf(u.release, "%u.%u", &major, &minor);
	if (tried == 1)
		doctor_found(f, DOCTOR_WARN, HINT, "a uprobe of perf or bpftrace on a 5-byte nop overwrites a variable of the program"
			     " (Linux %s)", u.release);
	else if (tried == 2 && (major > 6 || (major == 6 && minor >= 18)))
		doctor_found(f, DOCTOR_WARN, HINT, "Linux %s may overwrite variables where perf or bpftrace has a uprobe on a"
			     " 5-byte nop: 'sudo hodo doctor' tries it", u.release);
	else
		doctor_found(f, DOCTOR_OK, NULL, tried ? "this kernel does not replace nops for them" :
			     "uprobes of perf or bpftrace leave the program intact");
}

#else

void doctor_check_uprobes(struct doctor_finding *f)
{
	doctor_found(f, DOCTOR_OK, NULL, "the kernel does not replace nops for them on this processor");
}

#endif
