/* SPDX-License-Identifier: MIT */
/* none.c - includes the header, but has no site. */
#include <hodo/trace.h>
