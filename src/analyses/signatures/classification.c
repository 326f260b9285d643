/* SPDX-License-Identifier: MIT */
#include "analyses/signatures/classification.h"

#include "analyses/signatures/classifying.h"
#include "analyses/signatures/signature_model.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "model/profile.h"

#include <math.h>

/* --- unknown places --- */

/*
 * The functions that no signature explains (docs/use/classify.md §5).
 *
 */

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
	g_autofree double *samples = g_new0(double, self->profile->code.functions->len + 1);

	for (uint32_t i = 0; i < self->profile->code.instructions->len && self->weights != NULL;
		i++)
		samples[lode_profile_instruction(self->profile, i)->function] +=
			self->weights[i] * self->profile->run.n_samples;
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
	size_t n = self->profile->code.images->len;
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

/* Finds the places of a fit of all executions, and takes them out of what is executed: even unknown
 * code moves and adds like any other. */
static void unknown_places_find(LodeClassifying *self, const LodeSequenceFit *fit)
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
	bool is_counted = self->profile->run.frequency != LODE_FREQUENCY_INFERRED;
	result->has_rest = result->rest_placed >= least_rest ||
	                   (is_counted ? in_new_files >= least_place
				       : samples_in_new_files >= least_new_samples);
}

/* --- classification --- */

/* --- mixture shares --- */

/*
 * The shares of the signatures beside the places, and their errors (docs/use/classify.md §4).
 *
 */

/* bench/results/classify.md says what each was chosen on. */
static const double least_present = 0.25; /* of a share: what its own files must have of it */
static const double is_alike = 0.25;      /* of two shares: an error that leaves them one */
static const double half_width = 1.96;    /* of the 95 % interval, in standard errors */

/* The executions in files that no signature has, and that are no places. */
static double in_new_builds(const LodeClassifying *self)
{
	const LodeFlowGraph *graph = self->executed->graph;
	double sum = 0;

	for (uint32_t v = 0; v < graph->n_vertices; v++)
		if (self->is_new_image[self->vertex_images[v]] && self->executed->symbols[0][v])
			sum += graph->count[v] / self->executed->total;
	return sum;
}

/*
 * A signature takes part with files of its own: in those the profile has a quarter of what the
 * share would have there, or more. Otherwise an unknown program's executions in the C library would
 * be a share of some signature.
 */
static bool is_present(const LodeClassifying *self, const double *in_images, guint j, double share)
{
	double found = in_new_builds(self);

	if (lode_classifying_signature(self, j)->files->len == 0)
		return true;
	for (guint i = 0; i < self->profile->code.images->len; i++)
		if (!self->is_new_image[i] && !self->is_common[i])
			found += MIN(in_images[i], share * lode_classifying_file_share(self, j, i));
	return found >= least_present * share * self->own[j];
}

static double *shares_by_image(const LodeClassifying *self)
{
	const LodeFlowGraph *graph = self->executed->graph;
	double *shares = g_new0(double, self->profile->code.images->len + 1);

	for (uint32_t v = 0; v < graph->n_vertices; v++)
		if (self->executed->symbols[0][v] != 0 && self->executed->scales[v] > 0)
			shares[self->vertex_images[v]] += graph->count[v] / self->executed->total;
	return shares;
}

/* Fits the shares of the executions outside the places, as parts of the whole. */
static void fit_remainder(
	const LodeClassifying *self, unsigned kind, LodeSequenceFit *fit, bool *may_have)
{
	double known = MAX(1 - self->result->rest_placed, 0);
	g_autofree double *in_images = shares_by_image(self);

	lode_sequence_fit_init(fit, self, kind, LODE_NONE);
	for (guint j = 0; j < self->signatures->len; j++) {
		lode_sequence_fit_shares(fit, least_share / MAX(known, least_share), may_have);
		bool is_changed = false;
		for (guint k = 0; k < self->signatures->len; k++)
			if (fit->shares[k] > 0 &&
				!is_present(self, in_images, k, fit->shares[k] * known)) {
				may_have[k] = false;
				is_changed = true;
			}
		if (!is_changed)
			break;
	}
}

/*
 * The shares in the weight of the samples where executions are inferred from them, which is what
 * was measured; else in executions. Each instruction's weight is divided as the paths over it are,
 * and what is scattered likewise, so that the last of `shares` is what is unknown; they sum to 1.
 */
typedef struct {
	double *shares;    /* [signatures + 1] */
	double *in_common; /* [signatures]: of it, beside unknown work, in files that all have */
} Measured;

static void measured_clear(Measured *self)
{
	g_free(self->shares);
	g_free(self->in_common);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Measured, measured_clear)

static double weight_of(const LodeClassifying *self, uint32_t vertex)
{
	const LodeFlowGraph *graph = self->executed->graph;

	return self->weights != NULL ? self->weights[graph->vertex_instructions[vertex]]
	                             : graph->count[vertex] / self->executed->total;
}

static bool has_unknown_work(const LodeClassifying *self)
{
	return self->result->rest_placed >= least_rest;
}

/* Whether a file is known, but not of any signature that has a share. */
static bool is_lacked(const LodeClassifying *self, const LodeSequenceFit *fit, guint image)
{
	guint n = self->signatures->len;

	for (guint j = 0; j < n; j++)
		if (fit->shares[j] > 0 && self->file_shares[(size_t)image * n + j] >= 0)
			return false;
	return true;
}

/* The weight of the places and, beside these, of the files that no signature with a share has. */
static double weight_of_unknown(const LodeClassifying *self, const LodeSequenceFit *fit)
{
	double places = self->result->rest_placed, lacked = 0, samples = 0;

	for (guint i = 0; i < self->result->places->len; i++)
		samples += LODE_AT(self->result->places, LodeUnknownPlace, i).samples;
	if (self->weights != NULL)
		places = samples / (self->profile->run.n_samples * self->result->covered);
	for (uint32_t v = 0; v < self->executed->graph->n_vertices && has_unknown_work(self); v++)
		if (self->executed->symbols[0][v] != 0 &&
			is_lacked(self, fit, self->vertex_images[v]))
			lacked += weight_of(self, v);
	return MIN(places + lacked / (self->weights != NULL ? self->result->covered : 1), 1);
}

/*
 * The weight of one signature. Beside unknown work, a signature has so many executions in files
 * that all have, such as the C library, as those in its own files take by its profiles; what is
 * above is of the unknown programs.
 */
static void measure_signature(
	const LodeClassifying *self, const LodeSequenceFit *fit, guint j, Measured *out)
{
	const LodeFlowGraph *graph = self->executed->graph;
	guint n = self->signatures->len, n_images = self->profile->code.images->len;
	g_autofree double *all = g_new0(double, graph->n_vertices + 1);
	g_autofree double *part = g_new0(double, graph->n_vertices + 1);
	g_autofree double *rest_all = g_new0(double, graph->n_vertices + 1);
	g_autofree double *rest = g_new0(double, graph->n_vertices + 1);
	g_autofree double *weights = g_new0(double, 3 * n_images + 1);
	double *held = weights + n_images, *loose = held + n_images;
	double executions[2] = {0, 0}, parts[2] = {0, 0}; /* in own files, in common ones */

	if (has_unknown_work(self))
		lode_sequence_fit_cover(fit, self, n, rest_all, rest);
	lode_sequence_fit_cover(fit, self, j, all, part);
	for (uint32_t v = 0; v < graph->n_vertices; v++) {
		uint32_t image = self->vertex_images[v];
		double count = graph->count[v] / self->executed->total;
		double weight = weight_of(self, v);
		if (self->executed->symbols[0][v] == 0 ||
			(has_unknown_work(self) && is_lacked(self, fit, image)))
			continue;
		/* In common files, what is scattered is divided before the excess is taken away. */
		double known = self->is_common[image] ? all[v] - rest[v] : all[v];
		double divided = known > 0 ? MIN(part[v] / known, 1) : 0;
		*(known > 0 ? &held[image] : &loose[image]) += weight;
		weights[image] += weight * divided;
		executions[self->is_common[image]] += count * divided;
	}
	/* Functions of less than four instructions are divided as the file is. */
	for (guint i = 0; i < n_images; i++)
		if (held[i] > 0)
			parts[self->is_common[i]] += weights[i] * (1 + loose[i] / held[i]);
	out->shares[j] = parts[0] + parts[1];
	if (!has_unknown_work(self) || !(executions[1] > 0))
		return;
	double usual = executions[0] * (1 - self->own[j]) / self->own[j];
	out->in_common[j] = parts[1] * MIN(usual / executions[1], 1);
	out->shares[n] += parts[1] - out->in_common[j];
	out->shares[j] = parts[0] + out->in_common[j];
}

static void measure_shares(const LodeClassifying *self, const LodeSequenceFit *fit, Measured *out)
{
	guint n = self->signatures->len;
	double whole = 0, unknown = weight_of_unknown(self, fit);

	*out = (Measured){g_new0(double, n + 1), g_new0(double, n + 1)};
	for (guint j = 0; j < n; j++)
		if (fit->shares[j] > 0)
			measure_signature(self, fit, j, out);
	for (guint j = 0; j <= n; j++)
		whole += out->shares[j];
	for (guint j = 0; j <= n && whole > 0; j++) {
		out->shares[j] *= (1 - unknown) / whole;
		out->in_common[j] *= (1 - unknown) / whole;
	}
	out->shares[n] = whole > 0 ? out->shares[n] + unknown : 1;
}

/* By how much a signature's own executions of an item differ between its profiles, as a part of
 * them; what it does not list, by all that it is expected to have. */
static double deviation_at(
	const LodeClassifying *self, const LodeSequenceFit *fit, guint j, guint i)
{
	const LodeSignatureModel *model = &self->models[j];
	uint64_t key = LODE_AT(fit->items, LodeSequenceValue, i).key;
	double support = lode_sequence_table_get(&model->supports[LODE_SEQUENCES_OPCODES], key, 0);
	double deviation = lode_sequence_table_get(
		&model->deviations[LODE_SEQUENCES_OPCODES], key, 0);

	if (!(support > 0))
		return 1;
	return model->signature->n_profiles > 1
	               ? deviation / support * sqrt(1 + 1.0 / model->signature->n_profiles)
	               : 1;
}

static double n_samples(const LodeClassifying *self)
{
	return MAX(self->weights != NULL ? self->profile->run.n_samples : self->executed->total, 1);
}

static double rest_error(const LodeClassifying *self, const Measured *measured)
{
	double rest = measured->shares[self->signatures->len], in_common = 0;
	double sampling = half_width * sqrt(rest * (1 - MIN(rest, 1)) / n_samples(self));

	for (guint j = 0; j < self->signatures->len; j++)
		in_common += measured->in_common[j];
	return MIN(hypot(sampling, in_common), 1);
}

/*
 * Student's quantile for 95 % with the degrees of freedom of all signatures' deviations together,
 * by Cornish and Fisher's expansion (M. Abramowitz, I. A. Stegun, "Handbook of Mathematical
 * Functions", 26.7.5); 1 where no signature is of two profiles, and deviations are the supports.
 */
static double runs_quantile(const LodeClassifying *self)
{
	double degrees = 0, z = half_width, z3 = z * z * z;

	for (guint j = 0; j < self->signatures->len; j++)
		degrees += lode_classifying_signature(self, j)->n_profiles - 1;
	if (!(degrees > 0))
		return 1;
	return z + (z3 + z) / (4 * degrees) +
	       (5 * z3 * z * z + 16 * z3 + 3 * z) / (96 * degrees * degrees);
}

/* See lode_mixture_influence(). */
typedef struct {
	const LodeSequenceFit *fit;
	const double *by_item, *inverse;
} Influences;

/*
 * Half of the 95 % interval of the shares of some signatures together: of the samples (binomial),
 * and of what the signatures' profiles differ by, all sequences of one as if they differed
 * together, which is the worst that the deviations allow. `measured`: shares as they are reported.
 */
static double error_of(const LodeClassifying *self, const Influences *influences,
	const Measured *measured, const uint32_t *groups, uint32_t group)
{
	const LodeSequenceFit *fit = influences->fit;
	guint n_items = fit->items->len, n = self->signatures->len;
	double share = 0, between = 0, in_common = 0, fitted = 0, squares = 0;
	g_autofree double *sums = g_new0(double, n_items + 1);
	g_autofree double *parts = g_new0(double, n_items + 1);

	for (guint j = 0; j < n; j++) {
		share += groups[j] == group ? measured->shares[j] : 0;
		in_common += groups[j] == group ? measured->in_common[j] : 0;
		for (guint i = 0; i < n_items && groups[j] == group; i++)
			sums[i] += influences->by_item[(size_t)j * n_items + i];
		for (guint k = 0; k < n && groups[j] == group; k++)
			squares += groups[k] == group ? influences->inverse[(size_t)j * (n + 1) + k]
			                              : 0;
	}
	for (guint j = 0; j < n; j++) {
		double mean = 0, whole = 0, sum = 0;
		for (guint i = 0; i < n_items && fit->shares[j] > 0; i++) {
			parts[i] = fit->expected[(size_t)j * n_items + i];
			whole += parts[i];
			mean += parts[i] * sums[i];
		}
		if (!(whole > 0))
			continue;
		for (guint i = 0; i < n_items; i++)
			sum += parts[i] * deviation_at(self, fit, j, i) *
			       fabs(sums[i] - mean / whole);
		between += measured->shares[j] * measured->shares[j] * sum * sum;
		fitted += groups[j] == group ? fit->shares[j] : 0;
	}
	double spread = squares - fitted * fitted;
	if (fitted > 0)
		spread *= share / fitted * share / fitted;
	double sampling = MAX(spread, share * (1 - MIN(share, 1))) / n_samples(self);
	between *= runs_quantile(self) * runs_quantile(self);
	return sqrt(half_width * half_width * sampling + between + in_common * in_common);
}

/* Puts signatures together whose shares have errors of a quarter of their sum and more, and that
 * are known better together. */
static void find_groups(const LodeClassifying *self, const LodeSequenceFit *fit,
	const Measured *measured, const bool *may_have, LodeSignatureMatch *matches)
{
	guint n = self->signatures->len;
	g_autofree bool *is_fitted = g_new0(bool, n + 1);
	g_autofree uint32_t *groups = g_new(uint32_t, n + 1);
	g_autofree double *errors = g_new0(double, n + 1);
	g_autofree double *influence = g_new0(double, (size_t)(n + 1) * fit->items->len + 1);

	for (guint j = 0; j < n; j++) {
		groups[j] = j;
		is_fitted[j] = fit->shares[j] > 0;
		for (guint k = 0; k < n && may_have[j] && !is_fitted[j]; k++)
			is_fitted[j] = fit->shares[k] > 0 && lode_signatures_are_alike(self, j, k);
	}
	g_autofree double *inverse = g_new0(double, (size_t)(n + 1) * (n + 1));
	const Influences influences = {fit, influence, inverse};
	lode_mixture_influence(&fit->mixture, is_fitted, fit->shares, influence, inverse);
	for (guint j = 0; j < n; j++)
		if (is_fitted[j])
			errors[j] = error_of(self, &influences, measured, groups, j);
	for (guint a = 0; a < n; a++)
		for (guint b = a + 1; b < n && groups[a] == a && is_fitted[a]; b++) {
			double least = is_alike * (measured->shares[a] + measured->shares[b]);
			if (!is_fitted[b] || groups[b] != b || errors[a] < least ||
				errors[b] < least || !(least > 0))
				continue;
			groups[b] = a;
			double together = error_of(self, &influences, measured, groups, a);
			if (together > MIN(errors[a], errors[b]) / 2)
				groups[b] = b;
		}
	for (guint j = 0; j < n; j++) {
		LodeSignatureMatch *match = &matches[j];
		match->share = measured->shares[j];
		match->share_error = MIN(errors[j], 1);
		match->group = groups[j];
		match->group_share = match->group_error = 0;
		for (guint k = 0; k < n; k++)
			match->group_share += groups[k] == groups[j] ? measured->shares[k] : 0;
		if (is_fitted[j])
			match->group_error = MIN(
				error_of(self, &influences, measured, groups, groups[j]), 1);
	}
}

/* The smallest share that is within its error, so that there may be none; n: all are larger. */
static guint least_significant(const LodeSignatureMatch *matches, guint n)
{
	guint least = n;

	for (guint j = 0; j < n; j++)
		if (matches[j].share > 0 && matches[j].group_share < matches[j].group_error &&
			(least == n || matches[j].share < matches[least].share))
			least = j;
	return least;
}

/* Sets the shares of all matches [signatures], and those of the rest, the distance and the limit of
 * the result. Signatures whose shares are doubtful are left out one after the other. */
static void mixture_shares_find(LodeClassifying *self, LodeSignatureMatch *matches)
{
	guint n = self->signatures->len, doubtful;
	g_autofree bool *may_have = lode_classifying_all(self);
	g_autofree bool *is_tried = lode_classifying_all(self);
	LodeClassification *result = self->result;

	do {
		g_auto(LodeSequenceFit) fit = {0};
		fit_remainder(self, LODE_SEQUENCES_OPCODES, &fit, may_have);
		g_auto(Measured) measured = {0};
		measure_shares(self, &fit, &measured);
		find_groups(self, &fit, &measured, is_tried, matches);
		result->rest_share = measured.shares[n];
		result->rest_error = rest_error(self, &measured);
		LodeMixtureDistance goodness = lode_mixture_distance(self, fit.shares, LODE_NONE);
		result->distance = goodness.distance;
		result->limit = goodness.limit;
		result->rest = result->rest_placed + fit.shares[n] * (1 - result->rest_placed);
		doubtful = least_significant(matches, n);
		may_have[doubtful] = is_tried[doubtful] = doubtful == n;
	} while (doubtful < n);
	result->is_time = self->weights != NULL;
}

/* --- classification --- */

/* bench/results/classify.md says what each was chosen on. */
static const double is_rest_of_mixture = 0.05; /* unknown work, beside what is known */

LODE_ORDER(compare_matches, LodeSignatureMatch, LODE_ASCENDING(distance), LODE_ASCENDING(signature))

static void clear_match(void *data)
{
	LodeSignatureMatch *match = data;

	for (uint32_t i = 0; i < match->n_for; i++)
		g_free(match->evidence_for[i].text);
	for (uint32_t i = 0; i < match->n_against; i++)
		g_free(match->evidence_against[i].text);
}

static void decide(LodeClassifying *self, const LodeSignatureMatch *matches)
{
	LodeClassification *result = self->result;
	uint32_t n_groups = 0, largest = 0, nearest = 0;

	for (guint j = 0; j < self->signatures->len; j++) {
		n_groups += matches[j].group == j && matches[j].group_share > 0;
		if (matches[j].share > matches[largest].share)
			largest = j;
		if (matches[j].distance < matches[nearest].distance)
			nearest = j;
	}
	result->is_few = self->profile->run.frequency == LODE_FREQUENCY_INFERRED &&
	                 self->profile->run.n_samples > 0 &&
	                 self->profile->run.n_samples < LODE_CLASSIFIED_SAMPLES;
	/* Places that are taken out of known work leave the remainder farther than the whole. */
	uint32_t alone = n_groups == 0 ? nearest : largest;
	if (n_groups == 0 || (n_groups == 1 && result->distance > result->limit)) {
		result->distance = matches[alone].distance;
		result->limit = matches[alone].limit;
	}
	bool is_near = !result->is_few && result->distance <= result->limit;
	bool is_whole = result->rest_share < is_rest_of_mixture;
	result->nearest = is_near && is_whole && n_groups == 1 ? largest : LODE_NONE;
	result->is_mixture = result->nearest == LODE_NONE && is_near && n_groups > 0;
}

static void match_all(LodeClassifying *self, const LodeProgress *progress)
{
	guint n = self->signatures->len;
	g_autofree LodeSignatureMatch *matches = g_new0(LodeSignatureMatch, n);
	g_autofree bool *may_have = lode_classifying_all(self);
	g_auto(LodeSequenceFit) fit = {0};

	lode_signature_limits_find(self);
	lode_sequence_fit_init(&fit, self, LODE_SEQUENCES_OPCODES, LODE_NONE);
	lode_sequence_fit_shares(&fit, least_share, may_have);
	unknown_places_find(self, &fit);
	mixture_shares_find(self, matches);
	for (guint j = 0; j < n && !lode_progress_is_cancelled(progress); j++) {
		matches[j].signature = j;
		matches[j].distance = lode_signature_distance(self, j);
		matches[j].limit = self->limits[j];
		matches[j].explained = lode_sequence_fit_explained(&fit, j);
		lode_signature_evidence_find(self, j, &matches[j]);
		lode_progress_report(progress, "comparing with signatures", j, n, NULL);
	}
	decide(self, matches);
	g_array_append_vals(self->result->matches, matches, n);
	g_array_sort(self->result->matches, compare_matches);
}

/* The part whose code is known, of the time where shares are, else of the executions. */
static double covered_part(const LodeClassifying *self)
{
	double sum = 0;

	for (uint32_t i = 0; i < self->profile->code.instructions->len && self->weights != NULL;
		i++)
		sum += self->weights[i];
	if (self->weights == NULL)
		sum = self->profile->run.total_count > 0
		              ? self->executed->total / self->profile->run.total_count
		              : 1;
	return MIN(sum, 1);
}

static LodeClassification *classification_new(void)
{
	LodeClassification *self = g_new0(LodeClassification, 1);

	self->matches = g_array_new(FALSE, FALSE, sizeof(LodeSignatureMatch));
	g_array_set_clear_func(self->matches, clear_match);
	self->places = g_array_new(FALSE, FALSE, sizeof(LodeUnknownPlace));
	return self;
}

void lode_classification_free(LodeClassification *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->matches);
	g_array_unref(self->places);
	g_free(self);
}

LodeClassification *lode_classify(const LodeProfile *profile, const GPtrArray *signatures,
	const LodeProgress *progress, GError **error)
{
	g_autoptr(LodeClassification) result = classification_new();
	LodeClassifying self = {
		.profile = profile,
		.signatures = signatures,
		.symbols = lode_symbols_new(),
		.models = g_new0(LodeSignatureModel, signatures->len + 1),
		.result = result,
	};
	bool is_prepared = lode_classifying_init(&self, error);

	if (is_prepared) {
		result->executions = self.executed->total;
		result->covered = covered_part(&self);
		match_all(&self, progress);
	}
	for (guint j = 0; j < signatures->len; j++)
		lode_signature_model_clear(&self.models[j]);
	lode_classifying_clear(&self);
	lode_symbols_free(self.symbols);
	g_free(self.models);
	if (!is_prepared)
		return NULL;
	if (lode_progress_is_cancelled(progress)) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
		return NULL;
	}
	return g_steal_pointer(&result);
}

/* The error of k of n samples, √(k·(1 − k/n)); with the share for k/n, and one sample at least. */
double lode_unknown_place_error(const LodeUnknownPlace *self)
{
	return self->samples >= 0 ? self->executions * sqrt((1 - MIN(self->executions, 1)) /
							       MAX(self->samples, 1))
	                          : NAN;
}

const LodeSignatureMatch *lode_classification_match(
	const LodeClassification *self, uint32_t signature)
{
	for (guint i = 0; i < self->matches->len; i++) {
		const LodeSignatureMatch *match = &LODE_AT(self->matches, LodeSignatureMatch, i);
		if (match->signature == signature)
			return match;
	}
	return NULL;
}
