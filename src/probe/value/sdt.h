/* SPDX-License-Identifier: MIT */
/* sdt.h - the static probes of a file as events of a target (build.h). */
#pragma once

#include <probe/patch/build.h>

/*
 * Adds those of the target's file that match one of the n patterns, PROVIDER:NAME with wildcards. Not those at
 * one of Hodoscope's own sites whose event also matches: libhodo records that, and each hit would be recorded
 * twice; these are added to *sites. 0, also if the file has none or cannot be read; -ENOMEM. In any case,
 * hodo_probe_events_free() frees what was added.
 */
int hodo_probe_sdt(struct hodo_probe_target *t, const char *path, const char *const *patterns, unsigned n,
		   uint32_t *sites);
