/* SPDX-License-Identifier: MIT */
/*
 * sys.h - system calls without errno. The writer runs in signal handlers and between any two instructions of
 * the program, where errno must not change, and in a vfork child, which shares errno with its parent.
 */
#pragma once

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <arch/writer.h>
#include <core/atomic.h>

#ifdef __x86_64__
static inline long hodo_sys6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
#else
static inline long hodo_sys6(long nr, long a, long b, long c, long d, long e, long f)
{
	int saved = errno;
	long ret = syscall(nr, a, b, c, d, e, f);

	if (ret == -1)
		ret = -errno;
	errno = saved;
	return ret;
}
#endif
#define hodo_sys0(nr) hodo_sys6(nr, 0, 0, 0, 0, 0, 0)
#define hodo_sys1(nr, a) hodo_sys6(nr, (long)(a), 0, 0, 0, 0, 0)
#define hodo_sys2(nr, a, b) hodo_sys6(nr, (long)(a), (long)(b), 0, 0, 0, 0)
#define hodo_sys3(nr, a, b, c) hodo_sys6(nr, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define hodo_sys4(nr, a, b, c, d) hodo_sys6(nr, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

/* signals.c: the kernel's signal mask is one word. All signals, except those that must never be blocked here
 * (src/engine). */
extern HODO_SHARED uint64_t hodo_signals_all;
HODO_SHARED uint64_t hodo_signals_block(void); /* the mask as it was */
HODO_SHARED void hodo_signals_restore(uint64_t old);

/* peek.c. Reads this process's memory; task is one of its threads, or the process. Returns how many bytes
 * were mapped, from the start. part: room for one per page. */
struct iovec;
HODO_SHARED uint32_t hodo_memory_read(uint32_t task, void *to, uintptr_t from, uint32_t len, struct iovec *part,
				      uint32_t parts);
/* lock.c: the control lock (user.h). False: it is taken, or this is a fork child that is not set up. May run
 * between any two instructions. */
HODO_SHARED bool hodo_control_try(uint64_t *mask);
static inline void hodo_sleep_ns(long ns)
{
	struct timespec pause = { 0, ns };

	hodo_sys2(SYS_nanosleep, &pause, 0);
}

/* Waits until the word is `from` and makes it `to`: takes a lock. It is released by hodo_store_release(). */
static inline void hodo_await(uint32_t *word, uint32_t from, uint32_t to)
{
	for (uint32_t found = from; !hodo_cas_acquire(word, &found, to); found = from)
		hodo_sleep_ns(50000);
}

static inline uint32_t hodo_gettid(void) { return (uint32_t)hodo_sys0(SYS_gettid); }

/* mmap; on failure, the address is a negative errno. */
static inline void *hodo_mmap(size_t len, int prot, int flags, int fd)
{
	return (void *)hodo_sys6(SYS_mmap, 0, (long)len, prot, flags, fd, 0);
}
static inline int hodo_is_error(const void *p) { return (unsigned long)p > -4096ul; }
/* Zeroed memory of this process; NULL: there is none. */
static inline void *hodo_map(size_t len)
{
	void *p = hodo_mmap(len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	return hodo_is_error(p) ? 0 : p;
}
