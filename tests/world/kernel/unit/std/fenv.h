/* SPDX-License-Identifier: MIT */
/* The tests need nothing of this header here. */
