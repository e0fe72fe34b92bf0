/* SPDX-License-Identifier: MIT */
/*
 * kernel_functions.c - which functions of the kernel are selected.
 *
 * ftrace's list has the names of those that can be traced, kallsyms their addresses. Several functions may
 * have one name: the name selects all of them.
 */
#include "kernel.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include <base/order.h>
#include <base/scope.h>
#include <core/note.h>
#include <proc/kallsyms.h>

#define FEW_MAX 384u /* how many the module takes one by one: HODO_FUNCTION_ADDRESSES_MAX there */
#define LIST "available_filter_functions"
#define KERNEL_START 0xffff800000000000ull
#define NOTES_MAX 65536u
#define NAME_BYTES 768u /* of a function and its module */

static const char *const list_paths[] = { "/sys/kernel/tracing/" LIST, "/sys/kernel/debug/tracing/" LIST };

static FILE *open_list(void)
{
	FILE *f = NULL;

	for (size_t i = 0; i < sizeof(list_paths) / sizeof(*list_paths) && !f; i++)
		f = fopen(list_paths[i], "re");
	return f;
}

static bool is_range(const char *pattern)
{
	return pattern[0] == '0' && pattern[1] == 'x';
}

/* ------------------------------------------------------------------- few of them */

/* "NAME" or "NAME [MODULE]", as in the list, without its newline. */
struct few {
	char *name[FEW_MAX];
	uint32_t n;
	uint64_t found, wanted; /* counts; wanted may exceed the room */
};

static int read_list(const struct hodo_pattern_list *patterns, struct few *few)
{
	HODO_AUTO_FCLOSE FILE *f = open_list();
	HODO_AUTO_FREE char *line = NULL;
	size_t room = 0;

	if (!f)
		return -errno;
	while (getline(&line, &room, f) > 0) {
		char *space = strchr(line, ' ');
		bool wanted;

		line[strcspn(line, "\n")] = 0;
		few->found++;
		if (space)
			*space = 0;
		wanted = hodo_pattern_wants(patterns, line);
		if (space)
			*space = ' ';
		if (wanted && few->wanted++ < FEW_MAX && !(few->name[few->n++] = strdup(line)))
			return -ENOMEM;
	}
	return 0;
}

static bool is_one_of(const struct few *few, const char *name)
{
	return bsearch(&name, few->name, few->n, sizeof(*few->name), hodo_order_text) != NULL;
}

/*
 * Whether a pattern is exactly this name, which is not in the list: the list has only one of several names
 * for an address. The module finds out whether the function can be traced.
 */
static bool is_other_name(const struct few *few, const struct hodo_pattern_list *patterns, const char *name)
{
	for (uint32_t i = 0; i < patterns->n; i++)
		if (strcmp(patterns->pattern[i].text, name) == 0)
			return !is_one_of(few, name);
	return false;
}

/* What kallsyms has of the selected functions. */
struct places {
	struct hodo_pattern_list few, others; /* as ranges of addresses */
	bool fprobe;
};

static int add_place(struct hodo_pattern_list *list, uint64_t address)
{
	char range[64];

	if (list->n >= FEW_MAX)
		return -E2BIG;
	snprintf(range, sizeof(range), "0x%" PRIx64 "-0x%" PRIx64, address, address + 1);
	return hodo_functions_add(list, range, NULL);
}

static int read_places(const struct few *few, const struct hodo_pattern_list *patterns, struct places *places)
{
	HODO_AUTO(hodo_kallsyms_close) struct hodo_kallsyms all;
	struct hodo_kallsym s;
	int err = hodo_kallsyms_open(&all);

	while (!err && hodo_kallsyms_next(&all, &s)) {
		char name[NAME_BYTES]; /* as in ftrace's list */

		if (!s.address)
			continue;
		snprintf(name, sizeof(name), "%s%s%s%s", s.name, *s.module ? " [" : "", s.module, *s.module ? "]" : "");
		places->fprobe |= strcmp(name, "register_fprobe") == 0;
		if (is_one_of(few, name))
			err = add_place(&places->few, s.address);
		else if (is_other_name(few, patterns, name))
			err = add_place(&places->others, s.address);
	}
	return err;
}

static int append(struct hodo_pattern_list *to, const struct hodo_pattern_list *more)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < more->n; i++)
		err = hodo_functions_add(to, more->pattern[i].text, NULL);
	return err;
}

/* Replaces names by addresses where necessary. 0; -ESRCH: none. */
static int settle(const struct few *few, struct hodo_pattern_list *patterns)
{
	struct places places = { .fprobe = false };
	int err = read_places(few, patterns, &places);

	if (!err && few->wanted == 0 && places.others.n == 0)
		err = -ESRCH;
	else if (!err && (places.fprobe || few->wanted > FEW_MAX || places.few.n + places.others.n > FEW_MAX))
		err = append(patterns, &places.others);
	else if (!err && append(&places.few, &places.others) == 0 && places.few.n) {
		hodo_pattern_free(patterns);
		*patterns = places.few;
		places.few = (struct hodo_pattern_list){ 0 };
	}
	hodo_pattern_free(&places.few);
	hodo_pattern_free(&places.others);
	return err;
}

int hodo_kernel_functions_resolve(struct hodo_functions *f, struct hodo_why *why)
{
	struct few few = { .n = 0 };
	int err;

	/* A user who gives addresses knows what is there. */
	for (uint32_t i = 0; i < f->patterns.n; i++)
		if (is_range(f->patterns.pattern[i].text))
			return 0;
	err = read_list(&f->patterns, &few);
	if (!err) {
		hodo_order_sort(few.name, few.n, hodo_order_text);
		err = settle(&few, &f->patterns);
	}
	for (uint32_t i = 0; i < few.n; i++)
		free(few.name[i]);
	if (err == -ENOMEM)
		return hodo_why_memory(why);
	if (err == -ESRCH)
		return hodo_why(why, err, "none of the kernel's %llu traceable functions has such a name: %s lists "
				"them", (unsigned long long)few.found, list_paths[0]);
	return 0; /* if a list cannot be read, the module finds out by itself */
}

/* ------------------------------------------------------------------------ object */

/* Its length; 0: the kernel gives none. */
static uint32_t read_build_id(uint8_t *id, uint32_t max)
{
	static uint8_t notes[NOTES_MAX];
	HODO_AUTO_CLOSE int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, notes, sizeof(notes));
	const uint8_t *at = notes, *end = notes + (got > 0 ? got : 0);
	struct hodo_elf_note note;

	while (hodo_note_next(&at, end, &note)) {
		if (note.type == NT_GNU_BUILD_ID && hodo_note_is(&note, "GNU", 4)) {
			max = note.size < max ? note.size : max;
			memcpy(id, note.desc, max);
			return max;
		}
	}
	return 0;
}

int hodo_kernel_functions_object(struct hodo_catalog *catalog)
{
	struct hodo_record_object r = { .start = KERNEL_START, .end = UINT64_MAX, .functions = 1 };

	r.build_id_len = read_build_id(r.build_id, sizeof(r.build_id));
	return hodo_catalog_add_object(catalog, &r, HODO_KERNEL_OBJECT);
}
