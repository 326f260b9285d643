/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as perf.data, imported whole: mappings to places, branch stacks to counts, inference,
 * the join; registers to data addresses and objects. Whatever comes in, the weight of instructions
 * and of what came to none is the total, and so is that of accesses and of samples without.
 *
 * Inputs of the corpus name /bin/true, so that real code is joined.
 */
#include "fuzz_target.h"
#include "ingest/import.h"
#include "model/causes.h"
#include "model/memory.h"
#include "model/profile.h"
#include "model/run/unresolved.h"
#include "store/tables/memory_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Not g_error(): libFuzzer does not catch its SIGTRAP and would not keep the input. */
static void fail(const char *message)
{
	g_printerr("%s\n", message);
	abort();
}

static double placed_weight(const LodeProfile *profile)
{
	double sum = 0;

	for (guint i = 0; i < profile->code.instructions->len; i++)
		sum += lode_profile_event_value(profile, profile->code.weight_event, i);
	return sum;
}

/* What the reader could not place has no places; other reasons are of instructions. */
static double unplaced_weight(const LodeProfile *profile)
{
	double sum = 0;

	for (guint i = 0; i < profile->unresolved->len; i++) {
		const LodeUnresolved *row = &LODE_AT(profile->unresolved, LodeUnresolved, i);
		sum += row->places == 0 ? row->weight : 0;
	}
	return sum;
}

static void check_weight(const LodeProfile *profile)
{
	const LodeEvent *event = lode_profile_event(profile, profile->code.weight_event);
	double sum = placed_weight(profile) + unplaced_weight(profile);

	if (!(fabs(sum - event->total) <= 1e-9 * event->total))
		fail("weight came from nowhere, or was lost");
}

static void check_counts(const LodeProfile *profile)
{
	for (guint i = 0; i < profile->code.instructions->len; i++)
		if (!(lode_profile_instruction(profile, i)->count >= 0))
			fail("a count below 0");
	for (guint i = 0; i < profile->code.edges->len; i++)
		if (LODE_AT(profile->code.edges, LodeEdge, i).target >=
			profile->code.instructions->len)
			fail("an edge to nowhere");
}

/* Where the access that waited is known but not its address, its object may be: by its operand, or
 * by the base of that. */
static void check_sample(const LodeMemorySample *sample)
{
	bool has_address = sample->rule != LODE_RULE_NONE;

	if (has_address != (sample->reason == LODE_REASON_NONE))
		fail("neither an address nor a reason, or both");
	if (has_address && sample->object == LODE_NONE)
		fail("an address without an object");
	if (!has_address && sample->object != LODE_NONE && sample->access_pc == 0)
		fail("an object of no access");
	if (!has_address && (sample->address != 0 || sample->mapping != LODE_NONE ||
				    sample->allocation != LODE_NONE))
		fail("a place without an address");
}

/* A sample of two operands has two rows, which share its weight. Where only windows told addresses,
 * samples are not there. */
static void check_memory(const LodeProfile *profile)
{
	const LodeMemory *memory = profile->memory;
	uint32_t stepped = lode_profile_find_event(profile, LODE_WINDOW_ACCESSES);
	double sum = 0, total = 0, stepped_sum = 0;

	if (!lode_memory_check(profile, NULL))
		fail("a memory that the store would refuse");
	for (guint i = 0; i < memory->samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(memory->samples, LodeMemorySample, i);
		check_sample(sample);
		*(sample->event == stepped ? &stepped_sum : &sum) += sample->weight;
	}
	for (guint i = 0; i < profile->code.events->len; i++) {
		const LodeEvent *event = lode_profile_event(profile, i);
		/* The same samples once more, at what they waited for. */
		bool is_charged = lode_profile_event_as_sampled(profile, i) != LODE_NONE;
		/* Likewise the kernel's, at what entered it, and the time by the clock. */
		bool is_sampled = event->kind == LODE_EVENT_SAMPLED && i != stepped &&
		                  strcmp(event->name, LODE_LATENCY_EVENT) != 0 &&
		                  !g_str_has_prefix(event->name, LODE_KERNEL_EVENTS);
		total += is_sampled && !is_charged ? event->total : 0;
	}
	if (stepped != LODE_NONE &&
		!(fabs(stepped_sum - lode_profile_event(profile, stepped)->total) <=
			1e-9 * stepped_sum))
		fail("accesses in windows were lost, or came from nowhere");
	if (!(fabs(sum - total) <= 1e-9 * total) && (stepped == LODE_NONE || sum != 0))
		fail("samples of the memory were lost, or came from nowhere");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	const char *path = fuzz_file(data, size);
	const LodeImportOptions options = {.paths = &path, .n_paths = 1, .threads = 1};

	/* Text would be read as another format, which has a target of its own. */
	if (size < 8 || (data[0] != 'P' && data[0] != '2'))
		return 0;
	g_autoptr(LodeProfile) profile = lode_import(&options, NULL, &error);
	if ((profile != NULL) == (error != NULL))
		fail("a result and an error");
	if (profile == NULL)
		return 0;
	if (profile->code.weight_event < profile->code.events->len)
		check_weight(profile);
	check_counts(profile);
	if (profile->memory != NULL)
		check_memory(profile);
	return 0;
}
