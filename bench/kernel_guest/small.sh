# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# small.sh - 200 compiles of next to nothing: mostly fork, exec, page faults, exit.
i=0
while [ $i -lt 200 ]; do
	tcc -c -nostdinc -o /tmp/small.o /data/small.c || exit 1
	i=$((i + 1))
done
