/* SPDX-License-Identifier: MIT */
/* none.c - includes the header, and has no site. */
#include <hodo/trace.h>
