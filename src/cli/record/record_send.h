/* SPDX-License-Identifier: MIT */
/* record_send.h - hodo record --to: parts are sent while the recording goes on. */
#pragma once

#include <send/sender.h>

#include "record_options.h"

struct hodo_record_send {
	struct hodo_sender *sender; /* NULL: nothing is sent */
	bool symbols;               /* parts need names of functions */
};

/* Makes the options complete, and checks them. 0, or the exit status after a message. */
int hodo_record_send_check(struct hodo_record_options *o);
/* Before the recording is made. 0, or the exit status after a message. */
int hodo_record_send_begin(struct hodo_record_send *send, const struct hodo_record_options *o);
/*
 * The recording has ended, with so many parts: sends the rest, for some time, or until a signal comes. Says what was
 * sent, and what not.
 */
void hodo_record_send_end(struct hodo_record_send *send, const struct hodo_record_options *o, uint32_t parts,
			  int signal_fd);
/* Nothing was recorded. */
void hodo_record_send_drop(struct hodo_record_send *send);

/*
 * What 'hodo list' shows the events of: with --to not the output, of which nothing stays; RECORDING: where it arrives.
 * path: where there is room for it.
 */
const char *hodo_record_listed(const struct hodo_record_options *o, char path[PATH_MAX]);

/* The target of --to. 0, or the exit status after a message. */
int hodo_send_to(const char *verb, const char *text, struct hodo_send_target *target);
