/* SPDX-License-Identifier: MIT */
/*
 * Which patterns of the root nothing can follow, found for all of them in one walk. A candidate of
 * the root is in many patterns, as its window has many elements, and most of those end there: so
 * the items that may follow the candidates of one group are bounded once, by item, and added to
 * every pattern that has the group.
 *
 *   group ──▶ bound of each item that may come next ──▶ [pattern × item]
 */
#include "analyses/mine/searcher.h"
#include "base/worker_pool.h"

#include <string.h>

enum { GROUPS_A_TASK = 64 };

typedef struct {
	double weight, count;
} Bound;

typedef struct {
	LodeSearcher **workers;
	unsigned n_workers;
	LodeLevel *root;
	uint32_t n_items;
	uint32_t *starts, *patterns; /* [groups + 1], the patterns by group */
	Bound **bounds;              /* of each worker: [patterns × items] */
} RootEnds;

/* Lists the passing patterns by group. */
static void list_patterns(RootEnds *self)
{
	const LodeLevel *root = self->root;
	const LodePattern *patterns = root->patterns.data;
	const uint32_t *lists = root->group_lists.data;
	uint32_t *starts = self->starts = g_new0(uint32_t, root->groups.n + 2);

	for (uint32_t p = 0; p < root->patterns.n; p++)
		for (uint32_t g = 0; patterns[p].passes && g < patterns[p].n_groups; g++)
			starts[lists[patterns[p].first_group + g] + 2]++;
	for (size_t g = 0; g < root->groups.n; g++)
		starts[g + 2] += starts[g + 1];
	self->patterns = g_new(uint32_t, starts[root->groups.n + 1] + 1);
	for (uint32_t p = 0; p < root->patterns.n; p++)
		for (uint32_t g = 0; patterns[p].passes && g < patterns[p].n_groups; g++)
			self->patterns[starts[lists[patterns[p].first_group + g] + 1]++] = p;
}

static void add_group(RootEnds *self, unsigned worker, uint32_t group)
{
	const LodeSearcher *searcher = self->workers[worker];
	Bound *bounds = self->bounds[worker];

	for (uint32_t item = 0; item < self->n_items; item++) {
		Bound more = {searcher->items.weight[item], searcher->items.count[item]};
		for (uint32_t i = self->starts[group];
			more.count > 0 && i < self->starts[group + 1]; i++) {
			Bound *bound = &bounds[(size_t)self->patterns[i] * self->n_items + item];
			bound->weight += more.weight;
			bound->count += more.count;
		}
	}
}

static void bound_task(size_t task, unsigned worker, void *user_data)
{
	RootEnds *self = user_data;
	size_t first = task * GROUPS_A_TASK;
	size_t end = MIN(first + GROUPS_A_TASK, self->root->groups.n);

	for (size_t g = first; g < end; g++) {
		if (self->starts[g] == self->starts[g + 1])
			continue;
		if (!lode_windows_bound_next(self->workers[worker],
			    &LODE_BUFFER_AT(&self->root->groups, LodeGroup, g)))
			return;
		add_group(self, worker, (uint32_t)g);
	}
}

static bool may_grow(const RootEnds *self, size_t pattern)
{
	for (uint32_t item = 0; item < self->n_items; item++) {
		Bound sum = {0};
		for (unsigned i = 0; i < self->n_workers; i++) {
			const Bound *bound = &self->bounds[i][pattern * self->n_items + item];
			sum.weight += bound->weight;
			sum.count += bound->count;
		}
		if (lode_search_may_pass(self->workers[0]->search, sum.weight, sum.count))
			return true;
	}
	return false;
}

/* Whether the table is small beside the candidates that it may save, and there is memory. */
static bool is_worth_it(const RootEnds *self)
{
	LodeSearch *search = self->workers[0]->search;
	size_t table = self->root->patterns.n * self->n_items * sizeof(Bound) * self->n_workers;

	return table <= self->root->candidates.n * self->root->path_size &&
	       atomic_load(&search->memory_used) + table <= search->memory_limit;
}

void lode_root_mark_ends(LodeLevel *root, LodeSearcher **workers, unsigned n_workers)
{
	RootEnds self = {
		.workers = workers,
		.n_workers = n_workers,
		.root = root,
		.n_items = workers[0]->search->graph->n_items,
	};

	if (!is_worth_it(&self))
		return;
	list_patterns(&self);
	self.bounds = g_new(Bound *, n_workers);
	for (unsigned i = 0; i < n_workers; i++)
		self.bounds[i] = g_new0(Bound, root->patterns.n * self.n_items + 1);
	lode_worker_pool_run(
		(root->groups.n + GROUPS_A_TASK - 1) / GROUPS_A_TASK, n_workers, bound_task, &self);
	for (size_t p = 0; p < root->patterns.n; p++)
		LODE_BUFFER_AT(&root->patterns, LodePattern, p).is_end = !may_grow(&self, p);
	for (unsigned i = 0; i < n_workers; i++)
		g_free(self.bounds[i]);
	g_free(self.bounds);
	g_free(self.starts);
	g_free(self.patterns);
}
