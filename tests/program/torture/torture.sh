#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# torture.sh RSEQ MODE: 8 threads of 1,000,000 events each (200,000 without rseq, which is slower), or as many as they
# write within 20 seconds, with signal handlers that trace every 50 us and forced migration, into rings of 16 KiB to
# 1 MiB; everything written must be read or counted, each event with its thread and time: also where threads change
# all the time, and where a single one rests for longer than an epoch.
#
# Without rseq, an event takes longer than the 20 us between two signals: the program would run only its
# handlers.
set -eu
rseq=$1 mode=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
events=1000000 often=20
case $rseq in
on) prefix=() ;;
tunable) prefix=(env GLIBC_TUNABLES=glibc.pthread.rseq=0) events=200000 often=100 ;;
seccomp) prefix=("$DENY" rseq) events=200000 often=100 ;;
esac
options=()
[ "$mode" = overwrite ] && options=(--overwrite)
run() { # size, threads, events, signal interval in us, how they migrate, seconds
	rm -rf "$dir/trace" "$dir/shared"
	"$HODO" record -q -o "$dir/trace" -m "$1" "${options[@]}" -- \
		"${prefix[@]}" "$TARGET" "$dir/shared" "${@:2}" 2>"$dir/err" || { cat "$dir/err"; exit 1; }
	echo -n "$rseq $mode -m $1: "
	"$CHECK" "$dir/trace" "$dir/shared" exact || { cat "$dir/err"; exit 1; }
}
run 64K 8 $events 50 1 20
run 16K 8 100000 $often 1 10
run 1M 8 100000 200 1 10
run 16M 4 50000 100 2 10
run 16M 1 12000 0 3 10
