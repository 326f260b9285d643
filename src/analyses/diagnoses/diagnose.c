/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/diagnose.h"

#include "analyses/diagnoses/place_diagnoses.h"

#include <string.h>

/* By what they may save, then by their time. */
static int compare_diagnoses(const void *a, const void *b)
{
	const LodeDiagnosis *first = *(const LodeDiagnosis *const *)a;
	const LodeDiagnosis *second = *(const LodeDiagnosis *const *)b;

	if (first->high != second->high)
		return first->high > second->high ? -1 : 1;
	if (first->time != second->time)
		return first->time > second->time ? -1 : 1;
	return strcmp(first->cause, second->cause);
}

/* The costliest place with an own line names a diagnosis of code. */
static void name_place(LodeDiagnosis *self, const LodeDiagnosisContext *context)
{
	const LodeProfile *profile = context->profile;

	if (self->at->len == 0)
		return;
	self->instruction = g_array_index(self->at, LodeFindingPlace, 0).instruction;
	for (guint i = 0; i < self->at->len; i++) {
		uint32_t at = g_array_index(self->at, LodeFindingPlace, i).instruction;
		uint32_t line = lode_own_lines_find(context->own, at);
		if (line == LODE_NONE || !lode_own_lines_is_own(context->own, line))
			continue;
		self->instruction = at;
		break;
	}
	uint32_t line = lode_own_lines_find(context->own, self->instruction);
	if (line != LODE_NONE && self->file == NULL) {
		const LodeLocation *location = &LODE_AT(profile->locations, LodeLocation, line);
		self->file = g_strdup(location->file);
		self->line = location->line;
	}
	if (self->function == NULL)
		self->function = g_strdup(lode_profile_function(
			profile, lode_profile_instruction(profile, self->instruction)->function)
						  ->name);
}

static void finish(LodeDiagnoses *self, const LodeDiagnosisContext *context)
{
	for (guint i = 0; i < self->diagnoses->len; i++) {
		LodeDiagnosis *one = lode_diagnoses_at(self, i);
		name_place(one, context);
		if (one->name == NULL)
			one->name = g_strdup_printf("%s@%s", one->cause,
				one->service != NULL  ? one->service
				: one->object != NULL ? one->object
				: one->scope == LODE_SCOPE_FUNCTIONS || one->function == NULL
					? lode_scope_kind_to_text(one->scope)
					: one->function);
		self->covered += one->time;
		g_array_set_size(one->at, MIN(one->at->len, LODE_FINDING_PLACES));
	}
	self->covered = MIN(self->covered, 1);
	g_ptr_array_sort(self->diagnoses, compare_diagnoses);
}

LodeDiagnoses *lode_diagnose(const LodeProfile *profile, const LodeFindings *findings,
	uint32_t event, const char *const *own)
{
	LodeDiagnoses *self = lode_diagnoses_new();
	g_autoptr(LodeCauseRules) rules = lode_cause_rules_new();
	g_autoptr(LodeFamilies) families = lode_families_new();
	g_autoptr(LodeFunctionCosts) costs = lode_function_costs_new(profile, event);
	g_autofree uint32_t *family_of = NULL;
	g_autoptr(GArray) family_costs = lode_families_costs(families, costs, &family_of);
	g_autoptr(LodeServices) services = lode_services_new(costs, families, family_of, own);
	g_autoptr(LodeOwnLines) lines = lode_own_lines_new(profile, own);

	self->seconds = profile->user_seconds + profile->system_seconds;
	if (!profile->is_kernel_sampled && self->seconds > 0)
		self->user = profile->user_seconds / self->seconds;
	LodeDiagnosisContext context = {profile, findings, event,
		event != LODE_NONE ? lode_profile_event(profile, event)->total : 0, self->user,
		lines, costs, families, family_of, services};
	g_autoptr(LodeCostedCode) code = lode_costed_code_new(&context);
	lode_place_diagnoses_add(self, code, rules);
	finish(self, &context);
	return self;
}
