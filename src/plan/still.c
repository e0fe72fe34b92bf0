/* SPDX-License-Identifier: MIT */
/*
 * still.c - prepares a process with threads for patching: replaces its system calls that set signal
 * masks while all threads are stopped, and unblocks the signals of traps in all of them
 * (docs/design/engine.md).
 */
#include "planner.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <attach/attach.h>
#include <base/scope.h>
#include <base/vec.h>
#include <hodo/abi_plan.h>

#include "report.h"

struct writes {
	struct hodo_attach_write *list;
	struct hodo_attach_move *moves;
	uint32_t n, nmoves;
};

static const void *table(const struct hodo_plan *plan, const struct hodo_plan_table *t)
{
	return (const char *)plan + t->offset;
}

/* The plan is our own: src/probe/patch made it, and it is sealed. */
static int collect(const struct hodo_plan *plan, struct writes *w)
{
	const struct hodo_plan_window *windows = table(plan, &plan->windows);
	const struct hodo_plan_trap *traps = table(plan, &plan->traps);
	uint32_t trap = 0;

	for (uint32_t i = 0; i < plan->windows.n; i++) {
		struct hodo_attach_write write = { .addr = windows[i].addr, .len = sizeof(windows[i].jump) };

		memcpy(write.bytes, windows[i].jump, sizeof(windows[i].jump));
		if (!(windows[i].flags & HODO_PLAN_ALWAYS))
			continue;
		if (hodo_vec_push(w->list, w->n, write) < 0)
			return -ENOMEM;
		while (trap < plan->traps.n && traps[trap].from <= write.addr)
			trap++;
		for (; trap < plan->traps.n && traps[trap].from < write.addr + windows[i].len; trap++) {
			const struct hodo_attach_move move = { traps[trap].from, traps[trap].to };

			if (hodo_vec_push(w->moves, w->nmoves, move) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

int hodo_planner_still(const struct hodo_planner *p, pid_t pid, int pidfd, int plan)
{
	const uint64_t signals = 1ull << (SIGTRAP - 1) | 1ull << (SIGILL - 1);
	struct writes w = { 0 };
	struct hodo_why why = { "" };
	struct stat st;
	void *map;
	int err;

	if (fstat(plan, &st) < 0)
		return -errno;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, plan, 0);
	if (map == MAP_FAILED)
		return -errno;
	err = collect(map, &w);
	if (!err)
		err = hodo_attach_still(pid, pidfd,
					&(struct hodo_attach_still){ w.list, w.moves, w.n, w.nmoves, signals }, NULL,
					&why);
	if (err)
		hodo_plan_warn(&p->reporter, "process %d: functions that were not built for tracing are not traced: %s",
			       (int)pid, why.text[0] ? why.text : strerror(-err));
	munmap(map, (size_t)st.st_size);
	free(w.list);
	free(w.moves);
	return err;
}
