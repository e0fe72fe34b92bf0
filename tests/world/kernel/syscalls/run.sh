#!/bin/sh
# SPDX-License-Identifier: MIT
#
# System calls with known arguments, recorded by hodo and by ftrace at once: host.py compares every argument with what
# the program passed, and with ftrace; and the types of all calls with the kernel's own description of them.
# guest: everywhere
. /lib/guest.sh

load || exit 1
mkdir -p "$OUT/formats"
for format in "$TRACING"/events/syscalls/*/format; do
	name=${format%/format}
	cp "$format" "$OUT/formats/syscalls.${name##*/}"
done
cp $HODO/info "$OUT/info"
echo 0 >$TRACING/tracing_on
echo x86-tsc >$TRACING/trace_clock
echo 8192 >$TRACING/buffer_size_kb
echo >$TRACING/trace
echo 1 >$TRACING/events/syscalls/enable
echo 1 >$TRACING/tracing_on
check record hodo record -k -e "syscalls:*" -m 8M -o "$OUT/hodo.data" -- ./calls "$OUT/expected"
echo 0 >$TRACING/tracing_on
echo 0 >$TRACING/events/syscalls/enable
for cpu in 0 1; do
	check drained.$cpu ./calls drain $TRACING/per_cpu/cpu$cpu/trace_pipe_raw "$OUT/ftrace$cpu"
done
echo 1408 >$TRACING/buffer_size_kb

# Another clock, for which no event takes the short path; and filters, on numbers and texts.
check monotonic hodo record -k --clock monotonic -e "syscalls:*" -m 8M -o "$OUT/monotonic.data" -- \
	./calls "$OUT/expected.monotonic"
check filtered hodo record -k -e "syscalls:sys_enter_openat,syscalls:sys_enter_rename" \
	--filter 'dfd == -100 && flags == 0 && filename =~ "/tmp/kn*" || newname == "/tmp/moved"' \
	-o "$OUT/filtered.data" -- ./calls "$OUT/expected.filtered"

# The texts' limits, with packets into which a long text does not fit: it is counted, and recording goes on.
check small hodo record -k -e "syscalls:sys_enter_openat,syscalls:sys_enter_getppid" -m 64K --packet-size 2K -o "$OUT/small.data" \
	-- ./calls "$OUT/expected.small"
check off test -z "$(grep -l 1 $HODO/events/syscalls/*/enable)"
unload
finish
