/* SPDX-License-Identifier: MIT */
#include "naive_instructions.h"

#include <string.h>

enum { MAX_LENGTH = 16 };

/* All paths with the same opcodes. */
typedef struct {
	uint32_t length;
	uint32_t opcodes[MAX_LENGTH]; /* attribute ids */
	double count;
	uint64_t vertices, starts; /* sets of instructions */
} Sequence;

typedef struct {
	const LodeProfile *profile;
	const LodeMiningParameters *parameters;
	GHashTable *sequences; /* opcodes as GBytes → Sequence */
	uint32_t path[MAX_LENGTH], opcodes[MAX_LENGTH], length;
} Walk;

/* The op: attribute of an instruction, or LODE_NONE. */
static uint32_t opcode_of(const LodeProfile *profile, uint32_t instruction)
{
	uint32_t id = lode_profile_instruction(profile, instruction)->attribute_set;
	const LodeAttributeSet *set = &LODE_AT(profile->code.attribute_sets, LodeAttributeSet, id);

	for (uint32_t i = 0; i < set->n; i++) {
		uint32_t attribute = LODE_AT(profile->code.set_members, uint32_t, set->first + i);
		if (g_str_has_prefix(g_ptr_array_index(profile->code.attributes, attribute), "op:"))
			return attribute;
	}
	return LODE_NONE;
}

/* Whether control can go from one instruction straight to the other. */
static bool has_edge(const Walk *self, uint32_t source, uint32_t target)
{
	const LodeProfile *profile = self->profile;
	const LodeInstruction *from = lode_profile_instruction(profile, source);
	const LodeInstruction *to = lode_profile_instruction(profile, target);

	if (target == source + 1 && from->next_count >= 0)
		return true;
	for (guint i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		const LodeFunction *callee = lode_profile_function(
			profile, lode_profile_instruction(profile, edge->target)->function);
		if (edge->source != source)
			continue;
		if (edge->kind == LODE_EDGE_CALL && self->parameters->across_calls &&
			target == callee->first_instruction)
			return true;
		if (edge->kind != LODE_EDGE_CALL && edge->target == target &&
			from->function == to->function)
			return true;
	}
	return false;
}

static void keep_path(Walk *self)
{
	g_autoptr(GBytes) key = g_bytes_new(self->opcodes, self->length * sizeof(uint32_t));
	Sequence *sequence = g_hash_table_lookup(self->sequences, key);

	if (sequence == NULL) {
		sequence = g_new0(Sequence, 1);
		sequence->length = self->length;
		memcpy(sequence->opcodes, self->opcodes, sizeof(self->opcodes));
		g_hash_table_insert(self->sequences, g_bytes_ref(key), sequence);
	}
	sequence->count++;
	sequence->starts |= UINT64_C(1) << self->path[0];
	for (uint32_t i = 0; i < self->length; i++)
		sequence->vertices |= UINT64_C(1) << self->path[i];
}

static void visit(Walk *self, uint32_t instruction)
{
	uint32_t opcode = opcode_of(self->profile, instruction);

	if (opcode == LODE_NONE || self->length == self->parameters->iterations)
		return;
	self->path[self->length] = instruction;
	self->opcodes[self->length++] = opcode;
	keep_path(self);
	for (uint32_t next = 0; next < self->profile->code.instructions->len; next++)
		if (has_edge(self, instruction, next))
			visit(self, next);
	self->length--;
}

static bool is_reported(const Walk *self, const Sequence *sequence)
{
	for (uint32_t length = 1; length <= sequence->length; length++) {
		g_autoptr(GBytes) key = g_bytes_new(sequence->opcodes, length * sizeof(uint32_t));
		const Sequence *prefix = g_hash_table_lookup(self->sequences, key);
		if (!(prefix->count > self->parameters->min_count))
			return false;
	}
	return true;
}

static void report(const LodeProfile *profile, LodeMiningRun *run, const Sequence *sequence)
{
	LodeSequence out = {.first_item = run->items->len,
		.n_items = sequence->length,
		.count = sequence->count};
	uint64_t functions = 0;

	for (uint32_t i = 0; i < sequence->length; i++) {
		uint32_t item = sequence->opcodes[i] | LODE_ITEM_START;
		g_array_append_val(run->items, item);
	}
	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		if ((sequence->starts >> i & 1) != 0) {
			out.places++;
			functions |= UINT64_C(1) << lode_profile_instruction(profile, i)->function;
		}
	for (; functions != 0; functions &= functions - 1)
		out.functions++;
	g_array_append_val(run->sequences, out);
	for (guint e = 0; e < profile->code.events->len; e++) {
		double total = 0;
		for (uint32_t i = 0; i < profile->code.instructions->len; i++)
			if ((sequence->vertices >> i & 1) != 0)
				total += lode_profile_event_value(profile, e, i);
		g_array_append_val(run->event_supports, total);
	}
}

LodeMiningRun *naive_instruction_miner_run(
	const LodeProfile *profile, const LodeMiningParameters *parameters)
{
	LodeMiningRun *run = lode_mining_run_new("naive", parameters);
	Walk walk = {.profile = profile, .parameters = parameters};
	GHashTableIter iter;
	void *sequence;

	walk.sequences = g_hash_table_new_full(
		g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, g_free);
	for (guint i = 0; i < profile->code.attributes->len; i++)
		g_ptr_array_add(
			run->attributes, g_strdup(g_ptr_array_index(profile->code.attributes, i)));
	for (guint e = 0; e < profile->code.events->len; e++)
		g_ptr_array_add(run->events, g_strdup(lode_profile_event(profile, e)->name));
	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		visit(&walk, i);
	g_hash_table_iter_init(&iter, walk.sequences);
	while (g_hash_table_iter_next(&iter, NULL, &sequence))
		if (is_reported(&walk, sequence))
			report(profile, run, sequence);
	g_hash_table_unref(walk.sequences);
	return run;
}
