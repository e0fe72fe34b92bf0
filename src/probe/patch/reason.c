/* SPDX-License-Identifier: MIT */
/* reason.c - the keys and texts of reasons. */
#include "reason.h"

static const struct {
	const char *key, *text;
} reasons[HODO_PROBE_REASONS] = {
	[HODO_PROBE_FINE] = { "none", "nothing prevents it" },
	[HODO_PROBE_MACHINE] = { "machine", "the object is not 64-bit x86 code" },
	[HODO_PROBE_NO_FUNCTIONS] = { "no-functions", "the object has neither symbols nor .eh_frame" },
	[HODO_PROBE_LOADER] = { "loader", "it is the dynamic loader, which runs before it can be changed" },
	[HODO_PROBE_VDSO] = { "vdso", "it is the kernel's vDSO, which cannot be written" },
	[HODO_PROBE_GO] = { "go", "it is Go code, whose runtime has tables of every address" },
	[HODO_PROBE_HODO] = { "hodo", "it is Hodoscope's own code" },
	[HODO_PROBE_SIGNAL_FRAME] = { "signal-frame", "unwinders recognise this signal trampoline by its "
				     "bytes" },
	[HODO_PROBE_PLT] = { "plt", "it is an entry of the procedure linkage table" },
	[HODO_PROBE_CANCEL] = { "cancellation", "libc compares addresses in it when a thread is cancelled" },
	[HODO_PROBE_NO_CODE] = { "no-code", "its bytes are not in the file" },
	[HODO_PROBE_NO_INSTRUCTION] = { "no-instruction", "no instruction begins there" },
	[HODO_PROBE_UNSURE] = { "unsure", "where the function's instructions begin is not certain" },
	[HODO_PROBE_UNDECODED] = { "undecoded", "bytes that are not a known instruction" },
	[HODO_PROBE_SHORT] = { "short", "fewer than 5 bytes before its end, or before an instruction that "
			      "cannot be moved" },
	[HODO_PROBE_ENTERED] = { "entered", "a jump enters between the instructions that would be replaced" },
	[HODO_PROBE_INSIDE] = { "inside",
			       "a jump enters the middle of an instruction that would be replaced" },
	[HODO_PROBE_UNDEFINED] = { "undefined", "an instruction that faults or halts: ud2, hlt, a far jump" },
	[HODO_PROBE_TRANSACTION] = { "transaction", "the beginning of a hardware transaction: xbegin" },
	[HODO_PROBE_CALL_STACK] = { "call-stack", "a call through the stack pointer" },
	[HODO_PROBE_CALL_MEMORY] = { "call-memory", "a call through memory that may be on the stack" },
	[HODO_PROBE_CALL_INSIDE] = { "call-inside", "a call returns between the instructions that would be "
				    "replaced" },
	[HODO_PROBE_CALL_SHADOW] = { "call-shadow", "a call, where shadow stacks are on" },
	[HODO_PROBE_BRANCH] = { "branch", "a branch or an operand whose addresses have fewer than 64 bits" },
	[HODO_PROBE_BREAKPOINT] = { "breakpoint", "a breakpoint: int3" },
	[HODO_PROBE_SITE] = { "site", "a site or a function's slot of Hodoscope" },
	[HODO_PROBE_RSEQ] = { "rseq", "a restartable sequence, which must not be interrupted" },
	[HODO_PROBE_OVERLAP] = { "overlap", "another probe replaces the same bytes" },
	[HODO_PROBE_NO_JUMPS] = { "no-jumps", "jumps are turned off" },
	[HODO_PROBE_SYSTEM_CALL] = { "system-call", "a system call, in which a thread may sleep" },
	[HODO_PROBE_TOO_LONG] = { "too-long", "its values need more code or memory than a slot has" },
	[HODO_PROBE_NO_EXITS] = { "no-exits", "it never returns" },
	[HODO_PROBE_LOOP] = { "loop", "it begins with a loop, which would call the replacement each time "
			     "round" },
	[HODO_PROBE_CHANGED] = { "changed", "the code in memory is not that of the file" },
	[HODO_PROBE_NO_PLACE] = { "no-place", "no free memory that a jump from there can reach" },
};

const char *hodo_probe_reason_key(enum hodo_probe_reason reason)
{
	return (unsigned)reason < HODO_PROBE_REASONS ? reasons[reason].key : "unknown";
}

const char *hodo_probe_reason_text(enum hodo_probe_reason reason)
{
	return (unsigned)reason < HODO_PROBE_REASONS ? reasons[reason].text : "unknown";
}
