/* SPDX-License-Identifier: MIT */
/* as_user [-p] PROGRAM [ARGUMENT...] - runs it as a user without privileges; -p: with only CAP_PERFMON. */
#define _GNU_SOURCE
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool keep_perfmon(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[2] = { 0 };
	unsigned int word = CAP_PERFMON / 32, bit = 1u << CAP_PERFMON % 32;

	caps[word].effective = caps[word].permitted = caps[word].inheritable = bit;
	return syscall(SYS_capset, &head, caps) == 0 &&
	       prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_PERFMON, 0, 0) == 0;
}

int main(int argc, char **argv)
{
	bool perfmon = argc > 1 && strcmp(argv[1], "-p") == 0;

	argv += 1 + perfmon;
	if (!*argv || (perfmon && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0) || setgid(65534) != 0 ||
	    setuid(65534) != 0 || (perfmon && !keep_perfmon()))
		return 2;
	execvp(argv[0], argv);
	perror(argv[0]);
	return 127;
}
