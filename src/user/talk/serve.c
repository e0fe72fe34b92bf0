/* SPDX-License-Identifier: MIT */
/*
 * serve.c - the thread that listens: its clients, and their requests (abi.h, section 4).
 *
 * It has its own descriptor table (close_range(2) with CLOSE_RANGE_UNSHARE): the program neither sees its
 * socket nor closes it by closefrom(3), and a pipe's end that the program closes is really closed. It blocks
 * all signals that can be blocked.
 *
 *                 | listener | control.h's callers | fork
 *   listener      | one      | control lock, state | control lock: never in the middle of a recording's change
 *
 * Everything on the socket comes from the same user or root, but is checked anyway: a malformed message ends
 * its connection.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include "listen.h"
#include <user/objects/opened.h>
#include <user/libc/sys.h>
#include <user/ring/wait.h>
#include <user/flight/flight.h>
#include <user/libc/libc.h>
#include <user/objects/objects.h>
#include <user/process/process.h>
#include "talk.h"

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#define TICK_NS 100000000 /* how often to check for a recording that ended otherwise */

static struct pollfd watched[1 + HODO_LISTENER_CLIENTS]; /* 0: the listening socket; then clients */
static int lifeline; /* the client that records us: its descriptor; 0: none */

/* ------------------------------------------------------------------- answers */

/* A recording that its recorder has ended, as --duration does, is over: the next one replaces it. */
static bool is_recorded(void)
{
	return hodo_recording.on && !hodo_load(&hodo_shm()->stopped);
}

/* passed: a descriptor to send along, or -1. */
static bool send_answer(int fd, int result, int passed)
{
	struct hodo_msg_answer a = { .head = { HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_ANSWER }, .result = result };

	a.pid = (uint32_t)hodo_sys0(SYS_getpid);
	a.by = is_recorded() ? hodo_recording.by : HODO_BY_NOBODY;
	a.recorder = is_recorded() ? hodo_recording.recorder : 0;
	a.events = hodo_nevents;
	a.listens = hodo_listener.why;
	if (a.by == HODO_BY_FLIGHT)
		hodo_fixed_text_add(a.path, sizeof(a.path), hodo_flight_path());
	return hodo_sys_socket_send(fd, &a, sizeof(a), passed) == sizeof(a);
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
	if (fd >= 0 && (hodo_sys_file_write(fd, states, sizeof(states), 0) ||
			hodo_sys_file_write(fd, catalog, len, sizeof(states)))) {
		hodo_sys1(SYS_close, fd);
		return -ENOSPC;
	}
	return fd;
}

/* ------------------------------------------------------------------ requests */

/* A recorder made the recording; without a lifeline, the one that started us. */
static bool has_recorder(void)
{
	return hodo_recording.on && hodo_recording.by == HODO_BY_RECORDER;
}

static void close_client(struct pollfd *w)
{
	hodo_sys1(SYS_close, w->fd);
	w->fd = -1;
	w->revents = 0;
}

static void close_lifeline(void)
{
	for (unsigned i = 1; lifeline && i <= HODO_LISTENER_CLIENTS; i++) {
		if (watched[i].fd == lifeline)
			close_client(&watched[i]);
	}
	lifeline = 0;
}

/* Ends a recording that stands in the way and whose recorder is gone. */
static int make_room(void)
{
	int error = hodo_recording_possible();

	if (error == -EBUSY && hodo_recording.by == HODO_BY_FLIGHT) {
		error = hodo_recording_end();
		hodo_flight_wanted = true; /* it only makes room: it may begin again later */
	} else if (error == -EBUSY && !lifeline && (!is_recorded() || hodo_session_dead())) {
		error = hodo_recording_end();
	}
	return error;
}

static void record(int fd, const char *join)
{
	int error = make_room();
	uint32_t pid, uid;

	if (!error)
		close_lifeline(); /* of a recording that the program ended */
	if (!send_answer(fd, error, -1) && !error)
		error = -EPIPE;
	else if (error)
		return;
	hodo_sys_socket_peer(fd, &pid, &uid); /* pid 0: in another pid namespace */
	if (!error)
		error = hodo_session_converse(fd, HODO_START_ATTACH, pid);
	/* The program may have begun its own while the recorder was preparing. */
	if (error && !has_recorder()) {
		hodo_sys2(SYS_shutdown, fd, SHUT_RDWR);
		if (!hodo_recording.on)
			hodo_flight_begin(HODO_START_EXEC);
		return;
	}
	hodo_session_join(join);
	lifeline = fd;
	if (!error)
		hodo_opened(); /* since its plan was asked for */
}

/* Also of a recording that has ended otherwise: the recorder notices when the connection closes. */
static int end_recording(void)
{
	int error = hodo_recording_end();

	close_lifeline();
	hodo_session_join("");
	/* Resumes the flight recorder that the program always has. */
	if (error == 0)
		hodo_flight_begin(HODO_START_EXEC);
	return error;
}

/* Whether the thread must end, and nobody wants it back. */
static bool leaves(void)
{
	uint32_t leaving = HODO_LISTENER_LEAVES;

	return hodo_cas_seq(&hodo_listener.state, &leaving, HODO_LISTENER_CLOSES);
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
	case HODO_CONTROL_REPLAN:
		result = hodo_planned_anew();
		break;
	case HODO_CONTROL_LEAVE:
		if (hodo_load_seq(&hodo_listener.why) == HODO_LISTENS_MADE) {
			/* The order matters: see begin_listening() in listen.c. */
			hodo_store_seq(&hodo_listener.state, HODO_LISTENER_LEAVES);
			if (hodo_load_seq(&hodo_listener.why) != HODO_LISTENS_MADE)
				hodo_store_seq(&hodo_listener.state, HODO_LISTENER_LISTENS);
		}
		/* fall through */
	case HODO_CONTROL_END:
		result = end_recording();
		/* A client that comes after the answer must not find a socket that is about to close. */
		if (leaves())
			hodo_listener_remove();
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
	uint32_t pid, uid;

	return hodo_sys_socket_peer(fd, &pid, &uid) && (uid == 0 || uid == (uint32_t)hodo_sys0(SYS_geteuid));
}

static void accept_client(void)
{
	long fd = hodo_sys4(SYS_accept4, watched[0].fd, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0) {
		if (fd != -EAGAIN && fd != -EINTR && fd != -ECONNABORTED)
			hodo_sleep_ns(TICK_NS); /* no descriptor or memory is to be had: what waits waits on */
		return;
	}
	for (unsigned i = 1; is_allowed((int)fd) && i <= HODO_LISTENER_CLIENTS; i++) {
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
	} else { /* the program has ended it and begun its own */
		close_lifeline();
		hodo_session_join("");
	}
	hodo_control_unlock(mask);
}

static void serve_all(void)
{
	while (hodo_load_seq(&hodo_listener.state) != HODO_LISTENER_CLOSES && !leaves()) {
		struct timespec timeout = { 0, TICK_NS };
		unsigned used = 1 + HODO_LISTENER_CLIENTS;
		long n;

		while (used > 1 && watched[used - 1].fd < 0) /* it refuses more than RLIMIT_NOFILE */
			used--;
		n = hodo_sys6(SYS_ppoll, (long)watched, used, lifeline ? (long)&timeout : 0, 0, 0, 0);
		if (n < 0) {
			if (n != -EINTR)
				hodo_sleep_ns(TICK_NS); /* no descriptor or memory is to be had: what waits waits on */
			continue;
		}
		for (unsigned i = 1; i <= HODO_LISTENER_CLIENTS; i++) {
			struct pollfd *w = &watched[i];

			if (w->fd < 0 || !w->revents || serve(w->fd))
				continue;
			if (w->fd == lifeline)
				end_locked();
			else
				close_client(w);
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
	hodo_listener_remove();
	for (unsigned i = 0; i <= HODO_LISTENER_CLIENTS; i++) {
		if (watched[i].fd >= 0)
			hodo_sys1(SYS_close, watched[i].fd);
	}
}

/* Does what takes time here, not where the program waits. */
static void get_ready(void)
{
	uint64_t mask = hodo_control_lock();

	hodo_patch_register();
	hodo_objects_scan_once();
	hodo_control_unlock(mask);
	hodo_functions_load_copy();
}

void *hodo_listener_run(void *unused)
{
	long fd = hodo_sys3(SYS_close_range, 0, ~0u, CLOSE_RANGE_UNSHARE);

	lifeline = 0;
	hodo_listener.pid = (uint32_t)hodo_sys0(SYS_getpid);
	hodo_listener.tid = hodo_gettid();
	hodo_wait_never(hodo_listener.tid);
	for (unsigned i = 0; i <= HODO_LISTENER_CLIENTS; i++)
		watched[i] = (struct pollfd){ -1, POLLIN, 0 };
	hodo_sys2(SYS_prctl, 15 /* PR_SET_NAME */, "hodo");
	if (fd == 0) {
		/* Keep 0 to 2 free of sockets: code that writes to them by mistake must not reach one. */
		for (int i = 0; i < 3; i++)
			hodo_sys4(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0);
		fd = hodo_listener_bind();
	} else {
		fd = -EPERM;
	}
	watched[0].fd = fd < 0 ? -1 : (int)fd;
	hodo_listener.error = fd < 0 ? (int)fd : 0;
	hodo_store_release(&hodo_listener.state, fd < 0 ? HODO_LISTENER_NONE : HODO_LISTENER_LISTENS);
	if (fd < 0)
		return 0;
	get_ready();
	serve_all();
	close_all();
	hodo_store_release(&hodo_listener.state, HODO_LISTENER_NONE);
	return 0;
}
