#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# debug_file.sh TEST_NAMES_DEBUG DIR - names of a stripped program come from its separate debug file below DIR, and from
# no other program's.
set -eu
for tool in objcopy strip readelf; do
	command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
rm -rf "$2"
mkdir -p "$2"
id=$(readelf -n "$1" | sed -n 's/.*Build ID: *//p')
[ -n "$id" ] || { echo "skipped: programs get no build-id here"; exit 77; }
strip -o "$2/stripped" "$1"
chmod +x "$2/stripped"
"$2/stripped" stripped ""
file="$2/.build-id/${id:0:2}/${id:2}.debug"
mkdir -p "${file%/*}"
objcopy --only-keep-debug "$1" "$file"
"$2/stripped" stripped local_function
# The sections are still the program's own.
cp "$file" "$2/other"
objcopy --remove-section .note.gnu.build-id "$2/other" "$file"
"$2/stripped" stripped ""
head -c 3000 "$2/other" >"$file"
"$2/stripped" stripped ""
