/* SPDX-License-Identifier: MIT */
/*
 * listen.c - the thread that hodo talks to, in a process that listens (abi.h, section 4).
 *
 * It has a descriptor table of its own (close_range(2) with CLOSE_RANGE_UNSHARE): the
 * program neither sees its socket nor closes it by closefrom(3), and a pipe's end that the
 * program closes is closed. Started by pthread_create, so that libc's setuid() and the
 * like take it along; all signals that can be are blocked.
 *
 *                 | listener | control.h's callers | fork
 *   listener      | one      | control lock, state | control lock: never in the middle of a recording's change
 *
 * All that comes over the socket comes from the same user or root, and is checked all
 * the same: a message of the wrong shape ends its connection.
 */
#include <fcntl.h>
#include <hodo/control.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include "sys.h"
#include "user.h"

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define CLIENTS_MAX 16
#define STACK_BYTES (256u << 10)
#define TICK_NS 100000000 /* how often a recording that ended otherwise is looked for */

enum { IDLE = 0, STARTING = 1, LISTENING = 2, LEAVING = 3 /* it may be asked to stay still */, CLOSING = 4 };

static uint32_t state;      /* enum above */
static uint32_t why_listen; /* 1: the program wants it, 2: it was made to */
static uint32_t listener_pid;
static bool was_there; /* in the parent of this fork child */
static int start_error;
static struct sockaddr_un address;
static struct pollfd watched[1 + CLIENTS_MAX]; /* 0: the listening socket; then clients */
static int lifeline; /* the client that records us: its descriptor; 0: none */

static char runtime[sizeof(address.sun_path)]; /* $XDG_RUNTIME_DIR as it was at the start, "" if it cannot be used */

/* ---------------------------------------------------------------- the socket */

static size_t append(char *to, size_t at, size_t size, const char *text)
{
	while (*text && at < size - 1)
		to[at++] = *text++;
	to[at] = 0;
	return at;
}

static size_t append_number(char *to, size_t at, size_t size, uint32_t n)
{
	char digits[12];
	int i = 11;

	digits[i] = 0;
	do
		digits[--i] = (char)('0' + n % 10);
	while (n /= 10);
	return append(to, at, size, digits + i);
}

/* A directory of ours alone, or none: another user could have made it, or a link, before us. */
static long private_dir(const char *path)
{
	struct stat st;
	long error = hodo_sys3(SYS_mkdirat, AT_FDCWD, path, 0700);

	if (error && error != -EEXIST)
		return error;
	error = hodo_sys4(SYS_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW);
	if (error)
		return error;
	if ((st.st_mode & S_IFMT) != S_IFDIR || st.st_uid != (uid_t)hodo_sys0(SYS_geteuid))
		return -EPERM;
	return (st.st_mode & 077) ? hodo_sys3(SYS_fchmodat, AT_FDCWD, path, 0700) : 0;
}

static bool runtime_dir(char *path, size_t size)
{
	struct stat st;
	size_t n;

	if (runtime[0] != '/' || hodo_sys4(SYS_newfstatat, AT_FDCWD, runtime, &st, 0) != 0 ||
	    (st.st_mode & S_IFMT) != S_IFDIR || st.st_uid != (uid_t)hodo_sys0(SYS_geteuid) || (st.st_mode & 022))
		return false;
	n = append(path, 0, size, runtime);
	n = append(path, n, size, "/hodo");
	return n + sizeof("/4294967295") <= size && private_dir(path) == 0;
}

static long socket_path(char *path, size_t size)
{
	size_t n;
	long error;

	if (!runtime_dir(path, size)) {
		n = append(path, 0, size, "/tmp/hodo-");
		append_number(path, n, size, (uint32_t)hodo_sys0(SYS_geteuid));
		error = private_dir(path);
		if (error)
			return error;
	}
	n = append(path, __builtin_strlen(path), size, "/");
	append_number(path, n, size, (uint32_t)hodo_sys0(SYS_getpid));
	return 0;
}

/* The descriptor, or negative errno. */
static long open_socket(void)
{
	long fd, error = socket_path(address.sun_path, sizeof(address.sun_path));

	if (error)
		return error;
	fd = hodo_sys3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return fd;
	address.sun_family = AF_UNIX;
	/* Left by a process that had our number. */
	hodo_sys3(SYS_unlinkat, AT_FDCWD, address.sun_path, 0);
	error = hodo_sys3(SYS_bind, fd, &address, sizeof(address));
	if (!error)
		error = hodo_sys3(SYS_fchmodat, AT_FDCWD, address.sun_path, 0600);
	if (!error)
		error = hodo_sys2(SYS_listen, fd, CLIENTS_MAX);
	if (!error)
		return fd;
	hodo_sys1(SYS_close, fd);
	return error;
}

void hodo_listener_init(char *const *envp)
{
	const char *xdg = hodo_environment(envp, "XDG_RUNTIME_DIR");

	if (xdg && __builtin_strlen(xdg) < sizeof(runtime))
		append(runtime, 0, sizeof(runtime), xdg);
}

/* ------------------------------------------------------------------- answers */

/* One that its recorder has ended, as --duration does, is over: the next one takes its place. */
static bool is_recorded(void)
{
	return hodo_recording.on && !hodo_load(&hodo_shm()->stopped);
}

static void fill_answer(struct hodo_msg_answer *a, int result)
{
	__builtin_memset(a, 0, sizeof(*a));
	a->head = (struct hodo_msg){ HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_ANSWER };
	a->result = result;
	a->pid = (uint32_t)hodo_sys0(SYS_getpid);
	a->by = is_recorded() ? hodo_recording.by : HODO_BY_NOBODY;
	a->recorder = is_recorded() ? hodo_recording.recorder : 0;
	a->events = hodo_nevents;
	a->listens = why_listen;
	if (a->by == HODO_BY_FLIGHT)
		append(a->path, 0, sizeof(a->path), hodo_flight_path());
}

/* passed: a descriptor to send along, or -1. */
static bool send_answer(int fd, int result, int passed)
{
	struct hodo_msg_answer a;
	struct iovec io = { &a, sizeof(a) };
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { { 0 } };
	struct msghdr msg = { .msg_iov = &io, .msg_iovlen = 1 };

	fill_answer(&a, result);
	if (passed >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		__builtin_memcpy(CMSG_DATA(&control.head), &passed, sizeof(int));
	}
	return hodo_sys3(SYS_sendmsg, fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(a);
}

static bool write_all(long fd, const void *data, uint64_t len, uint64_t at)
{
	while (len > 0) {
		long n = hodo_sys4(SYS_pwrite64, fd, data, len, at);

		if (n <= 0)
			return false;
		data = (const char *)data + n;
		len -= (uint64_t)n;
		at += (uint64_t)n;
	}
	return true;
}

static uint8_t event_state(const struct hodo_event *e)
{
	bool on = hodo_recording.on && hodo_load(&hodo_on_words()[e->id]);

	return (on ? HODO_STATE_RECORDED : 0) | (e->disabled ? HODO_STATE_DISABLED : 0) |
	       (e->nprobes ? HODO_STATE_PROBED : 0) | (e->filtered ? HODO_STATE_FILTERED : 0) |
	       (e->states ? HODO_STATE_LOADED : 0);
}

/* Under the control lock. The memfd, or negative errno. */
static long make_list(void)
{
	static uint8_t states[HODO_EVENTS_MAX];
	uint64_t len;
	const uint8_t *catalog = hodo_catalog_bytes(&len);
	long fd = hodo_sys2(SYS_memfd_create, "hodo-list", MFD_CLOEXEC);

	for (uint32_t i = 1; i <= hodo_nevents; i++)
		states[i] = event_state(&hodo_events[i]);
	if (fd >= 0 && (!write_all(fd, states, sizeof(states), 0) || !write_all(fd, catalog, len, sizeof(states)))) {
		hodo_sys1(SYS_close, fd);
		return -ENOSPC;
	}
	return fd;
}

/* ------------------------------------------------------------------ requests */

/* The recording is by a recorder; without a lifeline, by one that started us. */
static bool has_recorder(void)
{
	return hodo_recording.on && hodo_recording.by == HODO_BY_RECORDER;
}

static void close_lifeline(void)
{
	for (unsigned i = 1; lifeline && i <= CLIENTS_MAX; i++) {
		if (watched[i].fd == lifeline) {
			hodo_sys1(SYS_close, lifeline);
			watched[i].fd = -1;
			watched[i].revents = 0;
		}
	}
	lifeline = 0;
}

/* Whose recording stands in the way, and is over for want of its recorder, is ended. */
static int make_room(void)
{
	int error = hodo_recording_possible();

	if (error == -EBUSY && hodo_recording.by == HODO_BY_FLIGHT) {
		error = hodo_recording_end();
		hodo_flight_wait();
	} else if (error == -EBUSY && !lifeline && (!is_recorded() || hodo_session_dead())) {
		error = hodo_recording_end();
	}
	return error;
}

/* As we see it; 0: it is in another pid namespace. */
static uint32_t client_pid(int fd)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);

	hodo_sys6(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&len, 0);
	return (uint32_t)peer.pid;
}

static void record(int fd, const char *join)
{
	int error = make_room();

	if (!error)
		close_lifeline(); /* of a recording that the program has ended */
	if (!send_answer(fd, error, -1) && !error)
		error = -EPIPE;
	else if (error)
		return;
	if (!error)
		error = hodo_session_converse(fd, HODO_START_ATTACH, client_pid(fd));
	/* The program may have begun one of its own while the recorder thought about it. */
	if (error && !has_recorder()) {
		hodo_sys2(SYS_shutdown, fd, SHUT_RDWR);
		if (!hodo_recording.on)
			hodo_flight_begin(HODO_START_EXEC);
		return;
	}
	hodo_session_join(join);
	lifeline = fd;
}

/* Also of one that has ended otherwise: the recorder notices by the connection's end. */
static int end_recording(void)
{
	int error = hodo_recording_end();

	close_lifeline();
	hodo_session_join("");
	/* What the program was to have all the time it has again. */
	if (error == 0)
		hodo_flight_begin(HODO_START_EXEC);
	return error;
}

/* Under the control lock. */
static void take_request(int fd, const struct hodo_msg_control *m)
{
	int result = 0, memfd = -1;

	switch (m->op) {
	case HODO_CONTROL_STATUS:
		break;
	case HODO_CONTROL_RECORD:
		record(fd, m->text);
		return;
	case HODO_CONTROL_LIST:
		memfd = (int)make_list();
		result = memfd < 0 ? memfd : 0;
		break;
	case HODO_CONTROL_ENABLE:
	case HODO_CONTROL_DISABLE:
		result = m->text[0] ? hodo_control_set(m->text, m->op == HODO_CONTROL_ENABLE) : -EINVAL;
		break;
	case HODO_CONTROL_LEAVE:
		if (hodo_load_seq(&why_listen) == 2) {
			/* In this order: see begin_listening(). */
			hodo_store_seq(&state, LEAVING);
			if (hodo_load_seq(&why_listen) != 2)
				hodo_store_seq(&state, LISTENING);
		}
		/* fall through */
	case HODO_CONTROL_END:
		result = end_recording();
		break;
	default:
		result = -EOPNOTSUPP;
	}
	send_answer(fd, result, memfd);
	if (memfd >= 0)
		hodo_sys1(SYS_close, memfd);
}

/* False: the connection is over. */
static bool serve(int fd)
{
	static struct hodo_msg_control m;
	long n = hodo_sys6(SYS_recvfrom, fd, (long)&m, sizeof(m), MSG_DONTWAIT | MSG_TRUNC, 0, 0);
	uint64_t mask;

	if (n == -EAGAIN || n == -EINTR)
		return true;
	if (n != sizeof(m) || m.head.magic != HODO_MSG_MAGIC || m.head.type != HODO_MSG_CONTROL ||
	    m.head.version != HODO_ABI_VERSION || fd == lifeline)
		return false;
	m.text[sizeof(m.text) - 1] = 0;
	mask = hodo_control_lock();
	take_request(fd, &m);
	hodo_control_unlock(mask);
	return true;
}

/* --------------------------------------------------------------- connections */

static bool is_allowed(int fd)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);

	return hodo_sys6(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&peer, (long)&len, 0) == 0 &&
	       (peer.uid == 0 || peer.uid == (uid_t)hodo_sys0(SYS_geteuid));
}

/* No descriptor or memory may be had (RLIMIT_NOFILE): what waits for it waits on. */
static void rest(void)
{
	struct timespec pause = { 0, TICK_NS };

	hodo_sys2(SYS_nanosleep, &pause, 0);
}

static void accept_client(void)
{
	long fd = hodo_sys4(SYS_accept4, watched[0].fd, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0) {
		if (fd != -EAGAIN && fd != -EINTR && fd != -ECONNABORTED)
			rest();
		return;
	}
	for (unsigned i = 1; is_allowed((int)fd) && i <= CLIENTS_MAX; i++) {
		if (watched[i].fd < 0) {
			watched[i].fd = (int)fd;
			watched[i].events = POLLIN;
			return;
		}
	}
	hodo_sys1(SYS_close, fd);
}

static void end_locked(void)
{
	uint64_t mask = hodo_control_lock();

	if (!hodo_recording.on || has_recorder()) {
		end_recording();
	} else { /* the program has ended it, and begun one of its own */
		close_lifeline();
		hodo_session_join("");
	}
	hodo_control_unlock(mask);
}

static void drop_client(struct pollfd *w)
{
	if (w->fd == lifeline) {
		end_locked();
		return;
	}
	hodo_sys1(SYS_close, w->fd);
	w->fd = -1;
	w->revents = 0;
}

static bool leaves(void)
{
	uint32_t leaving = LEAVING;

	return hodo_cas_seq(&state, &leaving, CLOSING);
}

static void run(void)
{
	while (!leaves()) {
		struct timespec timeout = { 0, TICK_NS };
		unsigned used = 1 + CLIENTS_MAX;
		long n;

		while (used > 1 && watched[used - 1].fd < 0) /* it refuses more than RLIMIT_NOFILE */
			used--;
		n = hodo_sys6(SYS_ppoll, (long)watched, used, lifeline ? (long)&timeout : 0, 0, 0, 0);
		if (n < 0) {
			if (n != -EINTR)
				rest();
			continue;
		}
		for (unsigned i = 1; i <= CLIENTS_MAX; i++) {
			if (watched[i].fd >= 0 && watched[i].revents && !serve(watched[i].fd))
				drop_client(&watched[i]);
		}
		if (watched[0].revents)
			accept_client();
		if (lifeline && !has_recorder()) /* by hodo_stop() */
			end_locked();
	}
	if (lifeline)
		end_locked();
}

/* ------------------------------------------------------------------ the thread */

static void close_all(void)
{
	if (address.sun_path[0])
		hodo_sys3(SYS_unlinkat, AT_FDCWD, address.sun_path, 0);
	for (unsigned i = 0; i <= CLIENTS_MAX; i++) {
		if (watched[i].fd >= 0)
			hodo_sys1(SYS_close, watched[i].fd);
	}
}

/* What takes time, here and not where the program waits. */
static void get_ready(void)
{
	uint64_t mask = hodo_control_lock();

	hodo_patch_register();
	hodo_process_scan();
	hodo_control_unlock(mask);
}

static void *listen_thread(void *arg)
{
	long fd = hodo_sys3(SYS_close_range, 0, ~0u, CLOSE_RANGE_UNSHARE);

	lifeline = 0;
	listener_pid = (uint32_t)hodo_sys0(SYS_getpid);
	for (unsigned i = 0; i <= CLIENTS_MAX; i++)
		watched[i] = (struct pollfd){ -1, POLLIN, 0 };
	hodo_sys2(SYS_prctl, 15 /* PR_SET_NAME */, "hodo");
	if (fd == 0) {
		/* 0 to 2 stay free of sockets: whatever writes to them by mistake finds nothing there. */
		for (int i = 0; i < 3; i++)
			hodo_sys4(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0);
		fd = open_socket();
	} else {
		fd = -EPERM;
	}
	watched[0].fd = fd < 0 ? -1 : (int)fd;
	start_error = fd < 0 ? (int)fd : 0;
	hodo_store_release(&state, fd < 0 ? IDLE : LISTENING);
	if (fd < 0)
		return 0;
	get_ready();
	run();
	close_all();
	hodo_store_release(&state, IDLE);
	return 0;
}

int hodo_listener_thread(void *(*run)(void *))
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, old;
	int error;

	error = pthread_attr_init(&attr);
	if (error)
		return -error;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&thread, &attr, run, 0);
	pthread_sigmask(SIG_SETMASK, &old, 0);
	pthread_attr_destroy(&attr);
	return -error;
}

static int begin_thread(uint32_t why)
{
	int error;

	hodo_store_seq(&why_listen, why);
	start_error = 0;
	hodo_keeper_watch();
	error = hodo_listener_thread(listen_thread);
	if (error)
		hodo_store_release(&state, IDLE);
	return error;
}

/* Without waiting for the thread. -EAGAIN: the last one has all but ended. */
static int begin_listening(uint32_t why)
{
	if (hodo_process_forked())
		hodo_process_after_fork();
	for (uint32_t found = IDLE;; found = IDLE) {
		if (hodo_cas_seq(&state, &found, STARTING))
			return begin_thread(why);
		/* Before the look at the state: the thread says first that it leaves, and looks then whether it may. */
		if (why < hodo_load_seq(&why_listen))
			hodo_store_seq(&why_listen, why);
		found = LEAVING;
		if (hodo_cas_seq(&state, &found, LISTENING) || found == LISTENING || found == STARTING)
			return 0;
		if (found == CLOSING)
			return -EAGAIN;
	}
}

/* … but for the end of the last one, which is a matter of microseconds. */
static int begin_patiently(uint32_t why)
{
	struct timespec pause = { 0, 1000000 };
	int error;

	for (int i = 0; (error = begin_listening(why)) == -EAGAIN && i < 100; i++)
		hodo_sys2(SYS_nanosleep, &pause, 0);
	return error;
}

int hodo_listener_start(uint32_t why)
{
	int error = begin_patiently(why);

	if (error)
		return error;
	while (hodo_load_acquire(&state) == STARTING) {
		struct timespec pause = { 0, 50000 };

		hodo_sys2(SYS_nanosleep, &pause, 0);
	}
	return start_error;
}

bool hodo_listener_is_there(void)
{
	return hodo_load_acquire(&state) != IDLE;
}

void hodo_listener_leave(void)
{
	uint32_t listening = LISTENING;
	long fd;

	hodo_cas_seq(&state, &listening, LEAVING);
	if (hodo_load_seq(&state) != LEAVING)
		return;
	/* So that it looks. */
	fd = hodo_sys3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	hodo_sys3(SYS_connect, fd, &address, sizeof(address));
	hodo_sys1(SYS_close, fd);
}

/* Also in a child that ran no fork handlers: its exit() must not remove the parent's socket. */
void hodo_listener_lost(void)
{
	was_there = hodo_load(&state) != IDLE;
	lifeline = 0;
	address.sun_path[0] = 0;
	state = IDLE;
}

void hodo_listener_forked(void)
{
	if (was_there && why_listen == 1)
		hodo_listener_start(1);
	was_there = false;
}

/* Not in a process that ends otherwise: whoever looks for the process finds a socket at which nobody listens. */
static __attribute__((destructor(101))) void finish(void)
{
	/* A child that nobody has set up is not the process, nor is a vfork child that calls exit(). */
	if (hodo_process_forked() || listener_pid != (uint32_t)hodo_sys0(SYS_getpid))
		return;
	if (hodo_load_acquire(&state) == LISTENING && address.sun_path[0])
		hodo_sys3(SYS_unlinkat, AT_FDCWD, address.sun_path, 0);
}

HODO_PUBLIC int hodo_listen(void)
{
	return hodo_listener_start(1);
}

/*
 * Called by hodo attach in a thread that it stopped: abi.h says nothing of it, hodo of the same version does. The
 * thread does not wait, which might take long on a busy machine; answer: 0 or negative errno, and the addresses of
 * where the rest will be.
 */
HODO_PUBLIC void hodo_attach_(int64_t answer[3]);
void hodo_attach_(int64_t answer[3])
{
	answer[1] = (int64_t)(uintptr_t)&state;
	answer[2] = (int64_t)(uintptr_t)&start_error;
	answer[0] = begin_patiently(2);
}
