/* SPDX-License-Identifier: MIT */
#include "code_profile.h"

#include "base/arrays/sort_order.h"
#include "model/profile.h"

LODE_ORDER(compare_edges, LodeEdge, LODE_ASCENDING(source), LODE_ASCENDING(target),
	LODE_ASCENDING(kind))

LodeProfile *code_profile_new(void)
{
	LodeProfile *self = made_profile("cpu-clock", LODE_EVENT_SAMPLED, "/home/me/program");

	self->run.frequency = LODE_FREQUENCY_INFERRED;
	return self;
}

static uint64_t next_address(const LodeProfile *self)
{
	return 0x1000 + 4 * self->code.instructions->len;
}

uint32_t code_profile_function(LodeProfile *self, const char *name)
{
	return made_function(
		self, (LodeFunction){.name = (char *)name, .address = next_address(self)});
}

uint32_t code_profile_block(LodeProfile *self, uint8_t depth, bool is_head)
{
	return made_block(self, (LodeBlock){.address = next_address(self),
					.count = 1,
					.loop_depth = depth,
					.is_loop_head = is_head});
}

uint32_t code_profile_add(LodeProfile *self, const char *attributes, double weight)
{
	LodeFunction *function = lode_profile_function(self, self->code.functions->len - 1);
	const LodeInstruction row = {.address = next_address(self), .count = 1, .size = 4};

	function->size += row.size;
	if (function->n_blocks > 0)
		lode_profile_block(self, self->code.blocks->len - 1)->end = row.address + row.size;
	return made_instruction(self, row, attributes, weight);
}

void code_profile_finish(LodeProfile *self)
{
	double total = 0;

	g_array_sort(self->code.edges, compare_edges);
	for (guint i = 0; i < self->code.costs->len; i++)
		total += LODE_AT(self->code.costs, LodeCost, i).value;
	lode_profile_event(self, self->code.weight_event)->total = self->run.n_samples = total;
}

void code_context_init(CodeContext *self, const LodeProfile *profile)
{
	*self = (CodeContext){
		.functions = lode_costed_functions_new(profile, profile->code.weight_event, NULL),
		.own = lode_own_lines_new(profile, NULL)};
	self->context = (LodeDiagnosisContext){.profile = profile,
		.event = profile->code.weight_event,
		.total = lode_profile_event(profile, profile->code.weight_event)->total,
		.user = 1,
		.own = self->own,
		.costs = self->functions->costs,
		.families = self->functions->families,
		.family_of = self->functions->family_of,
		.services = self->functions->services};
}

void code_context_clear(CodeContext *self)
{
	lode_own_lines_free(self->own);
	lode_costed_functions_free(self->functions);
}

const char *evidence_at(const LodeDiagnosis *self, guint i)
{
	return i < self->evidence->len ? g_array_index(self->evidence, LodeEvidence, i).text : NULL;
}

/* The 90 % quantile of a normal distribution. */
static const double ERRORS = 1.2816;

double least_time(const LodeDiagnosis *self)
{
	return MAX(self->time - ERRORS * self->time_error, 0);
}

double most_time(const LodeDiagnosis *self)
{
	return self->time + ERRORS * self->time_error;
}
