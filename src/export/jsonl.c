/* SPDX-License-Identifier: MIT */
/* jsonl.c - each event as one JSON object on a line: what hodo print --json prints. */
#include "export.h"

static int open_jsonl(void *state, struct hodo_export *e)
{
	return hodo_read_spans(e->reader);
}

static int on_event(void *state, struct hodo_export *e, const struct hodo_read_event *event)
{
	size_t len;
	const char *line = hodo_export_text(e, event, &len, hodo_read_text_json);

	hodo_text_bytes(e->out, line, len);
	return e->out->error;
}

const struct hodo_export_format hodo_export_jsonl = {
	.name = "jsonl",
	.suffix = "jsonl",
	.whole_names = true,
	.each_event = true,
	.does = "a line of JSON for each event, as hodo print --json: jq, DuckDB",
	.open = open_jsonl,
	.event = on_event,
};
