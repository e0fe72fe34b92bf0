/* SPDX-License-Identifier: MIT */
/* deny.c - runs a program under a seccomp filter that refuses system calls, as sandboxes do: deny NAME,… CMD… */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned nr;
} calls[] = { { "rseq", SYS_rseq }, { "memfd_create", SYS_memfd_create }, { "membarrier", SYS_membarrier },
	      { "madvise", SYS_madvise }, { "socket", SYS_socket }, { "connect", SYS_connect },
	      { "sendmsg", SYS_sendmsg }, { "ftruncate", SYS_ftruncate }, { "fcntl", SYS_fcntl },
	      { "pwrite64", SYS_pwrite64 }, { "prctl", SYS_prctl } };

int main(int argc, char **argv)
{
	struct sock_filter filter[2 * 16 + 2];
	unsigned short n = 0;
	struct sock_fprog program;

	if (argc < 3)
		return 2;
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (char *name = strtok(argv[1], ","); name; name = strtok(NULL, ",")) {
		for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]) && n < 32; i++) {
			if (strcmp(calls[i].name, name) != 0)
				continue;
			filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].nr, 0, 1);
			filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
		}
	}
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program = (struct sock_fprog){ n, filter };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
		perror("deny");
		return 1;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
