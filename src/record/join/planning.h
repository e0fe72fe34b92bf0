/* SPDX-License-Identifier: MIT */
/*
 * planning.h - makes plans for processes (hodo/abi_plan.h) in a separate thread: decoding a large program
 * takes longer than other processes can wait for answers and rings can go unread.
 *
 *                 | planner                  | the recorder's thread
 *   planner       | one, one plan at a time  | beside: a job is the planner's from when it is asked for until it is
 *                 |                          | made
 */
#pragma once

#include <record/recording.h>

struct hodo_connection;
struct hodo_recorder;

/* Makes a plan for a process, and calls `made` for its connection with the plan later: a descriptor, or
 * negative; load: "", or the libraries to load. 0 or -errno. */
typedef void (*hodo_planned_fn)(struct hodo_connection *c, int plan, const char *load);
int hodo_planning_ask(struct hodo_recorder *s, const struct hodo_plan_request *request, struct hodo_connection *c,
		      hodo_planned_fn made);
/* The connection is going away: nothing is called for it any more. */
void hodo_planning_forget(struct hodo_recorder *s, const struct hodo_connection *c);
/* Whether a plan is being made, or is next: then the input of plans must not change. */
bool hodo_planning_busy(const struct hodo_recorder *s);
/* Waits for the current plan. A second call does nothing. */
void hodo_planning_close(struct hodo_recorder *s);
