/* SPDX-License-Identifier: MIT */
/* extension.c - libhodo-func as libhodo sees it: one table. */
#include <func/engine/engine.h>
#include <func/names/names.h>
#include <func/slots/slots.h>
#include <func/tracers/tracers.h>
#include "dispatch.h"
#include "func.h"
#include "threads.h"
#include <func/grace.h>

static void init(void)
{
	hodo_func_rseq_offset = hodo_rseq_offset;
	hodo_func_threads_init();
	hodo_func_threads_watch(hodo_dispatch_thread_ends);
}

static void scan_end(void)
{
	hodo_slots_scan_end();
	hodo_tracers_objects_changed();
	hodo_engine_give_back();
}

static void forked(void)
{
	hodo_func_threads_after_fork();
	hodo_engine_forked();
}

static void recording(void)
{
	hodo_durations_recording();
	hodo_engine_recording();
	hodo_events_recording();
}

const struct hodo_extension hodo_extension = {
	.init = init,
	.scan_begin = hodo_slots_scan_begin,
	.object = hodo_slots_object,
	.scan_end = scan_end,
	.states = hodo_engine_states,
	.forked = forked,
	.plan = hodo_planned_answer,
	.recording = recording,
	.inside = hodo_dispatch_inside,
	.settle = hodo_grace_recording,
	.tracer_register = hodo_tracers_register,
	.tracer_unregister = hodo_tracers_unregister,
	.function_name = hodo_names_function,
};

#ifndef HODO_SPLIT /* in one library; else user/objects/functions.c */
HODO_PUBLIC int hodo_tracer_register(struct hodo_tracer *tracer)
{
	return hodo_tracers_register(tracer);
}

HODO_PUBLIC int hodo_tracer_unregister(struct hodo_tracer *tracer)
{
	return hodo_tracers_unregister(tracer);
}

HODO_PUBLIC int hodo_function_name(const void *address, char *name, size_t bytes)
{
	return hodo_names_function(address, name, bytes);
}
#endif
