/* SPDX-License-Identifier: MIT */
/*
 * Samples of one process are sorted by page and thread, so that the uses of a page follow each
 * other in one array; its first toucher is found by sorting once more, by page and time.
 */
#include "analyses/memory/placement/page_matrix.h"

#include "analyses/memory/page_faults.h"
#include "analyses/memory/window_samples.h"
#include "base/arrays/sort_order.h"
#include "base/arrays/sum_table.h"
#include "base/error.h"
#include "base/files/own_library.h"
#include "base/text/number_format.h"
#include "model/code.h"
#include "model/memory.h"
#include "model/placement.h"

#include <string.h>

/* With a smaller share of addresses, the placement would be a guess. */
#define LEAST_SEEN 0.01

/* One sample, or one page fault. */
typedef struct {
	uint64_t page;
	uint64_t time_ns;
	uint32_t thread, sample;
	double weight;
} Touch;

typedef struct {
	const LodeProfile *profile;
	const LodeMemory *memory;
	LodePageMatrix *matrix;
	uint32_t event;
	GArray *touches, *faults; /* Touch */
	GArray *accesses;         /* uint32_t: samples of the event in the process */
	bool *are_faults;         /* of each event */
} Maker;

void lode_page_matrix_free(LodePageMatrix *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->pages);
	g_array_unref(self->uses);
	g_free(self->thread_weights);
	g_free(self->thread_lost);
	lode_address_losses_clear(&self->losses);
	g_free(self);
}

/* Where tools/preload maps its state and its logs: the kernel puts nothing there by itself. */
static const uint64_t own_start = UINT64_C(0x200000000000), own_end = UINT64_C(0x220000000000);

static bool is_own_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;

	if (strstr(path, "/lode-run-") != NULL)
		return true;
	return lode_is_own_library(path) ||
	       (g_str_has_prefix(name, "allocations-") && g_str_has_suffix(name, ".log"));
}

/* Memory that the program does not have when it runs by itself: of the libraries that lode
 * preloads, and of the logs that they write. */
static bool is_recorder_memory(const LodeMemory *memory, const LodeMemorySample *sample)
{
	if (sample->address >= own_start && sample->address < own_end)
		return true;
	if (sample->mapping >= memory->mappings->len)
		return false;
	const char *name = LODE_AT(memory->mappings, LodeMemoryMapping, sample->mapping).name;
	return name != NULL && is_own_name(name);
}

static const LodeMemorySample *sample_at(const Maker *self, guint i)
{
	return &LODE_AT(self->memory->samples, LodeMemorySample, i);
}

static const LodeThread *thread_of(const Maker *self, const LodeMemorySample *sample)
{
	return sample->thread < self->memory->threads->len
	               ? &LODE_AT(self->memory->threads, LodeThread, sample->thread)
	               : NULL;
}

static bool has_address(const LodeMemorySample *sample)
{
	return sample->rule != LODE_RULE_NONE;
}

static bool is_fault(const Maker *self, uint32_t event)
{
	return event < lode_code_of(self->profile)->events->len && self->are_faults[event];
}

/* The event with most samples that have an address; of equals the first; accesses in windows only
 * where there is nothing else. */
static uint32_t busiest_event(const Maker *self)
{
	const LodeCode *code = lode_code_of(self->profile);
	uint32_t windows = lode_window_samples_event(self->profile);
	g_autofree uint64_t *counts = g_new0(uint64_t, code->events->len + 1);
	uint32_t best = LODE_NONE;

	for (guint i = 0; i < self->memory->samples->len; i++) {
		const LodeMemorySample *sample = sample_at(self, i);
		if (has_address(sample) && sample->event < code->events->len)
			counts[sample->event]++;
	}
	if (windows != LODE_NONE)
		counts[windows] = counts[windows] > 0;
	for (uint32_t i = 0; i < code->events->len; i++)
		if (!is_fault(self, i) && counts[i] > (best != LODE_NONE ? counts[best] : 0))
			best = i;
	return best;
}

/* None of the loads and stores has an address. */
static bool fail_lost(const Maker *self, GError **error)
{
	g_auto(LodeAddressLosses) losses;

	lode_address_losses_init(&losses, self->profile, self->event, NULL, 0);
	if (losses.all.lost.n_samples == 0)
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no sample of the profile has a data address; 'lode memory record' records "
			"them");
	else
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"none of the %s load and store samples has a data address (most: %s), so "
			"that nothing can be placed by them; %s",
			LODE_COUNT_TEXT(losses.all.lost.n_samples),
			lode_address_reason_to_text(lode_address_loss_reason(&losses.all)),
			lode_address_loss_advice(&losses.all, self->profile));
	return false;
}

static bool choose_event(Maker *self, const char *name, GError **error)
{
	self->event = name != NULL ? lode_profile_find_event(self->profile, name)
	                           : busiest_event(self);
	if (self->event == LODE_NONE && name != NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"the profile has no event '%s'; 'lode info' lists them", name);
	else if (self->event == LODE_NONE)
		return fail_lost(self, error);
	else
		self->matrix->event = lode_profile_event(self->profile, self->event)->name;
	return self->event != LODE_NONE;
}

static int compare_pids(const void *a, const void *b)
{
	uint32_t first = GPOINTER_TO_UINT(*(void *const *)a);
	uint32_t second = GPOINTER_TO_UINT(*(void *const *)b);

	return (first > second) - (first < second);
}

/* pid → weight of the event's loads and stores, with an address or without: the process with most
 * of them is chosen even if its addresses are lost */
static GHashTable *weigh_processes(const Maker *self)
{
	GHashTable *weights = g_hash_table_new_full(NULL, NULL, NULL, g_free);

	for (guint i = 0; i < self->memory->samples->len; i++) {
		const LodeMemorySample *sample = sample_at(self, i);
		const LodeThread *thread = thread_of(self, sample);
		if (thread == NULL || sample->event != self->event ||
			!lode_address_loss_counts(sample->rule, sample->reason))
			continue;
		*lode_sum_at(weights, GUINT_TO_POINTER(thread->pid)) += sample->weight;
	}
	return weights;
}

/* A placement numbers the threads of one process: the given one, or that of the greatest weight. */
static bool choose_process(Maker *self, uint32_t pid, GError **error)
{
	g_autoptr(GHashTable) weights = weigh_processes(self);
	guint n;
	g_autofree void **pids = g_hash_table_get_keys_as_array(weights, &n);
	const double *best = pid != 0 ? g_hash_table_lookup(weights, GUINT_TO_POINTER(pid)) : NULL;

	/* With equal weights the lowest number, not the first of the hash table. */
	qsort(pids, n, sizeof(*pids), compare_pids);
	self->matrix->pid = pid;
	for (guint i = 0; pid == 0 && i < n; i++) {
		const double *weight = g_hash_table_lookup(weights, pids[i]);
		if (best != NULL && *weight <= *best)
			continue;
		best = weight;
		self->matrix->pid = GPOINTER_TO_UINT(pids[i]);
	}
	self->matrix->n_other_processes = n > 0 ? n - 1 : 0;
	if (best != NULL)
		return true;
	if (pid == 0)
		return fail_lost(self, error);
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"no sample of event '%s' in that process is of a load or store",
		self->matrix->event);
	return false;
}

static bool count_threads(Maker *self, GError **error)
{
	LodePageMatrix *matrix = self->matrix;

	for (guint i = 0; i < self->memory->threads->len; i++) {
		const LodeThread *thread = &LODE_AT(self->memory->threads, LodeThread, i);
		if (thread->pid != matrix->pid)
			continue;
		if (thread->ordinal >= LODE_PLACEMENT_MAX_THREADS) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
				"the process has more than %d threads", LODE_PLACEMENT_MAX_THREADS);
			return false;
		}
		matrix->n_threads = MAX(matrix->n_threads, thread->ordinal + 1);
		if (thread->ordinal == 0)
			matrix->process = thread->name;
	}
	matrix->thread_weights = g_new0(double, matrix->n_threads);
	matrix->thread_lost = g_new0(double, matrix->n_threads);
	return true;
}

static void take_sample(Maker *self, guint i)
{
	const LodeMemorySample *sample = sample_at(self, i);
	const LodeThread *thread = thread_of(self, sample);
	bool is_of_fault = is_fault(self, sample->event);

	if (sample->event == self->event && !has_address(sample))
		self->matrix->unresolved_weight += sample->weight;
	if (sample->event == self->event && thread != NULL && thread->pid == self->matrix->pid)
		g_array_append_val(self->accesses, i);
	if (thread == NULL || !has_address(sample) ||
		(!is_of_fault && sample->event != self->event))
		return;
	if (thread->pid != self->matrix->pid) {
		if (sample->event == self->event)
			self->matrix->other_weight += sample->weight;
		return;
	}
	if (is_recorder_memory(self->memory, sample)) {
		if (!is_of_fault)
			self->matrix->own_weight += sample->weight;
		return;
	}
	Touch touch = {
		.page = sample->address & ~(LODE_PAGE_SIZE - 1),
		.time_ns = sample->time_ns,
		.thread = thread->ordinal,
		.sample = i,
		.weight = sample->weight,
	};
	g_array_append_val(is_of_fault ? self->faults : self->touches, touch);
}

LODE_ORDER(
	compare_uses, Touch, LODE_ASCENDING(page), LODE_ASCENDING(thread), LODE_ASCENDING(sample))

LODE_ORDER(
	compare_times, Touch, LODE_ASCENDING(page), LODE_ASCENDING(time_ns), LODE_ASCENDING(sample))

static void add_use(Maker *self, const Touch *touch, bool is_new_page, bool is_new_use)
{
	LodePageMatrix *matrix = self->matrix;

	if (is_new_page) {
		LodeUsedPage page = {.address = touch->page, .first_use = matrix->uses->len};
		g_array_append_val(matrix->pages, page);
	}
	LodeUsedPage *page = &LODE_AT(matrix->pages, LodeUsedPage, matrix->pages->len - 1);
	if (is_new_use) {
		LodePageUse use = {.thread = touch->thread};
		g_array_append_val(matrix->uses, use);
		page->n_uses++;
	}
	LODE_AT(matrix->uses, LodePageUse, matrix->uses->len - 1).weight += touch->weight;
	page->weight += touch->weight;
	matrix->thread_weights[touch->thread] += touch->weight;
	matrix->weight += touch->weight;
	matrix->n_samples++;
}

static void fill_uses(Maker *self)
{
	g_array_sort(self->touches, compare_uses);
	for (guint i = 0; i < self->touches->len; i++) {
		const Touch *touch = &LODE_AT(self->touches, Touch, i);
		bool is_new_page = i == 0 || touch[-1].page != touch->page;
		add_use(self, touch, is_new_page, is_new_page || touch[-1].thread != touch->thread);
	}
}

/* The first touch of each page by its faults, where there is one, else by its samples. */
static void fill_first_touches(Maker *self)
{
	guint fault = 0, touch = 0;

	g_array_sort(self->touches, compare_times);
	g_array_sort(self->faults, compare_times);
	for (guint i = 0; i < self->matrix->pages->len; i++) {
		LodeUsedPage *page = &LODE_AT(self->matrix->pages, LodeUsedPage, i);
		while (LODE_AT(self->touches, Touch, touch).page < page->address)
			touch++;
		while (fault < self->faults->len &&
			LODE_AT(self->faults, Touch, fault).page < page->address)
			fault++;
		const Touch *first = &LODE_AT(self->touches, Touch, touch);
		page->mapping = sample_at(self, first->sample)->mapping;
		page->object = sample_at(self, first->sample)->object;
		if (fault < self->faults->len &&
			LODE_AT(self->faults, Touch, fault).page == page->address) {
			first = &LODE_AT(self->faults, Touch, fault);
			self->matrix->n_first_touches++;
		}
		page->first_toucher = first->thread;
	}
}

static bool count_losses(Maker *self, GError **error)
{
	LodePageMatrix *matrix = self->matrix;

	lode_address_losses_init(&matrix->losses, self->profile, self->event,
		(const uint32_t *)(const void *)self->accesses->data, self->accesses->len);
	for (guint i = 0; i < matrix->losses.threads->len; i++) {
		const LodeAddressLoss *loss = &LODE_AT(matrix->losses.threads, LodeAddressLoss, i);
		const LodeThread *thread = &LODE_AT(
			self->memory->threads, LodeThread, loss->thread);
		matrix->thread_lost[thread->ordinal] += loss->lost.weight;
		matrix->lost += loss->lost.weight;
	}
	double share = 1 - lode_address_loss_share(&matrix->losses.all);
	if (share >= LEAST_SEEN)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		"only %s of the load and store samples of '%s' in process %u have a data address "
		"(most others: %s), too few to place pages by; %s",
		LODE_SHARE_TEXT(share), matrix->event, matrix->pid,
		lode_address_reason_to_text(lode_address_loss_reason(&matrix->losses.all)),
		lode_address_loss_advice(&matrix->losses.all, self->profile));
	return false;
}

static bool fail_stopped(GError **error)
{
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
	return false;
}

static bool make(
	Maker *self, const char *event, uint32_t pid, const LodeProgress *progress, GError **error)
{
	if (!choose_event(self, event, error) || !choose_process(self, pid, error) ||
		!count_threads(self, error))
		return false;
	for (guint i = 0; i < self->memory->samples->len; i++) {
		if (i % 65536 == 0 && lode_progress_is_cancelled(progress))
			return fail_stopped(error);
		take_sample(self, i);
	}
	if (!count_losses(self, error))
		return false;
	fill_uses(self);
	if (lode_progress_is_cancelled(progress))
		return fail_stopped(error);
	fill_first_touches(self);
	return true;
}

LodePageMatrix *lode_page_matrix_new(const LodeProfile *profile, const char *event, uint32_t pid,
	const LodeProgress *progress, GError **error)
{
	g_autoptr(GArray) touches = g_array_new(FALSE, FALSE, sizeof(Touch));
	g_autoptr(GArray) faults = g_array_new(FALSE, FALSE, sizeof(Touch));
	g_autoptr(GArray) accesses = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autoptr(LodePageMatrix) matrix = g_new0(LodePageMatrix, 1);
	g_autofree bool *are_faults = lode_page_faults_events(profile);
	Maker maker = {.profile = profile,
		.memory = lode_memory_of(profile),
		.matrix = matrix,
		.event = LODE_NONE,
		.touches = touches,
		.faults = faults,
		.accesses = accesses,
		.are_faults = are_faults};

	matrix->pages = g_array_new(FALSE, FALSE, sizeof(LodeUsedPage));
	matrix->uses = g_array_new(FALSE, FALSE, sizeof(LodePageUse));
	if (lode_memory_of(profile) == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"the profile has no data addresses; 'lode memory record' records them");
		return NULL;
	}
	if (!make(&maker, event, pid, progress, error))
		return NULL;
	return g_steal_pointer(&matrix);
}
