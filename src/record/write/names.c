/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_word(unsigned char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

void hodo_name_file(char *to, size_t size, const char *s)
{
	size_t n = 0;

	for (; s[n] && n + 1 < size; n++) {
		unsigned char c = (unsigned char)s[n];
		bool plain = is_word(c) || c == '+' || c == '-' || (c == '.' && n > 0);

		to[n] = plain ? (char)c : '_';
	}
	if (n == 0 && size > 1)
		to[n++] = '_';
	if (size > 0)
		to[n] = 0;
}

void hodo_name_identifier(char *s, size_t size)
{
	size_t len = strlen(s);

	for (size_t i = 0; i < len; i++)
		if (!is_word((unsigned char)s[i]))
			s[i] = '_';
	if (len == 0 || (s[0] >= '0' && s[0] <= '9')) {
		if (len + 2 > size)
			len = size - 2;
		memmove(s + 1, s, len);
		s[0] = '_';
		s[len + 1] = 0;
	}
}

const char *hodo_user_name(uid_t uid, char *buffer, size_t size)
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(buffer, size, "%s", user->pw_name);
	else
		snprintf(buffer, size, "%u", (unsigned int)uid);
	return buffer;
}
