/* SPDX-License-Identifier: MIT */
/* fake_plan.c - says what it likes in the conversation about a plan (hodo/abi_plan.h). */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <hodo/abi_plan.h>

#include "fake.h"

#define FLOOD 100000

static const struct hodo_msg ask = { HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_PLAN };

static struct hodo_msg_planned planned(int32_t result)
{
	struct hodo_msg_planned m = { .head = { HODO_MSG_MAGIC, HODO_ABI_VERSION, HODO_MSG_PLANNED } };

	m.result = result;
	return m;
}

static int greet(void)
{
	int fd = connect_recorder();

	if (!say_hello(fd))
		die("hello");
	return fd;
}

static void get_plan(int fd)
{
	struct hodo_msg_plan m;

	if (send(fd, &ask, sizeof(ask), MSG_NOSIGNAL) != (ssize_t)sizeof(ask) || recv(fd, &m, sizeof(m), 0) <= 0)
		die("plan");
}

/* Reports the plan's result again and again. */
void plan_flood(uint64_t n)
{
	struct hodo_msg_planned m = planned(-ENOMEM);
	int fd = greet();

	(void)n;
	get_plan(fd);
	for (int i = 0; i < FLOOD && send(fd, &m, sizeof(m), MSG_NOSIGNAL) > 0; i++)
		;
	wait_hangup(fd);
}

/* Reports on a plan that nobody has sent; with -EINPROGRESS it asks the recorder to stop its threads. */
void plan_unasked(uint64_t n)
{
	struct hodo_msg_planned m = planned(n ? -EINPROGRESS : -ENOMEM);
	int fd = greet();

	send(fd, &m, sizeof(m), MSG_NOSIGNAL);
	wait_hangup(fd);
}

void plan_again(uint64_t n)
{
	struct hodo_msg_plan m;
	int fd = greet();

	(void)n;
	while (send(fd, &ask, sizeof(ask), MSG_NOSIGNAL) > 0 && recv(fd, &m, sizeof(m), 0) > 0)
		;
	wait_hangup(fd);
}

/* Asks for its threads to be stopped a second time. */
void plan_still(uint64_t n)
{
	struct hodo_msg_planned m = planned(-EINPROGRESS);
	struct hodo_msg_plan answer;
	int fd = greet();

	(void)n;
	get_plan(fd);
	send(fd, &m, sizeof(m), MSG_NOSIGNAL);
	recv(fd, &answer, sizeof(answer), 0);
	send(fd, &m, sizeof(m), MSG_NOSIGNAL);
	wait_hangup(fd);
}

void plan_short(uint64_t n)
{
	struct hodo_msg_planned m = planned(0);
	int fd = greet();

	(void)n;
	get_plan(fd);
	send(fd, &m, sizeof(m) - 1, MSG_NOSIGNAL);
	wait_hangup(fd);
}

/* The message carries a descriptor, which it must not. */
void plan_descriptor(uint64_t n)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { (void *)&ask, sizeof(ask) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	int fd = greet(), ends[2];

	(void)n;
	if (pipe(ends) < 0)
		die("pipe");
	control.align = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
					  .cmsg_len = CMSG_LEN(sizeof(int)) };
	memcpy(CMSG_DATA(&control.align), ends, sizeof(int));
	sendmsg(fd, &msg, MSG_NOSIGNAL);
	wait_hangup(fd);
}

/* Executes another program, an honest one, in the middle of the conversation. */
void plan_exec(uint64_t n)
{
	(void)n;
	get_plan(greet());
	execl("/proc/self/exe", "fake", "honest", "10", NULL);
	die("exec");
}

void plan_leave(uint64_t n)
{
	(void)n;
	get_plan(greet());
}
