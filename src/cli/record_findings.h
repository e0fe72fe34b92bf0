/* SPDX-License-Identifier: MIT */
/* record_findings.h - what the tracers thread, loop and stack found, told at the end of a recording. */
#ifndef HODO_CLI_RECORD_FINDINGS_H
#define HODO_CLI_RECORD_FINDINGS_H

/* Reads the recording once, and tells in some lines on standard error. */
void hodo_record_findings(const char *recording);

#endif
