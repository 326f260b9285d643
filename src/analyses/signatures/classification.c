/* SPDX-License-Identifier: MIT */
#include "analyses/signatures/classification.h"

#include "analyses/signatures/executed_sequences.h"
#include "analyses/signatures/mixture.h"
#include "analyses/signatures/signature_model.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* docs/classify.md §8 says what each was chosen on. */
static const double unknown_support = 1e-6; /* of any sequence, in code that no signature has */
static const double least_share = 0.02;     /* a mixture has no component with less */
static const double least_left = 0.01;    /* of a signature, for sequences that it does not list */
static const double limit_factor = 2.5;   /* spreads that a distance may have */
static const double least_limit = 0.05;   /* however little the profiles of a signature vary */
static const double most_limit = 0.35;    /* however much: beyond are programs of another kind */
static const double usual_spread = 0.08;  /* where no signature is of two profiles */
static const double new_file_limit = 0.2; /* for a file that no signature has: a new build */
static const double unknown_part = 1.0 / 3; /* of a function, in no signature: then it is a place */
static const double least_place = 0.001;    /* of the executions, for a function to be listed */
static const double least_rest = 0.02;      /* of the executions, in places that are reported… */
static const double least_new_samples =
	2;                             /* …but in a file that no signature has, so many samples */
static const double least_samples = 5; /* that two standard errors do not take to 0 */
static const double least_in_file = 1e-3;      /* of a sequence, in a file that a signature lacks */
static const double least_present = 0.25;      /* of a share: what its own files must have of it */
static const double is_alike = 0.25;           /* of two shares: an error that leaves them one */
static const double is_rest_of_mixture = 0.05; /* in places, beside what is known */
static const double half_width = 1.96;         /* of the 95 % interval, in standard errors */

typedef struct {
	const LodeProfile *profile;
	const GPtrArray *signatures;
	LodeSymbols *symbols;
	LodeSignatureModel *models;
	LodeExecutedSequences *executed;
	LodeSequenceTable supports[LODE_N_SEQUENCE_KINDS];
	double totals[LODE_N_SEQUENCE_KINDS][LODE_SIGNATURE_LENGTHS];
	uint32_t *vertex_images; /* of each vertex of the flow graph */
	bool *is_new_image;      /* a file that no signature has */
	bool *is_common;         /* a file that all have; none, where a signature has no other */
	double *file_shares;     /* [images][signatures]: of its executions in that file */
	double *limits;          /* of each signature */
	double *own;             /* of each: its part in files that are not common */
	double *weights; /* of each instruction, its share; NULL: executions are not inferred */
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
static void set_limits(Classifying *self)
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
		self->limits[j] = CLAMP(limit_factor * sqrt(spread), least_limit, most_limit);
	}
}

/* --- files --- */

/* A signature's share of executions in a file, found by its build-id, and by its name where one of
 * both has none; −1: it has no such file. */
static double share_in_file(const LodeSignature *signature, const char *text)
{
	const char *name = strchr(text, ' ');

	for (guint i = 0; i < signature->files->len; i++) {
		const LodeSignatureFile *file = &LODE_AT(signature->files, LodeSignatureFile, i);
		const char *other = file->text, *other_name = strchr(other, ' ');
		bool by_name = *text == '-' || *other == '-';
		if (by_name ? strcmp(name, other_name) == 0
			    : name - text == other_name - other &&
					strncmp(text, other, (size_t)(name - text)) == 0)
			return file->share;
	}
	return -1;
}

/* Finds for each image the signatures' shares of executions in it, −1 for those that lack it. All
 * are 1 where they say nothing: for files that no signature has, code that is in no file, and
 * signatures without files.
 */
static void find_files(Classifying *self)
{
	const GArray *images = self->profile->images;
	guint n = self->signatures->len;
	bool is_known = true;

	for (guint j = 0; j < n; j++)
		is_known &= signature_at(self, j)->files->len > 0;
	for (guint i = 0; i < images->len; i++) {
		const LodeImage *image = lode_profile_image(self->profile, i);
		g_autofree char *text = lode_signature_file_text(image->path, image->build_id);
		bool is_file = is_known && image->kind == LODE_IMAGE_FILE;
		double *shares = self->file_shares + (size_t)i * n, most = -1;
		for (guint j = 0; j < n && is_file; j++) {
			shares[j] = share_in_file(signature_at(self, j), text);
			most = MAX(most, shares[j]);
		}
		self->is_new_image[i] = is_file && most < 0;
		for (guint j = 0; j < n; j++)
			shares[j] = most < 0 ? 1 : shares[j];
	}
}

static double share_of_file(const Classifying *self, guint j, guint image)
{
	return MAX(self->file_shares[(size_t)image * self->signatures->len + j], 0);
}

/* Common files do not say which signatures are executed. Where a signature has hardly another file,
 * as with one program's workloads alone, none counts as common. */
static void find_common_files(Classifying *self)
{
	guint n_images = self->profile->images->len, n = self->signatures->len;
	double least = 1;

	for (guint j = 0; j < n; j++)
		self->own[j] = 1;
	for (guint i = 0; i < n_images; i++) {
		self->is_common[i] = !self->is_new_image[i] &&
		                     lode_profile_image(self->profile, i)->kind == LODE_IMAGE_FILE;
		for (guint j = 0; j < n; j++)
			self->is_common[i] &= signature_at(self, j)->files->len > 0 &&
			                      share_of_file(self, j, i) > 0;
		for (guint j = 0; j < n && self->is_common[i]; j++)
			self->own[j] -= share_of_file(self, j, i);
	}
	for (guint j = 0; j < n; j++)
		least = MIN(least, self->own[j]);
	for (guint i = 0; i < n_images && least < least_share; i++)
		self->is_common[i] = false;
	for (guint j = 0; j < n && least < least_share; j++)
		self->own[j] = 1;
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

/*
 * The longest sequences of a kind in each file of the profile (or in one), and what each signature
 * gives to them. So code of a file that one workload alone executes is this workload's, however
 * common its sequences are.
 */
typedef struct {
	LodeMixture mixture;
	unsigned length;
	double *observed, *expected;
	double *shares;             /* [components + 1] */
	LodeSequenceTable *indexes; /* [n_images] */
	guint n_images;
	GArray *items, *item_images; /* LodeSequenceValue, uint32_t */
} Fit;

static void fit_clear(Fit *self)
{
	g_free(self->observed);
	g_free(self->expected);
	g_free(self->shares);
	for (guint i = 0; i < self->n_images; i++)
		lode_sequence_table_clear(&self->indexes[i]);
	g_free(self->indexes);
	g_clear_pointer(&self->items, g_array_unref);
	g_clear_pointer(&self->item_images, g_array_unref);
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

/* Paths of one image or of all, summed for each. */
typedef struct {
	const uint32_t *vertex_images;
	uint32_t image;            /* LODE_NONE: all */
	LodeSequenceTable *tables; /* of each image */
	bool is_one_table;         /* one of all instead */
	double totals[LODE_SIGNATURE_LENGTHS];
} Part;

static void add_to_part(
	const uint32_t *vertices, unsigned n, uint64_t key, double count, void *user_data)
{
	Part *self = user_data;
	uint32_t image = self->vertex_images[vertices[0]];

	if (self->image != LODE_NONE && self->image != image)
		return;
	*lode_sequence_table_at(&self->tables[self->is_one_table ? 0 : image], key) += count;
	self->totals[n - 1] += count;
}

/*
 * What a signature gives to a sequence is divided among the files that it executes, by its
 * executions in them and by those of the sequence in the profile: which sequences are in which file
 * is not in a signature. `indexes` of `by_sequence`.
 */
static void divide_by_files(Fit *self, const Classifying *classifying, guint j,
	const LodeSequenceTable *indexes, const double *by_sequence)
{
	guint n = self->items->len, n_signatures = classifying->signatures->len;
	g_autofree double *sums = g_new0(double, n + 1);
	g_autofree guint *sequences = g_new(guint, n + 1);
	double *expected = self->expected + (size_t)j * n;

	for (guint i = 0; i < n; i++) {
		const LodeSequenceValue *item = &LODE_AT(self->items, LodeSequenceValue, i);
		size_t image = LODE_AT(self->item_images, uint32_t, i);
		expected[i] = classifying->file_shares[image * n_signatures + j] * item->value;
		sequences[i] = (guint)lode_sequence_table_get(indexes, item->key, 0);
		sums[sequences[i]] += MAX(expected[i], 0);
	}
	for (guint i = 0; i < n; i++)
		expected[i] = by_sequence[sequences[i]] *
		              (expected[i] > 0
					      ? MAX(expected[i] / sums[sequences[i]], least_in_file)
					      : least_in_file);
}

/* Items are sequences in files; `image` LODE_NONE: in all. */
static void fit_init(Fit *self, const Classifying *classifying, unsigned kind, uint32_t image)
{
	guint n_signatures = classifying->signatures->len;
	guint n_images = classifying->profile->images->len;
	g_autofree LodeSequenceTable *tables = g_new0(LodeSequenceTable, n_images + 1);
	GArray *items = g_array_new(FALSE, FALSE, sizeof(LodeSequenceValue));
	GArray *item_images = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	LodeSequenceTable whole = {0};
	Part part = {classifying->vertex_images, image, tables, false, {0}};

	lode_executed_sequences_visit(
		classifying->executed, (LodeSequenceKind)kind, add_to_part, &part);
	*self = (Fit){.length = LODE_SIGNATURE_LENGTHS,
		.n_images = n_images,
		.items = items,
		.item_images = item_images};
	while (self->length > 1 && !(part.totals[self->length - 1] > 0.1 * part.totals[0]))
		self->length--;
	self->indexes = g_new0(LodeSequenceTable, n_images + 1);
	for (uint32_t i = 0; i < n_images; i++) {
		g_autoptr(GArray) all = lode_sequence_table_sorted(&tables[i]);
		for (guint k = 0; k < all->len; k++) {
			const LodeSequenceValue *one = &LODE_AT(all, LodeSequenceValue, k);
			if (lode_sequence_length(one->key) != self->length)
				continue;
			*lode_sequence_table_at(&self->indexes[i], one->key) = items->len;
			*lode_sequence_table_at(&whole, one->key) += one->value;
			g_array_append_val(items, *one);
			g_array_append_val(item_images, i);
		}
		lode_sequence_table_clear(&tables[i]);
	}
	g_autoptr(GArray) sequences = lode_sequence_table_sorted(&whole);
	for (guint s = 0; s < sequences->len; s++)
		*lode_sequence_table_at(&whole, LODE_AT(sequences, LodeSequenceValue, s).key) = s;
	self->observed = g_new0(double, items->len + 1);
	self->expected = g_new0(double, (size_t)n_signatures * items->len + 1);
	self->shares = g_new0(double, n_signatures + 1);
	g_autofree double *by_sequence = g_new0(double, sequences->len + 1);
	for (guint i = 0; i < items->len; i++)
		self->observed[i] = LODE_AT(items, LodeSequenceValue, i).value /
		                    part.totals[self->length - 1];
	for (guint j = 0; j < n_signatures; j++) {
		expect(classifying, kind, self->length, j, sequences, by_sequence);
		divide_by_files(self, classifying, j, &whole, by_sequence);
	}
	lode_sequence_table_clear(&whole);
	self->mixture = (LodeMixture){
		items->len, n_signatures, self->observed, self->expected, unknown_support};
}

/*
 * Components with less than `least_part` are left out, the least first, and the rest is fitted
 * anew. Components to which a rough fit gives next to nothing are left out at once: with many
 * signatures, most.
 */
static void fit_shares(Fit *self, double least_part, bool *may_have)
{
	size_t n = self->mixture.n_components;

	lode_mixture_fit(&self->mixture, may_have, 1e-3, self->shares);
	for (size_t j = 0; j < n; j++)
		may_have[j] &= self->shares[j] >= least_part / 4;
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

static bool *all_signatures(const Classifying *self)
{
	bool *all = g_new(bool, self->signatures->len + 1);

	for (guint j = 0; j <= self->signatures->len; j++)
		all[j] = true;
	return all;
}

static double explained_alone(const Fit *fit, guint j)
{
	double shares[2];
	const LodeMixture alone = {fit->mixture.n_sequences, 1, fit->observed,
		fit->expected + (size_t)j * fit->mixture.n_sequences, unknown_support};

	lode_mixture_fit(&alone, NULL, 1e-6, shares);
	return shares[0];
}

/* --- the distance of a mixture --- */

/*
 * How far the executions of an image, or of all, are from a mixture, and by its parts' limits may
 * be: the Jensen-Shannon divergence is convex in both distributions together (J. Lin, "Divergence
 * Measures Based on the Shannon Entropy", 1991), so that a mixture's square is at most the mean of
 * the squares of its parts.
 */
typedef struct {
	double distance, limit;
} Goodness;

static double divergence_of_mixture(const Classifying *self, const double *shares, unsigned kind,
	const LodeSequenceTable *observed, double total)
{
	LodeSequenceTable expected = {0};
	double listed[LODE_SIGNATURE_LENGTHS] = {0}, seen[LODE_SIGNATURE_LENGTHS] = {0}, sum = 0;

	for (guint j = 0; j < self->signatures->len; j++)
		for (unsigned length = 0; length < LODE_SIGNATURE_LENGTHS && shares[j] > 0;
			length++) {
			const LodeSequenceTable *supports = &self->models[j].supports[kind];
			listed[length] += shares[j] * self->models[j].listed[kind][length];
			for (size_t i = 0; i < supports->n_slots && length == 0; i++)
				if (supports->slots[i].key != 0)
					*lode_sequence_table_at(&expected,
						supports->slots[i].key) += shares[j] *
					                                   supports->slots[i].value;
		}
	for (size_t i = 0; i < expected.n_slots; i++) {
		uint64_t key = expected.slots[i].key;
		if (key == 0)
			continue;
		double p = lode_sequence_table_get(observed, key, 0) / total;
		seen[lode_sequence_length(key) - 1] += p;
		sum += divergence(p, expected.slots[i].value);
	}
	for (unsigned length = 0; length < LODE_SIGNATURE_LENGTHS; length++)
		sum += divergence(MAX(1 - seen[length], 0), MAX(1 - listed[length], 0));
	lode_sequence_table_clear(&expected);
	return sum;
}

/* `shares` of the signatures and the rest, which is left out. */
static Goodness goodness_of(const Classifying *self, const double *shares, uint32_t image)
{
	guint n = self->signatures->len;
	g_autofree double *parts = g_new0(double, n + 1);
	double known = 0, sum = 0, limit = 0;

	for (guint j = 0; j < n; j++)
		known += shares[j];
	if (!(known > 0))
		return (Goodness){1, 0};
	for (guint j = 0; j < n; j++) {
		parts[j] = shares[j] / known;
		limit += parts[j] * self->limits[j] * self->limits[j];
	}
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++) {
		LodeSequenceTable supports = {0};
		Part part = {self->vertex_images, image, &supports, true, {0}};
		lode_executed_sequences_visit(
			self->executed, (LodeSequenceKind)kind, add_to_part, &part);
		double total = MAX(part.totals[0], DBL_MIN);
		sum += divergence_of_mixture(self, parts, kind, &supports, total);
		lode_sequence_table_clear(&supports);
	}
	return (Goodness){
		sqrt(sum / (LODE_N_SEQUENCE_KINDS * LODE_SIGNATURE_LENGTHS)), sqrt(limit)};
}

/* --- what no signature explains --- */

typedef struct {
	const Fit *fit;
	const uint32_t *vertex_images;
	size_t component;
	double *all, *part; /* of each vertex: executions of the paths over it, and what is of the
	                       component (n_components: the rest) */
} Covering;

static void cover(const uint32_t *vertices, unsigned n, uint64_t key, double count, void *user_data)
{
	Covering *self = user_data;

	if (n != self->fit->length)
		return;
	const LodeSequenceTable *indexes = &self->fit->indexes[self->vertex_images[vertices[0]]];
	double index = lode_sequence_table_get(indexes, key, -1);
	if (index < 0)
		return;
	double part = count * lode_mixture_part(&self->fit->mixture, self->fit->shares,
				      self->component, (size_t)index);
	for (unsigned i = 0; i < n; i++) {
		self->all[vertices[i]] += count;
		self->part[vertices[i]] += part;
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
			sum += graph->count[v] * covering->part[v] / covering->all[v] /
			       self->executed->total;
		if (sum > place->block_rest) {
			place->block_rest = sum;
			place->address = lode_profile_block(self->profile, block)->address;
			place->end = lode_profile_block(self->profile, block)->end;
		}
	}
}

/* The unknown part of each function, before it is decided which are places. */
static GArray *find_candidates(const Classifying *self, const Covering *covering)
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
			if (covering->all[v] > 0)
				place.rest += part * covering->part[v] / covering->all[v];
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
static bool is_far(const Classifying *self, uint32_t image)
{
	g_autofree bool *may_have = all_signatures(self);
	g_auto(Fit) fit = {0};

	fit_init(&fit, self, LODE_SEQUENCES_OPCODES, image);
	fit_shares(&fit, least_share, may_have);
	return goodness_of(self, fit.shares, image).distance > new_file_limit;
}

/* The known part of a new file's code as a whole: other programs' code may be made of the same
 * sequences, and a new version of a program mostly is. */
static void test_new_files(const Classifying *self, GArray *candidates)
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

/* All executions of a place are of the rest, as even unknown code moves and adds like any other. */
static void find_places(const Classifying *self, const Fit *fit)
{
	const LodeFlowGraph *graph = self->executed->graph;
	g_autofree double *all = g_new0(double, graph->n_vertices + 1);
	g_autofree double *rest = g_new0(double, graph->n_vertices + 1);
	Covering covering = {fit, self->vertex_images, self->signatures->len, all, rest};
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

/* --- shares of the remainder, and their errors --- */

/* The executions in files that no signature has, and that are no places. */
static double in_new_builds(const Classifying *self)
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
static bool is_present(const Classifying *self, const double *in_images, guint j, double share)
{
	double found = in_new_builds(self);

	if (signature_at(self, j)->files->len == 0)
		return true;
	for (guint i = 0; i < self->profile->images->len; i++)
		if (!self->is_new_image[i] && !self->is_common[i])
			found += MIN(in_images[i], share * share_of_file(self, j, i));
	return found >= least_present * share * self->own[j];
}

static double *shares_by_image(const Classifying *self)
{
	const LodeFlowGraph *graph = self->executed->graph;
	double *shares = g_new0(double, self->profile->images->len + 1);

	for (uint32_t v = 0; v < graph->n_vertices; v++)
		if (self->executed->symbols[0][v] != 0 && self->executed->scales[v] > 0)
			shares[self->vertex_images[v]] += graph->count[v] / self->executed->total;
	return shares;
}

/* Fits the shares of the executions outside the places, as parts of the whole. */
static void fit_remainder(const Classifying *self, unsigned kind, Fit *fit, bool *may_have)
{
	double known = MAX(1 - self->result->rest_placed, 0);
	g_autofree double *in_images = shares_by_image(self);

	fit_init(fit, self, kind, LODE_NONE);
	for (guint j = 0; j < self->signatures->len; j++) {
		fit_shares(fit, least_share / MAX(known, least_share), may_have);
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

static double weight_of_places(const Classifying *self)
{
	double samples = 0;

	if (self->weights == NULL)
		return self->result->rest_placed;
	for (guint i = 0; i < self->result->places->len; i++)
		samples += LODE_AT(self->result->places, LodeUnknownPlace, i).samples;
	return MIN(samples / (self->profile->n_samples * self->result->covered), 1);
}

/*
 * The weight of one signature. Beside unknown work, a signature has so many executions in files
 * that all have, such as the C library, as those in its own files take by its profiles; what is
 * above is of the unknown programs.
 */
static void measure_signature(const Classifying *self, const Fit *fit, guint j, Measured *out)
{
	const LodeFlowGraph *graph = self->executed->graph;
	guint n = self->signatures->len, n_images = self->profile->images->len;
	g_autofree double *all = g_new0(double, graph->n_vertices + 1);
	g_autofree double *part = g_new0(double, graph->n_vertices + 1);
	g_autofree double *weights = g_new0(double, 3 * n_images + 1);
	double *held = weights + n_images, *loose = held + n_images;
	double executions[2] = {0, 0}, parts[2] = {0, 0};
	Covering covering = {fit, self->vertex_images, j, all, part};

	lode_executed_sequences_visit(self->executed, LODE_SEQUENCES_OPCODES, cover, &covering);
	for (uint32_t v = 0; v < graph->n_vertices; v++) {
		uint32_t image = self->vertex_images[v];
		double count = graph->count[v] / self->executed->total;
		double weight = self->weights != NULL ? self->weights[graph->vertex_instructions[v]]
		                                      : count;
		if (self->executed->symbols[0][v] == 0)
			continue;
		*(all[v] > 0 ? &held[image] : &loose[image]) += weight;
		weights[image] += all[v] > 0 ? weight * part[v] / all[v] : 0;
		executions[self->is_common[image]] += all[v] > 0 ? count * part[v] / all[v] : 0;
	}
	/* Functions of less than four instructions are divided as the file is. */
	for (guint i = 0; i < n_images; i++)
		if (held[i] > 0)
			parts[self->is_common[i]] += weights[i] * (1 + loose[i] / held[i]);
	out->shares[j] = parts[0] + parts[1];
	if (self->result->rest_placed < least_rest || !(executions[1] > 0))
		return;
	double usual = executions[0] * (1 - self->own[j]) / self->own[j];
	out->in_common[j] = parts[1] * MIN(usual / executions[1], 1);
	out->shares[n] += parts[1] - out->in_common[j];
	out->shares[j] = parts[0] + out->in_common[j];
}

static void measure_shares(const Classifying *self, const Fit *fit, Measured *out)
{
	guint n = self->signatures->len;
	double whole = 0, in_places = weight_of_places(self);

	*out = (Measured){g_new0(double, n + 1), g_new0(double, n + 1)};
	for (guint j = 0; j < n; j++)
		if (fit->shares[j] > 0)
			measure_signature(self, fit, j, out);
	for (guint j = 0; j <= n; j++)
		whole += out->shares[j];
	for (guint j = 0; j <= n && whole > 0; j++) {
		out->shares[j] *= (1 - in_places) / whole;
		out->in_common[j] *= (1 - in_places) / whole;
	}
	out->shares[n] = whole > 0 ? out->shares[n] + in_places : 1;
}

/* By how much a signature's own executions of an item differ between its profiles, as a part of
 * them; what it does not list, by all that it is expected to have. */
static double deviation_at(const Classifying *self, const Fit *fit, guint j, guint i)
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

static double n_samples(const Classifying *self)
{
	return MAX(self->weights != NULL ? self->profile->n_samples : self->executed->total, 1);
}

static double rest_error(const Classifying *self, const Measured *measured)
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
static double runs_quantile(const Classifying *self)
{
	double degrees = 0, z = half_width, z3 = z * z * z;

	for (guint j = 0; j < self->signatures->len; j++)
		degrees += signature_at(self, j)->n_profiles - 1;
	if (!(degrees > 0))
		return 1;
	return z + (z3 + z) / (4 * degrees) +
	       (5 * z3 * z * z + 16 * z3 + 3 * z) / (96 * degrees * degrees);
}

/* See lode_mixture_influence(). */
typedef struct {
	const Fit *fit;
	const double *by_item, *inverse;
} Influences;

/*
 * Half of the 95 % interval of the shares of some signatures together: of the samples (binomial),
 * and of what the signatures' profiles differ by, all sequences of one as if they differed
 * together, which is the worst that the deviations allow. `measured`: shares as they are reported.
 */
static double error_of(const Classifying *self, const Influences *influences,
	const Measured *measured, const uint32_t *groups, uint32_t group)
{
	const Fit *fit = influences->fit;
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

/* For each instruction, its share of the samples' weight; NULL: executions are not inferred from
 * samples. */
static double *find_weights(const LodeProfile *profile)
{
	const LodeEvent *event = profile->weight_event != LODE_NONE
	                                 ? lode_profile_event(profile, profile->weight_event)
	                                 : NULL;

	if (profile->frequency != LODE_FREQUENCY_INFERRED || event == NULL || !(event->total > 0) ||
		!(profile->n_samples > 0))
		return NULL;
	double *weights = g_new0(double, profile->instructions->len + 1);
	for (uint32_t i = 0; i < profile->instructions->len; i++) {
		uint32_t end = LODE_AT(profile->cost_starts, uint32_t, i + 1);
		for (uint32_t c = LODE_AT(profile->cost_starts, uint32_t, i); c < end; c++) {
			const LodeCost *cost = &LODE_AT(profile->costs, LodeCost, c);
			if (cost->event == profile->weight_event)
				weights[i] += cost->value / event->total;
		}
	}
	return weights;
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
	const LodeFlowGraph *graph = self->executed->graph;
	size_t n_images = self->profile->images->len;
	self->vertex_images = g_new0(uint32_t, graph->n_vertices + 1);
	self->is_new_image = g_new0(bool, n_images + 1);
	self->file_shares = g_new0(double, n_images * self->signatures->len + 1);
	self->limits = g_new0(double, self->signatures->len + 1);
	self->own = g_new0(double, self->signatures->len + 1);
	self->is_common = g_new0(bool, n_images + 1);
	for (uint32_t g = 0; g < graph->n_graphs; g++)
		for (uint32_t v = graph->graph_starts[g]; v < graph->graph_starts[g + 1]; v++)
			self->vertex_images[v] = lode_profile_function(
				self->profile, graph->graph_functions[g])
			                                 ->image;
	find_files(self);
	find_common_files(self);
	self->weights = find_weights(self->profile);
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		lode_executed_sequences_count(self->executed, (LodeSequenceKind)kind,
			&self->supports[kind], self->totals[kind]);
	return true;
}

/* The root mean divergence of two signatures, over the sequences of the first and all else. */
static bool are_alike(const Classifying *self, guint a, guint b)
{
	g_autofree double *shares = g_new0(double, self->signatures->len + 1);
	double sum = 0;

	shares[a] = 1;
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		sum += divergence_of_mixture(
			self, shares, kind, &self->models[b].supports[kind], 1);
	return sqrt(sum / (LODE_N_SEQUENCE_KINDS * LODE_SIGNATURE_LENGTHS)) <=
	       MAX(self->limits[a], self->limits[b]);
}

/* Puts signatures together whose shares have errors of a quarter of their sum and more, and that
 * are known better together. */
static void find_groups(const Classifying *self, const Fit *fit, const Measured *measured,
	const bool *may_have, LodeSignatureMatch *matches)
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
			is_fitted[j] = fit->shares[k] > 0 && are_alike(self, j, k);
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

/* Fits the shares, of which those that are doubtful are left out one after the other. */
static void find_shares(Classifying *self, LodeSignatureMatch *matches)
{
	guint n = self->signatures->len, doubtful;
	g_autofree bool *may_have = all_signatures(self);
	g_autofree bool *is_tried = all_signatures(self);
	LodeClassification *result = self->result;

	do {
		g_auto(Fit) fit = {0};
		fit_remainder(self, LODE_SEQUENCES_OPCODES, &fit, may_have);
		g_auto(Measured) measured = {0};
		measure_shares(self, &fit, &measured);
		find_groups(self, &fit, &measured, is_tried, matches);
		result->rest_share = measured.shares[n];
		result->rest_error = rest_error(self, &measured);
		Goodness goodness = goodness_of(self, fit.shares, LODE_NONE);
		result->distance = goodness.distance;
		result->limit = goodness.limit;
		result->rest = result->rest_placed + fit.shares[n] * (1 - result->rest_placed);
		doubtful = least_significant(matches, n);
		may_have[doubtful] = is_tried[doubtful] = doubtful == n;
	} while (doubtful < n);
	result->is_time = self->weights != NULL;
}

static void decide(Classifying *self, const LodeSignatureMatch *matches)
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
	result->is_few = self->profile->frequency == LODE_FREQUENCY_INFERRED &&
	                 self->profile->n_samples > 0 &&
	                 self->profile->n_samples < LODE_CLASSIFIED_SAMPLES;
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

static void match_all(Classifying *self, const LodeProgress *progress)
{
	guint n = self->signatures->len;
	g_autofree LodeSignatureMatch *matches = g_new0(LodeSignatureMatch, n);
	g_autofree bool *may_have = all_signatures(self);
	g_auto(Fit) fit = {0};

	set_limits(self);
	fit_init(&fit, self, LODE_SEQUENCES_OPCODES, LODE_NONE);
	fit_shares(&fit, least_share, may_have);
	find_places(self, &fit);
	find_shares(self, matches);
	for (guint j = 0; j < n && !lode_progress_is_cancelled(progress); j++) {
		matches[j].signature = j;
		matches[j].distance = distance_of(self, j);
		matches[j].limit = self->limits[j];
		matches[j].explained = explained_alone(&fit, j);
		find_evidence(self, j, &matches[j]);
		lode_progress_report(progress, "comparing with signatures", j, n, NULL);
	}
	decide(self, matches);
	g_array_append_vals(self->result->matches, matches, n);
	g_array_sort(self->result->matches, compare_matches);
}

/* The part whose code is known, of the time where shares are, else of the executions. */
static double covered_part(const Classifying *self)
{
	double sum = 0;

	for (uint32_t i = 0; i < self->profile->instructions->len && self->weights != NULL; i++)
		sum += self->weights[i];
	if (self->weights == NULL)
		sum = self->profile->total_count > 0
		              ? self->executed->total / self->profile->total_count
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
		result->covered = covered_part(&self);
		match_all(&self, progress);
	}
	for (guint j = 0; j < signatures->len; j++)
		lode_signature_model_clear(&self.models[j]);
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		lode_sequence_table_clear(&self.supports[kind]);
	lode_executed_sequences_free(self.executed);
	lode_symbols_free(self.symbols);
	g_free(self.models);
	g_free(self.vertex_images);
	g_free(self.is_new_image);
	g_free(self.file_shares);
	g_free(self.limits);
	g_free(self.own);
	g_free(self.is_common);
	g_free(self.weights);
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
