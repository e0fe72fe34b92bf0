#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Functions of the kernel: entries and exits, counted and compared with ftrace's; of modules, also of one that is loaded
# during the recording; all functions of a busy machine; again and again; what hodo refuses.
#
# guest: everywhere turns timeout=1500
. /lib/guest.sh

# said NAME STATUS TEXT COMMAND...: the command ends with STATUS, and its output contains TEXT.
said() {
	said_name=$1
	said_status=$2
	said_text=$3
	shift 3
	said_is=$("$@" 2>&1)
	said_got=$?
	case $said_got:$said_is in
	"$said_status":*"$said_text"*) ok "$said_name" ;;
	*) not_ok "$said_name" "status $said_got: $said_is" ;;
	esac
}

load || exit 1
insmod ./functions_calls.ko

# ------------------------------------------------------------- beside ftrace
echo 8192 >$TRACING/buffer_size_kb
# System calls without arguments have several names; ftrace knows one of them.
printf '%s\n' vfs_read '*_sys_getppid' >$TRACING/set_ftrace_filter
echo function >$TRACING/current_tracer
echo >$TRACING/trace
check counted hodo record -q -k -e 'func:vfs_read,func:__x64_sys_getppid' -o "$OUT/counted" -- ./calls 2000 "$OUT/calls"
cat $TRACING/trace >"$OUT/ftrace"
echo nop >$TRACING/current_tracer
echo >$TRACING/set_ftrace_filter
check by_which dmesg -c
check names sh -c "hodo print -q '$OUT/counted' | grep -q vfs_read"
hodo graph "$OUT/counted" >/tmp/graph 2>&1
check graph grep -q 'vfs_read' /tmp/graph

# ------------------------------------------------------------- of modules
check module hodo record -q -k -e 'func:fcalls_*,!func:*_left_*' -o "$OUT/module" -- \
	sh -c 'echo 50 >/sys/module/functions_calls/parameters/run'
hodo graph "$OUT/module" >"$OUT/module.graph" 2>&1

# A module that comes later is included where functions are chosen by name.
check late hodo record -q -k -m 2M -e 'func:f*' -o "$OUT/late" -- \
	sh -c 'insmod ./functions_late.ko && echo 7 >/sys/module/functions_late/parameters/run'
rmmod functions_late

# ------------------------------------------------------------- all of them, on a busy machine; again and again
all_of_them() {
	(while :; do cat /proc/*/stat >/dev/null 2>&1; done) &
	one=$!
	dd if=/dev/zero of=/dev/null bs=512 2>/dev/null &
	two=$!
	hodo record -k --functions -e 'func:*' -m 1M --duration 4 -o "$OUT/all" 2>"$OUT/all.said"
	equal all $? 0
	kill $one $two
	sed 's/^/# /' "$OUT/all.said"
	check all_alive sh -c 'ls / >/dev/null && ./calls 10 /tmp/calls'
	check all_read sh -c "hodo stat -q '$OUT/all' | grep -q func:"
}

again_and_again() {
	i=0
	failed=0
	while [ $i -lt 4 ]; do
		hodo record -q -k -e 'func:fcalls_*' -o /tmp/again -- \
			sh -c 'echo 1 >/sys/module/functions_calls/parameters/run' || failed=$((failed + 1))
		[ "$(hodo stat -q /tmp/again | awk '/func:entry/ { print $2 }')" = 11 ] || failed=$((failed + 1))
		i=$((i + 1))
	done
	equal again_and_again $failed 0
}

# With fprobe, the kernel waits for all tasks each time, which takes minutes in the emulator.
if ! grep -q ' register_fprobe$' /proc/kallsyms || grep -q hodo_long /proc/cmdline; then
	all_of_them
	again_and_again
else
	note "all functions at once, again and again: here only with --append hodo_long"
fi

# ------------------------------------------------------------- what is refused
said no_such 1 "none of the kernel's" hodo record -k -e 'func:nothing_of_that_name' -o /tmp/no -- true
said no_tracer 2 "--tracer is for functions of programs" hodo record -k --functions --tracer profile -o /tmp/no -- true
said no_depth 2 "--depth is for functions of programs" hodo record -k --functions --depth 3 -o /tmp/no -- true
rmmod functions_calls
unload
finish
