#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Builds a program with events, into which libhodo can be preloaded.
set -eu
"${CC:-gcc}" -std=gnu11 -O2 -Wall -Werror -I "$ROOT/include" -o "$1/emit" "$(dirname "$0")/emit.c"
