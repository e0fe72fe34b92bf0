/* SPDX-License-Identifier: MIT */
/* jsonl.c - each event as one JSON object on a line: what hodo print --json prints. */
#include "export.h"

#define FLUSH_BYTES (64u << 10)

static int write_out(void *state, struct hodo_export *e, struct hodo_call_tree *tree)
{
	size_t len;
	const char *data = hodo_read_text_data(e->text, &len);

	(void)state, (void)tree;
	hodo_text_bytes(e->out, data, len);
	hodo_read_text_clear(e->text);
	return e->out->error;
}

static int on_event(void *state, struct hodo_export *e, const struct hodo_read_event *event)
{
	int err = hodo_read_text_json(e->text, event);
	size_t len;

	hodo_read_text_data(e->text, &len);
	return !err && len >= FLUSH_BYTES ? write_out(state, e, NULL) : err;
}

const struct hodo_export_format hodo_export_jsonl = {
	.name = "jsonl",
	.suffix = "jsonl",
	.does = "a line of JSON for each event, as hodo print --json: jq, DuckDB",
	.event = on_event,
	.write = write_out,
};
