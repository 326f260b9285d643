/* SPDX-License-Identifier: MIT */
#include "analyses/merge/origin_choice.h"

#include "analyses/merge/origin_rows.h"
#include "base/error.h"
#include "model/observed/loops.h"
#include "model/observed/windows.h"
#include "model/profile.h"
#include "model/run/origins.h"
#include "model/stacks.h"

/* A name goes before a number. */
static bool is_named(const LodeProfile *profile, const char *word)
{
	for (uint32_t i = 0; i < profile->origins->len; i++)
		if (g_strcmp0(LODE_AT(profile->origins, LodeOrigin, i).name, word) == 0)
			return true;
	return false;
}

static bool is_meant(const LodeOrigin *origin, uint32_t index, uint64_t number, const char *word)
{
	if (number > 0)
		return number == (uint64_t)index + 1;
	return (origin->name != NULL && g_pattern_match_simple(word, origin->name)) ||
	       (origin->host != NULL && g_pattern_match_simple(word, origin->host));
}

static bool choose(
	const LodeProfile *profile, const char *origins, bool *out_is_chosen, GError **error)
{
	g_auto(GStrv) words = g_strsplit(origins, ",", -1);

	for (char **word = words; *word != NULL; word++) {
		guint64 number = 0;
		bool is_any = false;
		if (is_named(profile, *word) ||
			!g_ascii_string_to_unsigned(*word, 10, 1, UINT32_MAX, &number, NULL))
			number = 0;
		for (uint32_t i = 0; i < profile->origins->len; i++)
			if (is_meant(&LODE_AT(profile->origins, LodeOrigin, i), i, number, *word))
				is_any = out_is_chosen[i] = true;
		if (is_any)
			continue;
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"--origin: no origin has the name, host or number '%s'; 'lode info' lists "
			"them",
			*word);
		return false;
	}
	return true;
}

static void take_counts(LodeProfile *profile, const bool *is_chosen)
{
	const GArray *rows = profile->origin_parts->counts;

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		lode_profile_instruction(profile, i)->count = 0;
		lode_profile_instruction(profile, i)->next_count = -1;
	}
	for (guint i = 0; i < rows->len; i++) {
		const LodeOriginCount *row = &LODE_AT(rows, LodeOriginCount, i);
		LodeInstruction *one = lode_profile_instruction(profile, row->instruction);
		if (!is_chosen[row->origin])
			continue;
		one->count += row->count;
		if (row->next_count >= 0)
			one->next_count = MAX(one->next_count, 0) + row->next_count;
	}
}

/* Calls are not known by origin: by the share of the entry's executions. */
static double *share_calls(const LodeProfile *profile)
{
	double *entries = g_new0(double, profile->code.functions->len + 1);

	for (uint32_t i = 0; i < profile->code.functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		if (function->n_instructions > 0)
			entries[i] = lode_profile_instruction(profile, function->first_instruction)
			                     ->count;
	}
	return entries;
}

static void take_calls(LodeProfile *profile, const double *entries)
{
	for (uint32_t i = 0; i < profile->code.functions->len; i++) {
		LodeFunction *function = lode_profile_function(profile, i);
		if (function->n_instructions == 0)
			continue;
		double count =
			lode_profile_instruction(profile, function->first_instruction)->count;
		function->calls = entries[i] > 0 ? function->calls * count / entries[i] : 0;
	}
	for (uint32_t i = 0; i < profile->code.blocks->len; i++)
		LODE_AT(profile->code.blocks, LodeBlock, i).count = 0;
	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		const LodeInstruction *one = lode_profile_instruction(profile, i);
		LodeBlock *block = one->block != LODE_NONE
		                           ? &LODE_AT(profile->code.blocks, LodeBlock, one->block)
		                           : NULL;
		if (block != NULL && block->address == one->address)
			block->count = one->count;
	}
}

/* Edges that none of them took are not edges. */
static void take_edges(LodeProfile *profile, const bool *is_chosen)
{
	const GArray *rows = profile->origin_parts->edges;
	guint n = 0;

	for (guint i = 0; i < profile->code.edges->len; i++)
		LODE_AT(profile->code.edges, LodeEdge, i).count = -1;
	for (guint i = 0; i < rows->len; i++) {
		const LodeOriginEdge *row = &LODE_AT(rows, LodeOriginEdge, i);
		double *count = &LODE_AT(profile->code.edges, LodeEdge, row->edge).count;
		if (is_chosen[row->origin])
			*count = MAX(*count, 0) + row->count;
	}
	for (guint i = 0; i < profile->code.edges->len; i++)
		if (LODE_AT(profile->code.edges, LodeEdge, i).count >= 0)
			LODE_AT(profile->code.edges, LodeEdge, n++) = LODE_AT(
				profile->code.edges, LodeEdge, i);
	g_array_set_size(profile->code.edges, n);
}

static void take_totals(LodeProfile *profile, const bool *is_chosen)
{
	const GArray *rows = profile->origin_parts->totals;
	g_autoptr(GString) programs = g_string_new(NULL);

	for (uint32_t i = 0; i < profile->code.events->len; i++)
		lode_profile_event(profile, i)->total = 0;
	for (guint i = 0; i < rows->len; i++) {
		const LodeOriginTotal *row = &LODE_AT(rows, LodeOriginTotal, i);
		if (is_chosen[row->origin])
			lode_profile_event(profile, row->event)->total += row->value;
	}
	profile->run.n_samples = profile->run.n_equal_samples = profile->run.total_count = 0;
	for (uint32_t i = 0; i < profile->origins->len; i++) {
		const LodeOrigin *origin = &LODE_AT(profile->origins, LodeOrigin, i);
		if (!is_chosen[i])
			continue;
		profile->run.n_samples += origin->n_samples;
		profile->run.total_count += origin->total_count;
		if (origin->program != NULL)
			g_string_append_printf(
				programs, "%s%s", programs->len > 0 ? "; " : "", origin->program);
	}
	if (programs->len > 0)
		profile->run.program = lode_profile_intern(profile, programs->str);
	/* These are known only as sums. */
	profile->run.user_seconds = profile->run.system_seconds = profile->run.wall_seconds = 0;
	profile->run.inflow_checked = profile->run.inflow_equal = 0;
}

bool lode_origin_choice_apply(LodeProfile *profile, const char *origins, GError **error)
{
	g_autofree bool *is_chosen = g_new0(bool, profile->origins->len + 1);
	bool is_whole = true;

	if (profile->origin_parts == NULL) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
			"--origin: the profile is of one run; 'lode merge' makes one of several");
		return false;
	}
	if (!choose(profile, origins, is_chosen, error))
		return false;
	for (uint32_t i = 0; i < profile->origins->len; i++)
		is_whole &= is_chosen[i];
	if (is_whole)
		return true;
	g_autofree double *entries = share_calls(profile);
	take_counts(profile, is_chosen);
	take_calls(profile, entries);
	take_edges(profile, is_chosen);
	lode_origin_rows_add_up_costs(profile, is_chosen);
	take_totals(profile, is_chosen);
	g_array_set_size(profile->unresolved, 0);
	lode_origin_rows_add_missing(profile);
	/* Stacks have no origin, nor has what windows observed. */
	g_clear_pointer(&profile->stacks, lode_stacks_free);
	g_clear_pointer(&profile->windows, lode_windows_free);
	lode_loops_recount(profile);
	/* Its edges have other numbers now. */
	g_clear_pointer(&profile->origin_parts, lode_origin_parts_free);
	return true;
}
