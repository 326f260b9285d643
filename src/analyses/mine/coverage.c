/* SPDX-License-Identifier: MIT */
#include "analyses/mine/coverage.h"

#include "analyses/mine/searcher.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct LodeCoverageIndex {
	LodeSearch search;
	LodeLevel root;
	LodeSearchGraph *prepared;
	const LodeMiningRun *run;
	uint32_t *items; /* run attribute → item; LODE_NONE */
};

struct LodeCoverageSearch {
	const LodeCoverageIndex *index;
	LodeSearcher *searcher;
	LodeLevel root;        /* the shared level with a pattern of our own */
	uint32_t previous[64]; /* items of the sequence that the levels stand at */
	uint32_t n_previous;
	uint32_t n_levels; /* levels that are filled, the root included */
};

/* Item numbers of the run's attributes: both lists are sorted by bytes. */
static uint32_t *map_items(const LodeSearchGraph *graph, const LodeMiningRun *run)
{
	uint32_t *items = g_new(uint32_t, run->attributes->len + 1);
	uint32_t item = 0;

	for (guint i = 0; i < run->attributes->len; i++) {
		const char *name = g_ptr_array_index(run->attributes, i);
		int order = -1;
		while (item < graph->n_items &&
			(order = strcmp(graph->graph->attribute_names[graph->item_attributes[item]],
				 name)) < 0)
			item++;
		items[i] = item < graph->n_items && order == 0 ? item : LODE_NONE;
	}
	return items;
}

LodeCoverageIndex *lode_coverage_index_new(
	const LodeFlowGraph *graph, const LodeMiningRun *run, GError **error)
{
	LodeCoverageIndex *self = g_new0(LodeCoverageIndex, 1);

	self->run = run;
	self->prepared = lode_search_graph_new(graph, &run->parameters);
	self->items = map_items(self->prepared, run);
	lode_search_init(&self->search, self->prepared, &run->parameters, NULL);
	self->search.root = &self->root;
	LodeSearcher *starter = lode_searcher_new(&self->search);
	bool is_ok = self->search.uses_windows ? lode_windows_start(starter, &self->root)
	                                       : lode_paths_start(starter, &self->root);
	lode_searcher_free(starter);
	if (!is_ok) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"the summary needs more memory than --memory allows: raise it or "
			"--min-support");
		lode_coverage_index_free(self);
		return NULL;
	}
	return self;
}

void lode_coverage_index_free(LodeCoverageIndex *self)
{
	if (self == NULL)
		return;
	lode_level_clear(&self->search, &self->root);
	lode_search_graph_free(self->prepared);
	g_free(self->items);
	g_free(self);
}

LodeCoverageSearch *lode_coverage_search_new(LodeCoverageIndex *index)
{
	LodeCoverageSearch *self = g_new0(LodeCoverageSearch, 1);

	self->index = index;
	self->searcher = lode_searcher_new(&index->search);
	self->root.candidates = index->root.candidates;
	self->root.members = index->root.members;
	self->root.groups = index->root.groups;
	self->root.path_size = index->root.path_size;
	self->searcher->root = &self->root;
	self->n_levels = 1;
	return self;
}

void lode_coverage_search_free(LodeCoverageSearch *self)
{
	if (self == NULL)
		return;
	LodeSearch *search = self->searcher->search;
	lode_searcher_free(self->searcher);
	self->root.candidates = self->root.members = self->root.groups = (LodeBuffer){0};
	lode_level_clear(search, &self->root);
	g_free(self);
}

/* Makes the groups that match the element [first, end) of the items the level's only pattern. */
static bool select_element(LodeCoverageSearch *self, uint32_t depth, uint32_t first, uint32_t end)
{
	LodeSearcher *searcher = self->searcher;
	LodeLevel *level = lode_searcher_level(searcher, depth);

	if (!lode_buffer_reserve(
		    searcher->search, &level->group_lists, level->groups.n + 1, sizeof(uint32_t)) ||
		!lode_buffer_reserve(searcher->search, &level->patterns, 1, sizeof(LodePattern)))
		return false;
	level->group_lists.n = 0;
	for (uint32_t g = 0; g < level->groups.n; g++)
		if (lode_class_matches(searcher->search->graph,
			    LODE_BUFFER_AT(&level->groups, LodeGroup, g).class_id,
			    self->previous + first, end - first))
			LODE_BUFFER_AT(&level->group_lists, uint32_t, level->group_lists.n++) = g;
	level->patterns.n = 1;
	level->current = 0;
	LODE_BUFFER_AT(&level->patterns, LodePattern, 0) = (LodePattern){
		.n_groups = (uint32_t)level->group_lists.n};
	return true;
}

/* Fills the level below the pattern selected at depth − 1. */
static bool fill_level(LodeCoverageSearch *self, uint32_t depth)
{
	LodeSearcher *searcher = self->searcher;

	self->n_levels = depth + 1;
	return searcher->search->uses_windows
	               ? lode_windows_extend(searcher, depth,
				 searcher->search->parameters->window + 1, UINT32_MAX)
	               : lode_paths_extend(searcher, depth);
}

/* Forgets the sums of the sequence that was looked at last. */
static void reset_sums(LodeSearcher *searcher)
{
	const uint32_t *touched = searcher->touched.data, *firsts = searcher->firsts.data;

	for (size_t i = 0; i < searcher->touched.n; i++)
		searcher->sums[touched[i]].sum = 0;
	for (size_t i = 0; i < searcher->firsts.n; i++)
		searcher->sums[firsts[i]].first_sum = 0;
	searcher->touched.n = searcher->firsts.n = 0;
}

static GArray *take_shares(LodeSearcher *searcher)
{
	GArray *shares = g_array_sized_new(
		FALSE, FALSE, sizeof(LodeVertexShare), (guint)searcher->touched.n);

	for (size_t i = 0; i < searcher->touched.n; i++) {
		uint32_t v = LODE_BUFFER_AT(&searcher->touched, uint32_t, i);
		const LodeVertexSum *sum = &searcher->sums[v];
		LodeVertexShare share = {v, fmin(1, sum->sum / sum->count)};
		if (sum->count > 0)
			g_array_append_val(shares, share);
	}
	reset_sums(searcher);
	return shares;
}

/* Takes over the sequence's items; how many leading elements the levels already stand at. */
static bool load_items(
	LodeCoverageSearch *self, const uint32_t *items, uint32_t n, uint32_t *out_n_same)
{
	uint32_t mapped[64], same = 0;

	for (uint32_t i = 0; i < n; i++) {
		mapped[i] = self->index->items[LODE_ITEM_ATTRIBUTE(items[i])];
		if (mapped[i] == LODE_NONE)
			return false;
		mapped[i] |= items[i] & LODE_ITEM_START;
	}
	*out_n_same = 0;
	for (uint32_t i = 0; i < n;) {
		uint32_t end = lode_sequence_element_end(mapped, n, i);
		if (end > self->n_previous ||
			(end < self->n_previous && (self->previous[end] & LODE_ITEM_START) == 0) ||
			memcmp(mapped + same, self->previous + same,
				(end - same) * sizeof(uint32_t)) != 0)
			break;
		++*out_n_same;
		i = same = end;
	}
	memcpy(self->previous, mapped, n * sizeof(uint32_t));
	self->n_previous = n;
	return true;
}

GArray *lode_coverage_find(LodeCoverageSearch *self, size_t index)
{
	const LodeSequence *one = &g_array_index(self->index->run->sequences, LodeSequence, index);
	LodeSearcher *searcher = self->searcher;
	uint32_t n_same, depth = 0;

	if (one->n_items > G_N_ELEMENTS(self->previous) ||
		!load_items(self, lode_mining_run_items(self->index->run, index), one->n_items,
			&n_same))
		return NULL;
	for (uint32_t i = 0; i < one->n_items; depth++) {
		uint32_t end = lode_sequence_element_end(self->previous, one->n_items, i);
		/* A level stands while all elements above it are the same. */
		if (depth > 0 && (depth > n_same || depth >= self->n_levels) &&
			!fill_level(self, depth)) {
			self->n_previous = 0;
			self->n_levels = 1;
			return NULL;
		}
		if (depth >= n_same || end == one->n_items)
			if (!select_element(self, depth, i, end))
				return NULL;
		i = end;
	}
	/* Levels below are of the sequence before: they are filled again when they are needed. */
	self->n_levels = depth;
	const LodePattern *pattern = &LODE_BUFFER_AT(
		&lode_searcher_level(searcher, depth - 1)->patterns, LodePattern, 0);
	if (searcher->search->uses_windows)
		lode_windows_sum(searcher, depth - 1, pattern);
	else
		lode_paths_sum(searcher, depth - 1, pattern);
	return take_shares(searcher);
}
