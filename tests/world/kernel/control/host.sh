#!/bin/bash
# SPDX-License-Identifier: MIT
#
# host.sh DIR - checks the recordings that were made from the control tree's own.
set -u
cd "$1" || exit 2

# holds NAME EVENTS
holds() {
	local found
	found=$("$HODO" print "$1.data" | grep -c 'syscalls:sys_enter_setpriority.*which=99')
	if [ "$found" = "$2" ]; then
		echo "ok $1_events"
	else
		echo "not ok $1_events $found, not $2"
	fi
	if said=$(python3 "$ROOT/tests/lib/compare_bt2.py" "$HODO" "$1.data" 2>&1); then
		echo "ok $1_babeltrace2"
	else
		echo "not ok $1_babeltrace2 $said"
	fi
}

holds running 50
holds ended 100
