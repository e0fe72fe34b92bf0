/* SPDX-License-Identifier: MIT */
/* state.c - what the parts of function tracing share, see func.h. It depends on none of them. */
#include <func/slots/slots.h>
#include "func.h"
#include <user/event/event.h>
#include <user/objects/objects.h>
#include <user/process/process.h>
#include <user/user.h>

__thread struct hodo_func_tls hodo_func_tls __attribute__((tls_model("initial-exec")));
const struct hodo_tracer_list *hodo_tracers;
const struct hodo_func_lookup *hodo_func_lookup;
bool hodo_dispatch_fence;
bool hodo_func_wanted;
bool hodo_func_unfiltered, hodo_func_profiled;
struct hodo_functions_config hodo_func_config;
struct hodo_state hodo_func_states[HODO_FUNC_EVENTS];
struct hodo_func_object hodo_func_objects[HODO_FUNC_OBJECTS_MAX];
uint32_t hodo_func_nobjects;
struct hodo_open_thread *hodo_func_open;

long hodo_func_rseq_offset;

/* Search for all kinds of slots once somebody wants functions. */
void hodo_func_want(void)
{
	if (hodo_func_wanted)
		return;
	hodo_func_wanted = true;
	hodo_dispatch_fence = !hodo_patch_barrier();
	hodo_objects_scan();
}

/* Not inside dispatch, which the end of a recording waits for: uses a section. */
void hodo_dispatch_count(size_t counter)
{
	uint32_t section = hodo_process_forked() ? 0 : hodo_section_enter();
	uint8_t *shm = 0;

	if (section)
		shm = hodo_load(&hodo_recording.shm); /* none in the child of a handler that forks here */
	if (shm)
		hodo_add((uint64_t *)(shm + counter), 1);
	hodo_section_leave(section);
}
