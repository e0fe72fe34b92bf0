# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# tracer_ftrace.sh - the kernel's own trace events.
T=/sys/kernel/tracing

tracer_load() {
	echo 2048 >$T/buffer_size_kb && echo 1 >$T/options/overwrite
}

ftrace_set() {
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
	echo >$T/trace
	for set; do
		for event in $(ftrace_set "$set"); do
			echo 1 >"$T/events/$event/enable" || fail "ftrace: $event"
		done
	done
}

# "bytes" is what is in the buffer now; the events that were overwritten are taken to have been as large.
tracer_count() {
	awk '/^entries:/ { n = $2 } /^overrun:/ { over = $2 } /^bytes:/ { b = $2 }
		END { printf "%d %d\n", n + over, n ? b / n * (n + over) : 0 }' $T/per_cpu/cpu0/stats
}

tracer_keep() { :; }

tracer_stop() {
	echo 0 >$T/events/enable
}
