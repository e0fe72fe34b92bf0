# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# tracer_lttng.sh - LTTng-modules: a snapshot session; its channel overwrites, and has no timers.
L="lttng --no-sessiond --quiet"

tracer_load() {
	lttng-sessiond --daemonize --kmod-probes=sched,irq,net,napi,block,x86-exceptions
}

lttng_set() {
	case $1 in
	syscalls) echo "--syscall --all" ;;
	getppid | write | access) echo "--syscall $1" ;;
	sched) echo "sched_*" ;;
	irq) echo "irq_*" ;;
	block) echo "block_*" ;;
	net) echo "net_*" "napi_*" ;;
	page) echo x86_exceptions_page_fault_user x86_exceptions_page_fault_kernel ;;
	switch) echo sched_switch ;;
	esac
}

tracer_start() {
	$L create bench --snapshot || fail "lttng create"
	$L enable-channel --kernel ch --overwrite --subbuf-size=64K --num-subbuf=32 --monitor-timer=0 \
		--read-timer=0 || fail "lttng enable-channel"
	set -f
	for set; do
		events=$(lttng_set "$set")
		case $events in
		--syscall*)
			# shellcheck disable=SC2086
			$L enable-event --kernel --channel=ch $events || fail "lttng: $set"
			;;
		*)
			for event in $events; do
				$L enable-event --kernel --channel=ch "$event" || fail "lttng: $event"
			done
			;;
		esac
	done
	set +f
	$L start || fail "lttng start"
}

tracer_count() { echo 0 0; }

tracer_keep() {
	$L snapshot record --name="$1" || fail "lttng snapshot"
	mkdir -p "/tmp/keep/$1"
	mv /root/lttng-traces/bench-*/"$1"-* "/tmp/keep/$1/"
}

tracer_stop() {
	$L stop && $L destroy
}
