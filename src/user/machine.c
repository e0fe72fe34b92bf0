/* SPDX-License-Identifier: MIT */
/* machine.c - what this machine and this process are like: CPUs, whether the TSC can be a clock, the name. */
#include <fcntl.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif
#include "sys.h"
#include "user.h"

bool hodo_have_tsc(void)
{
#ifdef __x86_64__
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8)); /* invariant TSC */
#else
	return false;
#endif
}

/* Highest possible CPU + 1, from the list that the kernel gives, such as "0-3,8". */
uint32_t hodo_possible_cpus(void)
{
	char text[256];
	uint32_t n = 0, max = 0;
	long fd = hodo_sys4(SYS_openat, AT_FDCWD, "/sys/devices/system/cpu/possible", O_RDONLY | O_CLOEXEC, 0);
	long len = -1;

	if (fd >= 0) {
		len = hodo_sys3(SYS_read, fd, text, sizeof(text));
		hodo_sys1(SYS_close, fd);
	}
	for (long i = 0; i < len; i++) {
		if (text[i] >= '0' && text[i] <= '9') {
			n = n < HODO_VIEWS ? n * 10 + (uint32_t)(text[i] - '0') : n;
			max = n > max ? n : max;
		} else {
			n = 0;
		}
	}
	if (len <= 0)
		max = 255; /* /sys is not there: buffers are sparse, and a CPU beyond takes the fallback ring */
	return max + 1 < HODO_VIEWS - 2 ? max + 1 : HODO_VIEWS - 3;
}


/* The process's name is its first thread's; the one that listens has one of its own. */
void hodo_process_name(char comm[16])
{
	long fd, n = 0;

	if (hodo_gettid() != (uint32_t)hodo_sys0(SYS_getpid)) {
		fd = hodo_sys4(SYS_openat, AT_FDCWD, "/proc/self/comm", O_RDONLY | O_CLOEXEC, 0);
		if (fd >= 0) {
			n = hodo_sys3(SYS_read, fd, comm, 16);
			hodo_sys1(SYS_close, fd);
		}
	}
	if (n > 1)
		comm[n - 1] = 0; /* a newline */
	else
		hodo_sys2(SYS_prctl, 16 /* PR_GET_NAME */, comm);
}
