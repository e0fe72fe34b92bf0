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
#ifdef __x86_64__
#include <cpuid.h>
#endif
#include "sys.h"
#include "user.h"

static struct sockaddr_un recorder;
static socklen_t recorder_len;

void hodo_session_path(char *const *envp)
{
	static const char name[] = HODO_RECORDER_ENV "=";
	const char *value = 0;

	for (; envp && *envp && !value; envp++) {
		if (__builtin_strncmp(*envp, name, sizeof(name) - 1) == 0)
			value = *envp + sizeof(name) - 1;
	}
	recorder_len = 0;
	if (!value || !*value || __builtin_strlen(value) >= sizeof(recorder.sun_path))
		return;
	recorder.sun_family = AF_UNIX;
	__builtin_memcpy(recorder.sun_path, value, __builtin_strlen(value) + 1);
	recorder_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + __builtin_strlen(value) + 1);
}

static bool have_tsc(void)
{
#ifdef __x86_64__
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8)); /* invariant TSC */
#else
	return false;
#endif
}

/* Highest possible CPU + 1, from the list that the kernel gives, such as "0-3,8". */
static uint32_t possible_cpus(void)
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
			n = n < HODO_CPUS_MAX ? n * 10 + (uint32_t)(text[i] - '0') : n;
			max = n > max ? n : max;
		} else {
			n = 0;
		}
	}
	if (len <= 0)
		max = 255; /* /sys is not there: buffers are sparse, and a CPU beyond takes the fallback ring */
	return max + 1 < HODO_CPUS_MAX - 2 ? max + 1 : HODO_CPUS_MAX - 3;
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
	hello->cpus = possible_cpus();
	hello->start = how;
	hello->tsc = have_tsc();
	hodo_sys2(SYS_prctl, 16 /* PR_GET_NAME */, hello->comm);
	n = hodo_sys3(SYS_readlink, "/proc/self/exe", hello->exe, sizeof(hello->exe) - 1);
	hello->exe[n > 0 ? n : 0] = 0;
}

/* Waits for the recorder's answer; its length or negative errno. */
static long answer(int fd, struct hodo_msg_config *config)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	long n;

	for (int waited_ms = 0;; waited_ms += 100) {
		struct timespec slice = { 0, 100000000 };

		if (waited_ms >= HODO_HELLO_TIMEOUT_MS)
			return -ETIMEDOUT;
		n = hodo_sys6(SYS_ppoll, (long)&wait, 1, (long)&slice, 0, 0, 0);
		if (n > 0)
			break;
		if (n < 0 && n != -EINTR)
			return n;
	}
	return hodo_sys6(SYS_recvfrom, fd, (long)config, sizeof(*config), 0, 0, 0);
}

/* Whether each of n texts in the len bytes is terminated. */
static bool texts_valid(const uint8_t *text, uint32_t n, uint32_t len)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < len; i++)
		found += text[i] == 0;
	return found == n && (len == 0 || text[len - 1] == 0);
}

static bool functions_valid(const struct hodo_msg_config *c)
{
	const uint8_t *at = c->text + c->patterns_len + c->filter_len;
	struct hodo_functions_config f;

	if (!c->functions_len)
		return true;
	if (c->functions_len < sizeof(f))
		return false;
	__builtin_memcpy(&f, at, sizeof(f));
	return f.size == sizeof(f) && f.patterns_len <= HODO_FUNCTIONS_MAX && f.loops_len <= HODO_FUNCTIONS_MAX &&
	       sizeof(f) + f.patterns_len + f.loops_len == c->functions_len && f.ticks_per_s > 0 &&
	       texts_valid(at + sizeof(f), f.patterns, f.patterns_len) &&
	       texts_valid(at + sizeof(f) + f.patterns_len, f.loops, f.loops_len);
}

static bool profile_wanted(const struct hodo_msg_config *c)
{
	struct hodo_functions_config f;

	if (!c->functions_len)
		return false;
	__builtin_memcpy(&f, c->text + c->patterns_len + c->filter_len, sizeof(f));
	return f.tracers & (1u << HODO_TRACER_PROFILE);
}

static bool config_valid(const struct hodo_msg_config *c, long len, struct hodo_layout *layout)
{
	size_t head = offsetof(struct hodo_msg_config, text);

	return len >= (long)head && c->head.magic == HODO_MSG_MAGIC && c->head.version == HODO_ABI_VERSION &&
	       c->head.type == HODO_MSG_CONFIG && c->patterns_len <= HODO_CONFIG_TEXT_MAX &&
	       c->filter_len <= HODO_FILTER_MAX && c->functions_len <= HODO_FUNCTIONS_MAX &&
	       (size_t)len >= head + c->patterns_len + c->filter_len + c->functions_len && functions_valid(c) &&
	       c->mode <= HODO_MODE_OVERWRITE &&
	       (c->clock == HODO_CLOCK_MONOTONIC || (c->clock == HODO_CLOCK_TSC && have_tsc())) &&
	       (c->filter_len == 0 || hodo_filter_verify(c->text + c->patterns_len, c->filter_len) == 0) &&
	       hodo_layout_init(layout, c->rings, c->packet_size, c->ring_size) == 0;
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

static void take_config(const struct hodo_msg_config *c, const struct hodo_layout *layout, uint8_t *shm)
{
	struct hodo_recording *r = &hodo_recording;

	r->layout = *layout;
	__builtin_memcpy(r->ring.uuid, c->uuid, sizeof(r->ring.uuid));
	r->ring.packet_size = c->packet_size;
	r->ring.ring_size = c->ring_size;
	r->ring.mode = c->mode;
	r->clock = c->clock;
	r->packet_age_ticks = c->packet_age_ticks;
	r->patterns = c->patterns;
	r->patterns_len = c->patterns_len;
	r->filter_len = c->filter_len;
	r->functions_len = c->functions_len;
	__builtin_memcpy(r->text, c->text, c->patterns_len + c->filter_len + c->functions_len);
	r->shm = shm;
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

/* Under the control lock, which makes the one static message safe. */
static int converse(int fd, enum hodo_start how)
{
	static struct hodo_msg_config config;
	struct hodo_msg_hello hello;
	struct hodo_layout layout;
	uint8_t *shm = 0;
	long n, memfd;

	/* EAGAIN: the recorder's queue of new processes is full for a moment. */
	for (int i = 0; (n = hodo_sys3(SYS_connect, fd, &recorder, recorder_len)) == -EAGAIN && i < 100; i++) {
		struct timespec pause = { 0, 5000000 };

		hodo_sys2(SYS_nanosleep, &pause, 0);
	}
	if (n != 0)
		return (int)n;
	fill_hello(&hello, how);
	n = hodo_sys6(SYS_sendto, fd, (long)&hello, sizeof(hello), MSG_NOSIGNAL, 0, 0);
	if (n < 0)
		return (int)n;
	n = answer(fd, &config);
	if (n <= 0)
		return n < 0 ? (int)n : -ECONNREFUSED;
	if (!config_valid(&config, n, &layout))
		return -EPROTO;
	if (profile_wanted(&config))
		hodo_layout_add_profile(&layout);
	hodo_process_views();
	if (!hodo_recording.views)
		return -ENOMEM;
	memfd = make_buffers(&layout, &shm);
	if (memfd < 0)
		return (int)memfd;
	take_config(&config, &layout, shm);
	hodo_catalog_export();
	n = send_ready(fd, memfd);
	hodo_sys1(SYS_close, memfd);
	if (n != 0) {
		hodo_recording.shm = 0;
		hodo_sys2(SYS_munmap, shm, layout.total);
		return (int)n;
	}
	hodo_store_release(&hodo_recording.on, true);
	return 0;
}

int hodo_session_start(enum hodo_start how)
{
	long fd;
	int error;

	if (!recorder_len)
		return -ENOTCONN;
	fd = hodo_sys3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return (int)fd;
	error = converse((int)fd, how);
	hodo_sys1(SYS_close, fd);
	if (error)
		return error;
	for (uint32_t i = 1; i <= hodo_nevents; i++)
		hodo_registry_select(&hodo_events[i]);
	hodo_objects_rebind();
	for (uint32_t i = 1; i <= hodo_nevents; i++)
		hodo_registry_publish(&hodo_events[i]);
	if (&hodo_extension)
		hodo_extension.recording();
	return hodo_patch_sites();
}
