#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# errors.sh INCLUDE: code that must not compile gives a reason, code that may compiles without a warning, in C and C++.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
fail=0

compile() { # compiler, options..., source in $body
	local cc=$1
	shift
	case $cc in
	*++) src=x.cc std=-std=c++17 ;;
	*) src=x.c std=-std=gnu11 ;;
	esac
	printf '#include <hodo/trace.h>\n%s\nvoid f(int n, const char *s, int len, struct pair *p);\n%s\nvoid f(int n, const char *s, int len, struct pair *p)\n{\n(void)n; (void)s; (void)len; (void)p;\n%s\n}\n' \
		"struct pair { int a, b; };" "$outside" "$body" >"$src"
	$cc $std -Wall -Wextra -I"$include" "$@" -c "$src" -o x.o >log 2>&1
}
refuse() { # message, body, compilers
	body=$2
	for cc in ${3:-gcc clang g++ clang++}; do
		if compile $cc -O1; then
			echo "FAIL $cc compiled: $body"
			fail=1
		elif ! grep -q "$1" log; then
			echo "FAIL $cc does not say '$1' of: $body"
			head -n 5 log
			fail=1
		fi
	done
}
accept() { # body, options
	body=$1
	shift
	for cc in gcc clang g++ clang++; do
		for level in -O0 -O2; do
			if ! compile $cc $level "$@" || [ -s log ]; then
				echo "FAIL $cc $level $* complains of: $body"
				head -n 8 log
				fail=1
			fi
		done
	done
}

include=$1 outside=''
refuse 'cannot be recorded' 'HODO_EVENT(a, b, *p);'
refuse 'cannot be recorded' 'HODO_EVENT(a, b, n, HODO_F(x, *p));'
refuse 'cannot be recorded' 'long double d = n; HODO_EVENT(a, b, d);' 'gcc clang' # C++ records it as a double
refuse 'a counter is one number' 'HODO_COUNTER(a, b, s);'
refuse 'a counter is one number' 'HODO_COUNTER(a, b, "str");'
refuse 'a counter is one number' 'HODO_COUNTER(a, b, p);'
refuse 'a counter is one number' 'HODO_COUNTER(a, b, HODO_ARRAY(s, len));'
refuse 'cannot be recorded' 'HODO_COUNTER(a, b, *p);'
refuse 'span_needs_a_block_around_it' 'if (n) HODO_SPAN(a, s, n);'
refuse 'is not possible in a mark' 'HODO_MARK(a, b, "%.*s", len, s);'
refuse 'at_most_16' 'HODO_EVENT(a, b, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n);'
# A format that does not match gives a warning, like that of printf.
for cc in gcc clang g++ clang++; do
	body='HODO_MARK(a, b, "%s", n);'
	compile $cc -O1
	grep -q 'Wformat' log || { echo "FAIL $cc does not check a mark's format"; head -n 5 log; fail=1; }
done

all='HODO_EVENT(a, none); HODO_EVENT(a, b, n, s, p, HODO_STR(s, len), HODO_BYTES(s, len), HODO_F(x, n + 1));
HODO_MARK(a, m, "%d %s %s", n, s, HODO_STR(s, len)); HODO_MARK(a, m2, "plain"); HODO_COUNTER(a, c, n);
HODO_BEGIN(a, r, n); HODO_END(a, r, n); { HODO_SPAN(a, s, n); } { HODO_SPAN(a, s2); }
if (n) HODO_EVENT(a, branch); else HODO_EVENT(a, otherwise, n);
int vla[3] = { n, n, n }; HODO_EVENT(a, array, HODO_ARRAY(vla, 3)); HODO_LABELS(a, n, one, two);
trace_tp_x(s, n); trace_tp_y(); if (trace_tp_x_enabled()) n++;
register_trace_tp_y(probe, 0); unregister_trace_tp_y(probe, 0);'
outside='HODO_TRACEPOINT(tp, x, (const char *, key), (int, age)); HODO_TRACEPOINT(tp, y); enum { one, two };
static void probe(void *data) { (void)data; }'
accept "$all"
accept "$all" -DHODO_DISABLE
accept "$all" -DHODO_STATIC_KEYS=0
accept "$all" -fPIC
accept "$all" -Wpedantic -Wno-vla

# When events are disabled, nothing of them remains.
body=$all
for cc in gcc clang g++ clang++; do
	compile $cc -O2 -DHODO_DISABLE
	if objdump -h x.o | grep -q hodo || nm x.o | grep -qi ' hodo'; then
		echo "FAIL $cc HODO_DISABLE leaves something"
		fail=1
	fi
done
[ $fail -eq 0 ] && echo "all as it should be"
exit $fail
