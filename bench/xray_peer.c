/* SPDX-License-Identifier: MIT */
/*
 * xray_peer.c - starts and ends XRay's own tracing around main(), as the
 * variables BENCH_XRAY_MODE ("xray-fdr", "xray-basic") and BENCH_XRAY_OPTIONS say: by
 * XRAY_OPTIONS alone the flight recorder is not started, nor is what it holds written. The
 * mode "null" is a handler that does nothing.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of compiler-rt's xray_interface.h and xray_log_interface.h, which are C++. */
enum xray_log { XRAY_LOG_INITIALIZED = 2, XRAY_LOG_FINALIZED = 4, XRAY_LOG_FLUSHED = 2 };
int __xray_patch(void);
int __xray_set_handler(void (*handler)(int32_t id, int what));
int __xray_log_select_mode(const char *mode);
int __xray_log_init_mode(const char *mode, const char *options);
int __xray_log_finalize(void);
int __xray_log_flushLog(void);

static _Bool started;

static void nothing(int32_t id, int what)
{
	(void)id;
	(void)what;
}

__attribute__((constructor)) static void start(void)
{
	const char *mode = getenv("BENCH_XRAY_MODE"), *options = getenv("BENCH_XRAY_OPTIONS");

	if (!mode)
		return;
	if (strcmp(mode, "null") == 0) {
		if (!__xray_set_handler(nothing) || __xray_patch() != 1)
			exit(1);
		return;
	}
	__xray_log_select_mode(mode);
	if (__xray_log_init_mode(mode, options ? options : "") != XRAY_LOG_INITIALIZED || __xray_patch() != 1) {
		fprintf(stderr, "bench: XRay's mode %s does not start\n", mode);
		exit(1);
	}
	started = 1;
}

__attribute__((destructor)) static void stop(void)
{
	if (started && (__xray_log_finalize() != XRAY_LOG_FINALIZED || __xray_log_flushLog() != XRAY_LOG_FLUSHED))
		fprintf(stderr, "bench: XRay writes no log\n");
}
