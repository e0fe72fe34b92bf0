#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Records a workload with hodo and with the kernel's own ftrace at once, both with all events of the groups
# below and all their fields. host.py compares them.
# guest: network disk=32 memory=2048 timeout=240
. /lib/guest.sh

systems="sched irq timer block net kmem syscalls"

load || exit 1
mkdir -p "$OUT/formats"
patterns=
for system in $systems; do
	patterns="$patterns${patterns:+,}$system:*"
	for format in "$TRACING/events/$system"/*/format; do
		name=${format%/format}
		cp "$format" "$OUT/formats/$system.${name##*/}"
	done
done

# ftrace is ready; traced.sh begins and ends it while hodo records.
cd $TRACING || exit 1
echo 0 >tracing_on
echo 1 >/proc/sys/kernel/sched_schedstats
# Where the host was too busy for the guest to measure its TSC, both use the other clock.
clock=monotonic trace_clock=mono
if [ "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)" = tsc ]; then
	clock=tsc trace_clock=x86-tsc
fi
echo $clock >"$OUT/clock"
echo $trace_clock >trace_clock
echo 0 >options/overwrite
echo 32768 >buffer_size_kb
echo >trace
for system in $systems; do
	echo 1 >"events/$system/enable"
done
cd - >/dev/null || exit 1

check record hodo record -k --clock $clock -e "$patterns" -m 32M -o "$OUT/hodo.data" -- sh ./traced.sh
echo 0 >$TRACING/tracing_on
for cpu in 0 1; do
	check drained.$cpu ./drain "$TRACING/per_cpu/cpu$cpu/trace_pipe_raw" "$OUT/ftrace$cpu"
	equal "ftrace.lost.$cpu" "$(awk '/^(overrun|commit overrun|dropped events):/ { n += $NF } END { print n }' \
		$TRACING/per_cpu/cpu$cpu/stats)" 0
done
echo 0 >/proc/sys/kernel/sched_schedstats
echo 0 >$TRACING/events/enable
echo 1408 >$TRACING/buffer_size_kb
echo local >$TRACING/trace_clock
echo 1 >$TRACING/options/overwrite
echo 1 >$TRACING/tracing_on
unload
finish
