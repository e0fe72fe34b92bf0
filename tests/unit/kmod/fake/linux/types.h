/* SPDX-License-Identifier: MIT */
/* types.h - those parts of the kernel's headers that the stages need to run in a program. */
#ifndef FAKE_TYPES_H
#define FAKE_TYPES_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

typedef int8_t s8;
typedef uint8_t u8;
typedef int16_t s16;
typedef uint16_t u16;
typedef int32_t s32;
typedef uint32_t u32;
typedef int64_t s64;
typedef uint64_t u64;

#define static_assert _Static_assert
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define __maybe_unused __attribute__((unused))
#define __packed __attribute__((packed))
#define notrace
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define is_signed_type(type) (((type)(-1)) < (type)1)
#define __stringify_1(x...) #x
#define __stringify(x...) __stringify_1(x)

struct list_head {
	struct list_head *next, *prev;
};
struct hlist_node {
	struct hlist_node *next, **pprev;
};
struct notifier_block {
	int priority;
};
struct mutex {
	int held;
};
struct va_format {
	const char *fmt;
	va_list *va;
};

extern unsigned int nr_cpumask_bits;

#endif
