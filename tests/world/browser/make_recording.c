/* SPDX-License-Identifier: MIT */
/*
 * make_recording.c - view_recording WHAT DIR [EVENTS]: recordings whose whole contents are known.
 *
 *	requests  a server's: nested spans, requests across threads, marks, events, a counter; EVENTS in all
 *	sizes     one thread: 10 EVENTS / 20 outer spans of 1000 ns, each with 9 inner ones of 1 to 9 ns, apart by 1 us
 *	overlaps  one thread: EVENTS / 4 pairs of spans of 200 ns, the second begun and ended 100 ns after the first
 *	points    one thread: EVENTS / 2 events, and as many values of a counter, each 100 ns
 *	numbers   one thread: EVENTS values of a counter, each 100 ns, most of them NaN
 *	losses    buffers that were full, overwritten and too small, at known times
 *	wakes     a span of thread 10, for which threads 11 and 12 work in turn, and the kernel's scheduling of them
 *	hostile   names and texts that would do harm in a page
 */
#include <lib/recordings/gen.h>

#include <err.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EPOCH_S      1795000000
#define HZ           1000000000u
#define PACKET_BYTES 200000u

enum { REQUEST = 1, REQUEST_END, PARSE, PARSE_END, LOOKUP, LOOKUP_END, FLOW, FLOW_END, NOTE, MARK, COUNT };

static const struct gen_field key_fields[] = { { "key", HODO_TYPE_STR }, { "shard", HODO_TYPE_U32 } };
static const struct gen_field id_fields[] = { { "id", HODO_TYPE_U64 } };
static const struct gen_field value_fields[] = { { "value", HODO_TYPE_U64 } };
static const struct gen_field note_fields[] = { { "bytes", HODO_TYPE_U64 } };

static void classes(struct gen_trace *t)
{
	gen_class(t, REQUEST, "kv:request.begin", "span_begin", "", key_fields, 2);
	gen_class(t, REQUEST_END, "kv:request.end", "span_end", "", NULL, 0);
	gen_class(t, PARSE, "kv:parse.begin", "span_begin", "", NULL, 0);
	gen_class(t, PARSE_END, "kv:parse.end", "span_end", "", NULL, 0);
	gen_class(t, LOOKUP, "kv:lookup.begin", "span_begin", "", NULL, 0);
	gen_class(t, LOOKUP_END, "kv:lookup.end", "span_end", "", NULL, 0);
	gen_class(t, FLOW, "kv:flow.begin", "begin", "", id_fields, 1);
	gen_class(t, FLOW_END, "kv:flow.end", "end", "", id_fields, 1);
	gen_class(t, NOTE, "kv:note", "event", "", note_fields, 1);
	gen_class(t, MARK, "kv:mark", "mark", "took %u bytes", note_fields, 1);
	gen_class(t, COUNT, "kv:entries", "counter", "", value_fields, 1);
}

/* A stream whose packets begin and end as they fill up. */
struct writer {
	struct gen_stream s;
	uint64_t ticks, events, left;
	bool open;
};

static void event(struct writer *w, unsigned id, unsigned tid, uint64_t ticks)
{
	if (w->open && w->s.len > PACKET_BYTES) {
		gen_packet_end(&w->s, w->ticks, 0);
		w->open = false;
	}
	if (!w->open)
		gen_packet_start(&w->s, ticks);
	w->open = true;
	w->ticks = ticks;
	w->events++;
	gen_event(&w->s, id, tid, ticks);
}

static void end(struct writer *w)
{
	if (w->open)
		gen_packet_end(&w->s, w->ticks, 0);
	gen_stream_end(&w->s);
}

static void request(struct writer *w, unsigned tid, uint64_t number, uint32_t *random)
{
	uint64_t at = w->ticks + 200 + number * 7919 % 500;
	char key[32];

	*random = *random * 1664525u + 1013904223u;
	snprintf(key, sizeof(key), "user:%llu", (unsigned long long)(number * 31 % 5000));
	event(w, REQUEST, tid, at);
	gen_str(&w->s, key);
	gen_u32(&w->s, (uint32_t)(number % 8));
	event(w, PARSE, tid, at += 50);
	event(w, PARSE_END, tid, at += 100 + (*random >> 20) % 300);
	event(w, FLOW, tid, at += 10);
	gen_u64(&w->s, number);
	event(w, LOOKUP, tid, at += 50);
	event(w, number % 16 ? NOTE : MARK, tid, at += 100);
	gen_u64(&w->s, number);
	event(w, LOOKUP_END, tid, at += 100 + ((*random >> 24) == 7 ? 100000 : (*random >> 16) % 2000));
	if (number >= 4) {
		event(w, FLOW_END, tid, at += 10);
		gen_u64(&w->s, number - 4);
	} else {
		event(w, NOTE, tid, at += 10);
		gen_u64(&w->s, number);
	}
	event(w, COUNT, tid, at += 10);
	gen_u64(&w->s, 1000 + number % 700);
	event(w, REQUEST_END, tid, at + 100);
}

static void requests(const char *dir, uint64_t events)
{
	struct gen_trace t;

	gen_trace_start(&t, dir, "kvd-412", "kvd", 412, "discard", HZ, EPOCH_S, 0);
	classes(&t);
	for (unsigned i = 0; i < 4; i++)
		gen_comment(&t, "thread tid=%u comm=worker%%20%u", 500 + i, i);
	for (unsigned cpu = 0; cpu < 2; cpu++) {
		struct writer w = { .ticks = 1000000 };
		uint32_t random = 12345 + cpu;
		char name[8];

		snprintf(name, sizeof(name), "cpu%u", cpu);
		gen_stream_start(&w.s, &t, name, cpu);
		for (uint64_t i = 0; w.events + 10 <= events / 2; i++)
			request(&w, 500 + 2 * cpu + (unsigned)(i / 50 % 2), 2 * i + cpu, &random);
		while (w.events < events / 2) {
			event(&w, NOTE, 500 + 2 * cpu, w.ticks + 1000);
			gen_u64(&w.s, 0);
		}
		end(&w);
	}
	gen_comment(&t, "end time=1795000123.000000001");
	gen_trace_end(&t);
}

static void sizes(const char *dir, uint64_t events)
{
	struct writer w = { .ticks = 1000000 };
	struct gen_trace t;

	gen_trace_start(&t, dir, "sizes-7", "sizes", 7, "discard", HZ, EPOCH_S, 0);
	classes(&t);
	gen_stream_start(&w.s, &t, "cpu0", 0);
	for (uint64_t at = 1000000; w.events + 20 <= events; at += 2000) {
		event(&w, REQUEST, 7, at);
		gen_str(&w.s, "k");
		gen_u32(&w.s, 1);
		for (unsigned i = 1; i <= 9; i++) {
			event(&w, PARSE, 7, at + 100 * i);
			event(&w, PARSE_END, 7, at + 101 * i);
		}
		event(&w, REQUEST_END, 7, at + 1000);
	}
	end(&w);
	gen_comment(&t, "end time=1795000123.000000001");
	gen_trace_end(&t);
}

static void overlaps(const char *dir, uint64_t events)
{
	struct writer w = { .ticks = 1000000 };
	struct gen_trace t;

	gen_trace_start(&t, dir, "overlaps-7", "overlaps", 7, "discard", HZ, EPOCH_S, 0);
	classes(&t);
	gen_stream_start(&w.s, &t, "cpu0", 0);
	for (uint64_t at = 1000000; w.events + 4 <= events; at += 1000) {
		event(&w, LOOKUP, 7, at);
		event(&w, PARSE, 7, at + 100);
		event(&w, LOOKUP_END, 7, at + 200);
		event(&w, PARSE_END, 7, at + 300);
	}
	end(&w);
	gen_comment(&t, "end time=1795000123.000000001");
	gen_trace_end(&t);
}

static void points(const char *dir, uint64_t events)
{
	struct writer w = { .ticks = 1000000 };
	struct gen_trace t;

	gen_trace_start(&t, dir, "points-8", "points", 8, "discard", HZ, EPOCH_S, 0);
	classes(&t);
	gen_stream_start(&w.s, &t, "cpu0", 0);
	for (uint64_t i = 0; i < events / 2; i++) {
		event(&w, NOTE, 8, w.ticks + 50);
		gen_u64(&w.s, i);
		event(&w, COUNT, 8, w.ticks + 50);
		gen_u64(&w.s, i == 777 ? 1000000 : i % 100);
	}
	end(&w);
	gen_comment(&t, "end time=1795000123.000000001");
	gen_trace_end(&t);
}

/* Like the values of points, but most of them are NaN; one value in 7000 stands out. */
static void numbers(const char *dir, uint64_t events)
{
	static const struct gen_field load[] = { { "value", HODO_TYPE_F64 } };
	struct writer w = { .ticks = 1000000 };
	struct gen_trace t;

	gen_trace_start(&t, dir, "numbers-9", "numbers", 9, "discard", HZ, EPOCH_S, 0);
	gen_class(&t, 1, "kv:load", "counter", "", load, 1);
	gen_stream_start(&w.s, &t, "cpu0", 0);
	for (uint64_t i = 0; i < events; i++) {
		event(&w, 1, 9, w.ticks + 100);
		gen_f64(&w.s, i % 7 ? NAN : i % 7000 == 3500 ? 1e6 + (double)i : (double)(i % 100));
	}
	end(&w);
	gen_comment(&t, "end time=1795000123.000000001");
	gen_trace_end(&t);
}

/* A packet of three events, from `at` on, `apart` ns apart. */
static void three(struct gen_stream *s, uint64_t at, uint64_t apart, uint64_t until, uint64_t lost)
{
	gen_packet_start(s, at);
	for (unsigned i = 0; i < 3; i++) {
		gen_event(s, NOTE, 9, at + i * apart);
		gen_u64(s, i);
	}
	gen_packet_end(s, until, lost);
}

static void losses(const char *dir)
{
	struct gen_trace t;
	struct gen_stream s;

	/* Full: the loss is between the last event, at 3000 + 200, and the packet's end. */
	gen_trace_start(&t, dir, "full-1", "full", 1, "discard", HZ, EPOCH_S, 0);
	classes(&t);
	gen_stream_start(&s, &t, "cpu0", 0);
	three(&s, 1000, 100, 2000, 0);
	three(&s, 3000, 100, 4000, 70);
	three(&s, 5000, 100, 6000, 0);
	gen_packet_start(&s, 9000);
	gen_packet_end(&s, 9000, 5);
	gen_stream_end(&s);
	/* Too large: the loss is anywhere in the packet. */
	gen_stream_start(&s, &t, "cpu1", 1);
	three(&s, 1500, 100, 2500, 0);
	three(&s, 3500, 100, 4500, 2);
	gen_stream_end(&s);
	gen_comment(&t, "lost stream=cpu0 full=75 too_large=0 busy=0 overwritten=0 unwritten=0");
	gen_comment(&t, "lost stream=cpu1 full=0 too_large=2 busy=0 overwritten=0 unwritten=0");
	gen_comment(&t, "end time=1795000000.000010000");
	gen_trace_end(&t);

	/* Overwritten: the loss is between two packets. */
	gen_trace_start(&t, dir, "over-2", "over", 2, "overwrite", HZ, EPOCH_S, 0);
	classes(&t);
	gen_stream_start(&s, &t, "cpu0", 0);
	three(&s, 1000, 100, 2000, 0);
	gen_skip(&s, 40);
	three(&s, 7000, 100, 8000, 40);
	gen_stream_end(&s);
	gen_comment(&t, "lost stream=cpu0 full=0 too_large=0 busy=0 overwritten=40 unwritten=0");
	gen_comment(&t, "end time=1795000000.000010000");
	gen_trace_end(&t);
}

#define SCRIPT "%3C/script%3E%3Cscript%3Edocument.title=%22owned%22%3C/script%3E"
#define IMAGE  "%3Cimg%20src=x%20onerror=%22document.title='owned'%22%3E"

static void hostile(const char *dir)
{
	static const char script[] = "</script><script>document.title=\"owned\"</script>";
	static const char image[] = "<img src=x onerror=\"document.title='owned'\">";
	static const char bytes[] = "a\0b\xff\xfe\xc3(\xe2\x80\xae\x1b[31m<!--<script>]]>\"'&amp;";
	const struct gen_field text[] = { { "text", HODO_TYPE_STR } };
	struct gen_trace t;
	struct writer w = { .ticks = 1000 };

	gen_trace_start(&t, dir, "evil-13", "</title><script>document.title=1</script>", 13, "discard", HZ, EPOCH_S, 0);
	gen_class(&t, 1, "x:" SCRIPT ".begin", "span_begin", "", text, 1);
	gen_class(&t, 2, "x:" SCRIPT ".end", "span_end", "", NULL, 0);
	gen_class(&t, 3, "x:" IMAGE, "event", "", text, 1);
	gen_class(&t, 4, "x:mark", "mark", "%s </script><script>document.title='owned'</script>", text, 1);
	gen_class(&t, 5, "x:%C3%28%FF%00", "event", "", text, 1);
	gen_class(&t, 6, "x:counter" IMAGE, "counter", "", value_fields, 1);
	gen_class(&t, 7, "x:flow" IMAGE ".begin", "begin", "", id_fields, 1);
	gen_comment(&t, "thread tid=13 comm=%s", SCRIPT);
	gen_comment(&t, "thread tid=14 comm=%s", IMAGE "%FF%FE");
	gen_comment(&t, "warning text=%s", SCRIPT IMAGE);
	gen_stream_start(&w.s, &t, "cpu0", 0);
	for (unsigned i = 0; i < 20; i++) {
		event(&w, 1, 13 + i % 2, w.ticks + 100);
		gen_str(&w.s, script);
		event(&w, 3, 13 + i % 2, w.ticks + 100);
		gen_str(&w.s, image);
		event(&w, 4, 13 + i % 2, w.ticks + 100);
		gen_str_n(&w.s, bytes, sizeof(bytes) - 1);
		event(&w, 5, 13 + i % 2, w.ticks + 100);
		gen_str_n(&w.s, bytes, sizeof(bytes) - 1);
		event(&w, 6, 13 + i % 2, w.ticks + 100);
		gen_u64(&w.s, i);
		event(&w, 7, 13 + i % 2, w.ticks + 100);
		gen_u64(&w.s, i);
		event(&w, 2, 13 + i % 2, w.ticks + 100);
	}
	end(&w);
	gen_comment(&t, "lost stream=cpu0 full=0 too_large=0 busy=0 overwritten=0 unwritten=0");
	gen_comment(&t, "end time=1795000000.000010000");
	gen_trace_end(&t);
}

/* ----------------------------------------------------------------------- wakes */

enum { SWITCH = 1, WAKING };

static void change(struct gen_stream *s, uint64_t at, uint32_t prev, uint64_t state, uint32_t next)
{
	gen_event(s, SWITCH, prev, at);
	gen_u32(s, prev);
	gen_u64(s, state);
	gen_u32(s, next);
}

static void wake(struct gen_stream *s, uint64_t at, uint32_t by, uint32_t tid)
{
	gen_event(s, WAKING, by, at);
	gen_u32(s, tid);
}

/*
 * The request of thread 10, 1 to 9 ms: 10 runs to 2 ms and sleeps; 11 works to 3 ms and waits for 12, which wakes it
 * at 4 ms; 11 has a CPU at 4.2 ms, works, and wakes 10 at 6 ms; 10 has a CPU at 6.5 ms; nobody wakes 10 from where
 * it is blocked, 7 to 7.5 ms.
 */
static void wakes(const char *dir)
{
	static const struct gen_field changes[] = { { "prev_pid", HODO_TYPE_I32 }, { "prev_state", HODO_TYPE_I64 },
						    { "next_pid", HODO_TYPE_I32 } };
	static const struct gen_field pid[] = { { "pid", HODO_TYPE_I32 } };
	struct gen_stream s[2];
	struct gen_trace t;

	gen_trace_start(&t, dir, "kernel", "kernel", 0, "discard", HZ, EPOCH_S, 0);
	gen_comment(&t, "kernel release=6.1.0-test");
	gen_class(&t, SWITCH, "sched:sched_switch", "tracepoint", "", changes, 3);
	gen_class(&t, WAKING, "sched:sched_waking", "tracepoint", "", pid, 1);
	for (unsigned tid = 10; tid <= 12; tid++)
		gen_comment(&t, "thread tid=%u comm=%s pid=10", tid, tid == 10 ? "kvd" : tid == 11 ? "log" : "disk");
	gen_comment(&t, "end time=1795000000.010000000");
	gen_trace_end(&t);
	for (unsigned cpu = 0; cpu < 2; cpu++) {
		gen_stream_start(&s[cpu], &t, cpu ? "cpu1" : "cpu0", cpu);
		gen_packet_start(&s[cpu], 500000);
	}
	change(&s[0], 600000, 0, 0, 10);
	change(&s[0], 2000000, 10, 1, 0);
	change(&s[0], 6500000, 0, 0, 10);
	change(&s[0], 7000000, 10, 2, 0);
	change(&s[0], 7500000, 0, 0, 10);
	change(&s[0], 9500000, 10, 1, 0);
	change(&s[1], 800000, 0, 0, 11);
	change(&s[1], 3000000, 11, 1, 12);
	wake(&s[1], 4000000, 12, 11);
	change(&s[1], 4200000, 12, 1, 11);
	wake(&s[1], 6000000, 11, 10);
	change(&s[1], 8000000, 11, 1, 0);
	for (unsigned cpu = 0; cpu < 2; cpu++) {
		gen_packet_end(&s[cpu], 9600000, 0);
		gen_stream_end(&s[cpu]);
	}
	gen_trace_start(&t, dir, "kvd-10", "kvd", 10, "discard", HZ, EPOCH_S, 0);
	classes(&t);
	gen_comment(&t, "thread tid=11 comm=log");
	gen_comment(&t, "thread tid=12 comm=disk");
	gen_stream_start(&s[0], &t, "cpu0", 0);
	gen_packet_start(&s[0], 1000000);
	gen_event(&s[0], REQUEST, 10, 1000000);
	gen_str(&s[0], "k");
	gen_u32(&s[0], 1);
	gen_event(&s[0], NOTE, 11, 2500000);
	gen_u64(&s[0], 1);
	gen_event(&s[0], REQUEST_END, 10, 9000000);
	gen_packet_end(&s[0], 9000000, 0);
	gen_stream_end(&s[0]);
	gen_comment(&t, "end time=1795000000.010000000");
	gen_trace_end(&t);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "", *dir = argc > 2 ? argv[2] : "";
	uint64_t events = argc > 3 ? strtoull(argv[3], NULL, 10) : 10000;

	if (strcmp(what, "requests") == 0)
		requests(dir, events);
	else if (strcmp(what, "sizes") == 0)
		sizes(dir, events);
	else if (strcmp(what, "overlaps") == 0)
		overlaps(dir, events);
	else if (strcmp(what, "points") == 0)
		points(dir, events);
	else if (strcmp(what, "numbers") == 0)
		numbers(dir, events);
	else if (strcmp(what, "losses") == 0)
		losses(dir);
	else if (strcmp(what, "hostile") == 0)
		hostile(dir);
	else if (strcmp(what, "wakes") == 0)
		wakes(dir);
	else
		errx(2, "usage: view_recording requests|sizes|overlaps|points|numbers|losses|hostile|wakes DIR [EVENTS]");
	return 0;
}
