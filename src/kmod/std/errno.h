/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The core's standard headers, from the kernel. */
#include <linux/errno.h>
