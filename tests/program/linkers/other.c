/* SPDX-License-Identifier: MIT */
/* other.c - a constructor with one more event. */
#include <hodo/trace.h>

__attribute__((constructor)) static void before(void)
{
	HODO_EVENT(builds, other);
}
