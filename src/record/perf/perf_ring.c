/* SPDX-License-Identifier: MIT */
#include "record/perf/perf_ring.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

bool lode_perf_ring_map(LodePerfRing *self, int descriptor, size_t pages)
{
	size_t size = (pages + 1) * page_size();
	void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);

	if (base == MAP_FAILED)
		return false;
	*self = (LodePerfRing){.base = base, .size = size, .mask = pages * page_size() - 1};
	return true;
}

bool lode_perf_ring_make(LodePerfRing *self, size_t pages)
{
	size_t size = (pages + 1) * page_size();
	void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED)
		return false;
	*self = (LodePerfRing){.base = base, .size = size, .mask = pages * page_size() - 1};
	return true;
}

size_t lode_perf_ring_used(const LodePerfRing *self)
{
	const struct perf_event_mmap_page *page = self->base;

	return (size_t)(page->data_head - page->data_tail);
}

bool lode_perf_ring_put(LodePerfRing *self, const void *record, size_t size)
{
	struct perf_event_mmap_page *page = self->base;
	size_t offset = page->data_head & self->mask;
	size_t first = MIN(size, self->mask + 1 - offset);

	if (size > self->mask + 1 - lode_perf_ring_used(self))
		return false;
	memcpy((char *)self->base + page_size() + offset, record, first);
	memcpy((char *)self->base + page_size(), (const char *)record + first, size - first);
	__atomic_store_n(&page->data_head, page->data_head + size, __ATOMIC_RELEASE);
	return true;
}

void lode_perf_ring_unmap(LodePerfRing *self)
{
	if (self->base != NULL)
		munmap(self->base, self->size);
	*self = (LodePerfRing){0};
}

bool lode_perf_ring_update(LodePerfRing *self)
{
	const struct perf_event_mmap_page *page = self->base;

	if (page == NULL)
		return false;
	self->head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	return self->head != self->tail;
}

const void *lode_perf_ring_at(const LodePerfRing *self, uint64_t position, size_t *out_size)
{
	size_t offset = position & self->mask;

	*out_size = MIN((size_t)(self->head - position), self->mask + 1 - offset);
	return (const char *)self->base + page_size() + offset;
}

void lode_perf_ring_copy(const LodePerfRing *self, uint64_t position, void *to, size_t size)
{
	for (size_t done = 0, n; done < size; done += n) {
		const void *from = lode_perf_ring_at(self, position + done, &n);
		n = MIN(n, size - done);
		if (n == 0)
			break;
		memcpy((char *)to + done, from, n);
	}
}

void lode_perf_ring_release(LodePerfRing *self)
{
	struct perf_event_mmap_page *page = self->base;

	self->tail = self->head;
	__atomic_store_n(&page->data_tail, self->tail, __ATOMIC_RELEASE);
}
