#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# build.sh OUT - builds the example's module by its own Makefile, which builds where the sources are. Also checks that
# code that is wrong in a module does not compile, and says why; and that doubtful code gives a warning.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp "$ROOT"/examples/kernel/* "$dir"
make -C "$dir" KDIR="$KDIR" HODO_INCLUDE="$ROOT/include" >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
if grep "warning:" "$dir/log"; then exit 1; fi
strip -g "$dir/jobs.ko"
cp "$dir/jobs.ko" "$1"

mkdir "$dir/bad"
cd "$dir/bad"
# snippet NAME MESSAGE BODY
snippet() {
	cat >"$1.c" <<-END
		#include <hodo/trace.h>
		struct pair { int a, b; };
		void f(int n, const char *s, struct pair *p, float *x);
		void f(int n, const char *s, struct pair *p, float *x)
		{
			$3
		}
		MODULE_LICENSE("GPL");
	END
	echo "obj-m += $1.o" >>Kbuild
	echo "$1.c:[0-9]*:[0-9]*: .*$2" >>wanted
}
echo 'ccflags-y := -I$(HODO_ROOT)/include' >Kbuild
snippet float 'error: .*cannot be recorded' 'HODO_EVENT(a, b, n, *x);'
snippet floats 'error: .*_Generic.* selector' 'HODO_EVENT(a, b, HODO_ARRAY(x, 2));'
snippet struct 'error: .*cannot be recorded' 'HODO_EVENT(a, b, *p);'
snippet star 'error: .*is not possible in a mark' 'HODO_MARK(a, b, "%.*s", n, s);'
snippet many "error: .*at_most_16" 'HODO_EVENT(a, b, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n);'
snippet format 'warning: format .*expects' 'HODO_MARK(a, b, "%s", n);'
make -k -C "$KDIR" M="$dir/bad" HODO_ROOT="$ROOT" modules >log 2>&1 || true
while read -r line; do
	grep -q "$line" log || { echo "not said: $line"; cat log; exit 1; }
done <wanted
