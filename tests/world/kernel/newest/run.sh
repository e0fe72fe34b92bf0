#!/bin/sh
# SPDX-License-Identifier: MIT
#
# hodo.ko itself waits for code that is in an instrumented module's event, where tracepoints do not do that; and its
# probes work with preemption off.
# guest: timeout=200
. /lib/guest.sh

insmod ./newest.ko || exit 1
insmod ./newest_inside.ko || exit 1
taskset -p 1 $$ >/dev/null || exit 1 # the probe occupies the other CPU
PARAMETERS=/sys/module/newest_inside/parameters
EVENT=$HODO/events/newest/slow

echo 1 >$EVENT/enable
echo 1 >$HODO/enabled
echo 1 >$PARAMETERS/meet
check entered wait_until 60 grep -q 1 $PARAMETERS/entered
echo 0 >$EVENT/enable
# The shell reads the file itself: starting a program might take as long as the probe.
read -r inside <$PARAMETERS/inside
equal off_waits "$inside" 0
echo 0 >$HODO/enabled

hodo record -q -k -e 'irq:*' -o /tmp/irq -- ping -c 1 127.0.0.1 # which receives in a softirq
check probes sh -c "hodo print -q /tmp/irq | grep -q 'irq:softirq_entry'"
rmmod newest_inside
check unloads rmmod hodo
finish
