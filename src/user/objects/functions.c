/* SPDX-License-Identifier: MIT */
/*
 * functions.c - <hodo/tracer.h>, and loading the second library, libhodo-func, which implements it.
 *
 * If a recorder starts a program for its functions, it preloads that library with this one. Else the library
 * is loaded when it is first needed: by hodo_tracer_register() or hodo_function_name() in the program, or
 * when a recorder that wants functions attaches to a running process (session.c). It stays, since the
 * program's code calls it.
 */
#include <dlfcn.h>
#include "extension.h"
#include <user/libc/sys.h>
#include <user/libc/libc.h>
#include <user/process/process.h>
#include "objects.h"

#ifdef HODO_SPLIT

extern __typeof__(dlopen) dlopen __attribute__((weak));

/* libhodo-func.so beside libhodo.so, libhodo-func.so.1.2 beside libhodo.so.1.2. */
static bool beside(const char *own, char *path, size_t room)
{
	size_t at = __builtin_strlen(own);

	while (at > 0 && own[at - 1] != '/')
		at--;
	if (__builtin_strncmp(own + at, "libhodo.so", 10) != 0)
		return false;
	at += sizeof("libhodo") - 1;
	if (at >= room)
		return false;
	__builtin_memcpy(path, own, at);
	path[at] = 0;
	return hodo_fixed_text_add(path, room, "-func") && hodo_fixed_text_add(path, room, own + at);
}

void hodo_functions_load_copy(void)
{
	extern __typeof__(dladdr) dladdr __attribute__((weak));
	const size_t prefix = sizeof(HODO_COPY_PREFIX) - 1;
	Dl_info own;

	if (!&dladdr || !dladdr(&hodo_recording, &own))
		return;
	for (const char *at = own.dli_fname; (at = strchr(at, '/')); at++) {
		if (strncmp(at + 1, HODO_COPY_PREFIX, prefix) == 0) {
			hodo_functions_load();
			return;
		}
	}
}

int hodo_functions_load(void)
{
	extern __typeof__(dlsym) dlsym __attribute__((weak));
	extern __typeof__(dladdr) dladdr __attribute__((weak));
	const struct hodo_extension *found;
	char path[4096];
	Dl_info own;
	uint64_t mask;
	void *library;

	if (hodo_load_acquire(&hodo_func))
		return 0;
	if (!&dlopen || !&dlsym || !&dladdr || !dladdr(&hodo_recording, &own))
		return -ENOSYS;
	library = beside(own.dli_fname, path, sizeof(path)) ? dlopen(path, RTLD_NOW | RTLD_NODELETE) : 0;
	found = library ? dlsym(library, "hodo_extension") : 0;
	if (!found)
		return -ENOSYS;
	mask = hodo_control_lock();
	if (!hodo_func) {
		found->init();
		hodo_store_release(&hodo_func, found);
		hodo_objects_scan();
	}
	hodo_control_unlock(mask);
	return 0;
}

void hodo_libraries_load(char *paths)
{
	for (char *end; &dlopen && (end = __builtin_strchr(paths, '\n')) != 0; paths = end + 1) {
		*end = 0;
		dlopen(paths, RTLD_NOW | RTLD_NODELETE);
	}
}

HODO_PUBLIC int hodo_tracer_register(struct hodo_tracer *tracer)
{
	int error = hodo_functions_load();

	return error ? error : hodo_func->tracer_register(tracer);
}

HODO_PUBLIC int hodo_tracer_unregister(struct hodo_tracer *tracer)
{
	return hodo_load_acquire(&hodo_func) ? hodo_func->tracer_unregister(tracer) : -ENOENT;
}

HODO_PUBLIC int hodo_function_name(const void *address, char *name, size_t bytes)
{
	int error = hodo_functions_load();

	if (error && bytes)
		name[0] = 0;
	return error ? error : hodo_func->function_name(address, name, bytes);
}

#else

void hodo_functions_load_copy(void)
{
}

int hodo_functions_load(void)
{
	return hodo_func ? 0 : -ENOSYS;
}

/* A static program has its functions from the start. */
void hodo_libraries_load(char *paths)
{
}

#endif
