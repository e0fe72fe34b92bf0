/* SPDX-License-Identifier: MIT */
#include "url.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

bool hodo_http_is(const char *word)
{
	size_t scheme = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");

	return scheme > 0 && strncmp(word + scheme, "://", 3) == 0;
}

/* Behind the name or address of a host: nothing, or a number that a port can have. */
static bool is_port_valid(const char *url, size_t scheme)
{
	const char *host = url + scheme, *end = host + strcspn(host, "/?#");
	const char *at = memrchr(host, '@', (size_t)(end - host)), *colon;
	uint64_t port = 0;

	host = at ? at + 1 : host;
	if (*host == '[')
		host += strcspn(host, "]/?#");
	colon = memchr(host, ':', (size_t)(end - host));
	if (!colon || colon + 1 == end)
		return true;
	for (const char *p = colon + 1; p < end; p++) {
		if (*p < '0' || *p > '9' || port > 65535)
			return false;
		port = port * 10 + (uint64_t)(*p - '0');
	}
	return port > 0 && port <= 65535;
}

bool hodo_http_url_valid(const char *url)
{
	size_t scheme = strncasecmp(url, "http://", 7) == 0 ? 7 : strncasecmp(url, "https://", 8) == 0 ? 8 : 0;

	if (!scheme || !url[scheme] || url[scheme] == '/')
		return false;
	for (const char *p = url; *p; p++)
		if ((uint8_t)*p <= ' ' || *p == 0x7f || strchr("\"<>\\^`{|}", *p))
			return false;
	return is_port_valid(url, scheme);
}

void hodo_http_url_plain(const char *url, char *to)
{
	const char *host = strstr(url, "://"), *end, *at;

	host = host ? host + 3 : url;
	end = host + strcspn(host, "/?#");
	at = memrchr(host, '@', (size_t)(end - host));
	at = at ? at + 1 : host;
	memcpy(to, url, (size_t)(host - url));
	strcpy(to + (host - url), at);
}
