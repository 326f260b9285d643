/* SPDX-License-Identifier: MIT */
#include "analyses/signatures/signature_builder.h"

#include "base/error.h"
#include "model/code.h"
#include "model/run/program_run.h"

#include <math.h>

/* The sums of a figure over the profiles. */
typedef struct {
	double sum, squares;
	uint32_t n;
} Sums;

struct LodeSignatureBuilder {
	char *attributes;
	LodeSymbols *symbols;
	LodeSequenceTable sums[LODE_N_SEQUENCE_KINDS], squares[LODE_N_SEQUENCE_KINDS];
	double totals[LODE_N_SEQUENCE_KINDS][LODE_SIGNATURE_LENGTHS];
	GHashTable *files; /* text → double: the shares, added up */
	uint32_t n;
	LodeFrequency frequency;
	Sums executions, seconds, seconds_per_execution;
};

LodeSignatureBuilder *lode_signature_builder_new(const char *attributes)
{
	LodeSignatureBuilder *self = g_new0(LodeSignatureBuilder, 1);

	self->attributes = g_strdup(attributes);
	self->symbols = lode_symbols_new();
	self->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	return self;
}

void lode_signature_builder_free(LodeSignatureBuilder *self)
{
	if (self == NULL)
		return;
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++) {
		lode_sequence_table_clear(&self->sums[kind]);
		lode_sequence_table_clear(&self->squares[kind]);
	}
	lode_symbols_free(self->symbols);
	g_hash_table_unref(self->files);
	g_free(self->attributes);
	g_free(self);
}

static void add_figure(Sums *self, double value)
{
	self->sum += value;
	self->squares += value * value;
	self->n++;
}

/* 0 of less than two; rounding may leave a variance slightly below 0. */
static double deviation_of(double sum, double squares, uint32_t n)
{
	double variance = n > 1 ? (squares - sum * sum / n) / (n - 1) : 0;

	/* Equal numbers differ by rounding, which would look like a variance. */
	return variance > 1e-14 * squares ? sqrt(variance) : 0;
}

/* Adds to `shares`, one of each image, the share of the executions that are in it. */
static void add_shares_by_image(
	const LodeExecutedSequences *self, const LodeProfile *profile, double *shares)
{
	const LodeFlowGraph *graph = self->graph;

	for (uint32_t g = 0; g < graph->n_graphs; g++) {
		const LodeFunction *function = lode_profile_function(
			profile, graph->graph_functions[g]);
		for (uint32_t v = graph->graph_starts[g]; v < graph->graph_starts[g + 1]; v++)
			if (self->symbols[0][v] != 0 && self->scales[v] > 0)
				shares[function->image] += graph->count[v] / self->total;
	}
}

static void add_files(LodeSignatureBuilder *self, const LodeProfile *profile,
	const LodeExecutedSequences *executed)
{
	const LodeCode *code = lode_code_of(profile);
	g_autofree double *shares = g_new0(double, code->images->len + 1);

	add_shares_by_image(executed, profile, shares);
	for (guint i = 0; i < code->images->len; i++) {
		const LodeImage *image = lode_profile_image(profile, i);
		if (image->kind != LODE_IMAGE_FILE || !(shares[i] > 0))
			continue;
		char *text = lode_signature_file_text(image->path, image->build_id);
		double *sum = g_hash_table_lookup(self->files, text);
		if (sum != NULL) {
			*sum += shares[i];
			g_free(text);
			continue;
		}
		sum = g_new(double, 1);
		*sum = shares[i];
		g_hash_table_insert(self->files, text, sum);
	}
}

bool lode_signature_builder_add(
	LodeSignatureBuilder *self, const LodeProfile *profile, GError **error)
{
	const LodeProgramRun *run = lode_program_run_of(profile);
	double totals[LODE_SIGNATURE_LENGTHS];

	if (self->n > 0 && run->frequency != self->frequency) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"its executions are %s, those of the profiles before are %s: one signature "
			"is of profiles of one kind",
			lode_frequency_to_text(run->frequency),
			lode_frequency_to_text(self->frequency));
		return false;
	}
	g_autoptr(LodeExecutedSequences) executed = lode_executed_sequences_new(
		profile, self->attributes, self->symbols, error);
	if (executed == NULL)
		return false;
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++) {
		LodeSequenceTable supports = {0};
		lode_executed_sequences_count(executed, (LodeSequenceKind)kind, &supports, totals);
		for (size_t i = 0; i < supports.n_slots; i++) {
			const LodeSequenceValue *one = &supports.slots[i];
			if (one->key == 0)
				continue;
			*lode_sequence_table_at(&self->sums[kind], one->key) += one->value;
			*lode_sequence_table_at(&self->squares[kind], one->key) += one->value *
			                                                           one->value;
		}
		for (unsigned i = 0; i < LODE_SIGNATURE_LENGTHS; i++)
			self->totals[kind][i] += totals[i];
		lode_sequence_table_clear(&supports);
	}
	add_files(self, profile, executed);
	double seconds = run->user_seconds + run->system_seconds;
	add_figure(&self->executions, executed->total);
	if (seconds > 0 && isfinite(seconds)) {
		add_figure(&self->seconds, seconds);
		add_figure(&self->seconds_per_execution, seconds / executed->total);
	}
	self->frequency = run->frequency;
	self->n++;
	return true;
}

/* The mean and its deviation, each divided by `unit`; unknown where a profile lacks it. */
static LodeSignatureFigure figure_of(const Sums *sums, uint32_t n_profiles, double unit)
{
	LodeSignatureFigure figure = {0};

	if (sums->n < n_profiles || sums->n == 0 || !(unit > 0))
		return figure;
	figure.is_known = true;
	figure.mean = lode_signature_round(sums->sum / sums->n / unit);
	figure.deviation = lode_signature_round(
		deviation_of(sums->sum, sums->squares, sums->n) / unit);
	return figure;
}

static void add_sequences(const LodeSignatureBuilder *self, unsigned kind, LodeSignature *signature)
{
	g_autoptr(GArray) sums = lode_sequence_table_sorted(&self->sums[kind]);

	for (guint i = 0; i < sums->len; i++) {
		const LodeSequenceValue *one = &LODE_AT(sums, LodeSequenceValue, i);
		double mean = one->value / self->n;
		if (mean < signature->min_support)
			continue;
		double squares = lode_sequence_table_get(&self->squares[kind], one->key, 0);
		g_autofree char *text = lode_symbols_text(self->symbols, one->key);
		lode_signature_add(signature, (LodeSequenceKind)kind,
			lode_sequence_length(one->key), text, MIN(mean, 1),
			MIN(deviation_of(one->value, squares, self->n), 1));
	}
	for (unsigned i = 0; i < LODE_SIGNATURE_LENGTHS; i++)
		signature->totals[kind][i] = lode_signature_round(
			MIN(self->totals[kind][i] / self->n, 1));
}

LodeSignature *lode_signature_builder_finish(LodeSignatureBuilder *self, const char *name,
	double min_support, double units, GError **error)
{
	GHashTableIter files;
	gpointer text, share;

	g_assert(self->n > 0);
	if (units > 0 && self->seconds.n < self->n) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--units: a profile does not say how much processor time its program took; "
			"lode run without --exact measures it");
		return NULL;
	}
	LodeSignature *signature = lode_signature_new(name, self->attributes);
	signature->n_profiles = self->n;
	signature->frequency = self->frequency;
	signature->executions = lode_signature_round(self->executions.sum / self->n);
	signature->min_support = lode_signature_round(min_support);
	signature->seconds_per_execution = figure_of(&self->seconds_per_execution, self->n, 1);
	signature->seconds_per_unit = figure_of(&self->seconds, self->n, units);
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		add_sequences(self, kind, signature);
	g_hash_table_iter_init(&files, self->files);
	while (g_hash_table_iter_next(&files, &text, &share))
		lode_signature_add_file(signature, text, MIN(*(double *)share / self->n, 1));
	for (unsigned kind = 0; kind < LODE_N_SEQUENCE_KINDS; kind++)
		for (unsigned i = 0; i < LODE_SIGNATURE_LENGTHS; i++)
			g_array_sort(
				signature->sequences[kind][i], lode_signature_sequence_compare);
	g_array_sort(signature->files, lode_signature_file_compare);
	return signature;
}
