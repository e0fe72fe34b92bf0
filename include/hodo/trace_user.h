/* SPDX-License-Identifier: MIT */
/*
 * hodo/trace_user.h - the part of hodo/trace.h that differs outside the kernel: what an object carries, how a
 * site branches, and how an event is passed to libhodo. Its counterpart is hodo/trace_kernel.h.
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

/* How an event is passed to libhodo: by a jump that preserves all registers (abi.h), or by calls. */
#ifdef __x86_64__
#define HODO_JUMPS_ 1
#else
#define HODO_JUMPS_ 0
#endif

#ifdef __cplusplus
extern "C" {
#endif
/* The library finds this through the note and writes its address here; NULL without a library. */
extern __attribute__((weak, visibility("hidden"))) const struct hodo_ops *hodo_ops_ptr_;
/* `used`: otherwise link-time optimization drops it, because only the note's assembly refers to it. */
__attribute__((weak, used, visibility("hidden"))) const struct hodo_ops *hodo_ops_ptr_ = 0;
#if HODO_JUMPS_
/* Where cold code jumps to; found in the same way. */
extern __attribute__((weak, visibility("hidden"))) const void *hodo_enter_[HODO_ENTERS];
__attribute__((weak, used, visibility("hidden"))) const void *hodo_enter_[HODO_ENTERS] = { 0, 0 };
#define HODO_NOTE_ENTER_ "hodo_enter_-."
#else
#define HODO_NOTE_ENTER_ "0"
#endif
#ifdef __cplusplus
}
#endif

/* One note for each translation unit, in no group, so that no discarded function takes it along. */
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
	".long __start_hodo_sites-., __stop_hodo_sites-., hodo_ops_ptr_-., " HODO_NOTE_ENTER_ "\n"
	".popsection\n"
	/* If no file has a site, bfd refuses the references above unless there is such a section. It is
	 * linked to something that is kept, as records are: bfd's -r requires that all sections of one name
	 * are, or none. */
	".pushsection hodo_sites,\"ao\",@progbits,.note.hodo\n"
	".popsection\n"
	".endif\n");

/* How to write an operand's name: what GCC takes for a constant address has limits with -mcmodel=large. */
#if defined(__code_model_large__) && !defined(__clang__)
#ifdef __PIC__
#error "hodo: GCC cannot refer to a site with -mcmodel=large and -fPIC or -fPIE: take -mcmodel=medium, or HODO_DISABLE"
#endif
#define HODO_NAME_(operand) "%p" #operand
#else
#define HODO_NAME_(operand) "%c" #operand
#endif

/* A record is linked to the code that it belongs to ("o"), so that both are kept or dropped together. */
#define HODO_RECORD_(addr, cold, state, desc)                          \
	".pushsection hodo_sites,\"ao?\",@progbits,.Lhodo_%=\n"        \
	".balign 4\n"                                                  \
	".long " addr ", " cold ", " state ", " desc "\n"              \
	".popsection\n"

#if HODO_STATIC_KEYS
/* test $imm32,%eax, whose immediate is the distance to the cold code: changing one byte turns it into the
 * jump. */
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
 * HODO_WHEN_(state, desc, body): runs the body, out of line, when the site is enabled.
 *
 * Clang before 17 takes every asm goto of a function for a jump to the targets of all of them, and
 * refuses one that precedes a variable with a destructor, a cleanup or a variable length if another
 * follows it. With Clang, and in C++, the branch is therefore in its own function, which is always
 * inlined; in C that needs the optimizer, and without it the flag is tested.
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

#define HODO_STATE_TYPE_ HODO_STRUCT_ hodo_state
#define HODO_STATE_(var, desc) static HODO_STATE_TYPE_ var
#define HODO_TP_STATE_(var, desc) static HODO_STATE_TYPE_ var __attribute__((unused)) = HODO_TP_STATE_INIT_

#if HODO_JUMPS_

/*
 * Cold code stores the values unchanged, packed, on its stack, and jumps through its object's hodo_enter_,
 * with instructions of which the compiler knows only that they change r10, r11 and the flags:
 *
 *	lea values, %r11
 *	lea back(%rip), %r10
 *	jmp *hodo_enter_(%rip)
 *	test $probes - back, %eax     tracepoints only; never reached, as the next
 *	test $state - back, %eax
 *   back:
 *
 * Strings are pointers there; what has a length is a pointer and the length, 8 bytes each. The library jumps
 * to r10 with all other registers as they were. It calls a tracepoint's probes with probes(list, values). The
 * end of a HODO_SPAN has its state in r11 and no values.
 */

#define HODO_TO_(enter) "leaq 1f(%%rip), %%r10\n\tjmp *hodo_enter_+8*" #enter "(%%rip)\n\t"
#define HODO_DATA_(operand) ".byte 0xa9\n\t.long " HODO_NAME_([operand]) "-1f\n\t"

/*
 * For an event with strings or arrays, and where probes run, the compiler must have stored what they read.
 * Nothing else changes: values that are in registers stay there, and the code is the same as without the
 * site.
 */
#define HODO_BARRIER_(needed)                         \
	if (needed)                                   \
		__asm__ volatile("" : : : "memory")

/*
 * HODO_JUMP_(values, data, inputs…): the jump.
 *
 * From then on, Clang assumes that the address of a variable in an asm is known elsewhere, and makes no call
 * after it a tail call; unless the asm only reads, that is, it is not volatile and gives a result. The result
 * comes from one volatile asm and goes into a volatile load (of the code), so it is not left out, moved or
 * merged with another.
 */
#ifdef __clang__
#define HODO_JUMP_(values, data, ...)                                                          \
	do {                                                                                   \
		register const volatile char *hodo_back_ __asm__("r10");                       \
		__asm__ volatile("" : "=r"(hodo_back_));                                       \
		__asm__("leaq %1, %%r11\n\t" HODO_TO_(0) data "1:"                       \
			: "+r"(hodo_back_)                                                     \
			: "m"(values), __VA_ARGS__                                             \
			: "r11", "cc");                                                        \
		(void)*hodo_back_;                                                             \
	} while (0)
#else
#define HODO_JUMP_(values, data, ...)                                                          \
	do {                                                                                   \
		__asm__ volatile("leaq %0, %%r11\n\t" HODO_TO_(0) data "1:"              \
				 :                                                             \
				 : "m"(values), __VA_ARGS__                                    \
				 : "r10", "r11", "cc");                                        \
	} while (0)
#endif
#define HODO_JUMP_EVENT_(values, state_) HODO_JUMP_(values, HODO_DATA_(state), [state] "i"(state_))
#define HODO_JUMP_PROBES_(values, state_, probes_) \
	HODO_JUMP_(values, HODO_DATA_(probes) HODO_DATA_(state), [state] "i"(state_), [probes] "i"(probes_))

static inline HODO_OWN_ __attribute__((always_inline)) void hodo_span_end_(struct hodo_state *state)
{
	__asm__ volatile("movq %0, %%r11\n\t" HODO_TO_(1) "1:" : : "r"(state) : "r10", "r11", "cc");
}
#define HODO_SPAN_END_(state) hodo_span_end_(state)

/* A tracepoint's values, and the function that calls its probes with them. */
#define HODO_TP_OUTLINE_(id, empty, ...)                                                                      \
	__extension__ struct __attribute__((packed, aligned(8))) hodo_tp_values_##id {                               \
		HODO_TP_MEMBERS_(__VA_ARGS__)                                                                 \
	};                                                                                                    \
	static __attribute__((unused)) HODO_OWN_ void hodo_tp_call_##id(                                      \
		const HODO_STRUCT_ hodo_probes *hodo_list_, const HODO_STRUCT_ hodo_tp_values_##id *hodo_w_)  \
	{                                                                                                     \
		HODO_EACH_(HODO_TP_HELD_, __VA_ARGS__)                                                        \
		for (uint32_t hodo_i_ = 0; hodo_i_ < hodo_list_->n; hodo_i_++)                                \
			((void (*)(HODO_TP_PROBE_(empty, __VA_ARGS__)))hodo_list_->probe[hodo_i_].func)(      \
				hodo_list_->probe[hodo_i_].data HODO_EACH_(HODO_TP_COMMA_NAME_, __VA_ARGS__)); \
		(void)hodo_w_;                                                                                \
	}
#ifndef __cplusplus
#define HODO_TP_INIT_1(...)
#define HODO_TP_INIT_0(...) = { HODO_LIST_(HODO_TP_NAME_, __VA_ARGS__) }
#define HODO_TP_MEMBERS_(...) HODO_EACH_(HODO_TP_MEMBER_, __VA_ARGS__)
#define HODO_TP_MEMBER_(i, pair) HODO_TP_TYPE_(pair) f##i;
#define HODO_TP_HELD_(i, pair) HODO_TP_TYPE_(pair) HODO_TP_NAME_(pair) = hodo_w_->f##i;
#define HODO_TP_TAKE_(id, empty, ...) \
	struct hodo_tp_values_##id hodo_w_ HODO_PASTE_(HODO_TP_INIT_, empty)(__VA_ARGS__);
#endif
#define HODO_TP_ON_(id, empty, ...)                                                           \
	{                                                                                     \
		HODO_TP_TAKE_(id, empty, __VA_ARGS__)                                         \
		HODO_BARRIER_(1);                                                             \
		HODO_JUMP_PROBES_(hodo_w_, &hodo_tp_state_##id, hodo_tp_call_##id);           \
		HODO_BARRIER_(1);                                                             \
	}

#else

/* Always inlined: the return address is the event's place. */
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
#define HODO_EMIT_PIECES_(state, pieces, count, total) hodo_emit_pieces_((state), (pieces), (count), (total))

/* A tracepoint's cold code is part of the place. */
#define HODO_TP_OUTLINE_(id, empty, ...)
#define HODO_TP_ON_(id, empty, ...) HODO_TP_COLD_(id, empty, __VA_ARGS__)

#define HODO_PROBE_ENTER_(state, token) hodo_ops_ptr_->probe_enter((state), (token))
#define HODO_PROBE_LEAVE_(state, token) hodo_ops_ptr_->probe_leave(token)

#endif
#define HODO_EMIT_SITE_(state, ...) HODO_EMIT_(state, __VA_ARGS__)

#define HODO_PROBE_REGISTER_(state, desc, func, data) \
	(hodo_ops_ptr_ ? hodo_ops_ptr_->probe_register((desc), (func), (data)) : -ENOSYS)
#define HODO_PROBE_UNREGISTER_(state, desc, func, data) \
	(hodo_ops_ptr_ ? hodo_ops_ptr_->probe_unregister((desc), (func), (data)) : -ENOSYS)

/* A record of labels. */
#define HODO_LABELS_RECORD_(desc) __asm__ volatile(".Lhodo_%=:\n" HODO_RECORD_("0", "0", "0", HODO_NAME_(0) "-.") : : "i"(&(desc)))

/* The addresses of strings and arrays are taken as they are. */
#define HODO_CHECK_TEXT_(text)
#define HODO_CHECK_STR_(s)
#define HODO_CHECK_DATA_(data)

#endif /* !HODO_DISABLE */

#endif
