/* SPDX-License-Identifier: MIT */
/*
 * cache.h - what decoding files found, kept from one recording to the next in a folder of the user: $HODO_CACHE, else
 * hodo/code in $XDG_CACHE_HOME, else in ~/.cache.
 *
 * The folder and its files are only used if they are ours and nobody else can write to them; their contents are still
 * treated as hostile. If anything is wrong, there is no entry, or none is made: then the file is decoded.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include <base/text.h>
#include <elf/file.h>

/* Together, and of one entry: the oldest are removed. */
#define HODO_PLAN_CACHE_BYTES (256u << 20)
#define HODO_PLAN_CACHE_ENTRY (64u << 20)
#define HODO_PLAN_CACHE_FILES 1000u

/* Which file, in which state; the same bytes for the same. */
struct hodo_plan_identity {
	uint64_t dev, inode, bytes, changed_s, changed_ns, written_s, written_ns;
	uint32_t build_id_len;
	uint8_t build_id[HODO_ELF_BUILD_ID_MAX];
};

/* st: of its descriptor. */
void hodo_plan_identify(struct hodo_plan_identity *id, const struct hodo_elf *e, const struct stat *st);

/* The folder, which is made if necessary. Its descriptor; negative: there is none. */
int hodo_plan_cache_open(void);
/* The content of the file's entry. False: there is none that can be used. */
bool hodo_plan_cache_load(int dir, const struct hodo_plan_identity *id, struct hodo_text *content);
/* Makes an entry, or replaces it, at once for all readers. 0, or a negative errno, and nothing has changed. */
int hodo_plan_cache_store(int dir, const struct hodo_plan_identity *id, const void *content, size_t n);
