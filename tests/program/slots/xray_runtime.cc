// SPDX-License-Identifier: MIT
// xray_runtime.cc - the XRay runtime patches and unpatches functions itself, before and between our tracer's turns.
#include <cstdio>
#include <xray/xray_interface.h>
#include "slots.h"
#include "work.h"

static unsigned long handled;

[[clang::xray_never_instrument]] static void handler(int32_t, XRayEntryType)
{
	handled++;
}

[[clang::xray_never_instrument]] int main()
{
	unsigned long first, theirs;

	if (slots_on(0) || w_work(30) != 12255)
		return 1;
	slots_off();
	first = slots_total();

	__xray_set_handler(handler);
	if (__xray_patch() != SUCCESS || w_work(30) != 12255)
		return 2;
	theirs = handled;
	if (slots_on(0) || w_work(30) != 12255) // all are the XRay runtime's now
		return 3;
	slots_off();
	if (slots_total() != first || handled != 2 * theirs)
		return 4;
	__xray_unpatch();
	__xray_remove_handler();
	if (slots_on(0) || w_work(30) != 12255) // what its patching left of ours cannot be used
		return 5;
	slots_off();
	std::printf("%lu ours, %lu theirs\n", first, theirs);
	return first == 461 && theirs >= 2 * first ? 0 : 6;
}
