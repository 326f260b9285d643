/* SPDX-License-Identifier: MIT */
#include "analyses/signatures/unknown_places.h"

#include "analyses/signatures/signature_distance.h"
#include "base/arrays/sort_order.h"
#include "model/profile.h"

/* bench/results/classify.md says what each was chosen on. */
static const double new_file_limit = 0.2;   /* for a file that no signature has: a new build */
static const double unknown_part = 1.0 / 3; /* of a function, in no signature: then it is a place */
static const double least_place = 0.001;    /* of the executions, for a function to be listed */
static const double least_new_samples = 2;  /* in a new file: so many are reported */
static const double least_samples = 5;      /* that two standard errors do not take to 0 */

LODE_ORDER(compare_places, LodeUnknownPlace, LODE_DESCENDING(is_new_file),
	LODE_DESCENDING(executions), LODE_ASCENDING(function))

/* The vertices of a function: executions of the paths over each, and what of these is unknown. */
typedef struct {
	const double *all, *rest;
	uint32_t first, end;
} Span;

/* Finds the block of a function with most unexplained executions. */
static void find_block(const LodeClassifying *self, Span span, LodeUnknownPlace *place)
{
	const LodeFlowGraph *graph = self->executed->graph;
	uint32_t block = LODE_NONE;
	double sum = 0;

	for (uint32_t v = span.first; v < span.end; v++) {
		const LodeInstruction *one = lode_profile_instruction(
			self->profile, graph->vertex_instructions[v]);
		if (one->block == LODE_NONE)
			return;
		if (one->block != block)
			sum = 0;
		block = one->block;
		if (span.all[v] > 0)
			sum += graph->count[v] * span.rest[v] / span.all[v] / self->executed->total;
		if (sum > place->block_rest) {
			place->block_rest = sum;
			place->address = lode_profile_block(self->profile, block)->address;
			place->end = lode_profile_block(self->profile, block)->end;
		}
	}
}

/* The unknown part of each function, before it is decided which are places. */
static GArray *find_candidates(const LodeClassifying *self, const double *all, const double *rest)
{
	const LodeFlowGraph *graph = self->executed->graph;
	GArray *candidates = g_array_new(FALSE, FALSE, sizeof(LodeUnknownPlace));
	g_autofree double *samples = g_new0(double, self->profile->functions->len + 1);

	for (uint32_t i = 0; i < self->profile->instructions->len && self->weights != NULL; i++)
		samples[lode_profile_instruction(self->profile, i)->function] +=
			self->weights[i] * self->profile->n_samples;
	for (uint32_t g = 0; g < graph->n_graphs; g++) {
		LodeUnknownPlace place = {.function = graph->graph_functions[g], .graph = g};
		for (uint32_t v = graph->graph_starts[g]; v < graph->graph_starts[g + 1]; v++) {
			double part = graph->count[v] / self->executed->total;
			if (self->executed->symbols[0][v] == 0 || !(part > 0))
				continue;
			place.executions += part;
			if (all[v] > 0)
				place.rest += part * rest[v] / all[v];
		}
		place.samples = self->weights != NULL ? samples[place.function] : -1;
		place.is_new_file =
			self->is_new_image[lode_profile_function(self->profile, place.function)
						   ->image];
		if (place.executions > 0)
			g_array_append_val(candidates, place);
	}
	return candidates;
}

/* Whether no mixture of signatures is near to what is executed in a file. */
static bool is_far(const LodeClassifying *self, uint32_t image)
{
	g_autofree bool *may_have = lode_classifying_all(self);
	g_auto(LodeSequenceFit) fit = {0};

	lode_sequence_fit_init(&fit, self, LODE_SEQUENCES_OPCODES, image);
	lode_sequence_fit_shares(&fit, least_share, may_have);
	return lode_mixture_distance(self, fit.shares, image).distance > new_file_limit;
}

/* The known part of a new file's code as a whole: other programs' code may be made of the same
 * sequences, and a new version of a program mostly is. */
static void test_new_files(const LodeClassifying *self, GArray *candidates)
{
	size_t n = self->profile->images->len;
	g_autofree double *executions = g_new0(double, n + 1);
	g_autofree double *rest = g_new0(double, n + 1);
	g_autofree bool *is_unknown = g_new0(bool, n + 1);

	for (guint i = 0; i < candidates->len; i++) {
		const LodeUnknownPlace *one = &LODE_AT(candidates, LodeUnknownPlace, i);
		uint32_t image = lode_profile_function(self->profile, one->function)->image;
		executions[image] += one->executions;
		rest[image] += one->rest;
	}
	for (guint i = 0; i < n; i++)
		is_unknown[i] = self->is_new_image[i] &&
		                (rest[i] >= unknown_part * executions[i] ||
					(executions[i] >= least_rest && is_far(self, i)));
	for (guint i = 0; i < candidates->len; i++) {
		LodeUnknownPlace *one = &LODE_AT(candidates, LodeUnknownPlace, i);
		one->is_new_file =
			is_unknown[lode_profile_function(self->profile, one->function)->image];
	}
}

/* A good part of it is in no signature, and it is more than chance where samples say what was
 * executed. */
static bool is_place(const LodeUnknownPlace *one)
{
	if (one->is_new_file)
		return true;
	return one->executions >= least_place && one->rest >= unknown_part * one->executions &&
	       (one->samples < 0 || one->samples >= least_samples);
}

void lode_unknown_places_find(LodeClassifying *self, const LodeSequenceFit *fit)
{
	const LodeFlowGraph *graph = self->executed->graph;
	g_autofree double *all = g_new0(double, graph->n_vertices + 1);
	g_autofree double *rest = g_new0(double, graph->n_vertices + 1);
	LodeClassification *result = self->result;
	double in_new_files = 0, samples_in_new_files = 0;

	lode_sequence_fit_cover(fit, self, self->signatures->len, all, rest);
	g_autoptr(GArray) candidates = find_candidates(self, all, rest);
	test_new_files(self, candidates);
	for (guint i = 0; i < candidates->len; i++) {
		LodeUnknownPlace place = LODE_AT(candidates, LodeUnknownPlace, i);
		uint32_t first = graph->graph_starts[place.graph];
		uint32_t end = graph->graph_starts[place.graph + 1];
		if (!is_place(&place))
			continue;
		result->rest_placed += place.executions;
		if (place.is_new_file) {
			in_new_files += place.executions;
			samples_in_new_files += place.samples;
		}
		find_block(self, (Span){all, rest, first, end}, &place);
		g_array_append_val(result->places, place);
		for (uint32_t v = first; v < end; v++)
			for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
				self->executed->symbols[kind][v] = 0;
	}
	g_array_sort(result->places, compare_places);
	result->rest_placed = MIN(result->rest_placed, 1);
	bool is_counted = self->profile->frequency != LODE_FREQUENCY_INFERRED;
	result->has_rest = result->rest_placed >= least_rest ||
	                   (is_counted ? in_new_files >= least_place
				       : samples_in_new_files >= least_new_samples);
}
