/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/diagnosis_evidence.h"

#include "model/findings.h"
#include "model/observed/pooled_windows.h"
#include "model/observed/windows.h"
#include "model/profile.h"

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
	const LodeLoop within = lode_loop_within_time(code->context->profile, loop);
	LodeUnit unit;
	double rest = lode_loop_busiest(&within, &unit);
	double cycles = lode_costed_code_cycles(code, loop);

	if (is_recurrence(cause)) {
		rest = MAX(rest, lode_other_recurrence(&within));
		/* A load of a recurrence may take far longer, in the caches; one through memory at
		 * an address that the data give is not in the bounds. */
		if (isnan(cycles) && strcmp(cause, "pointer-chase") != 0 &&
			strcmp(cause, "recurrence-load") != 0 && within.recurrence_cycles > rest)
			cycles = within.recurrence_cycles;
	} else if (strcmp(cause, "port-contention") == 0) {
		rest = MAX(within.cycles[LODE_UNIT_WIDTH], within.recurrence_cycles);
	} else if (strcmp(cause, "throughput") == 0) {
		/* all but what is loaded is the cause's own work */
		rest = within.cycles[LODE_UNIT_LOAD];
	} else if (is_own_work(cause)) {
		rest = MAX(within.cycles[LODE_UNIT_LOAD], within.cycles[LODE_UNIT_WIDTH]);
	}
	/* measured to be less than the bound: by an error */
	if (is_recurrence(cause) && cycles < within.recurrence_cycles)
		cycles = within.recurrence_cycles;
	return cycles > 0 ? CLAMP(SURE * rest / cycles, 0, 1) : 0;
}

/* A cause's own bound is so many times the others, and this share of a time that is known. */
static const double FAR_ABOVE = 1.5, NEAR = 0.85;

bool lode_is_limit_of_loop(const LodeCostedCode *code, const LodeLoop *loop, const char *cause)
{
	bool is_division = strcmp(cause, "division") == 0 || strcmp(cause, "square-root") == 0;
	const LodeLoop within = lode_loop_within_time(code->context->profile, loop);
	LodeUnit unit;
	double rest = lode_loop_busiest(&within, &unit),
	       cycles = lode_costed_code_cycles(code, loop), bound = within.recurrence_cycles;

	if (is_division) {
		bound = within.cycles[LODE_UNIT_DIVIDER];
		rest = MAX(within.cycles[LODE_UNIT_LOAD], within.cycles[LODE_UNIT_WIDTH]);
	} else if (!is_recurrence(cause)) {
		return false;
	}
	return bound >= FAR_ABOVE * MAX(rest, is_division ? 0 : lode_other_recurrence(&within)) &&
	       bound > 0 && !(bound < NEAR * cycles);
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
	const LodeLoop within = lode_loop_within_time(code->context->profile, loop);
	double cycles = lode_costed_code_cycles(code, loop), chain = within.recurrence_cycles;
	double other = MAX(lode_loop_busiest(&within, &unit), lode_other_recurrence(&within));
	if (!(chain > other))
		return;
	if (!(cycles >= chain))
		lode_diagnosis_add_evidence(self, chain, "cycles",
			"an iteration waits %.3g cycles or more for the one before; else it needs "
			"%.3g",
			chain, other);
	else
		lode_diagnosis_add_evidence(self, cycles, "cycles",
			"an iteration takes %.3g cycles, waits %.3g for the one before; else %.3g",
			cycles, chain, other);
}

static void add_throughput(LodeDiagnosis *self, const LodeCostedCode *code)
{
	const LodeLoop *loop = main_loop(self, code);
	LodeUnit unit;

	if (loop == NULL || (strcmp(self->cause, "throughput") != 0 &&
				    strcmp(self->cause, "port-contention") != 0))
		return;
	const LodeLoop within = lode_loop_within_time(code->context->profile, loop);
	double cycles = lode_costed_code_cycles(code, loop);
	double bound = lode_loop_busiest(&within, &unit);
	if (cycles >= bound)
		lode_diagnosis_add_evidence(self, cycles, "cycles",
			"an iteration of %.3g instructions takes %.3g cycles; its work for %s %.3g",
			loop->instructions, cycles, lode_unit_name(unit), bound);
	else
		lode_diagnosis_add_evidence(self, bound, "cycles",
			"an iteration of %.3g instructions needs %.3g cycles or more (%s)",
			loop->instructions, bound, lode_unit_name(unit));
}

/* How long searches are. */
static void add_rounds(LodeDiagnosis *self, const LodeCostedCode *code)
{
	const LodeProfile *profile = code->context->profile;
	const LodeLoop *loop = main_loop(self, code);

	if (loop == NULL || strcmp(self->cause, "linear-search") != 0)
		return;
	LodeLoopRounds rounds = lode_costed_code_rounds(
		code, (uint32_t)(loop - &LODE_AT(profile->loops, LodeLoop, 0)));
	if (isnan(rounds.mean))
		lode_diagnosis_add_evidence(self, 0, "rounds",
			"it begins anew again and again, by the sampled addresses");
	else if (rounds.is_least)
		lode_diagnosis_add_evidence(self, rounds.mean, "rounds",
			"a search takes %.2g rounds or more (windows), and is made often",
			rounds.mean);
	else if (rounds.error < rounds.mean / 2)
		lode_diagnosis_add_evidence(self, rounds.mean, "rounds",
			"a search takes %.0f ± %.0f rounds (windows), and is made often",
			rounds.mean, rounds.error);
	else if (rounds.error > 0)
		lode_diagnosis_add_evidence(self, rounds.mean, "rounds",
			"a search takes some %.0f rounds (windows), and is made often",
			rounds.mean);
	else if (rounds.mean > 0)
		lode_diagnosis_add_evidence(self, rounds.mean, "rounds",
			"a search takes %.0f rounds on average, and is made often", rounds.mean);
}

static void add_bytes(LodeDiagnosis *self, const LodeCostedCode *code)
{
	const LodeLoop *loop = main_loop(self, code);
	const LodeMemoryRates *rates = &code->context->profile->run.rates;
	bool is_store = strcmp(self->cause, "store-bound") == 0;

	if (loop == NULL || !(loop->iteration_ns > 0) ||
		(!is_store && strcmp(self->cause, "memory-bandwidth") != 0))
		return;
	const LodeLoopBytes *of_loop = lode_costed_code_loop_bytes(code, loop);
	/* They are not known of repeated string instructions. */
	if (of_loop->stored < 0)
		return;
	double bytes = is_store ? of_loop->stored : of_loop->loaded + of_loop->stored;
	double moved = bytes / loop->iteration_ns;
	double rate = is_store ? rates->write[LODE_RATE_MEMORY] : rates->read[LODE_RATE_MEMORY];
	/* More: other programs used it when it was measured, or some of it is in caches. */
	lode_diagnosis_add_evidence(self, moved, "bytes per ns",
		"it %s %.3g bytes per ns; memory %s one thread %.3g%s as measured",
		is_store ? "stores" : "moves", moved, is_store ? "takes" : "gives", rate,
		moved > rate ? " or more," : "");
}

/* --- windows --- */

/* Fewer cases say nothing. */
static const double LEAST_SEEN = 100;

/* A share of outcomes below this does not speak for mispredictions: others were not judged. */
static const double LEAST_HARD = 0.04;

/* A share that is below this, two standard errors included, is ruled out as a cause. */
static const double NEXT_TO_NONE = 0.02;

/* The pooled shares of the instructions that are marked. */
static LodePooledWindows pool_of(const LodeCostedCode *code, const bool *is_of)
{
	const LodeProfile *profile = code->context->profile;
	g_autoptr(GArray) instructions = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		if (is_of[i])
			g_array_append_val(instructions, i);
	return lode_pooled_windows(
		profile, (const uint32_t *)(void *)instructions->data, instructions->len);
}

static LodePooledWindows pool_places(const LodeDiagnosis *self, const LodeCostedCode *code)
{
	g_autofree bool *is_of = g_new0(bool, code->context->profile->code.instructions->len + 1);

	for (guint i = 0; i < self->at->len; i++)
		is_of[g_array_index(self->at, LodeFindingPlace, i).instruction] = true;
	return pool_of(code, is_of);
}

/* Those of the branches, jumps and calls to the places: where one is mispredicted its ways wait. */
static LodePooledWindows pool_sources(const LodeDiagnosis *self, const LodeCostedCode *code)
{
	g_autofree bool *is_of = g_new0(bool, code->context->profile->code.instructions->len + 1);

	for (guint i = 0; i < self->at->len; i++) {
		uint32_t at = g_array_index(self->at, LodeFindingPlace, i).instruction;
		for (uint32_t w = code->way_starts[at]; w < code->way_starts[at + 1]; w++) {
			LodeEdgeKind kind = code->ways[w].kind;
			if (kind != LODE_EDGE_FALL_THROUGH && kind != LODE_EDGE_RETURN)
				is_of[code->ways[w].source] = true;
		}
	}
	return pool_of(code, is_of);
}

/* Those of all that the functions of the places execute. */
static LodePooledWindows pool_functions(const LodeDiagnosis *self, const LodeCostedCode *code)
{
	const LodeProfile *profile = code->context->profile;
	g_autofree bool *is_of = g_new0(bool, profile->code.instructions->len + 1);
	g_autofree bool *functions = g_new0(bool, profile->code.functions->len + 1);

	for (guint i = 0; i < self->at->len; i++) {
		uint32_t at = g_array_index(self->at, LodeFindingPlace, i).instruction;
		functions[lode_profile_instruction(profile, at)->function] = true;
	}
	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		is_of[i] = functions[lode_profile_instruction(profile, i)->function];
	return pool_of(code, is_of);
}

static void add_outcomes(LodeDiagnosis *self, const LodeCostedCode *code)
{
	LodePooledWindows pooled = pool_sources(self, code);
	const LodePooledShare *hard = &pooled.shares[LODE_POOLED_UNFORETOLD];
	const LodePooledShare *differing = &pooled.shares[LODE_POOLED_DIFFERING];

	if (hard->cases >= LEAST_SEEN && hard->share >= LEAST_HARD)
		lode_diagnosis_add_evidence(self, 100 * hard->share, "%",
			"%.0f %% ± %.0f of %.0f outcomes are not foretold by those before "
			"(windows)",
			100 * hard->share, 100 * hard->error, hard->cases);
	else if (differing->cases >= LEAST_SEEN && differing->share >= LEAST_HARD)
		lode_diagnosis_add_evidence(self, 100 * differing->share, "%",
			"of two outcomes drawn at random, %.0f %% ± %.0f differ (windows, of %.0f)",
			100 * differing->share, 100 * differing->error, differing->cases);
}

/* "stride:4096" of an instruction that has conflict:…; 0: none. */
static int64_t crowded_stride_at(const LodeProfile *profile, uint32_t instruction)
{
	uint32_t set = lode_profile_instruction(profile, instruction)->attribute_set;
	const char *stride = lode_profile_set_value(profile, set, "stride:");

	return stride != NULL && lode_profile_set_value(profile, set, "conflict:") != NULL
	               ? g_ascii_strtoll(stride, NULL, 10)
	               : 0;
}

/* The step of the costliest walk across lines. */
static void add_walk(LodeDiagnosis *self, const LodeCostedCode *code)
{
	const LodeProfile *profile = code->context->profile;

	for (guint i = 0; i < self->at->len; i++) {
		uint32_t at = g_array_index(self->at, LodeFindingPlace, i).instruction;
		uint32_t set = lode_profile_instruction(profile, at)->attribute_set;
		const char *stride = lode_profile_set_value(profile, set, "stride:");
		if ((code->facts[at] >> LODE_CODE_ACROSS & 1) == 0 || stride == NULL)
			continue;
		gint64 step = g_ascii_strtoll(stride, NULL, 10);
		lode_diagnosis_add_evidence(self, (double)step, "bytes",
			"each round goes %" G_GINT64_FORMAT " bytes %s", ABS(step),
			step > 0 ? "further" : "back");
		return;
	}
}

static void add_conflicts(LodeDiagnosis *self, const LodeCostedCode *code)
{
	const LodeProfile *profile = code->context->profile;
	int64_t stride = 0;

	if (strcmp(self->cause, "conflict-miss") != 0)
		return;
	for (guint i = 0; i < self->at->len && stride == 0; i++)
		stride = crowded_stride_at(
			profile, g_array_index(self->at, LodeFindingPlace, i).instruction);
	if (stride != 0)
		lode_diagnosis_add_evidence(self, (double)stride, "bytes",
			"from one access to the next it is %" G_GINT64_FORMAT " bytes", stride);
	LodePooledWindows pooled = pool_places(self, code);
	const LodePooledShare *share = &pooled.shares[LODE_POOLED_CONFLICTING];
	if (share->cases >= LEAST_SEEN && share->hits > 0)
		lode_diagnosis_add_evidence(self, 100 * share->share, "%",
			"%.0f %% ± %.0f of %.0f accesses find that others of the set have taken "
			"the line's place (windows)",
			100 * share->share, 100 * share->error, share->cases);
}

/* In the whole program: places with such numbers are given to another diagnosis. */
/* A word that is stored and loaded again at an address that the data give. */
static void add_stored(LodeDiagnosis *self, const LodeCostedCode *code)
{
	const LodeWindows *windows = code->context->profile->windows;
	double accesses = 0, stored = 0;

	for (guint i = 0; i < self->at->len; i++) {
		uint32_t at = g_array_index(self->at, LodeFindingPlace, i).instruction;
		const LodeObservedInstruction *seen = lode_windows_find(windows, at);
		if (seen == NULL || seen->loads.stored == 0 ||
			(code->facts[at] >> LODE_CODE_STORED & 1) == 0)
			continue;
		accesses += lode_window_judged_accesses(seen);
		stored += seen->loads.stored;
	}
	if (accesses > 0)
		lode_diagnosis_add_evidence(self, 100 * stored / accesses, "%",
			"%.0f %% of %.0f loads were of what a store less than 100 instructions "
			"before had written (windows)",
			100 * stored / accesses, accesses);
}

static bool has_no_denormals(const LodeCostedCode *code)
{
	LodeWindowSums sums = lode_windows_sums(code->context->profile->windows);

	return sums.denormals == 0 && sums.underflows == 0;
}

static void add_denormals(LodeDiagnosis *self, const LodeCostedCode *code)
{
	LodePooledWindows pooled = pool_places(self, code);
	const LodePooledShare *share = &pooled.shares[LODE_POOLED_DENORMAL];

	if (share->hits < pooled.shares[LODE_POOLED_UNDERFLOW].hits)
		share = &pooled.shares[LODE_POOLED_UNDERFLOW];
	if (share->cases < LEAST_SEEN)
		return;
	if (strcmp(self->cause, "denormal") == 0)
		lode_diagnosis_add_evidence(self, 100 * share->share, "%",
			"%.0f %% ± %.0f of %.0f operations have a denormal operand or result "
			"(windows)",
			100 * share->share, 100 * share->error, share->cases);
	else if (has_no_denormals(code))
		lode_diagnosis_rule_out(
			self, "denormals: none in %.0f operations (windows)", share->cases);
}

static bool is_next_to_none(const LodePooledShare *share)
{
	return share->cases >= LEAST_SEEN && share->share + 2 * share->error <= NEXT_TO_NONE;
}

/* Nearly all outcomes at branches that went several ways were judged, and foretold. */
static bool are_foretold(const LodePooledWindows *pooled)
{
	const LodePooledShare *hard = &pooled->shares[LODE_POOLED_UNFORETOLD];

	return is_next_to_none(hard) &&
	       pooled->shares[LODE_POOLED_UNJUDGED].hits <= NEXT_TO_NONE * hard->cases;
}

/* Other causes, by what the functions did. */
static void rule_out(LodeDiagnosis *self, const LodeCostedCode *code)
{
	static const struct {
		const char *cause, *text;
		LodePooledFact fact;
	} others[] = {
		{"conflict-miss", "conflicts in the first level", LODE_POOLED_CONFLICTING},
		{"split-access", "accesses across a border of lines", LODE_POOLED_SPLIT},
		{"part-store", "loads of parts of what was stored", LODE_POOLED_PART_STORED},
	};
	LodePooledWindows pooled = pool_functions(self, code);
	const LodePooledShare *hard = &pooled.shares[LODE_POOLED_UNFORETOLD];

	if (!g_str_has_suffix(self->cause, "-mispredict") && are_foretold(&pooled))
		lode_diagnosis_rule_out(self,
			"mispredictions: %.1f %% of %.0f outcomes foretold (windows)",
			100 - 100 * hard->share, hard->cases);
	for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
		const LodePooledShare *share = &pooled.shares[others[i].fact];
		if (strcmp(self->cause, others[i].cause) == 0 || !is_next_to_none(share))
			continue;
		if (share->hits == 0)
			lode_diagnosis_rule_out(
				self, "%s: none of %.0f (windows)", others[i].text, share->cases);
		else
			lode_diagnosis_rule_out(self, "%s: %.1f %% of %.0f (windows)",
				others[i].text, 100 * share->share, share->cases);
	}
}

static void add_windows(LodeDiagnosis *self, const LodeCostedCode *code)
{
	if (code->context->profile->windows == NULL)
		return;
	if (g_str_has_suffix(self->cause, "-mispredict"))
		add_outcomes(self, code);
	if (strcmp(self->cause, "denormal") == 0 || strcmp(self->cause, "recurrence-fp") == 0 ||
		strcmp(self->cause, "square-root") == 0)
		add_denormals(self, code);
	if (strcmp(self->cause, "recurrence-memory") == 0)
		add_stored(self, code);
	rule_out(self, code);
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

/* Who calls the small functions that it is about. */
static void add_small_calls(LodeDiagnosis *self, const LodeCostedCode *code)
{
	const LodeProfile *profile = code->context->profile;
	g_autoptr(GHashTable) called = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) callers = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) calls = g_hash_table_new(NULL, NULL);
	uint32_t bytes = 0;

	for (guint i = 0; i < self->at->len; i++) {
		uint32_t at = g_array_index(self->at, LodeFindingPlace, i).instruction;
		g_hash_table_add(called,
			GUINT_TO_POINTER(lode_profile_instruction(profile, at)->function + 1));
	}
	for (guint i = 0; i < code->small_calls->len; i++) {
		const LodeSmallCall *call = &g_array_index(code->small_calls, LodeSmallCall, i);
		uint32_t caller = lode_profile_instruction(profile, call->instruction)->function;
		if (strcmp(self->cause, "call-overhead") != 0 ||
			!g_hash_table_contains(called, GUINT_TO_POINTER(call->function + 1)))
			continue;
		g_hash_table_add(callers, GUINT_TO_POINTER(caller + 1));
		g_hash_table_add(calls, GUINT_TO_POINTER(call->instruction + 1));
		bytes = MAX(bytes, (uint32_t)lode_profile_function(profile, call->function)->size);
	}
	guint n = g_hash_table_size(calls), n_callers = g_hash_table_size(callers);
	if (n > 0)
		lode_diagnosis_add_evidence(self, n, "calls",
			"%u call%s of functions of at most %u bytes, in loops of %u function%s", n,
			n == 1 ? "" : "s", bytes, n_callers, n_callers == 1 ? "" : "s");
}

void lode_place_evidence_add(
	LodeDiagnosis *self, const LodeCostedCode *code, double weight, double base)
{
	const LodeDiagnosisContext *context = code->context;
	double share = 100 * weight / context->total * context->user;
	const char *what = lode_diagnosis_weight(context);

	if (strcmp(self->cause, "partly-used-lines") == 0)
		add_walk(self, code);
	add_rounds(self, code);
	add_conflicts(self, code);
	add_windows(self, code);
	add_loop(self, code);
	add_bytes(self, code);
	add_throughput(self, code);
	if (weight < MOST_TIMES * base)
		lode_diagnosis_add_evidence(self, share, "%",
			"%.1f %% of the %s at %u such instruction%s, %.3g × those around", share,
			what, self->places, self->places == 1 ? "" : "s", weight / base);
	else
		lode_diagnosis_add_evidence(self, share, "%",
			"%.1f %% of the %s at %u such instruction%s, next to none at those "
			"around",
			share, what, self->places, self->places == 1 ? "" : "s");
	add_small_calls(self, code);
}
