/* SPDX-License-Identifier: MIT */
/* guard.c - names the processes whose semaphores may be raised to the recording's guard: HODO_WANTS_GUARD. */
#include "process.h"
#include <record/ring/shm.h>

void hodo_process_guard(struct hodo_process *p)
{
	const struct hodo_recorder_config *config = &p->recorder->config;

	/* An attached process notices by its connection. */
	if (p->guarded || !config->ops.guard || p->kernel || p->id.nested || p->id.flight.start == HODO_START_ATTACH ||
	    !(hodo_shm_load32(&((const struct hodo_shm *)p->shm)->wants) & HODO_WANTS_GUARD))
		return;
	p->guarded = true;
	config->ops.guard(config->arg, p->id.pid);
}
