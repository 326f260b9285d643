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

	if (profile->frequency == LODE_FREQUENCY_EXACT) {
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

static bool is_in(const LodeCostedCode *code, uint32_t instruction,
	bool (*matches)(const char *function, const void *data), const void *data)
{
	const LodeProfile *profile = code->context->profile;
	uint32_t function = lode_profile_instruction(profile, instruction)->function;
	g_autoptr(GArray) chain = lode_own_lines_chain(code->context->own, instruction);
	bool is_of = matches(lode_profile_function(profile, function)->name, data);

	for (guint i = 0; i < chain->len; i++)
		is_of |= matches(g_array_index(chain, LodeInlinedLine, i).function, data);
	return is_of;
}

LodeLongLoops lode_costed_code_long_loops(const LodeCostedCode *code, double least_rounds,
	bool (*matches)(const char *function, const void *data), const void *data)
{
	const LodeProfile *profile = code->context->profile;
	LodeLongLoops found = {0};

	for (uint32_t i = 0; i < profile->loops->len; i++) {
		const LodeLoop *loop = &LODE_AT(profile->loops, LodeLoop, i);
		LodeLoopRounds rounds = lode_costed_code_rounds(code, i);
		if (!loop->is_innermost || !(rounds.mean >= least_rounds) ||
			!(code->loop_weights[i] > 0) || !is_in(code, loop->head, matches, data))
			continue;
		found.weight += code->loop_weights[i];
		found.rounds += code->loop_weights[i] * rounds.mean;
		found.is_least |= rounds.is_least;
	}
	if (found.weight > 0)
		found.rounds /= found.weight;
	return found;
}
