/* SPDX-License-Identifier: MIT */
#include "caches/filter/filter_rules.h"

#include <string.h>

static LodeFilterShape shape_of(const LodeCache *cache, bool classifies)
{
	LodeFilterShape shape = {.is_there = true};

	shape.shift = (uint8_t)g_bit_storage(cache->line_bytes - 1);
	shape.counts_second_use = cache->replacement == LODE_REPLACEMENT_SRRIP;
	/* the fully associative cache beside it wants to know of all but repetitions */
	shape.mask = classifies ? 0 : (uint16_t)(MIN(cache->n_sets, LODE_FILTER_MAX_ENTRIES) - 1);
	return shape;
}

static void add_data_rules(LodeFilterRules *rules, const LodeCache *cache, bool is_coherent)
{
	rules->keeps_data = cache->prefetch == LODE_PREFETCH_STRIDE;
	rules->keeps_stores = is_coherent;
	rules->stores_bring_lines = !cache->is_no_allocate;
	rules->stores_end_here = !cache->is_write_through;
	rules->loads_next = cache->prefetch == LODE_PREFETCH_NEXT_LINE;
}

static void add_cache_rules(LodeFilterRules *rules, const LodeCache *cache, bool classifies)
{
	LodeFilterShape shape = shape_of(cache, classifies);

	if (cache->holds & LODE_CACHE_INSTRUCTIONS) {
		*(cache->is_tlb ? &rules->fetch_pages : &rules->fetches) = shape;
		if (!cache->is_tlb)
			rules->fetches_next = cache->prefetch == LODE_PREFETCH_NEXT_LINE;
	}
	if (cache->holds & LODE_CACHE_DATA) {
		*(cache->is_tlb ? &rules->data_pages : &rules->data) = shape;
		if (!cache->is_tlb)
			add_data_rules(rules, cache, classifies && rules->forgets_on_switch);
	}
}

static bool is_plain(const LodeFilterRules *rules)
{
	const LodeFilterShape *fetches = &rules->fetches, *data = &rules->data;

	return data->is_there && !rules->is_unified && !rules->fetch_pages.is_there &&
	       !rules->data_pages.is_there && !fetches->counts_second_use &&
	       !data->counts_second_use && !rules->keeps_data && !rules->keeps_stores &&
	       rules->stores_bring_lines && rules->stores_end_here && !rules->fetches_next &&
	       !rules->loads_next;
}

void lode_filter_rules_init(
	LodeFilterRules *out_rules, const LodeHierarchy *hierarchy, bool classifies)
{
	LodeFilterRules *rules = out_rules;

	memset(rules, 0, sizeof(*rules));
	rules->forgets_on_switch = hierarchy->n_cores != 1;
	for (guint i = 0; i < hierarchy->caches->len; i++) {
		const LodeCache *cache = &g_array_index(hierarchy->caches, LodeCache, i);

		if (cache->level != 1)
			continue;
		add_cache_rules(rules, cache, classifies);
		if (cache->holds == (LODE_CACHE_INSTRUCTIONS | LODE_CACHE_DATA))
			rules->is_unified = true;
	}
	/* what is brought in by a stride may push out any line */
	rules->keeps_fetches = rules->is_unified && rules->keeps_data;
	rules->is_plain = is_plain(rules);
}

bool lode_filter_rules_merge(LodeFilterRules *self, const LodeFilterRules *other)
{
	LodeFilterRules merged = *self, same = *other;
	LodeFilterShape *const shapes[][2] = {
		{&merged.fetches, &same.fetches},
		{&merged.data, &same.data},
		{&merged.fetch_pages, &same.fetch_pages},
		{&merged.data_pages, &same.data_pages},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(shapes); i++)
		shapes[i][0]->mask = shapes[i][1]->mask = MIN(
			shapes[i][0]->mask, shapes[i][1]->mask);
	if (memcmp(&merged, &same, sizeof(merged)) != 0)
		return false;
	*self = merged;
	return true;
}
