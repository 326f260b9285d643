/* SPDX-License-Identifier: MIT */
#include "ingest/windows/access_visits.h"

#include "base/arrays/hash.h"
#include "base/bits.h"

#include <glib.h>
#include <string.h>

enum { LINE = 64, PAGE = 4096, SMALLEST_ROOM = 4, MOST_LINES = 64 };

/* Different values have different hashes (Stafford's variant 13 of the finaliser of MurmurHash3).
 */
static uint64_t mix(uint64_t value)
{
	value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return value ^ value >> 31;
}

void lode_distinct_add(LodeDistinct *self, uint64_t value)
{
	uint64_t hash = mix(value + LODE_HASH_MULTIPLIER);
	uint32_t i = self->n;

	while (i > 0 && self->hashes[i - 1] > hash)
		i--;
	if (i > 0 && self->hashes[i - 1] == hash)
		return;
	self->is_more |= self->n == LODE_DISTINCT_KEPT;
	if (i == LODE_DISTINCT_KEPT)
		return;
	if (self->n == self->room) {
		self->room = CLAMP(2 * self->room, SMALLEST_ROOM, LODE_DISTINCT_KEPT);
		self->hashes = g_renew(uint64_t, self->hashes, self->room);
	}
	uint32_t n_after = MIN(self->n, LODE_DISTINCT_KEPT - 1) - i;
	memmove(&self->hashes[i + 1], &self->hashes[i], n_after * sizeof(uint64_t));
	self->hashes[i] = hash;
	self->n = MIN(self->n + 1, LODE_DISTINCT_KEPT);
}

uint32_t lode_distinct_count(const LodeDistinct *self)
{
	if (!self->is_more)
		return self->n;
	double share = (double)self->hashes[self->n - 1] / 0x1p64;
	return (uint32_t)CLAMP((self->n - 1) / share + 0.5, self->n + 1, (double)UINT32_MAX);
}

void lode_distinct_clear(LodeDistinct *self)
{
	g_clear_pointer(&self->hashes, g_free);
}

static void add_difference(LodeAccessFacts *self, int64_t difference)
{
	LodeStrideCount *least = &self->strides[0];

	for (unsigned i = 0; i < LODE_STRIDE_COUNTERS; i++) {
		LodeStrideCount *it = &self->strides[i];
		if (it->n > 0 && it->difference == difference) {
			it->n++;
			return;
		}
		if (it->n < least->n)
			least = it;
	}
	*least = (LodeStrideCount){difference, least->n + 1, least->n};
}

/* The bytes of their lines. */
static uint64_t line_bytes(uint64_t address, uint32_t size)
{
	unsigned first = address % LINE;
	uint64_t mask = lode_low_bits(size);

	return first == 0 ? mask : mask << first | mask >> (LINE - first);
}

void lode_access_facts_add(LodeAccessFacts *self, LodeObservedInstruction *facts, uint64_t address,
	uint32_t size, uint32_t stretch)
{
	uint64_t last = size - 1;

	facts->accesses++;
	facts->line_bytes |= line_bytes(address, size);
	facts->split += address % LINE + last >= LINE;
	facts->split_pages += address % PAGE + last >= PAGE;
	facts->first_accesses += self->last_stretch != stretch;
	if (self->last_stretch == stretch) {
		facts->repeated += address == self->last_address;
		facts->page_changes += address / PAGE != self->last_address / PAGE;
		if (address != self->last_address)
			add_difference(self, (int64_t)(address - self->last_address));
	}
	self->last_address = address;
	self->last_stretch = stretch;
	for (uint64_t i = 0; i <= MIN((address % LINE + last) / LINE, MOST_LINES); i++)
		lode_distinct_add(&self->lines, address / LINE + i);
	for (uint64_t i = 0; i <= MIN((address % PAGE + last) / PAGE, 1); i++)
		lode_distinct_add(&self->pages, address / PAGE + i);
}

static uint64_t magnitude(int64_t difference)
{
	return difference < 0 ? -(uint64_t)difference : (uint64_t)difference;
}

/* Among equally frequent differences the smallest is chosen. */
void lode_access_facts_finish(const LodeAccessFacts *self, LodeObservedInstruction *facts)
{
	for (unsigned i = 0; i < LODE_STRIDE_COUNTERS; i++) {
		const LodeStrideCount *it = &self->strides[i];
		uint32_t n = it->n - it->n_over;
		if (n == 0 || n < facts->strided ||
			(n == facts->strided &&
				magnitude(it->difference) >= magnitude(facts->stride)))
			continue;
		facts->strided = n;
		facts->stride = it->difference;
	}
	facts->lines = lode_distinct_count(&self->lines);
	facts->pages = lode_distinct_count(&self->pages);
}

void lode_access_facts_clear(LodeAccessFacts *self)
{
	lode_distinct_clear(&self->lines);
	lode_distinct_clear(&self->pages);
}
