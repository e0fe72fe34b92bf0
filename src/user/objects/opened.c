/* SPDX-License-Identifier: MIT */
/*
 * opened.c - asks the recorder for another plan when a recorded program opens libraries whose code may be
 * patched (hodo/abi_plan.h).
 *
 * It does so when the loader reports that they are mapped, before any of their code runs: their system calls
 * that change signal masks must go through libhodo before there can be traps in them, and their first calls
 * are recorded, too. dlopen() waits meanwhile, usually for a few milliseconds. A recorder that has not
 * answered within HODO_OPENED_TIMEOUT_MS is not asked again in that recording.
 */
#include <errno.h>
#include <signal.h>
#include <user/talk/talk.h>
#include "opened.h"
#include <user/libc/sys.h>
#include "objects.h"

static uint8_t silent[16]; /* the recording whose recorder did not answer */

/* Objects that nobody has been asked about; false: there are none. */
static bool collect(struct hodo_msg_ask *ask)
{
	ask->n = 0;
	for (uint32_t i = 0; i < hodo_nobjects && ask->n < HODO_PLAN_OBJECTS_MAX; i++) {
		struct hodo_object *o = &hodo_objects[i];

		if (o->planned)
			continue;
		o->planned = true;
		if (o->text < o->text_end)
			ask->object[ask->n++] = (struct hodo_plan_object){ o->text, o->text_end };
	}
	return ask->n > 0;
}

static bool is_wanted(void)
{
	const struct hodo_recording *r = &hodo_recording;

	return r->on && r->by == HODO_BY_RECORDER && r->config.flags & HODO_CONFIG_PLANS && hodo_func &&
	       __builtin_memcmp(silent, r->ring.uuid, sizeof(silent)) != 0;
}

/* A recorder that is about to end no longer listens, which is not worth a warning. */
static void give_up(int error)
{
	__builtin_memcpy(silent, hodo_recording.ring.uuid, sizeof(silent));
	if (error != -ECONNREFUSED && error != -ENOENT && error != -EPIPE && error != -ECONNRESET)
		hodo_catalog_warn("functions of libraries that it opens are not traced: the recorder does not answer");
}

void hodo_opened(void)
{
	struct hodo_msg_ask ask; /* not shared: the lock is free in between */

	while (is_wanted() && collect(&ask)) {
		int error;

		/*
		 * Without a plan so far, none of the program's system calls goes through us: ask for
		 * everything.
		 */
		if (hodo_signals_all >> (SIGTRAP - 1) & 1)
			ask.n = 0;
		error = hodo_session_plan(&ask, HODO_PLAN_FIRST);
		if (error && is_wanted())
			give_up(error);
	}
}

int hodo_planned_anew(void)
{
	struct hodo_msg_ask ask = { .n = 0 };

	if (!hodo_recording.on || hodo_recording.by != HODO_BY_RECORDER)
		return -ENOTCONN;
	hodo_objects_set_planned();
	return hodo_session_plan(&ask, HODO_PLAN_ANEW);
}
