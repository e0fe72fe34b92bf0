/* SPDX-License-Identifier: MIT */
/* syscalls.c - finds system calls about signals in a file's code. */
#include "syscalls.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNKNOWN (-1l)
#define BACK_MAX 256u /* instructions */

static bool is_wanted(long number)
{
	static const long list[] = { UNKNOWN, SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_rt_sigsuspend, SYS_pselect6,
				     SYS_ppoll, SYS_epoll_pwait, 441 /* epoll_pwait2 */, SYS_io_pgetevents };

	for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (number == list[i])
			return true;
	return false;
}

/* The start of the instruction that ends there; 0: none. */
static uint64_t before(const struct hodo_probe_segment *s, uint64_t start, uint64_t addr)
{
	for (unsigned n = 1; n <= HODO_INSTRUCTION_MAX && addr - n >= start; n++)
		if ((s->marks[addr - n - s->start] & HODO_PROBE_MARK_LENGTH) == n)
			return addr - n;
	return 0;
}

/* What a register is set to: a number, another register, or something unknown. */
struct source {
	enum { NUMBER, REGISTER, OTHER } kind;
	int32_t number;
	unsigned from;
};

/* An instruction that writes the register, of those that compilers use for the number of a system call. */
static struct source source_of(const uint8_t *code, unsigned length, unsigned reg)
{
	unsigned rex = code[0] >> 4 == 4 ? code[0] : 0, at = rex != 0;
	unsigned modrm = length > at + 1 ? code[at + 1] : 0, rm = (modrm & 7) | (rex & 1) << 3;
	unsigned other = (modrm >> 3 & 7) | (rex >> 2 & 1) << 3;
	struct source s = { .kind = OTHER };
	bool plain = length == at + 2 && modrm >> 6 == 3;

	if (length == at + 5 && code[at] == (0xb8 | (reg & 7)) && (rex & 1) == reg >> 3) { /* mov $number,%reg */
		s.kind = NUMBER;
		memcpy(&s.number, code + at + 1, sizeof(s.number));
	} else if (length == at + 6 && code[at] == 0xc7 && modrm >> 3 == 0x18 && rm == reg) { /* mov, longer */
		s.kind = NUMBER;
		memcpy(&s.number, code + at + 2, sizeof(s.number));
	} else if (plain && (code[at] == 0x31 || code[at] == 0x33) && rm == reg && other == reg) { /* xor %reg,%reg */
		s.kind = NUMBER;
	} else if (plain && code[at] == 0x89 && rm == reg) { /* mov %other,%reg */
		s = (struct source){ .kind = REGISTER, .from = other };
	}
	return s;
}

static bool is_kept_by_calls(unsigned reg)
{
	return reg == 3 || reg == 5 || reg >= 12; /* rbx, rbp, r12 to r15 */
}

/*
 * The value of eax at the address. It is a number in the source: so code that jumps into the middle has it
 * from the same instruction, which a compiler may have moved out of a loop.
 */
static long number_at(const struct hodo_probe_segment *s, uint64_t start, uint64_t addr)
{
	unsigned reg = 0;

	for (unsigned n = 0; n < BACK_MAX; n++) {
		const uint8_t *code;
		struct hodo_instruction i;
		struct source from;

		addr = before(s, start, addr);
		code = s->bytes + (addr - s->start);
		if (!addr || !hodo_instruction_decode(&i, code, s->end - addr, addr))
			return UNKNOWN;
		if ((hodo_instruction_is_call(&i) || i.kind == HODO_INSTRUCTION_SYSCALL) && !is_kept_by_calls(reg))
			return UNKNOWN;
		if (!hodo_instruction_writes(code, i.length, reg))
			continue;
		from = source_of(code, i.length, reg);
		if (from.kind == NUMBER)
			return from.number;
		if (from.kind == OTHER)
			return UNKNOWN;
		reg = from.from;
	}
	return UNKNOWN;
}

static int of_function(const struct hodo_probe_object *o, const struct hodo_probe_function *f,
		       hodo_probe_syscall_fn each, void *arg)
{
	const struct hodo_probe_segment *s = hodo_probe_segment_at(o, f->start);
	uint64_t addr = f->start;
	int err = 0;

	while (s && !err && addr < f->end && addr < s->end) {
		const uint8_t *code = s->bytes + (addr - s->start);
		uint8_t length = s->marks[addr - s->start] & HODO_PROBE_MARK_LENGTH;

		if (length == 2 && code[0] == 0x0f && code[1] == 0x05 && is_wanted(number_at(s, f->start, addr)))
			err = each(arg, addr);
		addr += length ? length : 1;
	}
	return err;
}

int hodo_probe_syscalls(const struct hodo_probe_object *o, hodo_probe_syscall_fn each, void *arg)
{
	int err = 0;

	for (uint32_t i = 0; i < o->nfunctions && !err; i++)
		if (!o->functions[i].reason)
			err = of_function(o, &o->functions[i], each, arg);
	return err;
}

bool hodo_probe_may_call(const struct hodo_elf *e)
{
	uint8_t bytes[1u << 14];
	GElf_Phdr p;

	for (size_t i = 0; hodo_elf_segment(e->elf, &i, PT_LOAD, PF_X, &p);) {
		/* The last byte is read again: an instruction may span the boundary. */
		for (uint64_t at = 0; at + 1 < p.p_filesz; at += sizeof(bytes) - 1) {
			size_t len = p.p_filesz - at < sizeof(bytes) ? p.p_filesz - at : sizeof(bytes);
			ssize_t got = pread(e->fd, bytes, len, (off_t)(p.p_offset + at));

			if (got < 2)
				break;
			if (memmem(bytes, (size_t)got, "\x0f\x05", 2))
				return true;
		}
	}
	return false;
}
