#!/bin/sh
# SPDX-License-Identifier: MIT
#
# hodo record -k: alone, with a command, with a running process; its bounds and filters; flight recorders and
# their snapshots; killed recorders; its messages where it cannot record.
# guest: timeout=400
. /lib/guest.sh

# waited NAME PID: the background process must end with status 0.
waited() {
	wait "$2"
	equal "$1" $? 0
}

# started: true once a recording of the kernel runs.
started() {
	[ "$(cat $HODO/enabled)" = 1 ]
}

ended() {
	[ "$(cat $HODO/enabled)" = 0 ]
}

status missing 1 hodo record -k -o "$OUT/none" -- ./emit 1
says missing_said "the kernel module hodo is not loaded"
load || exit 1

# ------------------------------------------------------------- what there is
check doctor sh -c 'hodo doctor | grep -q "ok *module .*hodo record -k"'
hodo list -k >/tmp/list
check list_tracepoint grep -q '^sched:sched_switch  *off  *tracepoint  (.*prev_comm:str' /tmp/list
check list_syscall grep -q '^syscalls:sys_enter_openat  *off  *syscall  *(.*filename:str' /tmp/list
equal list_pattern "$(hodo list -k '*:sys_*_getppid,!*:*exit*' | tr -s ' ')" "syscalls:sys_enter_getppid off syscall ()"

# ------------------------------------------------------------- alone, and with others
status duration 0 hodo record -k --duration 1 -o "$OUT/duration"
says duration_said "events of the kernel, "
hodo record -q -k -o "$OUT/alone" &
recorder=$!
check alone_begun wait_until 60 started
for cpu in 0 1; do
	taskset -p $((1 << cpu)) $$ >/dev/null
	for i in 1 2 3 4 5; do
		usleep 10000
		ls / >/dev/null
	done
done
taskset -p 3 $$ >/dev/null
kill -TERM $recorder
waited alone $recorder
status both 5 hodo record -k -e 'sched:*,syscalls:*,emit:*' -o "$OUT/both" -- ./emit 300
says both_said "events of the kernel and 1 process, "
status defaults 5 hodo record -k -e '!syscalls:sys_*_getppid' -o "$OUT/defaults" -- ./emit 20
equal left_out "$(count "$OUT/defaults" syscalls:sys_enter_getppid)" 0
# It watches what it would record; a system call is a span.
hodo top -k --json -d 0.2 -e 'syscalls:*,emit:*' -- ./emit 300 >/tmp/top
equal top_status $? 5
tail -n 1 /tmp/top >/tmp/last
check top_calls grep -Eq '"name":"syscalls:getppid","rate":[0-9.]+,"count":[1-9].*"all_p99_ns":[1-9]' /tmp/last
check top_program grep -Eq '"name":"emit:[a-z]+","rate":[0-9.]+,"count":[1-9]' /tmp/last
check top_thread grep -Eq '"comm":"emit","rate":[0-9.]+,"count":[1-9]' /tmp/last
status top_alone 0 hodo top -k --batch -d 0.5 -n 1 -e 'syscalls:*'
says top_alone_said "the kernel: "
HODO_LISTEN=1 LD_PRELOAD=$HODO_LIBRARY ./emit wait /tmp/ready &
pid=$!
check ready wait_until 60 test -e /tmp/ready
hodo record -q -k -e 'syscalls:*nanosleep,emit:*' -p $pid -o "$OUT/attached" 2>/tmp/attached &
recorder=$!
check attached_begun wait_until 60 grep -q 'emit:tick' "$OUT/attached/emit-$pid/metadata"
# some NAME: more than a few of both events are on disk.
some() {
	[ "$(count "$OUT/$1" emit:tick)" -gt 5 ] && [ "$(count "$OUT/$1" syscalls:sys_enter_clock_nanosleep)" -gt 5 ]
}
check attached_some wait_until 60 some attached
kill -TERM $recorder
waited attached $recorder
kill $pid
[ -s /tmp/attached ] && sed 's/^/# /' /tmp/attached
# A process that does not listen. This processor has no XSAVE.
./emit wait /tmp/alone &
pid=$!
check alone_ready wait_until 60 test -e /tmp/alone
hodo record -q -k -e 'syscalls:*nanosleep,emit:*' -p $pid -o "$OUT/brought" 2>/tmp/brought &
recorder=$!
check brought_begun wait_until 60 grep -q 'emit:tick' "$OUT/brought/emit-$pid/metadata"
check brought_events wait_until 60 test -s "$OUT/brought/kernel/cpu0"
kill -TERM $recorder
waited brought $recorder
check brought_lives kill $pid
[ -s /tmp/brought ] && sed 's/^/# /' /tmp/brought
status context 5 hodo record -k -e 'syscalls:*,emit:*' --context comm,pid -o "$OUT/context" -- ./emit 20
says context_said "--context is for events of processes"
# The option brings the switches, whatever -e names.
status off_cpu 5 hodo record -k --off-cpu -e 'emit:*,syscalls:*_clock_nanosleep' -o "$OUT/off_cpu" -- ./emit nap 20
status unknown 5 hodo record -k -e 'shced:*,emit:*' -o "$OUT/unknown" -- ./emit 2
says unknown_said "no event matches 'shced:*'"

# ------------------------------------------------------------- filters, rates, triggers
status filter 5 hodo record -k -e syscalls:sys_enter_write --filter 'fd == 77 && count > 5' -o "$OUT/filter" \
	-- ./emit 300
equal filter_count "$(count "$OUT/filter" syscalls:sys_enter_write)" 120
status text 5 hodo record -k -e 'syscalls:sys_enter_openat' --filter 'filename == "/dev/null" && $comm == "emit"' \
	-o "$OUT/text" -- ./emit 3
equal text_count "$(count "$OUT/text" syscalls:sys_enter_openat)" 1
status padded 5 hodo record -k -e sched:sched_switch --filter 'next_comm == "emit"' -o "$OUT/padded" -- ./emit 300
status floating 1 hodo record -k --filter 'fd > 1.5' -o "$OUT/floating" -- ./emit 1
says floating_said "floating-point"
status rate 5 hodo record -k -e syscalls:sys_enter_getppid --filter '$comm == "emit"' \
	--rate syscalls:sys_enter_getppid=50/s:10 -o "$OUT/rate" -- ./emit 500
status trigger 5 hodo record -k --overwrite -e 'syscalls:*,emit:*' -o "$OUT/trigger" \
	--trigger 'syscalls:sys_enter_sync if $comm == "emit" -> snapshot' -- ./emit 50
says trigger_said "1 snapshot"
check trigger_folder test -e "$OUT/trigger/snapshot-0001/kernel/metadata"
rm -rf "$OUT/trigger/kernel" "$OUT"/trigger/emit-*
hodo record -q -k -e 'syscalls:*' --trigger 'syscalls:sys_enter_sync -> exit' -o "$OUT/exit" &
recorder=$!
check exit_begun wait_until 60 started
sync
waited exit $recorder

# ------------------------------------------------------------- bounds
status flight 5 hodo record -k --overwrite -m 32K -e 'syscalls:*' -o "$OUT/flight" -- ./emit 3000
says flight_said "overwritten by newer ones"
equal flight_last "$(hodo print -q --filter '$comm == "emit"' "$OUT/flight" | grep -c sys_enter_sync)" 1
status small 5 hodo record -k -m 8K -e 'syscalls:*' -o "$OUT/small" -- ./emit 3000
status rotate 5 hodo record -k --rotate 64K --keep 3 -m 64K -e 'syscalls:*,emit:*' -o "$OUT/rotate" -- ./emit 3000
equal rotate_parts "$(find "$OUT/rotate" -name 'part-*' | wc -l)" 3
status size 5 hodo record -k --max-size 128K -m 64K -e 'syscalls:*' -o "$OUT/size" -- ./emit 20000
says size_said "has reached --max-size"
status crash 139 hodo record -k --overwrite --on-crash -e 'syscalls:*' -o "$OUT/crash" -- ./crash
check crash_written test -e "$OUT/crash/kernel/cpu0"
status no_crash 5 hodo record -k --overwrite --on-crash -e 'syscalls:*' -o "$OUT/no_crash" -- ./emit 1
refused no_crash_written test -e "$OUT/no_crash/kernel"
rm -rf "$OUT/no_crash"

# ------------------------------------------------------------- snapshots
hodo record -q -k --overwrite -e 'sched:*,syscalls:*' -o "$OUT/while" &
recorder=$!
check while_begun wait_until 60 started
check list_on sh -c "hodo list -k sched:sched_switch | grep -q '^sched:sched_switch  on '"
./emit 100
status snapshot 0 hodo snapshot -k --why "a test" -o "$OUT/snapshot"
says snapshot_said "events of the kernel, "
status busy 1 hodo record -k -o "$OUT/busy" -- touch /tmp/ran
says busy_said "the kernel is already being recorded"
refused busy_not_run test -e /tmp/ran
refused busy_untouched test -e "$OUT/busy"
kill -TERM $recorder
waited while $recorder
echo 1 >$HODO/events/syscalls/enable
echo 1 >$HODO/enabled
./emit 100
status tree 0 hodo snapshot -k -o "$OUT/tree"
status tree_busy 1 hodo record -k -o "$OUT/busy"
says tree_busy_said "echo 0 > $HODO/enabled"
echo 0 >$HODO/enabled
status tree_ended 0 hodo snapshot -k -o "$OUT/tree_ended"
echo 0 >$HODO/events/enable

# ------------------------------------------------------------- names
echo 1 >$HODO/reset
echo 1 >$HODO/events/syscalls/sys_enter_getppid/enable
echo 1 >$HODO/enabled
./rename 70000
./emit 3
hodo snapshot -k -o "$OUT/renamed"
equal renamed_others "$(hodo print -q --filter '$comm == "emit"' "$OUT/renamed" | grep -c sys_enter_getppid)" 3
refused renamed_none_missing sh -c "hodo info '$OUT/renamed' | grep 'threads without a name'"
if [ -w /proc/sys/kernel/ns_last_pid ]; then
	# Names that share one place in the table, and one whose process lives.
	echo 4194304 >/proc/sys/kernel/pid_max
	./emit wait /tmp/living &
	pid=$!
	for i in $(seq 1 20); do
		echo $((pid + i * 8192 - 1)) >/proc/sys/kernel/ns_last_pid
		./emit 1
	done
	hodo snapshot -k -o "$OUT/places"
	check places_living grep -q "@thread tid=$pid comm=emit" "$OUT/places/kernel/metadata"
	check places_last sh -c "grep '@thread tid=16.... comm=emit' '$OUT/places/kernel/metadata' | grep -q ."
	check places_said sh -c "hodo info '$OUT/places' | grep -q 'threads without a name'"
	kill $pid
else
	skip places "this kernel does not say which number the next thread has"
fi
echo 0 >$HODO/enabled
echo 0 >$HODO/events/enable
hodo record -k -e 'syscalls:*' -o "$OUT/ended" 2>/tmp/ended &
recorder=$!
check ended_begun wait_until 60 started
echo 0 >$HODO/enabled
waited ended $recorder
check ended_said grep -q "ended through its control tree" /tmp/ended

# ------------------------------------------------------------- killed recorders
dd if=/dev/zero of=/dev/null bs=64 2>/dev/null &
load=$!
renice -n 19 -p $load
good=0 seen=0
for i in 1 3 4 6 7 9 10 12; do
	[ $i -ne 7 ] || check killed_load kill $load # half of them on idle CPUs
	[ $((i % 2)) = 0 ] && mode=--overwrite || mode=
	hodo record -q -k $mode -m 128K -e 'sched:*,syscalls:*' -o /tmp/killed &
	recorder=$!
	# Kills from before the recorder is ready until well into the recording.
	[ $i -le 4 ] || wait_until 60 started || not_ok killed_begun "round $i"
	usleep $((i * i * 3000))
	[ $i -lt 12 ] || wait_until 60 test -e /tmp/killed/kernel/metadata || not_ok killed_late "round $i"
	kill -9 $recorder
	wait $recorder 2>/dev/null
	hodo record -q -k -m 1M -e 'syscalls:sys_enter_write,emit:*' --filter 'fd == 77 || i >= 0' -o /tmp/next \
		-- ./emit 7
	[ "$(count /tmp/next syscalls:sys_enter_write)/$(count /tmp/next emit:after)" = 7/7 ] && good=$((good + 1))
	if [ -e /tmp/killed/kernel/metadata ]; then
		seen=$((seen + 1))
		hodo stat -q /tmp/killed >/dev/null || not_ok killed_stat "round $i"
		hodo print -q /tmp/killed >/dev/null || not_ok killed_print "round $i"
		hodo recover /tmp/killed -o /tmp/recovered >/dev/null 2>&1 || not_ok killed_recover "round $i"
		hodo stat -q /tmp/recovered >/dev/null || not_ok recovered_stat "round $i"
		rm -rf "$OUT/recovered" /tmp/recovered.old
		cp -r /tmp/recovered "$OUT/recovered"
		rm -rf "$OUT/killed"
		mv /tmp/killed "$OUT/killed"
	fi
	rm -rf /tmp/killed /tmp/killed.old
done
equal killed $good 8
check killed_seen [ $seen -ge 1 ]
check killed_off ended

# A few events do not fill a packet: those on disk are from an open packet that the recorder wrote.
on_disk() {
	[ "$(count /tmp/open syscalls:sys_enter_chdir)" -ge 3 ]
}
hodo record -q -k -e 'syscalls:sys_enter_chdir' -o /tmp/open &
recorder=$!
check open_begun wait_until 60 started
(cd / && cd /tmp && cd /)
check open_on_disk wait_until 60 on_disk
kill -9 $recorder
wait $recorder 2>/dev/null
check open_kept on_disk
check open_told sh -c 'hodo stat /tmp/open | grep -q "was interrupted, or has not ended"'
check open_off wait_until 60 ended

# ------------------------------------------------------------- who may not
status user 1 ./as_user hodo record -k -o /tmp/user -- ./emit 1
says user_said "only root may trace the kernel"
status user_list 1 ./as_user hodo list -k
says user_list_said "only root may trace the kernel"
check user_doctor sh -c './as_user hodo doctor | grep -q "ok *module .*CAP_PERFMON"'

# --------------------------------------------------------- who may, and where
mkdir -m 777 /tmp/perfmon
status perfmon 0 ./as_user -p hodo record -k -e 'syscalls:*' -o /tmp/perfmon/data -- true
check perfmon_recorded test "$(count /tmp/perfmon/data syscalls:sys_exit_execve)" -gt 0
status perfmon_list 0 ./as_user -p hodo list -k 'syscalls:sys_enter_getppid'
refused perfmon_tree ./as_user -p sh -c "echo 1 >$HODO/enabled"
status no_debugfs 0 unshare -m sh -c "umount $(dirname $DEBUG) && hodo record -k -e 'syscalls:*' -o /tmp/debugfs -- true"
check no_debugfs_recorded test "$(count /tmp/debugfs syscalls:sys_exit_execve)" -gt 0
status no_device 1 unshare -m sh -c 'mount -t tmpfs none /dev && mknod /dev/null c 1 3 && hodo record -k -o /tmp/none'
says no_device_said "there is no /dev/hodo"

unload
finish
