/* SPDX-License-Identifier: MIT */
/*
 * The depth-first search over levels, in tasks: one for each passing pattern of the root. A large
 * task is shared: once its level 1 is filled, each passing pattern of that level is a part of its
 * own. The result of a part does not depend on the worker that searches it; the results are put
 * together in the order of tasks and parts, cut at the limit there, and sorted.
 *
 * Ranks share tasks, too. They have no memory in common: a large task is cut into slices, each with
 * every n-th pattern of its level 1, which each worker that takes one of them fills for itself.
 */
#include "analyses/mine/miner.h"

#include "analyses/mine/closed.h"
#include "analyses/mine/rank_results.h"
#include "analyses/mine/searcher.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "base/text/number_format.h"
#include "base/worker_pool.h"
#include "model/index.h"
#include "model/mining_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The result of one worker in a task, or in a part of it. */
typedef struct {
	uint32_t part; /* 0: the task itself; 1 + pattern of its level 1 */
	unsigned worker;
	size_t first, end; /* of the worker's sequences */
} Result;

typedef struct {
	uint32_t pattern; /* of the root */
	uint32_t slice, n_slices;
	uint64_t size;        /* its candidates: the estimate of its work */
	GArray *results;      /* Result */
	uint64_t n_found;     /* sequences in them */
	LodeLevel shared;     /* level 1, while its parts are searched */
	uint32_t next_part;   /* the next pattern of `shared` to take */
	uint32_t n_unsettled; /* parts that are waiting or searched */
} Task;

typedef struct {
	LodeSearch search; /* first: the workers know it by this */
	LodeSearcher **workers;
	unsigned n_workers;
	LodeRanks *ranks; /* NULL: alone */
	Task *tasks;      /* by falling size */
	size_t n_tasks;
	GMutex mutex; /* of what follows, and of the tasks */
	GCond changed;
	size_t n_taken, n_finished;
	GQueue shared; /* Task: those with parts to take */
	uint64_t n_sequences;
	GThread *main_thread;
	/* Used by the main thread alone, while it searches. */
	unsigned n_looks;
	gint64 start_us, looked_us;
	bool may_advise;
} Mining;

static const LodePattern *current_pattern(const LodeLevel *level)
{
	return &LODE_BUFFER_AT(&level->patterns, LodePattern, level->current);
}

static bool should_stop(const LodeSearch *search)
{
	if (lode_progress_is_cancelled(search->progress))
		atomic_store((atomic_int *)&search->stop, LODE_ERROR_CANCELLED + 1);
	return atomic_load_explicit(&search->stop, memory_order_relaxed) != 0;
}

/* One more than the limit: a run of exactly as many sequences as allowed is complete. */
static bool has_enough(const LodeSearcher *self)
{
	return self->sequences.n - self->task_start > self->search->parameters->max_sequences;
}

/* Copies the support of the pattern that the search is at; its index. LODE_NONE: no memory. */
static uint32_t keep_support(LodeSearcher *self, uint32_t depth)
{
	const LodeLevel *level = lode_searcher_level(self, depth);
	const LodePattern *pattern = current_pattern(level);
	uint32_t n_events = self->search->graph->graph->n_events;

	if (!lode_buffer_has_room(self->search, &self->supports, 1, sizeof(LodeSupport)) ||
		!lode_buffer_has_room(
			self->search, &self->event_supports, n_events, sizeof(double)))
		return LODE_NONE;
	LODE_BUFFER_AT(&self->supports, LodeSupport, self->supports.n) = pattern->support;
	if (n_events > 0)
		memcpy(&LODE_BUFFER_AT(&self->event_supports, double, self->event_supports.n),
			&LODE_BUFFER_AT(&level->events, double, pattern->events),
			n_events * sizeof(double));
	self->event_supports.n += n_events;
	return (uint32_t)self->supports.n++;
}

/* The sequence being put together, element by element. */
typedef struct {
	uint32_t codes[LODE_SEQUENCE_MAX_ITEMS];
	uint32_t n;
	uint32_t support;
	uint32_t last_depth;
} Emission;

static bool emit_one(LodeSearcher *self, const Emission *emission)
{
	LodeSearch *search = self->search;

	if (!lode_buffer_has_room(search, &self->codes, emission->n, sizeof(uint32_t)) ||
		!lode_buffer_has_room(search, &self->sequences, 1, sizeof(LodeFound)))
		return false;
	LODE_BUFFER_AT(&self->sequences, LodeFound, self->sequences.n++) = (LodeFound){
		self->codes.n, emission->n, emission->support};
	memcpy(&LODE_BUFFER_AT(&self->codes, uint32_t, self->codes.n), emission->codes,
		emission->n * sizeof(uint32_t));
	self->codes.n += emission->n;
	return true;
}

/* The fewest items that the elements from `depth` on need. */
static uint32_t least_size(const LodeSearcher *self, uint32_t depth, uint32_t last_depth)
{
	uint32_t size = 0;

	for (; depth <= last_depth; depth++)
		size += current_pattern(lode_searcher_level(self, depth))->min_size;
	return size;
}

/* All sequences that combine alternatives of the current patterns from `depth` on. */
static bool emit(LodeSearcher *self, Emission *emission, uint32_t depth)
{
	const LodeLevel *level = lode_searcher_level(self, depth);
	uint32_t n = emission->n;
	uint32_t rest = least_size(self, depth + 1, emission->last_depth);

	for (uint32_t i = current_pattern(level)->first_alternative; i != LODE_NONE;) {
		const LodeAlternative *one = &LODE_BUFFER_AT(
			&level->alternatives, LodeAlternative, i);
		/* Alternatives are linked by rising size: none after this one fits either. */
		if (n + one->size + rest > self->search->parameters->iterations || has_enough(self))
			return true;
		for (uint32_t j = 0; j < one->size; j++) {
			uint32_t item = LODE_BUFFER_AT(
				&level->items, uint32_t, one->first_item + j);
			emission->codes[n + j] = item + 1 +
			                         (j == 0 ? self->search->graph->n_items : 0);
		}
		emission->n = n + one->size;
		bool is_ok = depth == emission->last_depth ? emit_one(self, emission)
		                                           : emit(self, emission, depth + 1);
		emission->n = n;
		if (!is_ok)
			return false;
		i = one->next;
	}
	return true;
}

/* Adds the sequences of the current pattern at `depth` to those that the worker found, up to one
 * more than the limit. False: out of memory. */
static bool report(LodeSearcher *self, uint32_t depth)
{
	Emission emission = {.support = keep_support(self, depth), .last_depth = depth};

	return emission.support != LODE_NONE && emit(self, &emission, 0);
}

/* Fills the level below the current pattern at `depth`; false where there is nothing to search.
 * `size`: the fewest items so far. */
static bool fill_below(LodeSearcher *self, uint32_t depth, uint32_t size)
{
	const LodeMiningParameters *parameters = self->search->parameters;

	if (size >= parameters->iterations ||
		current_pattern(lode_searcher_level(self, depth))->is_end)
		return false;
	/* Windows of one vertex for now: lode_patterns_find() adds longer ones where it needs them.
	 */
	bool is_ok = self->search->uses_windows
	                     ? lode_windows_extend(self, depth + 1, parameters->iterations - size)
	                     : lode_paths_extend(self, depth + 1);
	return is_ok && self->levels[depth + 1].members.n > 0 &&
	       lode_patterns_find(self, depth + 1, parameters->iterations - size, NULL, 0);
}

/* Sequences that were found, also in unfinished tasks. */
static uint64_t count_seen(Mining *mining)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < mining->n_workers; i++)
		n += atomic_load_explicit(&mining->workers[i]->n_seen, memory_order_relaxed);
	return n;
}

/* With the mutex held. */
static void report_progress(Mining *mining)
{
	if (g_thread_self() != mining->main_thread)
		return;
	g_autofree char *detail = g_strdup_printf(
		"%s sequences", LODE_COUNT_TEXT(count_seen(mining)));
	lode_progress_report(mining->search.progress, "mining", (double)mining->n_finished,
		(double)mining->n_tasks, detail);
}

static double find_support_for(
	const LodeSearch *search, uint32_t n_wanted, const LodeProgress *progress);

/* So many sequences nobody reads. */
enum { MANY = 100000, MANY_IF_SLOW = 30000, SLOW_US = 2 * G_USEC_PER_SEC, FEW = 10000 };

static void advise(Mining *mining)
{
	const LodeSearch *search = &mining->search;
	const LodeProgress silent = {.cancellable = search->progress->cancellable};
	double support = find_support_for(search, FEW, &silent);

	if (!(support > search->parameters->min_support))
		return;
	g_autofree char *text = g_strdup_printf(
		"the threshold is low: %s sequences so far; lode mine --min-support %.3g%% would "
		"give about %s",
		LODE_COUNT_TEXT(count_seen(mining)), 100 * support, LODE_COUNT_TEXT(FEW));
	search->progress->note(text, search->progress->user_data);
}

enum { LOOKS = 64, LOOK_US = G_USEC_PER_SEC / 10 };

/* Called often by each worker; the main thread's then sees to the user. */
static bool should_end(LodeSearcher *self)
{
	Mining *mining = (Mining *)(void *)self->search;

	atomic_store_explicit(&self->n_seen, self->sequences.n, memory_order_relaxed);
	if (self != mining->workers[0] || ++mining->n_looks % LOOKS != 0)
		return should_stop(self->search);
	gint64 now_us = g_get_monotonic_time();
	if (now_us - mining->looked_us >= LOOK_US) {
		uint64_t n_seen = count_seen(mining);
		mining->looked_us = now_us;
		g_mutex_lock(&mining->mutex);
		report_progress(mining);
		g_mutex_unlock(&mining->mutex);
		if (mining->may_advise &&
			(n_seen >= MANY ||
				(n_seen >= MANY_IF_SLOW && now_us - mining->start_us >= SLOW_US))) {
			mining->may_advise = false;
			advise(mining);
		}
	}
	return should_stop(self->search);
}

static void search_level(LodeSearcher *self, uint32_t depth, uint32_t size);

/* Reports the current pattern at `depth` and searches below it. `size`: the fewest items above. */
static void search_pattern(LodeSearcher *self, uint32_t depth, uint32_t size)
{
	size += current_pattern(&self->levels[depth])->min_size;
	if (report(self, depth) && fill_below(self, depth, size))
		search_level(self, depth + 1, size);
}

/* Searches below the patterns of the level at `depth`, which the worker has filled. */
static void search_level(LodeSearcher *self, uint32_t depth, uint32_t size)
{
	LodeLevel *level = &self->levels[depth];

	for (uint32_t i = 0; i < level->patterns.n; i++) {
		level->current = i;
		if (should_end(self) || has_enough(self))
			return;
		if (current_pattern(level)->passes)
			search_pattern(self, depth, size);
	}
}

/*
 * Whether the parts before this one have found as many as the limit allows. The result of this part
 * is then cut off when the results are put together, whichever end first: so skipping it does not
 * make the result depend on the number of threads.
 */
static bool is_beyond_limit(const Mining *mining, const Task *task, uint32_t part)
{
	uint64_t found = 0;

	if (mining->ranks != NULL ||
		mining->n_sequences <= mining->search.parameters->max_sequences)
		return false;
	for (const Task *before = mining->tasks; before < task; before++)
		found += before->n_found;
	for (guint i = 0; i < task->results->len; i++) {
		const Result *result = &g_array_index(task->results, Result, i);
		found += result->part < part ? result->end - result->first : 0;
	}
	return found > mining->search.parameters->max_sequences;
}

enum { SHARED_MEMBERS = 16 };

/* Whether the parts of a task are worth the memory of its level 1, which goes with them. */
static bool should_share(const Mining *mining, const LodeLevel *level)
{
	return mining->ranks == NULL && mining->n_workers > 1 && level->members.n >= SHARED_MEMBERS;
}

static bool has_part(const Task *task)
{
	return task->next_part < task->shared.patterns.n;
}

static void skip_to_part(Task *task)
{
	while (has_part(task) &&
		!LODE_BUFFER_AT(&task->shared.patterns, LodePattern, task->next_part).passes)
		task->next_part++;
}

/* Gives the worker's level 1 to all workers. */
static void share(Mining *mining, LodeSearcher *self, Task *task)
{
	g_mutex_lock(&mining->mutex);
	task->shared = self->levels[1];
	self->levels[1] = (LodeLevel){0};
	skip_to_part(task);
	if (has_part(task))
		g_queue_push_tail(&mining->shared, task);
	g_cond_broadcast(&mining->changed);
	g_mutex_unlock(&mining->mutex);
}

/* A task, or with part > 0 that part of it. */
typedef struct {
	Task *task;
	uint32_t part;
} Work;

/* Fills level 1 below a task, unless the worker has it from another slice. */
static void fill_task(LodeSearcher *self, const Task *task, uint32_t size)
{
	if (self->below == task->pattern)
		return;
	if (!fill_below(self, 0, size))
		self->levels[1].patterns.n = self->levels[1].members.n = 0;
	self->below = task->pattern;
}

static void search_slice(LodeSearcher *self, const Task *task, uint32_t size)
{
	LodeLevel *level = &self->levels[1];
	uint32_t n_passing = 0;

	for (uint32_t i = 0; i < level->patterns.n; i++) {
		level->current = i;
		if (should_end(self) || has_enough(self))
			return;
		if (current_pattern(level)->passes && n_passing++ % task->n_slices == task->slice)
			search_pattern(self, 1, size);
	}
}

/* Searches a task up to its level 1 when that is then shared, to the end otherwise. */
static void search_task(Mining *mining, LodeSearcher *self, Task *task)
{
	uint32_t size = current_pattern(self->root)->min_size;

	if (task->slice == 0 && !report(self, 0))
		return;
	fill_task(self, task, size);
	if (should_share(mining, &self->levels[1]))
		share(mining, self, task);
	else
		search_slice(self, task, size);
}

static void search_part(LodeSearcher *self, const Task *task, uint32_t part)
{
	LodeLevel own = self->levels[1];

	self->levels[1] = task->shared;
	self->levels[1].current = part - 1;
	search_pattern(self, 1, current_pattern(self->root)->min_size);
	self->levels[1] = own;
}

/*
 * With the mutex held: the next task that no rank has taken. Its number stands for what all have
 * searched, too.
 */
static bool take_from_ranks(Mining *mining, Work *out)
{
	LodeRanks *ranks = mining->ranks;
	uint64_t index;

	if (should_stop(&mining->search) ||
		mining->n_sequences > mining->search.parameters->max_sequences)
		return false;
	index = ranks->count(ranks, 1) - ranks->first_part;
	mining->n_finished = mining->n_taken = (size_t)MIN(index, mining->n_tasks);
	if (mining->n_taken == mining->n_tasks)
		return false;
	ranks->traffic.n_taken++;
	*out = (Work){&mining->tasks[index], 0};
	return true;
}

/* With the mutex held. Parts come first, so that few levels are shared at a time. */
static bool take_work(Mining *mining, Work *out)
{
	Task *task;

	if (mining->ranks != NULL)
		return take_from_ranks(mining, out);
	while (g_queue_is_empty(&mining->shared) && mining->n_taken == mining->n_tasks) {
		if (mining->n_finished == mining->n_tasks)
			return false;
		g_cond_wait(&mining->changed, &mining->mutex);
	}
	if (g_queue_is_empty(&mining->shared)) {
		task = &mining->tasks[mining->n_taken++];
		*out = (Work){task, 0};
	} else {
		task = g_queue_peek_head(&mining->shared);
		*out = (Work){task, 1 + task->next_part++};
		skip_to_part(task);
		if (!has_part(task))
			g_queue_pop_head(&mining->shared);
	}
	task->n_unsettled++;
	return true;
}

/* With the mutex held. */
static void settle(Mining *mining, const Work *work, const Result *result)
{
	Task *task = work->task;

	g_array_append_val(task->results, *result);
	task->n_found += result->end - result->first;
	mining->n_sequences += result->end - result->first;
	if (mining->ranks != NULL) {
		report_progress(mining);
		return;
	}
	if (--task->n_unsettled > 0 || has_part(task))
		return;
	lode_level_clear(&mining->search, &task->shared);
	task->shared = (LodeLevel){0};
	mining->n_finished++;
	report_progress(mining);
	g_cond_broadcast(&mining->changed);
}

static void run_worker(size_t index, unsigned worker, void *user_data)
{
	Mining *mining = user_data;
	LodeSearcher *self = mining->workers[worker];
	Work work;

	(void)index;
	g_mutex_lock(&mining->mutex);
	while (take_work(mining, &work)) {
		bool is_skipped = is_beyond_limit(mining, work.task, work.part);
		g_mutex_unlock(&mining->mutex);
		Result result = {.part = work.part, .worker = worker};
		result.first = self->task_start = self->sequences.n;
		if (!is_skipped && !should_stop(&mining->search)) {
			/* Each worker stands at its own pattern of the shared root. */
			LodeLevel root = *mining->search.root;
			root.current = work.task->pattern;
			self->root = &root;
			if (work.part == 0)
				search_task(mining, self, work.task);
			else
				search_part(self, work.task, work.part);
			self->root = mining->search.root;
		}
		result.end = self->sequences.n;
		g_mutex_lock(&mining->mutex);
		settle(mining, &work, &result);
	}
	g_mutex_unlock(&mining->mutex);
}

/*
 * The longest first, so that none is left to a single worker at the end (R. L. Graham, "Bounds on
 * multiprocessing timing anomalies", 1969). The order is complete, because it decides which
 * sequences a limit keeps.
 */
LODE_ORDER(compare_tasks, Task, LODE_DESCENDING(size), LODE_ASCENDING(pattern))

/*
 * A thread gets so many slices, or more that are smaller, if tasks are as large as estimated: with
 * fewer, ranks wait for the one that took the last; with more, they fill the same levels for little
 * work each.
 */
enum { SLICES_A_THREAD = 16, MAX_SLICES = 256 };

static void slice_tasks(Mining *mining)
{
	GArray *slices = g_array_new(FALSE, TRUE, sizeof(Task));
	double total = 0;

	for (size_t i = 0; i < mining->n_tasks; i++)
		total += (double)mining->tasks[i].size;
	double most = total / SLICES_A_THREAD / mining->ranks->n_threads;
	for (size_t i = 0; i < mining->n_tasks; i++) {
		Task task = mining->tasks[i];
		task.n_slices = (uint32_t)CLAMP(ceil((double)task.size / most), 1, MAX_SLICES);
		for (task.slice = 0; task.slice < task.n_slices; task.slice++)
			g_array_append_val(slices, task);
	}
	g_free(mining->tasks);
	mining->n_tasks = slices->len;
	mining->tasks = (Task *)(void *)g_array_free(slices, FALSE);
}

static void make_tasks(Mining *mining)
{
	const LodeLevel *root = mining->search.root;

	mining->tasks = g_new0(Task, root->patterns.n + 1);
	for (uint32_t i = 0; i < root->patterns.n; i++) {
		const LodePattern *pattern = &LODE_BUFFER_AT(&root->patterns, LodePattern, i);
		if (!pattern->passes)
			continue;
		Task task = {.pattern = i, .n_slices = 1};
		for (uint32_t g = 0; g < pattern->n_groups; g++)
			task.size += LODE_BUFFER_AT(&root->groups, LodeGroup,
				LODE_BUFFER_AT(
					&root->group_lists, uint32_t, pattern->first_group + g))
			                     .n;
		mining->tasks[mining->n_tasks++] = task;
	}
	qsort(mining->tasks, mining->n_tasks, sizeof(Task), compare_tasks);
	if (mining->ranks != NULL)
		slice_tasks(mining);
	for (size_t i = 0; i < mining->n_tasks; i++)
		mining->tasks[i].results = g_array_new(FALSE, FALSE, sizeof(Result));
}

static void free_tasks(Mining *mining)
{
	for (size_t i = 0; i < mining->n_tasks; i++)
		g_array_unref(mining->tasks[i].results);
	g_free(mining->tasks);
}

static bool build_root(Mining *mining)
{
	LodeSearcher *self = mining->workers[0];
	LodeLevel *root = mining->search.root;
	bool is_ok = mining->search.uses_windows
	                     ? lode_windows_start(mining->workers, mining->n_workers, root)
	                     : lode_paths_start(self, root);

	if (!is_ok || !lode_patterns_find(self, 0, mining->search.parameters->iterations,
			      mining->workers, mining->n_workers))
		return false;
	if (mining->search.uses_windows && mining->search.parameters->iterations > 1)
		lode_root_mark_ends(root, mining->workers, mining->n_workers);
	return true;
}

static void search_all(Mining *mining)
{
	lode_progress_report(mining->search.progress, "first elements", 0, 0, NULL);
	if (!should_stop(&mining->search) && build_root(mining)) {
		make_tasks(mining);
		lode_worker_pool_run(mining->n_workers, mining->n_workers, run_worker, mining);
	}
}

/* The results of the ranks are then one task, of the first worker. */
static void gather(Mining *mining)
{
	const uint64_t all = UINT64_C(1) << 32;
	LodeRanks *ranks = mining->ranks;
	GArray *results = g_array_new(FALSE, FALSE, sizeof(Result));

	/* Nothing is left to take for the others either. */
	if (should_stop(&mining->search) ||
		mining->n_sequences > mining->search.parameters->max_sequences)
		ranks->count(ranks, all);
	mining->n_sequences = lode_rank_results_gather(
		&mining->search, mining->workers, mining->n_workers, ranks);
	Result result = {.end = mining->workers[0]->sequences.n};
	g_array_append_val(results, result);
	free_tasks(mining);
	mining->tasks = g_new0(Task, 1);
	mining->tasks->results = results;
	mining->n_tasks = 1;
}

static void search_with_ranks(Mining *mining)
{
	clock_t start = clock();

	search_all(mining);
	mining->ranks->traffic.own_work_seconds += (double)(clock() - start) / CLOCKS_PER_SEC;
	gather(mining);
}

/* A found sequence with the front of its codes packed, for sorting. */
typedef struct {
	uint64_t key;
	const uint32_t *codes;
	uint32_t n_codes, support;
	unsigned worker;
} Sortable;

static int compare_sortable(const void *a, const void *b)
{
	const Sortable *left = a, *right = b;

	if (left->key != right->key)
		return left->key < right->key ? -1 : 1;
	for (uint32_t i = 0; i < left->n_codes && i < right->n_codes; i++)
		if (left->codes[i] != right->codes[i])
			return left->codes[i] < right->codes[i] ? -1 : 1;
	return (left->n_codes > right->n_codes) - (left->n_codes < right->n_codes);
}

/*
 * As many leading codes as fit, so that most comparisons of the sort are of two numbers. No code is
 * 0, so a sequence sorts before its extensions. Codes of items inside an element are below those
 * that start one, which is the canonical order that closed.c and the store rely on.
 */
static uint64_t pack_codes(const uint32_t *codes, uint32_t n, unsigned bits)
{
	uint64_t key = 0;
	unsigned room = 64;

	for (uint32_t i = 0; i < n && room >= bits; i++) {
		room -= bits;
		key |= (uint64_t)codes[i] << room;
	}
	return key;
}

static Sortable sortable(const LodeSearcher *self, unsigned worker, size_t sequence, unsigned bits)
{
	const LodeFound *found = &LODE_BUFFER_AT(&self->sequences, LodeFound, sequence);
	const uint32_t *codes = &LODE_BUFFER_AT(&self->codes, uint32_t, found->first_code);

	return (Sortable){pack_codes(codes, found->n_codes, bits), codes, found->n_codes,
		found->support, worker};
}

LODE_ORDER(compare_results, Result, LODE_ASCENDING(part))

static Sortable *collect(const Mining *mining, size_t *out_n, bool *out_is_complete)
{
	uint64_t limit = mining->search.parameters->max_sequences;
	unsigned bits = (unsigned)g_bit_storage(2 * (gulong)mining->search.graph->n_items + 1);
	size_t n = 0, n_kept = (size_t)MIN(mining->n_sequences, limit);
	Sortable *all = g_new(Sortable, n_kept + 1);

	for (size_t t = 0; t < mining->n_tasks; t++) {
		GArray *results = mining->tasks[t].results;
		g_array_sort(results, compare_results);
		for (guint r = 0; r < results->len; r++) {
			const Result *result = &g_array_index(results, Result, r);
			const LodeSearcher *worker = mining->workers[result->worker];
			for (size_t i = result->first; i < result->end && n < n_kept; i++)
				all[n++] = sortable(worker, result->worker, i, bits);
		}
	}
	qsort(all, n, sizeof(Sortable), compare_sortable);
	*out_n = n;
	*out_is_complete = mining->n_sequences <= limit;
	return all;
}

static void add_sequence(const Mining *mining, LodeMiningRun *run, const Sortable *one)
{
	const LodeSearchGraph *graph = mining->search.graph;
	const LodeSearcher *worker = mining->workers[one->worker];
	const LodeSupport *support = &LODE_BUFFER_AT(&worker->supports, LodeSupport, one->support);
	LodeSequence sequence = {
		.first_item = run->items->len,
		.n_items = one->n_codes,
		.places = support->places,
		.functions = support->functions,
		.weight = support->weight,
		.frequency = support->frequency,
		.executions = support->executions,
	};

	for (uint32_t i = 0; i < one->n_codes; i++) {
		bool is_start = one->codes[i] > graph->n_items;
		uint32_t item = one->codes[i] - 1 - (is_start ? graph->n_items : 0);
		uint32_t word = graph->item_attributes[item] | (is_start ? LODE_ITEM_START : 0);
		g_array_append_val(run->items, word);
	}
	g_array_append_val(run->sequences, sequence);
	if (run->events->len > 0)
		g_array_append_vals(run->event_supports,
			&LODE_BUFFER_AT(&worker->event_supports, double,
				(size_t)one->support * run->events->len),
			run->events->len);
}

static void fill_run(const Mining *mining, LodeMiningRun *run)
{
	const LodeFlowGraph *graph = mining->search.graph->graph;
	size_t n;
	g_autofree Sortable *all = collect(mining, &n, &run->is_complete);

	for (uint32_t i = 0; i < graph->n_attributes; i++)
		g_ptr_array_add(run->attributes, g_strdup(graph->attribute_names[i]));
	for (uint32_t i = 0; i < graph->n_events; i++)
		g_ptr_array_add(run->events, g_strdup(graph->event_names[i]));
	for (size_t i = 0; i < n; i++)
		add_sequence(mining, run, &all[i]);
}

static void set_memory_error(size_t limit_bytes, GError **error)
{
	g_autofree char *limit = g_format_size_full(limit_bytes, G_FORMAT_SIZE_IEC_UNITS);

	g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
		"mining needs more than %s of memory: raise --memory or --min-support, or lower "
		"--gap, --window or --iterations",
		limit);
}

static bool set_stop_error(const LodeSearch *search, GError **error)
{
	int stop = atomic_load((atomic_int *)&search->stop) - 1;

	if (stop < 0)
		return false;
	if (stop == LODE_ERROR_CANCELLED)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
	else
		set_memory_error(search->memory_limit, error);
	return true;
}

unsigned lode_miner_threads(const LodeMiningParameters *parameters)
{
	return parameters->threads != 0 ? MIN(parameters->threads, 256)
	                                : lode_worker_pool_default_size();
}

static LodeMiningRun *mine(const LodeFlowGraph *graph, const LodeMiningParameters *parameters,
	const char *name, LodeRanks *ranks, const LodeProgress *progress, GError **error)
{
	unsigned n_workers = lode_miner_threads(parameters);
	g_autoptr(LodeSearchGraph) prepared = lode_search_graph_new(graph, parameters, n_workers);
	LodeLevel root = {0};
	Mining mining = {
		.n_workers = n_workers,
		.ranks = ranks,
		.main_thread = g_thread_self(),
		.start_us = g_get_monotonic_time(),
		.may_advise = ranks == NULL && parameters->top == 0 && progress != NULL &&
	                      progress->note != NULL,
	};
	LodeMiningRun *run = NULL;

	lode_search_init(&mining.search, prepared, parameters, progress);
	mining.search.root = &root;
	g_mutex_init(&mining.mutex);
	g_cond_init(&mining.changed);
	g_queue_init(&mining.shared);
	mining.workers = g_new0(LodeSearcher *, mining.n_workers);
	for (unsigned i = 0; i < mining.n_workers; i++)
		mining.workers[i] = lode_searcher_new(&mining.search);
	if (ranks != NULL)
		search_with_ranks(&mining);
	else
		search_all(&mining);
	if (!set_stop_error(&mining.search, error)) {
		/* It may have been too quick to be looked at. */
		if (mining.may_advise && mining.n_sequences >= MANY)
			advise(&mining);
		run = lode_mining_run_new(name, parameters);
		fill_run(&mining, run);
	}
	for (unsigned i = 0; i < mining.n_workers; i++)
		lode_searcher_free(mining.workers[i]);
	lode_level_clear(&mining.search, &root);
	free_tasks(&mining);
	g_free(mining.workers);
	g_mutex_clear(&mining.mutex);
	g_cond_clear(&mining.changed);
	return run;
}

/*
 * Which sequences a limit keeps depends on the order of the search: the first rank then mines once
 * more alone, so that these are the same for any number of ranks.
 */
static LodeMiningRun *mine_shared(const LodeFlowGraph *graph,
	const LodeMiningParameters *parameters, const char *name, LodeRanks *ranks,
	const LodeProgress *progress, GError **error)
{
	LodeMiningRun *run = mine(graph, parameters, name, ranks, progress, error);

	if (run == NULL || run->is_complete || ranks == NULL || ranks->rank != 0)
		return run;
	lode_mining_run_free(run);
	return mine(graph, parameters, name, NULL, progress, error);
}

static bool check_parameters(const LodeMiningParameters *parameters, GError **error)
{
	/* At most 64: which positions of a path are matched is kept as the bits of one number. */
	uint64_t positions = (uint64_t)parameters->iterations * ((uint64_t)parameters->window + 1) +
	                     (uint64_t)(parameters->iterations - 1) * parameters->gap;

	if (parameters->iterations < 1 || parameters->iterations > 64 || parameters->gap > 64 ||
		parameters->window > 64 || positions > 64) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"iterations %u, window %u and gap %u give paths of up to %" G_GUINT64_FORMAT
			" vertices; between 1 and 64 can be mined",
			parameters->iterations, parameters->window, parameters->gap, positions);
		return false;
	}
	if (!(parameters->min_support >= 0) || !(parameters->min_differential >= 0)) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"the minimum supports are shares between 0 and 1");
		return false;
	}
	return true;
}

static void keep_marked(LodeMiningRun *run, const bool *is_kept)
{
	guint n_events = run->events->len, kept = 0;

	for (guint i = 0; i < run->sequences->len; i++) {
		if (!is_kept[i])
			continue;
		g_array_index(run->sequences, LodeSequence, kept) = g_array_index(
			run->sequences, LodeSequence, i);
		for (guint e = 0; e < n_events; e++)
			g_array_index(run->event_supports, double, kept *n_events + e) =
				g_array_index(run->event_supports, double, i *n_events + e);
		kept++;
	}
	g_array_set_size(run->sequences, kept);
	g_array_set_size(run->event_supports, kept * n_events);
}

static bool filter_run(LodeMiningRun *run, const LodeProgress *progress, GError **error)
{
	g_autofree bool *is_kept = g_new0(bool, run->sequences->len + 1);

	if (!run->parameters.only_maximal && !run->parameters.only_closed)
		return true;
	if (run->parameters.only_maximal ? !lode_maximal_mark(run, is_kept, progress, error)
					 : !lode_closed_mark(run, is_kept, progress, error))
		return false;
	keep_marked(run, is_kept);
	return true;
}

/*
 * The highest minimum support at which each sequence would be reported: the least maximal support
 * among itself, its prefixes, and its attributes alone (docs/reference/mining.md §4). A sequence
 * that passes by its differential support passes at any minimum: 2 stands for that.
 */
static double *find_entry_supports(const LodeMiningRun *run)
{
	guint n = run->sequences->len;
	double *entry = g_new(double, n + 1);
	g_autofree double *single = g_new0(double, run->attributes->len + 1);
	double by_size[LODE_SEQUENCE_MAX_ITEMS + 1] = {0};

	for (guint i = 0; i < n; i++) {
		const LodeSequence *one = &g_array_index(run->sequences, LodeSequence, i);
		if (one->n_items == 1)
			single[LODE_ITEM_ATTRIBUTE(lode_mining_run_items(run, i)[0])] =
				lode_sequence_differential(one) >=
						run->parameters.min_differential - 1e-12
					? 2
					: lode_sequence_maximal(one);
	}
	for (guint i = 0; i < n; i++) {
		const LodeSequence *one = &g_array_index(run->sequences, LodeSequence, i);
		const uint32_t *items = lode_mining_run_items(run, i);
		double own = lode_sequence_maximal(one);
		if (lode_sequence_differential(one) >= run->parameters.min_differential - 1e-12)
			own = 2;
		own = fmin(own, single[LODE_ITEM_ATTRIBUTE(items[one->n_items - 1])]);
		/* In canonical order the prefix is the last one before with one item less. */
		by_size[one->n_items] = one->n_items > 1 ? fmin(own, by_size[one->n_items - 1])
		                                         : own;
		entry[i] = by_size[one->n_items];
	}
	return entry;
}

/* Cuts a run that was mined with too low a threshold to the highest one that leaves `top`. */
static void cut_to_top(LodeMiningRun *run)
{
	guint n = run->sequences->len, top = run->parameters.top;
	g_autofree double *entry = find_entry_supports(run);
	g_autofree double *sorted = g_memdup2(entry, sizeof(double) * (n + 1));
	g_autofree bool *is_kept = g_new(bool, n + 1);

	if (n <= top || !run->is_complete)
		return;
	qsort(sorted, n, sizeof(double), lode_compare_doubles_descending);
	run->parameters.min_support = fmin(sorted[top - 1], 1);
	for (guint i = 0; i < n; i++)
		is_kept[i] = entry[i] >= sorted[top - 1] - 1e-12;
	keep_marked(run, is_kept);
}

/*
 * About the minimum support that gives so many sequences; 0: not known. Mines at high thresholds,
 * which takes little time, and extends the curve of the number over the threshold, a straight line
 * in logarithms.
 */
static double find_support_for(
	const LodeSearch *search, uint32_t n_wanted, const LodeProgress *progress)
{
	LodeMiningParameters guess = *search->parameters;

	guess.threads = 1;
	guess.min_support = 0.5;
	while (guess.min_support > search->parameters->min_support) {
		g_autoptr(LodeMiningRun)
			run = mine(search->graph->graph, &guess, "", NULL, progress, NULL);
		if (run == NULL || !run->is_complete)
			return 0;
		uint32_t n = run->sequences->len;
		guess.min_support *= n < n_wanted / 16 ? 0.5 : M_SQRT1_2;
		/* No fewer than these will be found at the support given. */
		if (n < n_wanted / 3)
			continue;
		g_autofree double *entry = find_entry_supports(run);
		qsort(entry, n, sizeof(double), lode_compare_doubles_descending);
		/* Those that pass by their differential support say nothing. */
		if (entry[n >= n_wanted ? n_wanted - 1 : n / 4] > 1)
			return 0;
		if (n >= n_wanted)
			return entry[n_wanted - 1];
		double growth = log(entry[n / 4] / entry[n - 1]) / log(4);
		return entry[n - 1] * pow((double)n / n_wanted, growth);
	}
	return 0;
}

/*
 * The threshold sought is not known before mining. The last run mines at no less than half of it,
 * and those before, at higher thresholds, find fewer sequences and take less time.
 */
static LodeMiningRun *mine_top(const LodeFlowGraph *graph, const LodeMiningParameters *parameters,
	const char *name, LodeRanks *ranks, const LodeProgress *progress, GError **error)
{
	LodeMiningParameters guess = *parameters;

	for (guess.min_support = 0.5;; guess.min_support /= 2) {
		if (guess.min_support < 1e-9)
			guess.min_support = 0;
		LodeMiningRun *run = mine_shared(graph, &guess, name, ranks, progress, error);
		if (run == NULL || !run->is_complete || run->sequences->len >= parameters->top ||
			guess.min_support == 0) {
			if (run != NULL)
				cut_to_top(run);
			return run;
		}
		lode_mining_run_free(run);
	}
}

LodeMiningRun *lode_miner_run_shared(const LodeFlowGraph *graph,
	const LodeMiningParameters *parameters, const char *name, LodeRanks *ranks,
	const LodeProgress *progress, GError **error)
{
	gint64 start_us = g_get_monotonic_time();

	if (!check_parameters(parameters, error))
		return NULL;
	g_autoptr(LodeMiningRun)
		run = parameters->top > 0
	                      ? mine_top(graph, parameters, name, ranks, progress, error)
	                      : mine_shared(graph, parameters, name, ranks, progress, error);
	if (run == NULL || !filter_run(run, progress, error))
		return NULL;
	run->seconds = (double)(g_get_monotonic_time() - start_us) / 1e6;
	return g_steal_pointer(&run);
}

LodeMiningRun *lode_miner_run(const LodeFlowGraph *graph, const LodeMiningParameters *parameters,
	const char *name, const LodeProgress *progress, GError **error)
{
	return lode_miner_run_shared(graph, parameters, name, NULL, progress, error);
}
