/* SPDX-License-Identifier: MIT */
/* opened.h - libraries that are opened during a recording with plans (hodo/abi_plan.h). All under the control lock. */
#ifndef HODO_USER_OBJECTS_OPENED_H
#define HODO_USER_OBJECTS_OPENED_H

#include <hodo/abi_plan.h>
#include "extension.h"

HODO_HIDDEN void hodo_objects_set_planned(void); /* objects.c: the present objects are in the requested plan */
/* opened.c: asks for a plan if there are more. Releases the lock in between. */
HODO_HIDDEN void hodo_opened(void);
/* opened.c: replaces all plans by one for everything. 0 or negative errno. Releases the lock in between. */
HODO_SHARED int hodo_planned_anew(void);
/* session.c: takes a plan; the caller sets n and object of `ask`. The lock is free in between. */
HODO_HIDDEN int hodo_session_plan(struct hodo_msg_ask *ask, enum hodo_plan_step step);

#endif
