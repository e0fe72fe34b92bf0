/* SPDX-License-Identifier: MIT */
/* mapping - one ring, and the whole memory, can be mapped for reading, and nothing can write to them. */
#include "ring.h"

#include <sys/uio.h>
#include <sys/wait.h>

static const char *file; /* the file's name in the names of checks */

static void refused(const char *name, void *at, int err)
{
	char full[64];
	int got = errno;

	snprintf(full, sizeof(full), "%s_%s", name, file);
	say(at == MAP_FAILED && got == err, full, "%p, errno %d", at, got);
}

/* Ways around the mapping's protection, which debuggers use to write where a program cannot. */
static void check_forced(uint8_t *at)
{
	uint8_t before[64], bytes[64];
	struct iovec from = { bytes, sizeof(bytes) }, to = { at, sizeof(bytes) };
	int fd = open("/proc/self/mem", O_RDWR);
	ssize_t n;

	memset(bytes, 0x55, sizeof(bytes));
	memcpy(before, at, sizeof(before));
	n = pwrite(fd, bytes, sizeof(bytes), (off_t)(uintptr_t)at);
	refused("proc_mem", n < 0 ? MAP_FAILED : NULL, errno);
	close(fd);
	n = process_vm_writev(getpid(), &from, 1, &to, 1, 0);
	refused("process_vm_writev", n < 0 ? MAP_FAILED : NULL, EFAULT);
	/* Nor can the program make the kernel write there. */
	fd = open("/dev/zero", O_RDONLY);
	n = read(fd, at, sizeof(bytes));
	refused("read_into", n < 0 ? MAP_FAILED : NULL, EFAULT);
	close(fd);
	refused("unchanged", memcmp(before, at, 8) == 0 ? MAP_FAILED : NULL, errno);
}

static void check_file(const char *name, int fd, uint64_t size)
{
	const size_t page = HODO_PAGE;
	uint8_t *at;

	file = name;
	if (fd < 0)
		die(name);
	refused("write", mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), EPERM);
	refused("write_only", mmap(NULL, size, PROT_WRITE, MAP_SHARED, fd, 0), EPERM);
	refused("private", mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0), EPERM);
	refused("private_write", mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0), EPERM);
	refused("exec", mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0), EPERM);
	refused("too_long", mmap(NULL, size + page, PROT_READ, MAP_SHARED, fd, 0), EINVAL);
	refused("behind", mmap(NULL, page, PROT_READ, MAP_SHARED, fd, (off_t)size), EINVAL);
	refused("far_behind", mmap(NULL, page, PROT_READ, MAP_SHARED, fd, (off_t)1 << 62), EINVAL);
	at = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		die("mmap");
	refused("mprotect_write", mprotect(at, page, PROT_READ | PROT_WRITE) < 0 ? MAP_FAILED : NULL, EACCES);
	refused("mprotect_exec", mprotect(at, page, PROT_READ | PROT_EXEC) < 0 ? MAP_FAILED : NULL, EACCES);
	refused("mremap", mremap(at, size, size + page, MREMAP_MAYMOVE), EFAULT);
	check_forced(at);
	munmap(at + page, page); /* in the middle */
	munmap(at, size);
	close(fd);
}

/* Only the process that has stored there is killed; a child has the mapping, too. */
static void check_store(const struct ring *r)
{
	volatile uint8_t *at = (uint8_t *)r->control;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		*at = 1;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	say(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "store_is_killed", "status %x", status);
	pid = fork();
	if (pid == 0) {
		ring_close((struct ring *)r);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	say(status == 0 && r->control->activation <= 2, "child_unmaps", "status %x", status);
}

static int open_debug(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), HODO_KERNEL_DEBUG_DIR "/%s", name);
	return open(path, O_RDWR | O_CLOEXEC);
}

int main(void)
{
	struct hodo_layout layout = { 0 };
	struct ring r;

	if (put(EVENT "/enable", "1") < 0 || put("enabled", "1") < 0)
		die("start");
	pin(0);
	emit(1);
	if (ring_open(&r, 0) < 0)
		die("cpu0");
	check_store(&r);
	check_file("ring", open_ring(0, O_RDWR), HODO_PAGE + r.size);
	check_file("cpu0", open_debug("buffers/cpu0"), HODO_PAGE + r.size);
	check_file("fallback", open_debug("buffers/fallback"), HODO_PAGE + r.size);
	/* The size depends on the number of possible CPUs. */
	for (uint32_t rings = 2; rings < HODO_CPUS_MAX; rings++) {
		int fd = open_ring(HODO_RING_ALL, O_RDONLY);
		void *at;

		hodo_layout_init(&layout, rings, (uint32_t)r.packet_size, r.size);
		at = mmap(NULL, layout.total + HODO_PAGE, PROT_READ, MAP_SHARED, fd, 0);
		close(fd);
		if (at == MAP_FAILED)
			break;
		munmap(at, layout.total + HODO_PAGE);
	}
	check_file("all", open_ring(HODO_RING_ALL, O_RDWR), layout.total);
	check_file("memory", open_debug("memory"), layout.total);
	ring_close(&r);
	return failures ? 1 : 0;
}
