/* SPDX-License-Identifier: MIT */
/* test_damage.c - recordings that are broken, foreign or hostile, one fault at a time. */
#define _GNU_SOURCE
#include <lib/recordings/help.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER sizeof(struct hodo_packet)

/* Three packets of an anchor and 100 events of EVENT bytes each. */
static const char *make(const char *name)
{
	static const struct gen_field fields[] = { { "n", HODO_TYPE_I32 }, { "total", HODO_TYPE_U64 } };
	const char *top = folder_path(name);
	struct gen_trace t;
	struct gen_stream s;

	gen_trace_start(&t, top, "p-1", "p", 1, "discard", 1000000000, 0, 0);
	gen_class(&t, 1, "p:step", "event", "", fields, 2);
	gen_stream_start(&s, &t, "cpu0", 0);
	for (unsigned packet = 0; packet < 3; packet++) {
		gen_packet_start(&s, 1000 + packet * 1000);
		for (unsigned i = 0; i < 100; i++) {
			gen_event(&s, 1, 1, 1000 + packet * 1000 + i);
			gen_u32(&s, packet * 100 + i);
			gen_u64(&s, i);
		}
		gen_packet_end(&s, 1000 + packet * 1000 + 99, 0);
	}
	gen_stream_end(&s);
	gen_comment(&t, "end time=3.000000000");
	gen_trace_end(&t);
	return top;
}
#define EVENT (RECORD_EVENT_BYTES + 12)
#define EVENTS (HEADER + RECORD_ANCHOR_BYTES)
#define PACKET (EVENTS + 100 * EVENT)

static void patch(const char *top, size_t off, const void *data, size_t len)
{
	char path[600];
	int fd;

	snprintf(path, sizeof(path), "%s/p-1/cpu0", top);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, data, len, (off_t)off), len);
	close(fd);
}

/* between: damaged events in packets that no longer have a header. */
static void check_hole(const char *top, uint64_t events, uint64_t damaged, uint64_t between, const char *warning)
{
	struct hodo_read_totals totals = { .size = sizeof(totals) };
	struct hodo_read *r = help_open(top);

	assert_int_equal(help_walk(r), events);
	assert_int_equal(hodo_read_count(r, &totals), 0);
	assert_int_equal(totals.damaged, damaged);
	assert_int_equal(hodo_read_lost(r, NULL).damaged, damaged + between);
	if (!strstr(help_warnings, warning))
		fail_msg("'%s' is not in the warnings: %s", warning, help_warnings);
	hodo_read_close(r);
}

static void check(const char *top, uint64_t events, uint64_t damaged, const char *warning)
{
	check_hole(top, events, damaged, 0, warning);
}

/* Headers and the file's size alone say as much. */
static void check_scan(const char *top, uint64_t events, uint64_t damaged)
{
	struct hodo_read *r = help_open(top);
	const struct hodo_read_stream *s = hodo_read_process(r, 0)->streams[0];

	assert_int_equal(hodo_read_scan(r), 0);
	assert_int_equal(s->events - s->damaged, events);
	assert_int_equal(s->damaged, damaged);
	assert_int_equal(s->lost.damaged, damaged);
	assert_int_equal(s->lost.unknown, 0);
	hodo_read_close(r);
}

TEST(test_truncated)
{
	static const struct {
		size_t len;
		unsigned events, damaged;
		const char *warning;
	} cuts[] = {
		{ 3 * PACKET - 1, 299, 1, "cut short: 1 bytes" },
		{ 2 * PACKET + EVENTS + EVENT + 11, 201, 99, "cut short" },
		{ 2 * PACKET + EVENTS - 1, 200, 100, "cut short" },
		{ 2 * PACKET + HEADER, 200, 100, "cut short" },
		{ 2 * PACKET + HEADER - 1, 200, 0, "cut short in a packet's header" },
		{ 2 * PACKET, 200, 0, "" },
		{ 1, 0, 0, "cut short in a packet's header" },
		{ 0, 0, 0, "" },
	};

	for (unsigned i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		char path[600];

		snprintf(path, sizeof(path), "%s/p-1/cpu0", make("cut"));
		assert_int_equal(truncate(path, (off_t)cuts[i].len), 0);
		check(folder_path("cut"), cuts[i].events, cuts[i].damaged, cuts[i].warning);
		check_scan(folder_path("cut"), cuts[i].events, cuts[i].damaged);
	}
}

/* A hole holds no packet, however long it is: reading it would take hours. */
TEST(test_sparse)
{
	const off_t far = (off_t)1 << 40;
	uint8_t packet[PACKET];
	char path[600];
	int fd;

	snprintf(path, sizeof(path), "%s/p-1/cpu0", make("sparse"));
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, packet, sizeof(packet), 2 * PACKET), sizeof(packet));
	assert_int_equal(ftruncate(fd, 2 * PACKET), 0);
	assert_int_equal(ftruncate(fd, far), 0);
	check(folder_path("sparse"), 200, 0, "no packet at byte");
	assert_int_equal(pwrite(fd, packet, sizeof(packet), far), sizeof(packet));
	check(folder_path("sparse"), 300, 0, "no packet at byte");
	close(fd);
}

TEST(test_header)
{
	uint64_t huge = UINT64_MAX & ~7ull, small = 8 * (EVENTS + 2 * EVENT), over = 8 * PACKET * 2,
		 odd = 8 * PACKET + 1;
	uint32_t events = 0x00ffffff;

	patch(make("h"), PACKET, "x", 1); /* magic */
	check_hole(folder_path("h"), 200, 0, 100, "no packet at byte");
	patch(make("h"), PACKET + 4, "x", 1);
	check_hole(folder_path("h"), 200, 0, 100, "a packet of another trace");
	patch(make("h"), PACKET + 20, "x", 1);
	check_hole(folder_path("h"), 200, 0, 100, "unknown stream");
	patch(make("h"), PACKET + offsetof(struct hodo_packet, packet_size), &huge, 8);
	check_hole(folder_path("h"), 200, 0, 100, "damaged size");
	patch(make("h"), PACKET + offsetof(struct hodo_packet, content_size), &odd, 8);
	check_hole(folder_path("h"), 200, 0, 100, "damaged size");
	patch(make("h"), PACKET + offsetof(struct hodo_packet, events), &events, 4);
	check_hole(folder_path("h"), 200, 0, 100, "damaged event count");
	/* Content shorter than the packet: the rest is padding, and the event count shows the damage. */
	patch(make("h"), PACKET + offsetof(struct hodo_packet, content_size), &small, 8);
	check_hole(folder_path("h"), 200, 0, 100, "damaged event count");
	/* A packet whose size includes the next one: the reader finds that one at its header. */
	patch(make("h"), PACKET + offsetof(struct hodo_packet, packet_size), &over, 8);
	patch(folder_path("h"), PACKET + offsetof(struct hodo_packet, content_size), &over, 8);
	check(folder_path("h"), 300, 0, "no record of a known event");
}

TEST(test_events)
{
	const size_t at = PACKET + EVENTS + EVENT * 50;
	uint8_t record[RECORD_EVENT_BYTES], zero[EVENT] = { 0 };
	uint32_t count = 90;

	record_event(record, 9, 2050 * GEN_TICK);
	patch(make("e"), at, record, sizeof(record));
	check(folder_path("e"), 250, 50, "no record of a known event at byte");
	record_event(record, 0, 2050 * GEN_TICK);
	patch(make("e"), at, record, sizeof(record));
	check(folder_path("e"), 250, 50, "no record of a known event at byte");
	patch(make("e"), at, zero, sizeof(zero));
	check(folder_path("e"), 250, 50, "no record of a known event at byte");
	record_event(record, 1, 2050 * GEN_TICK);
	record[3] |= 0x80;
	patch(make("e"), at, record, sizeof(record));
	check(folder_path("e"), 250, 50, "no record of a known event at byte");
	record_event(record, 1, 5000 * GEN_TICK); /* the others stay readable */
	patch(make("e"), at, record, sizeof(record));
	check(folder_path("e"), 299, 1, "outside");
	patch(make("e"), PACKET + offsetof(struct hodo_packet, events), &count, 4);
	check(folder_path("e"), 300, 0, "announces 90 events and 100 can be read");
}

/* An anchor whose time cannot be true: the thread of the events up to the next anchor is not known. */
TEST(test_anchors)
{
	const size_t at = PACKET + EVENTS + EVENT * 50;
	uint8_t late[RECORD_ANCHOR_BYTES], early[RECORD_ANCHOR_BYTES], record[RECORD_CALL_BYTES];
	struct hodo_packet *h;
	uint8_t *file;
	size_t len;

	record_anchor(late, 5000 * GEN_TICK, 8, 0);
	record_anchor(early, 500 * GEN_TICK, 8, 0);
	patch(make("a"), PACKET + HEADER, late, sizeof(late));
	check(folder_path("a"), 200, 100, "outside");
	patch(make("a"), PACKET + HEADER, early, sizeof(early));
	check(folder_path("a"), 200, 100, "outside");
	/* An anchor between two events, whose time is too late, then too early. */
	make("a");
	file = folder_read(folder_path("a/p-1/cpu0"), &len);
	file = realloc(file, len + sizeof(late));
	assert_non_null(file);
	memmove(file + at + sizeof(late), file + at, len - at);
	memcpy(file + at, late, sizeof(late));
	h = (struct hodo_packet *)(void *)(file + PACKET);
	h->packet_size = h->content_size += 8 * sizeof(late);
	folder_write(folder_path("a/p-1/cpu0"), file, len + sizeof(late));
	check(folder_path("a"), 250, 50, "outside");
	memcpy(file + at, early, sizeof(early));
	folder_write(folder_path("a/p-1/cpu0"), file, len + sizeof(late));
	check(folder_path("a"), 250, 50, "outside");
	free(file);
	/* No anchor at all. */
	make("a");
	file = folder_read(folder_path("a/p-1/cpu0"), &len);
	memmove(file + PACKET + HEADER, file + PACKET + EVENTS, len - PACKET - EVENTS);
	h = (struct hodo_packet *)(void *)(file + PACKET);
	h->packet_size = h->content_size -= 8 * RECORD_ANCHOR_BYTES;
	folder_write(folder_path("a/p-1/cpu0"), file, len - RECORD_ANCHOR_BYTES);
	free(file);
	check(folder_path("a"), 200, 100, "without a thread");
	/* A call, where the metadata does not describe calls. */
	record_call(record, RECORD_CALL, 2050 * GEN_TICK, 0x1000, 0x7ffc00000008);
	patch(make("a"), at, record, sizeof(record));
	check(folder_path("a"), 250, 50, "no record of a known event at byte");
}

TEST(test_times)
{
	uint64_t early = 500 * GEN_TICK, end = 100 * GEN_TICK, before = 50;

	patch(make("t"), PACKET + offsetof(struct hodo_packet, timestamp_end), &end, 8);
	check(folder_path("t"), 300, 0, "ends before it begins");
	/* The whole packet is earlier than the one before it: its events keep their place. */
	patch(make("t"), PACKET + offsetof(struct hodo_packet, timestamp_begin), &early, 8);
	check(folder_path("t"), 300, 0, "time runs back");
	make("t");
	patch(folder_path("t"), 2 * PACKET + offsetof(struct hodo_packet, events_discarded), "\1", 1);
	patch(folder_path("t"), 1 * PACKET + offsetof(struct hodo_packet, events_discarded), &before, 8);
	check(folder_path("t"), 300, 0, "lost events runs back");
}

static void replace_metadata(const char *top, const char *from, const char *to)
{
	char path[600], *at;
	size_t len;
	uint8_t *data;
	char *text = malloc(1 << 20);

	assert_non_null(text);
	snprintf(path, sizeof(path), "%s/p-1/metadata", top);
	data = folder_read(path, &len);
	data[len] = 0;
	at = strstr((char *)data, from);
	assert_non_null(at);
	len = (size_t)snprintf(text, 1 << 20, "%.*s%s%s", (int)(at - (char *)data), data, to,
			       at + strlen(from));
	folder_write(path, text, len);
	free(data);
	free(text);
}

TEST(test_metadata)
{
	static const struct {
		const char *from, *to, *warning;
		unsigned events;
	} cases[] = {
		{ "id=1 name", "id=0 name", "event damaged", 0 },
		{ "id=1 name", "id=65536 name", "event damaged", 0 },
		{ "id=1 name", "id=99999999999999999999 name", "event damaged", 0 },
		{ "kind=event", "kind=nothing", "event damaged", 0 },
		{ "n:i32", "n:i33", "event damaged", 0 },
		{ "n:i32", ":i32", "event damaged", 0 },
		{ "n:i32", "n", "event damaged", 0 },
		{ "n:i32,total:u64*/", "n:i32,total:u64", "damaged: skipped", 0 },
		{ "/*@end", "/*@event id=1 name=p:other kind=event fields=*/\n/*@end", "given twice", 300 },
		{ "/*@end", "/*@labels provider=p field=n names=A,B values=1*/\n/*@end", "labels damaged",
		  300 },
		{ "/*@end", "/*@labels provider=p field=n names=A values=x*/\n/*@end", "labels damaged",
		  300 },
		{ "/*@end", "/*@lost stream=../x full=1*/\n/*@end", "losses damaged", 300 },
		{ "/*@end", "/*@lost stream=cpu0 full=-1*/\n/*@end", "losses damaged", 300 },
		{ "/*@end", "/*@what is=this*/\n/*@thread tid=x comm=%zz%00%ff*/\n/*@end", "", 300 },
		{ "freq=4000000000 offset_s", "freq=0 offset_s", "clock damaged", 300 },
		{ "freq=4000000000 offset_s", "freq=99999999999999 offset_s", "clock damaged", 300 },
		{ "/*@clock", "/*@klock", "no clock", 300 },
		{ "comm=p", "comm=%0a%1b[31m", "", 300 },
		{ "/*@end", "/*@*/\n/*@ */\n/*@end end*/\n/*@end", "damaged: skipped", 300 },
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make("m");
		replace_metadata(folder_path("m"), cases[i].from, cases[i].to);
		check(folder_path("m"), cases[i].events, cases[i].events ? 0 : 300, cases[i].warning);
	}
}

TEST(test_refused)
{
	make("r");
	replace_metadata(folder_path("r"), "version=2", "version=1");
	assert_int_equal(help_open_error(folder_path("r/p-1")), -EPROTONOSUPPORT);
	assert_int_equal(help_open_error(folder_path("r")), -EPROTONOSUPPORT);
	make("r");
	replace_metadata(folder_path("r"), "byte_order=le", "byte_order=be");
	assert_int_equal(help_open_error(folder_path("r/p-1")), -EPROTONOSUPPORT);
	make("r");
	replace_metadata(folder_path("r"), "version=2 uuid=", "version=2 uuid=z");
	assert_int_equal(help_open_error(folder_path("r/p-1")), -EBADMSG);
	make("r");
	replace_metadata(folder_path("r"), "/*@hodo", "/*@nodo");
	assert_int_equal(help_open_error(folder_path("r/p-1")), -EBADMSG);
	assert_int_equal(help_open_error(folder_path("nothing")), -ENOENT);
	assert_int_equal(help_open_error(folder_path("r/p-1/cpu0")), -ENOTDIR);
	make("r");
	assert_int_equal(help_open_error(folder()), -ENODATA); /* the recordings are one level below */
	assert_int_equal(hodo_read_open(NULL, "x", NULL), -EINVAL);
}

TEST(test_foreign)
{
	static const char text[] = "/* CTF 1.8 */\ntrace { major = 1; minor = 8; };\n";
	static const uint8_t packed[64] = { 0x57, 0x1d, 0xd1, 0x75 }; /* LTTng packs its metadata */

	mkdir(folder_path("lttng"), 0777);
	assert_int_equal(help_open_error(folder_path("lttng")), -ENODATA);
	mkdir(folder_path("lttng/ust"), 0777);
	mkdir(folder_path("lttng/ust/uid"), 0777);
	mkdir(folder_path("lttng/ust/uid/0"), 0777);
	mkdir(folder_path("lttng/ust/uid/0/64-bit"), 0777);
	folder_write(folder_path("lttng/ust/uid/0/64-bit/metadata"), packed, sizeof(packed));
	assert_int_equal(help_open_error(folder_path("lttng")), -EPROTO);
	assert_non_null(strstr(help_error, "another tool: read it with babeltrace2"));
	assert_int_equal(help_open_error(folder_path("lttng/ust/uid/0/64-bit")), -EPROTO);
	mkdir(folder_path("lttng/kernel"), 0777);
	folder_write(folder_path("lttng/kernel/metadata"), text, strlen(text));
	assert_int_equal(help_open_error(folder_path("lttng")), -EPROTO);
	/* Next to a trace of Hodoscope's it is left out. */
	make("lttng");
	check(folder_path("lttng"), 300, 0, "a CTF trace of another tool: skipped");
}

TEST(test_odd_files)
{
	struct hodo_read *r;

	make("odd");
	assert_int_equal(mkfifo(folder_path("odd/p-1/cpu1"), 0666), 0);
	assert_int_equal(symlink("/dev/zero", folder_path("odd/p-1/cpu2")), 0);
	mkdir(folder_path("odd/p-1/cpu3"), 0777);
	assert_int_equal(symlink("p-1", folder_path("odd/p-2")), 0);
	folder_write(folder_path("odd/p-1/.hidden"), "x", 1);
	folder_write(folder_path("odd/README"), "x", 1);
	check(folder_path("odd"), 300, 0, "cpu1: not a regular file");
	assert_non_null(strstr(help_warnings, "cpu2: not a regular file"));
	assert_non_null(strstr(help_warnings, "cpu3: not a regular file"));
	assert_non_null(strstr(help_warnings, "symbolic links are not followed"));
	r = help_open(folder_path("odd"));
	assert_int_equal(hodo_read_nprocesses(r), 1);
	hodo_read_close(r);
	assert_int_equal(unlink(folder_path("odd/p-1/metadata")), 0);
	assert_int_equal(symlink("/dev/zero", folder_path("odd/p-1/metadata")), 0);
	assert_int_equal(help_open_error(folder_path("odd/p-1")), -EBADMSG);
	assert_int_equal(unlink(folder_path("odd/p-1/metadata")), 0);
	assert_int_equal(mkfifo(folder_path("odd/p-1/metadata"), 0666), 0);
	assert_int_equal(help_open_error(folder_path("odd/p-1")), -EBADMSG);
}

/* Files that are cut or renamed while they are read. */
TEST(test_meanwhile)
{
	const struct hodo_read_event *e;
	struct hodo_read *r;
	char path[600];
	unsigned n = 0;

	gen_fixed(folder_path("big"), 100000);
	snprintf(path, sizeof(path), "%s/bench-412/cpu0", folder_path("big"));
	r = help_open(folder_path("big"));
	for (; n < 1000; n++)
		assert_int_equal(hodo_read_next(r, &e), 1);
	assert_int_equal(truncate(path, 300000), 0);
	for (; hodo_read_next(r, &e) > 0; n++)
		;
	assert_true(n > 50000 && n < 100000);
	assert_non_null(strstr(help_warnings, "cut short"));
	assert_int_equal(hodo_read_count(r, NULL), 0);
	assert_int_equal(rename(folder_path("big/bench-412/cpu1"), folder_path("big/bench-412/.cpu1")), 0);
	assert_int_equal(hodo_read_count(r, NULL), 0);
	for (n = 0; hodo_read_next(r, &e) > 0; n++)
		;
	assert_true(n < 20000);
	assert_non_null(strstr(help_warnings, "cpu1: cannot be read"));
	hodo_read_close(r);
}

/* A reader does not see what is appended later; the metadata that it read describes all that it sees. */
TEST(test_growing)
{
	struct hodo_read *r;
	uint8_t *data;
	char path[600];
	size_t len;
	int fd;

	snprintf(path, sizeof(path), "%s/p-1/cpu0", make("grow"));
	data = folder_read(path, &len);
	r = help_open(folder_path("grow"));
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(write(fd, data + 2 * PACKET, PACKET), PACKET);
	close(fd);
	assert_int_equal(help_walk(r), 300);
	assert_int_equal(help_nwarnings, 0);
	hodo_read_close(r);
	free(data);
}

/*
 * Packets within packets: each claims megabytes, and so does its only event, which
 * only reading them reveals. Believing each claim would take hours.
 */
TEST(test_nested)
{
	static const struct gen_field fields[] = { { "a", HODO_TYPE_BYTES }, { "b", HODO_TYPE_BYTES } };
	struct hodo_packet head = { .magic = HODO_CTF_MAGIC, .timestamp_end = 1000, .events = 1 };
	uint8_t event[RECORD_ANCHOR_BYTES + RECORD_EVENT_BYTES + 4];
	/* The second length is where another event has its first: only together do they exceed the packet. */
	const uint32_t packets = 100000, each = sizeof(head) + sizeof(event);
	const uint32_t claim = (2 << 20) / each * each + each - 4;
	uint8_t *data = malloc(packets * each);
	struct hodo_read *r;
	struct gen_trace t;
	size_t len = 0;

	assert_non_null(data);
	gen_trace_start(&t, folder_path("nest"), "nest-1", "nest", 1, "discard", 1000000000, 0, 0);
	gen_class(&t, 1, "nest:event", "event", "", fields, 2);
	gen_trace_end(&t);
	memcpy(head.uuid, t.uuid, 16);
	head.content_size = head.packet_size = 8ull * HODO_PACKET_MAX;
	record_event(event + record_anchor(event, 4, 7, 0), 1, 4);
	memcpy(event + sizeof(event) - 4, &claim, 4);
	for (uint32_t i = 0; i < packets; i++) {
		memcpy(data + len, &head, sizeof(head));
		memcpy(data + len + sizeof(head), event, sizeof(event));
		len += sizeof(head) + sizeof(event);
	}
	folder_write(folder_path("nest/nest-1/cpu0"), data, len);
	r = help_open(folder_path("nest"));
	help_walk(r);
	assert_non_null(strstr(help_warnings, "too damaged to go on"));
	hodo_read_close(r);
	free(data);
}

TEST(test_warnings_bounded)
{
	struct hodo_read *r;

	make("w");
	for (unsigned i = 0; i < 300; i++) {
		char name[64];

		snprintf(name, sizeof(name), "w/p-1/cpu%u", i + 1);
		folder_write(folder_path(name), "damaged", 7);
	}
	r = help_open(folder_path("w"));
	assert_int_equal(help_walk(r), 300);
	assert_int_equal(help_nwarnings, 101);
	assert_non_null(strstr(help_warnings, "more damage is not listed"));
	hodo_read_close(r);
}
