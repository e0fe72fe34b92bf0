/* SPDX-License-Identifier: MIT */
/* test_messages.c - pairing by key, in bounded memory. */
#include <lib/unit.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <merge/messages.h>

TEST(pairs_are_parsed)
{
	struct hodo_messages m;

	assert_int_equal(hodo_messages_begin(&m), 0);
	assert_int_equal(hodo_messages_pair(&m, "net:send.begin.conn,seq=net:recv.peer,n"), 0);
	assert_int_equal(m.npairs, 1);
	assert_string_equal(m.pair[0].sends.event, "net:send.begin");
	assert_int_equal(m.pair[0].sends.nfields, 2);
	assert_string_equal(m.pair[0].sends.field[0], "conn");
	assert_string_equal(m.pair[0].sends.field[1], "seq");
	assert_string_equal(m.pair[0].receives.event, "net:recv");
	assert_string_equal(m.pair[0].receives.field[1], "n");
	hodo_messages_free(&m);
}

TEST(what_is_no_pair_is_refused)
{
	static const char *const wrong[] = { "", "=", "a.b", "a.b=", "=a.b", "a=b", "a.b=c", "a.=b.c", ".a=b.c",
					     "a.b,=c.d,e", "a.b,c=d.e", "a.,b=c.d,e" };

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct hodo_messages m;

		assert_int_equal(hodo_messages_begin(&m), 0);
		assert_int_equal(hodo_messages_pair(&m, wrong[i]), -EINVAL);
		hodo_messages_free(&m);
	}
}

/* ------------------------------------------------------------------------ matching */

struct seen {
	struct hodo_passed passed[32];
	unsigned n;
};

static int see(void *data, const struct hodo_passed *p)
{
	struct seen *s = data;

	assert_true(s->n < 32);
	s->passed[s->n++] = *p;
	return 0;
}

static void put(struct hodo_messages *m, uint64_t key, uint32_t recording, enum hodo_message_kind kind, int64_t ts_ns)
{
	if (!m->message)
		m->message = calloc(64, sizeof(*m->message));
	m->message[m->n++] = (struct hodo_message){ { key, ~key }, ts_ns, recording, kind,
						   HODO_NO_PAIR };
}

TEST(each_message_is_passed_once)
{
	struct seen s = { .n = 0 };
	struct hodo_messages m;
	uint64_t ambiguous;

	hodo_messages_begin(&m);
	put(&m, 9, 1, HODO_MESSAGE_RECEIVED_ONCE, 90);
	put(&m, 5, 1, HODO_MESSAGE_RECEIVED_ONCE, 50);
	put(&m, 9, 0, HODO_MESSAGE_SENT, 10);
	put(&m, 5, 2, HODO_MESSAGE_SENT, 20);
	put(&m, 7, 0, HODO_MESSAGE_SENT, 30);		/* nobody received it */
	put(&m, 8, 0, HODO_MESSAGE_RECEIVED_ONCE, 40);	/* nobody sent it */
	assert_int_equal(hodo_messages_match(&m, see, &s, &ambiguous), 0);
	assert_int_equal(ambiguous, 0);
	assert_int_equal(s.n, 2);
	for (unsigned i = 0; i < 2; i++) {
		bool nine = s.passed[i].from == 0;

		assert_int_equal(s.passed[i].from, nine ? 0 : 2);
		assert_int_equal(s.passed[i].to, 1);
		assert_int_equal(s.passed[i].sent_ns, nine ? 10 : 20);
		assert_int_equal(s.passed[i].received_ns, nine ? 90 : 50);
		assert_false(s.passed[i].returned);
	}
	hodo_messages_free(&m);
}

TEST(keys_that_come_twice_are_not_used)
{
	struct seen s = { .n = 0 };
	struct hodo_messages m;
	uint64_t ambiguous;

	hodo_messages_begin(&m);
	put(&m, 1, 0, HODO_MESSAGE_SENT, 10);
	put(&m, 1, 0, HODO_MESSAGE_SENT, 11);
	put(&m, 1, 1, HODO_MESSAGE_RECEIVED_ONCE, 20);
	put(&m, 2, 0, HODO_MESSAGE_SENT, 10);
	put(&m, 2, 1, HODO_MESSAGE_RECEIVED_ONCE, 20);
	put(&m, 2, 1, HODO_MESSAGE_RECEIVED_ONCE, 21);
	assert_int_equal(hodo_messages_match(&m, see, &s, &ambiguous), 0);
	assert_int_equal(s.n, 0);
	assert_int_equal(ambiguous, 3);
	hodo_messages_free(&m);
}

/* A span may ask several others, and each of them begins before it is over. */
TEST(spans_wait_for_all_that_they_ask)
{
	struct seen s = { .n = 0 };
	struct hodo_messages m;
	uint64_t ambiguous;

	hodo_messages_begin(&m);
	put(&m, 1, 0, HODO_MESSAGE_SENT, 10);
	put(&m, 1, 0, HODO_MESSAGE_RETURNED, 50);
	put(&m, 1, 1, HODO_MESSAGE_RECEIVED, 20);
	put(&m, 1, 2, HODO_MESSAGE_RECEIVED, 30);
	put(&m, 1, 0, HODO_MESSAGE_RECEIVED, 12); /* on the same side: nothing new */
	assert_int_equal(hodo_messages_match(&m, see, &s, &ambiguous), 0);
	assert_int_equal(ambiguous, 0);
	assert_int_equal(s.n, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(s.passed[i].from, 0);
		assert_int_equal(s.passed[i].to, i < 2 ? 1 : 2);
		assert_int_equal(s.passed[i].returned, i % 2);
		assert_int_equal(s.passed[i].sent_ns, i % 2 ? (i < 2 ? 20 : 30) : 10);
		assert_int_equal(s.passed[i].received_ns, i % 2 ? 50 : i < 2 ? 20 : 30);
	}
	hodo_messages_free(&m);
}

/* ------------------------------------------------------------------------- a sample */

#define SIDES 20000u

/* A hash, as good ones are. */
static uint64_t hash_of(uint64_t n)
{
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ull;
	n = (n ^ n >> 27) * 0x94d049bb133111ebull;
	return n ^ n >> 31;
}

struct sample {
	uint64_t passed, sum;
};

static int add_up(void *data, const struct hodo_passed *p)
{
	struct sample *s = data;

	assert_int_equal(p->received_ns, p->sent_ns + 7);
	s->passed++;
	s->sum += (uint64_t)p->sent_ns;
	return 0;
}

/* All that was sent, then all that was received; or each with the other, or the other way round. */
static struct sample sample_of(unsigned order)
{
	struct sample s = { 0 };
	struct hodo_messages m;
	uint64_t ambiguous;

	hodo_messages_begin(&m);
	m.max = 1000;
	for (uint64_t i = 0; i < 2 * SIDES; i++) {
		uint64_t n = order == 0 ? i % SIDES : order == 1 ? i / 2 : SIDES - 1 - i % SIDES;
		bool receives = order == 1 ? i % 2 : (i >= SIDES) == (order == 0);
		const uint64_t key[2] = { hash_of(n + 1), hash_of(n + 99) };

		assert_int_equal(hodo_messages_add(&m, key, receives,
						   receives ? HODO_MESSAGE_RECEIVED_ONCE : HODO_MESSAGE_SENT,
						   HODO_NO_PAIR, (int64_t)n + 7 * receives), 0);
		assert_true(m.n <= 1000);
	}
	assert_int_equal(hodo_messages_match(&m, add_up, &s, &ambiguous), 0);
	assert_int_equal(ambiguous, 0);
	hodo_messages_free(&m);
	return s;
}

TEST(too_many_are_a_sample_with_both_sides)
{
	struct sample s = sample_of(0);

	/* Between a quarter and all of what there is room for are whole messages. */
	assert_true(s.passed > 200 && s.passed <= 500);
	for (unsigned order = 1; order < 3; order++) {
		struct sample other = sample_of(order);

		assert_int_equal(other.passed, s.passed);
		assert_int_equal(other.sum, s.sum);
	}
}

/* A recording that has one key only cannot be thinned. */
TEST(one_key_does_not_take_more)
{
	const uint64_t key[2] = { 0, 1 };
	struct hodo_messages m;

	hodo_messages_begin(&m);
	m.max = 100;
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(hodo_messages_add(&m, key, 0, HODO_MESSAGE_SENT, HODO_NO_PAIR, i), 0);
	assert_int_equal(m.n, 100);
	hodo_messages_free(&m);
}
