/* SPDX-License-Identifier: MIT */
/* version.h - included first. VERSION: built with headers of another version, as far as they say so. */
#include <hodo/abi.h>
#ifdef VERSION
#undef HODO_ABI_VERSION
#define HODO_ABI_VERSION VERSION
#endif
