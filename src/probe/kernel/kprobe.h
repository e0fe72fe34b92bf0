/* SPDX-License-Identifier: MIT */
/*
 * kprobe.h - probes in the kernel: `kprobe:vfs_read(count, file->f_path.dentry->d_name.name)`, parsed, then
 * compiled for hodo.ko with the kernel's type information (BTF).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hodo/abi_kernel.h>
#include <probe/text/spec.h>

/* A parsed one. */
struct hodo_kprobe_text {
	struct hodo_spec spec;
	char event[HODO_NAME_MAX + 1]; /* kprobe:vfs_read%return, without the values */
};

/* Those of a recording. All zero: none. */
struct hodo_kprobe_list {
	struct hodo_kprobe_text *probe;
	uint32_t n;
};

/* Whether an argument of -e is a probe: kprobe:..., and not an exclusion. */
bool hodo_kprobe_is(const char *text);

/* Parses one. 0; or a negative errno and a line for the user in why. */
int hodo_kprobe_parse(struct hodo_kprobe_text *p, const char *text, struct hodo_why *why);
void hodo_kprobe_text_free(struct hodo_kprobe_text *p);
/* Parses one and adds it to the list. As hodo_kprobe_parse(); -EEXIST: the event exists. */
int hodo_kprobe_list_add(struct hodo_kprobe_list *list, const char *text, struct hodo_why *why);
void hodo_kprobe_list_free(struct hodo_kprobe_list *list);

/*
 * Compiles it for hodo.ko, to k->size bytes; k has room for HODO_KPROBE_SIZE_MAX. btf: the types with the
 * function's, NULL: not available. 0; or a negative errno and a line for the user in why.
 */
struct btf;
int hodo_kprobe_compile(const struct hodo_kprobe_text *p, const struct btf *btf, struct hodo_kprobe *k,
			struct hodo_why *why);

/* Sets them all: fd is /dev/hodo's, which has no recording yet. 0; or a negative errno and a line for the user
 * in why. */
int hodo_kprobe_list_set(const struct hodo_kprobe_list *list, int fd, struct hodo_why *why);
