/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/diagnoses.h"

#include "base/arrays/sort_order.h"
#include "model/findings.h"
#include "model/index.h"

#include <math.h>

LodeDiagnoses *lode_diagnoses_new(void)
{
	LodeDiagnoses *self = g_new0(LodeDiagnoses, 1);

	self->diagnoses = g_ptr_array_new_with_free_func(
		(GDestroyNotify)(void (*)(void))lode_diagnosis_free);
	self->smaller = g_ptr_array_new_with_free_func(
		(GDestroyNotify)(void (*)(void))lode_diagnosis_free);
	self->user = 1;
	return self;
}

void lode_diagnoses_free(LodeDiagnoses *self)
{
	if (self == NULL)
		return;
	g_ptr_array_unref(self->diagnoses);
	g_ptr_array_unref(self->smaller);
	g_free(self->weight);
	g_free(self->foreigners);
	lode_costed_functions_free(self->functions);
	g_free(self);
}

bool lode_diagnoses_is_small_by_clock(const LodeDiagnoses *self, const LodeDiagnosis *one)
{
	return self->is_by_clock && one->scope != LODE_SCOPE_WAIT &&
	       one->clock_high < LODE_LEAST_BY_CLOCK && one->clock < LODE_LEAST_BY_CLOCK;
}

void lode_diagnoses_set_aside(LodeDiagnoses *self, guint index)
{
	LodeDiagnosis *one = g_ptr_array_steal_index(self->diagnoses, index);

	one->is_smaller = true;
	g_ptr_array_add(self->smaller, one);
}

void lode_diagnoses_join(LodeDiagnoses *self)
{
	g_ptr_array_extend_and_steal(self->diagnoses, self->smaller);
	self->smaller = g_ptr_array_new_with_free_func(
		(GDestroyNotify)(void (*)(void))lode_diagnosis_free);
}

static void clear_evidence(void *data)
{
	LodeEvidence *self = data;

	g_free(self->text);
	g_free(self->unit);
}

LodeDiagnosis *lode_diagnosis_new(const char *cause, LodeScopeKind scope)
{
	LodeDiagnosis *self = g_new0(LodeDiagnosis, 1);

	self->cause = g_strdup(cause);
	self->scope = scope;
	self->site.instruction = LODE_NONE;
	self->low = self->clock = self->clock_low = self->clock_high = NAN;
	self->evidence = g_array_new(FALSE, FALSE, sizeof(LodeEvidence));
	g_array_set_clear_func(self->evidence, clear_evidence);
	self->ruled_out = g_ptr_array_new_with_free_func(g_free);
	self->at = g_array_new(FALSE, FALSE, sizeof(LodeFindingPlace));
	self->findings = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	return self;
}

void lode_diagnosis_set_texts(
	LodeDiagnosis *self, const char *explanation, const char *remedy, const char *source)
{
	self->explanation = g_strdup(explanation);
	self->remedy = g_strdup(remedy);
	self->source = g_strdup(source);
}

void lode_diagnosis_free(LodeDiagnosis *self)
{
	if (self == NULL)
		return;
	char *texts[] = {self->cause, self->title, self->name, self->site.function, self->site.file,
		self->service, self->object, self->explanation, self->remedy, self->source,
		self->authors, self->enters};
	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		g_free(texts[i]);
	g_array_unref(self->evidence);
	g_ptr_array_unref(self->ruled_out);
	g_array_unref(self->at);
	g_array_unref(self->findings);
	g_free(self);
}

void lode_diagnosis_add_evidence(
	LodeDiagnosis *self, double value, const char *unit, const char *format, ...)
{
	LodeEvidence evidence = {.value = value, .unit = g_strdup(unit)};
	va_list arguments;

	va_start(arguments, format);
	evidence.text = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_array_append_val(self->evidence, evidence);
}

void lode_diagnosis_rule_out(LodeDiagnosis *self, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_ptr_array_add(self->ruled_out, g_strdup_vprintf(format, arguments));
	va_end(arguments);
}

void lode_diagnosis_set_saves(LodeDiagnosis *self, double least, double most, double limit)
{
	/* The 10 and 90 % quantiles of a normal distribution. */
	static const double errors = 1.2816;

	self->high = MIN(most * (self->time + errors * self->time_error), limit);
	double low = least * MAX(self->time - errors * self->time_error, 0);
	self->low = low > self->high ? self->high : low;
}

LODE_ORDER(compare_places, LodeFindingPlace, LODE_DESCENDING(time), LODE_ASCENDING(instruction))

void lode_diagnosis_sort_places(LodeDiagnosis *self)
{
	g_array_sort(self->at, compare_places);
}

const char *lode_scope_kind_to_text(LodeScopeKind value)
{
	static const char *const words[LODE_N_SCOPES] = {
		[LODE_SCOPE_FUNCTIONS] = "functions",
		[LODE_SCOPE_FUNCTION] = "function",
		[LODE_SCOPE_LOOP] = "loop",
		[LODE_SCOPE_SERVICE] = "service",
		[LODE_SCOPE_KERNEL] = "kernel",
		[LODE_SCOPE_OBJECT] = "object",
		[LODE_SCOPE_WAIT] = "wait",
		[LODE_SCOPE_PROGRAM] = "program",
	};

	return words[value];
}
