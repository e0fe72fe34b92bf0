/* SPDX-License-Identifier: MIT */
/* libc_string.c - libhodo's own memcpy() and the like, compiled so that no loop becomes a call of what it defines. */
#include <stdint.h>

void *memcpy(void *to, const void *from, size_t n)
{
	char *t = to;
	const char *f = from;

#ifdef __x86_64__
	void *start = to;

	__asm__ volatile("rep movsb" : "+D"(t), "+S"(f), "+c"(n) : : "memory");
	return start;
#else
	while (n--)
		*t++ = *f++;
	return to;
#endif
}

void *memmove(void *to, const void *from, size_t n)
{
	char *t = to;
	const char *f = from;

	if (t <= f || t >= f + n)
		return memcpy(to, from, n);
	while (n--)
		t[n] = f[n];
	return to;
}

void *memset(void *to, int c, size_t n)
{
	char *t = to;

#ifdef __x86_64__
	__asm__ volatile("rep stosb" : "+D"(t), "+c"(n) : "a"(c) : "memory");
#else
	while (n--)
		*t++ = (char)c;
#endif
	return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *p = a, *q = b;

	for (; n && *p == *q; n--, p++, q++)
		;
	return n ? *p - *q : 0;
}

/* Eight bytes at a time: the text of programs is searched with it. */
void *memchr(const void *p, int c, size_t n)
{
	const uint64_t ones = 0x0101010101010101ull, tops = ones << 7;
	const unsigned char *s = p, byte = (unsigned char)c;

	for (; n >= 8; n -= 8, s += 8) {
		uint64_t word;

		__builtin_memcpy(&word, s, 8);
		word ^= ones * byte; /* zero where the byte is */
		word = (word - ones) & ~word & tops;
		if (!word)
			continue;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		return (void *)(s + __builtin_ctzll(word) / 8); /* the lowest is exact */
#else
		break;
#endif
	}
	for (; n; n--, s++) {
		if (*s == byte)
			return (void *)s;
	}
	return 0;
}

/* Aligned words: none leaves the pages that the text is in. */
size_t strlen(const char *s)
{
#ifdef __x86_64__
	const uint64_t ones = 0x0101010101010101ull, tops = ones << 7;
	const char *at = (const char *)((uintptr_t)s & ~7ul);
	uint64_t word;

	__builtin_memcpy(&word, at, 8);
	word |= (1ull << 8 * ((uintptr_t)s & 7)) - 1; /* what comes before */
	while (!((word - ones) & ~word & tops)) {
		at += 8;
		__builtin_memcpy(&word, at, 8);
	}
	return (size_t)(at - s) + (unsigned)__builtin_ctzll((word - ones) & ~word & tops) / 8;
#else
	size_t n = 0;

	while (s[n])
		n++;
	return n;
#endif
}

size_t strnlen(const char *s, size_t max)
{
	size_t n = 0;

	while (n < max && s[n])
		n++;
	return n;
}

int strcmp(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return (unsigned char)*a - (unsigned char)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n && *a && *a == *b; n--, a++, b++)
		;
	return n ? (unsigned char)*a - (unsigned char)*b : 0;
}

char *strchr(const char *s, int c)
{
	for (; *s != (char)c; s++) {
		if (!*s)
			return 0;
	}
	return (char *)s;
}
