#!/bin/bash
# SPDX-License-Identifier: MIT
#
# install.sh BUILD - installs into a temporary prefix, moves it, and lets
# someone else's project use it: by find_package, by pkg-config, and by hand.
set -euo pipefail
build=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
work=$(mktemp -d "${TMPDIR:-/tmp}/hodo-install.XXXXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
	echo "install: $*" >&2
	exit 1
}

# LD_PRELOAD and the caller's settings are not under test.
unset LD_PRELOAD LD_LIBRARY_PATH HODO_LIBRARY
cmake --install "$build" --prefix "$work/first" >/dev/null
mv first moved # from here on, whatever names the prefix of the installation fails
prefix=$work/moved
lib=$(dirname "$(find "$prefix" -name libhodo.so)")
hodo=$prefix/bin/hodo
[ -x "$hodo" ] || fail "no bin/hodo"
"$hodo" --version | grep -q . || fail "hodo --version says nothing"

for file in bash-completion/completions/hodo zsh/site-functions/_hodo fish/vendor_completions.d/hodo.fish; do
	[ -s "$prefix/share/$file" ] || fail "no share/$file"
done
if [ -r /usr/share/bash-completion/bash_completion ]; then
	# Found through the command's name when it is needed.
	XDG_DATA_DIRS=$prefix/share bash --norc -c '. /usr/share/bash-completion/bash_completion
		if declare -F _comp_load >/dev/null; then _comp_load hodo; else __load_completion hodo; fi
		complete -p hodo' | grep -q _hodo || fail "bash does not find the completion"
fi

needs() {
	readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

# check_programs FOLDER: the programs that were built there do what they should.
check_programs() {
	local program name out
	cd "$1"
	for program in traced traced_cxx probing; do
		./$program || fail "$program fails without hodo"
		if needs $program | grep hodo || nm -u $program | grep -i hodo; then
			fail "$program is linked to hodo"
		fi
		"$hodo" record -q -o "$program.data" ./$program || fail "hodo record: status $?"
		out=$(./reader "$program.data" | sort | tr '\n' ' ')
		[ "$out" = "consumer:done 1 consumer:tick 1000 " ] || fail "$program: reader says: $out"
		[ "$(babeltrace2 "$program.data" | grep -vc hodo:anchor:)" = 1001 ] || fail "$program: babeltrace2 sees something else"
	done
	for name in probed probed_static; do
		[ -e $name ] || continue
		out=$(./$name) || fail "$name: status $?: $out"
	done
	if nm "$lib/libhodo.a" 2>/dev/null | grep -q hodo_slots_object &&
		! nm probed_static | grep -q hodo_slots_object; then
		fail "probed_static has nothing that traces functions"
	fi
	needs probed | grep -qx libhodo.so.0 || fail "probed does not need libhodo: the linker dropped it"
	needs reader | grep -qx libhodo-read.so.0 || fail "reader does not need libhodo-read"
	cd "$work"
}

export LD_LIBRARY_PATH=$lib
cmake -G Ninja -S "$here/consumer" -B by-cmake -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release >log 2>&1 || {
	cat log
	fail "find_package(Hodo)"
}
cmake --build by-cmake >log 2>&1 || {
	cat log
	fail "the CMake project does not build"
}
check_programs by-cmake

# The Python module finds the library of its own prefix.
out=$(unset LD_LIBRARY_PATH HODO_READ_LIBRARY; PYTHONPATH=$prefix/lib/python3/dist-packages python3 -B -c '
import hodo
recording = hodo.open("by-cmake/traced.data")
print(len(recording.table("consumer:tick")), sum(1 for _ in recording.events()))') || fail "the Python module: $out"
[ "$out" = "1000 1001" ] || fail "the Python module says: $out"

export PKG_CONFIG_PATH=$lib/pkgconfig
mkdir by-pkg-config
flags() {
	pkg-config "$@" || fail "pkg-config $*"
}
cc=${CC:-cc} cxx=${CXX:-c++} source=$here/consumer out=by-pkg-config
read -ra trace_flags <<<"$(flags --cflags hodo)"
read -ra sdt_flags <<<"$(flags --cflags hodo-sdt)"
read -ra hodo_flags <<<"$(flags --cflags --libs hodo)"
read -ra static_flags <<<"$(flags --cflags --libs --static hodo)"
read -ra read_flags <<<"$(flags --cflags --libs hodo-read)"
"$cc" -O2 "$source/traced.c" -o $out/traced "${trace_flags[@]}"
"$cxx" -O2 "$source/traced_cxx.cc" -o $out/traced_cxx "${trace_flags[@]}"
"$cc" -O2 "$source/probing.c" -o $out/probing "${sdt_flags[@]}"
"$cc" -O2 -Wl,--as-needed "$source/probed.c" -o $out/probed "${hodo_flags[@]}"
"$cc" -O2 -static "$source/probed.c" -o $out/probed_static "${static_flags[@]}"
"$cc" -O2 "$source/reader.c" -o $out/reader "${read_flags[@]}"
check_programs by-pkg-config
echo "installed, moved and used"
