/* SPDX-License-Identifier: MIT */
/*
 * pattern.h - the list of event patterns of a recording (-e): what was asked
 * for, what of it was found, and names near to what was not.
 */
#pragma once

#include <base/near.h>
#include <base/text.h>
#include <base/vec.h>
#include <base/why.h>

#define HODO_PATTERNS_MAX 1024u

struct hodo_pattern {
	char *text;    /* as sent: "kv:*", "!kv:get" */
	bool matched;  /* some event of some process */
	bool reported; /* as unknown */
	struct hodo_near *near; /* names that are like it; NULL: none was looked at */
};

struct hodo_pattern_list {
	struct hodo_pattern *pattern;
	uint32_t n;
	uint32_t included; /* of them, those without '!' in front */
	size_t bytes; /* of the texts with their NULs: what CONFIG needs */
};

/* Length of the first pattern of a list, up to a comma that is in no brackets, as core/glob.h says. */
size_t hodo_pattern_first(const char *list);
/*
 * Adds what one -e holds: patterns separated by commas. "kv" alone becomes
 * "kv:*". 0; -EINVAL and a message in why; -ENOMEM.
 */
int hodo_pattern_add(struct hodo_pattern_list *list, const char *arg, struct hodo_why *why);
/* hodo_pattern_add() of names other than events': flaw says what is wrong with a pattern of len bytes; or NULL. */
int hodo_pattern_add_others(struct hodo_pattern_list *list, const char *arg,
			    const char *(*flaw)(const struct hodo_pattern_list *list, const char *p, size_t len),
			    struct hodo_why *why);
void hodo_pattern_free(struct hodo_pattern_list *list);
/* Takes the i-th out of the list. */
void hodo_pattern_remove(struct hodo_pattern_list *list, uint32_t i);

/* Copies the patterns, each with its NUL; to has room for list->bytes. */
void hodo_pattern_pack(const struct hodo_pattern_list *list, uint8_t *to);

/* What the list says of an event of this name. Of two names for one thing: what is larger. */
enum hodo_pattern_says { HODO_PATTERN_NOTHING, HODO_PATTERN_INCLUDES, HODO_PATTERN_EXCLUDES };
enum hodo_pattern_says hodo_pattern_says(const struct hodo_pattern_list *list, const char *name);
/* Whether an event of this name is to be recorded, as the list says. */
bool hodo_pattern_wants(const struct hodo_pattern_list *list, const char *name);

/*
 * The names of fields that a filter's program (hodo_filter_compile()) uses, as a list to be looked for with
 * hodo_pattern_see_field(). 0, -ENOMEM.
 */
int hodo_pattern_add_fields(struct hodo_pattern_list *list, const uint8_t *code, size_t len);

/* Looks at the name of an event, of a field or of one of its labels. */
void hodo_pattern_see_event(struct hodo_pattern_list *list, const char *name);
void hodo_pattern_see_field(struct hodo_pattern_list *list, const char *name);

/* Takes a name into account as one that comes near. */
void hodo_pattern_near(struct hodo_pattern *p, const char *name);

/*
 * Adds a sentence, begun with what ("no event matches "), about patterns that
 * match nothing and were not yet reported, and marks them so. False if there
 * is none.
 */
bool hodo_pattern_unknown(struct hodo_pattern_list *list, const char *what, struct hodo_text *out);
