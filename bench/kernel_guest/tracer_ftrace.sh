# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# tracer_ftrace.sh - the kernel's own trace events.
T=/sys/kernel/tracing

tracer_load() {
	echo 2048 >$T/buffer_size_kb && echo 1 >$T/options/overwrite
}

tracer_start() {
	echo >$T/trace
	for set; do
		for event in $(kernel_set "$set"); do
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
