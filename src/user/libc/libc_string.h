/* SPDX-License-Identifier: MIT */
/*
 * libc_string.h - libhodo's own memcpy() and the like, in place of libc's: included before every file of libhodo
 * (-include). In a program built with a sanitizer, libc's may be the sanitizer's, which are not ready when
 * libhodo's constructor runs; and libc's use vector registers, which hold the program's arguments where
 * functions are traced. Ours have other names in the object code, so that a program linked with libhodo.a
 * keeps libc's.
 */
#pragma once
#ifndef __ASSEMBLER__

#include <stddef.h>

#pragma GCC visibility push(hidden)
void *memcpy(void *to, const void *from, size_t n) __asm__("hodo_memcpy");
void *memmove(void *to, const void *from, size_t n) __asm__("hodo_memmove");
void *memset(void *to, int c, size_t n) __asm__("hodo_memset");
int memcmp(const void *a, const void *b, size_t n) __asm__("hodo_memcmp");
void *memchr(const void *p, int c, size_t n) __asm__("hodo_memchr");
size_t strlen(const char *s) __asm__("hodo_strlen");
size_t strnlen(const char *s, size_t n) __asm__("hodo_strnlen");
int strcmp(const char *a, const char *b) __asm__("hodo_strcmp");
int strncmp(const char *a, const char *b, size_t n) __asm__("hodo_strncmp");
char *strchr(const char *s, int c) __asm__("hodo_strchr");
#pragma GCC visibility pop

#endif
