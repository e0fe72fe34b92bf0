#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The core's unit tests, in a module: those of user space, compiled for the kernel. Each test is a line of the log.
# guest: everywhere timeout=300
. /lib/guest.sh

check insmod insmod ./hodo_unit.ko
dmesg | grep "hodo_unit: " >$OUT/log
sed -n 's/^.*hodo_unit: \(ok\|not ok\) test_\([^ ]*\)\.c \([^ :]*\)/\1 \2.\3/p' $OUT/log
equal failed "$(grep -c "hodo_unit: not ok" $OUT/log)" 0
check all test "$(grep -c "hodo_unit: ok" $OUT/log)" -ge 40
grep -q "^hodo_unit " /proc/modules && check rmmod rmmod hodo_unit
finish
