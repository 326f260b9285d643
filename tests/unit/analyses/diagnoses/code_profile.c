/* SPDX-License-Identifier: MIT */
#include "code_profile.h"

#include "base/arrays/sort_order.h"

LODE_ORDER(compare_edges, LodeEdge, LODE_ASCENDING(source), LODE_ASCENDING(target),
	LODE_ASCENDING(kind))

LodeProfile *code_profile_new(void)
{
	LodeProfile *self = lode_profile_new();
	const LodeImage image = {.path = lode_profile_intern(self, "/home/me/program")};

	self->weight_event = lode_profile_add_event(
		self, "cpu-clock", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	self->frequency = LODE_FREQUENCY_INFERRED;
	g_array_append_val(self->images, image);
	g_array_set_size(self->cost_starts, 0);
	g_array_set_size(self->cost_starts, 1);
	LODE_AT(self->cost_starts, uint32_t, 0) = 0;
	return self;
}

static LodeFunction *last_function(LodeProfile *self)
{
	return lode_profile_function(self, self->functions->len - 1);
}

uint32_t code_profile_function(LodeProfile *self, const char *name)
{
	const LodeFunction function = {.source = LODE_FUNCTION_SYMBOL,
		.name = lode_profile_intern(self, name),
		.address = 0x1000 + 4 * self->instructions->len,
		.first_instruction = self->instructions->len,
		.first_block = self->blocks->len};

	g_array_append_val(self->functions, function);
	return self->functions->len - 1;
}

uint32_t code_profile_block(LodeProfile *self, uint8_t depth, bool is_head)
{
	const LodeBlock block = {.function = self->functions->len - 1,
		.address = 0x1000 + 4 * self->instructions->len,
		.count = 1,
		.loop_depth = depth,
		.is_loop_head = is_head};

	g_array_append_val(self->blocks, block);
	last_function(self)->n_blocks++;
	return self->blocks->len - 1;
}

uint32_t code_profile_add(LodeProfile *self, const char *attributes, double weight)
{
	uint32_t ids[16];
	size_t n = 0;
	LodeFunction *function = last_function(self);
	g_auto(GStrv) names = g_strsplit(attributes, " ", -1);
	const LodeCost cost = {self->weight_event, weight};

	for (char **name = names; *name != NULL && n < G_N_ELEMENTS(ids); name++)
		ids[n++] = lode_profile_attribute(self, *name);
	const LodeInstruction one = {.address = 0x1000 + 4 * self->instructions->len,
		.count = 1,
		.next_count = -1,
		.function = self->functions->len - 1,
		.block = function->n_blocks > 0 ? self->blocks->len - 1 : LODE_NONE,
		.attribute_set = lode_profile_attribute_set(self, ids, n),
		.location = LODE_NONE,
		.size = 4};
	g_array_append_val(self->instructions, one);
	function->n_instructions++;
	function->size += 4;
	if (function->n_blocks > 0)
		lode_profile_block(self, one.block)->end = one.address + 4;
	if (weight > 0)
		g_array_append_val(self->costs, cost);
	g_array_append_val(self->cost_starts, self->costs->len);
	return self->instructions->len - 1;
}

void code_profile_fall(LodeProfile *self, uint32_t source, double count)
{
	lode_profile_instruction(self, source)->next_count = count;
}

void code_profile_edge(
	LodeProfile *self, uint32_t source, uint32_t target, LodeEdgeKind kind, double count)
{
	const LodeEdge edge = {source, target, kind, count};

	g_array_append_val(self->edges, edge);
}

void code_profile_finish(LodeProfile *self)
{
	double total = 0;

	g_array_sort(self->edges, compare_edges);
	for (guint i = 0; i < self->costs->len; i++)
		total += LODE_AT(self->costs, LodeCost, i).value;
	lode_profile_event(self, self->weight_event)->total = self->n_samples = total;
}

void code_context_init(CodeContext *self, const LodeProfile *profile)
{
	*self = (CodeContext){
		.functions = lode_costed_functions_new(profile, profile->weight_event, NULL),
		.own = lode_own_lines_new(profile, NULL)};
	self->context = (LodeDiagnosisContext){.profile = profile,
		.event = profile->weight_event,
		.total = lode_profile_event(profile, profile->weight_event)->total,
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
