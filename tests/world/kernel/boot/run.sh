#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What the other tests expect of the guest itself.
# guest: everywhere modules=loop packed
. /lib/guest.sh

equal cpus "$(nproc)" 2
note "clock: $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)" # tsc, unless the host is too busy
note "the kernel is at $(sed -n 's/ T _text$//p' /proc/kallsyms)"
check debugfs grep -q " /sys/kernel/debug debugfs " /proc/mounts
check tracefs test -e $TRACING/events/sched/sched_switch/format
check loopback ping -c 1 -W 60 127.0.0.1
check module module loop
check hodo hodo --version
# A module that was compiled for another kernel; its checksums may not show that.
at=$(busybox strings -t d /lib/hodo.ko | awk -v release="$(uname -r)" '$2 == release && NF == 2 { at = $1 } END { print at }') # the first is a note
cp /lib/hodo.ko /tmp/other.ko
printf X | dd of=/tmp/other.ko bs=1 seek="$at" conv=notrunc 2>/dev/null
echo misc_register debugfs_create_dir >$TRACING/set_ftrace_filter
echo function >$TRACING/current_tracer
refused other_kernels insmod /tmp/other.ko
# It is refused before it makes files: a process that had opened one would still have it when the module is gone.
refused other_kernels_no_files grep insmod $TRACING/trace
echo nop >$TRACING/current_tracer
echo >$TRACING/set_ftrace_filter
check other_kernels_said sh -c 'dmesg | grep -q "hodo: built for kernel X"'
rm /tmp/other.ko
check load load
check tree test -d $HODO
check device test -c /dev/hodo
check unload unload
finish
