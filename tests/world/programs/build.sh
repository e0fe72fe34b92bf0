#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# build.sh PROGRAM SOURCE CACHE STUBS [CFLAGS]: builds lua, jsonnet or testfixture, which runs SQLite's tests,
# from its source with the output of pkg-config hodo-functions added to its flags, or with these flags, and no other
# change. Prints the program's path. Objects are kept in CACHE, whatever the stubs are: each build of hodo has
# different stubs, which are only linked.
set -eu
program=$1 source=$2 cache=$3 stubs=$4
cflags=${5:--O2 -g -pg -mfentry -minstrument-return=call}
key=$( (echo "$program $source $cflags"; gcc --version) | sha256sum | cut -c 1-16)
dir=$cache/build/$program-$key
linked=$dir/$program-$(sha256sum <"$stubs" | cut -c 1-16)
exec 9>"$cache/lock" && flock 9
if [ -x "$linked" ]; then
	echo "$linked"
	exit
fi
[ -e "$dir/compiled" ] || rm -rf "$dir"
mkdir -p "$dir"
cp "$stubs" "$dir/stubs.a"
read -ra flags <<<"$cflags"

compile_lua() {
	# Debian's build makes this header, and lets libtool compile everything twice: this is the program's part.
	echo "#define DEB_HOST_MULTIARCH \"$(gcc -print-multiarch)\"" >lua5.4-deb-multiarch.h
	for file in "$source"/src/*.c; do
		case ${file##*/} in luac.c) ;; *) printf '%s\0' "$file" ;; esac
	done | xargs -0 -P "$(nproc)" -n 8 \
		gcc -std=gnu99 "${flags[@]}" -DLUA_USE_LINUX -DLUA_COMPAT_5_3 -I. -I"$source/src" -c
}

link_lua() {
	gcc ./*.o -Wl,-E -o lua ./stubs.a -Wl,-u,__return__ -lm -ldl
}

compile_jsonnet() {
	local link="$dir/stubs.a -Wl,-u,__return__"

	# CMake tests the compiler before it has the flags for linking: with CMP0056 it uses them in that test, too.
	cmake -S "$source" -B . -G Ninja -DBUILD_TESTS=OFF -DBUILD_JSONNETFMT=OFF -DCMAKE_BUILD_TYPE=None \
		-DCMAKE_POLICY_DEFAULT_CMP0056=NEW -DCMAKE_C_FLAGS="$cflags" -DCMAKE_CXX_FLAGS="$cflags" \
		-DCMAKE_EXE_LINKER_FLAGS="-Wl,-u,__return__ $link"
	ninja jsonnet
}

link_jsonnet() {
	rm -f jsonnet
	ninja jsonnet
}

compile_testfixture() {
	"$source/configure" --with-tcl="$(dirname "$(find /usr/lib -name tclConfig.sh -print -quit)")" CFLAGS="$cflags"
	make -j "$(nproc)" testfixture
}

link_testfixture() {
	make testfixture
}

cd "$dir"
{
	{ [ -e compiled ] || { "compile_$program" && touch compiled; }; } && "link_$program" && mv "$program" "$linked"
} >build.log 2>&1 || { tail -n 20 build.log >&2; exit 1; }
echo "$linked"
