/* SPDX-License-Identifier: MIT */
/* How many rounds loops have from entry to exit, and the long ones of some functions. */
#include "analyses/diagnoses/costed_code.h"

#include "model/observed/windows.h"
#include "model/profile.h"

#include <math.h>

/* --- rounds --- */

/* Executions of the head that came from outside of the loop. */
static double entries_of(const LodeCostedCode *code, uint32_t head)
{
	double entries = 0;

	for (uint32_t w = code->way_starts[head]; w < code->way_starts[head + 1]; w++)
		if (code->loops[code->ways[w].source] != code->loops[head])
			entries += code->ways[w].count;
	return entries;
}

LodeLoopRounds lode_costed_code_rounds(const LodeCostedCode *code, uint32_t loop)
{
	const LodeProfile *profile = code->context->profile;
	const LodeLoop *one = &LODE_AT(profile->loops, LodeLoop, loop);
	LodeLoopRounds rounds = {(double)NAN, (double)NAN, false};

	if (profile->run.frequency == LODE_FREQUENCY_EXACT) {
		double entries = entries_of(code, one->head);
		if (entries > 0 && one->is_innermost)
			rounds.mean = one->iterations / entries;
		return rounds;
	}
	LodeObservedRounds seen = lode_window_rounds(
		profile->windows != NULL ? lode_windows_find(profile->windows, one->head) : NULL);
	rounds.is_least = isnan(seen.mean);
	rounds.mean = rounds.is_least ? seen.least : seen.mean;
	rounds.error = seen.error;
	return rounds;
}

/* --- long loops --- */

typedef struct {
	bool (*match)(const char *function, const void *data);
	const void *data;
} Functions;

/* Comparisons of one key with another, inlined: their loops go over the parts of a key. */
static bool is_comparison(const char *function)
{
	static const char *const patterns[] = {"*equivalent_key*", "* as core::cmp::PartialEq*",
		"std::equal_to<*", "*operator==*", "*::_M_key_equals*"};
	bool is_any = false;

	for (size_t i = 0; i < G_N_ELEMENTS(patterns) && !is_any; i++)
		is_any = g_pattern_match_simple(patterns[i], function);
	return is_any;
}

static bool is_in(const LodeCostedCode *code, uint32_t instruction, const Functions *functions)
{
	const LodeProfile *profile = code->context->profile;
	uint32_t function = lode_profile_instruction(profile, instruction)->function;
	g_autoptr(GArray) chain = lode_own_lines_chain(code->context->own, instruction);
	bool is_of = functions->match(
		lode_profile_function(profile, function)->name, functions->data);
	bool compares = false;

	for (guint i = 0; i < chain->len; i++) {
		const char *name = g_array_index(chain, LodeInlinedLine, i).function;
		is_of |= functions->match(name, functions->data);
		compares |= is_comparison(name);
	}
	return is_of && !compares;
}

/* Whether it has an instruction there, outside of the loops in it. */
static bool is_loop_in(const LodeCostedCode *code, uint32_t loop, const Functions *functions)
{
	const LodeProfile *profile = code->context->profile;
	uint32_t head = LODE_AT(profile->loops, LodeLoop, loop).head;
	const LodeFunction *function = lode_profile_function(
		profile, lode_profile_instruction(profile, head)->function);
	bool is_any = false;

	for (uint32_t i = 0; i < function->n_instructions && !is_any; i++) {
		uint32_t at = function->first_instruction + i;
		is_any = code->loops[at] == loop && is_in(code, at, functions);
	}
	return is_any;
}

static double weight_of(const LodeCostedCode *code, uint32_t function)
{
	const LodeFunction *one = lode_profile_function(code->context->profile, function);
	double weight = 0;

	for (uint32_t i = 0; i < one->n_instructions; i++)
		weight += code->weights[one->first_instruction + i];
	return weight;
}

LodeLongLoops lode_costed_code_long_loops(const LodeCostedCode *code, double least_rounds,
	bool (*matches)(const char *function, const void *data), const void *data)
{
	const LodeProfile *profile = code->context->profile;
	const Functions functions = {matches, data};
	LodeLongLoops found = {0};
	double in_function = 0;
	uint32_t last = LODE_NONE;

	for (uint32_t i = 0; i < profile->loops->len; i++) {
		const LodeLoop *loop = &LODE_AT(profile->loops, LodeLoop, i);
		LodeLoopRounds rounds = lode_costed_code_rounds(code, i);
		uint32_t function = lode_profile_instruction(profile, loop->head)->function;
		if (!(rounds.mean >= least_rounds) || !(code->loop_weights[i] > 0) ||
			!is_loop_in(code, i, &functions))
			continue;
		/* One in another is in its weight, too. */
		in_function = function == last ? in_function : 0;
		last = function;
		double weight = MIN(code->loop_weights[i], weight_of(code, function) - in_function);
		in_function += weight;
		found.weight += weight;
		found.rounds += weight * rounds.mean;
		/* A loop around it may go on with others. */
		found.is_least |= rounds.is_least || !loop->is_innermost;
	}
	if (found.weight > 0)
		found.rounds /= found.weight;
	return found;
}
