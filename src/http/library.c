/* SPDX-License-Identifier: MIT */
#include "library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct http_library http_library;

static const struct {
	const char *symbol;
	size_t at;
} functions[] = {
#define FUNCTION(name) { "curl_" #name, offsetof(struct http_library, name) },
	HTTP_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

int http_library_load(void)
{
	static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };
	static bool loaded;
	void *library = NULL;

	if (loaded)
		return 0;
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names) && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return -ENOSYS;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		void *symbol = dlsym(library, functions[i].symbol);

		if (!symbol)
			return -ENOSYS;
		memcpy((char *)&http_library + functions[i].at, &symbol, sizeof(symbol));
	}
	loaded = http_library.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
	return loaded ? 0 : -ENOSYS;
}
