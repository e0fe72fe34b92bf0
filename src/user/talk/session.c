/* SPDX-License-Identifier: MIT */
/*
 * session.c - the session with the recorder (abi.h, section 4), in plain system calls: it runs in
 * constructors, in fork handlers, and, after a bare clone(), wherever the child's first event happens. No
 * descriptor stays open.
 */
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <user/libc/sys.h>
#include <user/libc/libc.h>
#include <user/objects/objects.h>
#include <user/process/process.h>
#include "talk.h"

#define CONNECT_PAUSE_MS 5

/* Where the recorder listens: by path, and for processes that cannot reach that (abi.h). len 0: nowhere. */
static struct {
	struct sockaddr_un un;
	socklen_t len;
} by_path, by_name;
static uint64_t hello_key, answer_key;

static bool read_hex(const char *text, int digits, uint64_t *value)
{
	*value = 0;
	for (int i = 0; i < digits; i++) {
		char c = text[i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			return false;
		*value = *value << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return true;
}

/* suffix: #NAME-KEY. */
static bool take_suffix(const char *suffix)
{
	static const char prefix[] = HODO_RECORDER_ABSTRACT;
	const char *name = suffix + 1, *key = name + HODO_RECORDER_NAME + 1;
	char *to = by_name.un.sun_path + 1;
	uint64_t number;

	if (suffix[0] != '#' || !read_hex(name, HODO_RECORDER_NAME, &number) || key[-1] != '-' ||
	    !read_hex(key, HODO_RECORDER_KEY / 2, &hello_key) ||
	    !read_hex(key + HODO_RECORDER_KEY / 2, HODO_RECORDER_KEY / 2, &answer_key))
		return false;
	by_name.un.sun_family = AF_UNIX;
	__builtin_memcpy(to, prefix, sizeof(prefix) - 1);
	__builtin_memcpy(to + sizeof(prefix) - 1, name, HODO_RECORDER_NAME);
	by_name.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(prefix) + HODO_RECORDER_NAME);
	return true;
}

void hodo_session_join(const char *value)
{
	size_t len = value ? __builtin_strlen(value) : 0;

	by_path.len = by_name.len = 0;
	hello_key = answer_key = 0;
	if (len > HODO_RECORDER_SUFFIX && take_suffix(value + len - HODO_RECORDER_SUFFIX))
		len -= HODO_RECORDER_SUFFIX;
	if (!len || len >= sizeof(by_path.un.sun_path))
		return;
	by_path.un.sun_family = AF_UNIX;
	__builtin_memcpy(by_path.un.sun_path, value, len);
	by_path.un.sun_path[len] = 0;
	by_path.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + 1);
}

static void fill_hello(struct hodo_msg_hello *hello, enum hodo_start how)
{
	__builtin_memset(hello, 0, sizeof(*hello));
	hello->head = (struct hodo_msg){ HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_HELLO };
	hello->pid = (uint32_t)hodo_sys0(SYS_getpid);
	hello->ppid = (uint32_t)hodo_sys0(SYS_getppid);
	hello->cpus = hodo_possible_cpus();
	hello->start = how;
	hello->tsc = hodo_have_tsc();
	hello->key = hello_key;
	hodo_process_name(hello->comm);
	hodo_process_exe(hello->exe, sizeof(hello->exe));
}

/* Whether the configuration that has arrived asks for functions or patched code; it stays in the socket. */
static bool functions_wanted(int fd)
{
	uint32_t head[offsetof(struct hodo_msg_config, text) / 4];

	return hodo_sys6(SYS_recvfrom, fd, (long)head, sizeof(head), MSG_PEEK, 0, 0) == sizeof(head) &&
	       (head[offsetof(struct hodo_msg_config, functions_len) / 4] ||
		head[offsetof(struct hodo_msg_config, flags) / 4] & HODO_CONFIG_PLANS);
}

static uint8_t recording[16]; /* in which libraries are opened */

static int possible(enum hodo_start how)
{
	const struct hodo_recording *r = &hodo_recording;

	if (how != HODO_START_OPENED)
		return hodo_recording_possible();
	return r->on && __builtin_memcmp(recording, r->ring.uuid, sizeof(recording)) == 0 ? 0 : -ENOTCONN;
}

/*
 * Whether the recorder has answered: 0 or negative errno. The program's fork() and dlopen() do not wait for a
 * recorder that attached to it: the lock is free meanwhile. Nor does setuid(), for which libc signals all
 * threads. Another recording may have begun afterwards. The same holds while a library is opened, except for
 * dlopen() itself.
 */
static long wait_answer(int fd, enum hodo_start how, int limit_ms)
{
	const uint64_t all_but_libcs = ~hodo_libc_signals();
	const bool came = how == HODO_START_ATTACH || how == HODO_START_OPENED;
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	long n = 0;

	if (came)
		hodo_control_release();
	for (int waited_ms = 0; n == 0 && waited_ms < limit_ms; waited_ms += 100) {
		struct timespec slice = { 0, 100000000 };

		n = hodo_sys6(SYS_ppoll, (long)&wait, 1, (long)&slice, came ? (long)&all_but_libcs : 0,
			      sizeof(all_but_libcs), 0);
		n = n == -EINTR ? 0 : n;
	}
	n = n > 0 ? 0 : n < 0 ? n : -ETIMEDOUT;
	if (!came)
		return n;
	if (n == 0 && functions_wanted(fd))
		hodo_functions_load();
	hodo_control_retake();
	return n ? n : possible(how);
}

/* The lock is free meanwhile: the loader's callback takes it. */
static int load_libraries(char *paths, enum hodo_start how)
{
	int error;

	hodo_control_release();
	hodo_libraries_load(paths);
	hodo_control_retake();
	error = possible(how);
	if (error)
		return error;
	hodo_objects_scan();
	hodo_objects_set_planned();
	return -EEXIST;
}

/* Patches unprepared code by the recorder's plan. 0, even if that fails, which the recorder is told. */
static int take_plan(int fd, enum hodo_start how, enum hodo_plan_step step, const struct hodo_msg *ask, size_t bytes)
{
	const bool opens = how == HODO_START_OPENED && step != HODO_PLAN_ANEW; /* a library: the program waits */
	const int limit_ms = opens ? HODO_OPENED_TIMEOUT_MS : HODO_PLAN_TIMEOUT_MS;
	char load[HODO_PLAN_LOAD_MAX];
	long n = -EEXIST;

	for (int i = 0; i < HODO_PLAN_TRIES && n == -EEXIST; i++) {
		n = hodo_sys_socket_send(fd, ask, bytes, -1);
		n = n < 0 ? n : wait_answer(fd, how, limit_ms);
		n = n ? n : hodo_func->plan(fd, step, load);
		n = n == -ELIBACC && !opens ? load_libraries(load, how) : n;
	}
	if (n == -EEXIST)
		return 0;
	if (n != -EINPROGRESS)
		return (int)n;
	n = wait_answer(fd, how, limit_ms);
	return n ? (int)n : hodo_func->plan(fd, step | HODO_PLAN_STOOD, load);
}

/* Says why there are no buffers; the process continues unrecorded, and nobody else would know. */
static int fail(int fd, uint32_t step, long error, uint64_t bytes)
{
	static const uint8_t resources[HODO_LIMITS] = {
		RLIMIT_FSIZE, RLIMIT_AS, RLIMIT_DATA, RLIMIT_MEMLOCK, RLIMIT_NOFILE,
	};
	struct hodo_msg_failed m = { .head = { HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_FAILED }, .step = step,
				     .error = (int32_t)error, .bytes = bytes };

	for (unsigned i = 0; i < HODO_LIMITS; i++) {
		struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

		hodo_sys4(SYS_prlimit64, 0, resources[i], 0, &limit);
		m.limit[i] = limit.rlim_cur;
	}
	hodo_sys_socket_send(fd, &m, sizeof(m), -1);
	return (int)error;
}

/* A file for the buffers: sealed, so that neither side can truncate it under the other. Or negative errno. */
static long make_file(uint64_t bytes)
{
	long fd, error = hodo_sys_file_limit(bytes);

	if (error)
		return error;
	fd = hodo_sys2(SYS_memfd_create, "hodo", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return fd;
	error = hodo_sys2(SYS_ftruncate, fd, bytes);
	if (error == 0)
		error = hodo_sys3(SYS_fcntl, fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	if (error == 0)
		return fd;
	hodo_sys1(SYS_close, fd);
	return error;
}

/* Makes the buffers and hands them over. 0 or negative errno, which the recorder is told. */
static int hand_over(int fd, const struct hodo_msg_config *config, struct hodo_recording_memory *memory)
{
	struct hodo_msg_ready ready = { { HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_READY }, 0 };
	uint64_t bytes = memory->layout.total;
	long memfd = make_file(bytes);
	int error, step = HODO_FAILED_MAP;

	if (memfd < 0)
		return fail(fd, HODO_FAILED_FILE, memfd, bytes);
	error = hodo_recording_map(memory, (int)memfd);
	if (!error) {
		__builtin_memcpy(((struct hodo_shm *)memory->shm)->magic, HODO_SHM_MAGIC, sizeof(HODO_SHM_MAGIC));
		step = HODO_FAILED_MEMORY;
		error = hodo_recording_take(config, memory);
	}
	if (error) {
		fail(fd, step, error, bytes);
	} else {
		ready.events = hodo_nevents;
		error = (int)hodo_sys_socket_send(fd, &ready, sizeof(ready), (int)memfd);
	}
	hodo_sys1(SYS_close, memfd);
	if (error >= 0)
		return 0;
	if (step == HODO_FAILED_MEMORY)
		hodo_recording_drop();
	return error;
}

/* Under the control lock, which makes it safe; a fork child's first event may be on a small stack. */
static struct hodo_msg_config config;

/* Gets the configuration, on an open connection. */
static int greet(int fd, enum hodo_start how, struct hodo_layout *layout)
{
	static struct hodo_msg_hello hello;
	long n;

	fill_hello(&hello, how);
	n = hodo_sys_socket_send(fd, &hello, sizeof(hello), -1);
	if (n < 0)
		return (int)n;
	n = wait_answer(fd, how, HODO_HELLO_TIMEOUT_MS);
	n = n ? n : hodo_sys6(SYS_recvfrom, fd, (long)&config, sizeof(config), 0, 0, 0);
	if (n <= 0)
		return n < 0 ? (int)n : -ECONNREFUSED;
	/* A recorder that attached to us has shown who it is (serve.c). A different one gets nothing more. */
	if (how != HODO_START_ATTACH && answer_key &&
	    (n < (long)offsetof(struct hodo_msg_config, text) || config.key != answer_key))
		return -ECONNREFUSED;
	return hodo_config_valid(&config, n, layout) ? 0 : fail(fd, HODO_FAILED_CONFIG, -EPROTO, 0);
}

/* Gets the configuration and, if need be, a plan; hands over the buffers, and begins the recording. */
int hodo_session_converse(int fd, enum hodo_start how, uint32_t recorder)
{
	const struct hodo_msg ask = { HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_PLAN };
	struct hodo_recording_memory memory = { .by = HODO_BY_RECORDER, .recorder = recorder };
	int error = greet(fd, how, &memory.layout);

	hodo_objects_scan_once(); /* with the buffers, the recorder learns what is wanted of it (HODO_WANTS_) */
	/* A fork child inherits its parent's patched code. */
	if (!error && config.flags & HODO_CONFIG_PLANS && how != HODO_START_FORK && hodo_func) {
		hodo_objects_set_planned();
		error = take_plan(fd, how, HODO_PLAN_FIRST, &ask, sizeof(ask));
	}
	if (!error)
		error = hand_over(fd, &config, &memory);
	return error ? error : hodo_recording_begin();
}

static long connect_at(const struct sockaddr_un *address, socklen_t len)
{
	long fd = hodo_sys_socket_new(), n;

	if (fd < 0)
		return fd;
	/* EAGAIN: the recorder's queue of new processes is full for a short time. */
	for (int ms = 0; (n = hodo_sys3(SYS_connect, fd, address, len)) == -EAGAIN && ms < HODO_HELLO_TIMEOUT_MS;
	     ms += CONNECT_PAUSE_MS)
		hodo_sleep_ns(CONNECT_PAUSE_MS * 1000000);
	if (n == 0)
		return fd;
	hodo_sys1(SYS_close, fd);
	return n;
}

static long connect_recorder(void)
{
	long fd = connect_at(&by_path.un, by_path.len);

	return fd < 0 && fd != -EAGAIN && by_name.len ? connect_at(&by_name.un, by_name.len) : fd;
}

static int start(enum hodo_start how)
{
	uint32_t pid, uid;
	long fd = connect_recorder();
	int error;

	if (fd < 0)
		return (int)fd;
	hodo_sys_socket_peer((int)fd, &pid, &uid); /* as far as the kernel knows */
	error = hodo_session_converse((int)fd, how, pid);
	hodo_sys1(SYS_close, fd);
	return error;
}

int hodo_session_plan(struct hodo_msg_ask *ask, enum hodo_plan_step step)
{
	size_t bytes = offsetof(struct hodo_msg_ask, object) + ask->n * sizeof(ask->object[0]);
	struct hodo_layout layout;
	long fd = by_path.len ? connect_recorder() : -ENOTCONN;
	int error;

	if (fd < 0)
		return (int)fd;
	ask->head = (struct hodo_msg){ HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_PLAN };
	__builtin_memcpy(recording, hodo_recording.ring.uuid, sizeof(recording));
	error = greet((int)fd, HODO_START_OPENED, &layout);
	if (!error && !hodo_func)
		error = -ENOSYS;
	if (!error) {
		hodo_recording.config.flags |= config.flags & HODO_CONFIG_PLANS;
		error = take_plan((int)fd, HODO_START_OPENED, step, &ask->head, bytes);
	}
	hodo_sys1(SYS_close, fd);
	return error;
}

/*
 * A program, or its fork child, without a free descriptor could not connect: if it may raise its limit, it
 * gets two more meanwhile. Nobody else runs in it, or sees them.
 */
int hodo_session_start(enum hodo_start how)
{
	struct rlimit files, most;
	int error = by_path.len ? hodo_recording_possible() : -ENOTCONN;
	bool raised;

	if (error)
		return error;
	raised = hodo_sys4(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, &files) == 0 && files.rlim_cur < files.rlim_max;
	most = (struct rlimit){ files.rlim_max, files.rlim_max };
	if (raised)
		hodo_sys4(SYS_prlimit64, 0, RLIMIT_NOFILE, &most, 0);
	error = start(how);
	if (raised)
		hodo_sys4(SYS_prlimit64, 0, RLIMIT_NOFILE, &files, 0);
	return error;
}

int hodo_session_libraries(struct hodo_msg_libraries *answer)
{
	struct hodo_msg_hello hello;
	long fd = by_path.len ? connect_recorder() : -ENOTCONN, n;

	if (fd < 0)
		return (int)fd;
	fill_hello(&hello, HODO_START_ROOT);
	n = hodo_sys_socket_send((int)fd, &hello, sizeof(hello), -1);
	n = n < 0 ? n : wait_answer((int)fd, HODO_START_ROOT, HODO_HELLO_TIMEOUT_MS);
	n = n ? n : hodo_sys6(SYS_recvfrom, fd, (long)answer, sizeof(*answer), MSG_TRUNC, 0, 0);
	hodo_sys1(SYS_close, fd);
	if (n < 0)
		return (int)n;
	/* What another says would be loaded into the program. */
	if (n != sizeof(*answer) || answer->head.magic != HODO_MSG_MAGIC || answer->head.version != HODO_ABI_VERSION ||
	    answer->head.type != HODO_MSG_LIBRARIES || answer->key != answer_key)
		return -ECONNREFUSED;
	answer->paths[sizeof(answer->paths) - 1] = 0;
	return answer->result;
}

/* Whether the recorder that started this process was killed: nobody listens there. */
bool hodo_session_dead(void)
{
	long fd;

	if (!by_path.len)
		return false;
	fd = connect_recorder();
	if (fd >= 0)
		hodo_sys1(SYS_close, fd);
	return fd == -ECONNREFUSED || fd == -ENOENT;
}
