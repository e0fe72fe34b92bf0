/* SPDX-License-Identifier: MIT */
/*
 * connection.c - one process that joins a recording.
 *
 * It waits for one answer, its configuration, but not for what follows: making its folder takes much longer,
 * and is done when nobody waits. Images of one process follow each other by exec: an image has sent
 * everything before the next one says hello.
 */
#include "connection.h"
#include <record/process_impl.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <hodo/abi_plan.h>

#include <base/scope.h>

#include "images.h"
#include "no_buffers.h"
#include "second_socket.h"
#include "control.h"
#include "planning.h"
#include <proc/process.h>
#include "socket.h"

#define PROCESSES_MAX 8192u /* recorded at once */
#define UNANSWERED "it left before it was answered: the recorder was too busy"
#define TOO_MANY_FILES "the recorder has too many open files: raise the limit (ulimit -Hn)"

void hodo_connection_refuse(struct hodo_connection *c, const char *why)
{
	c->recorder->second_socket.refused += c->stranger;
	if (!c->opened)
		hodo_unrecorded_add(c->recorder, c->id.pid, why);
	hodo_joining_drop(c);
}

/* ------------------------------------------------------------------ hello */

/* The process at the other end of the connection, as a handle that stays the same process. */
static int open_pidfd(const struct hodo_connection *c)
{
	int fd;

	do {
		fd = socket_peer(c->fd);
		if (fd == -ENOPROTOOPT) {
			fd = (int)syscall(SYS_pidfd_open, c->id.pid, 0);
			fd = fd < 0 ? -errno : fd;
		}
	} while (hodo_recorder_free_files(c->recorder, fd));
	return fd;
}

static void take_identity(struct hodo_connection *c, const struct hodo_msg_hello *h)
{
	struct hodo_flight *f = &c->id.flight;
	struct hodo_proc_status status;
	char path[32], comm[sizeof(f->comm) + 1];
	ssize_t len;

	/* Its pid in its own pid namespace. */
	c->id.vpid = hodo_proc_status(c->id.pid, &status) == 0 ? status.vpid : (uint32_t)c->id.pid;
	c->id.nested = status.nested;
	c->id.other_root = hodo_proc_other_root(c->id.pid);
	if (c->id.other_root && c->recorder->config.roots)
		hodo_roots_add(c->recorder->config.roots, c->id.pid);
	hodo_config_describe(c->recorder, (uint64_t)c->id.pid << 32 | c->recorder->total.processes, f);
	f->uid = c->uid;
	f->ppid = h->ppid;
	f->start = c->adopted ? HODO_START_ATTACH : h->start == HODO_START_FORK ? HODO_START_FORK : HODO_START_EXEC;
	memcpy(f->comm, h->comm, sizeof(f->comm) - 1);
	/* The thread that listens has its own name. */
	if (c->adopted && hodo_proc_file(c->id.pid, "comm", comm, sizeof(comm)) > 0)
		memcpy(f->comm, comm, sizeof(f->comm));
	memcpy(f->exe, h->exe, sizeof(f->exe) - 1);
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)c->id.pid);
	len = readlink(path, f->exe, sizeof(f->exe) - 1);
	if (len > 0)
		f->exe[len] = 0;
}

static bool send_config(struct hodo_connection *c)
{
	const struct hodo_recorder_config *config = &c->recorder->config;
	struct hodo_msg_config m;
	size_t len = hodo_config_make(c->recorder, config->patterns, c->id.flight.uuid, config->context, false, &m);

	return send(c->fd, &m, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len;
}

/* It waits for two seconds and then continues: further work for it would only delay others. */
static bool has_left(const struct hodo_connection *c)
{
	struct pollfd p = { .fd = c->fd };

	return poll(&p, 1, 0) > 0 && p.revents & POLLHUP;
}

/* A new image of a process: the earlier ones ended with exec, and all they sent is there. */
static void supersede(struct hodo_connection *c)
{
	struct hodo_process *earlier = hodo_process_find(c->recorder, c->id.pid);

	hodo_joining_supersede(c);
	if (earlier)
		earlier->superseded = true;
}

/* It counts as recorded, though its buffers may not have been read yet. */
static void settle(struct hodo_connection *c)
{
	struct hodo_connection *ready = hodo_joining_ready(c);

	if (ready)
		hodo_connection_start(ready);
}

/* For our own user, and root: other users' processes, which root records, must not see what others write. */
static int serve_others(const struct hodo_connection *c)
{
	if (c->adopted || c->stranger || (c->uid != 0 && c->uid != geteuid()))
		return 0;
	return hodo_control_serve(c->recorder, c->fd);
}

/* The program that it is about to be finds no libhodo in its root directory. Nothing is recorded here. */
static void give_libraries(struct hodo_connection *c)
{
	const struct hodo_recorder_config *config = &c->recorder->config;
	struct hodo_msg_libraries m = { .head = { HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_LIBRARIES },
					.key = c->recorder->second_socket.answer_key };

	m.result = config->ops.copy ? config->ops.copy(config->arg, c->id.pid, m.paths, sizeof(m.paths)) : -EOPNOTSUPP;
	socket_send(c->fd, &m, sizeof(m), -1); /* a process that does not take it has gone on without */
	hodo_joining_drop(c);
}

static void take_hello(struct hodo_connection *c)
{
	struct hodo_msg_hello h;
	ssize_t len;
	int asked = serve_others(c);

	if (asked) {
		if (asked > 0)
			hodo_joining_drop(c);
		return;
	}
	/* MSG_TRUNC: returns the real length. Descriptors sent along are dropped by the kernel. */
	len = recv(c->fd, &h, sizeof(h), MSG_DONTWAIT | MSG_TRUNC);
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (!hodo_second_socket_admit(c, &h, len))
		hodo_connection_refuse(c, "it does not have the recording's key: it may be another user's");
	else if (len != (ssize_t)sizeof(h) || h.head.magic != HODO_MSG_MAGIC || h.head.type != HODO_MSG_HELLO)
		hodo_connection_refuse(c, len <= 0 ? "it left before it said hello" : "it does not speak "
				       "Hodoscope's protocol");
	else if (h.head.version != HODO_ABI_VERSION)
		hodo_connection_refuse(c, "its libhodo is another version: set HODO_LIBRARY to the one that "
				       "came with this hodo");
	else if (has_left(c))
		hodo_connection_refuse(c, UNANSWERED);
	else if (h.start == HODO_START_ROOT)
		give_libraries(c);
	else if (c->pidfd < 0 && (c->pidfd = open_pidfd(c)) < 0)
		hodo_connection_refuse(c, c->pidfd == -EMFILE || c->pidfd == -ENFILE ? TOO_MANY_FILES : "it is gone");
	else if (hodo_recorder_choose_clock(c->recorder, h.tsc == 1) < 0)
		hodo_connection_refuse(c, "it cannot read the time-stamp counter: record with --clock monotonic");
	else {
		c->opened = h.start == HODO_START_OPENED;
		take_identity(c, &h);
		if (c->opened)
			settle(c);
		else
			supersede(c);
		if (!send_config(c)) {
			hodo_connection_refuse(c, UNANSWERED);
			return;
		}
		c->state = HODO_JOINING_GREETED;
		c->deadline_ns = hodo_now_ns() + HODO_HELLO_TIMEOUT_MS * 1000000ll;
	}
}

/* ------------------------------------------------------------------ ready */

/* The alternative messages. */
union handover {
	struct hodo_msg_ready ready;
	struct hodo_msg_failed failed;
	struct hodo_msg_ask ask;
	struct hodo_msg_planned planned;
};

/* why: room for a text from the process. */
static const char *ready_flaw(const union handover *h, ssize_t len, int passed, struct hodo_why *why)
{
	const struct hodo_msg_ready *m = &h->ready;

	if (len == 0)
		return "it left before it handed over its buffers";
	if (len == -EMFILE)
		return TOO_MANY_FILES;
	if (len < 0 && len != -EMSGSIZE && len != -EPROTO)
		return strerror((int)-len);
	if (len == (ssize_t)sizeof(h->failed) && m->head.magic == HODO_MSG_MAGIC &&
	    m->head.version == HODO_ABI_VERSION && m->head.type == HODO_MSG_FAILED)
		return hodo_no_buffers_why(&h->failed, why);
	if (len != -EPROTO && (len != (ssize_t)sizeof(*m) || m->head.magic != HODO_MSG_MAGIC ||
			       m->head.version != HODO_ABI_VERSION || m->head.type != HODO_MSG_READY))
		return "it does not speak Hodoscope's protocol";
	return passed < 0 ? "it did not send exactly one buffer" : NULL;
}

/* The plan that it waits for is ready: a descriptor, or negative. load: the libraries to load first. */
static void send_plan(struct hodo_connection *c, int plan, const char *load)
{
	struct hodo_msg_plan m = { .head = { HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_PLAN } };
	size_t len = strlen(load);

	memcpy(m.load, load, len + 1);
	c->plan = plan < 0 ? -1 : plan;
	c->due = len == 0;
	c->loaded |= len > 0;
	c->deadline_ns = hodo_now_ns() + HODO_PLAN_TIMEOUT_MS * 1000000ll;
	len = len ? offsetof(struct hodo_msg_plan, load) + len + 1 : sizeof(m.head);
	if (socket_send(c->fd, &m, len, c->plan) < 0)
		hodo_connection_refuse(c, UNANSWERED);
}

static bool is_ask(const struct hodo_msg_ask *m, ssize_t len)
{
	size_t bytes = offsetof(struct hodo_msg_ask, object);

	return len == (ssize_t)sizeof(m->head) ||
	       (len >= (ssize_t)bytes && m->n <= HODO_PLAN_OBJECTS_MAX &&
		(size_t)len == bytes + m->n * sizeof(m->object[0]));
}

/*
 * Requested before it sends its buffers: it is not recorded meanwhile. Or for libraries that it has opened
 * since.
 */
static void make_plan(struct hodo_connection *c, const struct hodo_msg_ask *m, ssize_t len)
{
	const struct hodo_process *p = c->opened ? hodo_process_find(c->recorder, c->id.pid) : NULL;
	struct hodo_plan_request r = { .pid = c->id.pid, .came = p ? p->adopted : c->adopted,
				       .starts = !c->opened && c->id.flight.start == HODO_START_EXEC };

	r.loads = !r.starts && !c->loaded;
	if (c->stood || c->plans++ == HODO_PLAN_TRIES) {
		hodo_connection_refuse(c, UNANSWERED);
		return;
	}
	hodo_close(c->plan);
	c->plan = -1;
	if (len > (ssize_t)sizeof(m->head)) {
		r.n = m->n;
		memcpy(r.object, m->object, m->n * sizeof(m->object[0]));
	}
	c->deadline_ns = hodo_now_ns() + HODO_PLAN_TIMEOUT_MS * 1000000ll;
	hodo_planning_forget(c->recorder, c);
	if (!c->recorder->config.planner || (c->opened && !p) || hodo_planning_ask(c->recorder, &r, c, send_plan) < 0)
		send_plan(c, -1, "");
}

/* It has taken the plan, and asks to have its threads stopped. It sees the result itself, and reports it. */
static void keep_still(struct hodo_connection *c)
{
	const struct hodo_planner *planner = c->recorder->config.planner;
	const struct hodo_msg m = { HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_PLAN };

	if (planner && c->plan >= 0 && !c->stood)
		hodo_planner_still(planner, c->id.pid, c->pidfd, c->plan);
	c->deadline_ns = hodo_now_ns() + HODO_PLAN_TIMEOUT_MS * 1000000ll;
	if (c->stood || socket_send(c->fd, &m, sizeof(m), -1) < 0)
		hodo_connection_refuse(c, UNANSWERED);
	else
		c->stood = true;
}

/* Why a process has not taken its plan. */
static const char *plan_flaw(int err)
{
	switch (err) {
	case -EBUSY:
		return "its threads could not be stopped";
	case -ENOSYS:
		return "this kernel has no membarrier(2) for code, or this processor does not allow code to "
		       "change while it runs";
	case -EFAULT:
	case -EEXIST:
		return "its code or memory map changed in the meantime";
	case -ENOSPC:
		return "it was recorded too often";
	default:
		return err > -4096 ? strerror(-err) : "it does not speak Hodoscope's protocol";
	}
}

/* The plan that it has not taken is for functions, probes, or both. */
static void report_flaw(const struct hodo_connection *c, int err)
{
	const struct hodo_recorder_config *config = &c->recorder->config;
	const char *what = config->functions && config->functions->tracers ?
			   "functions that were not built for tracing are not traced" : "its probes are not set";

	/* It reads its own memory as a file. */
	if (err == -ENOENT)
		hodo_report(&config->reporter, "%s[%d]: %s: it has no /proc in its root directory: mount that there, for "
			    "example by 'mount -t proc proc DIR/proc', and record again",
			    c->id.flight.comm, (int)c->id.pid, what);
	else
		hodo_report(&config->reporter, "%s[%d]: %s: %s", c->id.flight.comm, (int)c->id.pid, what,
			    plan_flaw(err));
}

static void take_planned(struct hodo_connection *c, const struct hodo_msg_planned *m)
{
	if (!c->due) {
		hodo_connection_refuse(c, "it does not speak Hodoscope's protocol");
		return;
	}
	c->due = m->result == -EINPROGRESS;
	if (c->due)
		keep_still(c);
	else if (m->result < 0 && (m->result != -EEXIST || c->plans == HODO_PLAN_TRIES))
		report_flaw(c, m->result);
}

/* Handles messages that precede its buffers. False: it is something else. */
static bool take_early(struct hodo_connection *c, const union handover *m, ssize_t len)
{
	const struct hodo_msg *head = &m->ask.head;

	if (len < (ssize_t)sizeof(*head) || head->magic != HODO_MSG_MAGIC || head->version != HODO_ABI_VERSION)
		return false;
	if (head->type == HODO_MSG_PLAN && is_ask(&m->ask, len))
		make_plan(c, &m->ask, len);
	else if (head->type == HODO_MSG_PLANNED && len == sizeof(m->planned))
		take_planned(c, &m->planned);
	else
		return false;
	return true;
}

static void take_ready(struct hodo_connection *c)
{
	union handover m;
	struct hodo_why text;
	HODO_AUTO_CLOSE int memfd = -1;
	ssize_t len = socket_receive(c->fd, &m, sizeof(m), &memfd);
	const char *why;

	if (len == -EAGAIN || len == -EINTR || (memfd < 0 && take_early(c, &m, len)))
		return;
	why = c->opened ? UNANSWERED : ready_flaw(&m, len, memfd, &text);
	if (why) {
		hodo_connection_refuse(c, why);
		return;
	}
	c->memfd = hodo_take_fd(&memfd);
	c->state = HODO_JOINING_READY;
	/* The next message on a connection that stays is the process's. */
	hodo_joining_unwatch(c->recorder, c->fd);
	if (!c->adopted)
		close(hodo_take_fd(&c->fd));
}

void hodo_connection_take(struct hodo_connection *c)
{
	if (c->state == HODO_JOINING_SILENT)
		take_hello(c);
	else if (c->state == HODO_JOINING_GREETED)
		take_ready(c);
}

/* Keeps the connection until the recording of the process ends. */
static void keep(struct hodo_connection *c, struct hodo_process *p)
{
	int err = hodo_adopt(p, hodo_take_fd(&c->fd));

	if (err < 0) {
		hodo_report(&c->recorder->config.reporter, "process %d is not recorded: %s", (int)p->id.pid,
			    strerror(-err));
		hodo_process_finish(p, true);
	}
}

void hodo_connection_start(struct hodo_connection *c)
{
	struct hodo_recorder *s = c->recorder;
	const char *why = "there are too many";

	/* From here on, the process owns both descriptors, even on failure. */
	if (s->live >= PROCESSES_MAX ||
	    hodo_process_start(s, &c->id, hodo_take_fd(&c->pidfd), hodo_take_fd(&c->memfd), &why) < 0) {
		hodo_connection_refuse(c, why);
		return;
	}
	s->processes->superseded = c->superseded;
	if (c->adopted)
		keep(c, s->processes);
	hodo_joining_drop(c);
}
