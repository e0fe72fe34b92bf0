#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The guest itself is what the other tests count on.
# guest: everywhere modules=loop
. /lib/guest.sh

equal cpus "$(nproc)" 2
note "clock: $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)" # tsc, unless the host is too busy
check debugfs grep -q " /sys/kernel/debug debugfs " /proc/mounts
check tracefs test -e $TRACING/events/sched/sched_switch/format
check loopback ping -c 1 -W 5 127.0.0.1
check module module loop
check hodo hodo --version
check load load
check tree test -d $HODO
check unload unload
finish
