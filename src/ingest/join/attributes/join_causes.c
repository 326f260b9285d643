/* SPDX-License-Identifier: MIT */
/*
 * Adds to each event that was sampled late its weight at the instructions that waited, as an event
 * of its own: see model/causes.h for the rule.
 */
#include "ingest/join/join_flow.h"

#include "base/arrays/large_array.h"
#include "base/arrays/sort_order.h"
#include "base/text/number_format.h"
#include "model/causes.h"
#include "model/profile.h"

#include <stdlib.h>

/* One value of a new event. */
typedef struct {
	uint32_t instruction;
	LodeCost cost;
} Charged;

static bool is_legacy_prefix(uint8_t byte)
{
	static const uint8_t prefixes[] = {
		0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf0, 0xf2, 0xf3};

	for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++)
		if (byte == prefixes[i])
			return true;
	return false;
}

/* An instruction's code after its legacy prefixes, as far as it is known. */
typedef struct {
	uint8_t rex;               /* 0: none */
	const uint8_t *at, *limit; /* from its opcode on; equal: not known */
} Opcode;

static Opcode opcode_of(const LodeProfile *profile, uint32_t instruction, uint8_t length)
{
	const LodeInstruction *row = lode_profile_instruction(profile, instruction);
	const LodeFunction *function = lode_profile_function(profile, row->function);
	uint64_t offset = row->address - function->address;
	gsize size = 0;
	const uint8_t *code = function->code != NULL ? g_bytes_get_data(function->code, &size)
	                                             : NULL;
	Opcode opcode = {0, NULL, NULL};

	if (offset >= size || length > size - offset)
		return opcode;
	opcode.at = code + offset;
	opcode.limit = opcode.at + length;
	while (opcode.at < opcode.limit && is_legacy_prefix(*opcode.at))
		opcode.at++;
	if (opcode.at < opcode.limit && (*opcode.at & 0xf0) == 0x40)
		opcode.rex = *opcode.at++;
	return opcode;
}

/*
 * A compare or test of two operands by its first byte after the prefixes: with an immediate operand
 * beside one in memory it does not fuse with the jump after it (A. Fog, The microarchitecture of
 * Intel, AMD and VIA CPUs, on macro-op fusion).
 */
static bool is_fusible(const Opcode *opcode)
{
	return opcode->at < opcode->limit &&
	       ((*opcode->at & 0xfc) == 0x38 || (*opcode->at & 0xfe) == 0x84);
}

static bool follows(const LodeProfile *profile, const LodeJoinCode *codes, uint32_t index)
{
	const LodeInstruction *row = lode_profile_instruction(profile, index);

	if (index == 0)
		return false;
	const LodeInstruction *before = lode_profile_instruction(profile, index - 1);
	return before->function == row->function &&
	       before->address + codes[index - 1].length == row->address;
}

static bool ends_a_pair(const LodeProfile *profile, const LodeJoinCode *codes, uint32_t index)
{
	if (codes[index].branch != LODE_BRANCH_CONDITIONAL || !follows(profile, codes, index) ||
		(codes[index - 1].kinds >> LODE_KIND_LOAD & 1) == 0)
		return false;
	const Opcode before = opcode_of(profile, index - 1, codes[index - 1].length);
	return is_fusible(&before);
}

/* div or idiv by a register, of 16 to 64 bits. */
static bool is_register_division(const Opcode *opcode)
{
	return opcode->limit - opcode->at == 2 && opcode->at[0] == 0xf7 && opcode->at[1] >= 0xf0;
}

/* cwd, cdq or cqo, or what clears edx: the upper half of a dividend. */
static bool makes_upper_half(const Opcode *opcode)
{
	enum { REX_OTHER_REGISTERS = 5 };

	if (opcode->at < opcode->limit && opcode->at[0] == 0x99)
		return true;
	return opcode->limit - opcode->at == 2 && (opcode->at[0] & 0xfd) == 0x31 &&
	       opcode->at[1] == 0xd2 && (opcode->rex & REX_OTHER_REGISTERS) == 0;
}

static bool ends_a_division(const LodeProfile *profile, const LodeJoinCode *codes, uint32_t index)
{
	if ((codes[index].kinds >> LODE_KIND_DIV & 1) == 0 || !follows(profile, codes, index))
		return false;
	const Opcode division = opcode_of(profile, index, codes[index].length);
	const Opcode before = opcode_of(profile, index - 1, codes[index - 1].length);
	return is_register_division(&division) && makes_upper_half(&before);
}

static uint8_t *mark_instructions(const LodeProfile *profile, const LodeJoinCode *codes)
{
	uint32_t n = profile->code.instructions->len;
	uint8_t *marks = g_new0(uint8_t, MAX(n, 1));

	for (uint32_t i = 0; i < n; i++) {
		if (codes[i].is_repeat)
			marks[i] |= LODE_CAUSE_REPEATS;
		if (ends_a_pair(profile, codes, i))
			marks[i] |= LODE_CAUSE_ENDS_A_PAIR;
		if (ends_a_division(profile, codes, i))
			marks[i - 1] |= LODE_CAUSE_PREPARES;
	}
	return marks;
}

static double *values_of(const LodeProfile *profile, uint32_t event)
{
	double *values = g_new0(double, MAX(profile->code.instructions->len, 1));

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		uint32_t end = LODE_AT(profile->code.cost_starts, uint32_t, i + 1);
		for (uint32_t j = LODE_AT(profile->code.cost_starts, uint32_t, i); j < end; j++)
			if (LODE_AT(profile->code.costs, LodeCost, j).event == event)
				values[i] += LODE_AT(profile->code.costs, LodeCost, j).value;
	}
	return values;
}

static void describe(LodeProfile *profile, const LodeJoinCause *cause, double stayed)
{
	LodeEvent *event = lode_profile_event(profile, cause->charged);
	char share[LODE_NUMBER_SIZE];
	g_autofree char *text = NULL;

	lode_number_format_share(event->total > 0 ? stayed / event->total : 0, share);
	text = g_strdup_printf("%s at the instruction that waited; %s stays where it was sampled, "
			       "as nothing known leads there",
		lode_profile_event(profile, cause->sampled)->name, share);
	event->description = lode_profile_intern(profile, text);
}

static void charge(
	LodeProfile *profile, const LodeCauses *causes, const LodeJoinCause *cause, GArray *charged)
{
	g_autofree double *sampled = values_of(profile, cause->sampled);
	g_autofree double *values = g_new(double, MAX(profile->code.instructions->len, 1));

	describe(profile, cause, lode_causes_charge(causes, sampled, values));
	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		const Charged row = {i, {cause->charged, values[i]}};
		if (values[i] != 0)
			g_array_append_val(charged, row);
	}
}

LODE_ORDER(compare_charged, Charged, LODE_ASCENDING(instruction), LODE_ASCENDING(cost.event))

/* Costs stay grouped by instruction, by event inside. */
static void merge(LodeProfile *profile, const GArray *charged)
{
	GArray *merged = lode_large_array_new(
		sizeof(LodeCost), (size_t)profile->code.costs->len + charged->len);
	guint next = 0;
	uint32_t at = 0;

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		uint32_t *end = &LODE_AT(profile->code.cost_starts, uint32_t, i + 1);
		while (at < *end ||
			(next < charged->len && LODE_AT(charged, Charged, next).instruction == i)) {
			const Charged *row =
				next < charged->len &&
						LODE_AT(charged, Charged, next).instruction == i
					? &LODE_AT(charged, Charged, next)
					: NULL;
			bool is_old = at < *end &&
			              (row == NULL ||
					      LODE_AT(profile->code.costs, LodeCost, at).event <
						      row->cost.event);
			LodeCost cost = is_old ? LODE_AT(profile->code.costs, LodeCost, at)
			                       : row->cost;
			at += is_old;
			next += !is_old;
			g_array_append_val(merged, cost);
		}
		*end = merged->len;
	}
	g_array_unref(profile->code.costs);
	profile->code.costs = merged;
}

/* The weight, as sampled, that stands for the executions. */
static double inferred_from(const LodeProfile *profile, const LodeJoinEvents *events)
{
	for (guint i = 0; i < events->causes->len; i++) {
		const LodeJoinCause *cause = &LODE_AT(events->causes, LodeJoinCause, i);
		if (cause->charged == profile->code.weight_event ||
			cause->sampled == profile->code.weight_event)
			return lode_profile_event(profile, cause->sampled)->total;
	}
	return 0;
}

void lode_join_causes(LodeProfile *profile, const LodeJoinCode *codes, const LodeJoinEvents *events)
{
	g_autoptr(GArray) charged = g_array_new(FALSE, FALSE, sizeof(Charged));

	if (events->causes->len == 0)
		return;
	g_autofree uint8_t *marks = mark_instructions(profile, codes);
	g_autoptr(LodeCauses) causes = lode_causes_new(profile, marks);
	g_autoptr(GArray) ways = NULL;
	if (profile->run.frequency == LODE_FREQUENCY_INFERRED) {
		ways = lode_join_ways(profile, codes, marks);
		lode_causes_take_ways(causes, (const LodeCauseWay *)(void *)ways->data, ways->len,
			inferred_from(profile, events));
	}
	for (guint i = 0; i < events->causes->len; i++)
		charge(profile, causes, &LODE_AT(events->causes, LodeJoinCause, i), charged);
	if (charged->len > 1)
		qsort(charged->data, charged->len, sizeof(Charged), compare_charged);
	merge(profile, charged);
}
