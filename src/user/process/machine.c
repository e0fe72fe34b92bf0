/* SPDX-License-Identifier: MIT */
/* machine.c - properties of this machine and process: CPUs, whether the TSC can be a clock, the name. */
#include <fcntl.h>
#include <sys/auxv.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <user/libc/sys.h>
#include <user/libc/libc.h>
#include "process.h"

bool hodo_have_tsc(void)
{
#ifdef __x86_64__
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8)); /* invariant TSC */
#else
	return false;
#endif
}

/* Highest possible CPU + 1, from the kernel's list, such as "0-3,8". */
uint32_t hodo_possible_cpus(void)
{
	char text[256];
	long len = hodo_sys_file_read(AT_FDCWD, "/sys/devices/system/cpu/possible", text, sizeof(text));
	uint32_t n = 0, max = 0;

	for (long i = 0; i < len; i++) {
		if (text[i] >= '0' && text[i] <= '9') {
			n = n < HODO_VIEWS ? n * 10 + (uint32_t)(text[i] - '0') : n;
			max = n > max ? n : max;
		} else {
			n = 0;
		}
	}
	if (len <= 0)
		max = 255; /* no /sys: buffers are sparse, and a CPU beyond takes the fallback ring */
	return max < HODO_VIEWS ? max + 1 : HODO_VIEWS;
}

/* The process's name is its first thread's; the thread that listens has its own. */
void hodo_process_name(char comm[16])
{
	if (hodo_gettid() == (uint32_t)hodo_sys0(SYS_getpid) ||
	    hodo_sys_file_line(AT_FDCWD, "/proc/self/comm", comm, 16) <= 0)
		hodo_sys2(SYS_prctl, 16 /* PR_GET_NAME */, comm);
}

void hodo_process_exe(char *path, size_t size)
{
	long n = hodo_sys3(SYS_readlink, "/proc/self/exe", path, size - 1);
	const char *given = n > 0 ? 0 : (const char *)getauxval(AT_EXECFN);

	path[n > 0 ? n : 0] = 0;
	/* A root directory without /proc: as it was said to exec. */
	if (given && given[0] == '/')
		hodo_fixed_text_add(path, size, given);
}

const char *hodo_environment(char *const *envp, const char *name)
{
	size_t n = __builtin_strlen(name);

	for (; envp && *envp; envp++) {
		if (__builtin_strncmp(*envp, name, n) == 0 && (*envp)[n] == '=')
			return *envp + n + 1;
	}
	return 0;
}
