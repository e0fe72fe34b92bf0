/* SPDX-License-Identifier: MIT */
/* fetched.c - see fetched.h. */
#define _GNU_SOURCE
#include "fetched.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <lib/unit.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <base/scope.h>
#include <base/vec.h>
#include <hodo/abi.h>
#include <probe/code/object.h>
#include <probe/value/resolve.h>

#define PROBES_MAX 128u
#define STOPS_MAX  1024u
#define HITS_MAX   4096u

/* The place where a probe is hit. */
struct stop {
	uint64_t address;
	uint32_t probe;
	const struct hodo_probe_point *point;
};

struct fetched {
	pid_t pid;
	struct hodo_probe_image image;
	struct hodo_probe_object object;
	char *probes[PROBES_MAX];
	struct hodo_spec specs[PROBES_MAX];
	struct hodo_probe_points points[PROBES_MAX];
	uint32_t nprobes;
	struct stop stops[STOPS_MAX];
	uint32_t nstops;
	uint64_t bias;
	struct user_regs_struct regs;
	struct user_fpregs_struct vectors;
};

/* ------------------------------------------------------------------- the interpreter */

static uint64_t register_of(const struct fetched *t, unsigned reg)
{
	const struct user_regs_struct *r = &t->regs;
	const unsigned long long general[] = { r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8,
					       r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip };
	uint64_t lower;

	assert_true(reg < HODO_FETCH_REGISTERS);
	if (reg < HODO_FETCH_XMM0)
		return general[reg];
	memcpy(&lower, &t->vectors.xmm_space[4 * (reg - HODO_FETCH_XMM0)], sizeof(lower));
	return lower;
}

static bool read_memory(const struct fetched *t, uint64_t address, void *to, size_t len)
{
	struct iovec here = { to, len }, there = { (void *)(uintptr_t)address, len };

	return process_vm_readv(t->pid, &here, 1, &there, 1, 0) == (ssize_t)len;
}

static uint64_t extended(uint64_t v, unsigned bits, bool is_signed)
{
	if (bits == 64)
		return v;
	v &= (UINT64_C(1) << bits) - 1;
	return is_signed && v >> (bits - 1) ? v | ~((UINT64_C(1) << bits) - 1) : v;
}

/* False if a load faulted; only loads that are marked so may fault. */
static bool fetch(const struct fetched *t, const struct hodo_fetch *f, uint64_t *to)
{
	uint64_t v = 0;

	assert_true(f->n > 0 && f->n <= HODO_FETCH_STEPS_MAX);
	for (unsigned i = 0; i < f->n; i++) {
		const struct hodo_fetch_step *s = &f->step[i];
		uint64_t loaded = 0;

		assert_int_equal(i == 0, s->op <= HODO_FETCH_ADDRESS);
		switch ((enum hodo_fetch_op)s->op) {
		case HODO_FETCH_REGISTER:
			v = register_of(t, s->reg);
			break;
		case HODO_FETCH_CONSTANT:
			v = (uint64_t)s->number;
			break;
		case HODO_FETCH_THREAD: /* only in USDT's operands, as is the next one */
		case HODO_FETCH_INDEX:
			fail_msg("a value's program has none of these");
			break;
		case HODO_FETCH_ADDRESS:
			v = t->bias + (uint64_t)s->number;
			break;
		case HODO_FETCH_ADD:
			v += (uint64_t)s->number;
			break;
		case HODO_FETCH_AND:
			v &= (uint64_t)s->number;
			break;
		case HODO_FETCH_SHIFT:
			v <<= s->number;
			break;
		case HODO_FETCH_LOAD:
			if (!read_memory(t, v, &loaded, s->bytes)) {
				assert_true(s->may_fault);
				return false;
			}
			v = extended(loaded, 8u * s->bytes, s->is_signed);
			break;
		case HODO_FETCH_BITS:
			v = extended(v >> s->at, s->bits, s->is_signed);
			break;
		}
	}
	*to = v;
	return true;
}

/* ---------------------------------------------------------------------- fields as text */

static void put_text(const struct fetched *t, const struct hodo_probe_field *f, uint64_t at, struct hodo_text *to)
{
	char c, text[HODO_FETCH_TEXT_MAX + 1];
	unsigned n = 0;

	assert_true(f->most <= HODO_FETCH_TEXT_MAX);
	while (n < f->most && read_memory(t, at + n, &c, 1) && c)
		text[n++] = c;
	text[n] = 0;
	if (at)
		hodo_text_printf(to, "\"%s\"", text);
}

static void put_bytes(const struct fetched *t, const struct hodo_probe_field *f, uint64_t at, struct hodo_text *to)
{
	uint64_t n = f->most;
	uint8_t byte;

	if (f->length.n && fetch(t, &f->length, &n))
		n = (int64_t)n < 0 ? 0 : n < f->most ? n : f->most;
	for (uint64_t i = 0; i < n && read_memory(t, at + i, &byte, 1); i++)
		hodo_text_printf(to, "%02x", byte);
}

static void put_number(uint8_t type, uint64_t v, struct hodo_text *to)
{
	double wide;
	float narrow;

	switch (type) {
	case HODO_TYPE_F32:
		memcpy(&narrow, &v, sizeof(narrow));
		hodo_text_printf(to, "%g", (double)narrow);
		break;
	case HODO_TYPE_F64:
		memcpy(&wide, &v, sizeof(wide));
		hodo_text_printf(to, "%g", wide);
		break;
	case HODO_TYPE_I8: case HODO_TYPE_CHAR:
		hodo_text_printf(to, "%d", (int8_t)v);
		break;
	case HODO_TYPE_U8: case HODO_TYPE_BOOL:
		hodo_text_printf(to, "%u", (uint8_t)v);
		break;
	case HODO_TYPE_I16:
		hodo_text_printf(to, "%d", (int16_t)v);
		break;
	case HODO_TYPE_U16:
		hodo_text_printf(to, "%u", (uint16_t)v);
		break;
	case HODO_TYPE_I32:
		hodo_text_printf(to, "%" PRId32, (int32_t)v);
		break;
	case HODO_TYPE_U32:
		hodo_text_printf(to, "%" PRIu32, (uint32_t)v);
		break;
	case HODO_TYPE_I64:
		hodo_text_printf(to, "%" PRId64, (int64_t)v);
		break;
	default:
		hodo_text_printf(to, type == HODO_TYPE_PTR ? "0x%" PRIx64 : "%" PRIu64, v);
	}
}

static void put_field(const struct fetched *t, const struct hodo_probe_field *f, struct hodo_text *to)
{
	uint64_t v;

	hodo_text_printf(to, "%s=", f->name);
	if (f->missing)
		hodo_text_printf(to, "? %s", hodo_missing_key(f->missing));
	else if (!fetch(t, &f->fetch, &v))
		hodo_text_add(to, "?");
	else if (f->type == HODO_TYPE_STR)
		put_text(t, f, v, to);
	else if (f->type == HODO_TYPE_BYTES)
		put_bytes(t, f, v, to);
	else
		put_number(f->type, v, to);
}

static void put_hits(const struct fetched *t, uint64_t address, struct hodo_text *to)
{
	for (uint32_t i = 0; i < t->nstops; i++) {
		const struct stop *s = &t->stops[i];

		if (s->address != address)
			continue;
		hodo_text_printf(to, "%s\t", t->probes[s->probe]);
		for (uint32_t k = 0; k < s->point->nfields; k++) {
			hodo_text_add(to, k ? " " : "");
			put_field(t, &s->point->fields[k], to);
		}
		hodo_text_char(to, '\n');
	}
}

/* -------------------------------------------------------------------------- probes */

/* The number of the line that contains the mark. */
static unsigned line_of(const char *source, const char *mark)
{
	HODO_AUTO_FCLOSE FILE *f = fopen(source, "re");
	char line[1024];
	unsigned n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		n++;
		if (strstr(line, mark))
			return n;
	}
	fail_msg("%s has no %s", source, mark);
	return 0;
}

static void add_stop(struct fetched *t, uint64_t address, const struct hodo_probe_point *point)
{
	assert_true(t->nstops < STOPS_MAX);
	t->stops[t->nstops++] = (struct stop){ address, t->nprobes, point };
}

static void add_probe(struct fetched *t, const char *text, const char *source)
{
	struct hodo_probe_points *p = &t->points[t->nprobes];
	struct hodo_why why = { "" };
	char replaced[1024];
	const char *line = strstr(text, "LINE");

	for (uint32_t i = 0; i < t->nprobes; i++)
		if (strcmp(t->probes[i], text) == 0)
			return;
	assert_true(t->nprobes < PROBES_MAX);
	t->probes[t->nprobes] = strdup(text);
	snprintf(replaced, sizeof(replaced), "%s", text);
	if (line)
		snprintf(replaced, sizeof(replaced), "%.*s%u%s", (int)(line - text), text, line_of(source, "/* LINE */"),
			 line + 4);
	if (hodo_spec_parse(&t->specs[t->nprobes], replaced, &why) != 0 ||
	    hodo_probe_resolve(p, &t->image, &t->specs[t->nprobes], &why) != 0)
		fail_msg("%s: %s", text, why.text);
	for (uint32_t i = 0; i < p->n; i++) {
		const struct hodo_probe_function *f = hodo_probe_function_at(&t->object, p->list[i].address);

		assert_non_null(f);
		if (!p->list[i].result)
			add_stop(t, p->list[i].address, &p->list[i]);
		for (uint32_t k = 0; p->list[i].result && k < f->nexits; k++)
			add_stop(t, t->object.exits[f->exit + k].addr, &p->list[i]);
	}
	t->nprobes++;
}

/* ---------------------------------------------------------------------- the process */

static void find_bias(struct fetched *t, const char *program)
{
	char path[64], line[PATH_MAX + 200], real[PATH_MAX];
	HODO_AUTO_FCLOSE FILE *f = NULL;

	assert_non_null(realpath(program, real));
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)t->pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (strstr(line, real)) {
			t->bias = strtoull(line, NULL, 16); /* the first segment begins at 0: it is a PIE */
			return;
		}
	fail_msg("%s is not mapped", real);
}

static long peek(const struct fetched *t, uint64_t address)
{
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, t->pid, (void *)(uintptr_t)address, NULL);
	assert_int_equal(errno, 0);
	return word;
}

static void poke_byte(const struct fetched *t, uint64_t address, uint8_t byte)
{
	uint64_t word = (uint64_t)peek(t, address);

	word = (word & ~UINT64_C(0xff)) | byte;
	assert_int_equal(ptrace(PTRACE_POKETEXT, t->pid, (void *)(uintptr_t)address, (void *)(uintptr_t)word), 0);
}

static uint8_t original(const struct fetched *t, uint64_t address)
{
	uint8_t byte;

	assert_int_equal(hodo_elf_read_at(&t->image.elf, address, &byte, 1), 0);
	return byte;
}

/* Waits until the process stops with SIGTRAP. False if it has exited with 0. */
static bool stopped(const struct fetched *t)
{
	int status;

	assert_int_equal(waitpid(t->pid, &status, 0), t->pid);
	if (WIFEXITED(status)) {
		assert_int_equal(WEXITSTATUS(status), 0);
		return false;
	}
	assert_true(WIFSTOPPED(status));
	assert_int_equal(WSTOPSIG(status), SIGTRAP);
	return true;
}

static void follow(struct fetched *t, struct hodo_text *found)
{
	for (uint32_t i = 0; i < t->nstops; i++)
		poke_byte(t, t->bias + t->stops[i].address, 0xcc);
	for (unsigned hits = 0; hits < HITS_MAX; hits++) {
		uint64_t at;

		assert_int_equal(ptrace(PTRACE_CONT, t->pid, NULL, NULL), 0);
		if (!stopped(t))
			return;
		assert_int_equal(ptrace(PTRACE_GETREGS, t->pid, NULL, &t->regs), 0);
		assert_int_equal(ptrace(PTRACE_GETFPREGS, t->pid, NULL, &t->vectors), 0);
		at = --t->regs.rip - t->bias;
		put_hits(t, at, found);
		assert_int_equal(ptrace(PTRACE_SETREGS, t->pid, NULL, &t->regs), 0);
		poke_byte(t, t->bias + at, original(t, at));
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, t->pid, NULL, NULL), 0);
		if (!stopped(t))
			return;
		poke_byte(t, t->bias + at, 0xcc);
	}
	fail_msg("more than %u hits", HITS_MAX);
}

static void start(struct fetched *t, const char *program)
{
	t->pid = fork();
	assert_true(t->pid >= 0);
	if (t->pid == 0) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		dup2(null, STDOUT_FILENO);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	assert_true(stopped(t));
	ptrace(PTRACE_SETOPTIONS, t->pid, NULL, (void *)PTRACE_O_EXITKILL);
	find_bias(t, program);
}

static void finish(struct fetched *t)
{
	for (uint32_t i = 0; i < t->nprobes; i++) {
		hodo_probe_points_free(&t->points[i]);
		hodo_spec_free(&t->specs[i]);
		free(t->probes[i]);
	}
	hodo_probe_object_close(&t->object);
	hodo_probe_image_close(&t->image);
	free(t);
}

void fetched_run(const char *program, const char *source, struct hodo_text *expected, struct hodo_text *found)
{
	struct fetched *t = calloc(1, sizeof(*t));
	enum hodo_probe_reason why;
	char line[4096];
	FILE *alone;

	assert_non_null(t);
	assert_int_equal(hodo_probe_image_open(&t->image, program, NULL), 0);
	assert_int_equal(hodo_probe_object_open(&t->object, &t->image.elf, &why), 0);
	alone = popen(program, "re");
	assert_non_null(alone);
	while (fgets(line, sizeof(line), alone)) {
		hodo_text_add(expected, line);
		line[strcspn(line, "\t")] = 0;
		add_probe(t, line, source);
	}
	assert_int_equal(pclose(alone), 0);
	start(t, program);
	follow(t, found);
	finish(t);
}
