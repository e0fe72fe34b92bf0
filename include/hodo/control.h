/* SPDX-License-Identifier: MIT */
/*
 * hodo/control.h - switching events from inside the program; link with
 * libhodo (pkg-config hodo, CMake Hodo::hodo).
 */
#ifndef HODO_CONTROL_H
#define HODO_CONTROL_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Switch all events whose name matches the glob pattern ("kv:*", "kv:put")
 * on or off, in addition to what the recorder asked for: hodo_disable() keeps
 * events out that the recording would take, hodo_enable() lets them in (also
 * those that its -e did not name). When hodo_disable() returns, no event of
 * these is recorded any more, from any thread, until it is enabled again.
 * Probes of tracepoints are not affected.
 *
 * Returns the number of events that match, or -EINVAL for a NULL or empty
 * pattern, -ENOTCONN for hodo_enable() while nothing records this process,
 * or another negative errno if code could not be patched. Thread safe; not for
 * signal handlers. Objects opened later follow the recorder's patterns.
 */
int hodo_enable(const char *pattern);
int hodo_disable(const char *pattern);

#ifdef __cplusplus
}
#endif
#endif
