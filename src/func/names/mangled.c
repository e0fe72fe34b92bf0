/* SPDX-License-Identifier: MIT */
/*
 * mangled.c - shortens the names of C++ functions. libiberty's demangler parses a name into a tree, of which we write
 * the parts that form the function's name (cmake/HodoDemangler.cmake: how it gets into a traced program).
 *
 * For hodo_mangled_text(), libiberty writes the whole name, of which we keep what fits.
 *
 * libiberty recurses for each byte of a name, and allocates memory. It must not use the program's stack,
 * which may be small, nor its malloc(), which may be traced: both are in our own mapping.
 */
#define cplus_demangle_v3_components hodo_demangler_components
#define cplus_demangle_print_callback hodo_demangler_print
#include <libiberty/demangle.h>
#include <sys/mman.h>
#include <core/symbol_name.h>
#include <user/libc/sys.h>
#include "mangled.h"

#define NAME_MAX_BYTES (1u << 17) /* longer ones stay as they are */
#define STEPS_MAX 200000u         /* parts written, for one name: they may refer to each other */
#define STACK_BASE (64u << 10)    /* besides what grows with the name; also for a signal handler */
#define STACK_PER_BYTE 512u       /* libiberty needs 150, of any name (test_limits finds more) */
#define TEXT_MANGLED_MAX 1024u    /* for the whole text: libiberty needs stack quadratic in it */
#define TEXT_STACK (16u << 20)    /* twice what TEXT_MANGLED_MAX bytes need; only used pages take memory */
#define MEMORY_PER_BYTE 128u      /* libiberty needs 72: two components and a reference */

/* A guard page, the stack, libiberty's memory. */
static struct {
	char *mapping, *memory, *next, *end;
} room;

/* Replaces libc's function. All of libiberty's memory is freed with the name. */
HODO_HIDDEN void *hodo_demangler_malloc(size_t bytes);
HODO_HIDDEN void *hodo_demangler_realloc(void *p, size_t bytes);
HODO_HIDDEN void hodo_demangler_free(void *p);
/* sprintf(), as hardened libraries call it. */
HODO_HIDDEN int hodo_demangler_sprintf(char *to, int flag, size_t room, const char *format, int number);

void *hodo_demangler_malloc(size_t bytes)
{
	char *p = room.next;

	if (bytes > (size_t)(room.end - p))
		return 0;
	room.next += (bytes + 15) & ~(size_t)15;
	return p;
}

void *hodo_demangler_realloc(void *p, size_t bytes)
{
	return 0;
}

void hodo_demangler_free(void *p)
{
}

/* The demangler only uses the format "%d", to number unnamed entities. Its buffer has 25 bytes. */
int hodo_demangler_sprintf(char *to, int flag, size_t room, const char *format, int number)
{
	unsigned left = number < 0 ? -(unsigned)number : (unsigned)number;
	int n = number < 0, end;

	to[0] = '-';
	for (unsigned k = left; k >= 10; k /= 10)
		n++;
	end = ++n;
	to[end] = 0;
	do
		to[--n] = (char)('0' + left % 10);
	while ((left /= 10) > 0);
	return end;
}

static bool make_room(size_t len, size_t more)
{
	size_t stack = (STACK_BASE + STACK_PER_BYTE * len + more) & -(size_t)HODO_PAGE;
	size_t bytes = (HODO_PAGE + stack + MEMORY_PER_BYTE * (len + 1) + HODO_PAGE - 1) & -(size_t)HODO_PAGE;

	if (bytes > (size_t)(room.end - room.mapping)) {
		hodo_mangled_done();
		room.mapping = hodo_map(bytes);
		if (!room.mapping)
			return false;
		hodo_sys3(SYS_mprotect, room.mapping, HODO_PAGE, PROT_NONE);
		room.memory = room.mapping + HODO_PAGE + stack;
		room.end = room.mapping + bytes;
	}
	room.next = room.memory;
	return true;
}

void hodo_mangled_done(void)
{
	if (room.mapping)
		hodo_sys2(SYS_munmap, room.mapping, room.end - room.mapping);
	__builtin_memset(&room, 0, sizeof(room));
}

/* ------------------------------------------------------------------------- writing */

struct name {
	const char *mangled;
	char *out;
	size_t size, n;
	const char *last; /* component that a constructor repeats */
	size_t last_len;
	unsigned steps;
	bool good;
};

static void put(const char *text, size_t len, void *name)
{
	struct name *to = name;

	for (size_t i = 0; i < len; i++, to->n++) {
		if (to->n + 1 < to->size)
			to->out[to->n] = text[i];
	}
}

static bool put_text(struct name *to, const char *text)
{
	put(text, __builtin_strlen(text), to);
	return true;
}

static bool put_component(struct name *to, const char *text, size_t len)
{
	to->last = text;
	to->last_len = len;
	put(text, len, to);
	return true;
}

/* "std", or "std::basic_string<char, …>", after which a constructor's name is "basic_string". */
static bool put_abbreviation(struct name *to, const char *text, size_t len)
{
	const char *arguments = __builtin_memchr(text, '<', len);
	size_t front;

	len = arguments ? (size_t)(arguments - text) : len;
	front = len > 5 ? 5 : 0;
	put(text, front, to);
	return put_component(to, text + front, len - front);
}

/* false: it is no name. */
static bool write_part(struct name *to, const struct demangle_component *c)
{
	if (!c || to->steps == STEPS_MAX)
		return false;
	to->steps++;
	switch (c->type) {
	case DEMANGLE_COMPONENT_NAME:
		return put_component(to, c->u.s_name.s, (size_t)c->u.s_name.len);
	case DEMANGLE_COMPONENT_SUB_STD:
		return put_abbreviation(to, c->u.s_string.string, (size_t)c->u.s_string.len);
	case DEMANGLE_COMPONENT_QUAL_NAME:
	case DEMANGLE_COMPONENT_LOCAL_NAME:
		return write_part(to, c->u.s_binary.left) && put_text(to, "::") &&
		       write_part(to, c->u.s_binary.right);
	case DEMANGLE_COMPONENT_DTOR:
		put_text(to, "~");
		__attribute__((__fallthrough__));
	case DEMANGLE_COMPONENT_CTOR:
		put(to->last, to->last_len, to);
		return to->last_len > 0;
	case DEMANGLE_COMPONENT_OPERATOR:
		return cplus_demangle_print_callback(0, (struct demangle_component *)c, put, to);
	case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
		return put_text(to, "operator ") && write_part(to, c->u.s_extended_operator.name);
	case DEMANGLE_COMPONENT_UNARY: /* of a literal's suffix */
		return put_text(to, "operator\"\"") && write_part(to, c->u.s_binary.right);
	case DEMANGLE_COMPONENT_CONVERSION:
		return put_text(to, "operator");
	case DEMANGLE_COMPONENT_LAMBDA:
		return put_component(to, "{lambda}", 8);
	case DEMANGLE_COMPONENT_UNNAMED_TYPE:
		return put_component(to, "{unnamed}", 9);
	case DEMANGLE_COMPONENT_DEFAULT_ARG:
		return put_text(to, "{default arg}::") && write_part(to, c->u.s_unary_num.sub);
	case DEMANGLE_COMPONENT_TYPED_NAME:
	case DEMANGLE_COMPONENT_TEMPLATE:
	case DEMANGLE_COMPONENT_TAGGED_NAME:
	case DEMANGLE_COMPONENT_MODULE_ENTITY:
	case DEMANGLE_COMPONENT_RESTRICT_THIS:
	case DEMANGLE_COMPONENT_VOLATILE_THIS:
	case DEMANGLE_COMPONENT_CONST_THIS:
	case DEMANGLE_COMPONENT_REFERENCE_THIS:
	case DEMANGLE_COMPONENT_RVALUE_REFERENCE_THIS:
		return write_part(to, c->u.s_binary.left);
	default:
		return false;
	}
}

/* Without DMGL_PARAMS, it ignores what follows the name. */
static void demangle(void *name)
{
	struct name *to = name;
	void *memory;
	const struct demangle_component *tree =
		cplus_demangle_v3_components(to->mangled, DMGL_VERBOSE | DMGL_NO_RECURSE_LIMIT, &memory);

	to->good = write_part(to, tree) && to->n > 0;
}

/* Rust's legacy names end with a component "h" and a hash: "::h0123456789abcdef". */
static bool has_hash(const char *end)
{
	if (end[-20] != '1' || end[-19] != '7' || end[-18] != 'h' || end[-1] != 'E')
		return false;
	for (int i = -17; i < -1; i++) {
		if (!(end[i] >= '0' && end[i] <= '9') && !(end[i] >= 'a' && end[i] <= 'f'))
			return false;
	}
	return true;
}

size_t hodo_mangled_name(const char *mangled, char *out, size_t size)
{
	struct name name = { .mangled = mangled, .out = out, .size = size };
	size_t len = __builtin_strlen(mangled), whole = hodo_symbol_whole_name(mangled);
	bool is_mangled = mangled[0] == '_' && mangled[1] == 'Z';

	/* Not virtual tables and the like, which are not functions. */
	if (is_mangled && mangled[2] != 'T' && mangled[2] != 'G' && len <= NAME_MAX_BYTES &&
	    hodo_symbol_demangles(mangled) && make_room(len, 0))
		hodo_x86_on_stack(demangle, &name, room.memory);
	if (!name.good) {
		name.n = 0;
		put(mangled, is_mangled ? len : whole, &name);
	} else if (mangled[2] == 'N' && whole > 24 && name.n > 19 && has_hash(mangled + whole)) {
		name.n -= 19;
	}
	if (size)
		out[name.n < size ? name.n : size - 1] = 0;
	return name.n;
}

/* ------------------------------------------------------------------------ the whole */

struct text {
	const char *mangled;
	struct hodo_mangled_texts *to;
	bool parameters;
	void *too_long[5]; /* of __builtin_setjmp() */
};

/* A name of a few bytes can expand to gigabytes, as each template may name the previous one twice. We leave
 * that by a longjmp, which is safe since libiberty holds nothing but the stack. */
static void take(const char *piece, size_t len, void *opaque)
{
	struct text *t = opaque;

	if (len >= sizeof(t->to->full) - t->to->full_len)
		__builtin_longjmp(t->too_long, 1);
	for (size_t i = 0; i < len; i++)
		t->to->full[t->to->full_len++] = piece[i];
}

static void write_text(void *text)
{
	struct text *t = text;
	struct hodo_mangled_texts *to = t->to;
	int options = DMGL_ANSI | (t->parameters ? DMGL_PARAMS : 0);
	struct demangle_component *tree;
	void *memory;

	to->full_len = to->brief_len = 0;
	if (__builtin_setjmp(t->too_long) != 0) {
		to->full_len = 0;
		return;
	}
	tree = cplus_demangle_v3_components(t->mangled, options, &memory);
	if (!tree || !cplus_demangle_print_callback(options, tree, take, t))
		to->full_len = 0;
	to->brief_len = hodo_brief_name(to->full, to->full_len, to->brief);
}

bool hodo_mangled_text(const char *mangled, bool parameters, struct hodo_mangled_texts *to)
{
	struct text text = { .to = to, .parameters = parameters };
	size_t len = hodo_symbol_whole_name(mangled);

	to->full_len = to->brief_len = 0;
	if (mangled[0] != '_' || mangled[1] != 'Z' || mangled[2] == 'T' || mangled[2] == 'G' || len > TEXT_MANGLED_MAX)
		return false;
	/* A clone is shown as the function. The short form, which is written last, has room for the copy. */
	text.mangled = __builtin_memcpy(to->brief, mangled, len);
	to->brief[len] = 0;
	if (hodo_symbol_demangles(text.mangled) && make_room(len, TEXT_STACK))
		hodo_x86_on_stack(write_text, &text, room.memory);
	return to->full_len > 0;
}
