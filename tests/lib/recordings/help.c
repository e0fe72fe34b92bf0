/* SPDX-License-Identifier: MIT */
/* help.c - see help.h. */
#include "help.h"

char help_warnings[16384];
unsigned help_nwarnings;
char help_error[512];

static void warn_to_list(void *data, const char *text)
{
	size_t len = strlen(help_warnings);

	help_nwarnings++;
	assert_null(strchr(text, '\n'));
	snprintf(help_warnings + len, sizeof(help_warnings) - len, "%s\n", text);
}

static int try_open(struct hodo_read **r, const char *path)
{
	struct hodo_read_options o = { .size = sizeof(o),
				       .warn = warn_to_list,
				       .error = help_error,
				       .error_bytes = sizeof(help_error) };

	help_warnings[0] = 0;
	help_nwarnings = 0;
	help_error[0] = 0;
	return hodo_read_open(r, path, &o);
}

struct hodo_read *help_open(const char *path)
{
	struct hodo_read *r;
	int err = try_open(&r, path);

	if (err)
		fail_msg("%s: %d %s", path, err, help_error);
	return r;
}

int help_open_error(const char *path)
{
	struct hodo_read *r;
	int err = try_open(&r, path);

	if (err == 0) {
		hodo_read_close(r);
		return 0;
	}
	assert_null(r);
	assert_true(strlen(help_error) > 0 && !strchr(help_error, '\n'));
	return err;
}

uint64_t help_walk(struct hodo_read *r)
{
	struct hodo_read_totals totals = { .size = sizeof(totals) };
	struct hodo_read_text *text = hodo_read_text_new();
	const struct hodo_read_event *e;
	uint64_t n = 0, damaged = 0, bytes = 0, least = 0;
	int got;

	assert_non_null(text);
	assert_int_equal(hodo_read_scan(r), 0);
	assert_int_equal(hodo_read_count(r, &totals), 0);
	while ((got = hodo_read_next(r, &e)) > 0) {
		n++;
		bytes += e->payload_bytes + HODO_EVENT_HEADER;
		least += strcmp(e->cls->name, "func:entry") == 0 || strcmp(e->cls->name, "func:exit") == 0 ?
				 RECORD_CALL_BYTES : e->payload_bytes + HODO_EVENT_HEADER;
		assert_int_equal(hodo_read_text_line(text, e, n & 1 ? HODO_READ_COLOR : 0), 0);
		assert_int_equal(hodo_read_text_json(text, e), 0);
		hodo_read_text_clear(text);
	}
	assert_int_equal(got, 0);
	for (uint32_t i = 0; i < hodo_read_nprocesses(r); i++)
		for (uint32_t k = 0; k < hodo_read_process(r, i)->nstreams; k++)
			damaged += hodo_read_process(r, i)->streams[k]->damaged;
	assert_int_equal(totals.events, n);
	assert_in_range(totals.bytes, least, bytes);
	assert_int_equal(totals.damaged, damaged);
	hodo_read_text_free(text);
	return n;
}
