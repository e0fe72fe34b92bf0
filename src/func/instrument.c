/* SPDX-License-Identifier: MIT */
/* instrument.c - slots of -finstrument-functions. */
#include "func.h"

void hodo_scan_instrument(struct hodo_scan *scan)
{
}
