/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * stages.h - makes events from a kernel's header of tracepoints: the header is read once for each stage, with
 * different macros each time. Included once by a file that generate.py writes:
 *
 *	#define HODO_HEADER <trace/events/irq.h>
 *	#define HODO_HEADER_CREATES		if the header has something for the one who creates its tracepoints
 *	#define HODO_SKIP_CLASS_name ~,		classes and events to be left out
 *	#define HODO_SKIP_EVENT_name ~,
 *
 * For a class or event NAME it defines:
 *
 *	struct hodo_record_NAME		1: the record's fixed part
 *	struct hodo_order_NAME		2: a char for each of its fields; for their numbers
 *	struct hodo_vars_NAME		3: a struct hodo_var for each field that varies
 *	hodo_measure_NAME()		4: bytes of a record
 *	hodo_describe_NAME()		5: says of a struct hodo_event what its fields are
 *	struct hodo_tracepoint hodo_tp_NAME	6: the event
 *	hodo_probe_NAME()		7: writes a record; its data is the struct hodo_event
 *
 * Our names inside functions begin with __hodo_, to avoid the arguments' and fields' names. Except the
 * record's: some headers call entry what others call __entry.
 */
#include "probe.h"

#include "tracepoints.h"
#include "emit.h"

/* 0: declares the tracepoints as for callers; then what a header has for their creator: helpers of
 * TP_fast_assign. Nothing of the creation itself. */
#include HODO_HEADER

#ifdef HODO_HEADER_CREATES
#undef TRACEPOINTS_ENABLED
#define CREATE_TRACE_POINTS
#define TRACE_HEADER_MULTI_READ
#include "macros.h"
#include HODO_HEADER
#undef CREATE_TRACE_POINTS
#endif
#undef TRACE_HEADER_MULTI_READ
#define TRACE_HEADER_MULTI_READ

#define HODO_STAGE 1 /* record */
#include "macros.h"
#include HODO_HEADER

#define HODO_STAGE 2 /* order */
#include "macros.h"
#include HODO_HEADER

#define HODO_STAGE 3 /* variables */
#include "macros.h"
#include HODO_HEADER

#define HODO_STAGE 4 /* measure */
#include "macros.h"
#include HODO_HEADER

#define HODO_STAGE 5 /* describe */
#include "macros.h"
#include HODO_HEADER

#define HODO_STAGE 6 /* event */
#include "macros.h"
#include HODO_HEADER

#define HODO_STAGE 7 /* probe */
#include "macros.h"
#include HODO_HEADER
