/* SPDX-License-Identifier: MIT */
/*
 * A *node* is what is below one pattern: the level of elements that follow it. Nodes of one depth
 * are searched together, a wave, in steps; what ranks tell each other in one step is one sum.
 *
 *   bound     paths one element longer ──▶ bounds of each item              ┐ of each node of
 *   measure   elements that may pass, one item larger ──▶ their supports    │ the wave, and each
 *   bound     elements that pass ──▶ bounds of each item in them            │ rank, in its own
 *   measure   …                                                             ┘ functions
 *
 * Which elements are looked at depends on the sums alone, so all ranks have the same ones in the
 * same order, with groups and patterns of their own. Two elements are one pattern when they are on
 * every rank, which pattern_join.h finds out. A wave is split where its nodes are many, and the
 * waves below a part come before the next part: memory is that of the parts on the way down.
 */
#include "analyses/mine/level_miner.h"

#include "analyses/mine/pattern_join.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/number_format.h"
#include "base/worker_pool.h"

#include <string.h>
#include <time.h>

/* What becomes of memory with more is little beside what it saves in sums. */
enum { MAX_NODES = 2048, MAX_PATHS = 1 << 18, BYTES_OF_PATH = 512 };

/* An element that passes, beside its alternative of the level. */
typedef struct {
	LodeSupport support;
	double n_paths; /* of all ranks */
	uint64_t key;   /* equal where the groups are on every rank, else hardly ever */
} Element;

typedef struct Node Node;

struct Node {
	const Node *above; /* NULL: of the root */
	uint32_t pattern;  /* of the level above */
	uint32_t depth;
	uint32_t size; /* the fewest items above it */
	uint32_t n_below;
	double n_paths; /* of the pattern */
	LodeLevel level;
	GArray *elements, *events; /* Element by alternative; double: their event supports */
	uint32_t first_pattern;    /* of the level's: not measured yet */
	uint32_t first, end;       /* alternatives that are grown */
	uint32_t element_size;     /* of those */
	uint32_t first_joined;     /* its first element in the wave's `firsts` */
	size_t first_longer_group;
	size_t first_value, first_value_before; /* in the sums of this step and the one before */
};

/* What a rank says of an element that was measured; event supports follow. */
enum { WEIGHT, FREQUENCY, EXECUTIONS, PLACES, FUNCTIONS, PATHS, KEY, N_VALUES };

typedef struct Levels Levels;

struct Levels {
	LodeSearch *search;
	LodeSearcher **workers;
	unsigned n_workers;
	LodeRanks *ranks;
	double max_paths; /* of the nodes of a wave */
	uint32_t n_items, n_events;
	Node **wave;
	size_t n_wave;
	uint32_t depth; /* of the wave */
	void (*work)(Levels *self, LodeSearcher *worker, Node *node, double *values);
	double *values, *values_before;
	double worked_until; /* the processor time of the last sum */
	uint32_t *firsts;    /* of the wave's elements: the first of the same pattern */
	bool has_too_many;
};

static bool has_stopped(const Levels *self)
{
	return self->has_too_many ||
	       atomic_load_explicit(&self->search->stop, memory_order_relaxed) != 0;
}

static Node *node_new(uint32_t n_events)
{
	Node *node = g_new0(Node, 1);

	node->elements = g_array_new(FALSE, TRUE, sizeof(Element));
	node->events = g_array_new(FALSE, TRUE, sizeof(double));
	/* The empty element. */
	g_array_set_size(node->elements, 1);
	g_array_set_size(node->events, n_events);
	return node;
}

static void node_free(LodeSearch *search, Node *node)
{
	lode_level_clear(search, &node->level);
	g_array_unref(node->elements);
	g_clear_pointer(&node->events, g_array_unref);
	g_free(node);
}

/* Puts a worker at the node: it has the levels above, each at its pattern, and the node's own.
 * `root` is the worker's own copy of level 0. */
static void enter(LodeSearcher *worker, Node *node, LodeLevel *root)
{
	for (const Node *one = node; one->above != NULL; one = one->above) {
		LodeLevel *level = one->above->depth == 0 ? root
		                                          : &worker->levels[one->above->depth];
		*level = one->above->level;
		level->current = one->pattern;
	}
	worker->root = node->depth == 0 ? &node->level : root;
	if (node->depth > 0)
		worker->levels[node->depth] = node->level;
}

static void leave(LodeSearcher *worker, Node *node)
{
	if (node->depth > 0)
		node->level = worker->levels[node->depth];
	for (uint32_t depth = 1; depth <= node->depth; depth++)
		worker->levels[depth] = (LodeLevel){0};
	worker->root = NULL;
}

static void work_task(size_t task, unsigned worker, void *user_data)
{
	Levels *self = user_data;
	Node *node = self->wave[task];
	LodeLevel root;

	if (has_stopped(self))
		return;
	enter(self->workers[worker], node, &root);
	self->work(self, self->workers[worker], node, self->values + node->first_value);
	leave(self->workers[worker], node);
}

/* The processor time that this process has taken. */
static double work_seconds(void)
{
	struct timespec time = {0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* What each sum says beside the wave's numbers. */
enum { IS_CANCELLED, IS_STOPPED, WORK, N_ASIDE };

/* Where one rank stops, all do: they would wait for its numbers otherwise. */
static void add_up(Levels *self, size_t n)
{
	LodeRankTraffic *traffic = &self->ranks->traffic[self->depth];
	double *aside = self->values + n, work = work_seconds() - self->worked_until;
	gint64 start_us = g_get_monotonic_time();
	int stop = atomic_load(&self->search->stop);

	if (lode_progress_is_cancelled(self->search->progress))
		stop = LODE_ERROR_CANCELLED + 1;
	aside[IS_CANCELLED] = stop == LODE_ERROR_CANCELLED + 1;
	aside[IS_STOPPED] = stop != 0;
	aside[WORK] = work;
	self->ranks->sum(self->ranks, self->values, n + N_ASIDE);
	if (aside[IS_STOPPED] > 0)
		atomic_store(&self->search->stop,
			1 + (aside[IS_CANCELLED] > 0 ? LODE_ERROR_CANCELLED : LODE_ERROR_LIMIT));
	traffic->n_sums++;
	traffic->n_bytes += (n + N_ASIDE) * sizeof(double);
	traffic->wait_seconds += (double)(g_get_monotonic_time() - start_us) / 1e6;
	traffic->own_work_seconds += work;
	traffic->work_seconds += aside[WORK];
	self->worked_until = work_seconds();
}

/*
 * One step of the wave. How many numbers there are is known before the work, from the sums of the
 * step before, so that a rank without memory for the work still says so in time.
 */
static bool step(Levels *self, size_t (*count)(const Levels *self, const Node *node),
	void (*work)(Levels *self, LodeSearcher *worker, Node *node, double *values))
{
	size_t n = 0;

	for (size_t i = 0; i < self->n_wave; i++) {
		Node *node = self->wave[i];
		size_t n_own = count(self, node);
		node->first_value_before = node->first_value;
		node->first_value = n;
		n += n_own;
	}
	g_free(self->values_before);
	self->values_before = self->values;
	self->values = g_new0(double, n + N_ASIDE);
	self->work = work;
	lode_worker_pool_run(self->n_wave, self->n_workers, work_task, self);
	add_up(self, n);
	return !has_stopped(self);
}

static LodeEnumeration enumerate(LodeSearcher *worker, const Node *node)
{
	return (LodeEnumeration){
		.self = worker,
		.level = lode_searcher_level(worker, node->depth),
		.depth = node->depth,
	};
}

/* --- the items that an element may grow by --- */

static void write_bounds(const Levels *self, const LodeSearcher *worker, double *values)
{
	memcpy(values, worker->item_weight, self->n_items * sizeof(double));
	memcpy(values + self->n_items, worker->item_count, self->n_items * sizeof(double));
}

static void read_bounds(const Levels *self, LodeSearcher *worker, const double *values)
{
	memcpy(worker->item_weight, values, self->n_items * sizeof(double));
	memcpy(worker->item_count, values + self->n_items, self->n_items * sizeof(double));
}

static size_t count_items(const Levels *self, const Node *node)
{
	(void)node;
	return 2 * (size_t)self->n_items;
}

/* Finds the paths that are one element longer, in windows of one vertex below the root. */
static bool find_paths(LodeSearcher *worker, const Node *node)
{
	const LodeSearch *search = worker->search;
	uint32_t left = search->parameters->iterations - node->size;

	if (node->depth == 0)
		return search->uses_windows ? lode_windows_bound_starts(worker, worker->root)
		                            : lode_paths_bound_starts(worker, worker->root);
	return search->uses_windows ? lode_windows_bound(worker, node->depth, left)
	                            : lode_paths_bound(worker, node->depth);
}

static void bound_items(Levels *self, LodeSearcher *worker, Node *node, double *values)
{
	LodeLevel *level = lode_searcher_level(worker, node->depth);
	bool is_ok = find_paths(worker, node);

	if (is_ok) {
		lode_level_bound_items(worker, level);
		write_bounds(self, worker, values);
	}
	lode_level_finish(worker, level, 0);
}

static size_t count_grown(const Levels *self, const Node *node)
{
	return (node->end - node->first) * 2 * (size_t)self->n_items;
}

/* Of the elements that pass. One item alone is in no minimal window of several vertices, so that
 * these are looked at only once there are elements that they may grow. */
static void bound_grown(Levels *self, LodeSearcher *worker, Node *node, double *values)
{
	LodeEnumeration run = enumerate(worker, node);

	node->first_longer_group = run.level->groups.n;
	if (node->element_size == 1 && node->depth > 0 && self->search->parameters->window > 0 &&
		(!lode_windows_bound_longer(worker, node->depth, 0) ||
			!lode_elements_lengthen(
				&run, node->first_longer_group, node->first, node->end)))
		return;
	for (uint32_t i = node->first; i < node->end; i++) {
		lode_growth_bound(&run, worker,
			&LODE_BUFFER_AT(&run.level->alternatives, LodeAlternative, i));
		write_bounds(self, worker, values);
		values += 2 * (size_t)self->n_items;
	}
}

/* --- the grown elements --- */

static size_t n_values(const Levels *self)
{
	return N_VALUES + (size_t)self->n_events;
}

/* The children of the elements that were bounded in the step before. */
static size_t count_children(const Levels *self, const Node *node)
{
	uint32_t n_elements = node->end > 0 ? node->end - node->first : 1;
	const double *bounds = self->values + node->first_value;
	size_t n = 0;

	for (uint32_t i = 0; i < n_elements; i++, bounds += 2 * (size_t)self->n_items)
		for (uint32_t item = 0; item < self->n_items; item++)
			n += lode_search_may_occur(
				self->search, bounds[item], bounds[self->n_items + item]);
	return n * n_values(self);
}

/* Keeps the paths to items that may pass, with the empty element as the one to grow. */
static bool start_elements(
	const Levels *self, LodeSearcher *worker, Node *node, LodeEnumeration *run)
{
	const LodeLevel *above = node->depth > 0 ? lode_searcher_level(worker, node->depth - 1)
	                                         : NULL;
	bool is_ok;

	read_bounds(self, worker, self->values_before + node->first_value_before);
	lode_level_want_by_items(worker, run->level);
	if (self->search->uses_windows)
		is_ok = lode_windows_fill(worker, run->level);
	else if (node->depth == 0)
		is_ok = lode_paths_fill_starts(worker, run->level);
	else
		is_ok = lode_level_gather(worker, above,
				&LODE_BUFFER_AT(&above->patterns, LodePattern, above->current)) &&
		        lode_paths_fill(worker, node->depth);
	node->first = 0;
	node->end = 1;
	return is_ok && lode_elements_start(run);
}

static bool grow_element(const Levels *self, LodeSearcher *worker, LodeEnumeration *run,
	uint32_t element, const double *bounds)
{
	/* A copy, since taking children may move the alternatives. */
	LodeGrowth growth = {
		.element = LODE_BUFFER_AT(&run->level->alternatives, LodeAlternative, element),
		.children = worker->growth_children,
		.lists = worker->growth_lists,
	};

	/* This rank's own bounds are of no use, but how long its lists are is found with them. */
	lode_growth_bound(run, worker, &growth.element);
	read_bounds(self, worker, bounds);
	bool is_ok = lode_growth_list(run, worker, &growth) && lode_growth_take(run, &growth);
	worker->growth_children = growth.children;
	worker->growth_lists = growth.lists;
	return is_ok;
}

static bool sum_patterns(LodeSearcher *worker, Node *node, LodeLevel *level, uint32_t n_events)
{
	if (!lode_buffer_reserve(worker->search, &level->events, level->patterns.n * n_events + 1,
		    sizeof(double)))
		return false;
	for (; node->first_pattern < level->patterns.n; node->first_pattern++) {
		LodePattern *pattern = &LODE_BUFFER_AT(
			&level->patterns, LodePattern, node->first_pattern);
		pattern->events = (size_t)node->first_pattern * n_events;
		lode_pattern_sum(worker, node->depth, pattern);
	}
	return true;
}

/*
 * Mixes all bits of both into all bits: keys of ranks are added up, which a weaker hash survives
 * badly (splitmix64: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number
 * generators", 2014).
 */
static uint64_t mix(uint64_t key, uint64_t value)
{
	key += (value + 1) * LODE_HASH_MULTIPLIER;
	key = (key ^ key >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	key = (key ^ key >> 27) * UINT64_C(0x94d049bb133111eb);
	return key ^ key >> 31;
}

/* Another on each rank, for the same groups; of 32 bits, so that sums over ranks are exact. */
static uint32_t key_of(const Levels *self, const LodeLevel *level, const LodePattern *pattern)
{
	uint64_t key = mix(self->ranks->rank, pattern->n_groups);

	for (uint32_t g = 0; g < pattern->n_groups; g++)
		key = mix(key,
			LODE_BUFFER_AT(&level->group_lists, uint32_t, pattern->first_group + g));
	return (uint32_t)key;
}

static double count_members(const LodeLevel *level, const LodePattern *pattern)
{
	double n = 0;

	for (uint32_t g = 0; g < pattern->n_groups; g++)
		n += LODE_BUFFER_AT(&level->groups, LodeGroup,
			LODE_BUFFER_AT(&level->group_lists, uint32_t, pattern->first_group + g))
		             .n;
	return n;
}

static void write_pattern(
	const Levels *self, const LodeLevel *level, const LodePattern *pattern, double *values)
{
	const LodeSupport *support = &pattern->support;

	values[WEIGHT] = support->weight;
	values[FREQUENCY] = support->frequency;
	values[EXECUTIONS] = support->executions;
	values[PLACES] = support->places;
	values[FUNCTIONS] = support->functions;
	values[PATHS] = count_members(level, pattern);
	values[KEY] = key_of(self, level, pattern);
	if (self->n_events > 0)
		memcpy(values + N_VALUES, &LODE_BUFFER_AT(&level->events, double, pattern->events),
			self->n_events * sizeof(double));
}

static void measure_grown(Levels *self, LodeSearcher *worker, Node *node, double *values)
{
	LodeEnumeration run = enumerate(worker, node);
	const double *bounds = self->values_before + node->first_value_before;
	bool has_longer = node->element_size == 1 && node->depth > 0 &&
	                  self->search->parameters->window > 0;

	if (node->end == 0 && !start_elements(self, worker, node, &run))
		return;
	for (uint32_t i = node->first; i < node->end; i++) {
		if (!grow_element(self, worker, &run, i, bounds))
			return;
		bounds += 2 * (size_t)self->n_items;
	}
	if (has_longer) {
		lode_elements_want_groups(run.level, node->end);
		if (!lode_windows_fill_longer(worker, node->depth, node->first_longer_group))
			return;
	}
	if (!sum_patterns(worker, node, run.level, self->n_events))
		return;
	for (size_t i = node->end; i < run.level->alternatives.n; i++) {
		const LodeAlternative *one = &LODE_BUFFER_AT(
			&run.level->alternatives, LodeAlternative, i);
		write_pattern(self, run.level,
			&LODE_BUFFER_AT(&run.level->patterns, LodePattern, one->pattern), values);
		values += n_values(self);
	}
}

/* --- what passes --- */

static Element read_element(const double *values)
{
	return (Element){
		.support = {.weight = values[WEIGHT],
			.frequency = values[FREQUENCY],
			.executions = values[EXECUTIONS],
			.places = (uint32_t)values[PLACES],
			.functions = (uint32_t)values[FUNCTIONS]},
		.n_paths = values[PATHS],
		.key = (uint64_t)values[KEY],
	};
}

/* Keeps the elements just measured that pass, to be grown next. What it needs of memory is too
 * little to be counted: all ranks come to the same end. */
static void settle(const Levels *self, Node *node)
{
	LodeBuffer *alternatives = &node->level.alternatives;
	double *values = self->values + node->first_value;
	size_t kept = node->end;

	for (size_t i = node->end; i < alternatives->n; i++, values += n_values(self)) {
		Element element = read_element(values);
		if (!lode_support_finish(self->search, &element.support, values + N_VALUES))
			continue;
		LODE_BUFFER_AT(alternatives, LodeAlternative, kept++) = LODE_BUFFER_AT(
			alternatives, LodeAlternative, i);
		g_array_append_val(node->elements, element);
		if (self->n_events > 0)
			g_array_append_vals(node->events, values + N_VALUES, self->n_events);
	}
	node->first = node->end;
	node->end = (uint32_t)kept;
	alternatives->n = kept;
	node->element_size++;
}

/* The nodes with elements to grow, in the wave's own order. */
static void keep_growing(Levels *self)
{
	uint32_t iterations = self->search->parameters->iterations;
	size_t n = 0;

	for (size_t i = 0; i < self->n_wave; i++) {
		Node *node = self->wave[i];
		if (node->first < node->end && node->element_size < iterations - node->size)
			self->wave[n++] = node;
	}
	self->n_wave = n;
}

/* The array's items, which are counted from now on. */
static LodeBuffer adopt(LodeSearch *search, GArray *array)
{
	size_t n = array->len, size = g_array_get_element_size(array);

	atomic_fetch_add(&search->memory_used, n * size);
	return (LodeBuffer){g_array_free(array, FALSE), n, n};
}

static LodePattern pattern_of(const Levels *self, const Node *node, uint32_t alternative)
{
	const LodeAlternative *one = &LODE_BUFFER_AT(
		&node->level.alternatives, LodeAlternative, alternative);
	const LodePattern *own = &LODE_BUFFER_AT(&node->level.patterns, LodePattern, one->pattern);

	return (LodePattern){
		.support = g_array_index(node->elements, Element, alternative).support,
		.events = (size_t)alternative * self->n_events,
		.first_group = own->first_group,
		.n_groups = own->n_groups,
		.first_alternative = alternative,
		.last_alternative = alternative,
		.min_size = one->size,
		.passes = true,
	};
}

/* Finds which elements of the nodes are one pattern, elements of other nodes never: sets `firsts`
 * of each. False where the search was stopped. */
static bool join_elements(Levels *self, Node **nodes, size_t n)
{
	g_autoptr(GArray) own = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autoptr(GArray) keys = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_auto(LodePatternJoin) join;
	uint32_t n_patterns = 0;

	for (size_t i = 0; i < n; i++) {
		const LodeLevel *level = &nodes[i]->level;
		nodes[i]->first_joined = own->len;
		for (uint32_t k = 0; k < nodes[i]->end; k++) {
			uint64_t key = mix(g_array_index(nodes[i]->elements, Element, k).key, i);
			uint32_t pattern = n_patterns;
			/* The empty element has none. */
			if (k > 0)
				pattern += 1 +
				           LODE_BUFFER_AT(&level->alternatives, LodeAlternative, k)
				                   .pattern;
			g_array_append_val(own, pattern);
			g_array_append_val(keys, key);
		}
		n_patterns += 1 + (uint32_t)level->patterns.n;
	}
	lode_pattern_join_init(&join, (const uint32_t *)(const void *)own->data,
		(const uint64_t *)(const void *)keys->data, own->len);
	while (join.n_asked > 0 && !has_stopped(self)) {
		g_free(self->values);
		self->values = g_new0(double, join.n_asked + N_ASIDE);
		lode_pattern_join_write(&join, self->values);
		add_up(self, join.n_asked);
		lode_pattern_join_settle(&join, self->values);
	}
	g_free(self->firsts);
	self->firsts = g_steal_pointer(&join.firsts);
	return !has_stopped(self);
}

/* Makes patterns of all ranks, which take the place of this rank's own. */
static void make_patterns(Levels *self, Node *node)
{
	LodeLevel *level = &node->level;
	GArray *patterns = g_array_new(FALSE, FALSE, sizeof(LodePattern));
	g_autofree uint32_t *numbers = g_new(uint32_t, node->end + 1);

	for (uint32_t i = 1; i < node->end; i++) {
		LodeAlternative *alternatives = level->alternatives.data;
		uint32_t first = self->firsts[node->first_joined + i] - node->first_joined;
		alternatives[i].next = LODE_NONE;
		if (first == i) {
			LodePattern pattern = pattern_of(self, node, i);
			numbers[i] = patterns->len;
			g_array_append_val(patterns, pattern);
			continue;
		}
		LodePattern *pattern = &g_array_index(patterns, LodePattern, numbers[first]);
		alternatives[pattern->last_alternative].next = i;
		pattern->last_alternative = i;
	}
	lode_buffer_clear(self->search, &level->patterns, sizeof(LodePattern));
	lode_buffer_clear(self->search, &level->table, sizeof(uint32_t));
	lode_buffer_clear(self->search, &level->events, sizeof(double));
	level->patterns = adopt(self->search, patterns);
	level->events = adopt(self->search, node->events);
	node->events = NULL;
}

static Node *node_below(const Levels *self, Node *node, uint32_t pattern)
{
	const LodePattern *one = &LODE_BUFFER_AT(&node->level.patterns, LodePattern, pattern);
	Node *below = node_new(self->n_events);

	below->above = node;
	below->pattern = pattern;
	below->depth = node->depth + 1;
	below->size = node->size + one->min_size;
	below->n_paths = g_array_index(node->elements, Element, one->first_alternative).n_paths;
	node->n_below++;
	return below;
}

/* Reports the sequences that end in patterns of the node, and adds the nodes below it. */
static void report(Levels *self, Node *node, GPtrArray *out_below)
{
	LodeSearcher *worker = self->workers[0];
	LodeLevel root, *level;

	enter(worker, node, &root);
	level = lode_searcher_level(worker, node->depth);
	for (uint32_t i = 0; i < level->patterns.n; i++) {
		const LodePattern *pattern = &LODE_BUFFER_AT(&level->patterns, LodePattern, i);
		level->current = i;
		lode_searcher_report(worker, node->depth);
		if (node->size + pattern->min_size < self->search->parameters->iterations)
			g_ptr_array_add(out_below, node_below(self, node, i));
	}
	leave(worker, node);
}

/* --- waves --- */

static bool find_elements(Levels *self)
{
	if (!step(self, count_items, bound_items))
		return false;
	while (self->n_wave > 0) {
		if (!step(self, count_children, measure_grown))
			return false;
		for (size_t i = 0; i < self->n_wave; i++)
			settle(self, self->wave[i]);
		keep_growing(self);
		if (self->n_wave > 0 && !step(self, count_grown, bound_grown))
			return false;
	}
	return true;
}

static void report_progress(const Levels *self, uint32_t depth)
{
	char number[LODE_NUMBER_SIZE];
	g_autofree char *detail = g_strdup_printf("%s sequences; elements: %u",
		lode_number_format_count((double)self->workers[0]->sequences.n, number), depth + 1);

	lode_progress_report(self->search->progress, "mining", 0, 0, detail);
}

static void search_waves(Levels *self, GPtrArray *nodes);

/* Searches nodes of one depth and all that is below them; frees them. */
static void search_wave(Levels *self, Node **nodes, size_t n)
{
	g_autoptr(GPtrArray) below = g_ptr_array_new();

	report_progress(self, nodes[0]->depth);
	self->depth = nodes[0]->depth;
	self->wave = g_memdup2(nodes, n * sizeof(Node *));
	self->n_wave = n;
	if (find_elements(self) && join_elements(self, nodes, n)) {
		for (size_t i = 0; i < n; i++)
			make_patterns(self, nodes[i]);
		for (size_t i = 0; i < n && !has_stopped(self); i++)
			report(self, nodes[i], below);
		/* Whether each rank had the memory for that. */
		add_up(self, 0);
		self->has_too_many = self->workers[0]->sequences.n >
		                     self->search->parameters->max_sequences;
	}
	g_clear_pointer(&self->wave, g_free);
	/* With nothing below are most of them. */
	for (size_t i = 0; i < n; i++)
		if (nodes[i]->n_below == 0) {
			node_free(self->search, nodes[i]);
			nodes[i] = NULL;
		}
	search_waves(self, below);
	for (size_t i = 0; i < n; i++)
		if (nodes[i] != NULL)
			node_free(self->search, nodes[i]);
}

/* In parts that are not too large, each with all that is below it. */
static void search_waves(Levels *self, GPtrArray *nodes)
{
	Node **all = (Node **)nodes->pdata;
	size_t first = 0;

	while (first < nodes->len) {
		size_t end = first;
		double n_paths = 0;
		while (end < nodes->len && end - first < MAX_NODES &&
			(end == first || n_paths + all[end]->n_paths <= self->max_paths))
			n_paths += all[end++]->n_paths;
		if (has_stopped(self))
			for (; first < end; first++)
				node_free(self->search, all[first]);
		else
			search_wave(self, all + first, end - first);
		first = end;
	}
}

/* The memory that all ranks go by is that of the first. */
static double choose_max_paths(const LodeSearch *search, LodeRanks *ranks)
{
	double bytes = ranks->rank == 0 ? (double)search->memory_limit : 0;

	ranks->sum(ranks, &bytes, 1);
	return MIN(bytes / BYTES_OF_PATH / search->parameters->iterations, MAX_PATHS) * ranks->size;
}

void lode_levels_search(
	LodeSearch *search, LodeSearcher **workers, unsigned n_workers, LodeRanks *ranks)
{
	g_autofree bool *is_own = lode_share_own_graphs(
		search->graph, search->parameters, ranks->rank, ranks->size);
	Levels self = {
		.search = search,
		.workers = workers,
		.n_workers = n_workers,
		.ranks = ranks,
		.max_paths = choose_max_paths(search, ranks),
		.n_items = search->graph->n_items,
		.n_events = search->graph->graph->n_events,
		.worked_until = work_seconds(),
	};
	Node *root = node_new(self.n_events);

	if (!(ranks->prepare_seconds > 0))
		ranks->prepare_seconds = self.worked_until;
	search->is_own = is_own;
	/* Which pairs may pass in longer windows, a rank does not know by itself. */
	for (unsigned i = 0; i < n_workers; i++)
		g_clear_pointer(&workers[i]->pairs, g_free);
	search_wave(&self, &root, 1);
	search->is_own = NULL;
	g_free(self.values);
	g_free(self.values_before);
	g_free(self.firsts);
}
