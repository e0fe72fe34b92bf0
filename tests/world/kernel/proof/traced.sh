#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What both tracers record.
tracing=/sys/kernel/tracing
must() {
	"$@" >/tmp/said 2>&1 && return
	echo "$* failed: $(cat /tmp/said)"
	exit 1
}
trap 'echo 0 >$tracing/tracing_on' EXIT
echo 1 >$tracing/tracing_on
must ./work 4
must dd if=/dev/zero of=/dev/vdb bs=64k count=40 oflag=direct
must dd if=/dev/vdb of=/dev/null bs=4M count=2 iflag=direct
must dd if=/dev/vdb of=/dev/null bs=4k count=40
must dd if=/dev/zero of=/dev/vdb bs=4k count=100 conv=fsync
must ping -c 2 -i 0.1 127.0.0.1
[ ! -d /sys/class/net/eth0 ] || must ping -c 2 -i 0.1 -W 10 -s 1200 10.0.2.2
