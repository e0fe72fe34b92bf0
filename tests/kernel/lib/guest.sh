# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# guest.sh - what the tests' scripts in the guest share: . /lib/guest.sh
#
# A script runs in its own folder, with $OUT for files that the host is to look at, and ends with `finish`.
HODO=/sys/kernel/hodo             # the control tree
DEBUG=/sys/kernel/debug/hodo      # the same in debugfs, and the buffers
TRACING=/sys/kernel/tracing       # ftrace's
export HODO DEBUG TRACING HODO_LIBRARY=/usr/lib/libhodo.so.0
export failures=0

# ok NAME, not_ok NAME REASON: one line each; a NAME is said once.
ok() {
	echo "ok $1"
}

not_ok() {
	failures=$((failures + 1))
	echo "not ok $*"
}

# note TEXT: for people.
note() {
	echo "# $*"
}

# check NAME COMMAND...: whether the command succeeds; what it says is shown if it does not.
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

# refused NAME COMMAND...: whether the command fails.
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

# status NAME STATUS COMMAND...: the command ends with it; $said is what it said.
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

# says NAME TEXT: it stands in what was said last, in one line of hodo's.
says() {
	case $said in
	*hodo:*"$2"*) ok "$1" ;;
	*) not_ok "$1" "no '$2' in '$said'" ;;
	esac
}

# count DIR EVENT: how many are in the recording.
count() {
	hodo stat -q "$1" | awk -v name="$2" '$1 == name { gsub(",", "", $2); n = $2 } END { print n + 0 }'
}

# skip NAME REASON: it cannot be tried here.
skip() {
	echo "ok $1 # skipped: $2"
}

# module NAME: a module of Debian's kernel with what it needs, if the test asked for it.
module() {
	while read -r module_file; do
		module_name=$(basename "$module_file" .ko | tr - _)
		[ -d "/sys/module/$module_name" ] || insmod "$module_file" || return 1
	done <"/lib/order/$1"
}

# load [PARAMETER=VALUE...], unload: hodo.ko.
load() {
	insmod /lib/hodo.ko "$@"
}

unload() {
	rmmod hodo
}

# bring FILE...: to the host; a folder as a whole.
bring() {
	cp -a "$@" "$OUT/"
}

# wait_until SECONDS COMMAND...: until the command succeeds.
wait_until() {
	wait_left=$(($1 * 10))
	shift
	until "$@" >/dev/null 2>&1; do
		wait_left=$((wait_left - 1))
		[ $wait_left -gt 0 ] || return 1
		usleep 100000
	done
}

# finish: the end of a script.
finish() {
	[ "$failures" -eq 0 ]
	exit
}

# left_behind TEST: (init's) what a test has not put away goes, so that the next one begins like the first.
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
