#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# source.sh PACKAGE CACHE: prints the folder of a Debian package's source, unpacked below CACHE. Fetched once: later
# runs need no network. Exits with 77 if it cannot be fetched.
set -u
package=$1 cache=$2
dir=$cache/source/$package

unpacked() {
	[ -e "$dir/complete" ] && find "$dir" -mindepth 1 -maxdepth 1 -type d -name "$package-*" -print -quit
}

skip() {
	echo "skipped: the source of $package cannot be had: $1" >&2
	exit 77
}

mkdir -p "$cache" || skip "no $cache"
exec 9>"$cache/lock" && flock 9
[ -z "$(unpacked)" ] || { unpacked; exit; }
{ command -v apt-get && command -v dpkg-source; } >/dev/null || skip "no apt-get, or no dpkg-source"

# The system's sources, as source packages, in a private place.
rm -rf "$dir"
mkdir -p "$dir/apt/parts" "$dir/apt/lists/partial" || skip "no $dir"
for list in /etc/apt/sources.list.d/*.sources; do
	[ -e "$list" ] && sed 's/^Types:.*/Types: deb-src/' "$list" >"$dir/apt/parts/${list##*/}"
done
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
	[ -e "$list" ] && sed -n 's/^deb /deb-src /p' "$list" >"$dir/apt/parts/${list##*/}"
done
options=(-q -o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$dir/apt/parts"
	-o "Dir::State::Lists=$dir/apt/lists" -o "APT::Sandbox::User=root"
	-o "Acquire::http::Timeout=20" -o "Acquire::Retries=1")
log=$(timeout 120 apt-get "${options[@]}" update 2>&1 &&
	cd "$dir" && timeout 120 apt-get "${options[@]}" source "$package" 2>&1) || skip "$(tail -n 1 <<<"$log")"
rm -rf "$dir/apt"
touch "$dir/complete"
unpacked
