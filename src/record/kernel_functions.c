/* SPDX-License-Identifier: MIT */
/*
 * kernel_functions.c - which functions of the kernel are meant.
 *
 * ftrace's list says which can be traced, by name; kallsyms where they are. Several functions may have one name:
 * by name all of them are meant.
 */
#define _GNU_SOURCE
#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <base/scope.h>
#include <core/glob.h>

#include "message.h"

#define FEW_MAX 384u /* what the module takes one by one: HODO_FUNCTION_ADDRESSES_MAX there */
#define LIST "available_filter_functions"
#define KERNEL_START 0xffff800000000000ull
#define NOTE_BUILD_ID 3u
#define NOTES_MAX 65536u

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

/* As the module and the kernel see it: some pattern, and none of those with '!'. */
static bool is_wanted(const struct hodo_function_names *patterns, const char *name)
{
	bool wanted = patterns->included == 0;

	for (const char *p = NULL; (p = hodo_function_names_next(patterns, p));) {
		bool without = p[0] == '!';

		if (!hodo_glob(p + without, strlen(p + without), name, strlen(name)))
			continue;
		if (without)
			return false;
		wanted = true;
	}
	return wanted;
}

/* ------------------------------------------------------------------- few of them */

/* "NAME" or "NAME [MODULE]", as in the list, without its newline. */
struct few {
	char *name[FEW_MAX];
	uint32_t n;
	uint64_t found, wanted; /* counts; wanted may be more than there is room for */
};

static int read_list(const struct hodo_function_names *patterns, struct few *few)
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
		wanted = is_wanted(patterns, line);
		if (space)
			*space = ' ';
		if (wanted && few->wanted++ < FEW_MAX && !(few->name[few->n++] = strdup(line)))
			return -ENOMEM;
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A line of /proc/kallsyms: the name as in ftrace's list, in place. NULL: it is none of a function. */
static char *parse_symbol(char *line, unsigned long long *address)
{
	char type, *name, *tab;
	int at;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%llx %c %n", address, &type, &at) != 2 || !strchr("tTwW", type))
		return NULL;
	name = line + at;
	tab = strchr(name, '\t');
	if (tab)
		*tab = ' ';
	return name;
}

static bool is_one_of(const struct few *few, const char *name)
{
	return bsearch(&name, few->name, few->n, sizeof(*few->name), by_name) != NULL;
}

/*
 * A pattern that is just this name, which is not in the list: the list has one name of those of one
 * address. Whether the function can be traced, the module finds out.
 */
static bool is_other_name(const struct few *few, const struct hodo_function_names *patterns, const char *name)
{
	for (const char *p = NULL; (p = hodo_function_names_next(patterns, p));)
		if (strcmp(p, name) == 0)
			return !is_one_of(few, name);
	return false;
}

/* What kallsyms has of those that are meant. */
struct places {
	struct hodo_function_names few, others; /* as ranges of addresses */
	bool fprobe;
};

static int add_place(struct hodo_function_names *list, unsigned long long address)
{
	char range[64], why[128];

	if (list->n >= FEW_MAX)
		return -E2BIG;
	snprintf(range, sizeof(range), "0x%llx-0x%llx", address, address + 1);
	return hodo_functions_add(list, range, why, sizeof(why));
}

static int read_places(const struct few *few, const struct hodo_function_names *patterns, struct places *places)
{
	HODO_AUTO_FCLOSE FILE *f = fopen("/proc/kallsyms", "re");
	HODO_AUTO_FREE char *line = NULL;
	unsigned long long address;
	size_t room = 0;
	int err = f ? 0 : -errno;

	while (!err && getline(&line, &room, f) > 0) {
		const char *name = parse_symbol(line, &address);

		if (!name || !address)
			continue;
		places->fprobe |= strcmp(name, "register_fprobe") == 0;
		if (is_one_of(few, name))
			err = add_place(&places->few, address);
		else if (is_other_name(few, patterns, name))
			err = add_place(&places->others, address);
	}
	return err;
}

static int append(struct hodo_function_names *to, const struct hodo_function_names *more)
{
	char why[128];
	int err = 0;

	for (const char *p = NULL; !err && (p = hodo_function_names_next(more, p));)
		err = hodo_functions_add(to, p, why, sizeof(why));
	return err;
}

/* Names by address what must be. 0; -ESRCH: there is none. */
static int settle(const struct few *few, struct hodo_function_names *patterns)
{
	struct places places = { .fprobe = false };
	int err = read_places(few, patterns, &places);

	if (!err && few->wanted == 0 && places.others.n == 0)
		err = -ESRCH;
	else if (!err && (places.fprobe || few->wanted > FEW_MAX || places.few.n + places.others.n > FEW_MAX))
		err = append(patterns, &places.others);
	else if (!err && append(&places.few, &places.others) == 0 && places.few.n) {
		hodo_text_free(&patterns->text);
		*patterns = places.few;
		places.few.text = (struct hodo_text){ 0 };
	}
	hodo_text_free(&places.few.text);
	hodo_text_free(&places.others.text);
	return err;
}

int hodo_kernel_functions_resolve(struct hodo_functions *f, char *why, size_t size)
{
	struct few few = { .n = 0 };
	int err;

	/* Who names addresses knows what is there. */
	for (const char *p = NULL; (p = hodo_function_names_next(&f->patterns, p));)
		if (is_range(p))
			return 0;
	err = read_list(&f->patterns, &few);
	if (!err) {
		qsort(few.name, few.n, sizeof(*few.name), by_name);
		err = settle(&few, &f->patterns);
	}
	for (uint32_t i = 0; i < few.n; i++)
		free(few.name[i]);
	if (err == -ENOMEM)
		return hodo_fail_memory(why, size);
	if (err == -ESRCH)
		return hodo_fail(why, size, err, "none of the kernel's %llu functions that can be traced has such a name: they "
				 "stand in %s", (unsigned long long)few.found, list_paths[0]);
	return 0; /* where a list cannot be read, the module finds out by itself */
}

/* ------------------------------------------------------------------------ object */

static uint32_t note_word(const uint8_t *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* Its length; 0: the kernel says none. */
static uint32_t read_build_id(uint8_t *id, uint32_t max)
{
	static uint8_t notes[NOTES_MAX];
	HODO_AUTO_CLOSE int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, notes, sizeof(notes));
	size_t len = got > 0 ? (size_t)got : 0, at = 0;

	while (len - at >= 12) {
		uint64_t name = note_word(notes + at), desc = note_word(notes + at + 4);
		uint64_t body = at + 12 + ((name + 3) & ~3ull), next = body + ((desc + 3) & ~3ull);

		if (next > len)
			return 0;
		if (note_word(notes + at + 8) == NOTE_BUILD_ID && name == 4 && memcmp(notes + at + 12, "GNU", 4) == 0) {
			desc = desc < max ? desc : max;
			memcpy(id, notes + body, desc);
			return (uint32_t)desc;
		}
		at = next;
	}
	return 0;
}

int hodo_kernel_functions_object(struct hodo_catalog *catalog)
{
	struct hodo_record_object r = { .start = KERNEL_START, .end = UINT64_MAX, .functions = 1 };

	r.build_id_len = read_build_id(r.build_id, sizeof(r.build_id));
	return hodo_catalog_add_object(catalog, &r, HODO_KERNEL_OBJECT);
}
