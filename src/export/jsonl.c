/* SPDX-License-Identifier: MIT */
/* jsonl.c - each event as one JSON object on a line: what hodo print --json prints. */
#include "export.h"

#include <errno.h>

#define FLUSH_BYTES (64u << 10)

static int put(struct hodo_export *e, struct hodo_read_text *text)
{
	size_t len;
	const char *data = hodo_read_text_data(text, &len);

	hodo_export_put(e->out, data, len);
	hodo_read_text_clear(text);
	return e->out->error;
}

static int run(struct hodo_export *e)
{
	struct hodo_read_text *text = hodo_read_text_new();
	const struct hodo_read_event *event;
	int got = -ENOMEM, err = 0;
	size_t len = 0;

	while (text && !err && (got = hodo_read_next(e->reader, &event)) > 0) {
		err = hodo_read_text_json(text, event);
		hodo_read_text_data(text, &len);
		if (!err && len >= FLUSH_BYTES)
			err = put(e, text);
	}
	if (text && !err && got >= 0)
		err = put(e, text);
	hodo_read_text_free(text);
	return err ? err : got;
}

const struct hodo_export_format hodo_export_jsonl = {
	.name = "jsonl",
	.suffix = "jsonl",
	.does = "a line of JSON for each event, as hodo print --json: jq, DuckDB",
	.run = run,
};
