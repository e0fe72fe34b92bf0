#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Probes in the kernel's code: values that the program knows, compared with ftrace's kprobe_events; filters,
# triggers, rates and snapshots; a function of a module that is unloaded meanwhile; killed recorders; refusals.
# guest: everywhere timeout=300
. /lib/guest.sh

# none NAME: no probe is left, except those of ftrace, which are switched off.
none() {
	equal "$1" "$(grep -v DISABLED /sys/kernel/debug/kprobes/list)" ""
}

load || exit 1
mount -t debugfs none /sys/kernel/debug 2>/dev/null
insmod ./kprobes_calls.ko

# ------------------------------------------------------------- beside ftrace
echo 4096 >$TRACING/buffer_size_kb
echo 'p:kp/in vfs_read file=%di:x64 count=%dx:u64' >$TRACING/kprobe_events
echo 'r:kp/out vfs_read ret=$retval:s64' >>$TRACING/kprobe_events
echo >$TRACING/trace
echo 1 >$TRACING/events/kp/enable
# After the call of ftrace: an instruction begins there, with and without an endbr64 before it.
for offset in 5 9; do
	hodo record -q -k -e "kprobe:vfs_read+$offset(%di)" -o /tmp/offset -- ls / >/dev/null 2>&1 && break
done
status values 0 hodo record -k -o "$OUT/values" -e "kprobe:vfs_read(file:ptr, count, position=*pos, \
file->f_path.dentry->d_name.name, inode=file->f_inode->i_ino, wild=count:str),kprobe:vfs_read%return(count, \$retval, \
\$duration),kprobe:do_sys_openat2(dfd, filename, how->flags),kprobe:vfs_read+$offset(%di, word=\$stack0)" \
	-e 'kprobe:wake_up_new_task(p->pid, parent=p->real_parent->pid, p->real_parent->comm,
p->real_parent->sched_reset_on_fork, second=p->comm[1],p->signal->has_child_subreaper)' -e 'kprobe:hrtimer_nanosleep%return,kprobe:vfs_write' \
	-- ./kpwork "$OUT/expected"
echo "${said-}" >"$OUT/values.said"
echo 0 >$TRACING/events/kp/enable
cat $TRACING/trace >"$OUT/ftrace"
stat -c %i /tmp/kp_file >"$OUT/inode"
hodo print -q "$OUT/values" >"$OUT/printed"
echo "$offset" >"$OUT/offset"

# ------------------------------------------------------------- events like any other
status filter 0 hodo record -k -e 'kprobe:vfs_read(count, file->f_path.dentry->d_name.name)' \
	--filter 'name == "kp_file" && count >= 110' -o "$OUT/filter" -- ./kpwork /tmp/expected
equal filter_count "$(count "$OUT/filter" kprobe:vfs_read)" 31
status trigger 0 hodo record -k --overwrite -e 'kprobe:vfs_read(count),kprobe:kpcalls_step($arg1)' -o "$OUT/trigger" \
	--rate 'kprobe:kpcalls_step=1/h' --trigger 'kprobe:vfs_read if count == 137 -> snapshot' -- \
	sh -c 'echo 9 >/sys/module/kprobes_calls/parameters/run; ./kpwork /tmp/expected'
says trigger_said "1 snapshot"
equal rate_count "$(count "$OUT/trigger/snapshot-0001" kprobe:kpcalls_step)" 1
hodo report "$OUT/filter" >/tmp/report 2>&1
check report grep -q 'kprobe:vfs_read' /tmp/report

# A probe in a function that the other probe's handler calls.
status missed 0 hodo record -k -e "kprobe:vfs_read(file->f_path.dentry->d_name.name)" \
	-e "kprobe:copy_from_kernel_nofault+$offset()" -o /tmp/missed -- ./kpwork /tmp/expected
says missed_said "events were missed: another probe was being handled"
# More calls than hodo can wait for at one time.
status awaited 0 hodo record -k -e 'kprobe:do_nanosleep%return' -o "$OUT/awaited" -- ./kpwork sleep 1040
says awaited_said "events were missed: more calls at once"
# A call that has returned makes room for another. hodo sleeps, too, on a busy machine often.
awaited=$(hodo print -q --filter '$comm == "kpwork"' "$OUT/awaited" | grep -c 'do_nanosleep%return')
check awaited_count test "$awaited" -gt 1000 -a "$awaited" -lt 1040

# ------------------------------------------------------------- a function of a module that goes
status module 0 hodo record -k -e 'kprobe:kpcalls_step($arg1, $arg2:i64),kprobe:kpcalls_step%return($retval:i32)' -o "$OUT/module" -- \
	sh -c 'echo 4 >/sys/module/kprobes_calls/parameters/run; rmmod kprobes_calls'
equal module_count "$(count "$OUT/module" kprobe:kpcalls_step)" 4
equal module_return "$(hodo print -q "$OUT/module" | grep -c 'kpcalls_step%return retval=-2$')" 1
none all_gone

# ------------------------------------------------------------- recorders that are killed
hodo record -q -k -e 'kprobe:vfs_read(count),kprobe:vfs_read%return' -o /tmp/killed &
recorder=$!
check begun wait_until 60 grep -q 1 $HODO/enabled
check listed sh -c "hodo list -k 'kprobe:*' | grep -q 'kprobe:vfs_read%return  *on  *kprobe  *(retval:i64, duration:u64)'"
kill -9 $recorder
wait $recorder 2>/dev/null
none killed_gone
check killed_events test -z "$(hodo list -k 'kprobe:*' 2>/dev/null)"

# ------------------------------------------------------------- what is refused
refuse() {
	refuse_name=$1
	refuse_text=$2
	shift 2
	status "$refuse_name" 1 hodo record -k -e "$1" -o /tmp/refused.data -- true
	says "${refuse_name}_said" "$refuse_text"
}
refuse no_function "the kernel has no function vfs_raed: did you mean vfs_read" 'kprobe:vfs_raed'
refuse no_member "struct file has no member 'f_pat': did you mean f_path" 'kprobe:vfs_read(file->f_pat)'
refuse blacklisted "the kernel forbids probes there" 'kprobe:__die'
refuse middle "no instruction of vfs_read begins there" 'kprobe:vfs_read+3'
refuse beyond "no instruction of vfs_read begins there" 'kprobe:vfs_read+0x100000'
check hostile ./hostile 150
none hostile_gone

# ------------------------------------------------------------- what it costs, for people
cost() {
	"$@" ./kpwork cost 30 | tail -n 1
}
plain=$(cost env)
echo 1 >$TRACING/events/kp/in/enable
theirs=$(cost env)
echo 0 >$TRACING/events/kp/in/enable
echo 1 >$TRACING/events/kp/out/enable
theirs_out=$(cost env)
echo 0 >$TRACING/events/kp/out/enable
ours=$(cost hodo record -q -k -e 'kprobe:vfs_read(file:ptr, count)' -o /tmp/cost --)
ours_out=$(cost hodo record -q -k -e 'kprobe:vfs_read%return($retval)' -o /tmp/cost --)
note "ns of a read here: $plain; with ftrace's kprobe $theirs, kretprobe $theirs_out; with hodo's $ours, $ours_out"
echo >$TRACING/kprobe_events
unload
finish
