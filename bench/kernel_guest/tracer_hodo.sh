# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# tracer_hodo.sh - hodo.ko by its control tree, as a flight recorder.
K=/sys/kernel/debug/hodo

tracer_load() {
	insmod /ko/hodo.ko || return 1
	echo overwrite >$K/mode && echo 2048 >$K/buffer_size_kb && echo 64 >$K/packet_size_kb
}

tracer_start() {
	started=
	for set; do
		for event in $(kernel_set "$set"); do
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
