/* SPDX-License-Identifier: MIT */
/* Fills, write-backs and the protocol between cores. */
#include "caches/cache_lines.h"

void lode_cache_lines_write(LodeCacheCore *core, unsigned level, uint64_t first, uint64_t last)
{
	const LodeCacheCopy *copy = core->data[level];
	unsigned shift;

	if (copy == NULL)
		return;
	shift = copy->line_shift;
	for (uint64_t line = first >> shift;; line++) {
		uint64_t *entry = copy->cache->is_write_through
		                          ? NULL
		                          : lode_cache_sets_find(&copy->sets, line);

		if (entry != NULL)
			*entry |= LODE_LINE_DIRTY;
		else
			lode_cache_lines_write(core, level + 1, MAX(first, line << shift),
				MIN(last, line << shift | ((UINT64_C(1) << shift) - 1)));
		if (line == last >> shift)
			break;
	}
}

static void write_back(LodeCacheCore *core, LodeCacheCopy *copy, uint64_t line)
{
	uint64_t first = line << copy->line_shift;

	copy->counts->write_backs++;
	lode_cache_lines_write(core, copy->data_level + 1u, first,
		first | ((UINT64_C(1) << copy->line_shift) - 1));
}

uint64_t *lode_cache_lines_fill(
	LodeCacheMachine *machine, LodeCacheCore *core, LodeCacheCopy *copy, uint64_t line)
{
	uint64_t victim;
	uint64_t *entry = lode_cache_sets_fill(&copy->sets, line, &victim);

	if (victim & LODE_LINE_DIRTY)
		write_back(core, copy, lode_line_number(victim));
	if (copy->is_coherent && machine->classifies)
		lode_miss_classes_regain(copy->classes, line);
	return entry;
}

static void take_from_copy(
	LodeCacheCore *holder, LodeCacheCopy *copy, uint64_t line, uint64_t bytes)
{
	uint64_t *entry = lode_cache_sets_find(&copy->sets, line);

	if (entry != NULL) {
		if (*entry & LODE_LINE_DIRTY)
			write_back(holder, copy, line);
		lode_cache_sets_remove(&copy->sets, entry);
		copy->counts->invalidations++;
	}
	if (copy->classes != NULL)
		lode_miss_classes_lose(copy->classes, line, bytes, entry != NULL);
}

void lode_cache_lines_take(
	LodeCacheMachine *machine, const LodeCacheCore *core, uint64_t line, uint64_t bytes)
{
	for (unsigned i = 0; i < LODE_HIERARCHY_MAX_CORES; i++) {
		LodeCacheCore *other = machine->cores[i];

		if (other == NULL || other == core)
			continue;
		for (LodeCacheCopy **copy = other->data; *copy != NULL; copy++) {
			if ((*copy)->is_coherent)
				take_from_copy(other, *copy, line, bytes);
		}
	}
}

static bool share_of_copy(LodeCacheCore *holder, LodeCacheCopy *copy, uint64_t line)
{
	uint64_t *entry = lode_cache_sets_find(&copy->sets, line);

	if (entry == NULL)
		return false;
	if (*entry & LODE_LINE_DIRTY)
		write_back(holder, copy, line);
	*entry &= ~(uint64_t)(LODE_LINE_DIRTY | LODE_LINE_OWNED);
	return true;
}

bool lode_cache_lines_share(LodeCacheMachine *machine, const LodeCacheCore *core, uint64_t line)
{
	bool is_shared = false;

	for (unsigned i = 0; i < LODE_HIERARCHY_MAX_CORES; i++) {
		LodeCacheCore *other = machine->cores[i];

		if (other == NULL || other == core)
			continue;
		for (LodeCacheCopy **copy = other->data; *copy != NULL; copy++) {
			if ((*copy)->is_coherent)
				is_shared |= share_of_copy(other, *copy, line);
		}
	}
	return is_shared;
}

void lode_cache_lines_own(LodeCacheCore *core, uint64_t line)
{
	for (LodeCacheCopy **copy = core->data; *copy != NULL; copy++) {
		uint64_t *entry = (*copy)->is_coherent ? lode_cache_sets_find(&(*copy)->sets, line)
		                                       : NULL;

		if (entry != NULL)
			*entry |= LODE_LINE_OWNED;
	}
}

uint64_t lode_cache_lines_bytes(uint64_t line, unsigned line_shift, uint64_t first, uint64_t last)
{
	uint64_t start = line << line_shift;
	unsigned part_shift = line_shift > 6 ? line_shift - 6 : 0;
	uint64_t end = start | ((UINT64_C(1) << line_shift) - 1);
	unsigned low = (unsigned)((MAX(first, start) - start) >> part_shift);
	unsigned high = (unsigned)((MIN(last, end) - start) >> part_shift);

	return ~UINT64_C(0) >> (63 - high) & ~UINT64_C(0) << low;
}
