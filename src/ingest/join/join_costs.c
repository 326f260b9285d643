/* SPDX-License-Identifier: MIT */
/*
 * Events and costs: callgrind's own events under their own names, clear names made of them, and
 * "cycles", KCachegrind's estimate, as the weight.
 */
#include "base/arrays/large_array.h"
#include "base/error.h"
#include "base/text/words.h"
#include "ingest/join/join.h"
#include "model/causes.h"
#include "model/memory.h"
#include "model/profile.h"
#include "model/waits.h"

#include <string.h>

typedef struct {
	const char *name, *description;
} EventText;

/* callgrind's names, in its own order. */
static const EventText texts[] = {
	{"Dr", "data reads"},
	{"Dw", "data writes"},
	{"I1mr", "first-level instruction cache read misses"},
	{"D1mr", "first-level data cache read misses"},
	{"D1mw", "first-level data cache write misses"},
	{"ILmr", "last-level instruction read misses"},
	{"DLmr", "last-level data read misses"},
	{"DLmw", "last-level data write misses"},
	{"Bc", "conditional branches executed"},
	{"Bcm", "conditional branches mispredicted"},
	{"Bi", "indirect branches executed"},
	{"Bim", "indirect branches mispredicted"},
	{"L2im", "second-level instruction misses"},
	{"L2dm", "second-level data misses"},
	{"DTm", "first-level data TLB misses"},
	{"DT2m", "second-level data TLB misses"},
};

enum { MAX_PARTS = 3 };

typedef struct {
	const char *name, *description;
	double cycles; /* what one costs in the estimate */
	const char *parts[MAX_PARTS];
} ClearEvent;

static const ClearEvent clear_events[] = {
	{"l1i-miss", "first-level instruction cache misses", 10, {"I1mr"}},
	{"l1d-miss", "first-level data cache misses", 10, {"D1mr", "D1mw"}},
	{"ll-miss", "last-level cache misses", 100, {"ILmr", "DLmr", "DLmw"}},
	{"branch-miss", "mispredicted branches", 10, {"Bcm", "Bim"}},
	/* callgrind's estimate has no such levels */
	{"l2-miss", "second-level cache misses", 0, {"L2im", "L2dm"}},
	{"dtlb-miss", "first-level data TLB misses", 0, {"DTm"}},
	{"stlb-miss", "second-level data TLB misses", 0, {"DT2m"}},
};

typedef struct {
	LodeProfile *profile;
	const LodeRecording *recording;
	LodeJoinEvents *events;
} Naming;

static const char *describe(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		if (strcmp(texts[i].name, name) == 0)
			return texts[i].description;
	return NULL;
}

static uint32_t find_column(const LodeRecording *recording, const char *name)
{
	for (guint i = 0; i < recording->events->len; i++)
		if (strcmp(recording->events->pdata[i], name) == 0)
			return i;
	return LODE_NONE;
}

static bool is_sampled_column(const LodeRecording *recording, uint32_t column)
{
	return column >= recording->events->len - recording->n_sampled;
}

/* A name of callgrind's, or that we give to another event. */
static bool is_reserved(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(clear_events); i++)
		if (strcmp(name, clear_events[i].name) == 0)
			return true;
	return describe(name) != NULL || strcmp(name, "Ir") == 0 ||
	       strcmp(name, "estimated-cycles") == 0;
}

/* Executions are one event already, so that samples of them need a different name; so do sampled
 * events that were counted too. */
static char *column_name(const Naming *self, uint32_t column)
{
	bool is_sampled = is_sampled_column(self->recording, column);
	char *name = g_strdup(self->recording->events->pdata[column]);

	while ((is_sampled && is_reserved(name)) ||
		lode_profile_find_event(self->profile, name) != LODE_NONE) {
		char *longer = g_strconcat(name, is_sampled ? "-sampled" : "-recorded", NULL);
		g_free(name);
		name = longer;
	}
	return name;
}

/* An event that every instruction has carries no information as an attribute. */
static bool is_time(const char *name)
{
	static const char *const times[] = {"cpu-clock", "task-clock", "cycles", "cpu-cycles",
		"ref-cycles", "instructions-sampled", LODE_LATENCY_EVENT, LODE_WAITING_EVENT,
		LODE_CLOCK_EVENT};

	return lode_word_find(times, G_N_ELEMENTS(times), name) >= 0 ||
	       g_str_has_prefix(name, LODE_KERNEL_EVENTS) || strstr(name, "cycles") != NULL ||
	       strstr(name, "CYCLES") != NULL;
}

/* The same weight at the instructions that waited, which get the attribute. An event of the
 * recording may have the name already; then there is none. */
static void add_cause(Naming *self, uint32_t sampled)
{
	LodeProfile *profile = self->profile;
	const LodeEvent event = *lode_profile_event(profile, sampled);
	g_autofree char *name = g_strconcat(event.name, LODE_CAUSE_SUFFIX, NULL);

	if (event.total <= 0 || lode_profile_find_event(profile, name) != LODE_NONE)
		return;
	LodeJoinCause cause = {
		sampled, lode_profile_add_event(profile, name, NULL, LODE_EVENT_SAMPLED, NULL, 0)};
	LodeEvent *charged = lode_profile_event(profile, cause.charged);
	charged->total = event.total;
	charged->is_attribute = event.is_attribute;
	lode_profile_event(profile, sampled)->is_attribute = false;
	g_array_append_val(self->events->causes, cause);
}

/* The event of a recorder for what are no samples: mappings, context switches. */
static bool is_empty_dummy(const LodeRecording *recording, uint32_t column)
{
	return is_sampled_column(recording, column) &&
	       strcmp(recording->events->pdata[column], "dummy") == 0 &&
	       !(g_array_index(recording->totals, double, column) > 0);
}

static void add_recorded_events(Naming *self)
{
	const LodeRecording *recording = self->recording;

	for (guint i = 0; i < recording->events->len; i++) {
		g_autofree char *name = column_name(self, i);
		bool is_sampled = is_sampled_column(recording, i);
		const char *own = i < recording->descriptions->len
		                          ? recording->descriptions->pdata[i]
		                          : NULL;
		const char *description = is_sampled || own != NULL ? own : describe(name);
		uint32_t event = LODE_NONE;
		if (i != self->events->count_column && !is_empty_dummy(recording, i))
			event = lode_profile_add_event(self->profile, name, description,
				is_sampled ? LODE_EVENT_SAMPLED : LODE_EVENT_RECORDED, NULL, 0);
		g_array_append_val(self->events->column_events, event);
		if (event == LODE_NONE)
			continue;
		LodeEvent *added = lode_profile_event(self->profile, event);
		added->total = g_array_index(recording->totals, double, i);
		bool is_aside = recording->has_faults_aside && lode_is_page_fault_event(name);
		added->is_attribute = is_sampled && !is_time(name) && !is_aside;
		if (is_sampled && lode_recording_is_late(recording, i))
			add_cause(self, event);
	}
}

static uint32_t add_derived(
	Naming *self, const char *name, const char *description, const GArray *terms)
{
	LodeProfile *profile = self->profile;
	uint32_t event = lode_profile_add_event(profile, name, description, LODE_EVENT_DERIVED,
		(const LodeEventTerm *)terms->data, terms->len);
	double total = 0;

	for (guint i = 0; i < terms->len; i++) {
		const LodeEventTerm *term = &g_array_index(terms, LodeEventTerm, i);
		total += term->factor * lode_profile_event(profile, term->event)->total;
	}
	lode_profile_event(profile, event)->total = total;
	return event;
}

/* A clear name where the recording has any of its parts; its price goes into the estimate. */
static void add_clear_event(Naming *self, const ClearEvent *clear, GArray *cycles)
{
	g_autoptr(GArray) terms = g_array_new(FALSE, FALSE, sizeof(LodeEventTerm));

	for (size_t i = 0; i < MAX_PARTS && clear->parts[i] != NULL; i++) {
		LodeEventTerm term = {lode_profile_find_event(self->profile, clear->parts[i]), 1};
		LodeEventTerm price = {term.event, clear->cycles};
		if (term.event == LODE_NONE)
			continue;
		g_array_append_val(terms, term);
		if (clear->cycles > 0)
			g_array_append_val(cycles, price);
	}
	if (terms->len == 0 || lode_profile_find_event(self->profile, clear->name) != LODE_NONE)
		return;
	uint32_t event = add_derived(self, clear->name, clear->description, terms);
	lode_profile_event(self->profile, event)->is_attribute = true;
}

static uint32_t column_event(const Naming *self, uint32_t column)
{
	return column == self->events->count_column
	               ? lode_profile_find_event(self->profile, "instructions")
	               : g_array_index(self->events->column_events, uint32_t, column);
}

/* The sums that the recording itself knows. */
static void add_recorded_sums(Naming *self, GArray *cycles)
{
	const GArray *sums = self->recording->sums;

	for (guint i = 0; i < sums->len; i++) {
		const LodeRecordedSum *sum = &g_array_index(sums, LodeRecordedSum, i);
		g_autoptr(GArray) terms = g_array_new(FALSE, FALSE, sizeof(LodeEventTerm));
		for (uint32_t j = 0; j < sum->n_columns; j++) {
			LodeEventTerm term = {column_event(self, sum->columns[j]), 1};
			LodeEventTerm price = {term.event, sum->cycles};
			g_array_append_val(terms, term);
			if (sum->cycles > 0)
				g_array_append_val(cycles, price);
		}
		uint32_t added = add_derived(self, sum->name, sum->description, terms);
		lode_profile_event(self->profile, added)->is_attribute = sum->is_attribute;
	}
}

/* Beside real cycles the estimate has another name. */
static void add_estimate(Naming *self, const GArray *terms)
{
	bool is_taken = lode_profile_find_event(self->profile, "cycles") != LODE_NONE;
	const char *description = "estimated: instructions + 10 × first-level misses and "
				  "mispredictions + 100 × last-level misses";

	if (self->recording->sums->len > 0)
		description = terms->len > 1 ? "estimated: instructions + 10 × misses of the first "
		                               "and middle levels and of TLBs and "
		                               "mispredictions + 100 × last-level misses"
		                             : "estimated: instructions";
	add_derived(self, is_taken ? "estimated-cycles" : "cycles", description, terms);
}

/* Where time was sampled it weighs, at what waited; else the estimate of it. */
static void choose_weight(Naming *self)
{
	LodeProfile *profile = self->profile;
	uint32_t column = lode_recording_weight_column(self->recording);

	if (self->recording->n_sampled > 0) {
		uint32_t sampled = g_array_index(self->events->column_events, uint32_t, column);
		uint32_t charged = lode_profile_event_as_charged(profile, sampled);
		profile->code.weight_event = charged != LODE_NONE ? charged : sampled;
	} else {
		profile->code.weight_event = lode_profile_find_event(profile, "cycles");
	}
}

bool lode_join_events(
	LodeProfile *profile, const LodeRecording *recording, LodeJoinEvents *out, GError **error)
{
	g_autoptr(GArray) once = g_array_new(FALSE, FALSE, sizeof(LodeEventTerm));
	g_autoptr(GArray) cycles = g_array_new(FALSE, FALSE, sizeof(LodeEventTerm));
	Naming naming = {profile, recording, out};
	uint32_t column = find_column(recording, "Ir");

	if (column == LODE_NONE) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"the recording does not count instructions (event Ir)");
		return false;
	}
	*out = (LodeJoinEvents){column, g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		g_array_new(FALSE, FALSE, sizeof(LodeJoinCause))};
	profile->run.total_count = g_array_index(recording->totals, double, column);
	bool is_inferred = recording->frequency == LODE_FREQUENCY_INFERRED;
	LodeEventTerm count = {lode_profile_add_event(profile, "instructions",
				       is_inferred ? "inferred executions, to no known scale"
						   : "instructions executed",
				       LODE_EVENT_COUNT, NULL, 0),
		1};
	lode_profile_event(profile, count.event)->total = profile->run.total_count;
	g_array_append_val(once, count);
	g_array_append_val(cycles, count);
	add_recorded_events(&naming);
	if (recording->sums->len > 0) {
		add_recorded_sums(&naming, cycles);
		add_estimate(&naming, cycles);
	} else if (recording->frequency == LODE_FREQUENCY_EXACT) {
		add_derived(&naming, "Ir", "instructions executed, as callgrind calls them", once);
		for (size_t i = 0; i < G_N_ELEMENTS(clear_events); i++)
			add_clear_event(&naming, &clear_events[i], cycles);
		add_estimate(&naming, cycles);
	}
	choose_weight(&naming);
	return true;
}

void lode_join_events_clear(LodeJoinEvents *self)
{
	g_clear_pointer(&self->column_events, g_array_unref);
	g_clear_pointer(&self->causes, g_array_unref);
}

/* Sums the rows of one instruction; most have one. */
static uint32_t sum_rows(const LodeJoinRows *self, uint32_t instruction, double *sums)
{
	const uint32_t *first = &g_array_index(self->first, uint32_t, instruction);
	uint32_t n = 0;

	for (uint32_t i = first[0]; i < first[1]; i++) {
		const LodeRecordedInstruction *row = &g_array_index(self->recording->instructions,
			LodeRecordedInstruction, g_array_index(self->rows, uint32_t, i));
		const double *values = self->recording->values + row->first_value;
		for (; n < row->n_values; n++)
			sums[n] = 0;
		for (uint32_t j = 0; j < row->n_values; j++)
			sums[j] += values[j];
	}
	return n;
}

uint32_t lode_join_find_event(const LodeProfile *profile, const LodeRecording *recording,
	const LodeJoinEvents *events, const char *name)
{
	const GPtrArray *columns = recording->events;
	uint32_t traced = recording->is_trace ? lode_profile_find_event(profile, name) : LODE_NONE;

	if (traced != LODE_NONE)
		return traced;
	for (guint i = columns->len - recording->n_sampled; i < columns->len; i++)
		if (strcmp(g_ptr_array_index(columns, i), name) == 0 &&
			g_array_index(events->column_events, uint32_t, i) != LODE_NONE)
			return g_array_index(events->column_events, uint32_t, i);
	return profile->code.weight_event;
}

void lode_join_costs(LodeProfile *profile, const LodeJoinRows *rows, const LodeJoinEvents *events)
{
	const uint32_t *column_events = (const uint32_t *)events->column_events->data;
	g_autofree double *sums = g_new(double, rows->recording->events->len);

	g_array_unref(profile->code.costs);
	profile->code.costs = lode_large_array_new(
		sizeof(LodeCost), profile->code.instructions->len);
	g_array_set_size(profile->code.cost_starts, profile->code.instructions->len + 1);
	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		uint32_t n = sum_rows(rows, i, sums);
		for (uint32_t j = 0; j < n; j++) {
			LodeCost cost = {column_events[j], sums[j]};
			if (sums[j] != 0 && column_events[j] != LODE_NONE)
				g_array_append_val(profile->code.costs, cost);
		}
		LODE_AT(profile->code.cost_starts, uint32_t, i + 1) = profile->code.costs->len;
	}
}
