/* SPDX-License-Identifier: MIT */
/*
 * hodo/trace_user.h - the part of hodo/trace.h that differs outside the kernel: what an object carries, how a
 * site branches, and how an event is handed to libhodo. Its counterpart is hodo/trace_kernel.h.
 */
#ifndef HODO_TRACE_USER_H
#define HODO_TRACE_USER_H

#pragma GCC system_header

#ifndef HODO_STATIC_KEYS
#ifdef __x86_64__
#define HODO_STATIC_KEYS 1
#else
#define HODO_STATIC_KEYS 0
#endif
#endif

#ifndef HODO_DISABLE

#ifdef __cplusplus
extern "C" {
#endif
/* The library writes its address here, found through the note; NULL where there is no library. */
extern __attribute__((weak, visibility("hidden"))) const struct hodo_ops *hodo_ops_ptr_;
/* `used`: otherwise link-time optimisation drops it, since only the note's assembly refers to it. */
__attribute__((weak, used, visibility("hidden"))) const struct hodo_ops *hodo_ops_ptr_ = 0;
#ifdef __cplusplus
}
#endif

/* One note a translation unit, in no group, so that no discarded function takes it along. */
__asm__(".ifndef .Lhodo_note\n"
	".set .Lhodo_note, 1\n"
	".weak __start_hodo_sites\n"
	".hidden __start_hodo_sites\n"
	".weak __stop_hodo_sites\n"
	".hidden __stop_hodo_sites\n"
	".pushsection .note.hodo,\"a\",@note\n"
	".balign 4\n"
	".long 5, 16, 1\n"
	".asciz \"Hodo\"\n"
	".balign 4\n"
	".long __start_hodo_sites-., __stop_hodo_sites-., hodo_ops_ptr_-., 0\n"
	".popsection\n"
	/* Where no file has a site, bfd refuses the references above unless there is such a section. Linked to
	 * something that is kept, as records are: bfd's -r takes sections of one name that are all so, or none. */
	".pushsection hodo_sites,\"ao\",@progbits,.note.hodo\n"
	".popsection\n"
	".endif\n");

/* How an operand's name is written: what GCC takes for a constant address has limits with -mcmodel=large. */
#if defined(__code_model_large__) && !defined(__clang__)
#ifdef __PIC__
#error "hodo: GCC cannot refer to a site with -mcmodel=large and -fPIC or -fPIE: take -mcmodel=medium, or HODO_DISABLE"
#endif
#define HODO_NAME_(operand) "%p" #operand
#else
#define HODO_NAME_(operand) "%c" #operand
#endif

/* A record is linked to the code it belongs to ("o"), so that both are kept or dropped together. */
#define HODO_RECORD_(addr, cold, state, desc)                          \
	".pushsection hodo_sites,\"ao?\",@progbits,.Lhodo_%=\n"        \
	".balign 4\n"                                                  \
	".long " addr ", " cold ", " state ", " desc "\n"              \
	".popsection\n"

#if HODO_STATIC_KEYS
/* test $imm32,%eax, whose immediate is the distance to the cold code: one byte turns it into the jump. */
#define HODO_BRANCH_(state, desc, label)                                                    \
	__asm__ goto(".Lhodo_%=:\n"                                                         \
		     ".byte 0xa9\n"                                                         \
		     ".long %l[" #label "]-.-4\n"                                           \
		     HODO_RECORD_(".Lhodo_%=-.", "%l[" #label "]-.", HODO_NAME_(0) "-.", HODO_NAME_(1) "-.") \
		     :                                                                      \
		     : "i"(state), "i"(desc)                                                \
		     : "cc"                                                                 \
		     : label)
#else
#define HODO_BRANCH_(state, desc, label) HODO_BRANCH_FLAG_(state, desc, label)
#endif
#define HODO_BRANCH_FLAG_(state, desc, label)                                                       \
	do {                                                                                        \
		HODO_NO_SITE_(state, desc);                                                         \
		if (__builtin_expect(__atomic_load_n(&(state)->flag, __ATOMIC_RELAXED), 0))         \
			goto label;                                                                 \
	} while (0)

/*
 * HODO_WHEN_(state, desc, body): the body, out of line, when the site is enabled.
 *
 * Clang before 17 takes every asm goto of a function for a jump to the targets of all of them, and
 * refuses one that precedes a variable with a destructor, a cleanup or a variable length if another
 * follows it. So with Clang, and in C++, the branch stands in a function of its own that is always
 * inlined; in C that needs the optimiser, and without it the flag is tested.
 */
#if defined(__cplusplus)
#define HODO_WHEN_(state, desc, body)                                                        \
	do {                                                                                 \
		if (__builtin_expect(hodo_detail_::branch_<&state, &desc>(), 0)) {           \
			body;                                                                \
		}                                                                            \
	} while (0)
#elif defined(__clang__)
#define HODO_WHEN_(state, desc, body)                                     \
	do {                                                              \
		if (__builtin_expect(hodo_branch_(&state, &desc), 0)) {   \
			body;                                             \
		}                                                         \
	} while (0)
#else
#define HODO_WHEN_(state, desc, body)                                     \
	do {                                                              \
		__label__ hodo_on_, hodo_out_;                            \
		HODO_BRANCH_(&state, &desc, hodo_on_);                    \
		goto hodo_out_;                                           \
	hodo_on_:                                                         \
		__attribute__((cold));                                    \
		body;                                                     \
	hodo_out_:;                                                       \
	} while (0)
#endif

/* A record for something that is not patched. */
#define HODO_NO_SITE_(state, desc) \
	__asm__ volatile(".Lhodo_%=:\n" HODO_RECORD_("0", "0", HODO_NAME_(0) "-.", HODO_NAME_(1) "-.") \
			 :                                                                              \
			 : "i"(state), "i"(desc))

/* ------------------------------------------------------- handing it to libhodo */

#define HODO_STATE_TYPE_ struct hodo_state
#define HODO_STATE_(var, desc) static struct hodo_state var
#define HODO_TP_STATE_(var, desc) static struct hodo_state var __attribute__((unused)) = HODO_TP_STATE_INIT_

/* Inlined always: the return address is the event's place. */
#define HODO_CALLS_ static inline HODO_OWN_ __attribute__((always_inline))
HODO_CALLS_ void hodo_emit_fixed_(struct hodo_state *state, const void *data, size_t len)
{
	hodo_ops_ptr_->emit_fixed(state, data, len);
}
HODO_CALLS_ void hodo_emit_pieces_(struct hodo_state *state, const struct hodo_piece *pieces, size_t count,
				   size_t total)
{
	hodo_ops_ptr_->emit_pieces(state, pieces, count, total);
}
#define HODO_EMIT_FIXED_(state, data, len) hodo_emit_fixed_((state), (data), (len))
#define HODO_EMIT_SITE_(state, ...) HODO_EMIT_(state, __VA_ARGS__)
#define HODO_EMIT_PIECES_(state, pieces, count, total) hodo_emit_pieces_((state), (pieces), (count), (total))

/* A tracepoint's cold code is part of the place. */
#define HODO_TP_OUTLINE_(id, empty, ...)
#define HODO_TP_ON_(id, empty, ...) HODO_TP_COLD_(id, empty, __VA_ARGS__)

#define HODO_PROBE_ENTER_(state, token) hodo_ops_ptr_->probe_enter((state), (token))
#define HODO_PROBE_LEAVE_(state, token) hodo_ops_ptr_->probe_leave(token)
#define HODO_PROBE_REGISTER_(state, desc, func, data) \
	(hodo_ops_ptr_ ? hodo_ops_ptr_->probe_register((desc), (func), (data)) : -ENOSYS)
#define HODO_PROBE_UNREGISTER_(state, desc, func, data) \
	(hodo_ops_ptr_ ? hodo_ops_ptr_->probe_unregister((desc), (func), (data)) : -ENOSYS)

/* A record of labels. */
#define HODO_LABELS_RECORD_(desc) __asm__ volatile(".Lhodo_%=:\n" HODO_RECORD_("0", "0", "0", HODO_NAME_(0) "-.") : : "i"(&(desc)))

/* The addresses of texts and arrays are taken as they are. */
#define HODO_CHECK_TEXT_(text)
#define HODO_CHECK_STR_(s)
#define HODO_CHECK_DATA_(data)

#endif /* !HODO_DISABLE */

#endif
