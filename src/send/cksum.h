/* SPDX-License-Identifier: MIT */
/* cksum.h - the checksum of POSIX's cksum(1), which every receiver can compute. */
#pragma once

#include <stdint.h>

/* Of a file, from its beginning. 0 or a negative errno. */
int hodo_cksum(int fd, uint32_t *sum, uint64_t *bytes);
