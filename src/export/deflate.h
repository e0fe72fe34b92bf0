/* SPDX-License-Identifier: MIT */
/* deflate.h - deflates text on its way into another one. */
#pragma once

#include <base/text.h>
#include <stdbool.h>
#include <zlib.h>

struct hodo_deflate {
	struct hodo_text in; /* what is added here comes out deflated; in.error: the first failure */
	struct hodo_text *out;
	z_stream z;
};

/* End it in any case. gzip: with gzip's header, else zlib's. */
void hodo_deflate_start(struct hodo_deflate *d, struct hodo_text *out, int level, bool gzip);
/* Passes on what is left. 0, or the first failure. */
int hodo_deflate_end(struct hodo_deflate *d);
