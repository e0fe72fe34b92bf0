/* SPDX-License-Identifier: MIT */
#include "files.h"

#include "client_impl.h"
#include "url.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/file.h>
#include <base/scope.h>

#define REDIRECTS_MAX 5l

struct hodo_http_files {
	struct hodo_http *http;
	char *url, *shown;
	char status[32];
	const char *why;
	/* The file that is copied. */
	bool getting;
	int fd, file_error;
	uint64_t at, max;
};

int hodo_http_open(struct hodo_http_files **files, const char *url, const struct hodo_http_options *options)
{
	struct hodo_http_files *f;
	int err;

	*files = NULL;
	if (strncasecmp(url, "http://", 7) != 0 && strncasecmp(url, "https://", 8) != 0)
		return -EPROTONOSUPPORT;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->url = strdup(url);
	f->shown = malloc(strlen(url) + 1);
	err = f->url && f->shown ? hodo_http_new(&f->http, options) : -ENOMEM;
	if (err) {
		hodo_http_close(f);
		return err;
	}
	hodo_http_url_plain(url, f->shown);
	for (size_t n = strlen(f->url); f->url[n - 1] == '/'; n--)
		f->url[n - 1] = 0;
	*files = f;
	return 0;
}

void hodo_http_close(struct hodo_http_files *files)
{
	if (!files)
		return;
	hodo_http_free(files->http);
	free(files->url);
	free(files->shown);
	free(files);
}

const char *hodo_http_shown(const struct hodo_http_files *files)
{
	return files->shown;
}

const char *hodo_http_why(const struct hodo_http_files *files)
{
	return files->why;
}

/* ----------------------------------------------------------------------- callbacks */

static size_t take(char *data, size_t size, size_t n, void *files)
{
	struct hodo_http_files *f = files;
	uint64_t bytes = size * n;

	if (!f->getting)
		return bytes; /* what is said with an error, or of a file that was sent */
	f->file_error = bytes > f->max - f->at ? -EFBIG : hodo_file_write(f->fd, data, bytes);
	if (f->file_error)
		return 0;
	f->at += bytes;
	return bytes;
}

static size_t give(char *data, size_t size, size_t n, void *files)
{
	struct hodo_http_files *f = files;
	uint64_t left = f->max - f->at, room = size * n;
	ssize_t got = hodo_file_read_at(f->fd, data, room < left ? room : left, f->at);

	if (got < 0 || (got == 0 && left)) {
		f->file_error = got < 0 ? (int)got : -EIO; /* it became shorter */
		return CURL_READFUNC_ABORT;
	}
	f->at += (uint64_t)got;
	return (size_t)got;
}

static int rewind_to(void *files, curl_off_t offset, int origin)
{
	struct hodo_http_files *f = files;

	if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > f->max)
		return CURL_SEEKFUNC_CANTSEEK;
	f->at = (uint64_t)offset;
	return CURL_SEEKFUNC_OK;
}

/* ------------------------------------------------------------------------ requests */

static void prepare(struct hodo_http_files *f, const char *url)
{
	struct hodo_http *h = f->http;

	http_client_prepare(h, url);
	HTTP_SET(h, CURLOPT_FOLLOWLOCATION, 1l);
	HTTP_SET(h, CURLOPT_MAXREDIRS, REDIRECTS_MAX);
	HTTP_SET(h, CURLOPT_FAILONERROR, 1l);
	HTTP_SET(h, CURLOPT_WRITEFUNCTION, take);
	HTTP_SET(h, CURLOPT_WRITEDATA, (void *)f);
	HTTP_SET(h, CURLOPT_READFUNCTION, give);
	HTTP_SET(h, CURLOPT_READDATA, (void *)f);
	HTTP_SET(h, CURLOPT_SEEKFUNCTION, rewind_to);
	HTTP_SET(h, CURLOPT_SEEKDATA, (void *)f);
}

static int refused(struct hodo_http_files *f)
{
	long status = 0;

	http_library.easy_getinfo(f->http->easy, CURLINFO_RESPONSE_CODE, &status);
	snprintf(f->status, sizeof(f->status), "HTTP %ld", status);
	f->why = f->status;
	switch (status) {
	case 404:
	case 410:
		return -ENOENT;
	case 401:
	case 403:
	case 407:
		return -EACCES;
	case 405:
	case 501:
		return -EOPNOTSUPP;
	default:
		return -EREMOTEIO;
	}
}

static int perform(struct hodo_http_files *f)
{
	CURLcode code = http_library.easy_perform(f->http->easy);

	if (code == CURLE_OK)
		return 0;
	if (code == CURLE_ABORTED_BY_CALLBACK && !f->file_error)
		return -EINTR;
	if (f->file_error)
		return f->file_error;
	if (code == CURLE_FILESIZE_EXCEEDED)
		return -EFBIG;
	if (code == CURLE_HTTP_RETURNED_ERROR)
		return refused(f);
	f->why = f->http->said[0] ? f->http->said : http_library.easy_strerror(code);
	return -EREMOTEIO;
}

/* Of that file; set: what is special to the request. */
static int request(struct hodo_http_files *f, const char *name, int fd, uint64_t max, CURLoption set, CURLoption bytes)
{
	HODO_AUTO_FREE char *url = NULL;

	f->why = NULL;
	f->getting = set == CURLOPT_HTTPGET;
	f->fd = fd;
	f->file_error = 0;
	f->at = 0;
	f->max = max;
	if (asprintf(&url, "%s/%s", f->url, name) < 0)
		return -ENOMEM;
	prepare(f, url);
	HTTP_SET(f->http, set, 1l);
	if (bytes)
		HTTP_SET(f->http, bytes, (curl_off_t)max);
	if (f->http->bad) {
		/* Without one of the options that keep us safe nothing is done. */
		f->why = f->http->bad == CURLE_OUT_OF_MEMORY ? strerror(ENOMEM) : "this libcurl is older than 7.85";
		return -EREMOTEIO;
	}
	return perform(f);
}

int hodo_http_has(struct hodo_http_files *files, const char *name)
{
	int err = request(files, name, -1, 0, CURLOPT_NOBODY, 0);

	return err == -EOPNOTSUPP ? -ENOENT : err; /* it does not tell */
}

int hodo_http_get(struct hodo_http_files *files, const char *name, int fd, uint64_t max)
{
	return request(files, name, fd, max, CURLOPT_HTTPGET, CURLOPT_MAXFILESIZE_LARGE);
}

int hodo_http_put(struct hodo_http_files *files, const char *name, int fd, uint64_t bytes)
{
	return request(files, name, fd, bytes, CURLOPT_UPLOAD, CURLOPT_INFILESIZE_LARGE);
}
