/* SPDX-License-Identifier: MIT */
/* identity.c - which recording it is, and which events it has. */
#include "identity.h"
#include "reader.h"
#include "stream.h"

#include <read/event/order.h>

#include <string.h>

#define RUNS_MAX     4096u /* of a stream */
#define WINDOW_BYTES 4096u

uint64_t hodo_read_identity(const struct hodo_read *reader)
{
	uint64_t id = 0;

	for (uint32_t i = 0; i < reader->ntraces; i++) {
		const struct hodo_trace *t = reader->traces[i];
		uint64_t words[2], first = 0;

		for (uint32_t k = 0; k < t->nstreams; k++)
			first += t->streams[k]->first;
		memcpy(words, t->pub.uuid, sizeof(words));
		/* FNV's multiplier; the same on every machine, which hodo_hash_u64() is not. */
		id = ((id ^ words[0] ^ (first << 20)) * 0x100000001b3ull ^ words[1]) * 0x100000001b3ull;
		id ^= id >> 29;
	}
	return id;
}

struct numbers {
	int (*found)(void *data, const struct hodo_read_numbers *numbers);
	void *data;
};

static int stream_numbers(struct hodo_stream *s, void *arg)
{
	struct hodo_read_numbers run = { &s->trace->pub, &s->pub, 0, 0 };
	const struct numbers *n = arg;
	uint32_t runs = 0;
	int got = 0, err = 0;

	while (!err && (got = hodo_read_stream_packet(s)) > 0) {
		uint64_t from = s->head.events_before, to = from + s->head.events;

		if (from == to || s->cut)
			continue;
		if (run.to && from != run.to && runs < RUNS_MAX) {
			err = n->found(n->data, &run);
			run.to = 0;
			runs++;
		}
		run.from = run.to && run.from < from ? run.from : from;
		run.to = run.to > to ? run.to : to;
	}
	if (!err && got == 0 && run.to)
		err = n->found(n->data, &run);
	return err ? err : got;
}

int hodo_read_numbers(struct hodo_read *reader, int (*found)(void *data, const struct hodo_read_numbers *numbers),
		      void *data)
{
	struct numbers n = { found, data };

	return hodo_read_each_stream(reader, WINDOW_BYTES, stream_numbers, &n);
}
