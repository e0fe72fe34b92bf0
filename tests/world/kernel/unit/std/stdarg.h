/* SPDX-License-Identifier: MIT */
#include <linux/stdarg.h>
