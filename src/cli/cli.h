/* SPDX-License-Identifier: MIT */
/* cli.h - what most verbs of the hodo command need: options, messages, output and recordings; and the verbs. */
#pragma once

#include "options.h"
#include "recording.h"
#include "say.h"
#include <cli/output/out.h>

extern const struct hodo_verb hodo_verb_record, hodo_verb_print, hodo_verb_graph, hodo_verb_report, hodo_verb_export,
	hodo_verb_view, hodo_verb_stat, hodo_verb_top, hodo_verb_list, hodo_verb_enable, hodo_verb_disable,
	hodo_verb_detach, hodo_verb_snapshot, hodo_verb_info, hodo_verb_pack, hodo_verb_unpack, hodo_verb_recover,
	hodo_verb_doctor, hodo_verb_probe, hodo_verb_query, hodo_verb_symbols, hodo_verb_merge, hodo_verb_send,
	hodo_verb_prune;

/* hodo PROGRAM: records the command with default options, and shows the result on standard error. */
int hodo_record_program(char **command);
/* Its result: the table of the recording's events, and which commands show more. */
void hodo_overview(FILE *f, const char *dir, char **command);
/* hodo --complete INDEX WORD...: prints the candidates for word INDEX. The exit status. */
int hodo_complete(int argc, char **argv);
extern const struct hodo_verb *const hodo_verbs[]; /* in the order of --help; ends with NULL */
const struct hodo_verb *hodo_verb_find(const char *name); /* NULL: there is no such verb */
