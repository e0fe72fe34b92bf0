/* SPDX-License-Identifier: MIT */
/* types.h - types as a kernel would have them, made for tests. */
#ifndef HODO_TESTS_KPROBE_TYPES_H
#define HODO_TESTS_KPROBE_TYPES_H

#include <bpf/btf.h>

/*
 *	struct name { unsigned int hash, len; const unsigned char *name; };			16 bytes
 *	struct entry { int flags; struct name d_name; struct entry *d_parent; };			32
 *	struct file {
 *		struct { struct entry *dentry; void *mnt; } f_path;
 *		union { unsigned int f_mode; int f_other; };
 *		unsigned int f_first : 3, f_second : 7; int f_signed : 5;
 *		char comm[16]; u8 raw[4]; short numbers[3]; bool open; enum state f_state; struct gone *gone; u8 *bytes;
 *	};
 *	ssize_t read_it(struct file *file, char *buf, size_t count, loff_t *pos);
 *	void write_it(const char *text, struct name by_value, struct file *last);	by_value takes two registers
 *	int many(int a, int b, int c, int d, int e, int f, int g, struct entry *h);
 */
struct btf *kprobe_types(void); /* btf__free() it */

#endif
