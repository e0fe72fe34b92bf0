/* SPDX-License-Identifier: MIT */
/* test_losses.c - where events are missing: hodo_read_losses(); and only the fields of an event as text. */
#include <lib/recordings/help.h>

#include <errno.h>
#include <read/event/losses.h>

struct seen {
	struct hodo_read_loss loss[32];
	unsigned n, stop_at;
};

static int found(void *data, const struct hodo_read_loss *loss)
{
	struct seen *seen = data;

	assert_int_equal(loss->size, sizeof(*loss));
	assert_true(seen->n < 32);
	seen->loss[seen->n++] = *loss;
	return seen->n == seen->stop_at ? 7 : 0;
}

static void start(struct gen_trace *t, const char *name, const char *folder, const char *mode)
{
	static const struct gen_field fields[] = { { "n", HODO_TYPE_U64 } };

	gen_trace_start(t, name, folder, "p", 1, mode, 1000000000, 0, 0);
	gen_class(t, 1, "p:step", "event", "", fields, 1);
}

/* Three events from `at` on, 10 ns apart. */
static void packet(struct gen_stream *s, uint64_t at, uint64_t until, uint64_t lost)
{
	gen_packet_start(s, at);
	for (unsigned i = 0; i < 3; i++) {
		gen_event(s, 1, 1, at + 10 * i);
		gen_u64(s, i);
	}
	gen_packet_end(s, until, lost);
}

static void check(const struct hodo_read_loss *l, const char *stream, int64_t from_ns, int64_t until_ns,
		  uint64_t discarded, uint64_t overwritten, uint64_t damaged)
{
	assert_string_equal(l->stream->name, stream);
	assert_int_equal(l->from_ns, from_ns);
	assert_int_equal(l->until_ns, until_ns);
	assert_int_equal(l->discarded, discarded);
	assert_int_equal(l->overwritten, overwritten);
	assert_int_equal(l->damaged, damaged);
}

/* While events are read, losses before the last event's time are known as hodo_read_losses() found them. */
static void check_known(struct hodo_read *r, const struct seen *seen, int64_t now)
{
	const struct hodo_read_process *p = hodo_read_process(r, 0);

	for (int64_t from = 900; from < now; from += 10) {
		for (int64_t until = from; until < now; until += 10) {
			bool lost = false, on_cpu = false;

			for (unsigned i = 0; i < seen->n; i++) {
				const struct hodo_read_loss *l = &seen->loss[i];
				bool within = l->from_ns <= until && l->until_ns >= from;

				lost |= within;
				on_cpu |= within && l->stream->cpu == 0;
			}
			assert_int_equal(hodo_losses_between(p, HODO_LOSSES_ANY_CPU, from, until), lost);
			assert_int_equal(hodo_losses_between(p, 0, from, until), on_cpu);
		}
	}
}

static void check_as_read(struct hodo_read *r, const struct seen *seen)
{
	const struct hodo_read_event *e;
	uint64_t n = 0;

	hodo_read_limit(r, INT64_MIN, INT64_MAX);
	while (hodo_read_next(r, &e) > 0) {
		check_known(r, seen, e->ts_ns);
		n++;
	}
	assert_true(n > 0 && hodo_losses_any(hodo_read_process(r, 0)));
	check_known(r, seen, 10000);
}

TEST(test_discarded)
{
	struct hodo_read_lost lost;
	const struct hodo_read_event *e;
	struct seen seen = { .n = 0 };
	struct gen_trace t;
	struct gen_stream s;
	struct hodo_read *r;

	start(&t, folder_path("d"), "p-1", "discard");
	gen_stream_start(&s, &t, "cpu0", 0);
	packet(&s, 1000, 2000, 4); /* the first packet, too */
	packet(&s, 3000, 4000, 0);
	packet(&s, 5000, 6000, 9);
	gen_packet_start(&s, 8000);
	gen_packet_end(&s, 8000, 2); /* late ones, in a packet without events */
	gen_stream_end(&s);
	gen_stream_start(&s, &t, "cpu1", 1);
	packet(&s, 1000, 2000, 0);
	packet(&s, 3000, 4000, 3);
	gen_stream_end(&s);
	/* Packets that were not written: the packets after them skip events, and count them as lost. */
	gen_stream_start(&s, &t, "cpu2", 2);
	packet(&s, 1000, 2000, 0);
	gen_skip(&s, 6);
	packet(&s, 3000, 4000, 6 + 2);
	gen_stream_end(&s);
	gen_comment(&t, "lost stream=cpu0 full=15 too_large=0 busy=0 overwritten=0 unwritten=0");
	gen_comment(&t, "lost stream=cpu1 full=1 too_large=2 busy=0 overwritten=0 unwritten=0");
	gen_comment(&t, "lost stream=cpu2 full=2 too_large=0 busy=0 overwritten=0 unwritten=6");
	gen_trace_end(&t);

	r = help_open(folder_path("d"));
	hodo_read_limit(r, 3000, 3020);
	assert_int_equal(hodo_read_losses(r, found, &seen), 0);
	assert_int_equal(seen.n, 6);
	check(&seen.loss[0], "cpu0", 1020, 2000, 4, 0, 0);
	check(&seen.loss[1], "cpu0", 5020, 6000, 9, 0, 0);
	check(&seen.loss[2], "cpu0", 6000, 8000, 2, 0, 0);
	check(&seen.loss[3], "cpu1", 3000, 4000, 3, 0, 0); /* of several causes: anywhere in the packet */
	check(&seen.loss[4], "cpu2", 2000, 3000, 6, 0, 0);
	check(&seen.loss[5], "cpu2", 3020, 4000, 2, 0, 0);
	assert_int_equal(seen.loss[0].process->pid, 1);
	/* Counts are of whole streams, the limits stay, and reading starts again. */
	lost = hodo_read_lost(r, NULL);
	assert_int_equal(lost.full + lost.too_large + lost.unwritten, 26);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(hodo_read_next(r, &e), 1);
		assert_int_equal(e->ts_ns, i < 3 ? 3000 : 3010);
	}
	assert_int_equal(hodo_read_next(r, &e), 0);
	/* A result of found() other than 0 ends the search. */
	seen = (struct seen){ .stop_at = 2 };
	assert_int_equal(hodo_read_losses(r, found, &seen), 7);
	assert_int_equal(seen.n, 2);
	assert_int_equal(help_nwarnings, 0);
	seen = (struct seen){ .n = 0 };
	assert_int_equal(hodo_read_losses(r, found, &seen), 0);
	check_as_read(r, &seen);
	hodo_read_close(r);
}

TEST(test_overwritten)
{
	struct seen seen = { .n = 0 };
	struct gen_trace t;
	struct gen_stream s;
	struct hodo_read *r;

	start(&t, folder_path("o"), "p-1", "overwrite");
	gen_stream_start(&s, &t, "cpu0", 0);
	packet(&s, 1000, 2000, 0);
	gen_skip(&s, 50);
	packet(&s, 7000, 8000, 50);
	gen_skip(&s, 5);
	packet(&s, 9000, 9500, 5 + 1);
	gen_stream_end(&s);
	gen_comment(&t, "lost stream=cpu0 full=0 too_large=1 busy=0 overwritten=55 unwritten=0");
	gen_trace_end(&t);
	r = help_open(folder_path("o"));
	assert_int_equal(hodo_read_losses(r, found, &seen), 0);
	assert_int_equal(seen.n, 3);
	check(&seen.loss[0], "cpu0", 2000, 7000, 0, 50, 0);
	check(&seen.loss[1], "cpu0", 8000, 9000, 0, 5, 0);
	check(&seen.loss[2], "cpu0", 9000, 9500, 1, 0, 0);
	check_as_read(r, &seen);
	hodo_read_close(r);
}

/* A missing packet: sequence numbers and event counts jump, and no header reports a loss. */
TEST(test_damaged)
{
	struct seen seen = { .n = 0 };
	uint8_t *file;
	size_t len;
	struct gen_trace t;
	struct gen_stream s;
	struct hodo_read *r;

	start(&t, folder_path("h"), "p-1", "discard");
	gen_stream_start(&s, &t, "cpu0", 0);
	packet(&s, 1000, 2000, 0);
	s.seq += 2;
	gen_skip(&s, 17);
	packet(&s, 5000, 6000, 0);
	gen_stream_end(&s);
	gen_trace_end(&t);
	r = help_open(folder_path("h"));
	assert_int_equal(hodo_read_losses(r, found, &seen), 0);
	assert_int_equal(seen.n, 1);
	check(&seen.loss[0], "cpu0", 2000, 5000, 0, 0, 17);
	assert_int_equal(hodo_read_lost(r, NULL).damaged, 17);
	hodo_read_close(r);

	/* The second event of the last packet has an unknown id: two events cannot be read. */
	file = folder_read(folder_path("h/p-1/cpu0"), &len);
	file[len - 2 * (RECORD_EVENT_BYTES + 8) + 4] = 0x77;
	folder_write(folder_path("h/p-1/cpu0"), file, len);
	free(file);
	seen.n = 0;
	r = help_open(folder_path("h"));
	assert_int_equal(hodo_read_losses(r, found, &seen), 0);
	assert_int_equal(seen.n, 2);
	check(&seen.loss[1], "cpu0", 5000, 6000, 0, 0, 2);
	assert_int_equal(seen.loss[1].stream->damaged, 2);
	assert_int_equal(hodo_read_lost(r, NULL).damaged, 19);
	check_as_read(r, &seen);
	hodo_read_close(r);
}

/* What hodo recover writes of a stream that was damaged: packets count it, and a line says what it was. */
TEST(test_recovered)
{
	struct hodo_read_lost lost;
	struct seen seen = { .n = 0 };
	struct gen_trace t;
	struct gen_stream s;
	struct hodo_read *r;

	start(&t, folder_path("r"), "p-1", "discard");
	for (int cpu = 0; cpu < 2; cpu++) {
		gen_stream_start(&s, &t, cpu ? "cpu1" : "cpu0", cpu);
		packet(&s, 1000, 2000, 0);
		packet(&s, 3000, 4000, 11);
		gen_stream_end(&s);
	}
	gen_comment(&t, "lost stream=cpu1 full=4 too_large=0 busy=0 overwritten=0 unwritten=0 damaged=2");
	gen_comment(&t, "end time=3.000000000");
	gen_comment(&t, "lost stream=cpu0 damaged=11");
	gen_comment(&t, "lost stream=cpu1 damaged=5");
	gen_trace_end(&t);
	r = help_open(folder_path("r"));
	assert_int_equal(hodo_read_losses(r, found, &seen), 0);
	assert_int_equal(seen.n, 2);
	check(&seen.loss[0], "cpu0", 3000, 4000, 0, 0, 11);
	check(&seen.loss[1], "cpu1", 3000, 4000, 11, 0, 0); /* of two causes */
	lost = hodo_read_lost(r, NULL);
	assert_int_equal(lost.full, 4);
	assert_int_equal(lost.damaged, 18);
	assert_int_equal(lost.unknown, 0);
	hodo_read_close(r);
}

TEST(test_fields_alone)
{
	static const struct gen_field fields[] = { { "key", HODO_TYPE_STR }, { "n", HODO_TYPE_I32 } };
	struct hodo_read_text *text = hodo_read_text_new();
	const struct hodo_read_event *e;
	struct gen_trace t;
	struct gen_stream s;
	struct hodo_read *r;
	const char *data;
	size_t len;

	gen_trace_start(&t, folder_path("f"), "p-1", "a b", 1, "discard", 1000000000, 0, 0);
	gen_class(&t, 1, "p:fields", "event", "", fields, 2);
	gen_class(&t, 2, "p:mark", "mark", "%s of %d\n", fields, 2);
	gen_class(&t, 3, "p:none", "event", "", NULL, 0);
	gen_stream_start(&s, &t, "cpu0", 0);
	gen_packet_start(&s, 1000);
	for (unsigned id = 1; id <= 3; id++) {
		gen_event(&s, id, 1, 1000 + id);
		if (id < 3) {
			gen_str(&s, "x y");
			gen_u32(&s, 5);
		}
	}
	gen_packet_end(&s, 2000, 0);
	gen_stream_end(&s);
	gen_trace_end(&t);
	r = help_open(folder_path("f"));
	for (unsigned i = 0; i < 3; i++) {
		static const char *const lines[] = { " key=\"x y\" n=5\n", " x y of 5\n", "\n" };

		assert_int_equal(hodo_read_next(r, &e), 1);
		hodo_read_text_clear(text);
		assert_int_equal(hodo_read_text_line(text, e, HODO_READ_FIELDS), 0);
		data = hodo_read_text_data(text, &len);
		assert_int_equal(len, strlen(lines[i]));
		assert_memory_equal(data, lines[i], len);
	}
	hodo_read_text_free(text);
	hodo_read_close(r);
}

