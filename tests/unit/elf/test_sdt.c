/* SPDX-License-Identifier: MIT */
/* test_sdt.c - descriptors of static probes' arguments; test_list_sdt.py tests the notes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lib/unit.h>

#include <elf/sdt.h>

/* All that is known about the one argument of a text, in one line. */
static const char *parsed(const char *text)
{
	static const char *const forms[] = { "unknown", "constant", "register", "memory" };
	static char line[256];
	char type[HODO_SDT_NAME_SIZE], name[4][HODO_SDT_NAME_SIZE];
	const char *at = text;
	struct hodo_sdt_arg a, more;

	assert_true(hodo_sdt_arg_next(&at, &a));
	assert_false(hodo_sdt_arg_next(&at, &more));
	if (a.form == HODO_SDT_UNKNOWN) {
		snprintf(line, sizeof(line), "%s unknown %.*s", hodo_sdt_type_name(&a, type), (int)a.text_len, a.text);
		return line;
	}
	snprintf(line, sizeof(line), "%s %s%s%s%s%s%s%s%s%s x%u %+lld %.*s", hodo_sdt_type_name(&a, type),
		 forms[a.form], a.reg.kind ? " " : "", hodo_sdt_register_name(&a.reg, name[0]),
		 a.segment.kind ? " segment " : "", hodo_sdt_register_name(&a.segment, name[1]), a.base.kind ? " base " : "",
		 hodo_sdt_register_name(&a.base, name[2]), a.index.kind ? " index " : "",
		 hodo_sdt_register_name(&a.index, name[3]), a.scale, (long long)a.offset, (int)a.symbol_len,
		 a.symbol ? a.symbol : "");
	return line;
}

#define CHECK(text, line) assert_string_equal(parsed(text), line)

TEST(test_constants)
{
	CHECK("-4@$12", "i32 constant x0 +12 ");
	CHECK("4@$-1", "u32 constant x0 -1 ");
	CHECK("8@$0x7fffffffffffffff", "u64 constant x0 +9223372036854775807 ");
	CHECK("8@$-9223372036854775808", "u64 constant x0 -9223372036854775808 ");
	CHECK("1@$010", "u8 constant x0 +8 ");
	CHECK("8@$main", "u64 constant x0 +0 main");
	CHECK("8@$.LC0+8", "u64 constant x0 +8 .LC0");
	CHECK("8@$4+main-8", "u64 constant x0 -4 main");
	CHECK("$7", "? constant x0 +7 ");
}

TEST(test_registers)
{
	static const char *const names[] = {
		"rax", "eax", "ax", "al", "rcx", "ecx", "cx", "cl", "rdx", "edx", "dx", "dl", "rbx", "ebx", "bx", "bl",
		"rsp", "esp", "sp", "spl", "rbp", "ebp", "bp", "bpl", "rsi", "esi", "si", "sil", "rdi", "edi", "di",
		"dil", "r8", "r8d", "r8w", "r8b", "r9", "r9d", "r10", "r10w", "r11b", "r12", "r13", "r14", "r15",
		"r15d", "r15w", "r15b", "ah", "ch", "dh", "bh", "xmm0", "xmm15", "ymm3", "zmm31",
	};

	/* Each is read, and written back unchanged. */
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char text[32], line[64];

		snprintf(text, sizeof(text), "8@%%%s", names[i]);
		snprintf(line, sizeof(line), "u64 register %%%s x0 +0 ", names[i]);
		CHECK(text, line);
	}
	CHECK("-1@%bl", "i8 register %bl x0 +0 ");
	CHECK("8f@%xmm2", "f64 register %xmm2 x0 +0 ");
	CHECK("4f@%eax", "f32 register %eax x0 +0 ");
	CHECK("%rax", "? register %rax x0 +0 ");
}

TEST(test_memory)
{
	CHECK("-4@-20(%rbp)", "i32 memory base %rbp x1 -20 ");
	CHECK("8@(%rax)", "u64 memory base %rax x1 +0 ");
	CHECK("8@8(%rax,%rbx,4)", "u64 memory base %rax index %rbx x4 +8 ");
	CHECK("2@(,%r12,8)", "u16 memory index %r12 x8 +0 ");
	CHECK("8@(%rax,%rbx)", "u64 memory base %rax index %rbx x1 +0 ");
	CHECK("8@count(%rip)", "u64 memory base %rip x1 +0 count");
	CHECK("8@count+16(%rip)", "u64 memory base %rip x1 +16 count");
	CHECK("8@16+count(%rip)", "u64 memory base %rip x1 +16 count");
	CHECK("8@count@GOTPCREL(%rip)", "u64 memory base %rip x1 +0 count@GOTPCREL");
	CHECK("8@%fs:mine@tpoff", "u64 memory segment %fs x1 +0 mine@tpoff");
	CHECK("8@%fs:mine@tpoff+8", "u64 memory segment %fs x1 +8 mine@tpoff");
	CHECK("-8@%fs:-16(%rax)", "i64 memory segment %fs base %rax x1 -16 ");
	CHECK("4@table(,%rdi,4)", "u32 memory index %rdi x4 +0 table");
	CHECK("4@0x1000", "u32 memory x1 +4096 ");
	CHECK("4@-8(%ebp)", "u32 memory base %ebp x1 -8 ");
}

TEST(test_damaged)
{
	static const char *const texts[] = {
		"8@", "8@$", "8@$-", "8@%", "8@%rex", "8@%r7", "8@%r16", "8@%r8x", "8@%xmm32", "8@%xmm", "8@(", "8@()x",
		"8@(%rax", "8@(%rax,%rsp)", "8@(%rax,%rbx,3)", "8@(%al)", "8@(%xmm0)", "8@(%rip,%rax)", "8@a-b",
		"8@a+b", "8@-a", "8@1+", "8@+", "8@$0x", "8@$99999999999999999999", "8@%fs:", "8@%fs", "8@%rip",
		"8@%rax:8", "256@%rax", "0@%rax", "8g@%rax", "8@%st(0)", "@", "-", "8@8@%rax(", "8@(%rax)(%rbx)",
	};

	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (!strstr(parsed(texts[i]), " unknown "))
			fail_msg("%s: %s", texts[i], parsed(texts[i]));
	}
}

TEST(test_lists)
{
	const char *at = "  8@%rdi  -4@$3 4@(%rax) ", *none = "   ";
	struct hodo_sdt_arg a;

	assert_true(hodo_sdt_arg_next(&at, &a) && a.form == HODO_SDT_REGISTER && a.size == 8 && !a.is_signed);
	assert_true(hodo_sdt_arg_next(&at, &a) && a.form == HODO_SDT_CONSTANT && a.size == 4 && a.is_signed);
	assert_true(hodo_sdt_arg_next(&at, &a) && a.form == HODO_SDT_MEMORY && a.base.number == 0);
	assert_false(hodo_sdt_arg_next(&at, &a));
	assert_false(hodo_sdt_arg_next(&none, &a));
}
