#!/bin/sh
# SPDX-License-Identifier: MIT
# compare.sh BEFORE AFTER - exit status 3 if the program AFTER does more work than BEFORE, or is always slower.
#
# docs/howto/ci.md explains it. It leaves behind the recordings, each as one file, and the comparisons.
set -eu
runs=5 slower=0
events='kv:*,!kv:lock_wait' # how often threads meet at a lock is chance

record() {
	hodo record -q --wait -e "$events" -o "$2" "$1" -n 20000 >"$2.log"
	hodo pack -q --force "$2"
}

for run in $(seq $runs); do
	record "$1" "before-$run"
	record "$2" "after-$run"
	hodo stat --diff "after-$run" --fail-if 'count > +5%' "before-$run" >"count-$run.txt"
	status=0
	hodo report --diff "after-$run" --fail-if 'p99 > +10%' "before-$run" >"times-$run.txt" || status=$?
	case $status in
	0) ;;
	3) slower=$((slower + 1)) ;;
	*) exit "$status" ;;
	esac
done
[ "$slower" -lt "$runs" ] || exit 3
