/* SPDX-License-Identifier: MIT */
/* doctor_machine.c - what hodo doctor tries of the kernel, the processor, memory and processes. */
#define _GNU_SOURCE
#include "doctor.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <base/file.h>
#include <base/scope.h>
#include <record/record.h>

#define CLOCK_SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

static void check_kernel(struct doctor_finding *f)
{
	unsigned int major = 0, minor = 0;
	struct utsname u;

	uname(&u);
	sscanf(u.release, "%u.%u", &major, &minor);
	if (major > 5 || (major == 5 && minor >= 10))
		doctor_found(f, DOCTOR_OK, NULL, "Linux %s on %s", u.release, u.machine);
	else
		doctor_found(f, major >= 5 || (major == 4 && minor >= 18) ? DOCTOR_WARN : DOCTOR_BAD,
			     "5.10 and later have everything that is used", "Linux %s on %s is old",
			     u.release, u.machine);
}

static void check_sites(struct doctor_finding *f)
{
#ifdef __x86_64__
	doctor_found(f, DOCTOR_OK, NULL, "x86-64: sites are patched in place");
#else
	doctor_found(f, DOCTOR_WARN, "nothing to fix: an idle site tests a byte instead",
		     "sites are not patched on this processor");
#endif
}

static void check_cpus(struct doctor_finding *f)
{
	char possible[256], online[256];

	if (hodo_file_line(AT_FDCWD, "/sys/devices/system/cpu/possible", possible, sizeof(possible)) > 0 &&
	    hodo_file_line(AT_FDCWD, "/sys/devices/system/cpu/online", online, sizeof(online)) > 0)
		doctor_found(f, DOCTOR_OK, NULL, "possible %s, online %s", possible, online);
	else
		doctor_found(f, DOCTOR_WARN, "mount /sys", "the kernel does not say which CPUs are possible");
}

static void check_rseq(struct doctor_finding *f)
{
	const unsigned int *size = dlsym(RTLD_DEFAULT, "__rseq_size");
	const ptrdiff_t *offset = dlsym(RTLD_DEFAULT, "__rseq_offset");
	const char *tunables = getenv("GLIBC_TUNABLES");
	unsigned int cpu, seen;

	if (syscall(SYS_rseq, NULL, 0, 0, 0) < 0 && errno == ENOSYS) {
		doctor_found(f, DOCTOR_WARN, "use a kernel with CONFIG_RSEQ (4.18 and later): without it, "
			     "events take the slower path",
			     "the kernel has no restartable sequences");
	} else if (!size || !offset) {
		doctor_found(f, DOCTOR_WARN, "use glibc 2.35 or later: without it, events take the slower "
			     "path",
			     "glibc %s does not register restartable sequences", gnu_get_libc_version());
	} else if (*size == 0) {
		doctor_found(f, DOCTOR_WARN, tunables && strstr(tunables, "rseq") ? "remove "
			     "glibc.pthread.rseq from GLIBC_TUNABLES" :
			     "a sandbox or container refuses rseq(): allow it", "restartable sequences are not registered");
	} else {
		const volatile struct rseq *area =
			(const volatile struct rseq *)((const char *)__builtin_thread_pointer() + *offset);

		do {
			cpu = area->cpu_id;
			seen = (unsigned int)sched_getcpu();
		} while (area->cpu_id != cpu); /* moved meanwhile */
		if (cpu == seen)
			doctor_found(f, DOCTOR_OK, NULL, "registered by glibc %s", gnu_get_libc_version());
		else
			doctor_found(f, DOCTOR_WARN, "events take the slower path",
				     "the rseq area says CPU %u on CPU %u", cpu, seen);
	}
}

static void check_membarrier(struct doctor_finding *f)
{
	static const struct {
		int enroll, use;
		const char *name;
	} commands[] = {
		{ MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE,
		  "SYNC_CORE" },
		{ MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, "RSEQ" },
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (syscall(SYS_membarrier, commands[i].enroll, 0, 0) == 0 &&
		    syscall(SYS_membarrier, commands[i].use, 0, 0) == 0)
			continue;
		doctor_found(f, DOCTOR_WARN, "allow membarrier() in the sandbox, or use Linux 5.10 or "
			     "later: without it, enabling and disabling events is slower",
			     "PRIVATE_EXPEDITED_%s: %s", commands[i].name,
			     strerror(errno));
		return;
	}
	doctor_found(f, DOCTOR_OK, NULL, "expedited barriers for code and for restartable sequences");
}

static void check_mem(struct doctor_finding *f)
{
	static const unsigned char code = 0xc3;
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	HODO_AUTO_CLOSE int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	ssize_t n = fd < 0 || page == MAP_FAILED ? -1 : pwrite(fd, &code, 1, (off_t)(uintptr_t)page);

	if (n == 1 && *(volatile unsigned char *)page == code)
		doctor_found(f, DOCTOR_OK, NULL, "/proc/self/mem writes to code");
	else if (page != MAP_FAILED && mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0 &&
		 mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0)
		doctor_found(f, DOCTOR_WARN, "mount /proc, and allow FOLL_FORCE (proc_mem.force_override)",
			     "/proc/self/mem does not write to code: mprotect is used instead");
	else
		doctor_found(f, DOCTOR_BAD, "mount /proc, or allow mprotect of code: otherwise no event can "
			     "be enabled",
			     "code cannot be patched: %s", strerror(errno));
	if (page != MAP_FAILED)
		munmap(page, 4096);
}

static void check_cet(struct doctor_finding *f)
{
	HODO_AUTO_FCLOSE FILE *s = fopen("/proc/self/status", "re");
	char line[512];
	bool active = false;

	while (s && fgets(line, sizeof(line), s))
		active |= strncmp(line, "x86_Thread_features:", 20) == 0 && strstr(line, "shstk");
	doctor_found(f, DOCTOR_OK, NULL, active ? "shadow stacks are on: sites need none" : "shadow stacks are off");
}

static void check_clock(struct doctor_finding *f)
{
	char source[64];

	if (hodo_file_line(AT_FDCWD, CLOCK_SOURCE, source, sizeof(source)) <= 0)
		strcpy(source, "unknown");
	if (hodo_clock_tsc_usable())
		doctor_found(f, DOCTOR_OK, NULL, "the TSC is invariant and %s",
			     strcmp(source, "tsc") == 0 ? "the kernel's clock source" : "chosen by " HODO_CLOCK_ENV);
	else if (hodo_clock_tsc_invariant())
		doctor_found(f, DOCTOR_WARN,
			     "if the TSC is reliable here, write tsc to " CLOCK_SOURCE ", or set " HODO_CLOCK_ENV "=tsc",
			     "the kernel's clock source is %s: events use CLOCK_MONOTONIC, which is slower",
			     source);
	else
		doctor_found(f, DOCTOR_WARN, "nothing to fix: events use CLOCK_MONOTONIC, which is slower",
			     "this processor has no invariant TSC");
}

/* ----------------------------------------------------- memory, processes */

static void check_memfd(struct doctor_finding *f)
{
	HODO_AUTO_CLOSE int fd = memfd_create("hodo doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *map = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, 1 << 20) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
		map = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map != MAP_FAILED && ftruncate(fd, 4096) < 0 && errno == EPERM)
		doctor_found(f, DOCTOR_OK, NULL, "memfd with seals");
	else
		doctor_found(f, DOCTOR_BAD, "allow memfd_create() in the sandbox", "memfd: %s", strerror(errno));
	if (map != MAP_FAILED)
		munmap(map, 1 << 20);
}

static void check_pidfd(struct doctor_finding *f)
{
	pid_t pid = fork();
	HODO_AUTO_CLOSE int fd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (pid == 0)
		_exit(0);
	if (fd >= 0 && poll(&p, 1, 5000) == 1)
		doctor_found(f, DOCTOR_OK, NULL, "a pidfd shows when a process ends");
	else
		doctor_found(f, DOCTOR_BAD, "use Linux 5.3 or later, and allow pidfd_open() in the sandbox",
			     "pidfd_open: %s",
			     strerror(errno));
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void check_ptrace(struct doctor_finding *f)
{
	char scope[16];
	const char *hint = "sysctl kernel.yama.ptrace_scope=0, or be root: only attaching to running "
			   "processes needs it";

	if (hodo_file_line(AT_FDCWD, "/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope)) <= 0)
		doctor_found(f, DOCTOR_OK, NULL, "not restricted");
	else if (scope[0] == '0' || (scope[0] != '3' && geteuid() == 0))
		doctor_found(f, DOCTOR_OK, NULL, "ptrace_scope is %s", scope);
	else
		doctor_found(f, DOCTOR_WARN, hint, "ptrace_scope is %s: cannot attach to running processes "
			     "that do not listen", scope);
}

static void check_perf(struct doctor_finding *f)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_CPU_CLOCK,
		.exclude_kernel = 1,
	};
	HODO_AUTO_CLOSE int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	int err = errno;
	char level[16];

	if (hodo_file_line(AT_FDCWD, "/proc/sys/kernel/perf_event_paranoid", level, sizeof(level)) <= 0)
		strcpy(level, "?");
	if (fd >= 0)
		doctor_found(f, DOCTOR_OK, NULL, "perf events can be opened (perf_event_paranoid is %s)", level);
	else
		doctor_found(f, DOCTOR_WARN, "sysctl kernel.perf_event_paranoid=2: recording does not need it",
			     "perf_event_open: %s (perf_event_paranoid is %s)", strerror(err), level);
}

/* By which means record --off-cpu knows when threads run. */
static void check_off_cpu(struct doctor_finding *f)
{
	struct hodo_why why;

	if (hodo_switches_check(&why) == 0)
		doctor_found(f, DOCTOR_OK, NULL, "the kernel reports when threads run: 'hodo record --off-cpu' records it");
	else
		doctor_found(f, DOCTOR_WARN,
			     "otherwise 'hodo record --off-cpu' records CPU times: a system call per event, and nothing for calls of functions",
			     "%s", why.text);
}

static void check_files(struct doctor_finding *f)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_max >= 1024)
		doctor_found(f, DOCTOR_OK, NULL, "up to %llu open files", (unsigned long long)l.rlim_max);
	else
		doctor_found(f, DOCTOR_WARN, "raise it: ulimit -Hn 4096",
			     "few open files are allowed: only few processes can be recorded at once");
}

const struct doctor_check doctor_machine_checks[] = {
	{ "kernel", check_kernel },     { "sites", check_sites },       { "cpus", check_cpus },
	{ "rseq", check_rseq },         { "membarrier", check_membarrier }, { "code-patching", check_mem },
	{ "shadow-stack", check_cet },  { "clock", check_clock },       { "memfd", check_memfd },
	{ "pidfd", check_pidfd },       { "ptrace", check_ptrace },     { "perf-events", check_perf },
	{ "off-cpu", check_off_cpu },
	{ "uprobes", doctor_check_uprobes }, { "open-files", check_files },  { 0 },
};
