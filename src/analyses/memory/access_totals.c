/* SPDX-License-Identifier: MIT */
#include "analyses/memory/access_totals.h"

#include "model/memory.h"

void lode_access_totals_add(LodeAccessTotals *self, const LodeMemorySample *sample, uint32_t row)
{
	bool is_second = sample->operand != 0 && self->next_row == row;

	self->n_samples += !is_second;
	self->n_loads += (sample->access & LODE_ACCESS_LOAD) != 0;
	self->n_stores += (sample->access & LODE_ACCESS_STORE) != 0;
	self->n_latencies += sample->latency != 0;
	self->latency += (double)sample->latency;
	self->weight += sample->weight;
	self->next_row = row + 1;
}
