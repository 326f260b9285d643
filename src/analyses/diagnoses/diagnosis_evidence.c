/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/diagnosis_evidence.h"

#include "model/observed/windows.h"

#include <math.h>
#include <string.h>

/* --- loops --- */

/* Whether a cause is the recurrence of a loop. */
static bool is_recurrence(const char *cause)
{
	return g_str_has_prefix(cause, "recurrence") || strcmp(cause, "false-dependence") == 0 ||
	       strcmp(cause, "pointer-chase") == 0;
}

/* Other code replaces the cause, which may need less than what the loop needs beside it. */
static const double SURE = 0.5;

/* Whether what a cause's instructions need of the loop's units goes with them. */
static bool is_own_work(const char *cause)
{
	static const char *const causes[] = {
		"division", "square-root", "atomic", "lock", "serialising"};

	for (size_t i = 0; i < G_N_ELEMENTS(causes); i++)
		if (strcmp(cause, causes[i]) == 0)
			return true;
	return false;
}

double lode_rest_of_loop(const LodeCostedCode *code, const LodeLoop *loop, const char *cause)
{
	LodeUnit unit;
	double rest = lode_loop_busiest(loop, &unit);
	double cycles = lode_costed_code_cycles(code, loop);

	if (is_recurrence(cause)) {
		rest = MAX(rest, loop->other_cycles);
		/* A load of a recurrence may take far longer, in the caches. */
		if (isnan(cycles) && strcmp(cause, "pointer-chase") != 0 &&
			strcmp(cause, "recurrence-load") != 0)
			cycles = loop->recurrence_cycles;
	} else if (is_own_work(cause)) {
		rest = MAX(loop->cycles[LODE_UNIT_LOAD], loop->cycles[LODE_UNIT_WIDTH]);
	}
	/* measured to be less than the bound: by an error */
	if (is_recurrence(cause) && cycles < loop->recurrence_cycles)
		cycles = loop->recurrence_cycles;
	return cycles > 0 ? CLAMP(SURE * rest / cycles, 0, 1) : 0;
}

/* The loop of the costliest place that is in one; NULL: none is. */
static const LodeLoop *main_loop(const LodeDiagnosis *self, const LodeCostedCode *code)
{
	const LodeProfile *profile = code->context->profile;

	for (guint i = 0; i < self->at->len; i++) {
		uint32_t at = g_array_index(self->at, LodeFindingPlace, i).instruction;
		if (code->loops[at] != LODE_NONE)
			return &LODE_AT(profile->loops, LodeLoop, code->loops[at]);
	}
	return NULL;
}

/* Loops of several functions are alike in what limits them, so that the costliest one stands for
 * all. */
static void add_loop(LodeDiagnosis *self, const LodeCostedCode *code)
{
	const LodeLoop *loop = main_loop(self, code);
	LodeUnit unit;

	if (loop == NULL || !is_recurrence(self->cause))
		return;
	double cycles = lode_costed_code_cycles(code, loop);
	double other = MAX(lode_loop_busiest(loop, &unit), loop->other_cycles);
	if (!(loop->recurrence_cycles > other))
		return;
	if (!(cycles >= loop->recurrence_cycles))
		lode_diagnosis_add_evidence(self, loop->recurrence_cycles, "cycles",
			"an iteration waits %.3g cycles or more for the one before; else it needs "
			"%.3g",
			loop->recurrence_cycles, other);
	else
		lode_diagnosis_add_evidence(self, cycles, "cycles",
			"an iteration takes %.3g cycles, waits %.3g for the one before; else %.3g",
			cycles, loop->recurrence_cycles, other);
}

static void add_bytes(LodeDiagnosis *self, const LodeCostedCode *code)
{
	const LodeLoop *loop = main_loop(self, code);
	const LodeMemoryRates *rates = &code->context->profile->rates;
	bool is_store = strcmp(self->cause, "store-bound") == 0;

	if (loop == NULL || !(loop->iteration_ns > 0) ||
		(!is_store && strcmp(self->cause, "memory-bandwidth") != 0))
		return;
	double bytes = is_store ? loop->store_bytes : loop->load_bytes + loop->store_bytes;
	lode_diagnosis_add_evidence(self, bytes / loop->iteration_ns, "bytes per ns",
		"it %s %.3g bytes per ns; memory %s one thread %.3g as measured",
		is_store ? "stores" : "moves", bytes / loop->iteration_ns,
		is_store ? "takes" : "gives",
		is_store ? rates->write[LODE_RATE_MEMORY] : rates->read[LODE_RATE_MEMORY]);
}

/* --- windows --- */

typedef struct {
	double outcomes, unforetold, steps, denormals;
} Seen;

static Seen seen_at(const LodeDiagnosis *self, const LodeCostedCode *code)
{
	const LodeWindows *windows = code->context->profile->windows;
	Seen seen = {0};

	for (guint i = 0; windows != NULL && i < self->at->len; i++) {
		const LodeObservedInstruction *one = lode_windows_find(
			windows, g_array_index(self->at, LodeFindingPlace, i).instruction);
		if (one == NULL)
			continue;
		seen.outcomes += one->outcomes;
		seen.unforetold += one->unforetold;
		seen.steps += one->steps;
		seen.denormals += MAX(one->denormals, one->underflows);
	}
	return seen;
}

enum { LEAST_SEEN = 100 };

static void add_windows(LodeDiagnosis *self, const LodeCostedCode *code)
{
	Seen seen = seen_at(self, code);

	if (g_str_has_suffix(self->cause, "-mispredict") && seen.outcomes >= LEAST_SEEN)
		lode_diagnosis_add_evidence(self, 100 * seen.unforetold / seen.outcomes, "%",
			"%.0f %% of %.0f outcomes are not foretold by those before (windows)",
			100 * seen.unforetold / seen.outcomes, seen.outcomes);
	if (strcmp(self->cause, "denormal") == 0 && seen.steps >= LEAST_SEEN)
		lode_diagnosis_add_evidence(self, 100 * seen.denormals / seen.steps, "%",
			"%.0f %% of %.0f operations have a denormal operand or result (windows)",
			100 * seen.denormals / seen.steps, seen.steps);
}

/* --- all --- */

const char *lode_diagnosis_weight(const LodeDiagnosisContext *context)
{
	const char *name = lode_profile_event(context->profile, context->event)->name;

	if (name != NULL && strstr(name, "cycles") != NULL)
		return "cycles";
	return name == NULL || strstr(name, "clock") != NULL ||
	                       strcmp(name, LODE_LATENCY_EVENT) == 0
	               ? "time"
	               : name;
}

/* Others have next to nothing where these have so many times as much. */
static const double MOST_TIMES = 200;

void lode_place_evidence_add(
	LodeDiagnosis *self, const LodeCostedCode *code, double weight, double base)
{
	const LodeDiagnosisContext *context = code->context;
	double share = 100 * weight / context->total * context->user;
	const char *what = lode_diagnosis_weight(context);

	add_windows(self, code);
	add_loop(self, code);
	add_bytes(self, code);
	if (weight < MOST_TIMES * base)
		lode_diagnosis_add_evidence(self, share, "%",
			"%.1f %% of the %s at %u such instruction%s, %.3g × those around", share,
			what, self->places, self->places == 1 ? "" : "s", weight / base);
	else
		lode_diagnosis_add_evidence(self, share, "%",
			"%.1f %% of the %s at %u such instruction%s, next to none at those "
			"around",
			share, what, self->places, self->places == 1 ? "" : "s");
}
