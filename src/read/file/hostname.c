/* SPDX-License-Identifier: MIT */
/*
 * hostname.c - the host's name, which stands in CTF's own words alone: a line of its env block. What is quoted there
 * has a backslash before " and itself.
 */
#include <read/read_impl.h>

void hodo_read_hostname(struct hodo_trace *t, char *line, char *eol)
{
	static const char begin[] = "\thostname = \"";
	char *out, *from = line + sizeof(begin) - 1;

	if (t->pub.hostname || eol < from || memcmp(line, begin, sizeof(begin) - 1) != 0)
		return;
	out = from;
	t->pub.hostname = out;
	for (; from < eol && *from && *from != '"'; from++) {
		if (*from == '\\' && from + 1 < eol)
			from++;
		*out++ = *from;
	}
	*out = 0;
}
