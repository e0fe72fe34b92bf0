#!/bin/sh
# SPDX-License-Identifier: MIT
#
# hodo.ko is loaded, records, and is unloaded, 40 times (--append hodo_cycles=200: 200 times), while processes keep all
# CPUs busy: in both modes, by a recorder and by the control tree; recorders are killed at random points, and the module
# goes while it records. host.py compares what the kernel had allocated early and late. slub_debug: objects are checked
# when they are freed, caches are not shared, and the counts are of objects, not of slabs that a CPU keeps.
# --append slub_debug=FZU shows who allocated the objects.
# guest: alone memory=1024 timeout=1200 append=slub_debug=FZ
. /lib/guest.sh

cycles=$(sed -n 's/.*hodo_cycles=\([0-9]*\).*/\1/p' /proc/cmdline)
cycles=${cycles:-40}
# Switching one tracepoint stops all CPUs three times: all 500 of them are switched only now and then.
few="sched irq kmem syscalls"
# After this many cycles the kernel has what it keeps for itself. 20 more: an object kept by each of them is more than
# host.py allows.
warm=20

# measure NAME: measures with nothing running, after the kernel has given back all it could.
measure() {
	kill -9 "$busy"
	wait "$busy" 2>/dev/null
	sleep 2
	echo 3 >/proc/sys/vm/drop_caches
	for shrink in /sys/kernel/slab/*/shrink; do
		echo 1 >"$shrink"
	done
	# Each of those files, too, is freed after a grace period, in batches five seconds apart: what is kept is in
	# every sample.
	for sample in 1 2 3; do
		sleep 6
		cat /proc/slabinfo >"$OUT/$1.slabinfo.$sample"
	done
	cat /proc/vmallocinfo >"$OUT/$1.vmallocinfo"
	cat /proc/meminfo >"$OUT/$1.meminfo"
	cat /proc/zoneinfo >"$OUT/$1.zoneinfo"
	for traces in /sys/kernel/debug/slab/kmalloc-*/alloc_traces; do
		[ ! -e "$traces" ] || cat "$traces" >"$OUT/$1.$(basename "${traces%/*}").traces"
	done
	if [ -e /sys/kernel/debug/kmemleak ]; then
		echo scan >/sys/kernel/debug/kmemleak
		cat /sys/kernel/debug/kmemleak >"$OUT/$1.kmemleak"
	fi
	start_busy
}

start_busy() {
	./busy &
	busy=$!
}

# pause MILLISECONDS: waits up to that long.
pause() {
	# shellcheck disable=SC3028 # busybox has RANDOM
	usleep $((RANDOM % $1 * 1000))
}

bad() {
	not_ok "cycle.$cycle" "$*"
}

# Records everything, now and then.
overwrite() {
	if [ $((cycle % 100)) -eq 2 ]; then
		./reader overwrite 100
	else
		./reader overwrite 100 'sched:*'
	fi
}

# A recorder begins and is killed at some point; the next one works.
killed() {
	./reader "$1" 0 'sched:*' 'irq:*' 'kmem:*' 'syscalls:*' >/dev/null &
	reader=$!
	pause 300
	kill -9 $reader
	wait $reader 2>/dev/null
	./reader "$1" 50 'irq:*' 'syscalls:*' >/dev/null || bad "a reader after one that was killed"
}

hodo_killed() {
	hodo record -q -k -e 'sched:*,irq:*,syscalls:*' -o /tmp/killed >/dev/null 2>&1 &
	reader=$!
	pause 1500
	kill -9 $reader
	wait $reader 2>/dev/null
	rm -rf /tmp/killed /tmp/killed.old
	./reader discard 50 'irq:*' 'syscalls:*' >/dev/null || bad "a reader after hodo was killed"
}

whole_hodo() {
	hodo record -q -k $1 -e 'sched:*,irq:*,syscalls:*,kmem:*' -o /tmp/whole -- true >/tmp/said 2>&1 ||
		bad "hodo record: $(cat /tmp/said)"
	rm -rf /tmp/whole /tmp/whole.old
}

tree() {
	echo "$1" >$HODO/mode || bad "mode $1"
	if [ $((cycle % 100)) -eq 4 ]; then
		echo 1 >$HODO/events/enable || bad "events"
	fi
	for provider in $few; do
		echo 1 >$HODO/events/"$provider"/enable || bad "$provider"
	done
	echo 1 >$HODO/enabled || bad "enabled"
	pause 200
	[ "$(cat $HODO/enabled)" = 1 ] || bad "it does not record"
	./reader discard 10 'irq:*' 2>/dev/null && bad "two record at once"
	[ -z "$2" ] || return 0
	echo 0 >$HODO/enabled || bad "disabled"
}

# Switches what is recorded while it is recorded.
switched() {
	tree overwrite go-on
	for provider in irq syscalls; do
		echo 0 >$HODO/events/$provider/enable || bad "$provider off"
		echo 1 >$HODO/events/$provider/enable || bad "$provider on"
	done
}

# The module is in use and cannot be unloaded.
used() {
	./reader discard 0 'sched:*' >/dev/null &
	reader=$!
	wait_until 60 grep -q 1 $HODO/enabled || bad "a reader does not begin"
	rmmod hodo 2>/dev/null && bad "it went while it was in use"
	kill -TERM $reader
	wait $reader || bad "a reader when the module was to go"
}

start_busy
cycle=1
while [ $cycle -le "$cycles" ]; do
	load || bad load
	case $((cycle % 10)) in
	0) whole_hodo ;;
	1) ./reader discard 100 'sched:*' 'irq:*' 'kmem:*' 'syscalls:*' >/dev/null || bad "reader discard" ;;
	2) overwrite >/dev/null || bad "reader overwrite" ;;
	3) killed discard ;;
	4) tree overwrite ;;
	5) killed overwrite ;;
	6) tree discard go-on ;; # and the module is unloaded in that state
	7) if [ $((cycle % 20)) -lt 10 ]; then hodo_killed; else whole_hodo --overwrite; fi ;;
	8) switched ;;
	9) used ;;
	esac
	if ! unload; then
		bad unload
		break
	fi
	[ -d $HODO ] && bad "the control tree is still there"
	[ "${failures:-0}" -lt 20 ] || break
	[ $((cycle % 10)) -ne 0 ] || note "$cycle cycles after $(cut -d" " -f1 /proc/uptime) s"
	[ $cycle -ne $warm ] || measure early
	cycle=$((cycle + 1))
done
measure late
kill -9 "$busy"
equal cycles $((cycle - 1)) "$cycles"
equal "functions.hooked" "$(cat $TRACING/enabled_functions | wc -l)" 0
if [ -e /proc/lockdep_stats ]; then
	check lockdep grep -q "debug_locks: *1" /proc/lockdep_stats
else
	skip lockdep "the kernel has no CONFIG_PROVE_LOCKING"
fi
[ -e /sys/kernel/debug/kmemleak ] || skip kmemleak "the kernel has no CONFIG_DEBUG_KMEMLEAK; objects are counted instead"
echo $((cycles - warm)) >"$OUT/cycles"
finish
