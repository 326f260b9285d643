/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/sampled_totals.h"

void lode_sampled_totals_init(LodeSampledTotals *self, guint n_columns)
{
	double **const sums[] = {&self->n_samples, &self->sums, &self->squares,
		&self->stepped.weights, &self->own.weights};

	for (size_t i = 0; i < G_N_ELEMENTS(sums); i++)
		*sums[i] = g_new0(double, n_columns);
	for (int i = 0; i < LODE_PLACE_N_OUTCOMES; i++)
		self->weights[i] = g_new0(double, n_columns);
}

void lode_sampled_totals_clear(LodeSampledTotals *self)
{
	double *const sums[] = {self->n_samples, self->sums, self->squares, self->stepped.weights,
		self->own.weights};

	for (size_t i = 0; i < G_N_ELEMENTS(sums); i++)
		g_free(sums[i]);
	for (int i = 0; i < LODE_PLACE_N_OUTCOMES; i++) {
		g_free(self->examples[i]);
		g_free(self->weights[i]);
	}
}

void lode_sampled_totals_add(LodeSampledTotals *self, uint32_t column, double value)
{
	self->n_samples[column]++;
	self->sums[column] += value;
	self->squares[column] += value * value;
}

void lode_sampled_totals_add_unplaced(
	LodeSampledTotals *self, LodePlaceOutcome outcome, const LodePerfRecord *record)
{
	self->counts[outcome]++;
	if (self->examples[outcome] == NULL)
		self->examples[outcome] = g_strdup_printf("0x%" G_GINT64_MODIFIER
							  "x in process %" G_GUINT32_FORMAT,
			record->sample.ip, record->pid);
}

void lode_sampled_totals_finish(const LodeSampledTotals *self, LodeRecording *recording)
{
	uint32_t column = lode_recording_weight_column(recording);
	double sum = self->sums[column];

	recording->n_samples = self->n_samples[column];
	if (self->squares[column] > 0)
		recording->n_equal_samples = sum * sum / self->squares[column];
}

void lode_sampled_totals_account(const LodeSampledTotals *self, LodeRecording *recording)
{
	uint32_t column = lode_recording_weight_column(recording);

	for (int i = 1; i < LODE_PLACE_N_OUTCOMES; i++)
		if (self->counts[i] > 0)
			lode_recording_add_unresolved(recording,
				lode_place_outcome_reason((LodePlaceOutcome)i), self->examples[i],
				self->counts[i], self->weights[i][column]);
}
