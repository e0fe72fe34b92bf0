/* SPDX-License-Identifier: MIT */
/* entry_only.c - slots at entries only: -fpatchable-function-entry and -pg. */
#include "func.h"

void hodo_scan_entry_only(struct hodo_scan *scan)
{
}
