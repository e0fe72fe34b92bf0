/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The core's standard headers, as the kernel has them. */
#include <linux/types.h>
