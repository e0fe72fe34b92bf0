/* SPDX-License-Identifier: MIT */
/* parts.c - suffixes that compilers give to a function's parts and clones. */
#include "internal.h"

/* f.cold (gcc; .cold.N: clang), f.part.0, f.isra.0, f.constprop.0, f.lto_priv.0 … */
static const char *const numbered[] = { "cold",	  "part", "isra", "constprop",	"lto_priv",
					"clone", "llvm", "__uniq", "localalias" };
static const char *const bare[] = { "cold", "warm", "localalias" };
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool is_word(const char *s, size_t len, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(words[i]) == len && memcmp(words[i], s, len) == 0)
			return true;
	return false;
}

/* Where the word behind the last dot before end begins; 0: there is no dot, or nothing before it. */
static size_t last_word(const char *name, size_t end)
{
	const char *dot = memrchr(name, '.', end);

	return dot && dot > name ? (size_t)(dot - name) + 1 : 0;
}

size_t hodo_sym_without_suffix(const char *name, size_t len)
{
	size_t word = last_word(name, len), end = len;
	bool number;

	if (!word || word == len)
		return len;
	number = strspn(name + word, "0123456789") >= len - word;
	if (!number)
		return is_word(name + word, len - word, bare, COUNT(bare)) ? word - 1 : len;
	end = word - 1;
	word = last_word(name, end);
	return word && is_word(name + word, end - word, numbered, COUNT(numbered)) ? word - 1 : len;
}

size_t hodo_sym_whole_name(const char *name)
{
	size_t len = strlen(name), next;

	while ((next = hodo_sym_without_suffix(name, len)) < len)
		len = next;
	return len;
}
