/* SPDX-License-Identifier: MIT */
#include "control.h"

#include <errno.h>
#include <sys/socket.h>

#include <base/scope.h>

#include <record/ring/lend.h>
#include "joining.h"
#include "planning.h"
#include "socket.h"

/* The next-th recorded process, the kernel excluded; of those with that pid, unless pid is 0. NULL: no more. */
static const struct hodo_process *find_process(const struct hodo_recorder *s, pid_t pid, uint32_t next)
{
	for (const struct hodo_process *p = s->processes; p; p = p->next)
		if (!p->kernel && (pid == 0 || p->id.pid == pid) && next-- == 0)
			return p;
	return NULL;
}

/* The lists belong to the planner while it makes a plan. */
static int change_probes(struct hodo_recorder *s, const struct hodo_msg_control *m, struct hodo_msg_answer *a)
{
	struct hodo_planner *planner = s->config.planner;
	int err;

	if (!planner)
		return -EOPNOTSUPP;
	if (m->pid && !find_process(s, (pid_t)m->pid, 0))
		return -ENOENT;
	if (hodo_planning_busy(s))
		return -EAGAIN;
	if (m->op == HODO_CONTROL_PROBE_LIST)
		return hodo_planner_name_probe(planner, m->next, a->path, sizeof(a->path));
	if (m->op == HODO_CONTROL_PROBE_REMOVE)
		return hodo_planner_remove_probe(planner, m->text);
	err = hodo_planner_add_probe(planner, m->text);
	s->config.plans |= !err;
	return err;
}

static int name_process(const struct hodo_recorder *s, const struct hodo_msg_control *m, struct hodo_msg_answer *a)
{
	const struct hodo_process *p = find_process(s, (pid_t)m->pid, m->next);

	a->pid = p ? (uint32_t)p->id.pid : 0;
	return p ? 0 : -ENOENT;
}

static int give_memory(const struct hodo_recorder *s, const struct hodo_msg_control *m, struct hodo_msg_answer *a)
{
	const struct hodo_process *p = find_process(s, (pid_t)m->pid, m->next);

	return p ? hodo_lend(s, p, a) : -ENOENT;
}

/* Returns the result; for memory also its descriptor. */
static int take(struct hodo_recorder *s, const struct hodo_msg_control *m, struct hodo_msg_answer *a, int *passed)
{
	int result;

	switch (m->op) {
	case HODO_CONTROL_MEMORY:
		*passed = give_memory(s, m, a);
		result = *passed;
		result = result < 0 ? result : 0;
		break;
	case HODO_CONTROL_PROBE_ADD:
	case HODO_CONTROL_PROBE_REMOVE:
	case HODO_CONTROL_PROBE_LIST:
		result = change_probes(s, m, a);
		break;
	case HODO_CONTROL_PROCESS:
		result = name_process(s, m, a);
		break;
	default:
		return -EINVAL;
	}
	/* Its buffers may be about to come. */
	if (result == -ENOENT && m->pid && !find_process(s, (pid_t)m->pid, 0) &&
	    hodo_joining_has(s, (pid_t)m->pid))
		return -EAGAIN;
	return result;
}

int hodo_control_serve(struct hodo_recorder *s, int fd)
{
	struct hodo_msg_answer a = {
		.head = { HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_ANSWER }, .by = HODO_BY_RECORDER,
		.recorder = (uint32_t)getpid(),
	};
	struct hodo_msg_control m;
	ssize_t n = recv(fd, &m, sizeof(m.head), MSG_PEEK | MSG_DONTWAIT);
	HODO_AUTO_CLOSE int passed = -1;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return -EAGAIN;
	if (n != (ssize_t)sizeof(m.head) || m.head.magic != HODO_MSG_MAGIC || m.head.type != HODO_MSG_CONTROL)
		return 0;
	n = recv(fd, &m, sizeof(m), MSG_DONTWAIT | MSG_TRUNC);
	if (n != (ssize_t)sizeof(m) || m.head.version != HODO_ABI_VERSION)
		return 1;
	m.text[sizeof(m.text) - 1] = 0;
	a.result = take(s, &m, &a, &passed);
	socket_send(fd, &a, sizeof(a), passed); /* if it fails, the client has exited */
	return 1;
}
