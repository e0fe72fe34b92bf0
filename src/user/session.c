/* SPDX-License-Identifier: MIT */
/*
 * session.c - the conversation with the recorder (abi.h, section 4), in plain
 * system calls: it runs in constructors, in fork handlers, and, after a bare
 * clone(), in whatever context the child's first event happens. No descriptor
 * stays open.
 */
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "sys.h"
#include "user.h"

static struct sockaddr_un recorder;
static socklen_t recorder_len;

const char *hodo_environment(char *const *envp, const char *name)
{
	size_t n = __builtin_strlen(name);

	for (; envp && *envp; envp++) {
		if (__builtin_strncmp(*envp, name, n) == 0 && (*envp)[n] == '=')
			return *envp + n + 1;
	}
	return 0;
}

void hodo_session_path(char *const *envp)
{
	hodo_session_join(hodo_environment(envp, HODO_RECORDER_ENV));
}

void hodo_session_join(const char *value)
{
	recorder_len = 0;
	if (!value || !*value || __builtin_strlen(value) >= sizeof(recorder.sun_path))
		return;
	recorder.sun_family = AF_UNIX;
	__builtin_memcpy(recorder.sun_path, value, __builtin_strlen(value) + 1);
	recorder_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + __builtin_strlen(value) + 1);
}

static void fill_hello(struct hodo_msg_hello *hello, enum hodo_start how)
{
	long n;

	__builtin_memset(hello, 0, sizeof(*hello));
	hello->head.magic = HODO_MSG_MAGIC;
	hello->head.version = HODO_ABI_VERSION;
	hello->head.type = HODO_MSG_HELLO;
	hello->pid = (uint32_t)hodo_sys0(SYS_getpid);
	hello->ppid = (uint32_t)hodo_sys0(SYS_getppid);
	hello->cpus = hodo_possible_cpus();
	hello->start = how;
	hello->tsc = hodo_have_tsc();
	hodo_process_name(hello->comm);
	n = hodo_sys3(SYS_readlink, "/proc/self/exe", hello->exe, sizeof(hello->exe) - 1);
	hello->exe[n > 0 ? n : 0] = 0;
}

/* Whether the recorder has answered: 0 or negative errno. mask: of signals meanwhile; NULL: as it is. */
static long wait_answer(int fd, const uint64_t *mask)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	long n;

	for (int waited_ms = 0;; waited_ms += 100) {
		struct timespec slice = { 0, 100000000 };

		if (waited_ms >= HODO_HELLO_TIMEOUT_MS)
			return -ETIMEDOUT;
		n = hodo_sys6(SYS_ppoll, (long)&wait, 1, (long)&slice, (long)mask, sizeof(*mask), 0);
		if (n > 0)
			return 0;
		if (n < 0 && n != -EINTR)
			return n;
	}
}

/* Whether the configuration that has come, and is left where it is, asks for functions. */
static bool functions_wanted(int fd)
{
	uint32_t head[offsetof(struct hodo_msg_config, text) / 4];

	return hodo_sys6(SYS_recvfrom, fd, (long)head, sizeof(head), MSG_PEEK, 0, 0) == sizeof(head) &&
	       head[offsetof(struct hodo_msg_config, functions_len) / 4];
}

/*
 * The answer's length, or negative errno. The program's fork() and dlopen() do not wait for a recorder that came to
 * it: the lock is free meanwhile. Nor does setuid(), for which libc asks all threads by a signal of its own. Another
 * recording may have begun then.
 */
static long answer(int fd, struct hodo_msg_config *config, enum hodo_start how)
{
	static const uint64_t all_but_libcs = ~(1ull << (32 - 1) | 1ull << (33 - 1));
	long n;

	if (how == HODO_START_ATTACH)
		hodo_control_release();
	n = wait_answer(fd, how == HODO_START_ATTACH ? &all_but_libcs : 0);
	if (how == HODO_START_ATTACH) {
		if (n == 0 && functions_wanted(fd))
			hodo_functions_load();
		hodo_control_retake();
		if (n == 0)
			n = hodo_recording_possible();
	}
	return n ? n : hodo_sys6(SYS_recvfrom, fd, (long)config, sizeof(*config), 0, 0, 0);
}

/* The buffers: sealed, so that neither side can take pages from under the other. The descriptor, or negative errno. */
static long make_buffers(const struct hodo_layout *layout, uint8_t **shm)
{
	struct hodo_shm *head;
	struct rlimit file_size = { RLIM_INFINITY, RLIM_INFINITY };
	long fd, error;

	/* Growing a file beyond the limit would raise SIGXFSZ in the program. */
	hodo_sys4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, &file_size);
	if (file_size.rlim_cur < layout->total)
		return -EFBIG;
	fd = hodo_sys2(SYS_memfd_create, "hodo", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return fd;
	error = hodo_sys2(SYS_ftruncate, fd, layout->total);
	if (error == 0)
		error = hodo_sys3(SYS_fcntl, fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	if (error == 0) {
		*shm = hodo_mmap(layout->total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, (int)fd);
		error = hodo_is_error(*shm) ? (long)*shm : 0;
	}
	if (error != 0) {
		hodo_sys1(SYS_close, fd);
		return error;
	}
	hodo_sys3(SYS_madvise, *shm, layout->total, MADV_DONTFORK);
	hodo_sys3(SYS_madvise, *shm, layout->total, 16 /* MADV_DONTDUMP */);
	head = (struct hodo_shm *)*shm;
	__builtin_memcpy(head->magic, HODO_SHM_MAGIC, sizeof(head->magic));
	head->version = HODO_ABI_VERSION;
	head->rings = layout->rings;
	head->pid = (uint32_t)hodo_sys0(SYS_getpid);
	return fd;
}

static int send_ready(int fd, long memfd)
{
	struct hodo_msg_ready ready = { { HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_READY }, hodo_nevents };
	struct iovec io = { &ready, sizeof(ready) };
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { { 0 } };
	struct msghdr msg = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	int passed = (int)memfd;
	long n;

	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	__builtin_memcpy(CMSG_DATA(&control.head), &passed, sizeof(int));
	n = hodo_sys3(SYS_sendmsg, fd, &msg, MSG_NOSIGNAL);
	return n < 0 ? (int)n : 0;
}

/* Gets the configuration and hands over the buffers, on a connection that stands. */
int hodo_session_converse(int fd, enum hodo_start how, uint32_t recorder)
{
	static struct hodo_msg_config config; /* under the control lock, which makes it safe */
	struct hodo_memory memory = { .by = HODO_BY_RECORDER, .recorder = recorder };
	struct hodo_msg_hello hello;
	long n, memfd;

	fill_hello(&hello, how);
	n = hodo_sys6(SYS_sendto, fd, (long)&hello, sizeof(hello), MSG_NOSIGNAL, 0, 0);
	if (n < 0)
		return (int)n;
	n = answer(fd, &config, how);
	if (n <= 0)
		return n < 0 ? (int)n : -ECONNREFUSED;
	if (!hodo_config_valid(&config, n, &memory.layout))
		return -EPROTO;
	memfd = make_buffers(&memory.layout, &memory.shm);
	if (memfd < 0)
		return (int)memfd;
	n = hodo_recording_take(&config, &memory);
	if (n == 0)
		n = send_ready(fd, memfd);
	hodo_sys1(SYS_close, memfd);
	if (n != 0) {
		hodo_recording_drop();
		return (int)n;
	}
	return hodo_recording_begin();
}

/* Whose socket it is, as far as the kernel knows. */
static uint32_t peer_pid(int fd)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);

	return hodo_sys6(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&len, 0) == 0 ?
		       (uint32_t)peer.pid : 0;
}

static long connect_recorder(void)
{
	long fd = hodo_sys3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), n;

	if (fd < 0)
		return fd;
	/* EAGAIN: the recorder's queue of new processes is full for a short time. */
	for (int i = 0; (n = hodo_sys3(SYS_connect, fd, &recorder, recorder_len)) == -EAGAIN && i < 100; i++) {
		struct timespec pause = { 0, 5000000 };

		hodo_sys2(SYS_nanosleep, &pause, 0);
	}
	if (n == 0)
		return fd;
	hodo_sys1(SYS_close, fd);
	return n;
}

int hodo_session_start(enum hodo_start how)
{
	int error = hodo_recording_possible();
	long fd;

	if (!recorder_len)
		return -ENOTCONN;
	if (error)
		return error;
	fd = connect_recorder();
	if (fd < 0)
		return (int)fd;
	error = hodo_session_converse((int)fd, how, peer_pid((int)fd));
	hodo_sys1(SYS_close, fd);
	return error;
}

/* The recorder that this process was started with was killed: nobody listens there. */
bool hodo_session_dead(void)
{
	long fd;

	if (!recorder_len)
		return false;
	fd = connect_recorder();
	if (fd >= 0)
		hodo_sys1(SYS_close, fd);
	return fd == -ECONNREFUSED || fd == -ENOENT;
}
