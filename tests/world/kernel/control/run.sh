#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The control tree: every file, what each refuses, the rings, filters, events that come and go; and its part in debugfs.
# guest: timeout=600 turns
. /lib/guest.sh

EVENT=$HODO/events/syscalls/sys_enter_setpriority

# gives NAME FILE TEXT: the file contains TEXT.
gives() {
	equal "$1" "$(cat "$HODO/$2" 2>&1)" "$3"
}

# takes NAME FILE TEXT AFTER: the file takes TEXT, and contains AFTER then.
takes() {
	if echo "$3" >"$HODO/$2"; then
		gives "$1" "$2" "$4"
	else
		not_ok "$1" "echo '$3' >$2"
	fi
}

# denies NAME FILE TEXT [ERROR]: the file refuses TEXT, and contains the same as before.
denies() {
	before=$(cat "$HODO/$2" 2>/dev/null)
	if denied=$( (echo "$3" >"$HODO/$2") 2>&1); then
		not_ok "$1" "'$3' was taken"
	elif [ -n "$4" ] && ! echo "$denied" | grep -q "$4"; then
		not_ok "$1" "$denied"
	else
		equal "$1" "$(cat "$HODO/$2" 2>/dev/null)" "$before"
	fi
}

# state EVENT: its state, from info.
state() {
	awk -F '\t' -v "name=$1" '$1 == name { print $3 }' $HODO/info
}

# say_memory: KiB of slab memory in use.
say_memory() {
	awk '/^Slab:/ { print $2 }' /proc/meminfo
}

# ---------------------------------------------------------------- after loading
slab=$(say_memory)
start=$(cut -d ' ' -f 1 /proc/uptime)
load || exit 1
note "load: $(echo "$(cut -d ' ' -f 1 /proc/uptime)" "$start" | awk '{ print $1 - $2 }') s," \
	"$(($(say_memory) - slab)) KiB of slab, $(($(wc -l <$HODO/info) - 1)) events"
gives enabled_first enabled 0
gives mode_first mode overwrite
gives buffer_size_first buffer_size_kb 2048
gives packet_size_first packet_size_kb 64
equal overflow_first "$(cat $HODO/overflow)" "$(printf '# ring\tlost_full\tlost_too_large\tlost_busy\toverwritten')"
refused buffers_nothing ./count
refused reset_unread cat $HODO/reset

# -------------------------------------------------------------------- debugfs
equal debug_files "$(find $DEBUG -mindepth 1 -maxdepth 1 -type l | sed 's|.*/||' | sort)" "$(ls $HODO)"
equal debug_buffers "$(find $DEBUG/buffers -type f ! -name 'cpu*' | sed 's|.*/||')" fallback
check debug_cpus test -e $DEBUG/buffers/cpu0 -a -e $DEBUG/buffers/cpu1
refused debug_nothing cat $DEBUG/buffers/cpu0
echo discard >$DEBUG/mode
gives debug_writes mode discard
echo overwrite >$HODO/mode
equal debug_reads "$(cat $DEBUG/mode)" overwrite

# ----------------------------------------------------------------------- info
equal info_columns "$(awk -F '\t' 'NF != 8' $HODO/info | head -3)" ""
equal info_ids "$(awk -F '\t' 'NR > 1 { if ($2 <= last) print; last = $2 }' $HODO/info | head -3)" ""
sed 1d $HODO/info | cut -f 1 | sort >/tmp/info
(cd $HODO/events && find . -mindepth 2 -maxdepth 2 -type d) | sed 's,^\./,,; s,/,:,' | sort >/tmp/tree
check info_is_the_tree cmp /tmp/info /tmp/tree
equal info_event "$(awk -F '\t' '$1 == "syscalls:sys_enter_setpriority" { print $3, $4, $6, $7 }' $HODO/info)" \
	"off syscall - which:i32 who:i32 niceval:i32"
dd if=$HODO/info bs=100 2>/dev/null >/tmp/pieces
cat $HODO/info >/tmp/whole
check info_in_pieces cmp /tmp/pieces /tmp/whole

# --------------------------------------------------------------------- format
equal format_name "$(sed -n 1p $EVENT/format)" "name: sys_enter_setpriority"
equal format_id "$(sed -n 's/^ID: //p' $EVENT/format)" \
	"$(awk -F '\t' '$1 == "syscalls:sys_enter_setpriority" { print $2 }' $HODO/info)"
equal format_offsets "$(sed -n 's/.*\t\(offset:.*\)\ttype.*/\1/p' $EVENT/format | tr '\t\n' '  ')" \
	"offset:0; size:4; signed:1; offset:4; size:4; signed:1; offset:8; size:4; signed:1; "
check format_print grep -q "^print fmt: " $EVENT/format

# ------------------------------------------------------------ sizes and modes
takes mode_discard mode discard discard
takes mode_overwrite mode overwrite overwrite
denies mode_other mode other
denies mode_empty mode ""
denies mode_long mode overwriteoverwriteoverwrite
takes packet_size packet_size_kb 4 4
takes packet_size_rounds packet_size_kb 3 4
takes buffer_size buffer_size_kb 64 64
takes buffer_size_rounds buffer_size_kb 100 128
for bad in 0 -1 x 8 18446744073709551615 99999999999999999999 1099511627776; do
	denies "buffer_size_$bad" buffer_size_kb $bad
	[ $bad = 8 ] || denies "packet_size_$bad" packet_size_kb $bad
done
denies packet_size_too_large packet_size_kb 64
denies packet_size_beyond packet_size_kb 16384
takes buffer_size_huge buffer_size_kb 1073741824 1073741824
denies enabled_no_memory enabled 1 "memory"
# Half of the available memory is left, not only half of the free memory.
available=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
dd if=/dev/zero of=/dev/shm/fill bs=1024 count=$((available - 3 * 131072 - 40960)) 2>/dev/null
echo 131072 >$HODO/buffer_size_kb
denies enabled_too_much enabled 1 "memory"
rm /dev/shm/fill
takes buffer_size_back buffer_size_kb 64 64
for bad in 2 -1 x "" 11; do
	denies "enabled_'$bad'" enabled "$bad"
done

# --------------------------------------------------------------------- enable
gives enable_first events/enable 0
takes enable_event events/syscalls/sys_enter_setpriority/enable 1 1
gives enable_provider_mixed events/syscalls/enable X
gives enable_all_mixed events/enable X
takes enable_provider events/syscalls/enable 1 1
gives enable_of_provider events/syscalls/sys_enter_getppid/enable 1
takes enable_provider_off events/syscalls/enable 0 0
gives enable_of_provider_off events/syscalls/sys_enter_setpriority/enable 0
for bad in 2 "" x 10 01 00000000000; do
	denies "enable_'$bad'" events/syscalls/sys_enter_setpriority/enable "$bad"
	denies "enable_provider_'$bad'" events/syscalls/enable "$bad"
	denies "enable_all_'$bad'" events/enable "$bad"
done
refused enable_no_event sh -c "echo 1 >$HODO/events/syscalls/none/enable"

# ------------------------------------------------------------------ recording
echo 1 >$EVENT/enable
equal state_enabled "$(state syscalls:sys_enter_setpriority)" enabled
takes enabled enabled 1 1
takes enabled_again enabled 1 1
equal state_on "$(state syscalls:sys_enter_setpriority)" on
for file in mode:discard buffer_size_kb:64 packet_size_kb:4; do
	denies "busy_${file%:*}" "${file%:*}" "${file#*:}" busy
done
./emit 100
equal recorded "$(./count)" 100
echo 1 >$HODO/reset
gives reset_goes_on enabled 1
equal reset_empties "$(./count)" 0
./emit 7
equal recorded_after_reset "$(./count)" 7
echo 0 >$EVENT/enable
./emit 5
equal not_recorded_off "$(./count)" 7
echo 1 >$EVENT/enable
./emit 3
equal recorded_on_again "$(./count)" 10
echo 0 >$HODO/enabled
equal kept_after_end "$(./count)" 10
./emit 3
equal not_recorded_after_end "$(./count)" 10
equal state_after_end "$(state syscalls:sys_enter_setpriority)" enabled
echo 1 >$HODO/reset
refused reset_forgets ./count
gives reset_stays_off enabled 0

# all of them at once, unchanged
echo 1 >$HODO/events/enable
gives all_enabled events/enable 1
takes all_recorded enabled 1 1
./emit 10
equal all_on "$(sed 1d $HODO/info | grep -v ^func: | cut -f 3 | sort | uniq -c | awk '$2 != "on" && $2 != "absent"')" ""
takes all_off events/enable 0 0
equal none_on "$(cut -f 3 $HODO/info | grep -c '^on$')" 0
echo 0 >$HODO/enabled
echo 1 >$HODO/reset

# overflow: every event that was made was kept, overwritten or lost
echo 1 >$EVENT/enable
echo 1 >$HODO/enabled
./emit 20000
made=$(./count)
equal overwrite_count "$made" 20000
over=$(awk '$1 == "cpu0" { print $5 }' $HODO/overflow)
check overwritten test "$over" -gt 10000 -a "$over" -lt 20000
echo 0 >$HODO/enabled
echo discard >$HODO/mode
echo 1 >$HODO/enabled
./emit 20000
lost=$(awk '$1 == "cpu0" { print $2 }' $HODO/overflow)
check lost_full test "$lost" -gt 10000
equal discard_count $(($(./count) + lost)) 20000
equal discard_overwrites_none "$(awk 'NR > 1 { sum += $5 } END { print sum + 0 }' $HODO/overflow)" 0
echo 0 >$HODO/enabled
echo overwrite >$HODO/mode
echo 0 >$EVENT/enable

# -------------------------------------------------------------------- filters
FILTER=events/syscalls/sys_enter_setpriority/filter

# filtered NAME FILTER EVENTS: that many of 100 numbered events pass the filter.
filtered() {
	echo 1 >$HODO/reset
	./emit 100
	equal "$1" "$(./count)" "$2"
}

gives filter_first $FILTER none
echo 1 >$EVENT/enable
takes filter_before $FILTER "who % 10 == 0" "who % 10 == 0"
echo 1 >$HODO/enabled
filtered filter_10 10
takes filter_during $FILTER '  who >= 20 && who < 23 || who == 0x63 ' 'who >= 20 && who < 23 || who == 0x63'
filtered filter_4 4
takes filter_variables $FILTER '$comm =~ "em*" && $cpu == 0 && $pid == $tid && which == 99' \
	'$comm =~ "em*" && $cpu == 0 && $pid == $tid && which == 99'
filtered filter_all 100
takes filter_other_comm $FILTER '$comm == "other"' '$comm == "other"'
filtered filter_none 0
equal filter_in_info "$(awk -F '\t' '$1 == "syscalls:sys_enter_setpriority" { print $6 }' $HODO/info)" '$comm == "other"'
takes filter_zero $FILTER 0 none
filtered filter_removed 100
echo "who == 1" >$HODO/$FILTER
takes filter_empty $FILTER "" none
takes filter_stays $FILTER "who == 1" "who == 1"

# wrong NAME TEXT MESSAGE: refused with EINVAL; the file has the filter in force, then what it refused and why.
wrong() {
	if wrong_said=$( (echo "$2" >$HODO/$FILTER) 2>&1); then
		not_ok "$1" "'$2' was taken"
	elif ! echo "$wrong_said" | grep -q "[Ii]nvalid"; then
		not_ok "$1" "$wrong_said"
	else
		equal "$1" "$(sed -n '1p; $p' $HODO/$FILTER)" "$(printf 'who == 1\n# %s' "$3")"
	fi
}

wrong wrong_end 'who >' "expected a value at column 6"
wrong wrong_parenthesis '(who > 1' "expected ')' at column 9"
wrong wrong_equal 'who = 1' "'=' (write '==' for equal) at column 5"
wrong wrong_field 'which == 99 && whom > 1' "the event has no field whom at column 16"
wrong wrong_variable '$nothing > 1' "there is no '\$nothing' (but \$tid \$pid \$cpu \$comm \$duration \$off_cpu) at column 1"
wrong wrong_float 'who > 1.5' "floating-point numbers are not allowed here at column 7"
wrong wrong_kind 'who =~ 5' "'=~' needs strings at column 5"
wrong wrong_never 'who =~ "a*"' "no event can pass it at column 1"
wrong wrong_byte "$(printf 'who \001')" "unexpected byte 0x01 at column 5"
wrong wrong_deep "$(printf '%064d' 0 | tr 0 '(')who" "expression too deep at column 65"
equal wrong_mark "$(sed -n '2,3p' $HODO/$FILTER | tail -n 1 | wc -c)" $((10 + 2 + 65))
refused wrong_long sh -c "printf '%03000d' 1 >$HODO/$FILTER"
filtered filter_still_in_force 1
takes filter_right_again $FILTER "who == 2" "who == 2"
echo 0 >$HODO/$FILTER
echo 0 >$HODO/enabled
echo 0 >$EVENT/enable

# ---------------------------------------------------- as recorders take it
# A recorder takes the tree's recording while it runs, and after it has ended.
echo "who < 50" >$HODO/$FILTER
echo 1 >$EVENT/enable
echo 1 >$HODO/enabled
./emit 100
check snapshot_running hodo snapshot -k -o "$OUT/running.data"
./emit 100
echo 0 >$HODO/enabled
check snapshot_ended hodo snapshot -k -o "$OUT/ended.data"
echo 0 >$HODO/$FILTER
echo 0 >$EVENT/enable
echo 1 >$HODO/reset
refused snapshot_nothing hodo snapshot -k -o "$OUT/nothing.data"

# ------------------------------------------------------------ buffers/cpuN
echo discard >$HODO/mode
for how in paced flood; do
	./read $how 20000 || not_ok "read_$how" "status $?"
	echo 1 >$HODO/reset
done
echo overwrite >$HODO/mode
echo 0 >$HODO/$FILTER
./mapping || not_ok mapping "status $?"
echo 0 >$HODO/enabled
./hostile 20000 || not_ok hostile "status $?"
echo 0 >$EVENT/enable
./config || not_ok config "status $?"

# --------------------------------------------------- events that come and go
. ./modules.sh

# ----------------------------------------------------------------------- rmmod
refused rmmod_device_open sh -c "rmmod hodo" 3</dev/hodo
echo 1 >$HODO/enabled
refused rmmod_buffer_open sh -c "rmmod hodo" 3<$DEBUG/buffers/cpu1
exec 5<$HODO/info 6<$EVENT/format
check rmmod_while_recording unload
check tree_gone test ! -e $HODO -a ! -e $DEBUG -a ! -e /dev/hodo
refused rmmod_file_gone cat <&5
refused rmmod_event_gone cat <&6
exec 5<&- 6<&-
./users /lib/hodo.ko 10 || not_ok users_of_hodo "status $?"
check load_again load
gives filter_forgotten $FILTER none
gives enable_forgotten events/enable 0
gives mode_forgotten mode overwrite
check rmmod_idle unload
finish
