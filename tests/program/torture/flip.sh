#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# flip.sh: 100,000 rounds of switching sites off and on while three threads run them, with rseq and without.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
run() { # rounds, command prefix...
	rounds=$1
	shift
	rm -rf "$dir/trace"
	"$HODO" record -q -o "$dir/trace" -m 64M -- "$@" "$FLIP" "$rounds"
	"$LATE" "$dir/trace" "$rounds"
}
run 100000
run 10000 env GLIBC_TUNABLES=glibc.pthread.rseq=0
