/* SPDX-License-Identifier: MIT */
/*
 * functions.c - what of <hodo/tracer.h> is needed while no functions are traced: roles of threads, the clock, and
 * bringing in the second library, libhodo-func, which does the rest.
 *
 * That library is preloaded with this one where a recorder starts a program for its functions. Else it is loaded
 * when it is needed first: from hodo_tracer_register() or hodo_function_name() in the program, or when a recorder
 * that wants functions comes to a running process (session.c). It stays, since code of the program calls it.
 */
#include <dlfcn.h>
#include <time.h>
#include "sys.h"
#include "user.h"

uint64_t hodo_ticks_per_s;

/* -------------------------------------------------------------------- roles */

/* Interned, so that nothing refers to the memory of an object that may be closed. */
#define ROLES_MAX 256u
static struct {
	uint32_t state; /* 0 free, 1 being written, 2 valid */
	char name[HODO_ROLE_MAX];
} roles[ROLES_MAX];

/* Two that meet here may both make one, which does no harm. */
const char *hodo_role_intern(const char *name, uint32_t length)
{
	for (uint32_t i = 0; i < ROLES_MAX; i++) {
		uint32_t state = hodo_load_acquire(&roles[i].state);

		if (state == 2 && __builtin_strcmp(roles[i].name, name) == 0)
			return roles[i].name;
		if (state != 0 || !hodo_cas_acquire(&roles[i].state, &state, 1))
			continue;
		__builtin_memcpy(roles[i].name, name, length);
		hodo_store_release(&roles[i].state, 2);
		return roles[i].name;
	}
	return 0;
}

int hodo_role_set(const char *role)
{
	const char *own = 0;
	size_t length = role ? __builtin_strlen(role) : 0;

	if (length >= HODO_ROLE_MAX)
		return -ENAMETOOLONG;
	if (length) {
		own = hodo_role_intern(role, (uint32_t)length);
		if (!own)
			return -ENOSPC;
	}
	hodo_tls.role = own;
	return 0;
}

/* -------------------------------------------------------------------- clock */

static uint64_t start_ns, start_ticks; /* when the library came up */

uint64_t hodo_ticks_now(void)
{
#ifdef __x86_64__
	if (!hodo_recording.on || hodo_recording.clock == HODO_CLOCK_TSC)
		return __builtin_ia32_rdtsc();
#endif
	return hodo_clock_now();
}

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	hodo_sys2(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void hodo_functions_init(void)
{
	start_ns = monotonic_ns();
	start_ticks = hodo_ticks_now();
}

/*
 * The recorder knows the frequency; else two readings of both clocks, 5 ms apart at least, give it well
 * enough, and once for all: times would not compare if it were taken anew.
 */
static uint64_t ticks_per_s(void)
{
	static uint64_t measured;
	uint64_t ns, passed, known = hodo_load(&measured);

	if (hodo_ticks_per_s)
		return hodo_ticks_per_s;
	while (!known) {
		ns = monotonic_ns() - start_ns;
		passed = hodo_ticks_now() - start_ticks;
		if (ns < 5000000)
			continue;
		known = (uint64_t)((unsigned __int128)passed * 1000000000u / ns);
		hodo_store(&measured, known);
	}
	return known;
}

HODO_PUBLIC uint64_t hodo_ticks_ns(uint64_t ticks)
{
	if (hodo_recording.on && hodo_recording.clock != HODO_CLOCK_TSC)
		return ticks;
	return (uint64_t)((unsigned __int128)ticks * 1000000000u / ticks_per_s());
}

/* ------------------------------------------------------- the second library */

#ifdef HODO_SPLIT

/* libhodo-func.so beside libhodo.so, libhodo-func.so.1.2 beside libhodo.so.1.2. */
static bool beside(const char *own, char *path, size_t room)
{
	static const char from[] = "libhodo.so", to[] = "libhodo-func.so";
	size_t n = __builtin_strlen(own), at = n;

	while (at > 0 && own[at - 1] != '/')
		at--;
	if (n + sizeof(to) - sizeof(from) >= room || __builtin_strncmp(own + at, from, sizeof(from) - 1) != 0)
		return false;
	__builtin_memcpy(path, own, at);
	__builtin_memcpy(path + at, to, sizeof(to) - 1);
	__builtin_memcpy(path + at + sizeof(to) - 1, own + at + sizeof(from) - 1, n - at - sizeof(from) + 2);
	return true;
}

int hodo_functions_load(void)
{
	extern __typeof__(dlopen) dlopen __attribute__((weak));
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

int hodo_functions_load(void)
{
	return hodo_func ? 0 : -ENOSYS;
}

#endif
