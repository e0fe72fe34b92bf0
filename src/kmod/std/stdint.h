/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The core's standard headers, as the kernel has them. */
#pragma once

#include <linux/limits.h>
#include <linux/types.h>

#ifndef UINT64_MAX
#define UINT64_MAX U64_MAX
#define INT64_MAX S64_MAX
#define INT64_MIN S64_MIN
#define UINT32_MAX U32_MAX
#define INT32_MAX S32_MAX
#define UINT16_MAX U16_MAX
#define UINT8_MAX U8_MAX
#endif
