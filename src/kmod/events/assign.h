/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* assign.h - what TP_fast_assign fills fields that vary with; read a second time, it takes it all back. */
#undef __get_dynamic_array
#undef __get_dynamic_array_len
#undef __get_str
#undef __get_bitmask
#undef __get_cpumask
#undef __get_sockaddr
#undef __get_rel_dynamic_array
#undef __get_rel_dynamic_array_len
#undef __get_rel_str
#undef __get_rel_bitmask
#undef __get_rel_cpumask
#undef __get_rel_sockaddr
#undef __assign_str
#undef __assign_str_len
#undef __assign_vstr
#undef __assign_bitmask
#undef __assign_cpumask
#undef __assign_sockaddr
#undef __assign_rel_str
#undef __assign_rel_str_len
#undef __assign_rel_bitmask
#undef __assign_rel_cpumask
#undef __assign_rel_sockaddr
#undef __perf_addr
#undef __perf_count
#undef __perf_task

#ifdef HODO_ASSIGN
#undef HODO_ASSIGN
#else
#define HODO_ASSIGN

#define __get_dynamic_array(i) ((void *)__entry + __hodo_v.i.at)
#define __get_dynamic_array_len(i) (__hodo_v.i.len)
#define __get_str(i) ((char *)__get_dynamic_array(i))
#define __get_bitmask(i) __get_str(i)
#define __get_cpumask(i) __get_str(i)
#define __get_sockaddr(i) ((struct sockaddr *)__get_dynamic_array(i))
#define __get_rel_dynamic_array(i) __get_dynamic_array(i)
#define __get_rel_dynamic_array_len(i) __get_dynamic_array_len(i)
#define __get_rel_str(i) __get_str(i)
#define __get_rel_bitmask(i) __get_bitmask(i)
#define __get_rel_cpumask(i) __get_cpumask(i)
#define __get_rel_sockaddr(i) __get_sockaddr(i)

/* Up to 6.9 the source is said a second time; what was measured is what is copied. */
#define __assign_str(i, ...) hodo_var_copy(__entry, &__hodo_v.i, __hodo_v.i.src, __hodo_v.i.len)
#define __assign_str_len(i, ...) __assign_str(i)
#define __assign_vstr(i, fmt, va) hodo_vstring_copy(__get_str(i), __hodo_v.i.len, fmt, va)
#define __assign_bitmask(i, src, bits) hodo_var_copy(__entry, &__hodo_v.i, src, HODO_LONGS(bits) * 8)
#define __assign_cpumask(i, src) __assign_bitmask(i, src, nr_cpumask_bits)
#define __assign_sockaddr(i, src, n) hodo_var_copy(__entry, &__hodo_v.i, src, n)
#define __assign_rel_str(i, ...) __assign_str(i)
#define __assign_rel_str_len(i, ...) __assign_str(i)
#define __assign_rel_bitmask(i, src, bits) __assign_bitmask(i, src, bits)
#define __assign_rel_cpumask(i, src) __assign_cpumask(i, src)
#define __assign_rel_sockaddr(i, src, n) __assign_sockaddr(i, src, n)

#define __perf_addr(a) (a)
#define __perf_count(c) (c)
#define __perf_task(t) (t)
#endif
