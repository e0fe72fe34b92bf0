/* SPDX-License-Identifier: MIT */
/* recording.h - the recordings that verbs show: opened, and what is missing in them. */
#pragma once

#include <base/json.h>
#include <base/scope.h>
#include <base/text.h>
#include <base/why.h>
#include <hodo/read.h>

#include "options.h"

struct hodo_symbols;

/* Options for opening a recording: why gets the reason of a failure, and warnings, unless quiet, go to
 * standard error. */
struct hodo_read_options hodo_read_options(struct hodo_why *why, bool quiet);
#define HODO_AUTO_READ HODO_AUTO(hodo_scope_read) /* struct hodo_read *, or NULL */
static inline void hodo_scope_read(struct hodo_read **reader)
{
	hodo_read_close(*reader);
}
/* Opens a recording; warnings go to standard error. NULL: the error has been printed. */
struct hodo_read *hodo_open(const char *path, bool quiet);
/*
 * The same for args->dir, reading only the events that the options select (selection.h). 0, or the exit
 * status after a message; then *r may still be open, or NULL.
 */
int hodo_open_selected(struct hodo_read **r, struct hodo_args *args);
uint64_t hodo_lost_discarded(const struct hodo_read_lost *lost); /* all but overwritten */
uint64_t hodo_lost_all(const struct hodo_read_lost *lost);
void hodo_put_when(struct hodo_text *to, int64_t ns); /* date and time, and a line break */
/* The options of hodo record that keep events for which there was no room; room: as in struct
 * hodo_read_stream. */
#define HODO_HINT 64u
const char *hodo_room_hint(uint64_t room, bool may_wait, char hint[HODO_HINT]);
/* The number of lost events, and a line for each process and cause, with the option that would have kept
 * them. */
void hodo_put_lost(struct hodo_text *to, const struct hodo_read *reader, bool color);
/* What is not known of a recording whose recorder was killed, or that is still running; false: it ended
 * normally. */
bool hodo_put_unended(struct hodo_text *to, const struct hodo_read *reader, bool color);
/* If events were lost, or may have been, a line on standard error. */
void hodo_tell_lost(const struct hodo_read *reader);
void hodo_tell_lost_of(const char *path, const struct hodo_read *reader); /* which begins with the recording's path */
bool hodo_has_lost(const struct hodo_read *reader); /* whether that says anything */

/* Process images that are not recorded, with the reasons; nothing, if there are none. */
void hodo_put_unrecorded(struct hodo_text *to, const struct hodo_read *reader, bool color);
void hodo_put_json_unrecorded(struct hodo_json *j, const struct hodo_read *reader);

/* ------------------------------------------------------------------ names of functions */

/* Names of a recording's functions: short ones, or with --full-names and --json full ones. */
struct hodo_symbols *hodo_open_symbols(const struct hodo_args *a, const char *recording);
bool hodo_shortens_names(const struct hodo_args *a); /* whether the names are short ones */
/* If the options or HODO_DEBUGINFOD ask for it: missing symbols are asked of debuginfod servers. What is wrong with
 * that ends the command. */
void hodo_ask_debuginfod(const struct hodo_args *a, struct hodo_symbols *symbols);
/* Tells which objects' functions are shown as addresses, why, and what to do. */
void hodo_tell_unnamed(const struct hodo_symbols *symbols);
/* The names of functions of that object, or of none if "", could not be kept in a recording, and what to do. */
void hodo_tell_unkept(const char *recording, const char *object, int err);
