/* SPDX-License-Identifier: MIT */
/*
 * Faults and accesses are sorted together, so that each page is a stretch of rows: its faults by
 * time, then its accesses by thread.
 */
#include "analyses/memory/first_touch.h"

#include "analyses/memory/page_faults.h"

#include <stdlib.h>

typedef struct {
	uint64_t page, time_ns;
	double weight;
	uint32_t pid, thread, sample;
	bool is_access, is_chosen;
} Row;

typedef struct {
	const LodeMemory *memory;
	LodeFirstTouch *touch;
	GArray *rows; /* Row */
} Builder;

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

static int compare_numbers(uint64_t left, uint64_t right)
{
	return (left > right) - (left < right);
}

static int compare_rows(const void *a, const void *b)
{
	const Row *left = a, *right = b;

	if (left->pid != right->pid)
		return compare_numbers(left->pid, right->pid);
	if (left->page != right->page)
		return compare_numbers(left->page, right->page);
	if (left->is_access != right->is_access)
		return left->is_access ? 1 : -1;
	if (left->is_access && left->thread != right->thread)
		return compare_numbers(left->thread, right->thread);
	if (!left->is_access && left->time_ns != right->time_ns)
		return compare_numbers(left->time_ns, right->time_ns);
	return compare_numbers(left->sample, right->sample);
}

static void set_first(Builder *self, LodePageTouch *page, const Row *row)
{
	const LodeMemorySample *sample = sample_at(self->memory, row->sample);

	page->thread = row->thread;
	page->time_ns = row->time_ns;
	page->instruction = sample->access_instruction != LODE_NONE ? sample->access_instruction
	                                                            : sample->instruction;
	page->function = sample->access_function;
	page->location = sample->access_location;
}

/* Accesses of one thread, n rows. Those before the first fault were of what lay there before. */
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
	}
	if (n_accesses == 0)
		return;
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

/* A page that nobody accessed, as far as samples tell, goes with either neighbour. */
static bool continues(
	const LodeMemory *memory, const LodeTouchRange *range, const LodePageTouch *page)
{
	bool same_user = page->main_user == range->main_user || page->main_user == LODE_NONE ||
	                 range->main_user == LODE_NONE;

	return page->pid == range->pid && page->address - range->last == 1 &&
	       is_same_mapping(memory, page->mapping, range->mapping) &&
	       page->thread == range->thread && same_user;
}

static void extend(LodeTouchRange *range, const LodePageTouch *page, uint64_t page_bytes)
{
	if (range->n_pages == 0 || page->time_ns < range->time_ns) {
		range->time_ns = page->time_ns;
		range->function = page->function;
		range->location = page->location;
		range->object = page->object;
	}
	if (range->main_user == LODE_NONE)
		range->main_user = page->main_user;
	range->last = page->address + (page_bytes - 1);
	range->last_time_ns = MAX(range->last_time_ns, page->time_ns);
	range->n_pages++;
	range->n_accesses += page->n_accesses;
	range->n_by_others += page->n_by_others;
	range->weight += page->weight;
	range->weight_by_others += page->weight_by_others;
	range->main_weight += page->main_weight;
}

static void merge_pages(LodeFirstTouch *self, const LodeMemory *memory)
{
	LodeTouchRange *range = NULL;

	for (guint i = 0; i < self->pages->len; i++) {
		const LodePageTouch *page = &LODE_AT(self->pages, LodePageTouch, i);
		if (range == NULL || !continues(memory, range, page)) {
			LodeTouchRange fresh = {.first = page->address,
				.first_page = i,
				.pid = page->pid,
				.thread = page->thread,
				.main_user = page->main_user,
				.mapping = page->mapping};
			g_array_append_val(self->ranges, fresh);
			range = &LODE_AT(self->ranges, LodeTouchRange, self->ranges->len - 1);
		}
		extend(range, page, self->page_bytes);
	}
}

LodeFirstTouch *lode_first_touch_new(
	const LodeProfile *profile, const uint32_t *samples, size_t n_samples, uint64_t page_bytes)
{
	LodeFirstTouch *self = g_new0(LodeFirstTouch, 1);
	g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(Row));
	Builder builder = {profile->memory, self, rows};

	g_assert(page_bytes > 0 && (page_bytes & (page_bytes - 1)) == 0);
	self->page_bytes = page_bytes;
	self->pages = g_array_new(FALSE, FALSE, sizeof(LodePageTouch));
	self->ranges = g_array_new(FALSE, FALSE, sizeof(LodeTouchRange));
	gather(&builder, profile, samples, n_samples);
	add_pages(&builder);
	merge_pages(self, profile->memory);
	return self;
}

void lode_first_touch_free(LodeFirstTouch *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->ranges);
	g_array_unref(self->pages);
	g_free(self);
}
