/* SPDX-License-Identifier: MIT */
/* reason.h - why a probe is not possible somewhere, or not by a jump. */
#pragma once

enum hodo_probe_reason {
	HODO_PROBE_FINE,
	/* of a whole object */
	HODO_PROBE_MACHINE, HODO_PROBE_NO_FUNCTIONS, HODO_PROBE_LOADER, HODO_PROBE_VDSO, HODO_PROBE_GO,
	HODO_PROBE_HODO,
	/* of a whole function */
	HODO_PROBE_SIGNAL_FRAME, HODO_PROBE_PLT, HODO_PROBE_CANCEL, HODO_PROBE_NO_CODE,
	/* of a place */
	HODO_PROBE_NO_INSTRUCTION, HODO_PROBE_UNSURE, HODO_PROBE_UNDECODED, HODO_PROBE_SHORT, HODO_PROBE_ENTERED,
	HODO_PROBE_INSIDE, HODO_PROBE_UNDEFINED, HODO_PROBE_TRANSACTION, HODO_PROBE_CALL_STACK, HODO_PROBE_CALL_MEMORY,
	HODO_PROBE_CALL_INSIDE, HODO_PROBE_CALL_SHADOW, HODO_PROBE_BRANCH, HODO_PROBE_BREAKPOINT, HODO_PROBE_SITE,
	HODO_PROBE_RSEQ, HODO_PROBE_OVERLAP, HODO_PROBE_NO_JUMPS, HODO_PROBE_SYSTEM_CALL, HODO_PROBE_TOO_LONG,
	HODO_PROBE_NO_EXITS, HODO_PROBE_LOOP,
	/* of a process */
	HODO_PROBE_CHANGED, HODO_PROBE_NO_PLACE,
	HODO_PROBE_REASONS
};

/* A key for programs, and the text for people after "…: ". */
const char *hodo_probe_reason_key(enum hodo_probe_reason reason);
const char *hodo_probe_reason_text(enum hodo_probe_reason reason);
