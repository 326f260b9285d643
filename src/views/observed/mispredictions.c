/* SPDX-License-Identifier: MIT */
#include "views/observed/mispredictions.h"

#include "images/cores/core.h"
#include "model/code.h"
#include "model/run/program_run.h"
#include "views/figures/event_values.h"
#include "views/figures/profile_figures.h"

#include <string.h>

/* Less is not worth words, and is often the end of a loop. */
static const double LEAST_RATE = 0.01;

LodeMispredictions lode_mispredictions_of(const LodeProfile *profile)
{
	const LodeCode *code = lode_code_of(profile);
	const LodeProgramRun *run = lode_program_run_of(profile);
	LodeMispredictions self = {
		.event = run->frequency == LODE_FREQUENCY_EXACT
	                         ? lode_profile_find_event(profile, "branch-miss")
	                         : LODE_NONE};
	double whole_ns = lode_profile_event_total(profile, code->weight_event);
	bool is_time = strcmp(lode_event_value_unit(profile, code->weight_event), "ns") == 0;

	if (self.event == LODE_NONE || !is_time || whole_ns <= 0 || run->core == NULL ||
		run->cycles_per_ns <= 0)
		return self;
	g_autoptr(LodeCore) core = lode_core_named(run->core);
	double cycles = run->mispredict_cycles > 0 ? run->mispredict_cycles
	                : core != NULL             ? core->mispredict
	                                           : 0;
	self.share = cycles / run->cycles_per_ns / whole_ns;
	return self;
}

void lode_mispredictions_append(const LodeMispredictions *self, const LodeProfile *profile,
	uint32_t instruction, const char *begin, GString *out)
{
	double executions = lode_profile_instruction(profile, instruction)->count;
	double misses = self->event != LODE_NONE
	                        ? lode_profile_event_value(profile, self->event, instruction)
	                        : 0;

	if (misses < LEAST_RATE * executions || misses <= 0)
		return;
	g_string_append_printf(out, "%smispredicted %.3g %%", begin, 100 * misses / executions);
	if (self->share > 0)
		g_string_append_printf(
			out, ", at least %.2g %% of the time", 100 * misses * self->share);
}
