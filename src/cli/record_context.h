/* SPDX-License-Identifier: MIT */
/* record_context.h - what hodo record is asked to store with every event. */
#ifndef HODO_CLI_RECORD_CONTEXT_H
#define HODO_CLI_RECORD_CONTEXT_H

#include <stdbool.h>

#include <hodo/abi.h>

/* A word of --context, added to what others asked for. 0, or the exit status having said what is wrong. */
int hodo_context_options_add(struct hodo_context_config *context, const char *word);
/* Whether events bring addresses of code, for which names are kept. */
bool hodo_context_has_addresses(const struct hodo_context_config *context);

#endif
