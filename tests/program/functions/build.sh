#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# build.sh VARIANT OUT STUBS LIBHODO_A: builds hazards, arguments, throws and its library as VARIANT says, into OUT.
# STUBS is libhodo-functions.a. $LAUNCHER, such as ccache, begins what compiles.
# shellcheck disable=SC2054 # commas are for the linker
set -eu
variant=$1 out=$2 stubs=$3 static_lib=$4
src=$(dirname "$0")
read -ra launcher <<<"${LAUNCHER:-}"
mkdir -p "$out"
cc=gcc cxx=g++ level=-O2
flags=(-g -Wall -Wextra -Werror -Wno-clobbered -Wno-infinite-recursion -Wno-unused-parameter)
slots=(-pg -mfentry -minstrument-return=call)
link=() cxx_link=() libs=("$stubs" -Wl,-u,__return__) shared=1
case $variant in
slots-O0) level=-O0 ;;
slots-O2) ;;
slots-O3) level=-O3 ;;
# For link-time optimization, the linker needs the flags, too.
slots-lto) level="-O2 -flto" link+=("${slots[@]}") ;;
slots-nopie) flags+=(-fno-pie) link+=(-no-pie) ;;
slots-noredzone) flags+=(-mno-red-zone -fno-omit-frame-pointer) ;;
slots-staticlibs) cxx_link+=(-static-libstdc++ -static-libgcc) ;;
slots-static)
	link+=(-static) shared=
	libs+=(-Wl,--whole-archive "$static_lib" -Wl,--no-whole-archive) ;;
# Code that nobody prepared.
plain-*) slots=() libs=() ;;&
plain-O0) level=-O0 ;;
plain-O2) ;;
xray-O0) level=-O0 ;;&
xray-*)
	cc=clang cxx=clang++ slots=(-fxray-instrument -fxray-instruction-threshold=1)
	flags+=(-Wno-unknown-warning-option) link+=(-fxray-instrument) libs=() ;;
instrument-gcc)
	slots=(-finstrument-functions) libs=()
	flags+=(-DNO_TAIL_CALLS -DEARLY_CALLS_FAIL) ;;
instrument-clang)
	cc=clang cxx=clang++ slots=(-finstrument-functions) libs=()
	flags+=(-Wno-unknown-warning-option -DEARLY_CALLS_FAIL) ;;
*) echo "build.sh: no variant $variant" >&2; exit 2 ;;
esac
read -ra levels <<<"$level"
flags+=("${levels[@]}")
link+=("${levels[@]}")

compile() {
	"${launcher[@]}" "$@"
}

compile "$cc" -g -O2 -fPIC -c "$src/counts.c" -o "$out/counts.o"
for part in hazards jumps stacks threads processes values calls; do
	compile "$cc" "${flags[@]}" "${slots[@]}" -c "$src/$part.c" -o "$out/$part.o"
done
# Trampolines of nested functions need an executable stack; newer linkers warn of it.
"$cc" "${link[@]}" "$out"/{hazards,jumps,stacks,threads,processes,values,calls,counts}.o "${libs[@]}" \
	-Wl,-z,execstack -pthread -o "$out/hazards"
compile "$cxx" "${flags[@]}" "${slots[@]}" -fPIC -c "$src/throws_lib.cc" -o "$out/throws_lib.o"
compile "$cxx" "${flags[@]}" "${slots[@]}" -c "$src/throws.cc" -o "$out/throws.o"
compile "$cxx" "${flags[@]}" "${slots[@]}" -c "$src/arguments.cc" -o "$out/arguments.o"
"$cxx" "${link[@]}" "$out/arguments.o" "${libs[@]}" -pthread -o "$out/arguments"
if [ -z "$shared" ]; then
	"$cxx" "${link[@]}" "$out"/{throws,throws_lib,counts}.o "${libs[@]}" -pthread -o "$out/throws"
	exit
fi
shared_link=()
for flag in "${link[@]}"; do
	[[ $flag == -no-pie || $flag == -fxray-instrument ]] || shared_link+=("$flag")
done
"$cxx" "${shared_link[@]}" -shared "$out/throws_lib.o" "${libs[@]}" -o "$out/libthrows.so"
"$cxx" "${link[@]}" "${cxx_link[@]}" "$out"/{throws,counts}.o "$out/libthrows.so" -rdynamic \
	-Wl,-rpath,"$out" "${libs[@]}" -pthread -o "$out/throws"
