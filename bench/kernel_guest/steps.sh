# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# steps.sh - what the plan is made of; read by the guest's init. A tracer is a file tracer_NAME.sh with
#	tracer_load         once, before it is used: after it, nothing is traced yet
#	tracer_start SET…   events are recorded from now on, into 2 MB, the oldest overwritten
#	tracer_count        prints "EVENTS BYTES" written since then
#	tracer_keep NAME    where only what was recorded shows that: leaves it in /tmp/keep/NAME
#	tracer_stop         no more
#
# Sets of events: syscalls, sched, irq, page (faults), net (with napi), block, and those that LTTng-modules has
# no probe of here: timer, pages (allocated and freed). Single ones: getppid, write, switch, kmalloc, kfree; and
# raw, system calls by number, which ftrace alone knows as something else.

# kernel_set SET - its events by the names that the kernel's trace events and hodo.ko's share.
kernel_set() {
	case $1 in
	syscalls | sched | irq | block | timer) echo "$1" ;;
	raw) echo raw_syscalls ;;
	net) echo net napi ;;
	page) echo exceptions/page_fault_user exceptions/page_fault_kernel ;;
	pages) echo kmem/mm_page_alloc kmem/mm_page_free ;;
	getppid | write | access) echo "syscalls/sys_enter_$1" "syscalls/sys_exit_$1" ;;
	switch) echo sched/sched_switch ;;
	kmalloc | kfree) echo "kmem/$1" ;;
	esac
}

use_tracer() {
	# shellcheck disable=SC1090
	. "/tracer_$1.sh"
	tracer_load || fail "$1 cannot be loaded"
}

# micro STATE OPERATION
micro() {
	line=$(/bin/micro "$2") || fail "micro $2"
	say micro "$1" "$line"
}

# micro_on STATE OPERATION SET…: with these events recorded.
micro_on() {
	state=$1 operation=$2
	shift 2
	tracer_start "$@"
	micro "$state" "$operation"
	tracer_stop
}

# work NAME SETS CMD…: runs it while the events of the sets are recorded, or with nothing where there are none; says how
# long that took and what was written.
work() {
	name=$1 sets=$2 before="0 0" after="0 0"
	shift 2
	if [ -n "$sets" ]; then
		# shellcheck disable=SC2086
		tracer_start $sets
		before=$(tracer_count)
	fi
	/bin/micro run ticks "$@" >/tmp/out 2>&1 || {
		cat /tmp/out
		fail "$name: $*"
	}
	if [ -n "$sets" ]; then
		after=$(tracer_count)
		tracer_keep "$name"
		tracer_stop
	fi
	say work "$name" "$(sed -n 's/^ticks //p' /tmp/out)" "$before" "$after" \
		"$(sed -n 's/^Throughput \([0-9.]*\) .*/\1/p' /tmp/out)"
}

# Writes what the tracer kept to the disk, which the host reads.
send_kept() {
	[ -d /tmp/keep ] || return 0
	cat /lib/order/virtio_pci /lib/order/virtio_blk | while read -r file; do
		insmod "$file" 2>/dev/null
	done
	tar -C /tmp/keep -cf /dev/vda . || fail "the disk"
	sync
}
