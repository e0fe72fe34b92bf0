#!/bin/bash
# SPDX-License-Identifier: MIT
#
# dkms.sh [VERSION] - DKMS adds and builds hodo for the kernel of that version (default: Debian's own), in its
# own trees.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd -P)

skip() {
	echo "dkms: skipped: $*" >&2
	exit 77
}

command -v dkms >/dev/null || skip "it is not installed: apt install dkms"
version=${1:-$(dpkg-query -W -f '${Depends}' linux-headers-amd64 2>/dev/null |
	sed 's/.*linux-headers-\([^ ,]*\).*/\1/')}
headers=/usr/src/linux-headers-$version
[ -e "$headers/Makefile" ] || skip "no headers of a kernel: apt install linux-headers-amd64"

work=$(mktemp -d "${TMPDIR:-/tmp}/hodo-dkms.XXXXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tree" "$work/source"
name=$(sed -n 's/^PACKAGE_NAME="\(.*\)"/\1/p' "$root/src/kmod/dkms.conf")
release=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$root/src/kmod/dkms.conf")
[ "$release" = "$(sed -n 's/^project(.*VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt" | head -n 1)" ] || {
	echo "dkms.conf says version $release, CMakeLists.txt another one" >&2
	exit 1
}

make -C "$root/src/kmod" dkms-source DESTDIR="$work/dest"
mv "$work/dest/usr/src/$name-$release" "$work/source/"
dkms() {
	# Unsigned: otherwise DKMS makes a key for this machine.
	sign_file=/nonexistent command dkms --dkmstree "$work/tree" --sourcetree "$work/source" \
		--installtree "$work" -k "$version" -a x86_64 --kernelsourcedir "$headers" "$@"
}

dkms add -m "$name" -v "$release"
# Only a few of the kernel's events: this tests DKMS. The events of sunrpc are in a module of their own, in Debian's
# kernels; hodo_target has none in that case.
if ! EVENTS="${EVENTS-sched irq sunrpc}" dkms build -m "$name" -v "$release"; then
	cat "$work/tree/$name/$release/build/make.log" || true
	exit 1
fi
module=$(find "$work/tree/$name/$release/$version" -name 'hodo.ko*' | head -n 1)
[ -n "$module" ] || {
	echo "dkms has built no hodo.ko" >&2
	exit 1
}
case $(modinfo -F vermagic "$module") in
"$version "*) ;;
*)
	echo "$module is for another kernel: $(modinfo -F vermagic "$module")" >&2
	exit 1
	;;
esac
for name_of in hodo_sunrpc hodo_target; do
	[ -n "$(find "$work/tree/$name/$release/$version" -name "$name_of.ko*")" ] || {
		echo "dkms has built no $name_of.ko" >&2
		exit 1
	}
done
modinfo -F depends "$(find "$work/tree/$name/$release/$version" -name 'hodo_sunrpc.ko*')" | grep -q sunrpc || {
	echo "hodo_sunrpc.ko has no events" >&2
	exit 1
}
# The modules that a build of all of the kernel's events makes.
for file in "$root/build/kernel/$version/kmod"/*.ko; do
	built=$(basename "$file" .ko)
	[ ! -e "$file" ] || grep -q "^BUILT_MODULE_NAME.*\"$built\"" "$root/src/kmod/dkms.conf" || {
		echo "dkms.conf does not name $built" >&2
		exit 1
	}
done
dkms remove -m "$name" -v "$release"
echo "dkms: added, built and removed $name $release for $version"
