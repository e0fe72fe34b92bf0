/* SPDX-License-Identifier: MIT */
/*
 * messages.h - messages that both sides recorded: which event of one recording sent what an event of another one
 * received.
 *
 * Recordings are read one after the other. What they sent and received is kept as the hash of its key, and the time.
 * Beyond HODO_MESSAGES_MAX of them, keys with large hashes are left out, of all recordings alike: so a sample of the
 * messages is kept with both sides, whatever the clocks say and in whatever order recordings come.
 */
#pragma once

#include <base/near.h>
#include <base/text.h>
#include <base/why.h>
#include <hodo/read.h>

#define HODO_MESSAGES_MAX (1u << 21)

enum hodo_message_kind {
	HODO_MESSAGE_SENT,
	HODO_MESSAGE_RETURNED, /* the sender's span, which waits for an answer, is over */
	HODO_MESSAGE_RECEIVED,
	HODO_MESSAGE_RECEIVED_ONCE /* its key means one message: it is not one of several that a span sent */
};

struct hodo_message {
	uint64_t key[2]; /* hashes */
	int64_t ts_ns;
	uint32_t recording;
	uint32_t kind : 8;  /* enum hodo_message_kind */
	uint32_t pair : 24; /* index */
};
#define HODO_NO_PAIR 0xffffffu /* of a span's message; no more pairs than that fit a command line */

/* An event and those of its fields that are the key. Parsed from "kv:send.conn,seq". */
struct hodo_message_end {
	char *event;
	char **field;
	uint32_t nfields;
	/* What the recordings have of it. */
	bool known, complete;  /* an event of that name; … with all fields */
	uint32_t missing;      /* if it never is complete: the index of a field that the last one had not */
	struct hodo_near near; /* names near that of the event, or once it is known, of that field */
	uint64_t events;
};

struct hodo_messages {
	struct hodo_message *message;
	uint32_t n, max; /* max: HODO_MESSAGES_MAX */
	uint64_t limit;  /* of the first hash: larger ones are left out */
	struct hodo_message_pair {
		struct hodo_message_end sends, receives;
		char *text; /* as it was given */
		uint64_t matched;   /* messages from one recording to another */
		uint64_t within;    /* messages whose sides are in one recording */
		uint64_t ambiguous; /* those received whose key is none */
	} *pair;
	uint32_t npairs;
	bool one_way; /* spans do not wait for what they send */
	struct hodo_text key; /* under construction */
};

int hodo_messages_begin(struct hodo_messages *m);
void hodo_messages_free(struct hodo_messages *m);
/* "EVENT.FIELD[,FIELD…]=EVENT.FIELD[,FIELD…]": 0; -EINVAL: it is not like that; -ENOMEM. */
int hodo_messages_pair(struct hodo_messages *m, const char *text);

/* Whether any event of the recording can be one side of a message; notes what it has of each pair. */
bool hodo_messages_has(struct hodo_messages *m, const struct hodo_read *r);
/* Reads all of it. 0 or a negative errno. */
int hodo_messages_read(struct hodo_messages *m, struct hodo_read *r, uint32_t recording);

/* Adds one side of a message, of a pair or HODO_NO_PAIR, by hashes of its key. 0 or -ENOMEM. */
int hodo_messages_add(struct hodo_messages *m, const uint64_t key[2], uint32_t recording, enum hodo_message_kind kind,
		      uint32_t pair, int64_t ts_ns);

/* A message from one recording to another; or that it was sent before it returned (from, to: as it was received). */
struct hodo_passed {
	uint32_t from, to;
	int64_t sent_ns, received_ns;
	uint32_t pair; /* index, or HODO_NO_PAIR */
	bool returned; /* sent_ns is when the receiver got it, received_ns when the sender's span was over */
};
/*
 * Once all are read: passes each message on, by key. Those whose key was sent or received more than once are not, and
 * are counted. 0, or what each() returns.
 */
int hodo_messages_match(struct hodo_messages *m, int (*each)(void *data, const struct hodo_passed *passed), void *data,
			uint64_t *ambiguous);

/* --------------------------------------------------------------------------- sides.c */

/*
 * Once hodo_messages_has() has seen all recordings: -ENOENT, and a line for the user, if none of them has an event or a
 * field that a pair names; else 0.
 */
int hodo_sides_check(struct hodo_messages *m, struct hodo_why *why);
/* Once they are matched: whether no message has the pair's key; then why, as a line for the user. */
bool hodo_sides_unmatched(const struct hodo_message_pair *p, struct hodo_why *why);
/*
 * Where the key's fields are in events of the class, which may be that of the event's start. false: it has none of
 * that name, or is another event.
 */
bool hodo_sides_fields(const struct hodo_message_end *e, const struct hodo_read_class *cls, uint8_t *at);
/* Notes what of the pairs is like the class; whether it is a side of one. */
bool hodo_sides_look(struct hodo_messages *m, const struct hodo_read_class *cls);
void hodo_sides_free(struct hodo_messages *m);
