/* SPDX-License-Identifier: MIT */
#include "ingest/join/attributes/dependences.h"

#include "images/instructions/instruction_decoder.h"
#include "model/causes.h"
#include "model/code.h"
#include "model/run/program_run.h"

/* A load needs so many misses per execution to be one that misses: as for ev:l1d-miss. */
static const double MISS_RATE = 0.01;

static bool has_kind(const LodeJoinCode *code, LodeInstructionKind kind)
{
	return (code->kinds >> kind & 1) != 0;
}

GArray *lode_miss_events_find(const LodeProfile *profile)
{
	static const char *const miss_names[] = {"l1d-miss", "l1d-miss-sampled",
		"L1-dcache-load-misses", "mem_load_retired.l1_miss",
		"mem_load_uops_retired.l1_miss"};
	GArray *events = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (size_t i = 0; i < G_N_ELEMENTS(miss_names); i++) {
		uint32_t event = lode_profile_find_event(profile, miss_names[i]);
		uint32_t charged = lode_profile_event_as_charged(profile, event);
		if (charged != LODE_NONE)
			event = charged;
		if (event != LODE_NONE)
			g_array_append_val(events, event);
	}
	return events;
}

/* Where executions are estimates, any sample of a miss will do. */
static bool is_missing(const LodeNeedMaking *self, uint32_t instruction)
{
	const LodeProfile *profile = self->profile;
	double count = lode_profile_instruction(profile, instruction)->count;
	double needed = lode_program_run_of(profile)->frequency == LODE_FREQUENCY_EXACT
	                        ? MISS_RATE * count
	                        : 0;

	for (guint i = 0; i < self->miss_events->len; i++) {
		double value = lode_profile_event_value(
			profile, g_array_index(self->miss_events, uint32_t, i), instruction);
		if (value > 0 && value >= needed)
			return true;
	}
	return false;
}

static uint16_t load_kinds(const LodeNeedMaking *self, uint32_t instruction)
{
	static const struct {
		LodeMemoryKind memory;
		LodeNeed need;
	} kinds[] = {
		{LODE_MEMORY_POINTER, LODE_NEED_LOAD_POINTER},
		{LODE_MEMORY_INDEXED, LODE_NEED_LOAD_INDEXED},
		{LODE_MEMORY_GLOBAL, LODE_NEED_LOAD_GLOBAL},
		{LODE_MEMORY_STACK, LODE_NEED_LOAD_STACK},
	};
	unsigned makes = 1u << LODE_NEED_LOAD;

	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
		if ((self->codes[instruction].memory >> kinds[i].memory & 1) != 0)
			makes |= 1u << kinds[i].need;
	if (is_missing(self, instruction))
		makes |= 1u << LODE_NEED_MISS;
	return (uint16_t)makes;
}

uint16_t lode_needs_made_by(const LodeNeedMaking *self, uint32_t instruction)
{
	static const struct {
		LodeInstructionKind kind;
		LodeNeed need;
	} kinds[] = {
		{LODE_KIND_MUL, LODE_NEED_MUL},
		{LODE_KIND_DIV, LODE_NEED_DIV},
		{LODE_KIND_FP, LODE_NEED_FP},
		{LODE_KIND_CONVERT, LODE_NEED_CONVERT},
		{LODE_KIND_ATOMIC, LODE_NEED_ATOMIC},
	};
	const LodeJoinCode *code = &self->codes[instruction];
	unsigned makes = 0;

	if (has_kind(code, LODE_KIND_CALL))
		return 1u << LODE_NEED_CALL;
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (has_kind(code, kinds[i].kind))
			makes |= 1u << kinds[i].need;
	if (has_kind(code, LODE_KIND_LOAD))
		makes |= load_kinds(self, instruction);
	return (uint16_t)makes;
}
