/* SPDX-License-Identifier: MIT */
/* otlp_message.h - a recording as OpenTelemetry's messages, and where they go. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One request: the same ones, in the same order, each time that the same recording is read in the same way. */
struct hodo_otlp_message {
	bool metrics; /* of /v1/metrics; else of /v1/traces */
	const void *data; /* protobuf, or with hodo_otlp.json JSON */
	size_t len;
	uint32_t items; /* spans, or values of counters */
	/* What each item is known by, whichever request it is in, and however well the clock was known: of a span its
	 * ids and how it ended, of a value its counter, thread and time. Other spans of other services. */
	const uint64_t *keys;
};

/* Of struct hodo_export. */
struct hodo_otlp {
	const char *version; /* of hodo */
	const char *service; /* service.name; NULL: of each process the name of its program */
	bool json;
	/* Takes each message. 0 or a negative errno, which ends the export. NULL: JSON goes to the export's text, a
	 * line each. */
	int (*send)(void *to, const struct hodo_otlp_message *message);
	/* Whether an item is left out, since it was sent before; NULL: none is. */
	bool (*has)(void *to, bool metrics, uint64_t key);
	void *to;
};
