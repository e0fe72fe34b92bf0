/* SPDX-License-Identifier: MIT */
/*
 * conditions.h - triggers and rates, which processes evaluate when an event happens, before they record it.
 */
#pragma once

#include <base/why.h>
#include <hodo/abi.h>

#include "catalog.h"

struct hodo_condition_asked {
	enum hodo_condition_kind kind;
	uint32_t after;
	double interval_s; /* RATE */
	uint64_t burst;    /* RATE: events in a row */
	char *text;        /* as the user wrote it */
	uint8_t *filter;   /* program, NULL: none */
	size_t filter_len;
};

struct hodo_conditions {
	uint32_t n;
	struct hodo_condition_asked asked[HODO_CONDITIONS_MAX];
	struct hodo_pattern_list patterns; /* n, one each */
	struct hodo_pattern_list fields;   /* that their filters name */
	size_t bytes;                      /* in CONFIG */
};

/*
 * Adds a --trigger, EVENT [if EXPR] [-> snapshot|start|stop|exit] [after N], or a --rate,
 * EVENT=N/(ms|s|m|h)[:BURST]. 0; -EINVAL and a line in why; -ENOMEM.
 */
int hodo_conditions_add_trigger(struct hodo_conditions *c, const char *text, struct hodo_why *why);
int hodo_conditions_add_rate(struct hodo_conditions *c, const char *text, struct hodo_why *why);
void hodo_conditions_free(struct hodo_conditions *c);

/* Whether one of this kind is among them. */
bool hodo_conditions_have(const struct hodo_conditions *c, enum hodo_condition_kind kind);

/* Writes them in CONFIG's format; to has room for c->bytes. */
void hodo_conditions_pack(const struct hodo_conditions *c, uint64_t ticks_per_s, uint8_t *to);

/* Checks the events of a catalogue from index first on, to find names that match nothing. */
void hodo_conditions_see(struct hodo_conditions *c, const struct hodo_catalog *catalog, uint32_t first);

/* Adds to met how often each was met in the process whose memory this is. */
void hodo_conditions_count(const struct hodo_conditions *c, const uint8_t *shm, uint64_t met[HODO_CONDITIONS_MAX]);

/*
 * How many events in this process's memory were over their rate: in total, or of the event with this id. A
 * count above most is not credible, and gives 0.
 */
uint64_t hodo_conditions_limited(const uint8_t *shm, uint64_t most);
uint64_t hodo_conditions_limited_event(const uint8_t *shm, uint16_t id, uint64_t most);
