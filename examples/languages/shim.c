/* SPDX-License-Identifier: MIT */
#include <hodo/trace.h>

void sale(const char *item, long count) { HODO_EVENT(shop, sale, item, count); }
void order_begin(long id) { HODO_BEGIN(shop, order, id); }
void order_end(long id) { HODO_END(shop, order, id); }
void stock(long n) { HODO_COUNTER(shop, stock, n); }
