#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# calls.sh MODE: entries and exits in deep recursion, coroutines and signal handlers on a separate stack, with
# restartable sequences and without: each has its thread, time, function and frame. This requires that nothing is lost:
# in mode discard the program waits for room in small rings.
set -eu
mode=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
seed=${SEED:-$RANDOM}
options=(-m 64K --wait) together=4
# Threads that share a ring lose events when they get in each other's way, unless they wait.
[ "$mode" = overwrite ] && options=(-m 64M --overwrite) together=1

run() { # title, threads, rounds, command prefix...
	local what=$1 threads=$2 rounds=$3
	shift 3
	rm -rf "$dir/trace" "$dir/shared"
	# The command in front is not recorded: it has functions, too.
	"$@" "$HODO" record -q -o "$dir/trace" --functions "${options[@]}" -- \
		"$TARGET" "$dir/shared" "$threads" "$rounds" 100 2>"$dir/err" || { cat "$dir/err"; exit 1; }
	echo -n "$what $mode: "
	"$CHECK" "$dir/trace" "$dir/shared" exact || { cat "$dir/err"; exit 1; }
}
run rseq 4 400
run tunable $together 100 env GLIBC_TUNABLES=glibc.pthread.rseq=0
run seccomp $together 100 "$DENY" rseq
export HODO_LIBRARY=$INJECT_LIB
for point in 5 6 7 8; do
	seed=$((seed + 1))
	export HODO_INJECT_SEED=$seed HODO_INJECT_LOOPS=$point:1000
	run "seed $seed point $point" 4 50
done
babeltrace2 "$dir/trace" --component sink.utils.dummy
