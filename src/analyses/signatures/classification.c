/* SPDX-License-Identifier: MIT */
#include "analyses/signatures/classification.h"

#include "analyses/signatures/executed_sequences.h"
#include "analyses/signatures/mixture.h"
#include "analyses/signatures/signature_model.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* docs/classify.md §6 says how these were chosen. */
static const double unknown_support = 1e-6; /* of any sequence, in code that no signature has */
static const double least_share = 0.02;     /* a mixture has no component with less */
static const double least_left = 0.01;   /* of a signature, for sequences that it does not list */
static const double limit_factor = 2.5;  /* spreads that a distance may have */
static const double least_limit = 0.05;  /* however little the profiles of a signature vary */
static const double most_limit = 0.35;   /* however much: beyond are programs of another kind */
static const double usual_spread = 0.08; /* where no signature is of two profiles */
static const double unknown_part = 1.0 / 3; /* of a function, in no signature: then it is a place */
static const double least_place = 0.001;    /* of the executions, for a function to be listed */
static const double least_rest = 0.02;      /* of the executions, in places that are reported… */
static const double least_new_samples =
	2;                             /* …but of a file that no signature has, so many samples */
static const double least_samples = 5; /* that two standard errors do not take to 0 */

typedef struct {
	const LodeProfile *profile;
	const GPtrArray *signatures;
	LodeSymbols *symbols;
	LodeSignatureModel *models;
	LodeExecutedSequences *executed;
	LodeSequenceTable supports[LODE_N_SEQUENCE_KINDS];
	double totals[LODE_N_SEQUENCE_KINDS][LODE_SIGNATURE_LENGTHS];
	LodeClassification *result;
} Classifying;

static const LodeSignature *signature_at(const Classifying *self, guint index)
{
	return g_ptr_array_index(self->signatures, index);
}

/* --- distances --- */

/* One sequence's part of the divergence in bits; p and q ≥ 0. */
static double divergence(double p, double q)
{
	double middle = (p + q) / 2, sum = 0;

	if (p > 0)
		sum += p * log2(p / middle);
	if (q > 0)
		sum += q * log2(q / middle);
	return MAX(sum / 2, 0);
}

/*
 * Over the sequences that the signature lists, and one for all else (other sequences, and where a
 * function ends before there are so many instructions): to put outcomes together never makes a
 * divergence larger.
 */
static double divergence_of(const Classifying *self, guint j, unsigned kind, unsigned length)
{
	const LodeSignatureModel *model = &self->models[j];
	const GArray *sequences = model->signature->sequences[kind][length];
	double sum = 0, in_profile = 0;

	for (guint i = 0; i < sequences->len; i++) {
		const LodeSignatureSequence *one = &LODE_AT(sequences, LodeSignatureSequence, i);
		uint64_t key = lode_symbols_key(self->symbols, one->text);
		double p = lode_sequence_table_get(&self->supports[kind], key, 0);
		sum += divergence(p, one->support);
		in_profile += p;
	}
	return sum + divergence(MAX(1 - in_profile, 0), MAX(1 - model->listed[kind][length], 0));
}

static double distance_of(const Classifying *self, guint j)
{
	double sum = 0;

	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		for (unsigned length = 0; length < LODE_SIGNATURE_LENGTHS; length++)
			sum += divergence_of(self, j, kind, length);
	return sqrt(sum / (LODE_N_SEQUENCE_KINDS * LODE_SIGNATURE_LENGTHS));
}

/*
 * The distance that a further profile of the same workload has from the mean, squared, as its
 * variances have it: near q, the divergence is (p − q)²/(8·ln 2·q), and E(p − q)² = variance·(1 +
 * 1/n).
 */
static double spread_of(const LodeSignature *signature)
{
	double sum = 0;

	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		for (unsigned length = 0; length < LODE_SIGNATURE_LENGTHS; length++) {
			const GArray *sequences = signature->sequences[kind][length];
			for (guint i = 0; i < sequences->len; i++) {
				const LodeSignatureSequence *one = &LODE_AT(
					sequences, LodeSignatureSequence, i);
				sum += one->deviation * one->deviation / one->support;
			}
		}
	return sum * (1 + 1.0 / signature->n_profiles) /
	       (8 * G_LN2 * LODE_N_SEQUENCE_KINDS * LODE_SIGNATURE_LENGTHS);
}

/*
 * A few profiles estimate their variance poorly: that of all signatures together counts as two
 * more. For a single profile it is the only one.
 */
static void set_limits(const Classifying *self, LodeSignatureMatch *matches)
{
	double sum = 0, degrees = 0;

	for (guint j = 0; j < self->signatures->len; j++) {
		const LodeSignature *signature = signature_at(self, j);
		sum += spread_of(signature) * (signature->n_profiles - 1);
		degrees += signature->n_profiles - 1;
	}
	double common = degrees > 0 ? sum / degrees : usual_spread * usual_spread;
	for (guint j = 0; j < self->signatures->len; j++) {
		const LodeSignature *signature = signature_at(self, j);
		double own = signature->n_profiles - 1;
		double spread = (spread_of(signature) * own + common * 2) / (own + 2);
		matches[j].limit = CLAMP(limit_factor * sqrt(spread), least_limit, most_limit);
	}
}

/* --- evidence --- */

typedef struct {
	uint64_t key;
	unsigned kind;
	double in_profile, in_signature, bits;
} Clue;

LODE_ORDER(compare_clues, Clue, LODE_DESCENDING(bits), LODE_ASCENDING(kind), LODE_ASCENDING(key))

/* Whether one sequence holds the other, so that it says the same. */
static bool repeats(const LodeEvidence *chosen, const char *text)
{
	g_autofree char *left = g_strdup_printf(" %s ", chosen->text);
	g_autofree char *right = g_strdup_printf(" %s ", text);

	return strstr(left, right) != NULL || strstr(right, left) != NULL;
}

static uint32_t choose_evidence(
	const Classifying *self, GArray *clues, LodeEvidence out[LODE_EVIDENCE_MAX])
{
	uint32_t n = 0;

	g_array_sort(clues, compare_clues);
	for (guint i = 0; i < clues->len && n < LODE_EVIDENCE_MAX; i++) {
		const Clue *clue = &LODE_AT(clues, Clue, i);
		char *text = lode_symbols_text(self->symbols, clue->key);
		bool is_new = true;
		for (uint32_t k = 0; k < n && is_new; k++)
			is_new = out[k].kind != (LodeSequenceKind)clue->kind ||
			         !repeats(&out[k], text);
		if (!is_new) {
			g_free(text);
			continue;
		}
		out[n++] = (LodeEvidence){text, (LodeSequenceKind)clue->kind, clue->in_profile,
			clue->in_signature, clue->bits};
	}
	return n;
}

/* The mean support in the other signatures. */
static double elsewhere(const Classifying *self, guint j, unsigned kind, uint64_t key)
{
	double sum = 0;

	for (guint i = 0; i < self->signatures->len; i++)
		if (i != j)
			sum += lode_sequence_table_get(&self->models[i].supports[kind], key, 0);
	return sum / MAX(self->signatures->len - 1, 1);
}

/* For: what both have and the other signatures have less of. Against: what adds to the distance. */
static void find_evidence(const Classifying *self, guint j, LodeSignatureMatch *match)
{
	g_autoptr(GArray) with = g_array_new(FALSE, FALSE, sizeof(Clue));
	g_autoptr(GArray) against = g_array_new(FALSE, FALSE, sizeof(Clue));

	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++) {
		const LodeSequenceTable *supports = &self->models[j].supports[kind];
		double least = self->models[j].signature->min_support;
		for (size_t i = 0; i < supports->n_slots; i++) {
			uint64_t key = supports->slots[i].key;
			if (key == 0)
				continue;
			double q = supports->slots[i].value;
			double p = lode_sequence_table_get(&self->supports[kind], key, 0);
			double other = elsewhere(self, j, kind, key);
			Clue clue = {key, kind, p, q,
				self->signatures->len > 1 ? MIN(p, q) * log2(q / MAX(other, least))
							  : MIN(p, q)};
			if (clue.bits > 0)
				g_array_append_val(with, clue);
			clue.bits = divergence(p, q);
			if (clue.bits > 1e-4)
				g_array_append_val(against, clue);
		}
		for (size_t i = 0; i < self->supports[kind].n_slots; i++) {
			const LodeSequenceValue *one = &self->supports[kind].slots[i];
			Clue clue = {one->key, kind, one->value, 0, one->value / 2};
			if (one->key != 0 && one->value > 1e-3 &&
				lode_sequence_table_get(supports, one->key, -1) < 0)
				g_array_append_val(against, clue);
		}
	}
	match->n_for = choose_evidence(self, with, match->evidence_for);
	match->n_against = choose_evidence(self, against, match->evidence_against);
}

/* --- shares --- */

/* The longest sequences of a kind that the profile has, and what each signature gives to them. */
typedef struct {
	LodeMixture mixture;
	unsigned length;
	double *observed, *expected;
	double *shares; /* [components + 1] */
	LodeSequenceTable indexes;
} Fit;

static void fit_clear(Fit *self)
{
	g_free(self->observed);
	g_free(self->expected);
	g_free(self->shares);
	lode_sequence_table_clear(&self->indexes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Fit, fit_clear)

/* Sequences that a signature does not list share its remainder, whatever the sum of the estimates
 * is.
 */
static void expect(const Classifying *self, unsigned kind, unsigned length, guint j,
	const GArray *sequences, double *out_expected)
{
	const LodeSignatureModel *model = &self->models[j];
	double left = MAX(
		model->signature->totals[kind][length - 1] - model->listed[kind][length - 1],
		least_left);
	double estimates = 0;

	for (guint s = 0; s < sequences->len; s++) {
		uint64_t key = LODE_AT(sequences, LodeSequenceValue, s).key;
		out_expected[s] = lode_signature_model_support(model, (LodeSequenceKind)kind, key);
		if (lode_sequence_table_get(&model->supports[kind], key, -1) < 0)
			estimates += out_expected[s];
	}
	double scale = estimates > left ? left / estimates : 1;
	double whole = model->listed[kind][length - 1] + left;
	for (guint s = 0; s < sequences->len; s++) {
		uint64_t key = LODE_AT(sequences, LodeSequenceValue, s).key;
		if (lode_sequence_table_get(&model->supports[kind], key, -1) < 0)
			out_expected[s] *= scale;
		out_expected[s] /= whole;
	}
}

static void fit_init(Fit *self, const Classifying *classifying, unsigned kind,
	const LodeSequenceTable *supports, const double totals[LODE_SIGNATURE_LENGTHS])
{
	g_autoptr(GArray) all = lode_sequence_table_sorted(supports);
	g_autoptr(GArray) sequences = g_array_new(FALSE, FALSE, sizeof(LodeSequenceValue));
	guint n_signatures = classifying->signatures->len;
	double total = 0;

	*self = (Fit){.length = LODE_SIGNATURE_LENGTHS};
	while (self->length > 1 && !(totals[self->length - 1] > 0.1))
		self->length--;
	for (guint i = 0; i < all->len; i++) {
		LodeSequenceValue *one = &LODE_AT(all, LodeSequenceValue, i);
		if (lode_sequence_length(one->key) != self->length)
			continue;
		total += one->value;
		*lode_sequence_table_at(&self->indexes, one->key) = sequences->len;
		g_array_append_val(sequences, *one);
	}
	self->observed = g_new0(double, sequences->len + 1);
	self->expected = g_new0(double, (size_t)n_signatures * sequences->len + 1);
	self->shares = g_new0(double, n_signatures + 1);
	for (guint s = 0; s < sequences->len; s++)
		self->observed[s] = LODE_AT(sequences, LodeSequenceValue, s).value / total;
	for (guint j = 0; j < n_signatures; j++)
		expect(classifying, kind, self->length, j, sequences,
			self->expected + (size_t)j * sequences->len);
	self->mixture = (LodeMixture){
		sequences->len, n_signatures, self->observed, self->expected, unknown_support};
}

/*
 * Components with less than `least_part` are left out, the least first, and the rest is fitted
 * anew. Components to which a rough fit gives next to nothing are left out at once: with many
 * signatures, most.
 */
static void fit_shares(Fit *self, double least_part)
{
	size_t n = self->mixture.n_components;
	g_autofree bool *may_have = g_new(bool, n + 1);

	lode_mixture_fit(&self->mixture, NULL, 1e-3, self->shares);
	for (size_t j = 0; j < n; j++)
		may_have[j] = self->shares[j] >= least_part / 4;
	while (true) {
		size_t least = n;
		lode_mixture_fit(&self->mixture, may_have, 1e-5, self->shares);
		for (size_t j = 0; j < n; j++)
			if (may_have[j] && self->shares[j] < least_part &&
				(least == n || self->shares[j] < self->shares[least]))
				least = j;
		if (least == n)
			break;
		may_have[least] = false;
	}
	lode_mixture_fit(&self->mixture, may_have, 1e-7, self->shares);
}

static double explained_alone(const Fit *fit, guint j)
{
	double shares[2];
	const LodeMixture alone = {fit->mixture.n_sequences, 1, fit->observed,
		fit->expected + (size_t)j * fit->mixture.n_sequences, unknown_support};

	lode_mixture_fit(&alone, NULL, 1e-6, shares);
	return shares[0];
}

/* --- what no signature explains --- */

typedef struct {
	const Fit *fit;
	double *all, *rest; /* of each vertex: executions of the paths over it, and what is of the
	                       rest */
} Covering;

static void cover(const uint32_t *vertices, unsigned n, uint64_t key, double count, void *user_data)
{
	Covering *self = user_data;

	if (n != self->fit->length)
		return;
	double index = lode_sequence_table_get(&self->fit->indexes, key, -1);
	if (index < 0)
		return;
	double part = lode_mixture_rest(&self->fit->mixture, self->fit->shares, (size_t)index) *
	              count;
	for (unsigned i = 0; i < n; i++) {
		self->all[vertices[i]] += count;
		self->rest[vertices[i]] += part;
	}
}

LODE_ORDER(compare_places, LodeUnknownPlace, LODE_DESCENDING(is_new_file),
	LODE_DESCENDING(executions), LODE_ASCENDING(function))

/* Finds the block of a function with most unexplained executions. */
static void find_block(const Classifying *self, const Covering *covering, uint32_t first,
	uint32_t end, LodeUnknownPlace *place)
{
	const LodeFlowGraph *graph = self->executed->graph;
	uint32_t block = LODE_NONE;
	double sum = 0;

	for (uint32_t v = first; v < end; v++) {
		const LodeInstruction *one = lode_profile_instruction(
			self->profile, graph->vertex_instructions[v]);
		if (one->block == LODE_NONE)
			return;
		if (one->block != block)
			sum = 0;
		block = one->block;
		if (covering->all[v] > 0)
			sum += graph->count[v] * covering->rest[v] / covering->all[v] /
			       self->executed->total;
		if (sum > place->block_rest) {
			place->block_rest = sum;
			place->address = lode_profile_block(self->profile, block)->address;
			place->end = lode_profile_block(self->profile, block)->end;
		}
	}
}

/* Whether a signature has a file: by its build-id, and by its name where one of both has none. */
static bool has_file(const LodeSignature *signature, const char *text)
{
	const char *name = strchr(text, ' ');

	for (guint i = 0; i < signature->files->len; i++) {
		const char *other = LODE_AT(signature->files, LodeSignatureFile, i).text;
		const char *other_name = strchr(other, ' ');
		bool by_name = *text == '-' || *other == '-';
		if (by_name ? strcmp(name, other_name) == 0
			    : name - text == other_name - other &&
					strncmp(text, other, (size_t)(name - text)) == 0)
			return true;
	}
	return false;
}

/* For each image, whether it is a file that no signature has. Signatures without files are ignored.
 */
static bool *find_new_files(const Classifying *self)
{
	const GArray *images = self->profile->images;
	bool *is_new = g_new0(bool, images->len + 1);

	for (guint j = 0; j < self->signatures->len; j++)
		if (signature_at(self, j)->files->len == 0)
			return is_new;
	for (guint i = 0; i < images->len; i++) {
		const LodeImage *image = lode_profile_image(self->profile, i);
		g_autofree char *text = lode_signature_file_text(image->path, image->build_id);
		is_new[i] = image->kind == LODE_IMAGE_FILE;
		for (guint j = 0; j < self->signatures->len && is_new[i]; j++)
			is_new[i] = !has_file(signature_at(self, j), text);
	}
	return is_new;
}

/* For each function, the number of samples in its weight; NULL: executions are not inferred from
 * samples. */
static double *find_samples(const LodeProfile *profile)
{
	const LodeEvent *event = profile->weight_event != LODE_NONE
	                                 ? lode_profile_event(profile, profile->weight_event)
	                                 : NULL;

	if (profile->frequency != LODE_FREQUENCY_INFERRED || event == NULL || !(event->total > 0) ||
		!(profile->n_samples > 0))
		return NULL;
	double *samples = g_new0(double, profile->functions->len + 1);
	for (uint32_t i = 0; i < profile->instructions->len; i++) {
		uint32_t end = LODE_AT(profile->cost_starts, uint32_t, i + 1);
		for (uint32_t c = LODE_AT(profile->cost_starts, uint32_t, i); c < end; c++) {
			const LodeCost *cost = &LODE_AT(profile->costs, LodeCost, c);
			if (cost->event == profile->weight_event)
				samples[lode_profile_instruction(profile, i)->function] +=
					cost->value / event->total * profile->n_samples;
		}
	}
	return samples;
}

/* The unknown part of each function, before it is decided which are places. */
static GArray *find_candidates(const Classifying *self, const Covering *covering)
{
	const LodeFlowGraph *graph = self->executed->graph;
	GArray *candidates = g_array_new(FALSE, FALSE, sizeof(LodeUnknownPlace));
	g_autofree bool *is_new = find_new_files(self);
	g_autofree double *samples = find_samples(self->profile);

	for (uint32_t g = 0; g < graph->n_graphs; g++) {
		LodeUnknownPlace place = {.function = graph->graph_functions[g], .graph = g};
		for (uint32_t v = graph->graph_starts[g]; v < graph->graph_starts[g + 1]; v++) {
			double part = graph->count[v] / self->executed->total;
			if (self->executed->symbols[0][v] == 0 || !(part > 0))
				continue;
			place.executions += part;
			if (covering->all[v] > 0)
				place.rest += part * covering->rest[v] / covering->all[v];
		}
		place.samples = samples != NULL ? samples[place.function] : -1;
		place.is_new_file =
			is_new[lode_profile_function(self->profile, place.function)->image];
		if (place.executions > 0)
			g_array_append_val(candidates, place);
	}
	return candidates;
}

/* The known part of a new file's code as a whole: other programs' code may be made of the same
 * sequences, and a new version of a program mostly is. */
static void test_new_files(const Classifying *self, GArray *candidates)
{
	size_t n = self->profile->images->len;
	g_autofree double *executions = g_new0(double, n + 1);
	g_autofree double *rest = g_new0(double, n + 1);

	for (guint i = 0; i < candidates->len; i++) {
		const LodeUnknownPlace *one = &LODE_AT(candidates, LodeUnknownPlace, i);
		uint32_t image = lode_profile_function(self->profile, one->function)->image;
		executions[image] += one->executions;
		rest[image] += one->rest;
	}
	for (guint i = 0; i < candidates->len; i++) {
		LodeUnknownPlace *one = &LODE_AT(candidates, LodeUnknownPlace, i);
		uint32_t image = lode_profile_function(self->profile, one->function)->image;
		one->is_new_file &= rest[image] >= unknown_part * executions[image];
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

/* All executions of a place are of the rest, as even unknown code moves and adds like any other. */
static void find_places(const Classifying *self, const Fit *fit)
{
	const LodeFlowGraph *graph = self->executed->graph;
	g_autofree double *all = g_new0(double, graph->n_vertices + 1);
	g_autofree double *rest = g_new0(double, graph->n_vertices + 1);
	Covering covering = {fit, all, rest};
	LodeClassification *result = self->result;
	double in_new_files = 0, samples_in_new_files = 0;

	lode_executed_sequences_visit(self->executed, LODE_SEQUENCES_OPCODES, cover, &covering);
	g_autoptr(GArray) candidates = find_candidates(self, &covering);
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
		find_block(self, &covering, first, end, &place);
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

/* Fits the shares of the executions outside those places, as parts of the whole. */
static void fit_remainder(
	const Classifying *self, unsigned kind, double *out_shares /* signatures + 1 */)
{
	double known = 1 - self->result->rest_placed, totals[LODE_SIGNATURE_LENGTHS];
	LodeSequenceTable supports = {0};
	g_auto(Fit) fit = {0};

	lode_executed_sequences_count(self->executed, (LodeSequenceKind)kind, &supports, totals);
	fit_init(&fit, self, kind, &supports, totals);
	fit_shares(&fit, least_share / MAX(known, least_share));
	for (guint j = 0; j <= self->signatures->len; j++)
		out_shares[j] = fit.shares[j] * known;
	lode_sequence_table_clear(&supports);
}

/* --- the whole --- */

LODE_ORDER(compare_matches, LodeSignatureMatch, LODE_ASCENDING(distance), LODE_ASCENDING(signature))

static void clear_match(void *data)
{
	LodeSignatureMatch *match = data;

	for (uint32_t i = 0; i < match->n_for; i++)
		g_free(match->evidence_for[i].text);
	for (uint32_t i = 0; i < match->n_against; i++)
		g_free(match->evidence_against[i].text);
}

static bool prepare(Classifying *self, GError **error)
{
	const LodeSignature *first = signature_at(self, 0);

	for (guint j = 0; j < self->signatures->len; j++) {
		const LodeSignature *signature = signature_at(self, j);
		if (strcmp(signature->attributes, first->attributes) != 0) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
				"the signature '%s' has attributes %s, '%s' has %s: signatures "
				"that "
				"are compared have the same --attributes",
				signature->name, signature->attributes, first->name,
				first->attributes);
			return false;
		}
		if (!lode_signature_model_init(&self->models[j], signature, self->symbols, error))
			return false;
	}
	self->executed = lode_executed_sequences_new(
		self->profile, first->attributes, self->symbols, error);
	if (self->executed == NULL)
		return false;
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		lode_executed_sequences_count(self->executed, (LodeSequenceKind)kind,
			&self->supports[kind], self->totals[kind]);
	return true;
}

static void decide(Classifying *self, const LodeSignatureMatch *matches)
{
	LodeClassification *result = self->result;
	uint32_t n_shares = 0, nearest = 0;

	for (guint j = 0; j < self->signatures->len; j++) {
		n_shares += matches[j].share > 0;
		if (matches[j].distance < matches[nearest].distance)
			nearest = j;
	}
	result->nearest = matches[nearest].distance <= matches[nearest].limit ? nearest : LODE_NONE;
	/* Sequences missing from the samples by chance make the distance larger, never smaller. */
	result->is_few = result->nearest == LODE_NONE &&
	                 self->profile->frequency == LODE_FREQUENCY_INFERRED &&
	                 self->profile->n_samples > 0 &&
	                 self->profile->n_samples < LODE_CLASSIFIED_SAMPLES;
	result->is_mixture = result->nearest == LODE_NONE && !result->is_few && n_shares > 1;
}

static void match_all(Classifying *self, const LodeProgress *progress)
{
	guint n = self->signatures->len;
	g_autofree LodeSignatureMatch *matches = g_new0(LodeSignatureMatch, n);
	g_autofree double *by_opcodes = g_new0(double, n + 1);
	g_autofree double *by_attributes = g_new0(double, n + 1);
	g_auto(Fit) fit = {0};

	fit_init(&fit, self, LODE_SEQUENCES_OPCODES, &self->supports[LODE_SEQUENCES_OPCODES],
		self->totals[LODE_SEQUENCES_OPCODES]);
	fit_shares(&fit, least_share);
	find_places(self, &fit);
	fit_remainder(self, LODE_SEQUENCES_OPCODES, by_opcodes);
	fit_remainder(self, LODE_SEQUENCES_ATTRIBUTES, by_attributes);
	self->result->rest = self->result->rest_placed + by_opcodes[n];
	for (guint j = 0; j < n && !lode_progress_is_cancelled(progress); j++) {
		matches[j].signature = j;
		matches[j].distance = distance_of(self, j);
		matches[j].explained = explained_alone(&fit, j);
		matches[j].share = by_opcodes[j];
		matches[j].share_error = fabs(by_opcodes[j] - by_attributes[j]) / 2;
		find_evidence(self, j, &matches[j]);
		lode_progress_report(progress, "comparing with signatures", j, n, NULL);
	}
	set_limits(self, matches);
	decide(self, matches);
	g_array_append_vals(self->result->matches, matches, n);
	g_array_sort(self->result->matches, compare_matches);
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
	Classifying self = {
		.profile = profile,
		.signatures = signatures,
		.symbols = lode_symbols_new(),
		.models = g_new0(LodeSignatureModel, signatures->len + 1),
		.result = result,
	};
	bool is_prepared = prepare(&self, error);

	if (is_prepared) {
		result->executions = self.executed->total;
		result->covered = profile->total_count > 0
		                          ? MIN(self.executed->total / profile->total_count, 1)
		                          : 1;
		match_all(&self, progress);
	}
	for (guint j = 0; j < signatures->len; j++)
		lode_signature_model_clear(&self.models[j]);
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		lode_sequence_table_clear(&self.supports[kind]);
	lode_executed_sequences_free(self.executed);
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
