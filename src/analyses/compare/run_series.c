/* SPDX-License-Identifier: MIT */
#include "analyses/compare/run_series.h"

#include "analyses/compare/compared_diagnoses.h"
#include "analyses/diagnoses/diagnose.h"
#include "analyses/waits/wait_groups.h"
#include "base/arrays/sort_order.h"
#include "model/profile.h"

#include <math.h>

static const double CONFIDENCE = 0.95;

typedef struct {
	LodeRunSeries *series;
	GHashTable *numbers; /* "kind name" → the row's number, from 1 */
} Adding;

static void row_clear(void *data)
{
	LodeSeriesRow *self = data;

	g_free(self->name);
	for (int side = 0; side < 2; side++)
		g_clear_pointer(&self->seconds[side], g_array_unref);
}

LodeRunSeries *lode_run_series_new(void)
{
	LodeRunSeries *self = g_new0(LodeRunSeries, 1);

	self->rows = g_array_new(FALSE, FALSE, sizeof(LodeSeriesRow));
	g_array_set_clear_func(self->rows, row_clear);
	return self;
}

void lode_run_series_free(LodeRunSeries *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->rows);
	g_free(self);
}

static char *key_of(LodeSeriesKind kind, const char *name)
{
	return g_strdup_printf("%d %s", kind, name);
}

/* Seconds of this pair's run, added to those of the same name; takes `name`. */
static void add(Adding *self, LodeSeriesKind kind, char *name, int side, double seconds)
{
	GArray *rows = self->series->rows;
	g_autofree char *key = key_of(kind, name);
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(self->numbers, key));

	if (number == 0) {
		LodeSeriesRow row = {kind, g_strdup(name), .seconds = {NULL}};
		for (int k = 0; k < 2; k++)
			row.seconds[k] = g_array_new(FALSE, TRUE, sizeof(double));
		g_array_append_val(rows, row);
		number = rows->len;
		g_hash_table_insert(self->numbers, g_steal_pointer(&key), GUINT_TO_POINTER(number));
	}
	g_free(name);
	GArray *of = g_array_index(rows, LodeSeriesRow, number - 1).seconds[side];
	if (of->len <= self->series->n_pairs)
		g_array_set_size(of, self->series->n_pairs + 1);
	if (seconds > 0)
		g_array_index(of, double, self->series->n_pairs) += seconds;
}

static double total_of(const LodeComparison *comparison, LodeComparedTotalKind kind, int side)
{
	double value = comparison->totals[kind].sides[side].value;

	return isfinite(value) ? value : 0;
}

static void add_whole(Adding *self, const LodeComparison *comparison)
{
	for (int side = 0; side < 2; side++) {
		add(self, LODE_SERIES_PROCESSOR, g_strdup("processor time"), side,
			total_of(comparison, LODE_TOTAL_USER, side) +
				total_of(comparison, LODE_TOTAL_KERNEL, side));
		add(self, LODE_SERIES_CLOCK, g_strdup("time by the clock"), side,
			total_of(comparison, LODE_TOTAL_WALL, side));
	}
}

static void add_functions(Adding *self, const LodeComparison *comparison)
{
	const LodeComparedRows *kind = &comparison->kinds[LODE_COMPARED_FUNCTION];

	for (guint i = 0; kind->rows != NULL && i < kind->rows->len; i++) {
		const LodeComparedRow *row = lode_compared_row(kind, i);
		for (int side = 0; side < 2; side++) {
			double total = comparison->profiles[side].total;
			double share = total > 0 ? row->sides[side].time.value / total : 0;
			add(self, LODE_SERIES_FUNCTION, g_strdup(row->text), side,
				share * total_of(comparison, LODE_TOTAL_USER, side));
		}
	}
}

static void add_diagnoses(Adding *self, const LodeProfile *const profiles[2],
	const LodeComparison *comparison, const char *const *own)
{
	LodeDiagnoses *made[2];

	for (int side = 0; side < 2; side++) {
		made[side] = lode_diagnose(profiles[side], NULL,
			lode_profile_find_event(profiles[side], comparison->weight), own);
		lode_diagnoses_join(made[side]);
	}
	const LodeDiagnoses *const both[] = {made[0], made[1]};
	g_autoptr(LodeComparedDiagnoses) pairs = lode_compared_diagnoses_new(both, comparison);
	for (guint i = 0; pairs->unit == NULL && i < pairs->rows->len; i++) {
		const LodeComparedDiagnosis *row = lode_compared_diagnosis(pairs, i);
		const LodeDiagnosis *of = row->sides[0] != NULL ? row->sides[0] : row->sides[1];
		for (int side = 0; side < 2; side++)
			add(self, LODE_SERIES_DIAGNOSIS,
				of->site.function != NULL
					? g_strdup_printf("%s, in %s", of->title, of->site.function)
					: g_strdup(of->title),
				side, row->sides[side] != NULL ? row->seconds[side].value : 0);
	}
	lode_diagnoses_free(made[0]);
	lode_diagnoses_free(made[1]);
}

static void add_waits(Adding *self, const LodeProfile *profile, int side, const char *const *own)
{
	if (profile->waits == NULL)
		return;
	g_autoptr(LodeOwnLines) lines = lode_own_lines_new(profile, own);
	g_autoptr(GArray) groups = lode_wait_groups_new(profile, lines);
	for (guint i = 0; i < groups->len; i++) {
		const LodeWaitGroup *group = lode_wait_group_at(groups, i);
		const char *function = group->place.function;
		bool is_of_object = group->object != NULL && lode_wait_is_of_object(group->reason);
		if (!group->is_idle && group->reason != LODE_WAIT_UNSEEN)
			add(self, LODE_SERIES_WAIT,
				g_strdup_printf("%s%s%s%s%s",
					lode_wait_reason_to_text(group->reason),
					is_of_object ? " " : "", is_of_object ? group->object : "",
					function != NULL ? ", in " : "",
					function != NULL ? function : ""),
				side, group->waiting_ns / 1e9);
	}
}

bool lode_run_series_add(LodeRunSeries *self, const LodeProfile *const profiles[2],
	const char *const *own, const LodeProgress *progress, GError **error)
{
	const LodeComparisonOptions options = {
		.own = own, .wants = {[LODE_COMPARED_FUNCTION] = true}};
	g_autoptr(LodeComparison)
		comparison = lode_comparison_new(profiles, &options, progress, error);
	g_autoptr(GHashTable)
		numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	Adding adding = {self, numbers};

	if (comparison == NULL)
		return false;
	for (guint i = 0; i < self->rows->len; i++) {
		const LodeSeriesRow *row = lode_series_row(self, i);
		g_hash_table_insert(numbers, key_of(row->kind, row->name), GUINT_TO_POINTER(i + 1));
	}
	add_whole(&adding, comparison);
	add_functions(&adding, comparison);
	add_diagnoses(&adding, profiles, comparison, own);
	for (int side = 0; side < 2; side++)
		add_waits(&adding, profiles[side], side, own);
	self->n_pairs++;
	return true;
}

/* --- what changed --- */

LODE_ORDER(compare_rows, LodeSeriesRow, LODE_ASCENDING(kind),
	(fabs(left->change.middle) < fabs(right->change.middle)) -
		(fabs(left->change.middle) > fabs(right->change.middle)),
	strcmp(left->name, right->name))

static double median_of(const GArray *seconds)
{
	g_autoptr(GArray) sorted = g_array_copy((GArray *)seconds);

	return lode_median((double *)(void *)sorted->data, sorted->len);
}

static double seconds_at(const LodeSeriesRow *self, int side, guint pair)
{
	return g_array_index(self->seconds[side], double, pair);
}

void lode_run_series_finish(LodeRunSeries *self)
{
	double differences[LODE_PAIRED_MAX];

	if (self->n_pairs == 0)
		return;
	for (guint i = 0; i < self->rows->len; i++)
		for (int side = 0; side < 2; side++)
			g_array_set_size(g_array_index(self->rows, LodeSeriesRow, i).seconds[side],
				self->n_pairs);
	for (guint i = 0; i < self->rows->len; i++) {
		LodeSeriesRow *row = &g_array_index(self->rows, LodeSeriesRow, i);
		bool is_whole = row->kind <= LODE_SERIES_CLOCK,
		     is_wait = row->kind == LODE_SERIES_WAIT;
		/* The rows of the whole are the first two. */
		const LodeSeriesRow *by = lode_series_row(
			self, row->kind == LODE_SERIES_CLOCK || is_wait ? 1 : 0);
		for (guint pair = 0; pair < self->n_pairs; pair++) {
			double whole = seconds_at(by, 0, pair);
			differences[pair] = whole > 0 ? (seconds_at(row, 1, pair) -
								seconds_at(row, 0, pair)) /
			                                        whole
			                              : 0;
		}
		row->change = lode_paired_change(
			differences, self->n_pairs, is_whole ? CONFIDENCE : 1);
		for (int side = 0; side < 2; side++)
			row->medians[side] = median_of(row->seconds[side]);
	}
	g_array_sort(self->rows, compare_rows);
}
