/* SPDX-License-Identifier: MIT */
/*
 * The uses of a line are sorted by thread; lines of two threads or more are examined one by one. An
 * access may have waited for other threads' accesses that conflict with it; running sums over the
 * bytes of the line give their weight without comparing all pairs.
 */
#include "analyses/memory/objects/line_sharing.h"

#include "analyses/memory/data_source.h"
#include "analyses/memory/page_faults.h"
#include "analyses/memory/simulated_events.h"
#include "analyses/memory/window_samples.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "model/code.h"
#include "model/lines/own_lines.h"
#include "model/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double mostly = 0.9; /* of what conflicts, to be one kind of sharing */
static const double nothing =
	1e-9; /* of a line's weight: the rounding error of a difference of sums */

typedef struct {
	uint64_t line;
	uint32_t pid, thread, row;
} Use;

/* A thread in a line: the uses from `first_use`, and from when to when they were. */
typedef struct {
	uint64_t first_ns, last_ns;
	size_t first_use, n_uses;
	bool stores, shares;
} Span;

/* A thread was sampled without a longer gap than GAPS times the usual one. */
typedef struct {
	uint64_t first_ns, last_ns;
} Run;

enum { GAPS = 4 };

/* Weights by where accesses begin and end: at [b], of all that begin at byte b or before, and of
 * all that end before it. */
typedef struct {
	double begun[LODE_SHARING_MAX_LINE], ended[LODE_SHARING_MAX_LINE];
	double total;
} Spread;

typedef struct {
	LodeLineSharing *result;
	const LodeMemory *memory;
	const LodeOwnLines *own;
	GArray *uses;    /* Use, by process, line, thread and row */
	GArray *spans;   /* Span, of one line by thread */
	GArray *order;   /* uint32_t: spans by their first time; of those with a property */
	GArray *longest; /* uint32_t × 2: of order[0 … i], the two spans that last longest */
	GHashTable *cpus;
	GPtrArray *runs;                  /* of each thread: GArray of Run, by time; NULL: none */
	double squares;                   /* Σ of squared weights, of all samples */
	uint32_t false_event, true_event; /* of classified misses; LODE_NONE */
	const LodeProgress *progress;
} Search;

static const char *const kind_words[LODE_N_SHARING_KINDS] = {"false", "true", "mixed"};

const char *lode_sharing_kind_to_text(LodeSharingKind kind)
{
	return kind_words[kind];
}

static const LodeMemorySample *sample_at(const Search *self, uint32_t row)
{
	return &LODE_AT(self->memory->samples, LodeMemorySample, row);
}

LODE_ORDER(compare_uses, Use, LODE_ASCENDING(pid), LODE_ASCENDING(line), LODE_ASCENDING(thread),
	LODE_ASCENDING(row))

/* Classified misses of other cores' stores. */
static void find_events(const LodeProfile *profile, uint32_t *out_false, uint32_t *out_true)
{
	*out_false = lode_profile_find_event(profile, LODE_FALSE_SHARING_MISS);
	*out_true = lode_profile_find_event(profile, LODE_TRUE_SHARING_MISS);
}

GArray *lode_line_sharing_choose(
	const LodeProfile *profile, const uint32_t *samples, size_t n_samples)
{
	const LodeMemory *memory = lode_memory_of(profile);
	GArray *chosen = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint32_t events[2], single = LODE_NONE;
	bool has_misses = false, is_mixed = false;
	uint32_t windows = lode_window_samples_event(profile);

	find_events(profile, &events[0], &events[1]);
	for (size_t i = 0; i < n_samples; i++) {
		const LodeMemorySample *sample = &LODE_AT(
			memory->samples, LodeMemorySample, samples[i]);
		if (sample->rule != LODE_RULE_TRACED)
			continue;
		has_misses |= sample->event == events[0] || sample->event == events[1];
		is_mixed |= single != LODE_NONE && sample->event != single;
		single = sample->event;
	}
	/* one access may miss several caches */
	single = is_mixed ? lode_simulated_events_default(profile) : LODE_NONE;
	for (size_t i = 0; i < n_samples; i++) {
		const LodeMemorySample *sample = &LODE_AT(
			memory->samples, LodeMemorySample, samples[i]);
		if (sample->event == windows)
			continue;
		if (has_misses ? sample->event == events[0] || sample->event == events[1]
			       : single == LODE_NONE || sample->event == single)
			g_array_append_val(chosen, samples[i]);
	}
	return chosen;
}

/* A row of misses counts as many; of samples, one. */
static void add_totals(const Search *self, LodeAccessTotals *totals, uint32_t row)
{
	const LodeMemorySample *sample = sample_at(self, row);

	lode_access_totals_add(totals, sample, row);
	if (!self->result->is_of_misses || sample->weight <= 1)
		return;
	uint64_t more = (uint64_t)(sample->weight - 0.5);
	totals->n_samples += more;
	totals->n_loads += (sample->access & LODE_ACCESS_LOAD) != 0 ? more : 0;
	totals->n_stores += (sample->access & LODE_ACCESS_STORE) != 0 ? more : 0;
}

static bool is_miss_of(const Search *self, const LodeMemorySample *sample)
{
	return sample->rule == LODE_RULE_TRACED &&
	       (sample->event == self->false_event || sample->event == self->true_event);
}

/* Now and then in a loop. */
static bool is_stopped(const Search *self, size_t i)
{
	return i % 65536 == 0 && lode_progress_is_cancelled(self->progress);
}

static void collect_uses(
	Search *self, const LodeProfile *profile, const uint32_t *samples, size_t n_samples)
{
	g_autofree bool *are_faults = lode_page_faults_events(profile);
	const GArray *threads = self->memory->threads;

	for (size_t i = 0; i < n_samples; i++) {
		if (is_stopped(self, i))
			return;
		const LodeMemorySample *sample = sample_at(self, samples[i]);
		if (are_faults[sample->event])
			continue;
		if (is_miss_of(self, sample))
			self->result->is_of_misses = true;
		add_totals(self, &self->result->total, samples[i]);
		self->squares += sample->weight * sample->weight;
		self->result->has_data_sources |= lode_data_source_snoop(sample->data_source) !=
		                                  NULL;
		if (sample->rule == LODE_RULE_NONE || sample->is_next ||
			sample->thread >= threads->len) {
			lode_access_totals_add(&self->result->unresolved, sample, samples[i]);
			continue;
		}
		Use use = {sample->address & ~(self->result->line_bytes - 1),
			LODE_AT(threads, LodeThread, sample->thread).pid, sample->thread,
			samples[i]};
		g_array_append_val(self->uses, use);
	}
	if (self->uses->len > 0)
		qsort(self->uses->data, self->uses->len, sizeof(Use), compare_uses);
}

/* --- which threads use a line at the same time --- */

/* The threads of the uses [first, end), which are of one line; whether any of them stores. */
static bool find_spans(Search *self, size_t first, size_t end)
{
	bool has_stores = false;
	Span *span = NULL;

	g_array_set_size(self->spans, 0);
	for (size_t i = first; i < end; i++) {
		const Use *use = &LODE_AT(self->uses, Use, i);
		const LodeMemorySample *sample = sample_at(self, use->row);
		if (i == first || use[-1].thread != use->thread) {
			Span next = {.first_ns = UINT64_MAX, .first_use = i};
			g_array_append_val(self->spans, next);
			span = &LODE_AT(self->spans, Span, self->spans->len - 1);
		}
		span->n_uses++;
		span->first_ns = MIN(span->first_ns, sample->time_ns);
		span->last_ns = MAX(span->last_ns, sample->time_ns);
		span->stores |= (sample->access & LODE_ACCESS_STORE) != 0;
		has_stores |= span->stores;
	}
	return has_stores;
}

static int compare_begins(const void *a, const void *b, void *user_data)
{
	const GArray *spans = user_data;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	int by_time = lode_number_order(
		LODE_AT(spans, Span, left).first_ns, LODE_AT(spans, Span, right).first_ns);

	return by_time != 0 ? by_time : lode_number_order(left, right);
}

static uint64_t last_of(const Search *self, uint32_t span)
{
	return LODE_AT(self->spans, Span, span).last_ns;
}

/* Orders the spans, or those alone that store, for can_meet(). */
static void order_spans(Search *self, bool storing_only)
{
	uint32_t best[2] = {LODE_NONE, LODE_NONE};

	g_array_set_size(self->order, 0);
	g_array_set_size(self->longest, 0);
	for (uint32_t i = 0; i < self->spans->len; i++)
		if (!storing_only || LODE_AT(self->spans, Span, i).stores)
			g_array_append_val(self->order, i);
	g_array_sort_with_data(self->order, compare_begins, self->spans);
	for (guint i = 0; i < self->order->len; i++) {
		uint32_t span = LODE_AT(self->order, uint32_t, i);
		if (best[0] == LODE_NONE || last_of(self, span) > last_of(self, best[0])) {
			best[1] = best[0];
			best[0] = span;
		} else if (best[1] == LODE_NONE || last_of(self, span) > last_of(self, best[1])) {
			best[1] = span;
		}
		g_array_append_vals(self->longest, best, 2);
	}
}

/* Whether another one of those that were ordered was used at the same time: it began before this
 * one ended, and ended after this one began. */
static bool can_meet(const Search *self, uint32_t span)
{
	const Span *own = &LODE_AT(self->spans, Span, span);
	guint n = LODE_PARTITION_POINT(self->order->len, i,
		LODE_AT(self->spans, Span, LODE_AT(self->order, uint32_t, i)).first_ns <=
			own->last_ns);

	for (guint i = 0; n > 0 && i < 2; i++) {
		uint32_t other = LODE_AT(self->longest, uint32_t, 2 * (n - 1) + i);
		if (other != LODE_NONE && other != span && last_of(self, other) >= own->first_ns)
			return true;
	}
	return false;
}

/* A thread that stores shares with any other, one that only reads with one that stores. */
static bool mark_sharing(Search *self)
{
	bool is_shared = false;

	for (guint i = 0; self->result->is_of_misses && i < self->spans->len; i++)
		LODE_AT(self->spans, Span, i).shares = true;
	if (self->result->is_of_misses)
		return true;
	for (int storing = 0; storing < 2; storing++) {
		order_spans(self, storing == 0);
		for (uint32_t i = 0; i < self->spans->len; i++) {
			Span *span = &LODE_AT(self->spans, Span, i);
			if (span->stores != (storing != 0))
				continue;
			span->shares = can_meet(self, i);
			is_shared |= span->shares;
		}
	}
	return is_shared;
}

/* --- what each of them does to which bytes --- */

static LodeSharingAccess access_of(
	const Search *self, const LodeMemorySample *sample, uint64_t line)
{
	uint32_t offset = (uint32_t)(sample->address - line);
	uint32_t room = (uint32_t)self->result->line_bytes - offset;

	return (LodeSharingAccess){
		.offset = offset,
		.size = CLAMP(sample->size, 1, room),
		.thread = sample->thread,
		.object = sample->object,
		.mapping = sample->mapping,
		.function = sample->access_function,
		.location = lode_own_lines_find_access(self->own, sample),
		.pc = sample->access_pc,
	};
}

/* By source where that is known, else by instruction. */
static int compare_places(const LodeSharingAccess *left, const LodeSharingAccess *right)
{
	return LODE_FIRST_DIFFERENCE(LODE_ASCENDING(thread), LODE_ASCENDING(offset),
		LODE_ASCENDING(size), LODE_ASCENDING(object), LODE_ASCENDING(function),
		LODE_ASCENDING(location),
		lode_number_order(left->location == LODE_NONE ? left->pc : 0,
			right->location == LODE_NONE ? right->pc : 0));
}

typedef struct {
	LodeSharingAccess place;
	uint32_t row;
} PlacedRow;

LODE_ORDER(compare_placed_rows, PlacedRow, compare_places(&left->place, &right->place),
	LODE_ASCENDING(row))

static void add_row(Search *self, LodeSharedLine *line, LodeSharingAccess *access, uint32_t row)
{
	const LodeMemorySample *sample = sample_at(self, row);
	bool is_modified = lode_data_source_hits_modified(sample->data_source);

	add_totals(self, &access->totals, row);
	if (self->result->is_of_misses)
		*(sample->event == self->false_event ? &access->false_weight
						     : &access->true_weight) += sample->weight;
	access->pc = MIN(access->pc, sample->access_pc);
	access->n_modified += is_modified;
	line->n_modified += is_modified;
	if (sample->cpu != UINT32_MAX)
		g_hash_table_add(self->cpus, GUINT_TO_POINTER(sample->cpu));
}

/* --- what took the line away from them --- */

LODE_ORDER(compare_store_places, LodeSharingStore, LODE_ASCENDING(thread),
	lode_number_order((uint64_t)left->offset, (uint64_t)right->offset), LODE_ASCENDING(size),
	LODE_ASCENDING(function), LODE_ASCENDING(location),
	lode_number_order(left->location == LODE_NONE ? left->pc : 0,
		right->location == LODE_NONE ? right->pc : 0))

LODE_ORDER(compare_store_misses, LodeSharingStore, LODE_DESCENDING(n_misses),
	compare_store_places(left, right))

/* Collects the stores of a row of misses. */
static void collect_stores(const Search *self, uint64_t line, uint32_t row, GArray *out)
{
	const GArray *all = self->memory->line_stores;
	guint i = LODE_PARTITION_POINT(all->len, j, LODE_AT(all, LodeLineStore, j).sample < row);

	for (; i < all->len && LODE_AT(all, LodeLineStore, i).sample == row; i++) {
		const LodeLineStore *from = &LODE_AT(all, LodeLineStore, i);
		const LodeSharingStore store = {
			.offset = (int64_t)(from->address - line),
			.size = from->size,
			.thread = from->thread,
			.function = from->function,
			.location = from->location,
			.pc = from->pc,
			.n_misses = from->n,
		};
		g_array_append_val(out, store);
	}
}

/* Takes those that were collected for an access; equal ones become one. */
static void add_stores(Search *self, LodeSharingAccess *access, GArray *collected)
{
	GArray *stores = self->result->stores;

	access->first_store = stores->len;
	g_array_sort(collected, compare_store_places);
	for (guint i = 0; i < collected->len; i++) {
		const LodeSharingStore *store = &LODE_AT(collected, LodeSharingStore, i);
		if (i == 0 || compare_store_places(store - 1, store) != 0) {
			g_array_append_val(stores, *store);
			continue;
		}
		LodeSharingStore *last = &LODE_AT(stores, LodeSharingStore, stores->len - 1);
		last->n_misses += store->n_misses;
		last->pc = MIN(last->pc, store->pc);
	}
	access->n_stores = stores->len - access->first_store;
	if (access->n_stores > 1)
		qsort(&LODE_AT(stores, LodeSharingStore, access->first_store), access->n_stores,
			sizeof(LodeSharingStore), compare_store_misses);
	g_array_set_size(collected, 0);
}

/* Appends the accesses of the threads that share the line, by thread. */
static void add_accesses(Search *self, LodeSharedLine *line)
{
	g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(PlacedRow));
	g_autoptr(GArray) stores = g_array_new(FALSE, FALSE, sizeof(LodeSharingStore));
	GArray *accesses = self->result->accesses;

	for (guint i = 0; i < self->spans->len; i++) {
		const Span *span = &LODE_AT(self->spans, Span, i);
		for (size_t j = 0; span->shares && j < span->n_uses; j++) {
			uint32_t row = LODE_AT(self->uses, Use, span->first_use + j).row;
			PlacedRow placed = {
				access_of(self, sample_at(self, row), line->address), row};
			g_array_append_val(rows, placed);
		}
	}
	g_array_sort(rows, compare_placed_rows);
	g_hash_table_remove_all(self->cpus);
	line->first_access = accesses->len;
	for (guint i = 0; i < rows->len; i++) {
		const PlacedRow *row = &LODE_AT(rows, PlacedRow, i);
		bool is_last = i + 1 == rows->len ||
		               compare_places(&row->place, &row[1].place) != 0;
		if (i == 0 || compare_places(&row[-1].place, &row->place) != 0)
			g_array_append_val(accesses, row->place);
		LodeSharingAccess *access = &LODE_AT(
			accesses, LodeSharingAccess, accesses->len - 1);
		add_row(self, line, access, row->row);
		collect_stores(self, line->address, row->row, stores);
		if (is_last)
			add_stores(self, access, stores);
	}
	line->n_accesses = accesses->len - line->first_access;
	line->n_cpus = g_hash_table_size(self->cpus);
}

/* --- what they may have waited for --- */

static void spread_accesses(
	const LodeSharingAccess *accesses, uint32_t n, bool storing_only, Spread *out)
{
	*out = (Spread){0};
	for (uint32_t i = 0; i < n; i++) {
		const LodeSharingAccess *access = &accesses[i];
		if (storing_only && access->totals.n_stores == 0)
			continue;
		out->total += access->totals.weight;
		out->begun[access->offset] += access->totals.weight;
		if (access->offset + access->size < LODE_SHARING_MAX_LINE)
			out->ended[access->offset + access->size] += access->totals.weight;
	}
	for (unsigned i = 1; i < LODE_SHARING_MAX_LINE; i++) {
		out->begun[i] += out->begun[i - 1];
		out->ended[i] += out->ended[i - 1];
	}
}

static double weight_on_bytes(const Spread *spread, const LodeSharingAccess *access)
{
	return spread->begun[access->offset + access->size - 1] - spread->ended[access->offset];
}

/* A store conflicts with whatever others do, a load with their stores. */
static void weigh_conflicts(LodeSharingAccess *access, const Spread *all, const Spread *own)
{
	double others = all->total - own->total, to_same;

	if (others <= nothing * all->total)
		return;
	to_same = weight_on_bytes(all, access) - weight_on_bytes(own, access);
	access->true_weight = access->totals.weight * CLAMP(to_same / others, 0, 1);
	access->false_weight = access->totals.weight - access->true_weight;
}

static void weigh_line(LodeSharingAccess *accesses, uint32_t n)
{
	Spread all[2], own[2];

	for (int storing = 0; storing < 2; storing++)
		spread_accesses(accesses, n, storing != 0, &all[storing]);
	for (uint32_t first = 0, end; first < n; first = end) {
		for (end = first + 1; end < n && accesses[end].thread == accesses[first].thread;)
			end++;
		for (int storing = 0; storing < 2; storing++)
			spread_accesses(accesses + first, end - first, storing != 0, &own[storing]);
		for (uint32_t i = first; i < end; i++) {
			int of = accesses[i].totals.n_stores == 0;
			weigh_conflicts(&accesses[i], &all[of], &own[of]);
		}
	}
}

/* --- a line as a whole --- */

LODE_ORDER(compare_weights, LodeSharingAccess, LODE_DESCENDING(totals.weight),
	compare_places(left, right))

static LodeSharingKind kind_of(const LodeSharedLine *line)
{
	double conflicts = line->true_weight + line->false_weight;

	if (line->false_weight >= mostly * conflicts)
		return LODE_SHARING_FALSE;
	return line->true_weight >= mostly * conflicts ? LODE_SHARING_TRUE : LODE_SHARING_MIXED;
}

/* The error of a sum of `weight`, whose samples' squared weights add up to `squares`: each sample
 * fell into it by chance, with the probability of its share. */
static double error_of(const Search *self, double weight, double squares)
{
	double share = self->result->total.weight > 0 ? weight / self->result->total.weight : 0;

	return sqrt(MAX(0, squares * (1 - 2 * share) + share * share * self->squares));
}

static int compare_times(const void *a, const void *b, void *user_data)
{
	const Search *self = user_data;
	const Use *left = a, *right = b;
	int by_time = lode_number_order(
		sample_at(self, left->row)->time_ns, sample_at(self, right->row)->time_ns);

	return by_time != 0 ? by_time : lode_number_order(left->row, right->row);
}

/* --- when threads ran --- */

/* The times of the thread's samples, as many runs of one sample. */
static void collect_times(Search *self, const uint32_t *samples, size_t n_samples)
{
	g_ptr_array_set_size(self->runs, (gint)self->memory->threads->len);
	for (size_t i = 0; i < n_samples; i++) {
		const LodeMemorySample *sample = sample_at(self, samples[i]);
		if (sample->thread >= self->runs->len)
			continue;
		gpointer *runs = &self->runs->pdata[sample->thread];
		if (*runs == NULL)
			*runs = g_array_new(FALSE, FALSE, sizeof(Run));
		Run run = {sample->time_ns, sample->time_ns};
		g_array_append_val((GArray *)*runs, run);
	}
}

LODE_ORDER(compare_runs, Run, LODE_ASCENDING(first_ns))

/* The median of the times between successive samples of a thread; 0: there are none. */
static uint64_t usual_gap(const Search *self)
{
	g_autoptr(GArray) gaps = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	for (guint i = 0; i < self->runs->len; i++) {
		const GArray *runs = self->runs->pdata[i];
		for (guint k = 1; runs != NULL && k < runs->len; k++) {
			uint64_t gap = LODE_AT(runs, Run, k).first_ns -
			               LODE_AT(runs, Run, k - 1).first_ns;
			g_array_append_val(gaps, gap);
		}
	}
	g_array_sort(gaps, lode_compare_u64);
	return gaps->len > 0 ? LODE_AT(gaps, uint64_t, gaps->len / 2) : 0;
}

static void find_runs(Search *self, const uint32_t *samples, size_t n_samples)
{
	collect_times(self, samples, n_samples);
	for (guint i = 0; i < self->runs->len; i++)
		if (self->runs->pdata[i] != NULL)
			g_array_sort(self->runs->pdata[i], compare_runs);
	uint64_t most = GAPS * usual_gap(self);
	for (guint i = 0; i < self->runs->len; i++) {
		GArray *runs = self->runs->pdata[i];
		guint n = 0;
		for (guint k = 1; runs != NULL && k < runs->len; k++) {
			Run *last = &LODE_AT(runs, Run, n), run = LODE_AT(runs, Run, k);
			if (run.first_ns - last->last_ns <= most)
				last->last_ns = run.last_ns;
			else
				LODE_AT(runs, Run, ++n) = run;
		}
		if (runs != NULL)
			g_array_set_size(runs, n + 1);
	}
}

static bool is_running(const Search *self, uint32_t thread, uint64_t time_ns)
{
	const GArray *runs = self->runs->pdata[thread];
	guint n = LODE_PARTITION_POINT(runs->len, i, LODE_AT(runs, Run, i).first_ns <= time_ns);

	return n > 0 && LODE_AT(runs, Run, n - 1).last_ns >= time_ns;
}

/* Whether the threads of two uses ran at the same time. A task that goes to another thread, as
 * those of Go do, takes its lines along, and nobody is left to take them back. */
static bool ran_together(const Search *self, const Use *first, const Use *second)
{
	return first->thread != second->thread &&
	       (is_running(self, first->thread, sample_at(self, second->row)->time_ns) ||
		       is_running(self, second->thread, sample_at(self, first->row)->time_ns));
}

/* Among n samples, n_t of each thread t, two neighbours are of different threads with the
 * probability 1 - Σ n_t (n_t - 1) / (n (n - 1)) in a random order. */
static void count_turns(Search *self, LodeSharedLine *line)
{
	g_autoptr(GArray) uses = g_array_new(FALSE, FALSE, sizeof(Use));
	double same = 0;

	for (guint i = 0; i < self->spans->len; i++) {
		const Span *span = &LODE_AT(self->spans, Span, i);
		if (!span->shares)
			continue;
		g_array_append_vals(
			uses, &LODE_AT(self->uses, Use, span->first_use), (guint)span->n_uses);
		same += (double)span->n_uses * ((double)span->n_uses - 1);
	}
	g_array_sort_with_data(uses, compare_times, self);
	if (uses->len < 2 || sample_at(self, LODE_AT(uses, Use, uses->len - 1).row)->time_ns == 0)
		return;
	for (guint i = 1; i < uses->len; i++)
		line->turns += ran_together(
			self, &LODE_AT(uses, Use, i - 1), &LODE_AT(uses, Use, i));
	double n = uses->len;
	line->expected_turns = (n - 1) * (1 - same / (n * (n - 1)));
}

/* Gives Σ of the squared weights of the line's samples. */
static double add_line(Search *self, const Use *first)
{
	LodeSharedLine line = {.address = first->line, .pid = first->pid};
	double squares = 0;

	add_accesses(self, &line);
	LodeSharingAccess *accesses = &LODE_AT(
		self->result->accesses, LodeSharingAccess, line.first_access);
	if (!self->result->is_of_misses)
		weigh_line(accesses, line.n_accesses);
	for (uint32_t i = 0; i < line.n_accesses; i++) {
		lode_access_totals_join(&line.totals, &accesses[i].totals);
		line.true_weight += accesses[i].true_weight;
		line.false_weight += accesses[i].false_weight;
	}
	for (guint i = 0; i < self->spans->len; i++) {
		const Span *span = &LODE_AT(self->spans, Span, i);
		line.n_threads += span->shares;
		line.n_storing += span->shares && span->stores;
		for (size_t j = 0; span->shares && j < span->n_uses; j++) {
			double weight = sample_at(
				self, LODE_AT(self->uses, Use, span->first_use + j).row)
			                        ->weight;
			squares += weight * weight;
		}
	}
	qsort(accesses, line.n_accesses, sizeof(*accesses), compare_weights);
	line.kind = kind_of(&line);
	if (!self->result->is_of_misses)
		count_turns(self, &line);
	line.weight_error = self->result->is_of_misses
	                            ? 0
	                            : error_of(self, line.totals.weight, squares);
	lode_access_totals_join(&self->result->shared, &line.totals);
	g_array_append_val(self->result->lines, line);
	return squares;
}

static void note_consecutive(Search *self, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		uint32_t row = LODE_AT(self->uses, Use, i).row;
		LodeAccessTotals one = {0};
		lode_access_totals_add(&one, sample_at(self, row), row);
		lode_access_totals_join(&self->result->consecutive, &one);
	}
	self->result->n_consecutive++;
}

static void find_lines(Search *self)
{
	double squares = 0;

	size_t n = 0;
	for (size_t first = 0, end; first < self->uses->len; first = end) {
		if (is_stopped(self, n++))
			return;
		const Use *use = &LODE_AT(self->uses, Use, first);
		for (end = first + 1; end < self->uses->len; end++) {
			const Use *next = &LODE_AT(self->uses, Use, end);
			if (next->pid != use->pid || next->line != use->line)
				break;
		}
		bool is_lone = use->thread == LODE_AT(self->uses, Use, end - 1).thread;
		if (is_lone && !self->result->is_of_misses)
			continue;
		if (!find_spans(self, first, end) && !self->result->is_of_misses)
			continue;
		if (mark_sharing(self))
			squares += add_line(self, use);
		else
			note_consecutive(self, first, end);
	}
	if (!self->result->is_of_misses)
		self->result->shared_error = error_of(self, self->result->shared.weight, squares);
}

LODE_ORDER(compare_lines, LodeSharedLine, LODE_DESCENDING(totals.weight), LODE_ASCENDING(pid),
	LODE_ASCENDING(address))

LodeLineSharing *lode_line_sharing_new(const LodeProfile *profile, const uint32_t *samples,
	size_t n_samples, const LodeLineSharingOptions *options)
{
	g_autoptr(LodeOwnLines) own = lode_own_lines_new(profile, options->own);
	uint64_t line_bytes = options->line_bytes;
	LodeLineSharing *result = g_new0(LodeLineSharing, 1);
	Search self = {
		.result = result,
		.memory = lode_memory_of(profile),
		.own = own,
		.uses = g_array_new(FALSE, FALSE, sizeof(Use)),
		.spans = g_array_new(FALSE, FALSE, sizeof(Span)),
		.order = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.longest = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.cpus = g_hash_table_new(NULL, NULL),
		.runs = g_ptr_array_new(),
		.progress = options->progress,
	};

	g_assert(line_bytes >= LODE_SHARING_MIN_LINE && line_bytes <= LODE_SHARING_MAX_LINE &&
		 (line_bytes & (line_bytes - 1)) == 0);
	find_events(profile, &self.false_event, &self.true_event);
	result->line_bytes = line_bytes;
	result->lines = g_array_new(FALSE, FALSE, sizeof(LodeSharedLine));
	result->accesses = g_array_new(FALSE, FALSE, sizeof(LodeSharingAccess));
	result->stores = g_array_new(FALSE, FALSE, sizeof(LodeSharingStore));
	collect_uses(&self, profile, samples, n_samples);
	find_runs(&self, samples, n_samples);
	find_lines(&self);
	g_array_sort(result->lines, compare_lines);
	g_array_unref(self.uses);
	g_array_unref(self.spans);
	g_array_unref(self.order);
	g_array_unref(self.longest);
	g_hash_table_unref(self.cpus);
	for (guint i = 0; i < self.runs->len; i++)
		if (self.runs->pdata[i] != NULL)
			g_array_unref(self.runs->pdata[i]);
	g_ptr_array_unref(self.runs);
	if (!lode_progress_is_cancelled(options->progress))
		return result;
	lode_line_sharing_free(result);
	return NULL;
}

void lode_line_sharing_free(LodeLineSharing *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->lines);
	g_array_unref(self->accesses);
	g_array_unref(self->stores);
	g_free(self);
}
