#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Instrumented modules: events and tracepoints come and go with their modules and with hodo.ko; they are refused or
# recorded; probes.
# guest: everywhere turns timeout=400
. /lib/guest.sh
events=$HODO/events
parameters=/sys/module

mod() {
	insmod "./$1.ko"
}
# probes WHAT: runs a test of sites_probes; errors are in the log.
probes() {
	echo "$1" >$parameters/sites_probes/parameters/run
}
fire() {
	echo "${2:-1}" >"$parameters/$1/parameters/fire"
}
# logged TEXT [SINCE]: how many lines of the log contain TEXT.
logged() {
	dmesg | grep -c "$1"
}
moves() {
	before=$(cat $parameters/sites_busy/parameters/count)
	wait_until 20 sh -c "[ \$(cat $parameters/sites_busy/parameters/count) -gt $((before + 10)) ]"
}

bring sites_all.ko sites_off.ko
# --------------------------------------------------- without hodo.ko

check absent_load mod sites_all
check absent_probes_load mod sites_probes
check absent_fire fire sites_all 2
check absent_probes probes absent
check disabled_load mod sites_off
rmmod sites_off
check example_absent_load mod jobs
echo 2 >$parameters/jobs/parameters/add
check example_absent_unload rmmod jobs

# --------------------------------------------------- hodo.ko comes

load || exit 1
check found_events test -d $events/sall/ints
for event in nothing ints scope.begin scope.end request.begin request.end evict tick depth mark init; do
	check "found_$event" test -f "$events/sall/$event/enable"
done
equal no_labels_event "$(ls -d $events/sall/state 2>/dev/null)" ""
check idle_fire fire sites_all 2

# Events come with their module and go with it.
refused not_yet test -e $events/sshared
mod sites_one
check one_comes test -d $events/sshared/put
mod sites_two
check two_loads test -d $events/sshared/put
equal no_conflict "$(logged 'hodo: module sites_two')" 0
rmmod sites_one
check two_keeps test -d $events/sshared/put
rmmod sites_two
refused all_gone test -e $events/sshared

# An event that differs is refused; the message names both events and the difference.
mod sites_one
mod sites_other
check refused_put sh -c "dmesg | grep -q 'hodo: module sites_other: event sshared:put at .*sites_other.c:[0-9]* \
differs from that of sites_one at .*shared.h:[0-9]* (field 2 is who:u64, there who:str): it is not recorded'"
check refused_mark sh -c "dmesg | grep -q 'module sites_other: event sshared:said .*format \"%s: %d\", there \"%s says %d\"'"
check refused_syscall \
	sh -c "dmesg | grep -q 'module sites_other: event syscalls:sys_enter_openat at .*own (syscall)'"
equal refused_once "$(logged 'module sites_other: event')" 4
check others_event test -d $events/sother/fine
equal refused_register "$(cat $parameters/sites_other/parameters/refused)" -22
fire sites_other 3
# The refused event is accepted when the other one is gone.
rmmod sites_one
check turn test -d $events/sshared/put
equal turn_register "$(cat $parameters/sites_other/parameters/refused)" 0
mod sites_one
check turn_refused sh -c "dmesg | grep -q 'hodo: module sites_one: event sshared:put .*that of sites_other'"
rmmod sites_other
rmmod sites_one
refused turn_gone test -e $events/sother

# Broken ones are reported; events of a module whose init function fails go with it. (insmod tries in two ways.)
refused broken_load mod sites_broken
equal broken_told "$(dmesg | sed -n 's/.*hodo: module sites_broken: \(.*\) is not as <hodo.trace.h> makes it.*/\1/p' |
	sort -u | wc -l)" 10
refused broken_gone test -e $events/sbroken

# --------------------------------------------------- probes

check probes_basics probes basics
check probes_contexts probes contexts
check probes_race probes race
mod sites_forget
refused pinned rmmod hodo
probes step
rmmod sites_forget
check forgotten_is_told \
	sh -c "dmesg | grep -q 'hodo: module sites_forget was removed without unregistering its probe of sprobe:step'"
check forgotten_gone probes basics
check unpinned unload

# --------------------------------------------------- hodo.ko goes and comes back under load

mod sites_busy
check busy moves
load
i=0
failed=0
while [ $i -lt 15 ]; do
	echo 1 >$HODO/enabled || failed=$((failed + 1))
	[ $((i % 3)) -eq 0 ] && usleep 50000
	moves || failed=$((failed + 1))
	rmmod hodo || failed=$((failed + 1))
	insmod /lib/hodo.ko || failed=$((failed + 1))
	i=$((i + 1))
done
equal reload_under_load $failed 0
check busy_goes_on moves

# Modules come and go while they are recorded.
echo 1 >$HODO/enabled
i=0
failed=0
while [ $i -lt 30 ]; do
	mod sites_one && mod sites_two && fire sites_one 5 && fire sites_two 5 || failed=$((failed + 1))
	rmmod sites_one
	fire sites_two 5 || failed=$((failed + 1))
	rmmod sites_two
	i=$((i + 1))
done
equal modules_under_recording $failed 0
check still_recorded moves
rmmod sites_busy
refused busy_gone test -e $events/sbusy
echo 0 >$HODO/enabled
rmmod sites_all
rmmod sites_probes
refused nothing_left test -e $events/sall
check log_clean sh -c "! dmesg | grep 'sites_probes: line'"
check unload unload

# --------------------------------------------------- what was recorded: host.py looks at it

if hodo record --help | grep -q '^ *-k[, ]'; then
	load
	cat >values.sh <<-'END'
		insmod ./sites_broken.ko 2>/dev/null
		insmod ./sites_all.ko
		echo 3 >/sys/module/sites_all/parameters/fire
		echo 1 >/sys/module/sites_all/parameters/large
		rmmod sites_all
		insmod ./sites_one.ko
		insmod ./sites_two.ko
		insmod ./sites_other.ko
		echo 2 >/sys/module/sites_one/parameters/fire
		echo 2 >/sys/module/sites_two/parameters/fire
		echo 2 >/sys/module/sites_other/parameters/fire
		rmmod sites_one
		echo 1 >/sys/module/sites_two/parameters/fire
		rmmod sites_two
		rmmod sites_other
	END
	check record hodo record -q -k -m 1M -e 'sall:*,sshared:*,sother:*,sbroken:*' -o "$OUT/values" -- sh values.sh
	# Modules that come and go during a recording: none of their events is missing.
	cat >cycles.sh <<-'END'
		i=0
		while [ $i -lt 25 ]; do
			insmod ./sites_one.ko || exit 1
			insmod ./sites_two.ko || exit 1
			echo 5 >/sys/module/sites_one/parameters/fire
			echo 5 >/sys/module/sites_two/parameters/fire
			rmmod sites_one || exit 1
			echo 5 >/sys/module/sites_two/parameters/fire
			rmmod sites_two || exit 1
			insmod ./sites_all.ko || exit 1
			echo 1 >/sys/module/sites_all/parameters/fire
			rmmod sites_all || exit 1
			i=$((i + 1))
		done
	END
	check record_cycles hodo record -q -k -e 'sshared:*,sall:*' -o "$OUT/cycles" -- sh cycles.sh
	# The example, used as its first lines say.
	insmod ./jobs.ko
	check record_example hodo record -q -k -e 'jobs:*' -o "$OUT/jobs" -- sh -c "
		echo 5 >$parameters/jobs/parameters/add
		until [ \$(cat $parameters/jobs/parameters/longest_ns) -gt 0 ]; do usleep 10000; done
		cat $parameters/jobs/parameters/longest_ns >/tmp/longest; rmmod jobs"
	check example_probe test "$(cat /tmp/longest)" -gt 0
	insmod ./sites_busy.ko
	# No more than babeltrace2 can read in a moment.
	check record_busy hodo record -q -k -e 'sbusy:*' -m 1M --max-size 1M -o "$OUT/busy" -- sleep 3
	rmmod sites_busy
	unload
else
	skip record "hodo record has no -k"
fi
finish
