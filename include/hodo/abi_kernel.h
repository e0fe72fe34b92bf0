/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * hodo/abi_kernel.h - the frozen part, continued: what hodo.ko offers to those who read its buffers. Included by
 * neither <hodo/abi.h> nor <hodo/trace.h>.
 *
 * Below HODO_KERNEL_DIR (debugfs; root only):
 *
 *   record            a recording of one's own, as long as the file is open. Write a struct hodo_msg_config, up to
 *                     what is used, in one piece. Then map it, for reading only: the memory of <hodo/abi.h>, struct
 *                     hodo_shm first, laid out by hodo_layout_init() with rings as struct hodo_shm says (the page of
 *                     struct hodo_shm can be mapped alone, to look). Closing it ends the recording, once nothing of it
 *                     is mapped any more: a mapping holds the file.
 *   memory            the memory of whatever recording there is, mapped likewise; -ENODATA: there is none
 *   buffers/cpuN      one ring of it: a page with struct hodo_ring, then ring_size bytes of packets
 *
 * The other files are text, for people and scripts: docs/kernel.md.
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

#define HODO_KERNEL_DIR "/sys/kernel/debug/hodo"

/*
 * buffers/cpuN; all of them store or take a uint64_t, in bytes of the ring. What was produced counts from the ring's
 * beginning and never wraps: sequence number of the open packet * packet_size + what is in it.
 */
#define HODO_IOC_GET_SIZE _IOR(0xb7, 1, uint64_t)     /* of the ring */
#define HODO_IOC_GET_PRODUCED _IOR(0xb7, 2, uint64_t)
#define HODO_IOC_GET_CONSUMED _IOR(0xb7, 3, uint64_t)
/* What is before it may be reused: a multiple of the packet's size, no less than before, and not behind the start of
 * the open packet; else -EINVAL, and nothing is changed. */
#define HODO_IOC_PUT_CONSUMED _IOW(0xb7, 4, uint64_t)

/* record */
struct hodo_kernel_consumed {
	uint32_t ring;
	uint32_t reserved;
	uint64_t packets; /* 0 .. packets-1 may be reused; the same rules */
};
HODO_ASSERT_SIZE_(struct hodo_kernel_consumed, 16);
#define HODO_IOC_CONSUMED _IOW(0xb7, 5, struct hodo_kernel_consumed)
#define HODO_IOC_STOP _IO(0xb7, 6) /* events are off, and no writer is inside any more, when it returns */

/* record, buffers/cpuN: packets that were begun longer ago than so many ticks, and hold events, are closed; 0: all. */
#define HODO_IOC_FLUSH _IOW(0xb7, 7, uint64_t)

#endif
