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

/*
 * A recording that is not begun yet: one more probe in the kernel's code, whose event is kprobe:EVENT from
 * then on, until the file is closed or the recording stopped. It is recorded if the config's patterns name it.
 * A whole struct hodo_kprobe goes in, whose size says how long it is.
 *
 * -EBADMSG: it is not as it must be; -EBUSY: the file has a recording already; -EEXIST: there is an event of that name;
 * -ENOSPC: too many probes, or too many events; -ENOENT: the kernel has no such function; -EINVAL: it lets nobody probe
 * there; -EILSEQ: no instruction begins there; -EOPNOTSUPP: it was built without kprobes; -EPERM: it is locked down.
 */
#define HODO_IOC_KPROBE _IOW(0xb7, 9, struct hodo_kprobe)

#define HODO_KPROBES_MAX 1024u        /* of an open file */
#define HODO_KPROBE_SIZE_MAX 16384u   /* bytes of a struct hodo_kprobe */
#define HODO_KPROBE_STEPS_MAX 6u      /* pointers that are followed to a value */
#define HODO_KPROBE_TEXT_MAX 1023u    /* bytes of a text that are recorded, at most */
#define HODO_KPROBE_BYTES_MAX 8192u   /* of all values of an event, at most */
#define HODO_KPROBE_ARGUMENTS 6u      /* that are passed in registers */
#define HODO_KPROBE_STACK_MAX 63u

/* What a value begins with. */
enum hodo_kprobe_from {
	HODO_KPROBE_ARGUMENT = 1, /* in a register as the function's argument `number`, from 0 on; at the return: as it
				   * was passed */
	HODO_KPROBE_RETURNED = 2, /* what the function returns */
	HODO_KPROBE_DURATION = 3, /* since its entry, in ns */
	HODO_KPROBE_REGISTER = 4, /* that is at 8 * number in struct pt_regs */
	HODO_KPROBE_STACK = 5     /* the word at 8 * number on the stack */
};

/*
 * How a value is found: begin with what `from` says; `steps` times, take the pointer that lies offset[] behind it; then
 * `load` bytes that lie at the next offset behind that. load 0: a number is what was reached itself, a text lies at the
 * next offset. Of a bit field `bits` are taken, behind `shift` others; bits 0: all.
 */
struct hodo_kprobe_value {
	uint8_t type; /* enum hodo_type: an integer, bool, char, a pointer or a text */
	uint8_t from; /* enum hodo_kprobe_from */
	uint8_t number;
	uint8_t steps;
	uint8_t load; /* 0, 1, 2, 4 or 8 bytes */
	uint8_t shift, bits;
	uint8_t reserved;
	uint32_t text_max; /* of a text: bytes that it can have; else 0 */
	int32_t offset[HODO_KPROBE_STEPS_MAX + 1]; /* of steps that there are not: 0 */
};
HODO_ASSERT_SIZE_(struct hodo_kprobe_value, 40);

struct hodo_kprobe {
	uint32_t size;   /* bytes of all of it */
	uint32_t flags;  /* HODO_KPROBE_* */
	uint64_t offset; /* in the function, of the instruction before which the event happens */
	uint32_t values; /* as many of them, the fields of the event: HODO_FIELDS_MAX at most */
	uint32_t reserved;
	struct hodo_kprobe_value value[]; /* behind them, each with its NUL: names of function, event, fields */
};
HODO_ASSERT_SIZE_(struct hodo_kprobe, 24);
#define HODO_KPROBE_RETURN 1u /* the event happens where the function returns */

#endif
