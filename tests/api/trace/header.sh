#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# header.sh: the header in surroundings that once broke it: Qt's keywords, extern "C", macros with statement
# expressions, generic lambdas in templates, strict warnings, HODO_DISABLE on a 32-bit machine.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail=0
cat >"$dir/surroundings.cc" <<'EOF'
#define emit
#define signals public
#define slots
#define foreach(a, b) for (a : b)
extern "C" {
#include <hodo/trace.h>
}
#define smaller(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ < b_ ? a_ : b_; })
HODO_TRACEPOINT(surroundings, point, (int, n));
enum color { RED, BLUE };
template <class T> struct worker {
	void work(T value)
	{
		auto inner = [this, value](auto other) {
			HODO_EVENT(surroundings, inner, value, other, this);
			HODO_SPAN(surroundings, span, other);
			HODO_LABELS(surroundings, color, RED, BLUE);
		};
		inner(3u);
	}
};
int main()
{
	int n = 3;

	HODO_EVENT(surroundings, minimum, smaller(n, 2));
	worker<long>().work(1);
	trace_surroundings_point(n);
}
EOF
cat >"$dir/strict.c" <<'EOF'
#include <hodo/trace.h>
static void strict(int end, const char *label, volatile int *v, float f, double d, unsigned char c)
{
#define end 7
	HODO_SPAN(strict, span, label);
	HODO_EVENT(strict, event, label, *v, f, d, c, HODO_BYTES(label, 2));
	if (c)
		HODO_EVENT(strict, yes, c);
	else
		HODO_MARK(strict, no, "%s %d", label, *v);
#undef end
	(void)end;
}
int main(void)
{
	volatile int v = 1;

	strict(1, "label", &v, 1.0f, 2.0, 3);
	return 0;
}
EOF
printf '#define HODO_DISABLE\n#define __SIZEOF_POINTER__ 4\n#include <hodo/trace.h>\nint main(void) { HODO_EVENT(a, b, 1); return 0; }\n' \
	>"$dir/narrow.c"
try() {
	"$@" 2>"$dir/err" || { echo "FAIL $*"; head -5 "$dir/err"; fail=1; }
}
warn=(-Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wpedantic -Wcast-qual -Wdouble-promotion -Werror)
for cc in gcc clang; do
	command -v "$cc" >/dev/null || { echo "no $cc"; continue; }
	for options in -O0 -O2 "-O2 -DHODO_STATIC_KEYS=0" "-O2 -DHODO_DISABLE"; do
		for std in c11 gnu11; do
			# shellcheck disable=SC2086
			try "$cc" -std=$std $options "${warn[@]}" -I "$SOURCE/include" -o "$dir/strict" "$dir/strict.c"
		done
		# shellcheck disable=SC2086
		try "${cc/%gcc/g}++" -std=c++17 $options -I "$SOURCE/include" \
			-o "$dir/surroundings" "$dir/surroundings.cc"
	done
	try "$cc" -w -fsyntax-only -I "$SOURCE/include" "$dir/narrow.c"
done
exit $fail
