/* SPDX-License-Identifier: MIT */
/* aliases.c - functions with several names, one inside another, and without sizes. */
int elf_count;

/* A library's function, and the name that programs call. */
int _elf_work(int n);
int elf_zwork(int n) __attribute__((weak, alias("_elf_work")));
int _elf_work(int n)
{
	return elf_count += n;
}

/* Global, weak and local. */
int elf_strong(int n)
{
	return elf_count -= n;
}
int elf_a_weak(int n) __attribute__((weak, alias("elf_strong")));
static int elf_a_local(int n) __attribute__((used, alias("elf_strong")));

/* From the assembler: a part that nobody wrote, a label before the function, a function without a size, one inside
 * another, versions of a name. */
__asm__(".pushsection .text\n"
	".type elf_whole, @function\n"
	".globl elf_whole, elf_label, elf_bare, elf_outer, elf_inner, elf_after\n"
	".local elf_whole.cold, elf_gone.part.0\n"
	"elf_label:\n"
	"elf_whole: .skip 16, 0x90\n"
	".size elf_whole, . - elf_whole\n"
	".type elf_whole.cold, @function\n"
	"elf_whole.cold: .skip 8, 0x90\n"
	".size elf_whole.cold, . - elf_whole.cold\n"
	".type elf_gone.part.0, @function\n"
	"elf_gone.part.0: .skip 8, 0x90\n"
	".size elf_gone.part.0, . - elf_gone.part.0\n"
	".type elf_bare, @function\n"
	"elf_bare: .skip 24, 0x90\n"
	".type elf_outer, @function\n"
	"elf_outer: .skip 16, 0x90\n"
	".type elf_inner, @function\n"
	"elf_inner: .skip 8, 0x90\n"
	".size elf_inner, . - elf_inner\n"
	".skip 8, 0x90\n"
	".size elf_outer, . - elf_outer\n"
	".type elf_after, @function\n"
	"elf_after: .skip 8, 0x90\n"
	".size elf_after, . - elf_after\n"
	".globl elf_kept, elf_folded\n"
	".type elf_kept, @function\n"
	".type elf_folded, @function\n"
	"elf_folded:\n"
	"elf_kept: .skip 8, 0x90\n"
	".size elf_kept, 8\n"
	".globl _ZN3elf3boxC1Ev, _ZN3elf3boxC2Ev, _ZN3elf3box3putIiEEvT_\n"
	".type _ZN3elf3boxC1Ev, @function\n"
	".type _ZN3elf3boxC2Ev, @function\n"
	"_ZN3elf3boxC2Ev:\n"
	"_ZN3elf3boxC1Ev: .skip 8, 0x90\n"
	".size _ZN3elf3boxC1Ev, 8\n"
	".size _ZN3elf3boxC2Ev, 8\n"
	".type _ZN3elf3box3putIiEEvT_, @function\n"
	"_ZN3elf3box3putIiEEvT_: .skip 8, 0x90\n"
	".size _ZN3elf3box3putIiEEvT_, 8\n"
	".popsection\n");

int elf_use(int n);
int elf_use(int n)
{
	return elf_zwork(n) + elf_a_weak(n) + elf_a_local(n);
}
