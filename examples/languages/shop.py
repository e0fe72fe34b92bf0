# SPDX-License-Identifier: MIT
import ctypes

shim = ctypes.CDLL("./libshim.so")
for n, item in enumerate([b"bread", b"milk", b"salt"]):
    shim.order_begin(ctypes.c_long(n))
    shim.sale(item, ctypes.c_long(n + 1))
    shim.order_end(ctypes.c_long(n))
