/* SPDX-License-Identifier: MIT */
/* define_trace.h - the kernel's reads the header again, to create its tracepoints. */
#ifdef CREATE_TRACE_POINTS
#undef CREATE_TRACE_POINTS
#undef TRACE_HEADER_MULTI_READ
#define CREATE_TRACE_POINTS
#endif
