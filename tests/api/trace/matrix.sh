#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# matrix.sh [full]: sites are found and recorded with every compiler, level, linker and kind of output: C and C++,
# gcc and clang, -O0 to -O3, LTO, bfd, gold, lld, mold, PIE, not PIE, shared, static, with section garbage
# collection and without, strict and GNU dialects, patched and in flag mode. Without "full" it runs a selection
# that has every value with every kind of output.
set -u
include=$1 src=$2 hodo=$3 static_lib=$4 host=$5 read_counts=$6 full=${7:-}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
rounds=3 pass=0 fail=0 skipped=0
launcher=$(command -v ccache || true) # most of the time is for compilers

# name=count of what a C program records in three rounds; C++ has more, which is checked separately
c_want="all:nothing=3 all:ints=3 all:others=3 all:texts=3 all:mixed=3 all:sixteen=3 all:mark=3 all:cut=3 all:plain=3
all:depth=3 all:request.begin=3 all:request.end=3 all:scope.begin=3 all:scope.end=3 all:inside=3 all:inlined=3
tp:evict=3 tp:tick=3"
cxx_want="$c_want cxx:ctor=18 cxx:dtor=18 cxx:lambda=6 cxx:caught=6 cxx:tmpl=18 cxx:inlinef=6 cxx:method.begin=12 cxx:method.end=12"

miss() {
	fail=$((fail + 1))
	echo "FAIL $1: $2" >&2
}

check() { # what, want, command...
	local what=$1 want=$2 got
	shift 2
	"$@" >/dev/null 2>&1 || { miss "$what" "does not run where libhodo is absent"; return; }
	rm -rf trace
	if ! "$hodo" record -q -o trace -- "$@" >out 2>&1; then
		miss "$what" "$(head -n 3 out)"
		return
	fi
	got=" $(python3 "$read_counts" "$hodo" trace) "
	for pair in $want; do
		[[ $got == *" $pair "* ]] || { miss "$what" "no $pair in:$got"; return; }
	done
	pass=$((pass + 1))
}

one() { # compiler linker level kind gc dialect keys
	local cc=$1 linker=$2 level=$3 kind=$4 gc=$5 dialect=$6 keys=$7
	local cxx=g++ what="$*" cflags ldflags
	[ "$cc" = clang ] && cxx=clang++
	if [[ $level == *lto* ]]; then
		[ "$cc" = gcc ] && [ "$linker" = lld ] && return # gcc's LTO has no plugin for lld
		[ "$cc" = clang ] && [ "$linker" != lld ] && ! [ -e /usr/lib/bfd-plugins/LLVMgold.so ] && return
	fi
	read -ra cflags <<<"$level -I$include -DHODO_STATIC_KEYS=$keys"
	read -ra ldflags <<<"$level -fuse-ld=$linker"
	case $kind in
	pie) cflags+=(-fPIE) ldflags+=(-pie) ;;
	nopie) cflags+=(-fno-pie) ldflags+=(-no-pie) ;;
	shared) cflags+=(-fPIC -DLIBRARY) ldflags+=(-shared) ;;
	static) cflags+=(-fno-pie) ldflags+=(-static) ;;
	esac
	[ "$gc" = gc ] && cflags+=(-ffunction-sections -fdata-sections) && ldflags+=(-Wl,--gc-sections)
	local libs=()
	[ "$kind" = static ] && libs=(-Wl,--whole-archive "$static_lib" -Wl,--no-whole-archive)
	if ! { $launcher $cc -std="${dialect}11" "${cflags[@]}" -c "$src/all_c.c" -o c.o &&
		$cc c.o "${ldflags[@]}" "${libs[@]}" -o c.out; } 2>err; then
		miss "C $what" "$(grep -m 2 -iE 'error|undefined' err)"
		return
	fi
	if [ "$kind" = shared ]; then
		check "C $what" "$c_want all:unrolled=12" "$host" ./c.out "$rounds"
		return
	fi
	nm -u c.out 2>/dev/null | grep -qi hodo && miss "C $what" "refers to a symbol of libhodo"
	strip c.out
	check "C $what" "$c_want all:unrolled=12" ./c.out "$rounds"
	[ "$dialect" = c ] && dialect=c++ || dialect=gnu++
	if ! { $launcher $cxx -std="${dialect}17" "${cflags[@]}" -DPART=1 -c "$src/cxx.cc" -o c1.o &&
		$launcher $cxx -std="${dialect}17" "${cflags[@]}" -DPART=2 -c "$src/cxx.cc" -o c2.o &&
		$cxx c1.o c2.o "${ldflags[@]}" "${libs[@]}" -o cxx.out; } 2>err; then
		miss "C++ $what" "$(grep -m 2 -iE 'error|undefined' err)"
		return
	fi
	check "C++ $what" "$cxx_want" ./cxx.out "$rounds"
}

levels=(-O0 -O1 -O2 -O3 "-O2 -flto") linkers=(bfd gold lld mold) kinds=(pie nopie shared static)
n=0
for cc in gcc clang; do
	for linker in "${linkers[@]}"; do
		command -v "ld.$linker" >/dev/null || {
			echo "skipped: no ld.$linker here" >&2
			skipped=$((skipped + 1))
			continue
		}
		for level in "${levels[@]}"; do
			for kind in "${kinds[@]}"; do
				for gc in keep gc; do
					n=$((n + 1))
					# A selection: the step and the lengths of the lists have no common divisor.
					[ -n "$full" ] || [ $((n % 7)) -eq 0 ] || continue
					dialect=gnu keys=1
					[ $((n % 2)) -eq 0 ] && dialect=c
					[ $((n % 3)) -eq 0 ] && keys=0
					one $cc "$linker" "$level" "$kind" "$gc" $dialect $keys
				done
			done
		done
	done
done
echo "$pass passed, $fail failed, $skipped linkers missing"
[ $fail -eq 0 ] && [ $pass -gt 20 ]
