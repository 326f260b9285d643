/* SPDX-License-Identifier: MIT */
#include "analyses/signatures/capacity.h"

#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "model/index.h"
#include "model/run/program_run.h"

#include <math.h>

LODE_ORDER(compare_rows, LodeCapacityRow,
	lode_number_order(left->signature == LODE_NONE, right->signature == LODE_NONE),
	LODE_DESCENDING(share), LODE_ASCENDING(signature))

/* Whether every signature with a share says how long its executions take, as this profile counts
 * them. */
static bool has_times(
	const LodeProfile *profile, const GPtrArray *signatures, const LodeClassification *found)
{
	const LodeProgramRun *run = lode_program_run_of(profile);

	for (guint i = 0; i < found->matches->len; i++) {
		const LodeSignatureMatch *match = &LODE_AT(found->matches, LodeSignatureMatch, i);
		const LodeSignature *signature = g_ptr_array_index(signatures, match->signature);
		if (match->share > 0 && (!signature->seconds_per_execution.is_known ||
						signature->frequency != run->frequency))
			return false;
	}
	return true;
}

/* Rates, where the signature knows what a unit of work costs. The errors of share and cost are
 * taken as independent. */
static void set_rates(LodeCapacityRow *row, const LodeSignature *signature,
	const LodeCapacityOptions *options, double idle)
{
	const LodeSignatureFigure *cost = &signature->seconds_per_unit;
	double processors = options->processors;

	if (!cost->is_known)
		return;
	double of_cost = signature->n_profiles > 1 ? cost->deviation / cost->mean : NAN;
	double of_share = row->share > 0 ? row->share_error / row->share : 0;
	row->rate = row->share * processors / cost->mean;
	row->rate_error = row->rate * sqrt(of_cost * of_cost + of_share * of_share);
	row->most = row->rate + idle * processors / cost->mean;
	row->most_error = hypot(row->rate_error, idle * processors / cost->mean * of_cost);
}

bool lode_capacity_find(const LodeProfile *profile, const GPtrArray *signatures,
	const LodeClassification *found, const LodeCapacityOptions *options, LodeCapacity *out,
	GError **error)
{
	const LodeProgramRun *run = lode_program_run_of(profile);
	double seconds = run->user_seconds + run->system_seconds, sum = 0, known = 0;

	if (!(seconds > 0) || !isfinite(seconds)) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--capacity: the profile does not say how much processor time its program "
			"took; lode run without --exact measures it");
		return false;
	}
	*out = (LodeCapacity){.rows = g_array_new(FALSE, FALSE, sizeof(LodeCapacityRow))};
	out->used = seconds / (options->elapsed_seconds * options->processors);
	out->growth = 1 / out->used;
	out->is_by_executions = !found->is_time && !has_times(profile, signatures, found);
	for (guint i = 0; i < found->matches->len; i++) {
		const LodeSignatureMatch *match = &LODE_AT(found->matches, LodeSignatureMatch, i);
		const LodeSignature *signature = g_ptr_array_index(signatures, match->signature);
		double time = out->is_by_executions || found->is_time
		                      ? 1
		                      : signature->seconds_per_execution.mean;
		if (!(match->share > 0))
			continue;
		LodeCapacityRow row = {.signature = match->signature,
			.share = match->share * time,
			/* The standard error, from half of the 95 % interval. */
			.share_error = match->share_error / 1.96 * time};
		g_array_append_val(out->rows, row);
		sum += row.share;
		known += match->share;
	}
	/* The unknown part takes the mean time of the others. */
	LodeCapacityRow rest = {.signature = LODE_NONE, .share = MAX(1 - known, 0)};
	rest.share *= known > 0 ? sum / known : 1;
	sum += rest.share;
	g_array_append_val(out->rows, rest);
	for (guint i = 0; i < out->rows->len; i++) {
		LodeCapacityRow *row = &LODE_AT(out->rows, LodeCapacityRow, i);
		row->share *= out->used / sum;
		row->share_error *= out->used / sum;
		if (row->signature != LODE_NONE)
			set_rates(row, g_ptr_array_index(signatures, row->signature), options,
				MAX(1 - out->used, 0));
	}
	g_array_sort(out->rows, compare_rows);
	return true;
}

void lode_capacity_clear(LodeCapacity *self)
{
	g_clear_pointer(&self->rows, g_array_unref);
}
