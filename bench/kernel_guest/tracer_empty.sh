# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# tracer_empty.sh - probes that do nothing: the least that any tracer can cost.
tracer_load() { :; }

tracer_start() {
	case $1 in
	switch) insmod /ko/empty.ko switch=1 || fail "empty.ko" ;;
	*) insmod /ko/empty.ko syscalls=1 || fail "empty.ko" ;;
	esac
}

tracer_count() { echo 0 0; }
tracer_keep() { :; }
tracer_stop() { rmmod empty; }
