/* SPDX-License-Identifier: MIT */
/* record_realtime.c - hodo record --realtime: how the recorder is scheduled. */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>

#include <cli/cli.h>
#include "record_options.h"

#define NICER 10 /* less nice than who is recorded: beside busy programs it runs before the buffers are full */

static int set(uint32_t priority)
{
	return sched_setscheduler(0, SCHED_RR, &(struct sched_param){ .sched_priority = (int)priority });
}

/* Before the command is started, whose scheduling must not change: tried, then undone. */
int hodo_realtime_check(uint32_t priority)
{
	int policy = sched_getscheduler(0);
	struct sched_param own;

	if (!priority)
		return 0;
	if (policy < 0 || sched_getparam(0, &own) < 0 || set(priority) < 0)
		return hodo_error("--realtime: %s: it takes root, CAP_SYS_NICE, or at least 'ulimit -r %u'",
				  strerror(errno),
				  priority);
	sched_setscheduler(0, policy, &own);
	return 0;
}

/* Does not affect the command, which has been started. If it is not allowed, the recorder keeps its nice
 * value. */
void hodo_realtime_begin(uint32_t priority)
{
	int nice;

	if (priority && set(priority) == 0)
		return;
	errno = 0;
	nice = getpriority(PRIO_PROCESS, 0);
	if (errno == 0)
		setpriority(PRIO_PROCESS, 0, nice - NICER);
}
