/* SPDX-License-Identifier: MIT */
/*
 * layout.c - a library whose interface is every struct of <hodo/abi.h>, so that
 * the ABI test sees a member that moves even where sizes stay the same.
 */
#include <hodo/abi.h>

#define SHOW(type) \
	__attribute__((visibility("default"))) void layout_##type(struct type *p); \
	void layout_##type(struct type *p) \
	{ \
		(void)p; \
	}

SHOW(hodo_desc)
SHOW(hodo_site)
SHOW(hodo_state)
SHOW(hodo_piece)
SHOW(hodo_probe)
SHOW(hodo_probes)
SHOW(hodo_ops)
SHOW(hodo_trace_context)
SHOW(hodo_note)
SHOW(hodo_packet)
SHOW(hodo_ring)
SHOW(hodo_thread)
SHOW(hodo_shm)
SHOW(hodo_layout)
SHOW(hodo_record)
SHOW(hodo_record_event)
SHOW(hodo_record_labels)
SHOW(hodo_msg)
SHOW(hodo_msg_hello)
SHOW(hodo_msg_config)
SHOW(hodo_msg_ready)
SHOW(hodo_msg_failed)
SHOW(hodo_moment)
SHOW(hodo_flight)
SHOW(hodo_condition)
SHOW(hodo_context_config)
SHOW(hodo_record_context)
SHOW(hodo_msg_control)
SHOW(hodo_msg_answer)
SHOW(hodo_functions_config)
SHOW(hodo_profile_entry)
SHOW(hodo_open_call)
SHOW(hodo_open_thread)
SHOW(hodo_record_object)
SHOW(hodo_record_unload)
SHOW(hodo_images)
SHOW(hodo_image)
