/* SPDX-License-Identifier: MIT */
#include "analyses/memory/coverage.h"

#include "analyses/memory/page_faults.h"
#include "analyses/memory/window_samples.h"
#include "base/arrays/sort_order.h"
#include "model/code.h"
#include "model/memory.h"

bool lode_address_loss_counts(uint8_t rule, uint8_t reason)
{
	switch ((LodeAddressReason)reason) {
	case LODE_REASON_NOT_MEMORY:
	case LODE_REASON_NO_ACCESS_IN_RANGE:
	case LODE_REASON_NOT_USER_CODE:
	case LODE_REASON_RECORDER:
		return rule != LODE_RULE_NONE;
	default:
		return true;
	}
}

static void add_loss(
	LodeAddressLoss *self, const LodeMemorySample *sample, uint32_t row, bool has_range)
{
	lode_access_totals_add(&self->total, sample, row);
	if (sample->rule == LODE_RULE_NEXT_ROUND)
		lode_access_totals_add(&self->next_round, sample, row);
	if (sample->rule != LODE_RULE_NONE)
		return;
	lode_access_totals_add(&self->lost, sample, row);
	if (sample->object != LODE_NONE)
		lode_access_totals_add(&self->lost_named, sample, row);
	if (has_range)
		lode_access_totals_add(&self->lost_ranged, sample, row);
	self->reason_weight[sample->reason] += sample->weight;
}

/* --- objects with a range --- */

/* Pages first to last, in the address space of a process. */
typedef struct {
	uint32_t object, pid;
	uint64_t first, last;
	double weight;
} PageRange;

LODE_ORDER(compare_ranges, PageRange, LODE_ASCENDING(object), LODE_ASCENDING(pid),
	LODE_ASCENDING(first), LODE_ASCENDING(last))
LODE_ORDER(compare_objects, LodeLostObject, LODE_DESCENDING(weight), LODE_ASCENDING(object))

static void add_range(
	GArray *ranges, const LodeMemory *memory, const LodeMemorySample *sample, guint number)
{
	enum { PAGE_BYTES = 4096 };
	const LodeLostRange *lost = &LODE_AT(memory->lost_ranges, LodeLostRange, number);
	const PageRange range = {
		.object = sample->object,
		.pid = sample->thread < memory->threads->len
	                       ? LODE_AT(memory->threads, LodeThread, sample->thread).pid
	                       : 0,
		.first = lost->start / PAGE_BYTES,
		.last = (lost->start + lost->size - 1) / PAGE_BYTES,
		.weight = sample->weight,
	};

	g_array_append_val(ranges, range);
}

/* One for each object; pages in several of its ranges count once. */
static GArray *lost_objects(GArray *ranges)
{
	GArray *objects = g_array_new(FALSE, FALSE, sizeof(LodeLostObject));
	uint64_t next = 0; /* the first page that is not counted */

	g_array_sort(ranges, compare_ranges);
	for (guint i = 0; i < ranges->len; i++) {
		const PageRange *range = &LODE_AT(ranges, PageRange, i);
		if (i == 0 || range->object != range[-1].object) {
			const LodeLostObject object = {.object = range->object};
			g_array_append_val(objects, object);
		}
		if (i == 0 || range->object != range[-1].object || range->pid != range[-1].pid)
			next = 0;
		LodeLostObject *object = &LODE_AT(objects, LodeLostObject, objects->len - 1);
		object->weight += range->weight;
		if (range->last >= next)
			object->n_pages += range->last + 1 - MAX(range->first, next);
		next = MAX(next, range->last + 1);
	}
	g_array_sort(objects, compare_objects);
	return objects;
}

LODE_ORDER(compare_losses, LodeAddressLoss, LODE_ASCENDING(thread))

/* `rows`: by thread, its number among the losses + 1; 0: none yet. */
static LodeAddressLoss *loss_of(LodeAddressLosses *self, uint32_t *rows, uint32_t thread)
{
	if (rows[thread] == 0) {
		LodeAddressLoss loss = {.thread = thread};
		g_array_append_val(self->threads, loss);
		rows[thread] = self->threads->len;
	}
	return &LODE_AT(self->threads, LodeAddressLoss, rows[thread] - 1);
}

void lode_address_losses_init(LodeAddressLosses *self, const LodeProfile *profile, uint32_t event,
	const uint32_t *samples, size_t n_samples)
{
	const LodeMemory *memory = lode_memory_of(profile);
	g_autofree bool *are_faults = lode_page_faults_events(profile);
	guint n_threads = memory->threads->len;
	g_autofree uint32_t *rows = g_new0(uint32_t, n_threads + 1);
	size_t n = samples != NULL ? n_samples : memory->samples->len;
	g_autoptr(GArray) ranges = g_array_new(FALSE, FALSE, sizeof(PageRange));
	guint next_range = 0;

	*self = (LodeAddressLosses){.all.thread = LODE_NONE,
		.threads = g_array_new(FALSE, FALSE, sizeof(LodeAddressLoss))};
	for (size_t i = 0; i < n; i++) {
		uint32_t row = samples != NULL ? samples[i] : (uint32_t)i;
		const LodeMemorySample *sample = &LODE_AT(memory->samples, LodeMemorySample, row);
		if (sample->event >= lode_code_of(profile)->events->len ||
			are_faults[sample->event] ||
			(event != LODE_NONE && sample->event != event) ||
			!lode_address_loss_counts(sample->rule, sample->reason))
			continue;
		while (next_range < memory->lost_ranges->len &&
			LODE_AT(memory->lost_ranges, LodeLostRange, next_range).sample < row)
			next_range++;
		bool has_range = next_range < memory->lost_ranges->len &&
		                 sample->rule == LODE_RULE_NONE &&
		                 LODE_AT(memory->lost_ranges, LodeLostRange, next_range).sample ==
		                         row;
		if (has_range)
			add_range(ranges, memory, sample, next_range);
		add_loss(&self->all, sample, row, has_range);
		if (sample->thread < n_threads)
			add_loss(loss_of(self, rows, sample->thread), sample, row, has_range);
	}
	g_array_sort(self->threads, compare_losses);
	self->objects = lost_objects(ranges);
}

void lode_address_losses_clear(LodeAddressLosses *self)
{
	g_clear_pointer(&self->threads, g_array_unref);
	g_clear_pointer(&self->objects, g_array_unref);
}

LodeAddressReason lode_address_loss_reason(const LodeAddressLoss *self)
{
	int most = LODE_REASON_NONE;

	for (int i = 0; i < LODE_N_REASONS; i++)
		if (self->reason_weight[i] > self->reason_weight[most])
			most = i;
	return (LodeAddressReason)most;
}

const char *lode_address_loss_advice(const LodeAddressLoss *self, const LodeProfile *profile)
{
	if (lode_window_samples_event(profile) != LODE_NONE)
		return "--event " LODE_WINDOW_ACCESSES " takes the true addresses of the windows";
	switch (lode_address_loss_reason(self)) {
	case LODE_REASON_NO_REGISTERS:
		return "'lode memory record' records the registers that addresses are made of";
	case LODE_REASON_INVALID_ADDRESS:
		return "the registers point to no memory of the program, as in a damaged "
		       "recording; record it again with 'lode memory record'";
	default:
		return "'lode memory record --windows 10%' also records true addresses, step by "
		       "step (event " LODE_WINDOW_ACCESSES ")";
	}
}

static void add_layers(LodeMemoryCoverage *self, const LodeDataObject *object,
	const LodeMemorySample *sample, uint32_t row)
{
	const bool answers[LODE_N_LAYERS] = {
		[LODE_LAYER_TYPE] = object->type != LODE_NONE,
		[LODE_LAYER_VARIABLE] = object->variable != NULL,
		[LODE_LAYER_ALLOCATION] = object->site != LODE_NONE,
		[LODE_LAYER_MAPPING] = object->mapping != NULL,
	};

	lode_access_totals_add(&self->named[object->layer], sample, row);
	for (int i = 0; i < LODE_N_LAYERS; i++)
		if (answers[i])
			lode_access_totals_add(&self->known[i], sample, row);
	if (object->member != LODE_NONE)
		lode_access_totals_add(&self->members, sample, row);
}

static void add_sample(LodeMemoryCoverage *self, const LodeMemory *memory, uint32_t row)
{
	const LodeMemorySample *sample = &LODE_AT(memory->samples, LodeMemorySample, row);

	lode_access_totals_add(&self->total, sample, row);
	lode_access_totals_add(&self->by_rule[sample->rule], sample, row);
	lode_access_totals_add(&self->by_reason[sample->reason], sample, row);
	if (sample->rule != LODE_RULE_NONE)
		lode_access_totals_add(&self->resolved, sample, row);
	if (sample->is_unverified)
		lode_access_totals_add(&self->unverified, sample, row);
	if (sample->object < memory->objects->len)
		add_layers(self, &LODE_AT(memory->objects, LodeDataObject, sample->object), sample,
			row);
	else
		lode_access_totals_add(&self->unnamed, sample, row);
}

static void clear_coverage(void *data)
{
	LodeMemoryCoverage *self = data;

	lode_address_losses_clear(&self->losses);
}

/* The events with samples; page faults only when there are no others. */
static GArray *choose_events(const LodeProfile *profile, const LodeMemoryCoverage *events)
{
	g_autofree bool *are_faults = lode_page_faults_events(profile);
	GArray *chosen = g_array_new(FALSE, TRUE, sizeof(LodeMemoryCoverage));

	g_array_set_clear_func(chosen, clear_coverage);
	for (int faults = 0; faults < 2 && chosen->len == 0; faults++)
		for (guint i = 0; i < lode_code_of(profile)->events->len; i++)
			if (are_faults[i] == (faults != 0) && events[i].total.n_samples > 0)
				g_array_append_val(chosen, events[i]);
	return chosen;
}

GArray *lode_memory_coverage_new(
	const LodeProfile *profile, const uint32_t *samples, size_t n_samples)
{
	const LodeMemory *memory = lode_memory_of(profile);
	guint n_events = lode_code_of(profile)->events->len;
	g_autofree LodeMemoryCoverage *events = g_new0(LodeMemoryCoverage, n_events + 1);
	size_t n = samples != NULL ? n_samples : memory->samples->len;

	for (guint i = 0; i < n_events; i++)
		events[i].event = i;
	for (size_t i = 0; i < n; i++) {
		uint32_t row = samples != NULL ? samples[i] : (uint32_t)i;
		uint32_t event = LODE_AT(memory->samples, LodeMemorySample, row).event;
		if (event < n_events)
			add_sample(&events[event], memory, row);
	}
	GArray *chosen = choose_events(profile, events);
	for (guint i = 0; i < chosen->len; i++) {
		LodeMemoryCoverage *coverage = &LODE_AT(chosen, LodeMemoryCoverage, i);
		lode_address_losses_init(
			&coverage->losses, profile, coverage->event, samples, n_samples);
	}
	return chosen;
}
