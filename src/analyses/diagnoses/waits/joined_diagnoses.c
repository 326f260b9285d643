/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/thread_diagnoses.h"

#include <string.h>

/* What an instruction that takes a lock is said to be: a call of a mutex, a locked operation, or a
 * loop that waits. */
static bool is_of_lock_code(const LodeDiagnosis *self)
{
	static const char *const causes[] = {"service-lock", "atomic", "lock", NULL};

	return self->scope != LODE_SCOPE_WAIT && g_strv_contains(causes, self->cause);
}

static bool is_at_same_function(const LodeDiagnosis *one, const LodeDiagnosis *other)
{
	return one->site.function != NULL &&
	       g_strcmp0(one->site.function, other->site.function) == 0 &&
	       (one->site.file == NULL || other->site.file == NULL ||
		       strcmp(one->site.file, other->site.file) == 0);
}

/* The first clause of a remedy. The caller frees it. */
static char *first_clause(const char *remedy)
{
	char *clause = g_strndup(remedy, strcspn(remedy, ";.("));

	g_strchomp(clause);
	if (clause[0] != '\0')
		clause[0] = g_ascii_tolower(clause[0]);
	return clause;
}

static void join(LodeDiagnosis *first, const LodeDiagnosis *other)
{
	g_autofree char *clause = first_clause(other->remedy != NULL ? other->remedy : "");
	bool is_wait = other->scope == LODE_SCOPE_WAIT;
	double percent = 100 * (is_wait ? other->clock_high : other->time);

	lode_diagnosis_add_evidence(first, percent, "%",
		is_wait ? "threads also wait for it, up to %.0f %% of the time by the clock: %s"
			: "the instructions that take it have %.0f %% of the processor time: %s",
		percent, clause);
	if (!is_wait)
		first->time = MAX(first->time, other->time);
}

static void join_locks(LodeDiagnoses *self)
{
	for (guint i = 0; i < self->diagnoses->len; i++) {
		LodeDiagnosis *first = lode_diagnoses_at(self, i);
		bool is_wait = strcmp(first->cause, "wait-lock") == 0;
		if (!is_wait && !is_of_lock_code(first))
			continue;
		for (guint k = self->diagnoses->len; k-- > i + 1;) {
			const LodeDiagnosis *other = lode_diagnoses_at(self, k);
			if (!is_at_same_function(first, other) ||
				!(is_wait ? is_of_lock_code(other)
					  : strcmp(other->cause, "wait-lock") == 0))
				continue;
			join(first, other);
			g_ptr_array_remove_index(self->diagnoses, k);
		}
	}
}

/* Whether it is time in the kernel that fsync and the like have, or may have, as it is not known
 * what entered it. */
static bool may_be_sync(const LodeDiagnosis *self)
{
	return strcmp(self->cause, "kernel-time") == 0 ||
	       (strcmp(self->cause, "system-call") == 0 && self->service != NULL &&
		       g_pattern_match_simple("*sync*", self->service));
}

/* Calls that are waited in also run: their time in the kernel is the same cause, where that saves
 * more. */
static void join_kernel_time(LodeDiagnoses *self)
{
	for (guint i = 0; i < self->diagnoses->len; i++) {
		LodeDiagnosis *first = lode_diagnoses_at(self, i);
		if (strcmp(first->cause, "wait-sync") != 0)
			continue;
		for (guint k = self->diagnoses->len; k-- > i + 1;) {
			const LodeDiagnosis *other = lode_diagnoses_at(self, k);
			if (!may_be_sync(other))
				continue;
			lode_diagnosis_add_evidence(first, 100 * other->time, "%",
				"%.0f %% of the processor time is in the kernel, where these calls "
				"run, too",
				100 * other->time);
			g_ptr_array_remove_index(self->diagnoses, k);
		}
	}
}

void lode_wait_diagnoses_join(LodeDiagnoses *self)
{
	join_locks(self);
	join_kernel_time(self);
}

void lode_wait_diagnoses_tell_overlaps(LodeDiagnoses *self)
{
	double sum = 0;

	for (guint i = 0; i < self->diagnoses->len && self->is_by_clock; i++) {
		LodeDiagnosis *one = lode_diagnoses_at(self, i);
		if (!(one->clock_high > 0))
			continue;
		sum += one->clock_high;
		if (sum > 1 && i > 0)
			lode_diagnosis_add_evidence(one, 100 * sum, "%",
				"in part of the time that those before it save: together they save "
				"less than their sum, which is %.0f %%",
				100 * sum);
	}
}
