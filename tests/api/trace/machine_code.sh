#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# machine_code.sh INCLUDE LIBHODO: the promises, in machine code. An idle site is one 5-byte instruction and nothing
# else, with every compiler; the enabled path has no locked instruction, no call and does not use the stack.
set -u
include=$1 lib=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
fail=0
bad() {
	echo "FAIL $*"
	fail=1
}
[ "$(uname -m)" = x86_64 ] || { echo "skipped: sites are patched on x86-64 only"; exit 0; }

cat >x.c <<'SRC'
#include <hodo/trace.h>
#ifdef __cplusplus
extern "C"
#endif
int site(int key, uint64_t bytes);
int site(int key, uint64_t bytes)
{
	HODO_EVENT(kv, put, key, bytes);
	return key;
}
SRC
cp x.c x.cc
# What remains of site() when idle: the test, the return value and the return. weight.py checks other functions.
for cc in gcc clang g++ clang++; do
	src=x.c std=gnu11
	[[ $cc == *++ ]] && src=x.cc std=gnu++17
	for level in -O2 -O3; do
		$cc -std=$std $level -fcf-protection=none -I"$include" -c $src -o x.o || { bad "$cc $level"; continue; }
		objdump -d --no-show-raw-insn --disassemble=site x.o |
			awk '/>:$/ { on = 1; next } on && /^ / { print; if ($2 ~ /^ret/) exit }' >hot
		names=$(awk '{ print $2 }' hot | tr '\n' ' ')
		case $cc:$names in
		g*:"test mov ret " | g*:"mov test ret ") ;;
		g*) bad "$cc $level: the idle path is: $names" ;;
		esac
		grep -vE 'ret|test +\$0x[0-9a-f]+,%eax|mov +%e..,%e..$' hot >rest &&
			bad "$cc $level: the idle path has: $(cat rest)"
		[ "$(grep -c 'test ' hot)" = 1 ] || bad "$cc $level: not one instruction a site"
		size=$(objdump -d x.o --disassemble=site | grep -m 1 -oE 'a9( [0-9a-f]{2}){4}' | wc -w)
		[ "$size" = 5 ] || bad "$cc $level: the site is not the 5 bytes of A9 rel32"
	done
done

# The fast writer, up to its return: instructions, and which must not be among them.
body() { objdump -d --no-show-raw-insn "$lib" | awk -v f="<$1>:" '$2 == f { on = 1; next } on && /^$/ { exit } on'; }
symbols=$(nm "$lib" 2>/dev/null | grep -c " hodo_x86_")
if [ "$symbols" -eq 0 ]; then
	bad "libhodo has no symbols to look at (stripped?)"
else
	for f in emit_start hodo_x86_emit try_start hodo_x86_try switch_start; do
		text=$(body $f)
		[ -n "$text" ] || bad "no code for $f"
		grep -qE '\block\b|\bcall\b|xchg|mfence|cpuid' <<<"$text" && bad "$f: $(grep -m 1 -E 'lock|call|xchg|mfence|cpuid' <<<"$text")"
	done
	n=$( (body hodo_x86_emit; body emit_start) | grep -c .)
	[ "$n" -le 60 ] || bad "the fast writer has grown to $n instructions"
	(body hodo_x86_emit; body emit_start) | grep -qE '\bpush\b|\bpop\b|sub .*,%rsp' &&
		bad "the fast writer uses the stack"
	[ "$( (body emit_start) | grep -c rdtsc)" = 1 ] || bad "the fast writer reads the clock other than once"
	echo "fast writer: $n instructions, one clock read, no lock, no call, no stack"
fi
exit $fail
