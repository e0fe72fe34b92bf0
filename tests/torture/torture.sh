#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# torture.sh RSEQ MODE: 8 threads of 1,000,000 events each (200,000 without rseq, which is slower), with signal
# handlers that trace every 50 us and forced migration, into rings of 16 KiB to 1 MiB; everything written must be
# read or counted.
set -eu
rseq=$1 mode=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
events=1000000
case $rseq in
on) prefix=() ;;
tunable) prefix=(env GLIBC_TUNABLES=glibc.pthread.rseq=0) events=200000 ;;
seccomp) prefix=("$DENY" rseq) events=200000 ;;
esac
options=()
[ "$mode" = overwrite ] && options=(--overwrite)
run() { # size, events, signal interval in us
	rm -rf "$dir/trace" "$dir/shared"
	"$HODO" record -q -o "$dir/trace" -m "$1" "${options[@]}" -- \
		"${prefix[@]}" "$TARGET" "$dir/shared" 8 "$2" "$3" 1 2>"$dir/err" || { cat "$dir/err"; exit 1; }
	echo -n "$rseq $mode -m $1: "
	"$CHECK" "$dir/trace" "$dir/shared" exact || { cat "$dir/err"; exit 1; }
}
run 64K $events 50
run 16K 100000 20
run 1M 100000 200
