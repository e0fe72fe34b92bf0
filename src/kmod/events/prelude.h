/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * prelude.h - types that the kernel's event headers use but do not define. generate.py reads it: lines that
 * the present kernel does not have, or that do not compile in a module, are left out; the rest is compiled
 * once, as a precompiled header, with which each event file begins. Headers that several of these include,
 * such as <linux/sched.h>, are not listed.
 *
 * A precompiled header comes before everything else, so it begins with what kbuild would include first, and
 * lets kbuild include that again.
 */
#pragma once

#include <linux/kconfig.h>
#include <linux/compiler_types.h>
#undef __LINUX_COMPILER_VERSION_H

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/tracepoint.h>
#include <linux/trace_events.h>
#include <linux/unaligned.h>
#include <asm/unaligned.h>

/* Processes, time, interrupts. */
#include <linux/sched/cputime.h>
#include <linux/sched/numa_balancing.h>
#include <linux/binfmts.h>
#include <linux/cpufreq.h>
#include <linux/devfreq.h>
#include <linux/irq.h>
#include <linux/kvm_host.h>
#include <linux/livepatch.h>
#include <linux/rtc.h>
#include <linux/rtmutex.h>
#include <linux/tick.h>
#include <linux/watchdog.h>

/* Memory. */
#include <linux/cma.h>
#include <linux/compaction.h>
#include <linux/damon.h>
#include <linux/dma-fence.h>
#include <linux/hugetlb.h>
#include <linux/khugepaged.h>
#include <linux/ksm.h>
#include <linux/memory.h>
#include <linux/memory-tiers.h>
#include <linux/migrate.h>
#include <linux/mm_inline.h>
#include <linux/mman.h>
#include <linux/oom.h>
#include <linux/page_owner.h>
#include <linux/slab.h>
#include <linux/swiotlb.h>
#include <linux/zsmalloc.h>

/* Up to 6.7 struct kmem_cache is visible, among unused functions that need the private struct slab. */
#if defined(CONFIG_SLUB) && __has_include(<linux/slub_def.h>)
#define slab hodo_no_slab
#define slab_address hodo_no_slab_address
struct slab {
	unsigned int objects;
};
static inline void *slab_address(const struct slab *s)
{
	return NULL;
}
#include <linux/slub_def.h>
#undef slab
#undef slab_address
#endif

/* Files and blocks. */
#include <linux/backing-dev.h>
#include <linux/blktrace_api.h>
#include <linux/blk-cgroup.h>
#include <linux/dax.h>
#include <linux/dlm.h>
#include <linux/filelock.h>
#include <linux/fscache.h>
#include <linux/fsverity.h>
#include <linux/iomap.h>
#include <linux/io_uring.h>
#include <linux/io_uring_types.h>
#include <linux/jbd2.h>
#include <linux/libata.h>
#include <linux/lockd/lockd.h>
#include <linux/nbd.h>
#include <linux/netfs.h>
#include <linux/nfs.h>
#include <linux/nfs_fs.h>
#include <linux/quotaops.h>
#include <scsi/scsi_cmnd.h>
#include <scsi/scsi_device.h>
#include <scsi/scsi_host.h>
#include <target/target_core_base.h>

/* Network. */
#include <linux/icmp.h>
#include <linux/mdio.h>
#include <linux/phy.h>
#include <linux/sctp.h>
#include <linux/sunrpc/clnt.h>
#include <linux/sunrpc/svc_xprt.h>
#include <linux/sunrpc/xprt.h>
#include <linux/virtio_vsock.h>
#include <net/9p/9p.h>
#include <net/9p/client.h>
#include <net/af_rxrpc.h>
#include <net/af_vsock.h>
#include <net/devlink.h>
#include <net/dropreason.h>
#include <net/handshake.h>
#include <net/hotdata.h>
#include <net/ip6_route.h>
#include <net/ip_tunnels.h>
#include <net/mctp.h>
#include <net/mptcp.h>
#include <net/netns/generic.h>
#include <net/page_pool.h>
#include <net/page_pool/types.h>
#include <net/pkt_sched.h>
#include <net/rstreason.h>
#include <net/sctp/structs.h>
#include <net/tcp.h>
#include <net/tcp_ao.h>
#include <net/tls.h>
#include <net/xdp.h>
#include <net/xdp_priv.h>
#include <net/xdp_sock.h>
#include <trace/events/xdp.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>
#include <linux/sunrpc/svc_rdma.h>

/* Devices. */
#include <linux/aer.h>
#include <linux/amba/bus.h>
#include <linux/clk.h>
#include <linux/clk-provider.h>
#include <linux/cper.h>
#include <linux/dma-buf.h>
#include <linux/edac.h>
#include <linux/gpio.h>
#include <linux/host1x.h>
#include <linux/hwmon.h>
#include <linux/i2c.h>
#include <linux/iommu.h>
#include <linux/intel-ish-client-if.h>
#include <linux/leds.h>
#include <linux/mmc/core.h>
#include <linux/mmc/host.h>
#include <linux/nvmem-consumer.h>
#include <linux/pci.h>
#include <linux/power_supply.h>
#include <linux/pwm.h>
#include <linux/ras.h>
#include <linux/rpmsg.h>
#include <linux/scmi_protocol.h>
#include <linux/spi/spi.h>
#include <linux/spmi.h>
#include <linux/stm.h>
#include <linux/thermal.h>
#include <linux/tee_drv.h>
#include <linux/usb.h>
#include <linux/virtio.h>
#include <media/v4l2-common.h>
#include <media/videobuf2-v4l2.h>
#include <sound/jack.h>
#include <sound/soc.h>
#include <ufs/ufshcd.h>
#include <xen/interface/xen.h>
#include <xen/xen-ops.h>
#include <asm/desc.h>
#include <asm/hyperv-tlfs.h>
#include <asm/mshyperv.h>
#include <asm/traps.h>
#include <asm/xen/hypercall.h>

/* Security, and others. */
#include <linux/lsm_audit.h>
#include <linux/rpmb.h>
