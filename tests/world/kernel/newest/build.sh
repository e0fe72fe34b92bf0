#!/bin/bash
# SPDX-License-Identifier: MIT
#
# build.sh OUT - builds hodo.ko as for a kernel whose tracepoints leave preemption on, and whose
# tracepoint_synchronize_unregister() does not wait for code that has it off. It leaves out the part for the
# kernel's own tracepoints, which have preemption off here.
set -eu
kmod=$PWD/kmod
make -C "$ROOT/src/kmod" layout KVER="$KVER" KDIR="$KDIR" O="$kmod" EVENTS=irq
rm "$kmod/registry.c"
cat >"$kmod/registry.c" <<END
#include <linux/tracepoint.h>
#define tracepoint_synchronize_unregister() synchronize_srcu(&tracepoint_srcu)
#include "$ROOT/src/kmod/registry.c"
END
KCFLAGS=-DHODO_TEST_NEWEST make -C "$KDIR" M="$kmod" modules
cp "$kmod/hodo.ko" "$1/newest.ko"
strip -g "$1/newest.ko"
