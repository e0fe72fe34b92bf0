/* SPDX-License-Identifier: MIT */
/*
 * names.c - functions inside which a thread must not be made to call dlopen(3) or pthread_create(3): those
 * that hold a lock of the loader or an allocator, or another lock that these two take, and those that would
 * be entered twice.
 *
 * Names of parts (malloc.cold) and versions count as the function.
 */
#include <string.h>
#include "attach_impl.h"

static const char *const exact[] = {
	/* allocators */
	"malloc", "free", "calloc", "realloc", "reallocarray", "memalign", "aligned_alloc", "posix_memalign", "valloc",
	"pvalloc", "cfree", "malloc_trim", "malloc_stats", "malloc_info", "mallinfo", "mallinfo2", "mallopt",
	"malloc_usable_size", "free_sized", "free_aligned_sized", "mtrace", "muntrace", "mcheck", "mprobe", "sbrk",
	"brk",
	"mallocx", "rallocx", "xallocx", "sallocx", "dallocx", "sdallocx", "nallocx", "mallctl", "smallocx", "sdallocx",
	"_int_malloc", "_int_free", "_int_realloc", "_int_memalign", "sysmalloc", "systrim", "malloc_consolidate",
	"__rust_alloc", "__rust_dealloc", "__rust_realloc", "__rust_alloc_zeroed", "tcache_init",
	/* the loader and what walks its lists */
	"dlopen", "dlmopen", "dlclose", "dlsym", "dlvsym", "dladdr", "dladdr1", "dlinfo", "dlerror", "dl_iterate_phdr",
	"_dl_find_object", "_dl_addr", "__tls_get_addr", "backtrace_symbols", "backtrace_symbols_fd",
	/* threads, their stacks and lists */
	"fork", "_Fork", "vfork", "__fork", "__vfork", "__libc_fork", "pthread_create", "pthread_exit", "pthread_join",
	"pthread_tryjoin_np", "pthread_timedjoin_np", "pthread_clockjoin_np", "pthread_detach", "pthread_atfork",
	"thrd_create", "thrd_exit", "thrd_join", "thrd_detach", "__register_atfork", "__unregister_atfork",
	"pthread_getattr_np", "pthread_getattr_default_np", "pthread_setattr_default_np", "pthread_cancel",
	"setuid", "setgid", "seteuid", "setegid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups",
	"initgroups", "__nptl_setxid", "__nptl_deallocate_stack", "start_thread.cold",
	/* exit, and what it calls */
	"exit", "quick_exit", "_exit", "_Exit", "atexit", "at_quick_exit", "on_exit", "__cxa_atexit",
	"__cxa_at_quick_exit",
	"__cxa_finalize", "__cxa_thread_atexit_impl", "abort", "__libc_freeres", "__run_exit_handlers",
	/* texts of dlerror(3) */
	"setlocale", "newlocale", "duplocale", "freelocale", "textdomain", "bindtextdomain", "bind_textdomain_codeset",
	"gettext", "dgettext", "dcgettext", "ngettext", "dngettext", "dcngettext", "__dcgettext", "__dgettext",
};

static const char *const prefixes[] = {
	"_dl_", "__libc_dlopen", "__libc_dlsym", "__libc_dlclose", "__libc_malloc", "__libc_free", "__libc_calloc",
	"__libc_realloc", "__libc_memalign", "__libc_valloc", "__libc_pvalloc", "__malloc", "__interceptor_malloc",
	"__interceptor_free", "__interceptor_calloc", "__interceptor_realloc", "__interceptor_memalign",
	"__interceptor_posix_memalign", "_Znw", "_Zna", "_Zdl", "_Zda", /* operator new, delete */
	"scudo_", "hodo_", "__nptl_",
};

/* Prefixes of allocators' functions that libc has, too. */
static const char *const own[] = { "je_", "mi_", "tc_", "rpm_", "__wrap_", "__real_" };

bool hodo_attach_name_unsafe(const char *name)
{
	size_t len;

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		if (strncmp(name, own[i], strlen(own[i])) == 0) {
			name += strlen(own[i]);
			break;
		}
	}
	len = strcspn(name, ".@");
	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
		if (strncmp(name, exact[i], len) == 0 && exact[i][len] == 0)
			return true;
	}
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	}
	return false;
}

enum hodo_attach_kind hodo_attach_object_kind(const char *path)
{
	static const struct {
		const char *begin;
		enum hodo_attach_kind kind;
	} kinds[] = {
		{ "libc.so.6", HODO_ATTACH_LIBC },          { "libc-2.", HODO_ATTACH_LIBC },
		{ "libpthread", HODO_ATTACH_LIBC },         { "libdl", HODO_ATTACH_LIBC },
		{ "libhodo.so", HODO_ATTACH_HODO },         { "libhodo-func.so", HODO_ATTACH_HODO },
		{ "libjemalloc", HODO_ATTACH_ALLOCATOR },   { "libtcmalloc", HODO_ATTACH_ALLOCATOR },
		{ "libmimalloc", HODO_ATTACH_ALLOCATOR },   { "libhoard", HODO_ATTACH_ALLOCATOR },
		{ "libscudo", HODO_ATTACH_ALLOCATOR },      { "librpmalloc", HODO_ATTACH_ALLOCATOR },
		{ "libsnmalloc", HODO_ATTACH_ALLOCATOR },
	};
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(name, kinds[i].begin, strlen(kinds[i].begin)) == 0)
			return kinds[i].kind;
	return HODO_ATTACH_OTHER;
}
