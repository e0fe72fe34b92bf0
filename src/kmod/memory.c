/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * memory.c - a recording's memory and its mappings.
 *
 * Mappings are read-only, and stay so. A page is mapped when it is touched; parts without memory (a CPU that
 * was absent, the rest of the catalogue) read as zeros.
 */
#include "memory.h"
#include "kmod.h"

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>

#define CATALOG_BYTES (4u << 20) /* all events of a kernel take a quarter of it */

static void memory_free(struct kref *kref)
{
	struct hodo_memory *m = container_of(kref, struct hodo_memory, kref);

	for (uint32_t i = 0; m->data && i < m->layout.rings; i++)
		vfree(m->data[i]);
	kvfree(m->data);
	vfree(m->control);
	vfree(m->catalog);
	vfree(m->threads);
	vfree(m->limited);
	free_page((unsigned long)m->shm);
	if (m->zeros)
		__free_page(m->zeros);
	kfree(m);
}

void hodo_memory_get(struct hodo_memory *memory)
{
	kref_get(&memory->kref);
}

void hodo_memory_put(struct hodo_memory *memory)
{
	if (memory)
		kref_put(&memory->kref, memory_free);
}

/* For each present CPU, on its node; and for the fallback ring. */
static bool new_data(struct hodo_memory *m)
{
	unsigned int cpu, n = num_present_cpus() + 1;
	uint64_t pages = max(si_mem_available(), 0L) / 2;

	/* vmalloc() would take all memory, even from others, which would be killed for it. Half of it leaves
	 * them room, even if an earlier recording's memory is still held. */
	if (m->layout.ring_size > (pages << PAGE_SHIFT) / n)
		return false;
	m->data = kvcalloc(m->layout.rings, sizeof(*m->data), GFP_KERNEL);
	if (!m->data)
		return false;
	for_each_present_cpu(cpu) {
		m->data[cpu] = vzalloc_node(m->layout.ring_size, cpu_to_node(cpu));
		if (!m->data[cpu])
			return false;
		cond_resched();
	}
	m->data[m->layout.rings - 1] = vzalloc(m->layout.ring_size);
	return m->data[m->layout.rings - 1] != NULL;
}

struct hodo_memory *hodo_memory_new(uint32_t packet_size, uint64_t ring_size, uint32_t mode, bool rates)
{
	struct hodo_memory *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (!m)
		return NULL;
	kref_init(&m->kref);
	m->mode = mode;
	if (hodo_layout_init(&m->layout, nr_cpu_ids + 1, packet_size, ring_size) < 0)
		goto fail;
	m->catalog_size = CATALOG_BYTES;
	m->shm = (struct hodo_shm *)get_zeroed_page(GFP_KERNEL);
	/* Not the kernel's zero page: not every kernel counts mappings of that. */
	m->zeros = alloc_page(GFP_KERNEL | __GFP_ZERO);
	m->threads = vzalloc(HODO_THREADS_MAX * sizeof(*m->threads));
	m->catalog = vzalloc(m->catalog_size);
	m->control = vzalloc((size_t)m->layout.rings * HODO_PAGE);
	if (!m->shm || !m->zeros || !m->threads || !m->catalog || !m->control)
		goto fail;
	if (rates) {
		m->limited = vzalloc(HODO_EVENTS_MAX * sizeof(*m->limited));
		if (!m->limited)
			goto fail;
	}
	if (new_data(m))
		return m;
fail:
	hodo_memory_put(m);
	return NULL;
}

/* ---------------------------------------------------------------- mapping */

static struct page *page_in(const struct hodo_memory *m, void *area, uint64_t size, uint64_t offset)
{
	return area && offset < size ? vmalloc_to_page((uint8_t *)area + offset) : m->zeros;
}

static struct page *ring_page(const struct hodo_memory *m, uint64_t ring, uint64_t offset)
{
	return page_in(m, m->data[ring], m->layout.ring_size, offset);
}

static struct page *page_at(const struct hodo_memory *m, uint64_t at)
{
	const struct hodo_layout *l = &m->layout;

	if (at < HODO_PAGE)
		return virt_to_page(m->shm);
	if (at < HODO_SHM_LIMITED)
		return m->zeros;
	if (at < HODO_SHM_THREADS)
		return page_in(m, m->limited, HODO_SHM_THREADS - HODO_SHM_LIMITED, at - HODO_SHM_LIMITED);
	if (at < HODO_SHM_CATALOG)
		return page_in(m, m->threads, HODO_SHM_CATALOG - HODO_SHM_THREADS, at - HODO_SHM_THREADS);
	if (at < HODO_SHM_RINGS)
		return page_in(m, m->catalog, m->catalog_size, at - HODO_SHM_CATALOG);
	if (at < l->data)
		return page_in(m, m->control, l->data - HODO_SHM_RINGS, at - HODO_SHM_RINGS);
	at -= l->data;
	return ring_page(m, at / l->ring_size, at % l->ring_size);
}

static vm_fault_t give(struct vm_fault *vmf, struct page *page)
{
	get_page(page);
	vmf->page = page;
	return 0;
}

static vm_fault_t fault_whole(struct vm_fault *vmf)
{
	const struct hodo_memory *m = vmf->vma->vm_private_data;
	uint64_t at = (uint64_t)vmf->pgoff << PAGE_SHIFT;

	return at < m->layout.total ? give(vmf, page_at(m, at)) : VM_FAULT_SIGBUS;
}

/* As if there were one file with the control page and packets of all rings, one after another. */
static uint64_t ring_pages(const struct hodo_memory *m)
{
	return 1 + (m->layout.ring_size >> PAGE_SHIFT);
}

static vm_fault_t fault_ring(struct vm_fault *vmf)
{
	const struct hodo_memory *m = vmf->vma->vm_private_data;
	uint64_t ring = vmf->pgoff / ring_pages(m), page = vmf->pgoff % ring_pages(m);

	if (ring >= m->layout.rings)
		return VM_FAULT_SIGBUS;
	if (page == 0)
		return give(vmf, vmalloc_to_page(hodo_memory_ring(m, ring)));
	return give(vmf, ring_page(m, ring, (page - 1) << PAGE_SHIFT));
}

static void mapping_open(struct vm_area_struct *vma)
{
	hodo_memory_get(vma->vm_private_data);
}

static void mapping_close(struct vm_area_struct *vma)
{
	hodo_memory_put(vma->vm_private_data);
}

static const struct vm_operations_struct whole_ops = {
	.open = mapping_open, .close = mapping_close, .fault = fault_whole,
};
static const struct vm_operations_struct ring_ops = {
	.open = mapping_open, .close = mapping_close, .fault = fault_ring,
};

static int map(struct hodo_memory *m, struct vm_area_struct *vma, uint64_t pages, uint64_t first,
	       const struct vm_operations_struct *ops)
{
	/* VM_MAYSHARE: a shared mapping of a read-only file has no VM_SHARED. */
	if ((vma->vm_flags & (VM_WRITE | VM_EXEC)) || !(vma->vm_flags & VM_MAYSHARE))
		return -EPERM;
	if (vma->vm_pgoff > pages || vma_pages(vma) > pages - vma->vm_pgoff)
		return -EINVAL;
	hodo_vma_flags(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
	vma->vm_pgoff += first;
	vma->vm_private_data = m;
	vma->vm_ops = ops;
	hodo_memory_get(m);
	return 0;
}

int hodo_memory_map(struct hodo_memory *memory, struct vm_area_struct *vma)
{
	return map(memory, vma, memory->layout.total >> PAGE_SHIFT, 0, &whole_ops);
}

int hodo_memory_map_ring(struct hodo_memory *memory, uint32_t ring, struct vm_area_struct *vma)
{
	if (ring >= memory->layout.rings)
		return -EINVAL;
	return map(memory, vma, ring_pages(memory), ring * ring_pages(memory), &ring_ops);
}
