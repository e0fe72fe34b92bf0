/* SPDX-License-Identifier: MIT */
/* record_findings.h - what is said at the end of a recording: what tracers found, names that come near. */
#ifndef HODO_CLI_RECORD_FINDINGS_H
#define HODO_CLI_RECORD_FINDINGS_H

#include <record/record.h>

/* What the tracers thread, loop and stack found: reads the recording once, writes some lines on standard error. */
void hodo_record_findings(const char *recording);

/* That none of so many functions matches the patterns, with the names of some that come near. */
void hodo_record_unmatched(const char *recording, const struct hodo_function_names *patterns, uint64_t found);

#endif
