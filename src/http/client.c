/* SPDX-License-Identifier: MIT */
#include "client_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_SECONDS 30l
#define STALLED_SECONDS 90l /* a server of debuginfod may have to unpack an archive first */
#define SCHEMES         "http,https"

bool hodo_http_header_valid(const char *header)
{
	static const char token[] = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	size_t name = strspn(header, token);

	if (name == 0 || header[name] != ':')
		return false;
	for (const char *p = header + name + 1; *p; p++)
		if (((uint8_t)*p < ' ' && *p != '\t') || *p == 0x7f)
			return false;
	return true;
}

static int watch(void *data, curl_off_t get_all, curl_off_t got, curl_off_t put_all, curl_off_t put)
{
	const struct hodo_http_options *o = &((struct hodo_http *)data)->options;

	if (o->progress)
		o->progress(o->data, (uint64_t)(got + put), (uint64_t)(get_all + put_all));
	return o->stop && *o->stop;
}

void http_client_prepare(struct hodo_http *http, const char *url)
{
	http_library.easy_reset(http->easy);
	http->bad = CURLE_OK;
	http->said[0] = 0;
	HTTP_SET(http, CURLOPT_URL, url);
	HTTP_SET(http, CURLOPT_PROTOCOLS_STR, SCHEMES);
	HTTP_SET(http, CURLOPT_REDIR_PROTOCOLS_STR, SCHEMES);
	HTTP_SET(http, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
	if (http->options.user) {
		HTTP_SET(http, CURLOPT_USERNAME, http->options.user);
		HTTP_SET(http, CURLOPT_PASSWORD, http->options.password);
	}
	HTTP_SET(http, CURLOPT_NOSIGNAL, 1l);
	HTTP_SET(http, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	HTTP_SET(http, CURLOPT_LOW_SPEED_LIMIT, 1l);
	HTTP_SET(http, CURLOPT_LOW_SPEED_TIME, STALLED_SECONDS);
	HTTP_SET(http, CURLOPT_ERRORBUFFER, http->said);
	HTTP_SET(http, CURLOPT_USERAGENT, "hodo/" HODO_VERSION);
	HTTP_SET(http, CURLOPT_HTTPHEADER, http->headers);
	HTTP_SET(http, CURLOPT_NOPROGRESS, 0l);
	HTTP_SET(http, CURLOPT_XFERINFOFUNCTION, watch);
	HTTP_SET(http, CURLOPT_XFERINFODATA, (void *)http);
}

static int add_header(struct hodo_http *http, const char *header)
{
	struct curl_slist *list = http_library.slist_append(http->headers, header);

	http->headers = list ? list : http->headers;
	return list ? 0 : -ENOMEM;
}

int hodo_http_new(struct hodo_http **result, const struct hodo_http_options *options)
{
	struct hodo_http *http = calloc(1, sizeof(*http));
	int err = http ? http_library_load() : -ENOMEM;

	if (!err) {
		http->options = *options;
		http->easy = http_library.easy_init();
		err = http->easy ? 0 : -ENOMEM;
	}
	for (unsigned i = 0; !err && options->headers && options->headers[i]; i++)
		err = add_header(http, options->headers[i]);
	if (err) {
		hodo_http_free(http);
		http = NULL;
	}
	*result = http;
	return err;
}

void hodo_http_free(struct hodo_http *http)
{
	if (!http)
		return;
	if (http->headers)
		http_library.slist_free_all(http->headers);
	if (http->easy)
		http_library.easy_cleanup(http->easy);
	free(http);
}
