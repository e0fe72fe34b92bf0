/* SPDX-License-Identifier: MIT */
/*
 * cmd_doctor.c - hodo doctor: tries out what recording needs on this machine,
 * and says how to mend what does not work.
 */
#define _GNU_SOURCE
#include "cli.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef HODO_HAVE_ATTACH
#include <attach/attach.h>
#endif
#include <record/clock.h>
#include <record/kernel.h>
#include <record/launch.h>
#include <record/out_dir.h>
#include <record/record.h>
#include <record/runtime_dir.h>

#define JOIN_TIMEOUT_NS 5000000000ll

enum state { OK, WARN, BAD };

struct finding {
	enum state state;
	char text[PATH_MAX + 128];
	const char *hint; /* NULL if there is nothing to mend */
};

struct check {
	const char *name;
	void (*run)(struct finding *f);
};

static void found(struct finding *f, enum state state, const char *hint, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
static void found(struct finding *f, enum state state, const char *hint, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(f->text, sizeof(f->text), format, args);
	va_end(args);
	f->state = state;
	f->hint = state == OK ? NULL : hint;
}

/* The first line of a small file; false if it cannot be read. */
static bool read_line(const char *path, char *line, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, line, size - 1);

	if (fd >= 0)
		close(fd);
	line[len > 0 ? len : 0] = 0;
	line[strcspn(line, "\n")] = 0;
	return len > 0;
}

/* ------------------------------------------------------ kernel, processor */

static void check_kernel(struct finding *f)
{
	unsigned int major = 0, minor = 0;
	struct utsname u;

	uname(&u);
	sscanf(u.release, "%u.%u", &major, &minor);
	if (major > 5 || (major == 5 && minor >= 10))
		found(f, OK, NULL, "Linux %s on %s", u.release, u.machine);
	else
		found(f, major >= 5 || (major == 4 && minor >= 18) ? WARN : BAD,
		      "5.10 and later have all that is used", "Linux %s on %s is old", u.release, u.machine);
}

static void check_sites(struct finding *f)
{
#ifdef __x86_64__
	found(f, OK, NULL, "x86-64: sites are patched in place");
#else
	found(f, WARN, "nothing to mend: an idle site tests a byte instead", "sites are not patched on this processor");
#endif
}

static void check_cpus(struct finding *f)
{
	char possible[256], online[256];

	if (read_line("/sys/devices/system/cpu/possible", possible, sizeof(possible)) &&
	    read_line("/sys/devices/system/cpu/online", online, sizeof(online)))
		found(f, OK, NULL, "possible %s, online %s", possible, online);
	else
		found(f, WARN, "mount /sys", "the kernel does not tell which CPUs there may be");
}

static void check_rseq(struct finding *f)
{
	const unsigned int *size = dlsym(RTLD_DEFAULT, "__rseq_size");
	const ptrdiff_t *offset = dlsym(RTLD_DEFAULT, "__rseq_offset");
	const char *tunables = getenv("GLIBC_TUNABLES");
	unsigned int cpu, seen;

	if (syscall(SYS_rseq, NULL, 0, 0, 0) < 0 && errno == ENOSYS) {
		found(f, WARN, "a kernel with CONFIG_RSEQ (4.18 and later): without, events take the slower path",
		      "the kernel has no restartable sequences");
	} else if (!size || !offset) {
		found(f, WARN, "glibc 2.35 or later: without, events take the slower path",
		      "glibc %s does not register restartable sequences", gnu_get_libc_version());
	} else if (*size == 0) {
		found(f, WARN, tunables && strstr(tunables, "rseq") ? "take glibc.pthread.rseq out of GLIBC_TUNABLES" :
		      "a sandbox or container refuses rseq(): allow it", "restartable sequences are not registered");
	} else {
		const volatile struct rseq *area =
			(const volatile struct rseq *)((const char *)__builtin_thread_pointer() + *offset);

		do {
			cpu = area->cpu_id;
			seen = (unsigned int)sched_getcpu();
		} while (area->cpu_id != cpu); /* moved meanwhile */
		if (cpu == seen)
			found(f, OK, NULL, "registered by glibc %s", gnu_get_libc_version());
		else
			found(f, WARN, "events take the slower path", "the rseq area says CPU %u on CPU %u", cpu, seen);
	}
}

static void check_membarrier(struct finding *f)
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
		found(f, WARN, "allow membarrier() in the sandbox, or take Linux 5.10 or later:"
		      " without, enabling and disabling events is slower", "PRIVATE_EXPEDITED_%s: %s", commands[i].name,
		      strerror(errno));
		return;
	}
	found(f, OK, NULL, "expedited barriers for code and for restartable sequences");
}

static void check_mem(struct finding *f)
{
	static const unsigned char code = 0xc3;
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	ssize_t n = fd < 0 || page == MAP_FAILED ? -1 : pwrite(fd, &code, 1, (off_t)(uintptr_t)page);

	if (n == 1 && *(volatile unsigned char *)page == code)
		found(f, OK, NULL, "/proc/self/mem writes to code");
	else if (page != MAP_FAILED && mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0 &&
		 mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0)
		found(f, WARN, "mount /proc, and allow FOLL_FORCE (proc_mem.force_override)",
		      "/proc/self/mem does not write to code: mprotect is used instead");
	else
		found(f, BAD, "mount /proc, or allow mprotect of code: without, no event can be enabled",
		      "code cannot be patched: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	if (page != MAP_FAILED)
		munmap(page, 4096);
}

static void check_cet(struct finding *f)
{
	char line[512];
	bool active = false;
	FILE *s = fopen("/proc/self/status", "re");

	while (s && fgets(line, sizeof(line), s))
		active |= strncmp(line, "x86_Thread_features:", 20) == 0 && strstr(line, "shstk");
	if (s)
		fclose(s);
	found(f, OK, NULL, active ? "shadow stacks are on: sites need none" : "shadow stacks are off");
}

static void check_clock(struct finding *f)
{
	char source[64] = "unknown";

	read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source, sizeof(source));
	if (hodo_clock_tsc_usable())
		found(f, OK, NULL, "the TSC is invariant and the kernel's clock source");
	else if (hodo_clock_tsc_invariant())
		found(f, WARN, "if the TSC is reliable here, write tsc to"
		      " /sys/devices/system/clocksource/clocksource0/current_clocksource",
		      "the kernel's clock source is %s: events take CLOCK_MONOTONIC, which is slower", source);
	else
		found(f, WARN, "nothing to mend: events take CLOCK_MONOTONIC, which is slower",
		      "this processor has no invariant TSC");
}

/* ----------------------------------------------------- memory, processes */

static void check_memfd(struct finding *f)
{
	int fd = memfd_create("hodo doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void *map = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, 1 << 20) == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
		map = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map != MAP_FAILED && ftruncate(fd, 4096) < 0 && errno == EPERM)
		found(f, OK, NULL, "memfd with seals");
	else
		found(f, BAD, "allow memfd_create() in the sandbox", "memfd: %s", strerror(errno));
	if (map != MAP_FAILED)
		munmap(map, 1 << 20);
	if (fd >= 0)
		close(fd);
}

static void check_pidfd(struct finding *f)
{
	int status = 0;
	pid_t pid = fork();
	struct pollfd p = { .fd = -1, .events = POLLIN };

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		p.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (p.fd >= 0 && poll(&p, 1, 5000) == 1)
		found(f, OK, NULL, "pidfd tells when a process ends");
	else
		found(f, BAD, "Linux 5.3 or later, and pidfd_open() allowed in the sandbox", "pidfd_open: %s",
		      strerror(errno));
	if (p.fd >= 0)
		close(p.fd);
	if (pid > 0)
		waitpid(pid, &status, 0);
}

static void check_ptrace(struct finding *f)
{
	char scope[16];
	const char *hint = "sysctl kernel.yama.ptrace_scope=0, or be root: only reaching running processes needs it";

	if (!read_line("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope)))
		found(f, OK, NULL, "not restricted");
	else if (scope[0] == '0' || (scope[0] != '3' && geteuid() == 0))
		found(f, OK, NULL, "ptrace_scope is %s", scope);
	else
		found(f, WARN, hint, "ptrace_scope is %s: running processes that do not listen cannot be reached", scope);
}

static void check_perf(struct finding *f)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_CPU_CLOCK,
		.exclude_kernel = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	int err = errno;
	char level[16] = "?";

	read_line("/proc/sys/kernel/perf_event_paranoid", level, sizeof(level));
	if (fd >= 0)
		found(f, OK, NULL, "perf events can be opened (perf_event_paranoid is %s)", level);
	else
		found(f, WARN, "sysctl kernel.perf_event_paranoid=2: recording does not need it",
		      "perf_event_open: %s (perf_event_paranoid is %s)", strerror(err), level);
	if (fd >= 0)
		close(fd);
}

static void check_files(struct finding *f)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_max >= 1024)
		found(f, OK, NULL, "up to %llu open files", (unsigned long long)l.rlim_max);
	else
		found(f, WARN, "raise it: ulimit -Hn 4096",
		      "few open files are allowed: not many processes can be recorded at once");
}

/* ---------------------------------------------------------------- hodo */

static void check_runtime_dir(struct finding *f)
{
	char path[128];
	int err = hodo_runtime_dir(path, sizeof(path), 32);

	if (err == 0)
		found(f, OK, NULL, "%s", path);
	else if (err == -EPERM)
		found(f, BAD, "remove it, or set XDG_RUNTIME_DIR to a directory of your own",
		      "%s belongs to someone else", path);
	else
		found(f, BAD, "set XDG_RUNTIME_DIR to a directory of your own, or make /tmp writable", "%s: %s", path,
		      strerror(-err));
}

/* Room for a file as a process would take it. 0 or negative errno. */
static int try_flight(const char *dir, uint64_t bytes)
{
	char path[PATH_MAX];
	int fd, err;

	if (snprintf(path, sizeof(path), "%s/.hodo-doctor-XXXXXX", dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = mkstemp(path);
	if (fd < 0)
		return -errno;
	unlink(path);
	err = -posix_fallocate(fd, 0, (off_t)bytes);
	close(fd);
	return err;
}

/* Nothing is loaded for the question. */
static void check_module(struct finding *f)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/record", hodo_kernel_dir());
	if (access(path, R_OK | W_OK) == 0)
		found(f, OK, NULL, "hodo.ko is loaded: 'hodo record -k' records the kernel");
	else if (geteuid() != 0)
		found(f, OK, NULL, "the kernel is recorded by root only");
	else
		found(f, WARN, "for 'hodo record -k': install it (hodo-dkms), then modprobe hodo; nothing else needs it",
		      errno == ENOENT ? "hodo.ko is not loaded" : "hodo.ko cannot be reached: %s", strerror(errno));
}

/* A program says nothing where it can have no flight recorder. */
static void check_flight(struct finding *f)
{
	const char *dir = getenv(HODO_FLIGHT_ENV), *size = getenv(HODO_FLIGHT_SIZE_ENV);
	const char *events = getenv(HODO_FLIGHT_EVENTS_ENV);
	struct hodo_pattern_list patterns = { 0 };
	uint64_t cpu_bytes = 1 << 20, bytes;
	char why[256], room[32];
	int err;

	if (!dir || !*dir) {
		found(f, OK, NULL, "HODO_FLIGHT is not set");
		return;
	}
	if (events && *events && hodo_pattern_add(&patterns, events, why, sizeof(why)) < 0)
		found(f, WARN, "name events as -e does, with commas between them", "HODO_FLIGHT_EVENTS: %s", why);
	hodo_pattern_free(&patterns);
	if (f->hint)
		return;
	if (size && (hodo_parse_size(size, &cpu_bytes) < 0 || cpu_bytes < HODO_PAGE || cpu_bytes > HODO_RING_MAX)) {
		found(f, WARN, "a size from 4K on, such as 4M", "HODO_FLIGHT_SIZE is no size: 1M is taken");
		return;
	}
	bytes = HODO_SHM_RINGS + (uint64_t)(sysconf(_SC_NPROCESSORS_CONF) + 1) * (cpu_bytes + HODO_PAGE);
	err = try_flight(dir, bytes);
	hodo_human_bytes(bytes, room);
	if (!err)
		found(f, OK, NULL, "files of %s in %s", room, dir);
	else if (err == -ENOSPC || err == -EDQUOT || err == -EFBIG)
		found(f, WARN, "make room, or set HODO_FLIGHT_SIZE to less", "%s: no room for a file of %s", dir, room);
	else
		found(f, WARN, "set HODO_FLIGHT to a directory that exists and can be written", "%s: %s", dir, strerror(-err));
}

static void check_library(struct finding *f)
{
	char path[PATH_MAX], why[PATH_MAX + 200];

	if (hodo_launch_library(path, sizeof(path), why, sizeof(why)) == 0)
		found(f, OK, NULL, "%s", path);
	else
		found(f, BAD, "install it, or set HODO_LIBRARY", "%s", why);
}

static void ignore_report(void *arg, const char *line)
{
	snprintf(arg, 256, "%s", line);
}

/* Runs a command under a session until it has joined and ended. NULL, or what went wrong. */
static const char *record_true(struct hodo_session *s, const char *library, struct hodo_session_stats *stats)
{
	char *command[] = { "true", NULL };
	struct hodo_launch launch;
	int64_t left = JOIN_TIMEOUT_NS;
	sigset_t none;
	pid_t pid;
	int status;

	sigemptyset(&none);
	hodo_launch_prepare(&launch, &none);
	if (hodo_launch_start(&launch, command, library, hodo_session_socket(s), &pid) < 0) {
		hodo_session_close(s, stats);
		return "the command true cannot be run";
	}
	hodo_session_set_command(s, pid);
	while (left > 0 && (waitpid(pid, &status, WNOHANG) == 0 || hodo_session_busy(s))) {
		hodo_session_step(s);
		usleep(1000);
		left -= 1000000;
	}
	hodo_session_close(s, stats);
	if (left <= 0)
		return "it took too long";
	return stats->processes ? NULL : "the library did not join: cannot it be preloaded?";
}

/* The whole way once: preload, socket, shared memory, folder. */
static void check_join(struct finding *f)
{
	char dir[64], library[PATH_MAX], why[PATH_MAX + 200] = "", told[256] = "";
	struct hodo_pattern_list patterns = { 0 }, fields = { 0 };
	struct hodo_session_config config = {
		.out_path = dir, .ring_size = 65536, .packet_size = 4096, .patterns = &patterns,
		.fields = &fields,
		.packet_age_ns = 3600000000000ull, .report = ignore_report, .arg = told,
	};
	const char *flaw = why, *tmp = getenv("TMPDIR");
	struct hodo_session_stats stats = { 0 };
	struct hodo_session *s = NULL;

	if (hodo_launch_library(library, sizeof(library), why, sizeof(why)) < 0) {
		found(f, BAD, "see libhodo", "not tried: there is no library");
		return;
	}
	if (!tmp || !*tmp || strlen(tmp) > 30)
		tmp = "/tmp";
	snprintf(dir, sizeof(dir), "%s/hodo-doctor-%d", tmp, (int)getpid());
	config.out_fd = hodo_out_dir_open(dir, why, sizeof(why));
	if (config.out_fd >= 0 && hodo_session_open(&s, &config, why, sizeof(why)) == 0)
		flaw = record_true(s, library, &stats);
	if (config.out_fd >= 0)
		hodo_out_dir_remove(config.out_fd, dir);
	if (flaw)
		found(f, BAD, told[0] ? "see libhodo and runtime-dir" : "see the other lines", "%s%s%s", flaw,
		      told[0] ? ": " : "", told);
	else
		found(f, OK, NULL, "a process was preloaded, joined and was recorded");
	if (config.out_fd >= 0)
		close(config.out_fd);
}

#ifdef HODO_HAVE_ATTACH
/* A program that never heard of us, once: stopped, made to load the library and to listen, and let go. */
static void check_attach(struct finding *f)
{
	char *command[] = { "sleep", "30", NULL };
	char library[PATH_MAX], why[PATH_MAX + 200];
	struct hodo_attach_done done;
	int err = hodo_launch_library(library, sizeof(library), why, sizeof(why)), pidfd;
	pid_t pid;

	if (err < 0) {
		found(f, BAD, "see libhodo", "not tried: there is no library");
		return;
	}
	if (posix_spawnp(&pid, command[0], NULL, NULL, command, environ) != 0) {
		found(f, WARN, "see that sleep(1) is there", "not tried: the command sleep cannot be run");
		return;
	}
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	err = pidfd < 0 ? -errno : hodo_attach_process(pid, pidfd, library, &done, why, sizeof(why));
	if (err == 0)
		found(f, OK, NULL, "a running process was made to listen; it stood for %.1f ms",
		      (double)done.longest_ns / 1e6);
	else
		found(f, WARN, "programs that are started with HODO_LISTEN=1 can be recorded all the same", "%s",
		      pidfd < 0 ? strerror(-err) : why);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (pidfd >= 0)
		close(pidfd);
}
#endif

/* ------------------------------------------------------------------ output */

static const struct check checks[] = {
	{ "kernel", check_kernel },     { "sites", check_sites },       { "cpus", check_cpus },
	{ "rseq", check_rseq },         { "membarrier", check_membarrier }, { "code-patching", check_mem },
	{ "shadow-stack", check_cet },  { "clock", check_clock },       { "memfd", check_memfd },
	{ "pidfd", check_pidfd },       { "ptrace", check_ptrace },     { "perf-events", check_perf },
	{ "open-files", check_files },  { "runtime-dir", check_runtime_dir }, { "libhodo", check_library },
	{ "flight", check_flight },     { "module", check_module },
#ifdef HODO_HAVE_ATTACH
	{ "attach", check_attach },
#endif
	{ "recording", check_join },
};

static const char *const state_name[] = { [OK] = "ok", [WARN] = "warn", [BAD] = "bad" };

static void print_json(const struct check *c, const struct finding *f, bool first)
{
	printf("%s\n  {\"name\":\"%s\",\"state\":\"%s\",\"text\":", first ? "" : ",", c->name, state_name[f->state]);
	hodo_put_json(stdout, f->text);
	printf(",\"hint\":");
	if (f->hint)
		hodo_put_json(stdout, f->hint);
	else
		printf("null");
	printf("}");
}

static void print_text(const struct check *c, const struct finding *f)
{
	printf("%-4s  %-13s  %s%s%s\n", state_name[f->state], c->name, f->text, f->hint ? ": " : "",
	       f->hint ? f->hint : "");
}

static int doctor(bool json)
{
	enum state worst = OK;

	if (json)
		printf("{\"version\":1,\"checks\":[");
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		struct finding f = { OK, "", NULL };

		fflush(stdout); /* some checks fork */
		checks[i].run(&f);
		worst = f.state > worst ? f.state : worst;
		if (json)
			print_json(&checks[i], &f, i == 0);
		else
			print_text(&checks[i], &f);
	}
	if (json)
		printf("\n],\"state\":\"%s\"}\n", state_name[worst]);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		hodo_error("standard output cannot be written: %s: write elsewhere", strerror(errno));
		return HODO_EXIT_FAILURE;
	}
	return worst == BAD;
}

static const char usage_text[] =
	"usage: hodo doctor [--json]\n"
	"\n"
	"Tries out what recording needs on this machine, and tells how to mend what does\n"
	"not work. Exits with 1 if something is bad: recording cannot work then.\n"
	"\n"
	"      --json    one JSON object\n"
	"  -h, --help\n";

int hodo_cmd_doctor(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' }, { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 },
	};
	bool json = false;
	int option;

	optind = 0;
	while ((option = hodo_getopt(argc, argv, ":h", options, usage_text)) != -1) {
		if (option == 'h')
			return 0;
		if (option != 'j')
			return HODO_EXIT_USAGE;
		json = true;
	}
	if (optind < argc)
		return hodo_usage("doctor", "takes no arguments");
	return doctor(json);
}
