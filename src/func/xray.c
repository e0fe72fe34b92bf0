/* SPDX-License-Identifier: MIT */
/* xray.c - slots of clang -fxray-instrument. */
#include "func.h"

void hodo_scan_xray(struct hodo_scan *scan)
{
}
