#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# gdb.sh HAZARDS - the debugger's backtrace continues through replaced return addresses, up to main.
set -u
command -v gdb >/dev/null || { echo "skipped: no gdb"; exit 77; }
out=$(timeout 120 gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'break gdb_leaf' -ex run -ex backtrace \
	-ex finish -ex up -ex 'info frame' -ex continue --args "$1" gdb 2>&1)
if grep -q "warning: Error disabling address space randomization\|Cannot.*ptrace\|ptrace: Operation not permitted" <<<"$out" &&
	! grep -q '#0' <<<"$out"; then
	echo "skipped: this machine does not let gdb run programs"
	exit 77
fi
want='gdb_leaf gdb_middle gdb_stop run_part main'
got=$(sed -n 's/^#[0-9]* .*\b\(gdb_[a-z]*\|run_part\|main\) (.*/\1/p' <<<"$out" | head -5 | tr '\n' ' ')
if [ "$got" != "$want " ] || ! grep -q "exited normally" <<<"$out"; then
	echo "$out"
	echo "frames: $got, not $want"
	exit 1
fi
