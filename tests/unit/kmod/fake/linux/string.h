/* SPDX-License-Identifier: MIT */
#include <linux/types.h>
#include <string.h>
