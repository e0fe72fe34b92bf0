#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A program with events, which libhodo can be preloaded into.
set -eu
"${CC:-gcc}" -std=gnu11 -O2 -Wall -Werror -I "$ROOT/include" -o "$1/emit" "$(dirname "$0")/emit.c"
