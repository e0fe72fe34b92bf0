/* SPDX-License-Identifier: MIT */
/* test_objects.c - libhodo-read: objects in the metadata, and names in the text of function events. */
#define _GNU_SOURCE
#include <lib/recordings/help.h>

#define ENTRY 1
#define HELD  2
#define STACK 3
#define OTHER 4

static void start_trace(struct gen_trace *t, const char *top)
{
	static const struct gen_field entry[] = { { "addr", HODO_TYPE_PTR }, { "frame", HODO_TYPE_U32 } };
	static const struct gen_field held[] = { { "addr", HODO_TYPE_PTR },
						 { "loop", HODO_TYPE_PTR },
						 { "ticks", HODO_TYPE_U64 } };
	static const struct gen_field stack[] = { { "bytes", HODO_TYPE_U64 },
						  { "depth", HODO_TYPE_U32 },
						  { "chain", HODO_TYPE_ARRAY | HODO_TYPE_PTR } };

	/* A clock of 100 MHz that had the value 50 at second 1000: a tick is 10 ns. */
	gen_trace_start(t, top, "prog-9", "prog", 9, "discard", 100000000, 1000, -50);
	gen_class(t, ENTRY, "func:entry", "function", "", entry, 2);
	gen_class(t, HELD, "func:held", "function", "", held, 3);
	gen_class(t, STACK, "func:stack", "function", "", stack, 3);
	gen_class(t, OTHER, "my:event", "event", "", entry, 2);
}

static void write_events(struct gen_trace *t)
{
	static const uint64_t chain[] = { 0x1000, 0x2000, 0x3000 };
	struct gen_stream s;

	gen_stream_start(&s, t, "cpu0", 0);
	gen_packet_start(&s, 100);
	gen_event(&s, ENTRY, 9, 110);
	gen_u64(&s, 0x1000);
	gen_u32(&s, 7);
	gen_event(&s, ENTRY, 9, 120);
	gen_u64(&s, 0x3000);
	gen_u32(&s, 8);
	gen_event(&s, HELD, 9, 130);
	gen_u64(&s, 0x2000);
	gen_u64(&s, 0x1000);
	gen_u64(&s, 99);
	gen_event(&s, STACK, 9, 140);
	gen_u64(&s, 4096);
	gen_u32(&s, 3);
	gen_array(&s, chain, 3, 8);
	gen_event(&s, STACK, 9, 150);
	gen_u64(&s, 0);
	gen_u32(&s, 0);
	gen_array(&s, chain, 0, 8);
	gen_event(&s, OTHER, 9, 160);
	gen_u64(&s, 0x1000);
	gen_u32(&s, 7);
	gen_packet_end(&s, 170, 0);
	gen_stream_end(&s);
}

TEST(test_objects)
{
	const char *top = folder_path("objects");
	const struct hodo_read_process *p;
	struct gen_trace t;
	struct hodo_read *r;

	start_trace(&t, top);
	gen_comment(&t, "object path=/lib/b%%20c.so base=0x7000 start=0x7000 end=0x9000 from=600 until=1000 functions=3 "
			"build_id=00ff10");
	gen_comment(&t, "object path=/lib/a.so base=0x7000 start=0x7000 end=0x8000 from=204 until=600 functions=0 "
			"build_id=");
	gen_comment(&t, "object path=/bin/prog base=0x0 start=0x400000 end=0x500000 functions=4294967295 build_id=ab");
	gen_comment(&t, "object path=/lib/c.so base=0xffffffffffff0000 start=0x1000 end=0x2000 functions=1 build_id=");
	gen_trace_end(&t);
	r = help_open(top);
	assert_int_equal(help_nwarnings, 0);
	p = hodo_read_process(r, 0);
	assert_int_equal(p->nobjects, 4);
	assert_string_equal(p->objects[0].path, "/lib/c.so");
	assert_true(p->objects[0].base == 0xffffffffffff0000 && p->objects[0].from_ns == INT64_MIN &&
		    p->objects[0].until_ns == INT64_MAX && p->objects[0].build_id_len == 0);
	assert_string_equal(p->objects[1].path, "/lib/a.so");
	assert_true(p->objects[1].from_ns == 1000000000010 && p->objects[1].until_ns == 1000000001000);
	assert_string_equal(p->objects[2].path, "/lib/b c.so");
	assert_true(p->objects[2].from_ns == 1000000001000 && p->objects[2].until_ns == 1000000002000);
	assert_int_equal(p->objects[2].functions, 3);
	assert_int_equal(p->objects[2].build_id_len, 3);
	assert_memory_equal(p->objects[2].build_id, "\x00\xff\x10", 3);
	assert_string_equal(p->objects[3].path, "/bin/prog");
	assert_int_equal(p->objects[3].functions, UINT32_MAX);
	hodo_read_close(r);
}

/* Unusable lines cause a warning, and the reader reads the others. */
TEST(test_damaged)
{
	static const char *const bad[] = {
		"path=x base=0x0 start=0x1 end=0x1 functions=1",
		"path=x base=0x0 start=0x2 end=0x1 functions=1",
		"path=x start=0x1 end=0x2",
		"path=x base=0x00000000000000001 start=0x1 end=0x2",
		"path=x base=1 start=0x1 end=0x2",
		"path=x base=0x start=0x1 end=0x2",
		"path=x base=0x1g start=0x1 end=0x2",
		"path=x base=0x1 start=0x1 end=0x2 from=",
		"path=x base=0x1 start=0x1 end=0x2 until=18446744073709551616",
		"path=x base=0x1 start=0x1 end=0x2 build_id=abc",
		"path=x base=0x1 start=0x1 end=0x2 build_id=zz",
		"path=x base=0x1 start=0x1 end=0x2 "
		"build_id=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20",
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char name[16];
		struct gen_trace t;
		struct hodo_read *r;

		snprintf(name, sizeof(name), "bad%u", i);
		start_trace(&t, folder_path(name));
		gen_comment(&t, "object %s", bad[i]);
		gen_comment(&t, "object path=good base=0x1 start=0x1 end=0x2");
		gen_trace_end(&t);
		r = help_open(folder_path(name));
		if (help_nwarnings != 1 || hodo_read_process(r, 0)->nobjects != 1)
			fail_msg("%s: %u warnings", bad[i], help_nwarnings);
		assert_string_equal(hodo_read_process(r, 0)->objects[0].path, "good");
		hodo_read_close(r);
	}
}

static const char *name_of(void *data, const struct hodo_read_process *process, int64_t ts_ns, uint64_t address)
{
	assert_int_equal(process->pid, 9);
	assert_true(ts_ns > 1000000000000);
	++*(unsigned *)data;
	return address == 0x1000 ? "ns::f(int, \"x\")" : address == 0x2000 ? "g\n\x1b[1m" : NULL;
}

static void check_lines(struct hodo_read *r, bool json, const char *const *want, unsigned n)
{
	struct hodo_read_text *text = hodo_read_text_new();
	const struct hodo_read_event *e;
	unsigned i = 0;

	hodo_read_rewind(r);
	while (hodo_read_next(r, &e) > 0) {
		const char *data, *from;
		size_t len;

		hodo_read_text_clear(text);
		assert_int_equal(json ? hodo_read_text_json(text, e) : hodo_read_text_line(text, e, 0), 0);
		data = hodo_read_text_data(text, &len);
		from = memmem(data, len, json ? "\"fields\"" : "prog ", json ? 8 : 5);
		assert_non_null(from);
		assert_true(i < n);
		if (strlen(want[i]) != len - (size_t)(from - data) || memcmp(from, want[i], strlen(want[i])) != 0)
			fail_msg("%.*s is not %s", (int)len, data, want[i]);
		i++;
	}
	assert_int_equal(i, n);
	hodo_read_text_free(text);
}

TEST(test_names)
{
	static const char *const plain[] = {
		"prog func:entry addr=0x1000 frame=7\n",	  "prog func:entry addr=0x3000 frame=8\n",
		"prog func:held addr=0x2000 loop=0x1000 ticks=99\n",
		"prog func:stack bytes=4096 depth=3 chain=[0x1000,0x2000,0x3000]\n",
		"prog func:stack bytes=0 depth=0 chain=[]\n",	  "prog my:event addr=0x1000 frame=7\n",
	};
	static const char *const named[] = {
		"prog func:entry ns::f(int, \"x\") frame=7\n",
		"prog func:entry addr=0x3000 frame=8\n",
		"prog func:held g\\n\\x1b[1m loop=ns::f(int, \"x\") ticks=99\n",
		"prog func:stack bytes=4096 depth=3 chain=[ns::f(int, \"x\"), g\\n\\x1b[1m, 0x3000]\n",
		"prog func:stack bytes=0 depth=0 chain=[]\n",
		"prog my:event addr=0x1000 frame=7\n",
	};
	static const char *const json[] = {
		"\"fields\":{\"addr\":4096,\"frame\":7},\"function\":\"ns::f(int, \\\"x\\\")\"}\n",
		"\"fields\":{\"addr\":12288,\"frame\":8},\"function\":null}\n",
		"\"fields\":{\"addr\":8192,\"loop\":4096,\"ticks\":99},\"function\":\"g\\n\\u001b[1m\","
		"\"loop\":\"ns::f(int, \\\"x\\\")\"}\n",
		"\"fields\":{\"bytes\":4096,\"depth\":3,\"chain\":[4096,8192,12288]},"
		"\"chain\":[\"ns::f(int, \\\"x\\\")\",\"g\\n\\u001b[1m\",null]}\n",
		"\"fields\":{\"bytes\":0,\"depth\":0,\"chain\":[]},\"chain\":[]}\n",
		"\"fields\":{\"addr\":4096,\"frame\":7}}\n",
	};
	const char *top = folder_path("names");
	unsigned asked = 0;
	struct gen_trace t;
	struct hodo_read *r;

	start_trace(&t, top);
	gen_trace_end(&t);
	write_events(&t);
	r = help_open(top);
	check_lines(r, false, plain, 6);
	hodo_read_symbols(r, name_of, &asked);
	check_lines(r, false, named, 6);
	check_lines(r, true, json, 6);
	assert_true(asked > 0);
	hodo_read_symbols(r, NULL, NULL);
	check_lines(r, false, plain, 6);
	hodo_read_close(r);
}
