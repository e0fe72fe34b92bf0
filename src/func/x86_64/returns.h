/* SPDX-License-Identifier: MIT */
/*
 * returns.h - the table of replaced return addresses, as func/slots/returns.c keeps it and as the unwind data in
 * returns.S reads it: the data must find the table from anywhere, whoever evaluates it (libgcc, gdb). Hence a fixed
 * address, which no system or sanitizer uses, and arithmetic that DWARF expressions can do.
 */
#pragma once



#define HODO_RETURNS_TABLE 0x4d0d00000000 /* first word: address of hodo_x86_return */
#define HODO_RETURNS_ENTRIES 0x4d0d00001000
#define HODO_RETURNS_BITS 22          /* entries: 2^n of 16 bytes: at, original return address */
#define HODO_RETURNS_MASK 0x3fffff
#define HODO_RETURNS_PROBES 96        /* entries to probe, from the first one downwards */
/*
 * First entry of `at`: neighbours on one stack get neighbouring entries, stacks 64 MiB apart different ones.
 */
#define HODO_RETURNS_LOW_SHIFT 4
#define HODO_RETURNS_HIGH_SHIFT 26
#define HODO_RETURNS_FACTOR 0x9e3779b97f4a7c15
