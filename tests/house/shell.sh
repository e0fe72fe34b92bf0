#!/bin/bash
# SPDX-License-Identifier: MIT
#
# shell.sh - shellcheck finds nothing in our scripts.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
scripts=()
while IFS= read -r -d '' file; do
	case $file in
	*.sh) scripts+=("$file") ;;
	*.*) ;;
	*) if head -c 64 "$file" | head -n 1 | grep -aq '^#!.*sh$'; then scripts+=("$file"); fi ;;
	esac
done < <(find .ci bench examples scripts tests -type f -print0)
if [ ${#scripts[@]} -lt 5 ]; then
	echo "shell: found only ${scripts[*]}" >&2
	exit 1
fi
# SC2054: the commas of -Wl,OPTION are intended.
shellcheck --external-sources --severity=warning --exclude=SC2054 "${scripts[@]}"
echo "${#scripts[@]} scripts"
