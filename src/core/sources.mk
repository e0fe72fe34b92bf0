# SPDX-License-Identifier: MIT OR GPL-2.0-only
# The core's files, for CMake (CMakeLists.txt here) and for the kernel's build (src/kmod/Makefile, Kbuild).
# What writes events:
CORE_WRITER := ring config fields glob filter filter_bind filter_steps filter_run condition
# What more is in traced programs:
CORE_INJECTED := key labels
# ... and in the kernel:
CORE_KERNEL := $(CORE_WRITER) payload filter_lex filter_parse kprobe
