# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# tracer_hodo.sh - hodo.ko by its control tree, as a flight recorder.
K=/sys/kernel/debug/hodo

tracer_load() {
	insmod /ko/hodo.ko || return 1
	echo overwrite >$K/mode && echo 2048 >$K/buffer_size_kb && echo 64 >$K/packet_size_kb
}

hodo_set() {
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

tracer_start() {
	started=
	for set; do
		for event in $(hodo_set "$set"); do
			echo 1 >"$K/events/$event/enable" || fail "hodo: $event"
			started="$started $event"
		done
	done
	echo 1 >$K/enabled || fail "hodo: enabled"
}

tracer_count() { /bin/count; }
tracer_keep() { :; }

tracer_stop() {
	echo 0 >$K/enabled
	for event in $started; do
		echo 0 >"$K/events/$event/enable"
	done
}
