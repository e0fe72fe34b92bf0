#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What scripts/demo-kernel shows: the guest's scheduler and system calls, recorded while a command runs, alone and with
# the command's own events left out.
. /lib/guest.sh

# explain TEXT COMMAND: writes to the transcript what comes next, and the command as a user would type it.
explain() {
	printf '\n# %s\n$ %s\n' "$1" "$2" >>"$OUT/demo.txt"
}

cd /tmp || exit 1
command="find /sys/devices /proc/1 -name 'c*'"
explain "The module, in an unmodified kernel: $(uname -r)." "insmod hodo.ko; hodo list -k | wc -l"
check load load
check list sh -c 'hodo list -k >list.txt && [ "$(wc -l <list.txt)" -gt 100 ]'
wc -l <list.txt >>"$OUT/demo.txt"

explain "Record the scheduler and all system calls while a command runs." \
	"hodo record -k -e 'sched:*,syscalls:*' -- $command"
check record sh -c "hodo record -k -e 'sched:*,syscalls:*' -- $command 2>said.txt >/dev/null"
cat said.txt >>"$OUT/demo.txt"

explain "How often each event happened, and whether any was lost." "hodo stat | head -n 24"
check stat sh -c 'hodo stat >stat.txt'
head -n 24 stat.txt >>"$OUT/demo.txt"
check stat.sched grep -q sched_switch stat.txt
check stat.syscalls grep -q sys_enter_openat stat.txt

explain "The command opens files: arguments have their types, paths are texts." \
	"hodo print --filter 'filename =~ \"/sys*\"' | head -n 6"
check print sh -c 'hodo print --color=never --filter "filename =~ \"/sys*\"" >print.txt && [ -s print.txt ]'
head -n 6 print.txt | cut -c 1-118 >>"$OUT/demo.txt"

explain "And on the same timeline, who ran when." "hodo print | grep sched_switch | head -n 6"
check switches sh -c 'hodo print --color=never | grep sched_switch >switches.txt'
head -n 6 switches.txt | cut -c 1-118 >>"$OUT/demo.txt"

unload
bring hodo.data
finish
