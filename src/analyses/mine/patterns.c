/* SPDX-License-Identifier: MIT */
/*
 * The elements of one level: sets of items, grown item by item behind the last one, over the
 * level's groups instead of its candidates. Breadth first, so that all elements of one size are
 * known before any of them is measured.
 */
#include "analyses/mine/searcher.h"
#include "base/worker_pool.h"

#include <math.h>
#include <string.h>

typedef struct {
	LodeSearcher *self;
	LodeLevel *level;
	uint32_t depth;
	LodeSearcher **workers;
	unsigned n_workers;
	uint32_t first_pattern; /* of the batch being measured */
} Enumeration;

static LodePattern *pattern_at(const LodeLevel *level, size_t index)
{
	return &LODE_BUFFER_AT(&level->patterns, LodePattern, index);
}

static bool has_item(
	const GArray *bits, const LodeSearchGraph *graph, uint32_t class_id, uint32_t item)
{
	uint64_t word = g_array_index(bits, uint64_t, class_id * graph->n_words + item / 64);

	return (word >> (item % 64) & 1) != 0;
}

/* Whether a window of the class that holds all `items` is minimal for them. */
static bool is_minimal(
	const LodeSearchGraph *graph, uint32_t class_id, const uint32_t *items, uint32_t n)
{
	bool needs_first = false, needs_last = false;

	if (class_id < graph->n_vertex_classes)
		return true;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t item = LODE_ITEM_ATTRIBUTE(items[i]);
		needs_first |= has_item(graph->class_first, graph, class_id, item);
		needs_last |= has_item(graph->class_last, graph, class_id, item);
	}
	return needs_first && needs_last;
}

bool lode_class_matches(
	const LodeSearchGraph *graph, uint32_t class_id, const uint32_t *items, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (!has_item(graph->class_bits, graph, class_id, LODE_ITEM_ATTRIBUTE(items[i])))
			return false;
	return is_minimal(graph, class_id, items, n);
}

static bool grow_pattern_table(Enumeration *run)
{
	LodeLevel *level = run->level;
	size_t capacity = MAX(level->table.n * 2, 64);

	if (!lode_buffer_reserve(run->self->search, &level->table, capacity, sizeof(uint32_t)))
		return false;
	uint32_t *slots = level->table.data;
	memset(slots, 0xff, capacity * sizeof(uint32_t));
	level->table.n = capacity;
	for (size_t i = 0; i < level->patterns.n; i++) {
		size_t at = pattern_at(level, i)->hash & (capacity - 1);
		while (slots[at] != LODE_NONE)
			at = (at + 1) & (capacity - 1);
		slots[at] = (uint32_t)i;
	}
	return true;
}

/*
 * The pattern of the groups from `first` to the end of the level's group lists; when it is known
 * already the list is dropped again. LODE_NONE: no memory.
 */
static uint32_t intern_pattern(Enumeration *run, uint32_t first)
{
	LodeLevel *level = run->level;
	const uint32_t *lists = level->group_lists.data;
	uint32_t n = (uint32_t)level->group_lists.n - first;
	uint64_t hash = n;

	for (uint32_t i = first; i < first + n; i++) {
		hash = (hash ^ lists[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	if ((level->patterns.n + 1) * 2 > level->table.n && !grow_pattern_table(run))
		return LODE_NONE;
	uint32_t *slots = level->table.data;
	size_t mask = level->table.n - 1, at = hash & mask;
	for (; slots[at] != LODE_NONE; at = (at + 1) & mask) {
		const LodePattern *known = pattern_at(level, slots[at]);
		if (known->hash == hash && known->n_groups == n &&
			memcmp(lists + known->first_group, lists + first, n * sizeof(*lists)) ==
				0) {
			level->group_lists.n = first;
			return slots[at];
		}
	}
	if (!lode_buffer_has_room(run->self->search, &level->patterns, 1, sizeof(LodePattern)))
		return LODE_NONE;
	slots[at] = (uint32_t)level->patterns.n;
	*pattern_at(level, level->patterns.n++) = (LodePattern){
		.hash = hash,
		.first_group = first,
		.n_groups = n,
		.first_alternative = LODE_NONE,
		.last_alternative = LODE_NONE,
	};
	return slots[at];
}

/* Bounds of (element + item) for each item behind the element's last one, in the searcher's
 * item arrays. With windows a group counts only where the grown element is minimal; that is checked
 * when the list is made, so here the bound is of all groups that hold the items. */
static void bound_growth(Enumeration *run, const uint32_t *groups, uint32_t n, int64_t last)
{
	LodeSearcher *self = run->self;
	const LodeSearchGraph *graph = self->search->graph;
	const uint32_t *starts = (const uint32_t *)(void *)graph->class_starts->data;
	const uint32_t *items = (const uint32_t *)(void *)graph->class_items->data;

	memset(self->item_weight, 0, sizeof(double) * graph->n_items);
	memset(self->item_count, 0, sizeof(double) * graph->n_items);
	memset(self->item_groups, 0, sizeof(uint32_t) * graph->n_items);
	for (uint32_t g = 0; g < n; g++) {
		const LodeGroup *group = &LODE_BUFFER_AT(&run->level->groups, LodeGroup, groups[g]);
		uint32_t begin = starts[group->class_id];
		for (uint32_t i = starts[group->class_id + 1]; i-- > begin;) {
			uint32_t item = items[i];
			if ((int64_t)item <= last)
				break;
			self->item_weight[item] += group->bound_weight;
			self->item_count[item] += group->bound_count;
			self->item_groups[item]++;
		}
	}
}

/* Appends to the group lists those of `first … first + n` that hold `item`. */
static bool filter_groups(Enumeration *run, uint32_t first, uint32_t n, uint32_t item)
{
	LodeLevel *level = run->level;
	const LodeSearchGraph *graph = run->self->search->graph;

	if (!lode_buffer_has_room(run->self->search, &level->group_lists, n, sizeof(uint32_t)))
		return false;
	uint32_t *lists = level->group_lists.data;
	for (uint32_t i = first; i < first + n; i++) {
		uint32_t class_id = LODE_BUFFER_AT(&level->groups, LodeGroup, lists[i]).class_id;
		if (has_item(graph->class_bits, graph, class_id, item))
			lists[level->group_lists.n++] = lists[i];
	}
	return true;
}

/* Appends those groups of the range for whose windows the element is minimal. */
static bool filter_minimal(
	Enumeration *run, uint32_t first, uint32_t n, const uint32_t *items, uint32_t n_items)
{
	LodeLevel *level = run->level;

	if (!lode_buffer_has_room(run->self->search, &level->group_lists, n, sizeof(uint32_t)))
		return false;
	uint32_t *lists = level->group_lists.data;
	for (uint32_t i = first; i < first + n; i++) {
		uint32_t class_id = LODE_BUFFER_AT(&level->groups, LodeGroup, lists[i]).class_id;
		if (is_minimal(run->self->search->graph, class_id, items, n_items))
			lists[level->group_lists.n++] = lists[i];
	}
	return true;
}

static bool has_windows(const Enumeration *run)
{
	return run->self->search->parameters->window > 0;
}

/* Adds (element + item) as an alternative; its pattern is found or made. */
static bool grow_element(Enumeration *run, const LodeAlternative *element, uint32_t item)
{
	LodeLevel *level = run->level;
	LodeSearch *search = run->self->search;
	LodeAlternative grown = {
		.first_item = (uint32_t)level->items.n,
		.size = element->size + 1,
		.next = LODE_NONE,
		.first_group = (uint32_t)level->group_lists.n,
	};

	if (!lode_buffer_has_room(search, &level->items, grown.size, sizeof(uint32_t)) ||
		!lode_buffer_has_room(search, &level->alternatives, 1, sizeof(grown)))
		return false;
	uint32_t *items = level->items.data;
	memcpy(items + grown.first_item, items + element->first_item,
		element->size * sizeof(uint32_t));
	items[grown.first_item + element->size] = item;
	if (!filter_groups(run, element->first_group, element->n_groups, item))
		return false;
	grown.n_groups = (uint32_t)level->group_lists.n - grown.first_group;
	uint32_t matching = grown.first_group;
	if (has_windows(run)) {
		matching = (uint32_t)level->group_lists.n;
		if (!filter_minimal(run, grown.first_group, grown.n_groups,
			    items + grown.first_item, grown.size))
			return false;
	}
	if (level->group_lists.n == matching) {
		level->group_lists.n = grown.first_group;
		return true; /* nowhere minimal: no occurrence */
	}
	grown.pattern = intern_pattern(run, matching);
	if (grown.pattern == LODE_NONE)
		return false;
	if (!has_windows(run))
		grown.first_group = pattern_at(level, grown.pattern)->first_group;
	level->items.n += grown.size;
	LODE_BUFFER_AT(&level->alternatives, LodeAlternative, level->alternatives.n++) = grown;
	return true;
}

static bool grow_by_items(Enumeration *run, const LodeAlternative *element, int64_t last)
{
	LodeSearcher *self = run->self;
	const LodeSearchGraph *graph = self->search->graph;
	const uint32_t *lists = run->level->group_lists.data;

	bound_growth(run, lists + element->first_group, element->n_groups, last);
	for (uint32_t item = (uint32_t)(last + 1); item < graph->n_items; item++) {
		if (self->item_groups[item] == 0 ||
			!lode_search_may_pass(
				self->search, self->item_weight[item], self->item_count[item]))
			continue;
		if (!grow_element(run, element, item))
			return false;
	}
	return true;
}

static uint32_t count_functions(LodeSearcher *self)
{
	const uint32_t *graphs = self->search->graph->graph->vertex_graphs;
	const uint32_t *firsts = self->firsts.data;
	uint32_t n = 0;

	self->stamp++;
	for (size_t i = 0; i < self->firsts.n; i++) {
		uint32_t graph = graphs[firsts[i]];
		n += self->graph_stamps[graph] != self->stamp;
		self->graph_stamps[graph] = self->stamp;
	}
	return n;
}

/* Turns the sums over vertices into supports; true when they pass. */
static bool finish_support(LodeSearcher *self, LodeSupport *support)
{
	const LodeSearch *search = self->search;
	const uint32_t *touched = self->touched.data, *firsts = self->firsts.data;
	double weight = 0, count = 0;

	for (size_t i = 0; i < self->touched.n; i++) {
		const LodeVertexSum *sum = &self->sums[touched[i]];
		double covered = fmin(sum->sum, sum->count);
		count += covered;
		weight += covered * sum->ratio;
	}
	*support = (LodeSupport){
		.weight = weight / search->graph->total_weight,
		.frequency = count / search->graph->total_count,
		.places = (uint32_t)self->firsts.n,
	};
	if (self->firsts.n == 0 ||
		!lode_support_passes(search->parameters, support->weight, support->frequency))
		return false;
	support->functions = count_functions(self);
	for (size_t i = 0; i < self->firsts.n; i++)
		support->executions += fmin(
			self->sums[firsts[i]].first_sum, self->sums[firsts[i]].count);
	return support->functions >= search->parameters->min_functions;
}

static void sum_events(LodeSearcher *self, double *events)
{
	const LodeFlowGraph *graph = self->search->graph->graph;
	const uint32_t *touched = self->touched.data;

	memset(events, 0, sizeof(double) * graph->n_events);
	for (size_t i = 0; i < self->touched.n; i++) {
		uint32_t v = touched[i];
		const LodeVertexSum *sum = &self->sums[v];
		double share = sum->count > 0 ? fmin(sum->sum, sum->count) / sum->count : 0;
		for (uint32_t e = graph->event_starts[v]; e < graph->event_starts[v + 1]; e++)
			events[graph->event_ids[e]] += graph->event_values[e] * share;
	}
	for (uint32_t e = 0; e < graph->n_events; e++)
		events[e] = graph->event_totals[e] > 0 ? events[e] / graph->event_totals[e] : 0;
}

void lode_searcher_reset_sums(LodeSearcher *self)
{
	const uint32_t *touched = self->touched.data, *firsts = self->firsts.data;

	for (size_t i = 0; i < self->touched.n; i++)
		self->sums[touched[i]].sum = 0;
	for (size_t i = 0; i < self->firsts.n; i++)
		self->sums[firsts[i]].first_sum = 0;
	self->touched.n = self->firsts.n = 0;
}

/* Measures one pattern with the scratch of `worker`. */
static void measure(Enumeration *run, LodeSearcher *worker, LodePattern *pattern)
{
	if (atomic_load_explicit(&worker->search->stop, memory_order_relaxed) != 0)
		return;
	if (worker->search->has_windows)
		lode_windows_sum(worker, run->depth, pattern);
	else
		lode_paths_sum(worker, run->depth, pattern);
	pattern->passes = finish_support(worker, &pattern->support);
	if (pattern->passes)
		sum_events(worker, &LODE_BUFFER_AT(&run->level->events, double, pattern->events));
	lode_searcher_reset_sums(worker);
}

static void measure_task(size_t task, unsigned worker, void *user_data)
{
	Enumeration *run = user_data;

	measure(run, run->workers[worker], pattern_at(run->level, run->first_pattern + task));
}

static bool measure_batch(Enumeration *run)
{
	LodeLevel *level = run->level;
	uint32_t n_events = run->self->search->graph->graph->n_events;
	size_t n = level->patterns.n - run->first_pattern;

	if (!lode_buffer_reserve(run->self->search, &level->events,
		    level->patterns.n * n_events + 1, sizeof(double)))
		return false;
	for (size_t i = run->first_pattern; i < level->patterns.n; i++)
		pattern_at(level, i)->events = i * n_events;
	if (run->workers != NULL)
		lode_worker_pool_run(n, run->n_workers, measure_task, run);
	else
		for (size_t i = run->first_pattern; i < level->patterns.n; i++)
			measure(run, run->self, pattern_at(level, i));
	return atomic_load_explicit(&run->self->search->stop, memory_order_relaxed) == 0;
}

/* Hangs the alternatives of one size that pass under their patterns; drops the others. */
static void link_alternatives(LodeLevel *level, size_t first)
{
	size_t kept = first;

	for (size_t i = first; i < level->alternatives.n; i++) {
		LodeAlternative one = LODE_BUFFER_AT(&level->alternatives, LodeAlternative, i);
		LodePattern *pattern = pattern_at(level, one.pattern);
		if (!pattern->passes)
			continue;
		if (pattern->first_alternative == LODE_NONE) {
			pattern->first_alternative = (uint32_t)kept;
			pattern->min_size = one.size;
		} else {
			LODE_BUFFER_AT(
				&level->alternatives, LodeAlternative, pattern->last_alternative)
				.next = (uint32_t)kept;
		}
		pattern->last_alternative = (uint32_t)kept;
		LODE_BUFFER_AT(&level->alternatives, LodeAlternative, kept++) = one;
	}
	level->alternatives.n = kept;
}

/* All groups of the level as the list of the empty element. */
static bool start_element(Enumeration *run, LodeAlternative *out_empty)
{
	LodeLevel *level = run->level;

	level->group_lists.n = level->items.n = level->patterns.n = 0;
	level->alternatives.n = level->table.n = 0;
	if (!lode_buffer_reserve(
		    run->self->search, &level->group_lists, level->groups.n, sizeof(uint32_t)))
		return false;
	for (uint32_t g = 0; g < level->groups.n; g++)
		LODE_BUFFER_AT(&level->group_lists, uint32_t, level->group_lists.n++) = g;
	*out_empty = (LodeAlternative){.n_groups = (uint32_t)level->groups.n};
	return true;
}

bool lode_patterns_find(LodeSearcher *self, uint32_t depth, uint32_t max_size,
	LodeSearcher **workers, unsigned n_workers)
{
	Enumeration run = {
		.self = self,
		.level = lode_searcher_level(self, depth),
		.depth = depth,
		.workers = workers,
		.n_workers = n_workers,
	};
	LodeLevel *level = run.level;
	LodeAlternative element;
	size_t first = 0, end = 0;

	if (!start_element(&run, &element) || !grow_by_items(&run, &element, -1))
		return false;
	for (uint32_t size = 1;; size++) {
		if (!measure_batch(&run))
			return false;
		link_alternatives(level, end);
		first = end;
		end = level->alternatives.n;
		run.first_pattern = (uint32_t)level->patterns.n;
		if (size == max_size || first == end)
			return true;
		for (size_t i = first; i < end; i++) {
			element = LODE_BUFFER_AT(&level->alternatives, LodeAlternative, i);
			int64_t last = LODE_BUFFER_AT(
				&level->items, uint32_t, element.first_item + element.size - 1);
			if (!grow_by_items(&run, &element, last))
				return false;
		}
	}
}
