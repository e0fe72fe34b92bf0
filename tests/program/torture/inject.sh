#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# inject.sh: the torture on a libhodo with delays, yields and signals at its critical places, chosen by a seed;
# then SIGKILL at every injection point.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HODO_LIBRARY=$INJECT_LIB
seed=${SEED:-$RANDOM}
points=8

run() { # check, expected status, record options...; then -- and the target's arguments
	local check=$1 want=$2 status=0
	shift 2
	rm -rf "$dir/trace" "$dir/shared"
	"$HODO" record -q -o "$dir/trace" "$@" 2>"$dir/err" || status=$?
	[ $status -eq "$want" ] || { echo "status $status, not $want"; cat "$dir/err"; exit 1; }
	"$CHECK" "$dir/trace" "$dir/shared" "$check" || { echo "seed $seed"; cat "$dir/err"; exit 1; }
}

for mode in "" --overwrite; do
	for size in 8K 64K; do
		for loops in 0 200; do
			seed=$((seed + 1))
			echo -n "seed $seed $mode $size loops $loops: "
			# shellcheck disable=SC2086
			HODO_INJECT_SEED=$seed HODO_INJECT_LOOPS=$loops run exact 0 -m $size $mode -- \
				"$TARGET" "$dir/shared" 4 100000 100 1 5
		done
	done
	echo -n "seed $seed $mode fallback: "
	# shellcheck disable=SC2086
	HODO_INJECT_SEED=$seed run exact 0 -m 64K $mode -- \
		env GLIBC_TUNABLES=glibc.pthread.rseq=0 "$TARGET" "$dir/shared" 4 20000 200 1 5
done

# Where an anchor is written, and where the ring learns of it: in the sequences, and between them (8). The rings
# have room for all events, so that each event's thread is checked.
for point in 5 6 7 8; do
	seed=$((seed + 1))
	echo -n "seed $seed point $point: "
	HODO_INJECT_SEED=$seed HODO_INJECT_LOOPS=$point:3000 run exact 0 -m 16M -- \
		"$TARGET" "$dir/shared" 4 20000 50 2 5
done

# This program does not pass HODO_INJECT_PROBE_ENTER (7), and passes HODO_INJECT_PATCHED (6) only before it writes.
for ((point = 0; point < points; point++)); do
	for nth in 1 7 100; do
		for tunable in 1 0; do
			rm -rf "$dir/trace" "$dir/shared"
			status=0
			(
				exec 2>"$dir/err" # the shell's own words on the death, too
				export HODO_INJECT_KILL=$point:$nth
				timeout -k 5 20 "$HODO" record -q -o "$dir/trace" -m 16K -- \
					env GLIBC_TUNABLES=glibc.pthread.rseq=$tunable \
					"$TARGET" "$dir/shared" 3 20000 50 1 5
				exit $?
			) || status=$?
			if [ $status -eq 137 ] && [ -s "$dir/shared" ]; then
				killed=$((${killed:-0} + 1))
				"$CHECK" "$dir/trace" "$dir/shared" killed >"$dir/out" || {
					# Killed before the first event was committed: nothing to read.
					grep -q 'written 0\.\..* read 0 ' "$dir/out" ||
						{ echo "killed at $point:$nth"; cat "$dir/out" "$dir/err"; exit 1; }
				}
				babeltrace2 "$dir/trace" --component sink.utils.dummy >"$dir/bt2" 2>&1 || {
					grep -q 'written 0\.\.' "$dir/out" ||
						{ echo "killed at $point:$nth: babeltrace2"; cat "$dir/bt2"; exit 1; }
				}
			elif [ $status -ne 0 ] && [ $status -ne 137 ]; then
				echo "killed at $point:$nth: status $status"
				cat "$dir/err"
				exit 1
			fi
		done
	done
done
echo "killed ${killed:-0} times at injection points"
[ "${killed:-0}" -ge 12 ]
