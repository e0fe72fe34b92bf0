#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# deny.sh: sandboxes and limits. Whatever they refuse, the program runs as it would without hodo, with the same
# status; it is recorded in full, or not at all.
set -u
exec 3>&- 4>&- # descriptors that the test driver leaves open would count against the limit below
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail=0
check() { # recorded|not|either, command...
	local want=$1 status=0 events
	shift
	rm -rf "$dir/trace"
	"$HODO" record -q -o "$dir/trace" -- "$@" >"$dir/out" 2>"$dir/err" || status=$?
	events=$("$HODO" print --json "$dir/trace" 2>/dev/null | grep -c '"life:note"')
	case $want in
	recorded) [ "$events" -eq 6 ] ;;
	not) [ "$events" -eq 0 ] ;;
	either) [ "$events" -eq 6 ] || [ "$events" -eq 0 ] ;;
	esac || { echo "FAIL $*: $events events"; fail=1; }
	[ $status -eq 0 ] || { echo "FAIL $*: status $status"; cat "$dir/err"; fail=1; }
}
for call in rseq membarrier prctl; do
	check recorded "$DENY" $call "$LIFE" ends
done
# /proc/self/mem cannot be written: libhodo makes the page writable for a moment.
check recorded "$DENY" pwrite64 "$LIFE" ends
for call in memfd_create madvise socket connect sendmsg ftruncate fcntl rseq,memfd_create; do
	check not "$DENY" $call "$LIFE" ends
done
check either bash -c "ulimit -v 300000; exec '$LIFE' ends"
check either bash -c "ulimit -n 16; exec '$LIFE' ends"
check recorded bash -c "ulimit -l 0; exec '$LIFE' ends"
check either bash -c "ulimit -f 0; exec '$LIFE' ends"
check recorded bash -c "exec '$LIFE' ends <&- >&- 2>&-"
check recorded bash -c "ulimit -s 64; exec '$LIFE' ends"
exit $fail
