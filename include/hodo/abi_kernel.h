/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * hodo/abi_kernel.h - the frozen part, continued: what hodo.ko provides to those who read its buffers.
 * Neither <hodo/abi.h> nor <hodo/trace.h> includes it.
 *
 * HODO_KERNEL_DEVICE is for recorders and other programs that read buffers; opening it requires CAP_PERFMON
 * or CAP_SYS_ADMIN. An open file of it is one of three things:
 *
 *   a recording       your own, as long as the file is open. Write a struct hodo_msg_config, up to what is
 *                     used, in one piece. Then map it, read-only: the memory of <hodo/abi.h>, struct hodo_shm
 *                     first, laid out by hodo_layout_init() with rings as in struct hodo_shm (you can map the
 *                     page of struct hodo_shm alone, to look). Closing the file ends the recording once
 *                     nothing of it is mapped any more: a mapping holds the file.
 *   a look            at the memory of whatever recording there is, mapped in the same way: HODO_IOC_CHOOSE,
 *                     HODO_RING_ALL
 *   a ring            of it: a page with struct hodo_ring, then ring_size bytes of packets: HODO_IOC_CHOOSE
 *                     with its number, which is the CPU's; the last one is the fallback ring
 *
 * HODO_KERNEL_DIR has text files, for people and scripts: docs/kernel.md. In debugfs, HODO_KERNEL_DEBUG_DIR
 * has the same under these names, and next to them the files `record`, `memory` and buffers/cpuN,
 * buffers/fallback, which are from the start what an open file of the device becomes. A kernel that is locked
 * down closes those.
 *
 * A ring that nobody reads overwrites or discards, according to its mode. There is one position up to
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

/* The device: what the file becomes, if it is nothing yet (-EBUSY). -ENODATA: nobody has recorded;
 * -EINVAL: no such ring. */
#define HODO_IOC_CHOOSE _IOW(0xb7, 8, uint32_t)
#define HODO_RING_ALL 0xffffffffu

/*
 * A ring; all of them store or take a uint64_t, in bytes of the ring. The number of bytes produced counts
 * from the ring's beginning and never wraps: sequence number of the open packet * packet_size + the bytes in
 * it.
 */
#define HODO_IOC_GET_SIZE _IOR(0xb7, 1, uint64_t)     /* of the ring */
#define HODO_IOC_GET_PRODUCED _IOR(0xb7, 2, uint64_t)
#define HODO_IOC_GET_CONSUMED _IOR(0xb7, 3, uint64_t)
/* What is before it may be reused: a multiple of the packet's size, no less than before, and not after the
 * start of the open packet; otherwise -EINVAL, and nothing changes. */
#define HODO_IOC_PUT_CONSUMED _IOW(0xb7, 4, uint64_t)

/* A recording. */
struct hodo_kernel_consumed {
	uint32_t ring;
	uint32_t reserved;
	uint64_t packets; /* 0 .. packets-1 may be reused; the same rules */
};
HODO_ASSERT_SIZE_(struct hodo_kernel_consumed, 16);
#define HODO_IOC_CONSUMED _IOW(0xb7, 5, struct hodo_kernel_consumed)
#define HODO_IOC_STOP _IO(0xb7, 6) /* when it returns, events are off and no writer is inside any more */

/* A recording, a ring: closes packets that were begun more than this many ticks ago and have events; 0: all. */
#define HODO_IOC_FLUSH _IOW(0xb7, 7, uint64_t)

/*
 * A recording that has not begun yet: adds a probe in the kernel's code, whose event is kprobe:EVENT until
 * the file is closed or the recording is stopped. It is recorded if the config's patterns name it.
 * Pass a whole struct hodo_kprobe, whose size says how long it is.
 *
 * -EBADMSG: malformed; -EBUSY: the file already has a recording; -EEXIST: there is an event of that name;
 * -ENOSPC: too many probes or events; -ENOENT: the kernel has no such function; -EINVAL: no probe is allowed
 * there; -EILSEQ: no instruction begins there; -EOPNOTSUPP: the kernel has no kprobes; -EPERM: it is locked
 * down.
 */
#define HODO_IOC_KPROBE _IOW(0xb7, 9, struct hodo_kprobe)

#define HODO_KPROBES_MAX 1024u        /* for an open file */
#define HODO_KPROBE_SIZE_MAX 16384u   /* bytes of a struct hodo_kprobe */
#define HODO_KPROBE_STEPS_MAX 6u      /* pointers that are followed to a value */
#define HODO_KPROBE_TEXT_MAX 1023u    /* the most bytes of a string that are recorded */
#define HODO_KPROBE_BYTES_MAX 8192u   /* the most bytes of all values of an event */
#define HODO_KPROBE_ARGUMENTS 6u      /* that are passed in registers */
#define HODO_KPROBE_STACK_MAX 63u

/* What a value begins with. */
enum hodo_kprobe_from {
	HODO_KPROBE_ARGUMENT = 1, /* the function's argument `number`, from 0, in a register; at the return:
				   * as it was passed */
	HODO_KPROBE_RETURNED = 2, /* what the function returns */
	HODO_KPROBE_DURATION = 3, /* since its entry, in ns */
	HODO_KPROBE_REGISTER = 4, /* the one at 8 * number in struct pt_regs */
	HODO_KPROBE_STACK = 5     /* the word at 8 * number on the stack */
};

/*
 * How a value is found: begin with what `from` says; `steps` times, take the pointer that is offset[] bytes
 * further; then `load` bytes at the next offset. With load 0, a number is the value reached so far, and a
 * string is at the next offset. Of a bit field, `bits` are taken, above `shift` others; bits 0: all.
 */
struct hodo_kprobe_value {
	uint8_t type; /* enum hodo_type: an integer, bool, char, a pointer or a string */
	uint8_t from; /* enum hodo_kprobe_from */
	uint8_t number;
	uint8_t steps;
	uint8_t load; /* 0, 1, 2, 4 or 8 bytes */
	uint8_t shift, bits;
	uint8_t reserved;
	uint32_t text_max; /* of a string: the most bytes that it can have; else 0 */
	int32_t offset[HODO_KPROBE_STEPS_MAX + 1]; /* unused steps: 0 */
};
HODO_ASSERT_SIZE_(struct hodo_kprobe_value, 40);

struct hodo_kprobe {
	uint32_t size;   /* bytes of the whole struct */
	uint32_t flags;  /* HODO_KPROBE_* */
	uint64_t offset; /* in the function, of the instruction before which the event happens */
	uint32_t values; /* how many, which are the fields of the event: at most HODO_FIELDS_MAX */
	uint32_t reserved;
	struct hodo_kprobe_value value[]; /* then the names of function, event, fields, each with its NUL */
};
HODO_ASSERT_SIZE_(struct hodo_kprobe, 24);
#define HODO_KPROBE_RETURN 1u /* the event happens where the function returns */

#endif
