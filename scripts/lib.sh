# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# lib.sh - what the scripts share. To be sourced: sets $root (top of the source
# tree) and $jobs, and takes the caller's hodo settings out of the environment,
# so that a run does not depend on the caller's environment.

set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
jobs=$(nproc 2>/dev/null || echo 2)
for name in $(compgen -e HODO_ || true); do
	unset "$name"
done
unset name

# die MESSAGE: prints one line and exits.
die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# say MESSAGE: reports progress on standard error.
say() {
	printf '==> %s\n' "$*" >&2
}

# build_preset NAME [TARGET...]: configures and builds; prints only what is left out, unless it fails.
build_preset() {
	local preset=$1 log
	shift
	log=$(mktemp)
	say "building (preset $preset)"
	if ! (
		cd "$root"
		cmake --preset "$preset"
		cmake --build --preset "$preset" --parallel "$jobs" ${1:+--target "$@"}
	) >"$log" 2>&1; then
		cat "$log" >&2
		rm -f "$log"
		die "the build failed: see above"
	fi
	sed -n 's/^-- Left out: /    left out: /p' "$log" >&2
	rm -f "$log"
}

# make_workdir: creates a temporary folder, $workdir, which is removed when the script ends.
make_workdir() {
	workdir=$(mktemp -d "${TMPDIR:-/tmp}/hodo.XXXXXXXX")
	trap 'rm -rf "$workdir"' EXIT
}
