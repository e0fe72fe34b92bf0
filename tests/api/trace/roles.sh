#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# roles.sh: HODO_ONLY_IN names the function that contains it, and no other, whatever compilers make of it: g++ and
# clang++, -O0 to -O3, LTO, PIE and not, section garbage collection, without symbols.
set -u
include=$1 src=$2 hodo=$3 functions=$4
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
want="Box<char>::put(char) Box<int>::put(int) Window::clear() Window::draw() early(int) theirs() ui::helper() ui::local()"
pass=0 fail=0

names='
import json, sys
events = [json.loads(line) for line in sys.stdin]
print(*sorted({e["function"] for e in events if e["name"] == "func:wrong_thread"}))
'

one() { # compiler options...
	local cxx=$1 slots libs=() got strip=
	shift
	case $cxx in
	g++) slots="-pg -mfentry -minstrument-return=call" libs=("$functions") ;;
	*) slots="-fxray-instrument -fxray-instruction-threshold=1" ;;
	esac
	# shellcheck disable=SC2086
	if ! $cxx -std=c++17 -g -Wall -Wextra -Wpedantic -Wshadow -Werror -I"$include" $slots "$@" "$src/roles.cc" \
		-o roles "${libs[@]}" -lpthread 2>errors; then
		echo "FAIL $cxx $*: $(head -n 3 errors)" >&2
		fail=$((fail + 1))
		return
	fi
	[ -n "${STRIP:-}" ] && strip roles && strip=" stripped"
	rm -rf trace
	"$hodo" record -q -o trace --tracer thread ./roles >out 2>&1
	if [ -n "$strip" ]; then # no names: as many
		got=$("$hodo" print --json trace | grep -c wrong_thread)
		[ "$got" = 8 ] && got=$want
	else
		got=$("$hodo" print --json trace | python3 -c "$names")
	fi
	if [ "$got" = "$want" ]; then
		pass=$((pass + 1))
	else
		echo "FAIL $cxx $*$strip: $got; $(head -n 3 out)" >&2
		fail=$((fail + 1))
	fi
}

for cxx in g++ clang++; do
	command -v $cxx >/dev/null || continue
	for options in -O0 -O1 -O2 -O3 -Os "-O2 -fPIE -pie" "-O2 -fno-pie -no-pie" \
		"-O2 -ffunction-sections -Wl,--gc-sections" "-O2 -fcf-protection=full"; do
		# shellcheck disable=SC2086
		one $cxx $options
	done
	STRIP=1 one $cxx -O2
done
one g++ -O2 -flto
echo "$pass builds checked, $fail wrong"
[ "$fail" -eq 0 ] && [ "$pass" -gt 0 ]
