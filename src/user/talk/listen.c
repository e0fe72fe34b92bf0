/* SPDX-License-Identifier: MIT */
/* listen.c - the beginning and the end of the thread that listens (serve.c). */
#include <hodo/control.h>
#include "listen.h"
#include <user/libc/sys.h>
#include <user/objects/objects.h>
#include <user/process/process.h>
#include "talk.h"

static bool was_there; /* the parent of this fork child had one */

static int begin_thread(uint32_t why)
{
	int error;

	hodo_store_seq(&hodo_listener.why, why);
	hodo_listener.error = 0;
	hodo_keeper_watch();
	error = hodo_thread_start(hodo_listener_run);
	if (error)
		hodo_store_release(&hodo_listener.state, HODO_LISTENER_NONE);
	return error;
}

/* Does not wait for the thread. -EAGAIN: the last one is just ending. */
static int begin_listening(uint32_t why)
{
	struct hodo_listener *l = &hodo_listener;

	hodo_process_check_fork();
	for (;;) {
		uint32_t found = HODO_LISTENER_NONE;

		if (hodo_cas_seq(&l->state, &found, HODO_LISTENER_STARTING))
			return begin_thread(why);
		/*
		 * Before reading the state: the thread first says that it leaves, then looks whether it may.
		 */
		if (why < hodo_load_seq(&l->why))
			hodo_store_seq(&l->why, why);
		found = HODO_LISTENER_LEAVES;
		if (hodo_cas_seq(&l->state, &found, HODO_LISTENER_LISTENS) || found == HODO_LISTENER_LISTENS ||
		    found == HODO_LISTENER_STARTING)
			return 0;
		if (found == HODO_LISTENER_CLOSES)
			return -EAGAIN;
	}
}

/* begin_listening(), but waits for the last thread to end, which takes microseconds. */
static int begin_patiently(uint32_t why)
{
	int error;

	for (int i = 0; (error = begin_listening(why)) == -EAGAIN && i < 100; i++)
		hodo_sleep_ns(1000000);
	return error;
}

int hodo_listener_start(uint32_t why)
{
	int error = begin_patiently(why);

	if (error)
		return error;
	while (hodo_load_acquire(&hodo_listener.state) == HODO_LISTENER_STARTING)
		hodo_sleep_ns(50000);
	return hodo_listener.error;
}

/* Also in a child that ran no fork handlers: its exit() must not remove the parent's socket. */
void hodo_listener_lost(void)
{
	was_there = hodo_load(&hodo_listener.state) != HODO_LISTENER_NONE;
	hodo_listener.address.sun_path[0] = 0;
	hodo_listener.state = HODO_LISTENER_NONE;
}

void hodo_listener_forked(void)
{
	if (was_there && hodo_listener.why == HODO_LISTENS_WANTED)
		hodo_listener_start(HODO_LISTENS_WANTED);
	was_there = false;
}

/* Does not run in a process that ends otherwise; its socket stays, and nobody listens at it. */
static __attribute__((destructor(101))) void finish(void)
{
	struct hodo_listener *l = &hodo_listener;

	/* Neither a child that has not been set up nor a vfork child that calls exit() is the process. */
	if (hodo_process_forked() || l->pid != (uint32_t)hodo_sys0(SYS_getpid))
		return;
	if (hodo_load_acquire(&l->state) == HODO_LISTENER_LISTENS)
		hodo_listener_remove();
}

HODO_PUBLIC int hodo_listen(void)
{
	return hodo_objects_foreign ? -EBUSY : hodo_listener_start(HODO_LISTENS_WANTED);
}

/*
 * hodo attach calls it in a thread that it has stopped. It is not in abi.h: only hodo of the same version
 * uses it. The thread does not wait, which might take long on a busy machine; answer: 0 or negative errno,
 * and the addresses where the rest will be.
 */
HODO_PUBLIC void hodo_attach_(int64_t answer[3]);
void hodo_attach_(int64_t answer[3])
{
	answer[1] = (int64_t)(uintptr_t)&hodo_listener.state;
	answer[2] = (int64_t)(uintptr_t)&hodo_listener.error;
	answer[0] = begin_patiently(HODO_LISTENS_MADE);
}
