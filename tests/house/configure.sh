#!/bin/bash
# SPDX-License-Identifier: MIT
#
# configure.sh - what a build makes: alone, as a part of another project, and where something is missing.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
work=$(mktemp -d "${TMPDIR:-/tmp}/hodo-configure.XXXXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
	echo "configure: $*" >&2
	[ ! -s log ] || cat log >&2
	exit 1
}

# configure FOLDER SOURCE [OPTION]...: the output is in the file log.
configure() {
	local folder=$1 source=$2
	shift 2
	cmake -G Ninja -S "$source" -B "$folder" -DHODO_VIEW=OFF "$@" >log 2>&1
}

# sources FOLDER: the source files that a build there compiles.
sources() {
	ninja -C "$1" -t inputs all
}

configure plain "$root" || fail "the plain configuration fails"
sources plain >made
grep -qx "$root/src/cli/main.c" made || fail "a plain build makes no hodo"
! grep -E "^$root/(tests|bench|examples)/" made || fail "a plain build makes more than the product"
! grep -q Werror plain/build.ninja || fail "warnings are errors in a plain build"
[ ! -e plain/CTestTestfile.cmake ] || fail "a plain build has tests"

# The other project has its own tests and no others.
mkdir outer
cat >outer/CMakeLists.txt <<-EOF
	cmake_minimum_required(VERSION 3.25)
	project(outer C CXX)
	include(CTest)
	add_subdirectory($root hodoscope)
	add_executable(outer main.c)
	target_link_libraries(outer PRIVATE Hodo::trace)
	add_test(NAME outer COMMAND outer)
EOF
cat >outer/main.c <<-EOF
	#include <hodo/trace.h>

	int main(void)
	{
		HODO_EVENT(outer, main);
		return 0;
	}
EOF
configure part outer || fail "add_subdirectory() fails"
sources part >made
! grep -E "^$root/(src|tests|bench|examples)/" made || fail "more than what another project links is a part of it"
[ ! -e part/compile_commands.json ] || fail "compile_commands.json of another project"
configure part outer -DHODO_INSTALL=ON || fail "add_subdirectory() with HODO_INSTALL fails"
sources part >made
grep -qx "$root/src/cli/main.c" made || fail "no hodo as a part of another project with HODO_INSTALL"
! grep -E "^$root/(tests|bench|examples)/" made || fail "more than the product as a part of another project"
ninja -C part outer >log 2>&1 || fail "Hodo::trace cannot be used as a part of another project"
[ "$(ctest --test-dir part -N | sed -n 's/^Total Tests: //p')" = 1 ] || fail "Hodoscope's tests as a part of another project"

# Where something is missing: all packages in one line, or what is left out.
mkdir modules
IFS=: read -ra places <<<"$(pkg-config --variable pc_path pkg-config)"
for place in "${places[@]}"; do
	[ ! -d "$place" ] || find "$place" -name '*.pc' -exec ln -sf -t modules {} +
done
export PKG_CONFIG_LIBDIR=$work/modules
rm -f modules/lttng-ust.pc
configure less "$root" -DBUILD_TESTING=ON -DHODO_SPIN=OFF -DCMAKE_DISABLE_FIND_PACKAGE_SQLite3=ON ||
	fail "the configuration fails without what only tests need"
for what in 'the example on SQLite.*libsqlite3-dev' 'the benchmark.*liblttng-ust-dev' 'models.*spin'; do
	[ "$(grep -c "^-- Left out: .*$what" log)" = 1 ] || fail "not one line says: left out: $what"
done
sources less >made
grep -qx "$root/tests/unit/read/test_text.c" made || fail "no tests without LTTng-UST"
rm modules/libdw.pc modules/ncursesw.pc
if configure none "$root"; then
	fail "configured without libdw and ncurses"
fi
grep -q 'Missing: install .*libdw-dev libncurses-dev, ' log || fail "the packages that are missing are not named"
