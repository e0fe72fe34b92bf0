/* SPDX-License-Identifier: MIT */
/* returns.c - return replacement. */
#include "func.h"

bool hodo_returns_possible(const char **why_not)
{
	*why_not = "not built";
	return false;
}

bool hodo_returns_replace(uintptr_t *at, uintptr_t pc)
{
	return false;
}
