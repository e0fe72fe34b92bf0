/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * hodo/abi_kernel.h - the frozen part, continued: what hodo.ko offers to those who read its buffers. Included by
 * neither <hodo/abi.h> nor <hodo/trace.h>.
 *
 * HODO_KERNEL_DEVICE is for recorders and other programs that read buffers; to open it takes CAP_PERFMON or
 * CAP_SYS_ADMIN. An open file of it is one of three things:
 *
 *   a recording       of one's own, as long as the file is open. Write a struct hodo_msg_config, up to what is used, in
 *                     one piece. Then map it, for reading only: the memory of <hodo/abi.h>, struct hodo_shm first,
 *                     laid out by hodo_layout_init() with rings as struct hodo_shm says (the page of struct hodo_shm
 *                     can be mapped alone, to look). Closing it ends the recording, once nothing of it is mapped any
 *                     more: a mapping holds the file.
 *   a look            at the memory of whatever recording there is, mapped likewise: HODO_IOC_CHOOSE, HODO_RING_ALL
 *   a ring            of it: a page with struct hodo_ring, then ring_size bytes of packets: HODO_IOC_CHOOSE, its
 *                     number, which is the CPU's; the last one is the fallback ring
 *
 * HODO_KERNEL_DIR has files of text, for people and scripts: docs/kernel.md. In debugfs, HODO_KERNEL_DEBUG_DIR has the
 * same by these names, and beside them the files `record`, `memory` and buffers/cpuN, buffers/fallback, which are from
 * the beginning what the device's open file is made. A kernel that is locked down closes those.
 *
 * A ring that is read by nobody overwrites or discards, as its mode says. There is one position up to
 * which packets of a ring may be reused, whoever moves it.
 */
#ifndef HODO_ABI_KERNEL_H
#define HODO_ABI_KERNEL_H

#include <hodo/abi.h>

#ifdef __KERNEL__
#include <linux/ioctl.h>
#else
#include <sys/ioctl.h>
#endif

#define HODO_KERNEL_DEVICE "/dev/hodo"
#define HODO_KERNEL_DIR "/sys/kernel/hodo"
#define HODO_KERNEL_DEBUG_DIR "/sys/kernel/debug/hodo"

/* The device: what the file is, if it is nothing yet (-EBUSY). -ENODATA: nobody has recorded; -EINVAL: no such ring. */
#define HODO_IOC_CHOOSE _IOW(0xb7, 8, uint32_t)
#define HODO_RING_ALL 0xffffffffu

/*
 * A ring; all of them store or take a uint64_t, in bytes of the ring. What was produced counts from the ring's
 * beginning and never wraps: sequence number of the open packet * packet_size + what is in it.
 */
#define HODO_IOC_GET_SIZE _IOR(0xb7, 1, uint64_t)     /* of the ring */
#define HODO_IOC_GET_PRODUCED _IOR(0xb7, 2, uint64_t)
#define HODO_IOC_GET_CONSUMED _IOR(0xb7, 3, uint64_t)
/* What is before it may be reused: a multiple of the packet's size, no less than before, and not behind the start of
 * the open packet; else -EINVAL, and nothing is changed. */
#define HODO_IOC_PUT_CONSUMED _IOW(0xb7, 4, uint64_t)

/* A recording. */
struct hodo_kernel_consumed {
	uint32_t ring;
	uint32_t reserved;
	uint64_t packets; /* 0 .. packets-1 may be reused; the same rules */
};
HODO_ASSERT_SIZE_(struct hodo_kernel_consumed, 16);
#define HODO_IOC_CONSUMED _IOW(0xb7, 5, struct hodo_kernel_consumed)
#define HODO_IOC_STOP _IO(0xb7, 6) /* events are off, and no writer is inside any more, when it returns */

/* A recording, a ring: packets that were begun longer ago than so many ticks, and hold events, are closed; 0: all. */
#define HODO_IOC_FLUSH _IOW(0xb7, 7, uint64_t)

#endif
