/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* function_pattern.c - takes patterns of functions apart. */
#include "function_pattern.h"

#include "bounded_text.h"
#include "glob.h"

size_t hodo_function_file(const char *text, size_t len)
{
	static const char word[] = "operator";
	size_t at = 0, n = sizeof(word) - 1;

	while (at < len && text[at] != '!')
		at++;
	return at >= n && __builtin_memcmp(text + at - n, word, n) == 0 ? len : at;
}

/* The first single colon: C++'s come in pairs, or are in ABI tags. len: none. */
static size_t find_colon(const char *text, size_t len)
{
	for (size_t i = 0, n; i < len; i += n ? n : 1) {
		n = text[i] == ':' ? 2 : text[i] == '[' ? hodo_glob_tag(text + i, len - i) : 1;
		if (text[i] == ':' && (i + 1 == len || text[i + 1] != ':'))
			return i;
	}
	return len;
}

/* "0x…" at the text's start. Its length; 0: no number, or too large. */
static size_t take_address(const char *text, size_t len, uint64_t *value)
{
	size_t i = 2;

	*value = 0;
	if (len < 3 || text[0] != '0' || (text[1] | 32) != 'x')
		return 0;
	for (; i < len; i++) {
		char c = text[i] >= '0' && text[i] <= '9' ? text[i] : (char)(text[i] | 32);

		if (c < '0' || c > 'f' || (c > '9' && c < 'a'))
			break;
		if (*value >> 60)
			return 0;
		*value = *value << 4 | (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return i > 2 ? i : 0;
}

bool hodo_function_pattern(struct hodo_function_pattern *p, const char *text, size_t len)
{
	size_t n;

	*p = (struct hodo_function_pattern){ .without = len && *text == '!' };
	text += p->without;
	len -= p->without;
	n = hodo_function_file(text, len);
	if (n < len) {
		p->file = text;
		p->file_len = n;
		text += n + 1;
		len -= n + 1;
	}
	if (len > 1 && text[0] == '0' && (text[1] | 32) == 'x') {
		n = take_address(text, len, &p->low);
		return n && n < len && text[n] == '-' &&
		       take_address(text + n + 1, len - n - 1, &p->high) == len - n - 1 && p->low < p->high;
	}
	n = find_colon(text, len);
	if (n < len) {
		p->source = text;
		p->source_len = n;
	}
	p->glob = n < len ? text + n + 1 : text;
	return len;
}

static bool is_name(const char *text, size_t len, const char *name)
{
	size_t n = hodo_bounded_len(name);

	return hodo_glob(text, len, name, n) || (n > len && __builtin_memcmp(name, text, len) == 0 && name[len] == '.');
}

bool hodo_function_file_is(const char *text, size_t len, const char *path, const char *soname)
{
	size_t n = hodo_bounded_len(path), at = n;

	while (at && path[at - 1] != '/')
		at--;
	return (n == len && __builtin_memcmp(path, text, len) == 0) || is_name(text, len, path + at) ||
	       (*soname && is_name(text, len, soname));
}
