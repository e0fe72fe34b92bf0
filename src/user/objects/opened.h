/* SPDX-License-Identifier: MIT */
/* opened.h - libraries that are opened during a recording with plans (hodo/abi_plan.h). All under the control lock. */
#pragma once

#include <hodo/abi_plan.h>
#include "extension.h"

/* Asks for a plan if there are more. Releases the lock in between. */
HODO_HIDDEN void hodo_opened(void);
/* Replaces all plans by one for everything. 0 or negative errno. Releases the lock in between. */
HODO_SHARED int hodo_planned_anew(void);
