/* SPDX-License-Identifier: MIT */
/* gate.c - whether an event is recorded: filter, rate limits and triggers. */
#include "sys.h"
#include "user.h"

bool hodo_conditions_valid(const uint8_t *at, uint32_t n, uint32_t len)
{
	return n == 0 && len == 0;
}

void hodo_gate_prepare(void)
{
}

void hodo_gate_select(struct hodo_event *event)
{
	event->conditions = 0;
}

bool hodo_gate_pass(struct hodo_event *event, uint32_t on, const struct hodo_piece *pieces, size_t count)
{
	return !(on & HODO_ON_FILTER) || !event->filter || hodo_filter_run(event->filter, pieces, count, 0);
}
