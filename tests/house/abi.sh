#!/bin/bash
# SPDX-License-Identifier: MIT
#
# abi.sh check|update NAME LIBRARY - compares a library's ABI with the one
# stored in abi/NAME.abi: removed or changed interfaces fail, new ones do not.
# update stores the library's ABI: do that in the commit that means to change it,
# and with the soname's number and CHANGELOG.md if programs would break.
set -euo pipefail
[ $# -eq 3 ] || {
	echo "usage: abi.sh check|update NAME LIBRARY" >&2
	exit 2
}
verb=$1 name=$2 library=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
stored=$here/abi/$name.abi
work=$(mktemp -d "${TMPDIR:-/tmp}/hodo-abi.XXXXXXXX")
trap 'rm -rf "$work"' EXIT

dump() {
	abidw --short-locs --no-comp-dir-path --no-corpus-path --exported-interfaces-only "$1" |
		sed "s|path='$root/|path='|"
}

# compare OLD NEW: types that are not in our headers are private and may change.
compare() {
	abidiff --no-added-syms --exported-interfaces-only \
		--headers-dir1 "$root/include/hodo" --headers-dir2 "$root/include/hodo" "$1" "$2"
}

case $verb in
update)
	dump "$library" >"$stored"
	echo "stored: say in the commit what changes for programs built against the old one"
	;;
check)
	# Without debug information, only names could be compared, and every change of a type would pass.
	readelf -SW "$library" | grep -q '\.debug_info' || {
		echo "abi: $library has no debug information" >&2
		exit 1
	}
	# The check must notice a change: here the stored library seems to have one more function.
	sed "0,/<elf-function-symbols>/s||&\n    <elf-symbol name='hodo_gone' type='func-type' binding='global-binding' visibility='default-visibility' is-defined='yes'/>|" \
		"$stored" >"$work/more.abi"
	if compare "$work/more.abi" "$library" >/dev/null; then
		echo "abi: a removed function goes unnoticed" >&2
		exit 1
	fi
	# ... and it must notice two members of a struct that change places, where nothing else shows it.
	if [ "$name" = abi-layout ]; then
		mkdir -p "$work/hodo"
		sed 's/uint32_t threads; /uint32_t stopped; /; s/uint32_t stopped;  *\/\* set/uint32_t threads; \/* set/' \
			"$root/include/hodo/abi.h" >"$work/hodo/abi.h"
		cmp -s "$root/include/hodo/abi.h" "$work/hodo/abi.h" && exit 1
		cp "$root"/include/hodo/abi_{context,live,records}.h "$work/hodo/"
		cc -g -fno-ipa-icf -shared -fPIC -Wl,-soname,libabi_layout.so -I"$work" "$here/abi/layout.c" \
			-o "$work/layout.so"
		if compare "$stored" "$work/layout.so" >/dev/null; then
			echo "abi: members that have changed places go unnoticed" >&2
			exit 1
		fi
	fi
	compare "$stored" "$library" || {
		echo "abi: $name differs from tests/house/abi/$name.abi: see above, and abi.sh for what to do" >&2
		exit 1
	}
	;;
*)
	echo "abi: what is $verb?" >&2
	exit 2
	;;
esac
