/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* descriptor.h - event descriptors in states of instrumented modules (struct hodo_desc). */
#pragma once

#include "sites.h"

enum { TEXT_PROVIDER, TEXT_NAME, TEXT_ARGS, TEXT_FORMAT, TEXT_FILE, TEXT_FUNCTION, TEXTS };

/* Whether it is as <hodo/trace.h> makes it; texts: its own, valid as long as the module. */
bool hodo_descriptor_valid(const struct hodo_desc *desc, const char *texts[TEXTS]);
/*
 * The event of a valid one, without a source; it does not point into the module, which may go before the
 * event. NULL: no memory. Under hodo_lock.
 */
struct hodo_site_event *hodo_descriptor_event(const struct hodo_desc *desc, const char *const texts[TEXTS],
					      struct module *mod);
/* How a differs from b, as "here, there"; false: not at all. */
bool hodo_descriptor_difference(const struct hodo_event *a, const struct hodo_event *b, char *out, size_t size);
