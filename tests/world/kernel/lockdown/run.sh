#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A kernel that is locked down, as with Secure Boot: in integrity mode, everything works except the files in debugfs; in
# confidentiality mode nothing works, and hodo says why.
# guest: everywhere last timeout=200
. /lib/guest.sh

LOCKDOWN=/sys/kernel/security/lockdown
EVENT=events/syscalls/sys_enter_getppid

# recorded NAME DIR EVENT: the recording has the event.
recorded() {
	check "$1" test "$(count "$2" "$3")" -gt 0
}

# doctor TEXT: prints doctor's line about the module.
doctor() {
	hodo doctor | grep "module  *$1"
}

load || exit 1
mount -t securityfs securityfs /sys/kernel/security
exec 4<$DEBUG/record
check integrity sh -c "echo integrity >$LOCKDOWN"
check integrity_holds grep -qF '[integrity]' $LOCKDOWN
refused debugfs_record sh -c ": <>$DEBUG/record"
refused debugfs_memory sh -c ": <$DEBUG/memory"

status record 0 hodo record -k -e 'sched:*' -o /tmp/record -- true
recorded record_has /tmp/record sched:sched_switch
status functions 0 hodo record -k -e 'func:vfs_open' -o /tmp/functions -- cat /dev/null
check functions_has sh -c 'hodo print -q /tmp/functions | grep -q vfs_open'
status list 0 hodo list -k 'syscalls:*'
check doctor doctor ".*hodo.ko is loaded"
echo '$pid > 0' >$HODO/$EVENT/filter
equal tree_filter "$(cat $HODO/$EVENT/filter)" '$pid > 0'
echo 1 >$DEBUG/$EVENT/enable
equal tree_enable "$(cat $HODO/$EVENT/enable)" 1
echo 1 >$HODO/enabled
equal tree_debugfs "$(cat $DEBUG/enabled)" 1
./getppid
status snapshot 0 hodo snapshot -k -o /tmp/snapshot
recorded snapshot_has /tmp/snapshot syscalls:sys_enter_getppid

# Files that are open stay open, as those of ftrace do.
exec 5</dev/hodo
check confidentiality sh -c "echo confidentiality >$LOCKDOWN"
for verb in "record -k -o /tmp/none -- true" "list -k" "snapshot -k -o /tmp/none"; do
	name=${verb%% *}
	# shellcheck disable=SC2086
	status "secret_$name" 1 hodo $verb
	says "secret_${name}_said" "the kernel is locked down (confidentiality)"
done
check secret_nothing test ! -e /tmp/none
check secret_doctor doctor ".*locked down (confidentiality)"
refused secret_device sh -c ": </dev/hodo"
for file in enabled info overflow $EVENT/filter $EVENT/format; do
	refused "secret_$(basename $file)" cat $HODO/$file
done
refused secret_write sh -c "echo 0 >$HODO/enabled"
exec 4<&- 5<&-
check unload unload

# Nor can anybody load it without a signature.
status missing 1 hodo record -k -o /tmp/none -- true
says missing_said "accepts only signed modules"
refused unsigned load
finish
