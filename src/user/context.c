/* SPDX-License-Identifier: MIT */
/* context.c - what a recording wants to know of every event besides its fields. */
#include "sys.h"
#include "user.h"

bool hodo_context_valid(const uint8_t *at, uint32_t len)
{
	return len == 0;
}

int hodo_context_prepare(void)
{
	return 0;
}

void hodo_context_gather(struct hodo_context *c, uintptr_t ip, uintptr_t sp, uintptr_t bp)
{
	c->n = 0;
	c->total = 0;
}
