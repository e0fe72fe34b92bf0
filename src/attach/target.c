/* SPDX-License-Identifier: MIT */
/*
 * target.c - what /proc tells about the process, and reasons not to touch it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include "attach_impl.h"

#include <base/file.h>
#include <base/scope.h>
#include <base/vec.h>

#include <elf.h>

/* --------------------------------------------------------------------- files */

bool hodo_attach_alive(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll(&p, 1, 0) <= 0; /* a signal interrupts even this */
}

bool hodo_attach_target_same(const struct hodo_attach_target *t)
{
	struct hodo_proc_stat stat;
	char auxv[sizeof(t->auxv)];

	return hodo_attach_alive(t->pidfd) && hodo_proc_stat(t->pid, "stat", &stat) &&
	       stat.start_time == t->start_time &&
	       hodo_proc_file(t->pid, "auxv", auxv, sizeof(auxv)) == t->auxv_len &&
	       memcmp(auxv, t->auxv, (size_t)t->auxv_len) == 0;
}

/* -------------------------------------------------------------------- memory */

bool hodo_attach_read(const struct hodo_attach_target *t, uint64_t from, void *to, size_t len)
{
	struct iovec here = { to, len }, there = { (void *)(uintptr_t)from, len };

	return process_vm_readv(t->pid, &here, 1, &there, 1, 0) == (ssize_t)len;
}

bool hodo_attach_write(const struct hodo_attach_target *t, uint64_t to, const void *from, size_t len)
{
	struct iovec here = { (void *)(uintptr_t)from, len }, there = { (void *)(uintptr_t)to, len };

	return process_vm_writev(t->pid, &here, 1, &there, 1, 0) == (ssize_t)len;
}

int hodo_attach_read_maps(struct hodo_attach_target *t)
{
	struct hodo_proc_maps lines;
	struct hodo_proc_map *maps = NULL, map;
	int err = hodo_proc_maps_open(&lines, t->pid);
	uint32_t n = 0;

	while (!err && hodo_proc_maps_next(&lines, &map))
		err = n < HODO_ATTACH_MAPS_MAX ? hodo_vec_push(maps, n, map) : -ENOMEM;
	if (err) {
		hodo_proc_maps_close(&lines);
		free(maps);
		return err;
	}
	hodo_attach_target_close(t);
	t->lines = lines;
	t->maps = maps;
	t->nmaps = n;
	return 0;
}

static int compare_map(const void *address, const void *map)
{
	const struct hodo_proc_map *m = map;
	uint64_t at = *(const uint64_t *)address;

	return at < m->start ? -1 : at >= m->end;
}

const struct hodo_proc_map *hodo_attach_map_at(const struct hodo_attach_target *t, uint64_t address)
{
	return bsearch(&address, t->maps, t->nmaps, sizeof(*t->maps), compare_map);
}

/* ------------------------------------------------------------ what is against it */

static int check_tracer(struct hodo_attach_target *t, const char *status)
{
	const char *value = hodo_proc_field(status, "TracerPid");
	int tracer = value ? atoi(value) : 0;
	char comm[64];

	if (!tracer)
		return 0;
	hodo_proc_file(tracer, "comm", comm, sizeof(comm));
	return hodo_why(t->why, -EBUSY, "process %d is traced by %s (process %d): end that first, or start it with "
			"HODO_LISTEN=1", t->pid, comm[0] ? comm : "another", tracer);
}

static int check_status(struct hodo_attach_target *t)
{
	struct hodo_proc_stat stat;
	char status[8192];
	const char *features;
	int error = (int)hodo_proc_file(t->pid, "status", status, sizeof(status));

	if (error < 0)
		return hodo_why(t->why, -ESRCH, "process %d has ended", t->pid);
	hodo_proc_stat(t->pid, "stat", &stat);
	t->start_time = stat.start_time;
	if (stat.flags & 0x200000) /* PF_KTHREAD */
		return hodo_why(t->why, -EINVAL, "process %d is a kernel thread: it has no program to trace", t->pid);
	if (stat.state == 'Z' || stat.state == 'X')
		return hodo_why(t->why, -ESRCH, "process %d has ended (its parent has not yet waited for it)",
				t->pid);
	error = check_tracer(t, status);
	if (error)
		return error;
	if (stat.state == 'T' || stat.state == 't')
		return hodo_why(t->why, -EBUSY, "process %d is stopped: resume it first (kill -CONT %d)", t->pid,
				t->pid);
	features = hodo_proc_field(status, "x86_Thread_features");
	if (features && strstr(features, "shstk\n"))
		return hodo_why(t->why, -EOPNOTSUPP, "process %d has a shadow stack: start it with HODO_LISTEN=1",
				t->pid);
	return 0;
}

/* Another user's processes cannot be looked at; root's capabilities or yama may refuse, too. */
static int check_permission(struct hodo_attach_target *t)
{
	char scope[16] = "", path[64];
	struct stat st;
	ssize_t n = hodo_proc_file(t->pid, "auxv", t->auxv, sizeof(t->auxv));

	if (n > 0) {
		t->auxv_len = n;
		return 0;
	}
	if (n == 0)
		return hodo_why(t->why, -EINVAL, "process %d has no program to trace", t->pid);
	snprintf(path, sizeof(path), "/proc/%d", (int)t->pid);
	if (stat(path, &st) != 0)
		return hodo_why(t->why, -ESRCH, "process %d has ended", t->pid);
	if (geteuid() != 0 && st.st_uid != geteuid())
		return hodo_why(t->why, -EPERM, "process %d is another user's: ask as that user or as root", t->pid);
	hodo_file_line(AT_FDCWD, "/proc/sys/kernel/yama/ptrace_scope", scope, sizeof(scope));
	if (atoi(scope) > 0)
		return hodo_why(t->why, -EPERM, "process %d may not be stopped (kernel.yama.ptrace_scope is %d): "
				"start it with HODO_LISTEN=1, or as root: sysctl kernel.yama.ptrace_scope=0", t->pid,
				atoi(scope));
	if (geteuid() == 0)
		return hodo_why(t->why, -EPERM, "process %d may not be looked at, though you are root (%s): it has "
				"capabilities that you lack, as outside of a container, or a security module "
				"refuses; start it with HODO_LISTEN=1", t->pid, strerror((int)-n));
	return hodo_why(t->why, -EPERM, "process %d may not be looked at (%s): start it with HODO_LISTEN=1, or ask "
			"as root", t->pid, strerror((int)-n));
}

/* false: during exec, when the vector is still empty. */
static bool parse_auxv(struct hodo_attach_target *t)
{
	bool entry = false;

	for (ssize_t at = 0; at + 16 <= t->auxv_len; at += 16) {
		uint64_t pair[2];

		memcpy(pair, t->auxv + at, sizeof(pair));
		if (pair[0] == AT_BASE)
			t->loader_base = pair[1];
		else if (pair[0] == AT_SYSINFO_EHDR)
			t->vdso_base = pair[1];
		else if (pair[0] == AT_ENTRY)
			entry = true;
	}
	return entry;
}

static int check_program(struct hodo_attach_target *t)
{
	char id[20 + 1];
	ssize_t n = hodo_proc_file(t->pid, "exe", id, sizeof(id));

	if (n < 0)
		return hodo_why(t->why, -EPERM, "the program of process %d cannot be read: %s", t->pid,
				strerror((int)-n));
	if (n < 20 || memcmp(id, ELFMAG, SELFMAG) != 0)
		return hodo_why(t->why, -ENOEXEC, "the program of process %d is not an ELF file", t->pid);
	if (id[EI_CLASS] != ELFCLASS64 || id[18] != EM_X86_64)
		return hodo_why(t->why, -EOPNOTSUPP, "process %d is a program of another architecture, not of x86-64",
				t->pid);
	return 0;
}

int hodo_attach_target_open(struct hodo_attach_target *t)
{
	int error = check_status(t);

	if (!error)
		error = check_permission(t);
	if (!error)
		error = check_program(t);
	if (error)
		return error;
	if (!parse_auxv(t))
		return hodo_why(t->why, -EAGAIN, "process %d has not started yet", t->pid);
	error = hodo_attach_read_maps(t);
	if (error)
		return hodo_why(t->why, error, "the memory map of process %d cannot be read: %s", t->pid,
				strerror(-error));
	if (!hodo_attach_target_same(t))
		return hodo_why(t->why, -ESRCH, "process %d has ended", t->pid);
	return 0;
}

void hodo_attach_target_close(struct hodo_attach_target *t)
{
	hodo_proc_maps_close(&t->lines);
	free(t->maps);
	t->maps = NULL;
	t->nmaps = 0;
}

/* The library must have the same path in the process's own file tree. */
int hodo_attach_target_sees(struct hodo_attach_target *t, const char *library)
{
	char path[4096 + 64];
	struct stat here, there;

	if (stat(library, &here) != 0)
		return hodo_why(t->why, -errno, "%s: %s", library, strerror(errno));
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)t->pid, library);
	if (stat(path, &there) != 0 || here.st_dev != there.st_dev || here.st_ino != there.st_ino)
		return hodo_why(t->why, -EXDEV, "process %d sees other files than this command (is it in a "
				"container?), and not %s: start it there with HODO_LISTEN=1 and libhodo", t->pid,
				library);
	return 0;
}
