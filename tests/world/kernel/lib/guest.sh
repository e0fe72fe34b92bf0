# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# guest.sh - what the tests' scripts in the guest share: . /lib/guest.sh
#
# A script runs in its own folder, writes files for the host to $OUT, and ends with `finish`.
HODO=/sys/kernel/hodo             # the control tree
DEBUG=/sys/kernel/debug/hodo      # the same in debugfs, and the buffers
TRACING=/sys/kernel/tracing       # of ftrace
export HODO DEBUG TRACING HODO_LIBRARY=/usr/lib/libhodo.so.0
export failures=0

# ok NAME, not_ok NAME REASON: print one line; each NAME occurs once.
ok() {
	echo "ok $1"
}

not_ok() {
	failures=$((failures + 1))
	echo "not ok $*"
}

# note TEXT: prints TEXT for people.
note() {
	echo "# $*"
}

# check NAME COMMAND...: the command must succeed; otherwise its output is shown.
check() {
	check_name=$1
	shift
	if check_said=$("$@" 2>&1); then
		ok "$check_name"
	else
		not_ok "$check_name" "$* (status $?)"
		[ -z "$check_said" ] || echo "$check_said" | sed 's/^/# /'
	fi
}

# refused NAME COMMAND...: the command must fail.
refused() {
	refused_name=$1
	shift
	if "$@" >/dev/null 2>&1; then
		not_ok "$refused_name" "$* succeeded"
	else
		ok "$refused_name"
	fi
}

# equal NAME VALUE EXPECTED
equal() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "'$2', not '$3'"
	fi
}

# status NAME STATUS COMMAND...: the command must end with STATUS; $said has its output.
status() {
	status_name=$1
	status_wanted=$2
	shift 2
	said=$("$@" 2>&1)
	status_is=$?
	if [ $status_is = "$status_wanted" ]; then
		ok "$status_name"
	else
		not_ok "$status_name" "$* (status $status_is)"
		echo "$said" | sed 's/^/# /'
	fi
}

# says NAME TEXT: the last output in $said must contain TEXT, in one line of hodo's.
says() {
	case $said in
	*hodo:*"$2"*) ok "$1" ;;
	*) not_ok "$1" "no '$2' in '$said'" ;;
	esac
}

# count DIR EVENT: how many such events the recording has.
count() {
	hodo stat -q "$1" | awk -v name="$2" '$1 == name { gsub(",", "", $2); n = $2 } END { print n + 0 }'
}

# skip NAME REASON: the check cannot run here.
skip() {
	echo "ok $1 # skipped: $2"
}

# module NAME: loads a module of Debian's kernel and those that it needs, if the test asked for it.
module() {
	while read -r module_file; do
		module_name=$(basename "$module_file" .ko | tr - _)
		[ -d "/sys/module/$module_name" ] || insmod "$module_file" || return 1
	done <"/lib/order/$1"
}

# load [PARAMETER=VALUE...], unload: load and unload hodo.ko.
load() {
	insmod /lib/hodo.ko "$@"
}

unload() {
	rmmod hodo
}

# bring FILE...: copies files, or whole folders, to the host.
bring() {
	cp -a "$@" "$OUT/"
}

# wait_until SECONDS COMMAND...: waits until the command succeeds, at most so long where nothing else runs.
wait_until() {
	wait_left=$(($1 * 10 * $(cat /tests/patience)))
	shift
	until "$@" >/dev/null 2>&1; do
		wait_left=$((wait_left - 1))
		[ $wait_left -gt 0 ] || return 1
		usleep 100000
	done
}

# finish: ends a script.
finish() {
	[ "$failures" -eq 0 ]
	exit
}

# left_behind TEST: (for init) removes what a test has left, so that the next one begins like the first.
left_behind() {
	for pid in $(ps -o pid= -o ppid= | awk '$2 != 2 && $1 > 2 { print $1 }'); do
		[ "$pid" -eq $$ ] || kill -9 "$pid" 2>/dev/null
	done
	usleep 100000
	echo 0 >$TRACING/events/enable
	echo nop >$TRACING/current_tracer
	for left_module in $(cat /tests/"$1"/own_modules 2>/dev/null) hodo; do
		if [ -d "/sys/module/$left_module" ] && ! rmmod "$left_module" 2>/dev/null; then
			echo "not ok left_behind the module $left_module cannot be unloaded"
		fi
	done
	rm -rf /tmp/* /dev/shm/*
}
