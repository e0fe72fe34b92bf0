/* SPDX-License-Identifier: MIT */
#include "post.h"

#include "client_impl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include <base/clock.h>
#include <base/escape.h>

#define NS_PER_S        1000000000ll
#define FIRST_WAIT      (NS_PER_S / 10)
#define LONGEST_WAIT    (10 * NS_PER_S)
#define SLICE_NS        (NS_PER_S / 20) /* of a wait: as long as it takes to notice that it is to end */
#define CONNECT_SECONDS 10l             /* it is tried again */

struct answer {
	struct hodo_text *text;
	uint32_t max;
};

static size_t take_answer(char *data, size_t one, size_t n, void *to)
{
	struct answer *a = to;

	if (a->text->len + one * n <= a->max)
		hodo_text_bytes(a->text, data, one * n);
	return one * n;
}

/* Of what failed: it may be better later. */
static bool may_pass(const struct hodo_http *http, CURLcode code, long status, struct hodo_text *answer)
{
	const struct hodo_http_options *o = &http->options;

	if (code == CURLE_OK)
		return status == 408 || status == 429 || status == 502 || status == 503 || status == 504 ||
		       (o->may_pass && o->may_pass(o->data, status, hodo_text_string(answer)));
	return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
	       code == CURLE_OPERATION_TIMEDOUT || code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR ||
	       code == CURLE_GOT_NOTHING || code == CURLE_PARTIAL_FILE;
}

static void say(const struct hodo_http *http, CURLcode code, long status, struct hodo_text *answer,
		struct hodo_why *why)
{
	if (code != CURLE_OK) {
		hodo_why(why, 0, "%s", http->said[0] ? http->said : http_library.easy_strerror(code));
	} else {
		/* Some of what it says: the first line, if that is text. */
		size_t len = strcspn(hodo_text_string(answer), "\r\n");

		hodo_why(why, 0, "HTTP status %ld%s%.*s", status, len ? ": " : "", (int)(len < 200 ? len : 200),
			 hodo_text_string(answer));
	}
	hodo_mask_unseen(why->text);
}

/* False: it was stopped. */
static bool wait_for(struct hodo_http *http, int64_t ns, const char *why)
{
	const volatile sig_atomic_t *stop = http->options.stop;

	if (http->options.waits)
		http->options.waits(http->options.data, why, ns);
	for (; ns > 0 && !(stop && *stop); ns -= SLICE_NS) {
		const struct timespec slice = { 0, (long)(ns < SLICE_NS ? ns : SLICE_NS) };

		nanosleep(&slice, NULL);
	}
	return !(stop && *stop);
}

/* Between a half and the whole of it, so that not all who were refused at once come back at once. */
static int64_t some_of(int64_t ns)
{
	uint32_t random = 0;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = 0;
	return ns / 2 + (int64_t)((double)random / UINT32_MAX * (double)(ns / 2));
}

static CURLcode try_once(struct hodo_http *http, struct hodo_text *answer, long *status, curl_off_t *later_s)
{
	const char *type = NULL;
	CURLcode code;

	answer->len = 0;
	http->said[0] = 0;
	*status = 0;
	*later_s = 0;
	code = http_library.easy_perform(http->easy);
	http_library.easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, status);
	http_library.easy_getinfo(http->easy, CURLINFO_RETRY_AFTER, later_s);
	http_library.easy_getinfo(http->easy, CURLINFO_CONTENT_TYPE, &type);
	http->status = code == CURLE_OK ? *status : 0;
	snprintf(http->type, sizeof(http->type), "%s", code == CURLE_OK && type ? type : "");
	hodo_mask_unseen(http->type);
	return code;
}

static int try_all(struct hodo_http *http, struct hodo_text *answer, struct hodo_why *why)
{
	int64_t began = hodo_now_ns(), wait = FIRST_WAIT, ns, left;
	curl_off_t later_s;
	CURLcode code;
	long status;

	for (;;) {
		code = try_once(http, answer, &status, &later_s);
		if (code == CURLE_ABORTED_BY_CALLBACK)
			return -EINTR;
		if (code == CURLE_OK && status >= 200 && status < 300)
			return answer->error;
		say(http, code, status, answer, why);
		if (code == CURLE_OK && (status == 401 || status == 403))
			return -EACCES;
		if (!may_pass(http, code, status, answer))
			return -EREMOTEIO;
		left = http->options.retry_ns - (hodo_now_ns() - began);
		ns = later_s > 0 ? (int64_t)(later_s < 86400 ? later_s : 86400) * NS_PER_S : some_of(wait);
		wait = 2 * wait < LONGEST_WAIT ? 2 * wait : LONGEST_WAIT;
		if (left <= 0 || (later_s > 0 && ns > left))
			return -ETIMEDOUT;
		if (!wait_for(http, ns < left ? ns : left, why->text))
			return -EINTR;
	}
}

int hodo_http_post(struct hodo_http *http, const char *url, const char *type, const void *body, size_t len,
		   struct hodo_text *answer, struct hodo_why *why)
{
	/* curl waits for an answer of "100 Continue" before it sends a body of more than 1 MiB, if that is not said. */
	struct curl_slist expect = { .data = (char[]){ "Expect:" }, .next = http->headers };
	struct curl_slist headers = { .data = (char *)(uintptr_t)type, .next = &expect };
	struct answer to = { answer, http->options.answer_max ? http->options.answer_max : HODO_HTTP_ANSWER_MAX };
	int64_t timeout_ns = http->options.timeout_ns ? http->options.timeout_ns : 60 * NS_PER_S;
	int err;

	http_client_prepare(http, url);
	HTTP_SET(http, CURLOPT_POST, 1l);
	HTTP_SET(http, CURLOPT_HTTPHEADER, &headers);
	HTTP_SET(http, CURLOPT_POSTFIELDS, body);
	HTTP_SET(http, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
	HTTP_SET(http, CURLOPT_WRITEFUNCTION, take_answer);
	HTTP_SET(http, CURLOPT_WRITEDATA, &to);
	HTTP_SET(http, CURLOPT_TIMEOUT_MS, (long)(timeout_ns / 1000000));
	HTTP_SET(http, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	if (http->bad)
		return hodo_why(why, http->bad == CURLE_OUT_OF_MEMORY ? -ENOMEM : -EREMOTEIO, "%s",
				http_library.easy_strerror(http->bad));
	why->text[0] = 0;
	http->status = 0;
	http->type[0] = 0;
	err = try_all(http, answer, why);
	http_library.easy_reset(http->easy); /* the headers are gone when this returns */
	return err;
}

long hodo_http_status(const struct hodo_http *http)
{
	return http->status;
}

const char *hodo_http_type(const struct hodo_http *http)
{
	return http->type;
}
