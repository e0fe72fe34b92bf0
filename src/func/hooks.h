/* SPDX-License-Identifier: MIT */
/* hooks.h - where slots lead. */
#pragma once

#include <user/user.h>

/* Where slots without their own stub jump: never NULL; dispatch.c may change it at any time. */
enum hodo_hook {
	HODO_HOOK_ENTRY,      /* stack: slot's return address, function's return address */
	HODO_HOOK_EXIT,       /* stack: as ENTRY */
	HODO_HOOK_REACHED,    /* as ENTRY, where the exit cannot be seen */
	HODO_HOOK_MCOUNT,     /* -pg: after push %rbp; mov %rsp,%rbp: the function's return address is at 8(%rbp) */
	HODO_HOOK_ENTRY_SP,   /* __cyg_profile_func_enter(function, callsite) */
	HODO_HOOK_EXIT_SP,
	HODO_HOOK_FENTRY,     /* as REACHED, then libc's __fentry__, as libc's mcount comes after MCOUNT */
	HODO_HOOK_PLANNED_ENTRY, /* as ENTRY, for a slot followed by a number (hodo/abi_plan.h); preserves flags */
	HODO_HOOK_PLANNED_EXIT,
	HODO_HOOKS
};
extern HODO_HIDDEN void *hodo_func_hooks[HODO_HOOKS];
/* What they may be (x86_64/func.S): */
enum hodo_hooks {
	HODO_HOOKS_NONE,     /* while nobody traces */
	HODO_HOOKS_RECORD,   /* the direct writers of events */
	HODO_HOOKS_DISPATCH, /* the ways to dispatch */
	HODO_HOOKS_SHORT     /* the direct writers of calls and returns, for short objects */
};
extern HODO_HIDDEN void *const hodo_x86_hooks[HODO_HOOKS_SHORT + 1][HODO_HOOKS];
