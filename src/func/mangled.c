/* SPDX-License-Identifier: MIT */
/*
 * mangled.c - see mangled.h. Names of the Itanium C++ ABI, chapter 5.1.
 *
 * Only the name of the function is written; types, template arguments and expressions are gone
 * through silently to find their end, what follows the name (the parameters) not at all. A name may refer back to
 * a part of itself ("substitution", S_, S0_, …): each part is kept as the place it stands at, and is gone through
 * once more to be written.
 */
#include "mangled_impl.h"

static bool prefix(struct hodo_mangled *m, const char *stop);

/* "[n]_" */
bool hodo_mangled_index(struct hodo_mangled *m)
{
	while (is_digit(peek(m)) || is_upper(peek(m)))
		m->p++;
	return take(m, '_');
}

/* ------------------------------------------------------------------------- writing */

static void put(struct hodo_mangled *m, const char *text, size_t len)
{
	if (m->quiet)
		return;
	for (size_t i = 0; i < len; i++, m->n++) {
		if (m->n + 1 < m->size)
			m->out[m->n] = text[i];
	}
}

/* Not a loop that the compiler would make a call of strlen, which the core has not. */
static size_t length(const char *text)
{
	size_t n = 0;

	for (; text[n]; n++)
		__asm__("" : "+r"(n));
	return n;
}

static void put_text(struct hodo_mangled *m, const char *text) { put(m, text, length(text)); }

/* A name, which a constructor after it would repeat. */
static void put_name(struct hodo_mangled *m, const char *text, size_t len)
{
	put(m, text, len);
	if (!m->quiet) {
		m->last = text;
		m->last_len = len;
	}
}

/* --------------------------------------------------------------------------- parts */

void hodo_mangled_add_part(struct hodo_mangled *m, const char *start, bool nested, bool is_name)
{
	if (m->replay)
		return;
	if (m->nparts < HODO_MANGLED_PARTS_MAX)
		m->part[m->nparts] = (struct hodo_mangled_part){ .start = (uint32_t)(start - m->text),
								 .end = (uint32_t)(m->p - m->text),
								 .nested = nested, .name = is_name };
	m->nparts++;
}

static bool write_part(struct hodo_mangled *m, size_t i)
{
	const char *p = m->p, *end = m->end;
	bool replay = m->replay, good;

	if (i >= m->nparts || i >= HODO_MANGLED_PARTS_MAX || !m->part[i].name || !enter(m))
		return false;
	m->replay = true;
	m->p = m->text + m->part[i].start;
	m->end = m->text + m->part[i].end;
	good = m->part[i].nested ? prefix(m, m->end) : hodo_mangled_full_name(m);
	m->p = p;
	m->end = end;
	m->replay = replay;
	return leave(m, good);
}

static const struct {
	char c;
	const char *space, *name;
} abbreviations[] = {
	{ 't', "", "std" },
	{ 'a', "std::", "allocator" },
	{ 'b', "std::", "basic_string" },
	{ 's', "std::", "basic_string" },
	{ 'i', "std::", "basic_istream" },
	{ 'o', "std::", "basic_ostream" },
	{ 'd', "std::", "basic_iostream" },
};

bool hodo_mangled_substitution(struct hodo_mangled *m)
{
	size_t i = 0;

	if (!take(m, 'S'))
		return false;
	for (size_t k = 0; k < sizeof(abbreviations) / sizeof(abbreviations[0]); k++) {
		if (!take(m, abbreviations[k].c))
			continue;
		put_text(m, abbreviations[k].space);
		put_name(m, abbreviations[k].name, length(abbreviations[k].name));
		return true;
	}
	if (!take(m, '_')) {
		for (; is_digit(peek(m)) || is_upper(peek(m)); m->p++) {
			i = i * 36 + (size_t)(is_digit(peek(m)) ? peek(m) - '0' : peek(m) - 'A' + 10);
			if (i > HODO_MANGLED_TEXT_MAX)
				return false;
		}
		if (!take(m, '_'))
			return false;
		i++;
	}
	return m->quiet || write_part(m, i);
}

/* ------------------------------------------------------------------ unqualified names */

struct operator {
	char code[3];
	uint8_t operands; /* in expressions; 0: not a plain one there */
	const char *text;
};
static const struct operator operators[] = {
	{ "nw", 0, " new" }, { "na", 0, " new[]" }, { "dl", 1, " delete" }, { "da", 1, " delete[]" },
	{ "aw", 1, " co_await" }, { "ps", 1, "+" }, { "ng", 1, "-" }, { "ad", 1, "&" }, { "de", 1, "*" },
	{ "co", 1, "~" }, { "pl", 2, "+" }, { "mi", 2, "-" }, { "ml", 2, "*" }, { "dv", 2, "/" }, { "rm", 2, "%" },
	{ "an", 2, "&" }, { "or", 2, "|" }, { "eo", 2, "^" }, { "aS", 2, "=" }, { "pL", 2, "+=" },
	{ "mI", 2, "-=" }, { "mL", 2, "*=" }, { "dV", 2, "/=" }, { "rM", 2, "%=" }, { "aN", 2, "&=" },
	{ "oR", 2, "|=" }, { "eO", 2, "^=" }, { "ls", 2, "<<" }, { "rs", 2, ">>" }, { "lS", 2, "<<=" },
	{ "rS", 2, ">>=" }, { "eq", 2, "==" }, { "ne", 2, "!=" }, { "lt", 2, "<" }, { "gt", 2, ">" },
	{ "le", 2, "<=" }, { "ge", 2, ">=" }, { "ss", 2, "<=>" }, { "nt", 1, "!" }, { "aa", 2, "&&" },
	{ "oo", 2, "||" }, { "pp", 1, "++" }, { "mm", 1, "--" }, { "cm", 2, "," }, { "pm", 2, "->*" },
	{ "pt", 0, "->" }, { "cl", 0, "()" }, { "ix", 2, "[]" }, { "qu", 3, "?" }, { "dt", 0, "." },
	{ "ds", 2, ".*" }, { "sz", 1, "" }, { "az", 1, "" }, { "nx", 1, "" }, { "tw", 1, "" }, { "te", 1, "" },
};

int hodo_mangled_operands(const struct hodo_mangled *m)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		if (operators[i].code[0] == peek(m) &&
		    operators[i].code[1] == peek_at(m, 1) && operators[i].operands)
			return operators[i].operands;
	}
	return -1;
}

static const struct operator *find_operator(const struct hodo_mangled *m)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
		if (operators[i].code[0] == peek(m) && operators[i].code[1] == peek_at(m, 1))
			return &operators[i];
	}
	return 0;
}

bool hodo_mangled_source_name(struct hodo_mangled *m)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t len;
	const char *p;

	if (!number(m, &len) || len == 0 || len > (size_t)(m->end - m->p))
		return false;
	p = m->p;
	m->p += len;
	if (len >= 10 && p[0] == '_' && p[1] == 'G' && p[2] == 'L' && p[3] == 'O' && p[8] == '_' && p[9] == 'N')
		put_name(m, anonymous, sizeof(anonymous) - 1);
	else
		put_name(m, p, len);
	return true;
}

static bool silently(struct hodo_mangled *m, bool (*rule)(struct hodo_mangled *m))
{
	bool good;

	m->quiet++;
	good = rule(m);
	m->quiet--;
	return good;
}

static bool operator_name(struct hodo_mangled *m)
{
	const struct operator *op;

	if (take2(m, 'c', 'v')) {
		put_name(m, "operator", 8);
		return silently(m, hodo_mangled_type);
	}
	if (take2(m, 'l', 'i')) {
		put_text(m, "operator\"\"");
		return hodo_mangled_source_name(m);
	}
	if (peek(m) == 'v' && is_digit(peek_at(m, 1))) {
		m->p += 2;
		put_text(m, "operator ");
		return hodo_mangled_source_name(m);
	}
	op = find_operator(m);
	if (!op || !*op->text)
		return false;
	m->p += 2;
	put_text(m, "operator");
	put_text(m, op->text);
	return true;
}

/* C1, D0, CI1 type. It repeats the name before it. */
static bool structor(struct hodo_mangled *m)
{
	bool inherits, destructor = peek(m) == 'D';

	m->p++;
	inherits = !destructor && take(m, 'I');
	if (peek(m) < '0' || peek(m) > '5')
		return false;
	m->p++;
	if (inherits && !silently(m, hodo_mangled_type))
		return false;
	if (destructor)
		put_text(m, "~");
	put(m, m->last, m->last_len);
	return true;
}

static bool lambda_types(struct hodo_mangled *m) { return hodo_mangled_types(m, 'E'); }

static bool unnamed(struct hodo_mangled *m)
{
	if (take2(m, 'U', 't')) {
		put_name(m, "{unnamed}", 9);
		return hodo_mangled_index(m);
	}
	if (!take2(m, 'U', 'l') || !silently(m, lambda_types))
		return false;
	put_name(m, "{lambda}", 8);
	return hodo_mangled_index(m);
}

static bool tags(struct hodo_mangled *m)
{
	while (take(m, 'B')) {
		if (!silently(m, hodo_mangled_source_name))
			return false;
	}
	return true;
}

/* DC name… E: the variables of a structured binding. */
static bool binding(struct hodo_mangled *m)
{
	m->p += 2;
	put_name(m, "{binding}", 9);
	while (!take(m, 'E')) {
		if (!silently(m, hodo_mangled_source_name))
			return false;
	}
	return true;
}

bool hodo_mangled_unqualified(struct hodo_mangled *m)
{
	bool good;
	char c;

	while (take(m, 'W')) { /* of a module */
		take(m, 'P');
		if (!silently(m, hodo_mangled_source_name))
			return false;
	}
	take(m, 'F');
	take(m, 'L');
	c = peek(m);
	if (is_digit(c))
		good = hodo_mangled_source_name(m);
	else if (c == 'U')
		good = unnamed(m);
	else if (c == 'D' && peek_at(m, 1) == 'C')
		good = binding(m);
	else if (c == 'C' || c == 'D')
		good = structor(m);
	else
		good = is_lower(c) && operator_name(m);
	return good && tags(m);
}

/* ------------------------------------------------------------------------------ names */

/* What stands at a place of a qualified name. *plain: it is no part of its own ("St", S_). */
static bool component(struct hodo_mangled *m, bool first, bool *plain)
{
	char c = peek(m);

	*plain = false;
	if (first && c == 'S') {
		*plain = true;
		return hodo_mangled_substitution(m);
	}
	if (first && (c == 'T' || (c == 'D' && (peek_at(m, 1) == 't' || peek_at(m, 1) == 'T')))) {
		*plain = true;
		return m->quiet && hodo_mangled_type(m); /* not a name */
	}
	if (c == 'S' || c == 'T' || c == 'E')
		return false;
	if (!first)
		put_text(m, "::");
	return hodo_mangled_unqualified(m);
}

/* Components up to stop, or (stop NULL) to the E that ends them, which is taken. Each but the last is a part. */
static bool prefix(struct hodo_mangled *m, const char *stop)
{
	const char *start = m->p;
	bool plain;

	if (!enter(m))
		return false;
	for (bool first = true;; first = false) {
		if (!first && peek(m) == 'I') {
			if (!silently(m, hodo_mangled_template_args))
				return leave(m, false);
			plain = false;
		} else if (!component(m, first, &plain)) {
			return leave(m, false);
		}
		take(m, 'M'); /* of a member that a lambda initialises */
		if (stop ? m->p >= stop : take(m, 'E'))
			return leave(m, stop ? m->p == stop : true);
		if (!plain)
			hodo_mangled_add_part(m, start, true, true);
	}
}

static bool nested_name(struct hodo_mangled *m)
{
	m->p++;
	take(m, 'H');
	while (peek(m) == 'r' || peek(m) == 'V' || peek(m) == 'K')
		m->p++;
	if (peek(m) == 'R' || peek(m) == 'O')
		m->p++;
	return prefix(m, 0);
}

/* _n, __n_ */
static bool discriminator(struct hodo_mangled *m)
{
	if (peek(m) != '_' || (!is_digit(peek_at(m, 1)) && peek_at(m, 1) != '_'))
		return true;
	m->p++;
	if (!take(m, '_')) {
		m->p++;
		return true;
	}
	while (is_digit(peek(m)))
		m->p++;
	return take(m, '_');
}

static bool local_name(struct hodo_mangled *m)
{
	m->p++;
	if (!hodo_mangled_encoding(m) || !take(m, 'E'))
		return false;
	put_text(m, "::");
	if (take(m, 's')) {
		put_name(m, "{string}", 8);
		return discriminator(m);
	}
	if (take(m, 'd')) {
		if (!hodo_mangled_index(m))
			return false;
		put_text(m, "{default arg}::");
		return hodo_mangled_full_name(m);
	}
	return hodo_mangled_full_name(m) && discriminator(m);
}

/* With the template arguments behind it. */
static bool name_here(struct hodo_mangled *m)
{
	const char *start = m->p;
	char c = peek(m);
	bool part = true;

	if (c == 'N')
		return nested_name(m);
	if (c == 'Z')
		return local_name(m);
	if (c == 'S' && peek_at(m, 1) == 't') {
		m->p += 2;
		put_text(m, "std::");
		if (!hodo_mangled_unqualified(m))
			return false;
	} else if (c == 'S') {
		part = false;
		if (!hodo_mangled_substitution(m))
			return false;
	} else if (!hodo_mangled_unqualified(m)) {
		return false;
	}
	if (peek(m) != 'I')
		return true;
	if (part)
		hodo_mangled_add_part(m, start, false, true);
	return silently(m, hodo_mangled_template_args);
}

bool hodo_mangled_full_name(struct hodo_mangled *m)
{
	return enter(m) && leave(m, name_here(m));
}

/* A function with its types, or data, within a name: up to the E behind it, which stays. */
static bool encoding_here(struct hodo_mangled *m)
{
	bool good = true;

	if (peek(m) == 'T' || (peek(m) == 'G' && peek_at(m, 1) != 0))
		return false;
	if (!hodo_mangled_full_name(m))
		return false;
	m->quiet++;
	while (good && peek(m) != 'E' && peek(m) != 0)
		good = take(m, 'Q') ? hodo_mangled_expression(m) : hodo_mangled_type(m);
	m->quiet--;
	return good;
}

bool hodo_mangled_encoding(struct hodo_mangled *m)
{
	return enter(m) && leave(m, encoding_here(m));
}

/* -------------------------------------------------------------------------- the whole */

static bool is_word(const char *p, const char *end, const char *word)
{
	size_t n = length(word);

	if ((size_t)(end - p) < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (p[i] != word[i])
			return false;
	}
	return (size_t)(end - p) == n || p[n] == '.';
}

/* ".cold", ".part.0", ".isra.0.cold", …: what compilers append to the names of a function's parts and copies. */
static bool is_suffix(const char *p, const char *end)
{
	static const char *const words[] = { "cold", "part", "isra", "constprop", "lto_priv", "llvm", "localalias",
					     "actor", "destroy", "resume", "cleanup", "clone", "warm", "__uniq" };
	bool known = false;

	for (; p < end; known = true) {
		bool word = false;

		p++;
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !word; i++)
			word = is_word(p, end, words[i]);
		while (p < end && *p != '.') {
			word = word || (known && is_digit(*p));
			p++;
		}
		if (!word)
			return false;
	}
	return true;
}

static const char *without_suffix(const char *text, const char *end)
{
	for (const char *p = text + 1; p < end; p++) {
		if (*p == '.' && is_suffix(p, end))
			return p;
	}
	return end;
}

static bool is_hash(const char *p)
{
	if (p[0] != '1' || p[1] != '7' || p[2] != 'h')
		return false;
	for (int i = 3; i < 19; i++) {
		if (!is_digit(p[i]) && !(p[i] >= 'a' && p[i] <= 'f'))
			return false;
	}
	return p[19] == 'E';
}

/* Rust's names of old end with a component "h" and a hash. */
static void cut_hash(struct hodo_mangled *m)
{
	if (m->end - m->text > 24 && m->text[2] == 'N' && is_hash(m->end - 20) && m->n > 19)
		m->n -= 19;
}

size_t hodo_mangled_name(const char *mangled, char *out, size_t size)
{
	const char *end = mangled;
	struct hodo_mangled m;
	bool good = false;

	end += length(mangled);
	m.text = mangled;
	m.end = without_suffix(mangled, end);
	m.p = mangled;
	m.out = out;
	m.size = size;
	m.n = m.last_len = 0;
	m.quiet = m.depth = m.steps = m.nparts = 0;
	m.replay = false;
	m.last = mangled;
	if (end - mangled <= HODO_MANGLED_TEXT_MAX && take2(&m, '_', 'Z') && peek(&m) != 'T' &&
	    peek(&m) != 'G')
		good = hodo_mangled_full_name(&m) && m.n > 0;
	if (good) {
		cut_hash(&m);
	} else {
		if (mangled[0] == '_' && mangled[1] == 'Z')
			m.end = end;
		m.n = 0;
		put(&m, mangled, (size_t)(m.end - mangled));
	}
	if (size)
		out[m.n < size ? m.n : size - 1] = 0;
	return m.n;
}
