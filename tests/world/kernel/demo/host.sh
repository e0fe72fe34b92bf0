#!/bin/bash
# SPDX-License-Identifier: MIT
#
# host.sh DIR - the host reads the recording as the guest does, and babeltrace2 reads it too.
set -euo pipefail
cd "$1"
"$HODO" stat hodo.data >host-stat.txt
grep -q sched_switch host-stat.txt
echo "ok host.stat"
"$ROOT/tests/lib/compare_bt2.py" "$HODO" hodo.data >said.txt 2>&1 || {
	cat said.txt
	echo "not ok host.babeltrace2 it reads something else"
	exit 1
}
sed 's/^/# /' said.txt
echo "ok host.babeltrace2"
