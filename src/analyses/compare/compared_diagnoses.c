/* SPDX-License-Identifier: MIT */
#include "analyses/compare/compared_diagnoses.h"

#include "analyses/compare/comparison_figures.h"
#include "analyses/compare/untyped_name.h"

#include <string.h>

/* The share of the processor time, and the samples, below which there may be a diagnosis that is
 * not made: 2 %, and three errors of √(2 samples). */
static const double UNSEEN = 0.02, UNSEEN_SAMPLES = 18;

static const double SLOWER_DEVIATIONS = 3;

#define NS_PER_S 1e9

/* All time in the kernel that has no closer cause; below some share there is none. */
static const char KERNEL_TIME[] = "kernel-time";

static bool is_of_code(const LodeDiagnosis *self)
{
	return self->scope == LODE_SCOPE_FUNCTIONS || self->scope == LODE_SCOPE_FUNCTION ||
	       self->scope == LODE_SCOPE_LOOP;
}

static bool is_same_function(const LodeDiagnosis *a, const LodeDiagnosis *b)
{
	bool has_types;

	if (a->site.function == NULL || b->site.function == NULL)
		return false;
	g_autofree char *one = lode_untyped_name(a->site.function, &has_types);
	g_autofree char *other = lode_untyped_name(b->site.function, &has_types);
	return strcmp(a->site.function, b->site.function) == 0 ||
	       (one != NULL && other != NULL && strcmp(one, other) == 0);
}

static bool has_same_cause(const LodeDiagnosis *a, const LodeDiagnosis *b)
{
	return strcmp(a->cause, b->cause) == 0 && is_of_code(a) && is_of_code(b) &&
	       (a->scope == LODE_SCOPE_FUNCTIONS || b->scope == LODE_SCOPE_FUNCTIONS ||
		       is_same_function(a, b));
}

/* The first one that is left of the other side and matches; NULL: none. */
static const LodeDiagnosis *take(GPtrArray *left, const LodeDiagnosis *wanted, bool is_by_name)
{
	for (guint i = 0; i < left->len; i++) {
		const LodeDiagnosis *one = g_ptr_array_index(left, i);
		if (is_by_name ? g_strcmp0(one->name, wanted->name) == 0
			       : has_same_cause(wanted, one)) {
			g_ptr_array_remove_index(left, i);
			return one;
		}
	}
	return NULL;
}

static void add(GArray *rows, const LodeDiagnosis *base, const LodeDiagnosis *other)
{
	LodeComparedDiagnosis row = {.sides = {base, other}, .achieved = (double)NAN};

	row.match = base == NULL                              ? LODE_MATCH_NEW
	            : other == NULL                           ? LODE_MATCH_GONE
	            : g_strcmp0(base->name, other->name) != 0 ? LODE_MATCH_RENAMED
	                                                      : LODE_MATCH_SAME;
	g_array_append_val(rows, row);
}

/* Waits have no processor time: they are compared by themselves. */
static void match(LodeComparedDiagnoses *self, const LodeDiagnoses *const diagnoses[2])
{
	g_autoptr(GPtrArray) left = g_ptr_array_new();
	g_autoptr(GPtrArray) others = g_ptr_array_new();

	for (guint i = 0; i < diagnoses[1]->diagnoses->len; i++)
		if (lode_diagnoses_at(diagnoses[1], i)->scope != LODE_SCOPE_WAIT)
			g_ptr_array_add(others, lode_diagnoses_at(diagnoses[1], i));
	for (guint i = 0; i < diagnoses[0]->diagnoses->len; i++) {
		LodeDiagnosis *one = lode_diagnoses_at(diagnoses[0], i);
		if (one->scope == LODE_SCOPE_WAIT)
			continue;
		const LodeDiagnosis *other = take(others, one, true);
		if (other != NULL)
			add(self->rows, one, other);
		else
			g_ptr_array_add(left, one);
	}
	for (guint i = 0; i < left->len; i++) {
		const LodeDiagnosis *one = g_ptr_array_index(left, i);
		add(self->rows, one, take(others, one, false));
	}
	for (guint i = 0; i < others->len; i++)
		add(self->rows, NULL, g_ptr_array_index(others, i));
}

/* Whether there are so many more page faults (`sign` 1), or fewer (−1), that pages are used in
 * another way. */
static bool has_other_pages(const LodeComparison *comparison, double sign)
{
	const LodeComparedTotal *faults = &comparison->totals[LODE_TOTAL_PAGE_FAULTS];

	return faults->is_told &&
	       sign * log(faults->sides[1].value / faults->sides[0].value) > G_LN2;
}

/* The function of a diagnosis of one function; NULL: of several, or not compared. */
static const LodeComparedRow *find_function(
	const LodeComparison *comparison, int side, const LodeDiagnosis *diagnosis)
{
	const GArray *rows = comparison->kinds[LODE_COMPARED_FUNCTION].rows;
	bool is_one = diagnosis->scope == LODE_SCOPE_FUNCTION ||
	              diagnosis->scope == LODE_SCOPE_LOOP;

	for (guint i = 0; is_one && rows != NULL && i < rows->len; i++) {
		const LodeComparedRow *row = &g_array_index(rows, LodeComparedRow, i);
		const char *name = side == 0 && row->old_text != NULL ? row->old_text : row->text;
		if (g_strcmp0(name, diagnosis->site.function) == 0)
			return row;
	}
	return NULL;
}

/* Whether what the time of a diagnosis is part of moved as it did: its function; or else the
 * program's time in its own code or in the kernel, a function or a finding. Where nothing did,
 * samples of the same code were given to another cause by chance. */
static bool has_moved(const LodeComparison *comparison, const LodeComparedDiagnosis *self)
{
	int side = self->sides[1] != NULL;
	const LodeDiagnosis *named = self->sides[side];
	double sign = self->change.value < 0 ? -1 : 1;
	bool is_alone = self->sides[1 - side] == NULL;
	bool is_kernel = named->scope == LODE_SCOPE_KERNEL;
	const LodeComparedTotal *kernel = &comparison->totals[LODE_TOTAL_KERNEL];
	const LodeComparedTotal *user = &comparison->totals[LODE_TOTAL_USER];
	const LodeComparedRow *function = find_function(comparison, side, named);

	if (is_alone && has_other_pages(comparison, sign))
		return true;
	if (function != NULL)
		return function->is_told && sign * function->change.value > 0;
	if (is_kernel ? kernel->is_told && sign * kernel->change.value > 0
		      : user->is_told && sign * comparison->change.value > 0)
		return true;
	for (int kind = 0; kind <= LODE_COMPARED_FUNCTION; kind++) {
		const GArray *rows = comparison->kinds[kind].rows;
		for (guint i = 0; rows != NULL && i < rows->len; i++) {
			const LodeComparedRow *row = &g_array_index(rows, LodeComparedRow, i);
			if (row->is_told && sign * row->change.value > 0)
				return true;
		}
	}
	return false;
}

static LodeEstimate time_of(const LodeDiagnosis *self, double all)
{
	return self != NULL ? (LodeEstimate){self->time * all, self->time_error * all}
	                    : (LodeEstimate){0, 0};
}

/* One that a profile does not have may have any time there below what makes a diagnosis. */
static bool is_told(const LodeComparedDiagnoses *self, const LodeComparedDiagnosis *row,
	const double all[2], const LodeComparison *comparison)
{
	LodeEstimate seconds[2] = {row->seconds[0], row->seconds[1]};

	for (int side = 0; side < 2; side++) {
		double samples = comparison->profiles[side].samples;
		double unseen = fmax(UNSEEN, samples > 0 ? UNSEEN_SAMPLES / samples : 0);
		if (row->sides[side] == NULL && row->match != LODE_MATCH_SAME)
			seconds[side].value = fmin(unseen * all[side], seconds[1 - side].value);
	}
	return lode_speed_is_exceeded(&comparison->speed, seconds[0], seconds[1], self->deviations);
}

static const char *name_of(const LodeComparedDiagnosis *self)
{
	return self->sides[self->sides[1] != NULL]->name;
}

static int compare_rows(const void *a, const void *b)
{
	const LodeComparedDiagnosis *left = a, *right = b;
	double x = fabs(left->change.value), y = fabs(right->change.value);

	if (x < y || x > y)
		return x < y ? 1 : -1;
	return g_strcmp0(name_of(left), name_of(right));
}

/* A cause that is gone alone, and took most of what was saved, saved what was saved in all. Where
 * time went over to another cause of the same places, it was not saved. */
static void find_achieved(LodeComparedDiagnoses *self, const double times[2], double speed)
{
	double base = times[0], other = times[1];
	guint n_gone = 0;

	for (guint i = 0; i < self->rows->len; i++) {
		const LodeComparedDiagnosis *row = lode_compared_diagnosis(self, i);
		n_gone += row->is_told && row->match == LODE_MATCH_GONE;
	}
	for (guint i = 0; i < self->rows->len; i++) {
		LodeComparedDiagnosis *row = &g_array_index(self->rows, LodeComparedDiagnosis, i);
		double all = 1 - other / speed / base;
		double own = (row->seconds[0].value - row->seconds[1].value / speed) / base;
		bool is_alone = i == 0 && row->match == LODE_MATCH_GONE && n_gone == 1 &&
		                2 * own >= all;
		if (row->is_told && row->sides[0] != NULL)
			row->achieved = is_alone ? all : fmin(own, all);
	}
}

LodeComparedDiagnoses *lode_compared_diagnoses_new(
	const LodeDiagnoses *const diagnoses[2], const LodeComparison *comparison)
{
	LodeComparedDiagnoses *self = g_new0(LodeComparedDiagnoses, 1);
	double all[2] = {diagnoses[0]->seconds, diagnoses[1]->seconds};

	if (!(all[0] > 0 && all[1] > 0)) {
		bool is_clock = strstr(comparison->weight, "-clock") != NULL;
		for (int side = 0; side < 2; side++)
			all[side] = comparison->profiles[side].total / (is_clock ? NS_PER_S : 1);
		self->unit = is_clock ? NULL : comparison->weight;
	}
	self->rows = g_array_new(FALSE, FALSE, sizeof(LodeComparedDiagnosis));
	match(self, diagnoses);
	self->deviations = lode_comparison_deviations(MAX(self->rows->len, 1));
	for (guint i = 0; i < self->rows->len; i++) {
		LodeComparedDiagnosis *row = &g_array_index(self->rows, LodeComparedDiagnosis, i);
		for (int side = 0; side < 2; side++)
			row->seconds[side] = time_of(row->sides[side], all[side]);
		for (int side = 0; side < 2; side++) {
			LodeEstimate kernel = comparison->totals[LODE_TOTAL_KERNEL].sides[side];
			if (self->unit != NULL || row->sides[side] != NULL || !(kernel.value > 0) ||
				strcmp(row->sides[1 - side]->cause, KERNEL_TIME) != 0)
				continue;
			row->seconds[side] = kernel;
			row->match = LODE_MATCH_SAME;
		}
		row->change = lode_estimate_difference(row->seconds[0], row->seconds[1]);
		row->is_told = has_moved(comparison, row) && is_told(self, row, all, comparison);
	}
	g_array_sort(self->rows, compare_rows);
	if (fmax(comparison->profiles[0].common, comparison->profiles[1].common) >=
		LODE_LITTLE_COMMON)
		find_achieved(self, all, comparison->speed.factor);
	return self;
}

void lode_compared_diagnoses_free(LodeComparedDiagnoses *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->rows);
	g_free(self);
}

bool lode_compared_diagnosis_is_slower(const LodeComparedDiagnoses *self, guint index,
	const LodeComparison *comparison, double share)
{
	const LodeComparedDiagnosis *row = lode_compared_diagnosis(self, index);
	const GArray *functions = comparison->kinds[LODE_COMPARED_FUNCTION].rows;
	LodeEstimate before = row->seconds[0], after = row->seconds[1];
	LodeEstimate allowed = {before.value * (1 + share), before.error * (1 + share)};

	if (!row->is_told || row->sides[1] == NULL ||
		!(after.value > allowed.value * fmax(comparison->speed.factor, 1)) ||
		!lode_speed_is_exceeded(&comparison->speed, allowed, after,
			fmax(SLOWER_DEVIATIONS, self->deviations)))
		return false;
	for (guint i = 0; functions != NULL && i < functions->len; i++) {
		const LodeComparedRow *function = &g_array_index(functions, LodeComparedRow, i);
		if (g_strcmp0(function->text, row->sides[1]->site.function) == 0)
			return lode_compared_row_is_slower(comparison, function, share);
	}
	return comparison->change.value > share * comparison->profiles[0].total;
}
