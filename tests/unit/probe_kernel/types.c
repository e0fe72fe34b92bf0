/* SPDX-License-Identifier: MIT */
#include "types.h"

static struct btf *b;

static void field(const char *name, int type, unsigned int bit, unsigned int bits)
{
	btf__add_field(b, name, type, bit, bits);
}

static void function(const char *name, int returns, const char *const *names, const int *types)
{
	int proto = btf__add_func_proto(b, returns);

	for (; *names; names++, types++)
		btf__add_func_param(b, *names, *types);
	btf__add_func(b, name, BTF_FUNC_GLOBAL, proto);
}

static int find(const char *name)
{
	return btf__find_by_name(b, name);
}

static void add_functions(int files, int name, int entries)
{
	const int i32 = find("int"), size = find("size_t");
	const int buffer = btf__add_ptr(b, find("char")), text = btf__add_ptr(b, btf__add_const(b, find("char")));
	const int position = btf__add_ptr(b, btf__add_typedef(b, "loff_t", find("long")));

	function("read_it", btf__add_typedef(b, "ssize_t", find("long")),
		 (const char *const[]){ "file", "buf", "count", "pos", NULL },
		 (const int[]){ files, buffer, size, position });
	function("write_it", 0, (const char *const[]){ "text", "by_value", "last", NULL },
		 (const int[]){ text, name, files });
	function("many", i32, (const char *const[]){ "a", "b", "c", "d", "e", "f", "g", "h", NULL },
		 (const int[]){ i32, i32, i32, i32, i32, i32, i32, entries });
}

struct btf *kprobe_types(void)
{
	int u32, i32, u64, i16, chr, uchr, boolean, u8;
	int bytes, u8s, voids, name, entries, path, mode, state, gone, file, comm, raw, numbers;

	b = btf__new_empty();
	btf__set_pointer_size(b, 8);
	u32 = btf__add_int(b, "unsigned int", 4, 0);
	i32 = btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	u64 = btf__add_int(b, "unsigned long", 8, 0);
	btf__add_int(b, "long", 8, BTF_INT_SIGNED);
	i16 = btf__add_int(b, "short", 2, BTF_INT_SIGNED);
	chr = btf__add_int(b, "char", 1, BTF_INT_SIGNED);
	uchr = btf__add_int(b, "unsigned char", 1, 0);
	boolean = btf__add_int(b, "_Bool", 1, BTF_INT_BOOL);
	u8 = btf__add_typedef(b, "u8", uchr);
	btf__add_typedef(b, "size_t", u64);
	bytes = btf__add_ptr(b, btf__add_const(b, uchr));
	u8s = btf__add_ptr(b, u8);
	voids = btf__add_ptr(b, 0);
	comm = btf__add_array(b, u64, chr, 16);
	raw = btf__add_array(b, u64, u8, 4);
	numbers = btf__add_array(b, u64, i16, 3);

	name = btf__add_struct(b, "name", 16);
	field("hash", u32, 0, 0);
	field("len", u32, 32, 0);
	field("name", bytes, 64, 0);
	entries = btf__add_ptr(b, (int)btf__type_cnt(b) + 1); /* to the type that comes next */
	btf__add_struct(b, "entry", 32);
	field("flags", i32, 0, 0);
	field("d_name", name, 64, 0);
	field("d_parent", entries, 192, 0);
	path = btf__add_struct(b, "", 16);
	field("dentry", entries, 0, 0);
	field("mnt", voids, 64, 0);
	mode = btf__add_union(b, "", 4);
	field("f_mode", u32, 0, 0);
	field("f_other", i32, 0, 0);
	state = btf__add_enum(b, "state", 4);
	btf__add_enum_value(b, "CLOSED", -1);
	btf__add_enum_value(b, "OPEN", 1);
	gone = btf__add_ptr(b, btf__add_fwd(b, "gone", BTF_FWD_STRUCT));
	file = btf__add_struct(b, "file", 80);
	field("f_path", path, 0, 0);
	field("", mode, 128, 0);
	field("f_first", u32, 160, 3);
	field("f_second", u32, 163, 7);
	field("f_signed", i32, 170, 5);
	field("comm", comm, 192, 0);
	field("raw", raw, 320, 0);
	field("numbers", numbers, 352, 0);
	field("open", boolean, 400, 0);
	field("f_state", state, 416, 0);
	field("gone", gone, 448, 0);
	field("bytes", u8s, 512, 0);

	add_functions(btf__add_ptr(b, file), name, entries);
	return b;
}
