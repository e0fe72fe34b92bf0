/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* symbol_name.c - see symbol_name.h. */
#include "symbol_name.h"

#include "bounded_text.h"

#define CONVERSIONS_MAX 10u /* 2^n times as long for libiberty */

enum { TYPE_NONE = 0, BIND_GLOBAL = 1, BIND_WEAK = 2 }; /* STT_NOTYPE, STB_GLOBAL, STB_WEAK */

/* f.cold (gcc; .cold.N: clang), f.part.0, f.isra.0, f.constprop.0, f.lto_priv.0 … */
static const struct {
	const char *word;
	bool numbered, bare;
} suffixes[] = {
	{ "cold", true, true },	     { "part", true, false },	   { "isra", true, false },
	{ "constprop", true, false }, { "lto_priv", true, false },  { "clone", true, false },
	{ "llvm", true, false },      { "__uniq", true, false },    { "localalias", true, true },
	{ "warm", false, true },
};

static bool is_suffix(const char *s, size_t len, bool numbered)
{
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const char *word = suffixes[i].word;
		size_t n = 0;

		while (n < len && word[n] && word[n] == s[n])
			n++;
		if (n == len && !word[n])
			return numbered ? suffixes[i].numbered : suffixes[i].bare;
	}
	return false;
}

/* Where the word after the last dot before end begins; 0: there is no dot, or nothing precedes it. */
static size_t last_word(const char *name, size_t end)
{
	while (end > 0 && name[end - 1] != '.')
		end--;
	return end > 1 ? end : 0;
}

size_t hodo_symbol_without_suffix(const char *name, size_t len)
{
	size_t word = last_word(name, len), end = len;

	if (!word || word == len)
		return len;
	while (end > word && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	if (end > word)
		return is_suffix(name + word, len - word, false) ? word - 1 : len;
	end = word - 1;
	word = last_word(name, end);
	return word && is_suffix(name + word, end - word, true) ? word - 1 : len;
}

size_t hodo_symbol_whole_name(const char *name)
{
	size_t len = hodo_bounded_len(name), next;

	while ((next = hodo_symbol_without_suffix(name, len)) < len)
		len = next;
	return len;
}

bool hodo_symbol_demangles(const char *name)
{
	bool converts = false, parameter = false;
	unsigned arguments = 0;

	for (; *name; name++) {
		converts = converts || (name[0] == 'c' && name[1] == 'v');
		arguments += parameter && name[0] == '_' && name[1] == 'I';
		parameter = *name == 'T' ||
			    (parameter && ((*name >= '0' && *name <= '9') || (*name >= 'A' && *name <= 'Z')));
	}
	return !converts || arguments <= CONVERSIONS_MAX;
}

uint32_t hodo_symbol_rank(const char *name, unsigned type, unsigned binding, uint64_t size)
{
	uint32_t underscores = 0, rank = type == TYPE_NONE;
	size_t len = hodo_bounded_len(name);

	if (name[0] != '_' || name[1] != 'Z')
		while (underscores < 7 && name[underscores] == '_')
			underscores++;
	rank = rank << 1 | (hodo_symbol_without_suffix(name, len) != len);
	rank = rank << 3 | underscores;
	rank = rank << 2 | (binding == BIND_GLOBAL ? 0u : binding == BIND_WEAK ? 1u : 2u);
	return rank << 1 | (size == 0);
}
