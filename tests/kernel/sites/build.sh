#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# build.sh OUT - the example's module, by its own Makefile, which builds where the sources are.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp "$ROOT"/examples/kernel/* "$dir"
make -C "$dir" KDIR="$KDIR" HODO_INCLUDE="$ROOT/include"
strip -g "$dir/jobs.ko"
cp "$dir/jobs.ko" "$1"
