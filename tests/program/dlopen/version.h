/* SPDX-License-Identifier: MIT */
/* version.h - included first. VERSION: makes the program claim to be built with headers of another version. */
#include <hodo/abi.h>
#ifdef VERSION
#undef HODO_ABI_VERSION
#define HODO_ABI_VERSION VERSION
#endif
