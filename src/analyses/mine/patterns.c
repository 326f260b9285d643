/* SPDX-License-Identifier: MIT */
/*
 * The elements of one level: sets of items, grown item by item after the last one, over the
 * level's groups instead of its candidates. Breadth first, so that all elements of one size are
 * known before any of them is measured.
 */
#include "analyses/mine/searcher.h"
#include "base/arrays/hash.h"
#include "base/bits.h"
#include "base/worker_pool.h"
#include "model/index.h"

#include <string.h>

/* The elements that one element can grow to: made by any worker, added to the level in order. */
typedef struct {
	LodeAlternative element; /* size 0: the empty one */
	LodeBuffer children;     /* LodeChild, by item */
	LodeBuffer lists;        /* uint32_t: groups */
} Growth;

/* The elements of a level while they are found. */
typedef struct {
	LodeSearcher *self;
	LodeLevel *level;
	uint32_t depth;
	LodeSearcher **workers;
	unsigned n_workers;
	uint32_t first_pattern; /* of the batch being measured */
	Growth *growths;        /* with workers: of a batch of elements */
} Enumeration;

enum { GROWTH_BATCH = 32 }; /* elements grown ahead at the root */

static LodePattern *pattern_at(const LodeLevel *level, size_t index)
{
	return &LODE_BUFFER_AT(&level->patterns, LodePattern, index);
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
 * already the list is dropped again. Lists are ascending, so that equal sets of groups are equal
 * lists. LODE_NONE: no memory.
 */
static uint32_t intern_pattern(Enumeration *run, uint32_t first)
{
	LodeLevel *level = run->level;
	const uint32_t *lists = level->group_lists.data;
	uint32_t n = (uint32_t)level->group_lists.n - first;
	uint64_t hash = n;

	for (uint32_t i = first; i < first + n; i++)
		hash = lode_hash_append(hash, lists[i]);
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

static bool has_windows(const Enumeration *run)
{
	return run->self->search->parameters->window > 0;
}

/* Whether the element's own items begin (FIRST) and end (LAST) windows of the class, as flags. */
static uint32_t element_ends(
	const Enumeration *run, const LodeAlternative *element, const uint32_t *members, uint32_t n)
{
	const uint32_t *items = run->level->items.data;
	uint32_t ends = 0, at = 0;

	for (uint32_t i = 0; i < element->size; i++) {
		while (at < n && LODE_MEMBER_ITEM(members[at]) < items[element->first_item + i])
			at++;
		ends |= at < n ? members[at] : 0;
	}
	return ends & (LODE_MEMBER_FIRST | LODE_MEMBER_LAST);
}

static const uint32_t both_ends = LODE_MEMBER_FIRST | LODE_MEMBER_LAST;

static int64_t last_item(const Enumeration *run, const LodeAlternative *element)
{
	const uint32_t *items = run->level->items.data;

	return element->size == 0 ? -1 : (int64_t)items[element->first_item + element->size - 1];
}

/* An element as bits, and what may be added to it: the items after its last one, so that each set
 * of items is reached once. */
typedef struct {
	uint64_t items, after;
} ElementBits;

static ElementBits bits_of(const Enumeration *run, const LodeAlternative *element)
{
	const uint32_t *items = run->level->items.data;
	int64_t last = last_item(run, element);
	ElementBits bits = {.after = last < 0 ? UINT64_MAX : ~lode_low_bits((unsigned)last + 1)};

	for (uint32_t i = 0; i < element->size; i++)
		bits.items |= LODE_BIT(items[element->first_item + i]);
	return bits;
}

/* The `items` with which the element is minimal in windows of the class. */
static uint64_t matching_items(const LodeClassBits *class_bits, uint64_t element, uint64_t items)
{
	if ((class_bits->firsts & element) == 0)
		items &= class_bits->firsts;
	if ((class_bits->lasts & element) == 0)
		items &= class_bits->lasts;
	return items;
}

/* bound_growth() where items are bits. */
static void bound_growth_bits(
	Enumeration *run, LodeSearcher *worker, const LodeAlternative *element)
{
	const LodeClassBits *class_bits = worker->search->graph->class_bits;
	const uint32_t *groups = run->level->group_lists.data;
	ElementBits bits = bits_of(run, element);
	bool counts_holding = has_windows(run);

	for (uint32_t g = element->first_group; g < element->first_group + element->n_groups; g++) {
		const LodeGroup *group = &LODE_BUFFER_AT(&run->level->groups, LodeGroup, groups[g]);
		const LodeClassBits *own = &class_bits[group->class_id];
		uint64_t holding = own->items & bits.after;
		for (uint64_t rest = counts_holding ? holding : 0; rest != 0; rest &= rest - 1)
			worker->items.groups[__builtin_ctzll(rest)]++;
		for (uint64_t rest = matching_items(own, bits.items, holding); rest != 0;
			rest &= rest - 1) {
			unsigned item = (unsigned)__builtin_ctzll(rest);
			worker->items.matching[item]++;
			worker->items.weight[item] += group->bound_weight;
			worker->items.count[item] += group->bound_count;
		}
	}
}

/*
 * Sums, by item after the element's last one, the bounds of the groups where the grown element
 * matches, and counts those that hold it. Members ascend by item, so these are the tail of a class.
 */
static void bound_growth(Enumeration *run, LodeSearcher *worker, const LodeAlternative *element)
{
	const LodeSearchGraph *graph = worker->search->graph;
	const uint32_t *groups = run->level->group_lists.data;
	int64_t last = last_item(run, element);
	uint32_t n;

	memset(worker->items.weight, 0, sizeof(double) * graph->n_items);
	memset(worker->items.count, 0, sizeof(double) * graph->n_items);
	memset(worker->items.groups, 0, sizeof(uint32_t) * graph->n_items);
	memset(worker->items.matching, 0, sizeof(uint32_t) * graph->n_items);
	if (graph->class_bits != NULL) {
		bound_growth_bits(run, worker, element);
		return;
	}
	for (uint32_t g = element->first_group; g < element->first_group + element->n_groups; g++) {
		const LodeGroup *group = &LODE_BUFFER_AT(&run->level->groups, LodeGroup, groups[g]);
		const uint32_t *members = lode_search_graph_class(graph, group->class_id, &n);
		uint32_t ends = has_windows(run) ? element_ends(run, element, members, n)
		                                 : both_ends;
		for (; n > 0 && (int64_t)LODE_MEMBER_ITEM(members[n - 1]) > last; n--) {
			uint32_t item = LODE_MEMBER_ITEM(members[n - 1]);
			worker->items.groups[item]++;
			if (((ends | members[n - 1]) & both_ends) != both_ends)
				continue;
			worker->items.matching[item]++;
			worker->items.weight[item] += group->bound_weight;
			worker->items.count[item] += group->bound_count;
		}
	}
}

/* Lays out the lists of the items that may pass; item_groups and item_matching then say where the
 * next group of each goes, LODE_NONE for the others. */
static bool lay_out_children(Enumeration *run, LodeSearcher *worker, Growth *growth)
{
	LodeSearch *search = worker->search;
	size_t n = 0;

	growth->children.n = growth->lists.n = 0;
	for (uint32_t item = 0; item < search->graph->n_items; item++) {
		LodeChild child = {.item = item,
			.n_holding = has_windows(run) ? worker->items.groups[item] : 0,
			.n_matching = worker->items.matching[item]};
		worker->items.groups[item] = worker->items.matching[item] = LODE_NONE;
		if (!lode_search_may_occur(
			    search, worker->items.weight[item], worker->items.count[item]))
			continue;
		if (!lode_buffer_has_room(search, &growth->children, 1, sizeof(LodeChild)))
			return false;
		child.first_holding = (uint32_t)n;
		child.first_matching = (uint32_t)(n += child.n_holding);
		n += child.n_matching;
		worker->items.groups[item] = child.first_holding;
		worker->items.matching[item] = child.first_matching;
		LODE_BUFFER_AT(&growth->children, LodeChild, growth->children.n++) = child;
	}
	growth->lists.n = n;
	return lode_buffer_reserve(search, &growth->lists, n, sizeof(uint32_t));
}

/* fill_children() where items are bits. */
static void fill_children_bits(Enumeration *run, LodeSearcher *worker, Growth *growth)
{
	const LodeClassBits *class_bits = worker->search->graph->class_bits;
	const LodeAlternative *element = &growth->element;
	const uint32_t *groups = run->level->group_lists.data;
	uint32_t *lists = growth->lists.data;
	ElementBits bits = bits_of(run, element);
	uint64_t children = 0;

	for (size_t i = 0; i < growth->children.n; i++)
		children |= LODE_BIT(LODE_BUFFER_AT(&growth->children, LodeChild, i).item);
	for (uint32_t g = element->first_group; g < element->first_group + element->n_groups; g++) {
		uint32_t class_id =
			LODE_BUFFER_AT(&run->level->groups, LodeGroup, groups[g]).class_id;
		uint64_t holding = class_bits[class_id].items & children;
		for (uint64_t rest = has_windows(run) ? holding : 0; rest != 0; rest &= rest - 1)
			lists[worker->items.groups[__builtin_ctzll(rest)]++] = groups[g];
		for (uint64_t rest = matching_items(&class_bits[class_id], bits.items, holding);
			rest != 0; rest &= rest - 1)
			lists[worker->items.matching[__builtin_ctzll(rest)]++] = groups[g];
	}
}

static void fill_children(Enumeration *run, LodeSearcher *worker, Growth *growth)
{
	const LodeSearchGraph *graph = worker->search->graph;
	const LodeAlternative *element = &growth->element;
	const uint32_t *groups = run->level->group_lists.data;
	uint32_t *lists = growth->lists.data, n;
	int64_t last = last_item(run, element);

	for (uint32_t g = element->first_group; g < element->first_group + element->n_groups; g++) {
		const LodeGroup *group = &LODE_BUFFER_AT(&run->level->groups, LodeGroup, groups[g]);
		const uint32_t *members = lode_search_graph_class(graph, group->class_id, &n);
		uint32_t ends = has_windows(run) ? element_ends(run, element, members, n)
		                                 : both_ends;
		for (; n > 0 && (int64_t)LODE_MEMBER_ITEM(members[n - 1]) > last; n--) {
			uint32_t item = LODE_MEMBER_ITEM(members[n - 1]);
			if (worker->items.matching[item] == LODE_NONE)
				continue;
			if (has_windows(run))
				lists[worker->items.groups[item]++] = groups[g];
			if (((ends | members[n - 1]) & both_ends) == both_ends)
				lists[worker->items.matching[item]++] = groups[g];
		}
	}
}

/* Lists the children that may pass by these bounds. */
static bool list_growth(Enumeration *run, LodeSearcher *worker, Growth *growth)
{
	if (!lay_out_children(run, worker, growth))
		return false;
	if (growth->children.n > 0 && worker->search->graph->class_bits != NULL)
		fill_children_bits(run, worker, growth);
	else if (growth->children.n > 0)
		fill_children(run, worker, growth);
	return true;
}

static bool grow(Enumeration *run, LodeSearcher *worker, Growth *growth)
{
	bound_growth(run, worker, &growth->element);
	return list_growth(run, worker, growth);
}

static bool append_groups(Enumeration *run, const uint32_t *groups, uint32_t n)
{
	LodeBuffer *lists = &run->level->group_lists;

	if (!lode_buffer_has_room(run->self->search, lists, n, sizeof(uint32_t)))
		return false;
	memcpy(&LODE_BUFFER_AT(lists, uint32_t, lists->n), groups, n * sizeof(uint32_t));
	lists->n += n;
	return true;
}

/*
 * Adds (element + item) as an alternative; its pattern is found or made. A window that an element
 * fills, but is not minimal in, may be minimal for a larger one (docs/reference/mining.md §2):
 * growing starts from the groups that hold the element, while the pattern has those that match it.
 */
static bool take_child(Enumeration *run, const Growth *growth, const LodeChild *child)
{
	LodeLevel *level = run->level;
	LodeSearch *search = run->self->search;
	const uint32_t *lists = growth->lists.data;
	LodeAlternative grown = {
		.first_item = (uint32_t)level->items.n,
		.size = growth->element.size + 1,
		.next = LODE_NONE,
		.first_group = (uint32_t)level->group_lists.n,
		.n_groups = has_windows(run) ? child->n_holding : child->n_matching,
	};

	if (!lode_buffer_has_room(search, &level->items, grown.size, sizeof(uint32_t)) ||
		!lode_buffer_has_room(search, &level->alternatives, 1, sizeof(grown)) ||
		!append_groups(run, lists + child->first_holding, child->n_holding))
		return false;
	uint32_t *items = level->items.data;
	memcpy(items + grown.first_item, items + growth->element.first_item,
		growth->element.size * sizeof(uint32_t));
	items[grown.first_item + growth->element.size] = child->item;
	uint32_t matching = (uint32_t)level->group_lists.n;
	if (!append_groups(run, lists + child->first_matching, child->n_matching))
		return false;
	grown.pattern = intern_pattern(run, matching);
	if (grown.pattern == LODE_NONE)
		return false;
	if (!has_windows(run))
		grown.first_group = pattern_at(level, grown.pattern)->first_group;
	level->items.n += grown.size;
	LODE_BUFFER_AT(&level->alternatives, LodeAlternative, level->alternatives.n++) = grown;
	return true;
}

static bool take_growth(Enumeration *run, const Growth *growth)
{
	for (size_t i = 0; i < growth->children.n; i++)
		if (!take_child(run, growth, &LODE_BUFFER_AT(&growth->children, LodeChild, i)))
			return false;
	return true;
}

static void clear_growth(LodeSearch *search, Growth *growth)
{
	lode_buffer_clear(search, &growth->children, sizeof(LodeChild));
	lode_buffer_clear(search, &growth->lists, sizeof(uint32_t));
}

static void grow_task(size_t task, unsigned worker, void *user_data)
{
	Enumeration *run = user_data;

	if (atomic_load_explicit(&run->self->search->stop, memory_order_relaxed) == 0)
		grow(run, run->workers[worker], &run->growths[task]);
}

/*
 * Grows the alternatives [first, end) by all workers, a batch at a time. Workers only read the
 * level; what they found is taken into it between batches and in order, so that patterns have the
 * same numbers for any number of workers. A batch bounds the memory of what is not taken yet.
 */
static bool grow_by_workers(Enumeration *run, size_t first, size_t end)
{
	LodeSearch *search = run->self->search;
	bool is_ok = true;

	while (first < end && is_ok) {
		size_t n = MIN(end - first, GROWTH_BATCH);
		for (size_t i = 0; i < n; i++)
			run->growths[i] = (Growth){
				.element = LODE_BUFFER_AT(
					&run->level->alternatives, LodeAlternative, first + i)};
		lode_worker_pool_run(n, run->n_workers, grow_task, run);
		for (size_t i = 0; i < n; i++) {
			is_ok = is_ok && atomic_load(&search->stop) == 0 &&
			        take_growth(run, &run->growths[i]);
			clear_growth(search, &run->growths[i]);
		}
		first += n;
	}
	return is_ok;
}

static bool grow_alone(Enumeration *run, size_t first, size_t end)
{
	Growth growth = {0};
	bool is_ok = true;

	growth.children = run->self->growth_children;
	growth.lists = run->self->growth_lists;
	for (size_t i = first; i < end && is_ok; i++) {
		/* A copy, since take_growth() may move the alternatives. */
		growth.element = LODE_BUFFER_AT(&run->level->alternatives, LodeAlternative, i);
		is_ok = grow(run, run->self, &growth) && take_growth(run, &growth);
	}
	run->self->growth_children = growth.children;
	run->self->growth_lists = growth.lists;
	return is_ok;
}

static bool grow_all(Enumeration *run, size_t first, size_t end)
{
	return run->workers != NULL ? grow_by_workers(run, first, end)
	                            : grow_alone(run, first, end);
}

static void measure_task(size_t task, unsigned worker, void *user_data)
{
	Enumeration *run = user_data;

	lode_pattern_measure(run->workers[worker], run->depth,
		pattern_at(run->level, run->first_pattern + task));
}

/* The first batch of the root: elements of one item each. */
static void measure_items(Enumeration *run)
{
	const LodeLevel *level = run->level;
	uint32_t n_items = run->self->search->graph->n_items;
	g_autofree uint32_t *patterns = g_new(uint32_t, n_items + 1);
	g_autofree bool *is_taken = g_new0(bool, level->patterns.n + 1);

	memset(patterns, 0xff, sizeof(uint32_t) * n_items);
	for (size_t i = 0; i < level->alternatives.n; i++) {
		const LodeAlternative *one = &LODE_BUFFER_AT(
			&level->alternatives, LodeAlternative, i);
		if (one->size == 0 || is_taken[one->pattern])
			continue;
		is_taken[one->pattern] = true;
		patterns[LODE_BUFFER_AT(&level->items, uint32_t, one->first_item)] = one->pattern;
	}
	lode_items_measure(run->self, run->level, patterns);
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
	if (run->depth == 0 && run->first_pattern == 0)
		measure_items(run);
	else if (run->workers != NULL)
		lode_worker_pool_run(n, run->n_workers, measure_task, run);
	else
		for (size_t i = run->first_pattern; i < level->patterns.n; i++)
			lode_pattern_measure(run->self, run->depth, pattern_at(level, i));
	return atomic_load_explicit(&run->self->search->stop, memory_order_relaxed) == 0;
}

/*
 * Links the alternatives of one size that pass to their patterns; drops the others, from which
 * nothing is to grow: a sequence is reported only when its prefix is (docs/reference/mining.md §4).
 */
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

/* All wanted groups of the level as the list of the empty element, the first alternative until it
 * is replaced. */
static bool start_elements(Enumeration *run)
{
	LodeLevel *level = run->level;

	level->group_lists.n = level->items.n = level->patterns.n = 0;
	level->alternatives.n = level->table.n = 0;
	if (!lode_buffer_reserve(
		    run->self->search, &level->group_lists, level->groups.n, sizeof(uint32_t)) ||
		!lode_buffer_reserve(
			run->self->search, &level->alternatives, 1, sizeof(LodeAlternative)))
		return false;
	for (uint32_t g = 0; g < level->groups.n; g++)
		if (LODE_BUFFER_AT(&level->groups, LodeGroup, g).is_wanted)
			LODE_BUFFER_AT(&level->group_lists, uint32_t, level->group_lists.n++) = g;
	LODE_BUFFER_AT(&level->alternatives, LodeAlternative, 0) = (LodeAlternative){
		.n_groups = (uint32_t)level->group_lists.n};
	level->alternatives.n = 1;
	return true;
}

/*
 * One item alone is in no minimal window of several vertices, so that a level has windows of one
 * vertex at first. Windows of several vertices are far more: they are visited once there are
 * elements that may grow, and their candidates are kept only where such an element may pass.
 */
static bool needs_longer_windows(const Enumeration *run, uint32_t size)
{
	return size == 1 && run->depth > 0 && has_windows(run);
}

/* Counts, by item, the groups from `first_group` on that have it. */
static void count_groups(Enumeration *run, size_t first_group)
{
	const LodeSearchGraph *graph = run->self->search->graph;
	uint32_t *counts = run->self->items.groups, n;

	memset(counts, 0, sizeof(uint32_t) * graph->n_items);
	for (size_t g = first_group; g < run->level->groups.n; g++) {
		const uint32_t *members = lode_search_graph_class(
			graph, LODE_BUFFER_AT(&run->level->groups, LodeGroup, g).class_id, &n);
		for (uint32_t i = 0; i < n; i++)
			counts[LODE_MEMBER_ITEM(members[i])]++;
	}
}

/* Makes longer lists of the groups of elements [first, end); item_matching says where the next
 * group of an item goes, LODE_NONE where it is not an element. */
static bool lay_out_lists(Enumeration *run, size_t first, size_t end)
{
	LodeBuffer *lists = &run->level->group_lists;
	LodeSearcher *self = run->self;

	memset(self->items.matching, 0xff, sizeof(uint32_t) * self->search->graph->n_items);
	for (size_t i = first; i < end; i++) {
		LodeAlternative *one = &LODE_BUFFER_AT(
			&run->level->alternatives, LodeAlternative, i);
		uint32_t item = LODE_BUFFER_AT(&run->level->items, uint32_t, one->first_item);
		uint32_t n = one->n_groups + self->items.groups[item], start = (uint32_t)lists->n;
		if (!lode_buffer_has_room(self->search, lists, n, sizeof(uint32_t)))
			return false;
		uint32_t *groups = lists->data;
		memcpy(groups + start, groups + one->first_group, one->n_groups * sizeof(uint32_t));
		self->items.matching[item] = start + one->n_groups;
		one->first_group = start;
		one->n_groups = n;
		lists->n += n;
	}
	return true;
}

/* Adds the groups from `first_group` on to the lists of elements [first, end), of one item each. */
static bool lengthen_elements(Enumeration *run, size_t first_group, size_t first, size_t end)
{
	const LodeSearchGraph *graph = run->self->search->graph;
	uint32_t *next = run->self->items.matching, n;

	count_groups(run, first_group);
	if (!lay_out_lists(run, first, end))
		return false;
	uint32_t *lists = run->level->group_lists.data;
	for (size_t g = first_group; g < run->level->groups.n; g++) {
		const uint32_t *members = lode_search_graph_class(
			graph, LODE_BUFFER_AT(&run->level->groups, LodeGroup, g).class_id, &n);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t item = LODE_MEMBER_ITEM(members[i]);
			if (next[item] != LODE_NONE)
				lists[next[item]++] = (uint32_t)g;
		}
	}
	return true;
}

/* Wants the groups that elements from `first` on have. */
static void mark_groups(LodeLevel *level, size_t first)
{
	for (size_t i = first; i < level->alternatives.n; i++) {
		const LodeAlternative *one = &LODE_BUFFER_AT(
			&level->alternatives, LodeAlternative, i);
		for (uint32_t g = one->first_group; g < one->first_group + one->n_groups; g++)
			LODE_BUFFER_AT(&level->groups, LodeGroup,
				LODE_BUFFER_AT(&level->group_lists, uint32_t, g))
				.is_wanted = true;
	}
}

/* The items of elements [first, end), of one item each, as bits; 0 with more items than bits. */
static uint64_t element_bits(const Enumeration *run, size_t first, size_t end)
{
	const LodeLevel *level = run->level;
	uint64_t bits = 0;

	if (run->self->search->graph->n_items > 64)
		return 0;
	for (size_t i = first; i < end; i++) {
		const LodeAlternative *one = &LODE_BUFFER_AT(
			&level->alternatives, LodeAlternative, i);
		bits |= LODE_BIT(LODE_BUFFER_AT(&level->items, uint32_t, one->first_item));
	}
	return bits;
}

/* Grows the elements [first, end) of one item in windows of any length. */
static bool grow_in_longer_windows(Enumeration *run, size_t first, size_t end)
{
	size_t first_group = run->level->groups.n;

	if (!lode_windows_bound_longer(run->self, run->depth, element_bits(run, first, end)) ||
		!lengthen_elements(run, first_group, first, end) || !grow_all(run, first, end))
		return false;
	mark_groups(run->level, end);
	return lode_windows_fill_longer(run->self, run->depth, first_group);
}

static bool find(Enumeration *run, uint32_t max_size)
{
	LodeLevel *level = run->level;
	size_t first = 0, end = 1;

	if (!start_elements(run) || !grow_all(run, first, end))
		return false;
	for (uint32_t size = 1;; size++) {
		if (!measure_batch(run))
			return false;
		link_alternatives(level, end);
		first = end;
		end = level->alternatives.n;
		run->first_pattern = (uint32_t)level->patterns.n;
		if (size == max_size || first == end)
			return true;
		if (!(needs_longer_windows(run, size) ? grow_in_longer_windows(run, first, end)
						      : grow_all(run, first, end)))
			return false;
	}
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
		.growths = workers != NULL ? g_new0(Growth, GROWTH_BATCH) : NULL,
	};
	bool is_ok = find(&run, max_size);

	g_free(run.growths);
	return is_ok;
}
