/* SPDX-License-Identifier: MIT */
/*
 * planning.h - plans for processes (hodo/abi_plan.h), made in a thread of their own: the code of a large program takes
 * longer to decode than others can wait for their answers, and rings for being read.
 *
 *                 | planner                  | the recorder's thread
 *   planner       | one, one plan at a time  | beside: a job is the planner's from when it is asked for until it is
 *                 |                          | made
 */
#ifndef HODO_RECORD_PLANNING_H
#define HODO_RECORD_PLANNING_H

#include "recording.h"

struct hodo_connection;
struct hodo_session;

/* For a process on whose connection `made` is called with the plan later: a descriptor, or negative; load: "", or the
 * libraries that are to be loaded. 0 or -errno. */
typedef void (*hodo_planned_fn)(struct hodo_connection *c, int plan, const char *load);
int hodo_planning_ask(struct hodo_session *s, const struct hodo_plan_request *request, struct hodo_connection *c,
		      hodo_planned_fn made);
/* The connection is going: nothing is called for it any more. */
void hodo_planning_forget(struct hodo_session *s, const struct hodo_connection *c);
/* Whether a plan is being made, or to be made next: what plans are made of is not to be changed. */
bool hodo_planning_busy(const struct hodo_session *s);
/* Waits for the plan in hand. Once more does nothing. */
void hodo_planning_close(struct hodo_session *s);

#endif
