/* SPDX-License-Identifier: MIT */
/*
 * Faults and accesses are sorted together, so that each page is a stretch of rows: its faults by
 * time, then its accesses by thread.
 */
#include "analyses/memory/placement/first_touch.h"

#include "analyses/memory/page_faults.h"
#include "base/arrays/sort_order.h"
#include "model/index.h"
#include "model/lines/own_lines.h"
#include "model/memory.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
	uint64_t page, time_ns;
	double weight;
	uint32_t pid, thread, sample;
	bool is_access, is_chosen;
} Row;

typedef struct {
	const LodeMemory *memory;
	const LodeOwnLines *own;
	LodeFirstTouch *touch;
	GArray *rows; /* Row */
	GArray *sums; /* LodeTouchedObject of each object */
} Builder;

/* A range that grows, and its accesses by thread. */
typedef struct {
	const LodeMemory *memory;
	LodeFirstTouch *touch;
	LodeTouchRange *range;
	GHashTable *users; /* thread → LodeTouchUse */
	LodeTouchUse main; /* with most weight; thread LODE_NONE: none */
} Merger;

static const LodeMemorySample *sample_at(const LodeMemory *memory, uint32_t number)
{
	return &LODE_AT(memory->samples, LodeMemorySample, number);
}

static uint32_t pid_of(const LodeMemory *memory, uint32_t thread)
{
	return thread < memory->threads->len ? LODE_AT(memory->threads, LodeThread, thread).pid : 0;
}

static void add_row(Builder *self, uint32_t number, bool is_access, bool is_chosen)
{
	const LodeMemorySample *sample = sample_at(self->memory, number);
	Row row = {
		.page = sample->address & ~(self->touch->page_bytes - 1),
		.time_ns = sample->time_ns,
		.weight = sample->weight,
		.pid = pid_of(self->memory, sample->thread),
		.thread = sample->thread,
		.sample = number,
		.is_access = is_access,
		.is_chosen = is_chosen,
	};

	g_array_append_val(self->rows, row);
}

/* Accesses that were chosen, and all faults. */
static void gather(
	Builder *self, const LodeProfile *profile, const uint32_t *samples, size_t n_samples)
{
	g_autofree bool *are_faults = lode_page_faults_events(profile);
	size_t chosen = 0;

	for (uint32_t i = 0; i < self->memory->samples->len; i++) {
		const LodeMemorySample *sample = sample_at(self->memory, i);
		bool is_chosen = chosen < n_samples && samples[chosen] == i;
		chosen += is_chosen;
		if (sample->rule == LODE_RULE_NONE)
			continue;
		if (are_faults[sample->event])
			add_row(self, i, false, is_chosen);
		else if (is_chosen)
			add_row(self, i, true, true);
	}
}

LODE_ORDER(compare_rows, Row, LODE_ASCENDING(pid), LODE_ASCENDING(page), LODE_ASCENDING(is_access),
	left->is_access ? LODE_ASCENDING(thread) : LODE_ASCENDING(time_ns), LODE_ASCENDING(sample))

static void set_first(Builder *self, LodePageTouch *page, const Row *row)
{
	const LodeMemorySample *sample = sample_at(self->memory, row->sample);

	page->thread = row->thread;
	page->time_ns = row->time_ns;
	page->instruction = sample->access_instruction != LODE_NONE ? sample->access_instruction
	                                                            : sample->instruction;
	page->function = sample->access_function;
	page->location = lode_own_lines_find_access(self->own, sample);
	/* An object of an allocation that was not there yet. */
	if (sample->allocation == LODE_NONE && sample->object < self->memory->objects->len)
		page->site = LODE_AT(self->memory->objects, LodeDataObject, sample->object).site;
}

static void add_to_object(Builder *self, const LodePageTouch *page, const Row *row)
{
	uint32_t object = sample_at(self->memory, row->sample)->object;

	if (page->thread == LODE_NONE || object >= self->memory->objects->len)
		return;
	LodeTouchedObject *sum = &LODE_AT(self->sums, LodeTouchedObject, object);
	sum->weight += row->weight;
	if (row->thread != page->thread)
		sum->weight_by_others += row->weight;
}

/* Accesses of one thread, n rows. Accesses before the first fault were to an earlier mapping. */
static void add_user(Builder *self, LodePageTouch *page, const Row *rows, size_t n)
{
	uint64_t n_accesses = 0;
	double weight = 0;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].time_ns != 0 && rows[i].time_ns < page->time_ns) {
			self->touch->n_early++;
			continue;
		}
		n_accesses++;
		weight += rows[i].weight;
		add_to_object(self, page, &rows[i]);
	}
	if (n_accesses == 0)
		return;
	LodeTouchUse use = {rows[0].thread, n_accesses, weight};
	g_array_append_val(self->touch->uses, use);
	page->n_users++;
	page->n_accesses += n_accesses;
	page->weight += weight;
	if (page->main_user == LODE_NONE || weight > page->main_weight) {
		page->main_user = rows[0].thread;
		page->main_weight = weight;
	}
	if (page->thread != LODE_NONE && rows[0].thread != page->thread) {
		page->n_by_others += n_accesses;
		page->weight_by_others += weight;
	}
}

static void add_users(Builder *self, LodePageTouch *page, const Row *rows, size_t n)
{
	for (size_t start = 0, end; start < n; start = end) {
		for (end = start + 1; end < n && rows[end].thread == rows[start].thread;)
			end++;
		add_user(self, page, rows + start, end - start);
	}
}

static void count_page(LodeFirstTouch *touch, const LodePageTouch *page)
{
	touch->n_faults += page->n_faults;
	if (page->thread == LODE_NONE) {
		touch->n_untouched++;
		touch->n_untouched_accesses += page->n_accesses;
		touch->untouched_weight += page->weight;
		return;
	}
	touch->n_touched++;
	touch->n_accesses += page->n_accesses;
	touch->n_by_others += page->n_by_others;
	touch->weight += page->weight;
	touch->weight_by_others += page->weight_by_others;
}

/* The rows of one page. */
static void add_page(Builder *self, const Row *rows, size_t n)
{
	LodePageTouch page = {
		.address = rows[0].page,
		.pid = rows[0].pid,
		.thread = LODE_NONE,
		.main_user = LODE_NONE,
		.instruction = LODE_NONE,
		.function = LODE_NONE,
		.location = LODE_NONE,
		.site = LODE_NONE,
		.first_use = self->touch->uses->len,
		.object = sample_at(self->memory, rows[0].sample)->object,
		.mapping = sample_at(self->memory, rows[0].sample)->mapping,
	};
	bool is_chosen = false;

	for (size_t i = 0; i < n; i++) {
		is_chosen |= rows[i].is_chosen;
		page.n_faults += !rows[i].is_access;
	}
	if (!is_chosen)
		return;
	if (page.n_faults > 0)
		set_first(self, &page, &rows[0]);
	add_users(self, &page, rows + page.n_faults, n - page.n_faults);
	count_page(self->touch, &page);
	g_array_append_val(self->touch->pages, page);
}

static void add_pages(Builder *self)
{
	const Row *rows = (const Row *)(void *)self->rows->data;
	const size_t n = self->rows->len;

	if (n > 0)
		qsort(self->rows->data, n, sizeof(Row), compare_rows);
	for (size_t start = 0, end; start < n; start = end) {
		for (end = start + 1; end < n && rows[end].pid == rows[start].pid &&
				      rows[end].page == rows[start].page;)
			end++;
		add_page(self, rows + start, end - start);
	}
}

/* A mapping that grew is several of one name. */
static bool is_same_mapping(const LodeMemory *memory, uint32_t left, uint32_t right)
{
	if (left == right)
		return true;
	if (left >= memory->mappings->len || right >= memory->mappings->len)
		return false;
	return g_strcmp0(LODE_AT(memory->mappings, LodeMemoryMapping, left).name,
		       LODE_AT(memory->mappings, LodeMemoryMapping, right).name) == 0;
}

static uint64_t accesses_by(const Merger *self, const LodePageTouch *page, uint32_t thread)
{
	for (uint32_t i = 0; i < page->n_users; i++) {
		const LodeTouchUse *use = &LODE_AT(
			self->touch->uses, LodeTouchUse, page->first_use + i);
		if (use->thread == thread)
			return use->n_accesses;
	}
	return 0;
}

static const LodePageTouch *page_at(const Merger *self, guint i)
{
	return &LODE_AT(self->touch->pages, LodePageTouch, i);
}

/* Whether nothing but who uses them can tell two neighbouring pages apart. */
static bool are_joined(const Merger *self, const LodePageTouch *left, const LodePageTouch *right)
{
	return left->pid == right->pid &&
	       right->address - left->address == self->touch->page_bytes &&
	       is_same_mapping(self->memory, left->mapping, right->mapping) &&
	       left->thread == right->thread;
}

/* The end of the pages from `first` on that one thread uses most. A page without sampled accesses
 * goes along. */
static guint end_of_run(const Merger *self, guint first)
{
	uint32_t user = page_at(self, first)->main_user;
	guint i = first + 1;

	for (; i < self->touch->pages->len; i++) {
		const LodePageTouch *page = page_at(self, i);
		if (!are_joined(self, page_at(self, i - 1), page))
			break;
		if (user == LODE_NONE)
			user = page->main_user;
		if (page->main_user != user && page->main_user != LODE_NONE)
			break;
	}
	return i;
}

/*
 * Whether the run's share of the range's main user can be the range's own: a page has few samples,
 * which chance deals out. Two standard errors of the difference of two shares, and a little that is
 * of no interest however sure it is.
 */
static bool is_alike(const Merger *self, guint first, guint end)
{
	const double of_no_interest = 0.1;
	double n = (double)self->range->n_accesses, m = 0;
	double in_range = (double)self->main.n_accesses, in_run = 0;

	for (guint i = first; i < end; i++) {
		m += (double)page_at(self, i)->n_accesses;
		in_run += (double)accesses_by(self, page_at(self, i), self->main.thread);
	}
	if (n <= 0 || m <= 0)
		return true;
	double pooled = (in_range + in_run) / (n + m);
	double error = sqrt(pooled * (1 - pooled) * (1 / n + 1 / m));
	return fabs(in_range / n - in_run / m) <= 2 * error + of_no_interest;
}

/* The range's main user may be another with each page. */
static void add_page_users(Merger *self, const LodePageTouch *page)
{
	for (uint32_t i = 0; i < page->n_users; i++) {
		const LodeTouchUse *use = &LODE_AT(
			self->touch->uses, LodeTouchUse, page->first_use + i);
		LodeTouchUse *sum = g_hash_table_lookup(self->users, GUINT_TO_POINTER(use->thread));
		if (sum == NULL) {
			sum = g_new0(LodeTouchUse, 1);
			sum->thread = use->thread;
			g_hash_table_insert(self->users, GUINT_TO_POINTER(use->thread), sum);
		}
		sum->n_accesses += use->n_accesses;
		sum->weight += use->weight;
		if (sum->thread == self->main.thread || self->main.thread == LODE_NONE ||
			sum->weight > self->main.weight)
			self->main = *sum;
	}
}

static void extend(Merger *self, const LodePageTouch *page)
{
	LodeTouchRange *range = self->range;

	if (range->n_pages == 0 || page->time_ns < range->time_ns) {
		range->time_ns = page->time_ns;
		range->function = page->function;
		range->location = page->location;
		range->site = page->site;
		range->object = page->object;
	}
	add_page_users(self, page);
	range->main_user = self->main.thread;
	range->main_weight = self->main.weight;
	range->last = page->address + (self->touch->page_bytes - 1);
	range->last_time_ns = MAX(range->last_time_ns, page->time_ns);
	range->n_pages++;
	range->n_accesses += page->n_accesses;
	range->n_by_others += page->n_by_others;
	range->weight += page->weight;
	range->weight_by_others += page->weight_by_others;
}

static void begin_range(Merger *self, guint number)
{
	const LodePageTouch *page = page_at(self, number);
	LodeTouchRange fresh = {.first = page->address,
		.first_page = number,
		.pid = page->pid,
		.thread = page->thread,
		.main_user = LODE_NONE,
		.mapping = page->mapping};

	g_array_append_val(self->touch->ranges, fresh);
	self->range = &LODE_AT(self->touch->ranges, LodeTouchRange, self->touch->ranges->len - 1);
	self->main = (LodeTouchUse){.thread = LODE_NONE};
	g_hash_table_remove_all(self->users);
}

static void merge_pages(LodeFirstTouch *touch, const LodeMemory *memory)
{
	g_autoptr(GHashTable) users = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	Merger merger = {memory, touch, NULL, users, {.thread = LODE_NONE}};

	for (guint i = 0, end; i < touch->pages->len; i = end) {
		end = end_of_run(&merger, i);
		if (i == 0 || !are_joined(&merger, page_at(&merger, i - 1), page_at(&merger, i)) ||
			!is_alike(&merger, i, end))
			begin_range(&merger, i);
		for (guint k = i; k < end; k++)
			extend(&merger, page_at(&merger, k));
	}
}

LODE_ORDER(compare_objects, LodeTouchedObject, LODE_DESCENDING(weight_by_others),
	LODE_DESCENDING(weight), LODE_ASCENDING(object))

static void collect_objects(LodeFirstTouch *self, const GArray *sums)
{
	for (guint i = 0; i < sums->len; i++) {
		LodeTouchedObject object = LODE_AT(sums, LodeTouchedObject, i);
		object.object = i;
		if (object.weight > 0)
			g_array_append_val(self->objects, object);
	}
	g_array_sort(self->objects, compare_objects);
}

LodeFirstTouch *lode_first_touch_new(const LodeProfile *profile, const uint32_t *samples,
	size_t n_samples, uint64_t page_bytes, const char *const *own)
{
	const LodeMemory *memory = lode_memory_of(profile);
	g_autoptr(LodeOwnLines) own_lines = lode_own_lines_new(profile, own);
	LodeFirstTouch *self = g_new0(LodeFirstTouch, 1);
	g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(Row));
	g_autoptr(GArray) sums = g_array_new(FALSE, TRUE, sizeof(LodeTouchedObject));
	Builder builder = {memory, own_lines, self, rows, sums};

	g_assert(page_bytes > 0 && (page_bytes & (page_bytes - 1)) == 0);
	self->page_bytes = page_bytes;
	self->pages = g_array_new(FALSE, FALSE, sizeof(LodePageTouch));
	self->uses = g_array_new(FALSE, FALSE, sizeof(LodeTouchUse));
	self->ranges = g_array_new(FALSE, FALSE, sizeof(LodeTouchRange));
	self->objects = g_array_new(FALSE, FALSE, sizeof(LodeTouchedObject));
	g_array_set_size(sums, memory->objects->len);
	gather(&builder, profile, samples, n_samples);
	add_pages(&builder);
	merge_pages(self, memory);
	collect_objects(self, sums);
	return self;
}

void lode_first_touch_free(LodeFirstTouch *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->objects);
	g_array_unref(self->ranges);
	g_array_unref(self->uses);
	g_array_unref(self->pages);
	g_free(self);
}
