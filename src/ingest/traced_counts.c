/* SPDX-License-Identifier: MIT */
#include "ingest/traced_counts.h"

#include "base/error.h"
#include "ingest/id_cache.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_VALUES = 1 << 28,    /* instructions × columns: 2 GiB */
	MAX_EDGES = 1 << 22,     /* between blocks, until they are folded */
	MAX_TRANSFERS = 1 << 24, /* between instructions */
};

typedef struct {
	uint64_t count;
	uint32_t first_place; /* of its instructions in `places`; LODE_NONE: not looked up yet */
	uint32_t last_edge;   /* that was passed; LODE_NONE */
} Block;

/* Between blocks, or between instructions. */
typedef struct {
	uint32_t source, target;
	uint64_t count;
} Edge;

typedef struct {
	uint32_t block;       /* that it executed last, since the last fold */
	uint32_t instruction; /* before that */
} Thread;

/* Data references that no fetch came before, of an instruction that is known all the same. */
typedef struct {
	uint64_t reference; /* the first of them */
	uint32_t instruction;
} Stray;

struct LodeTracedCounts {
	LodeTracedPlaces *places;
	LodeRecording *recording;
	LodeBlockDictionary *dictionary;
	GArray *blocks;       /* Block, of the dictionary */
	GArray *block_places; /* uint32_t: numbers of instructions, for each block one by one */
	GArray *edges;        /* Edge between blocks */
	LodeIdCache edge_ids;
	GArray *threads;      /* Thread */
	GArray *strays;       /* Stray, of the frame that was added last */
	GArray *instructions; /* LodeTracedInstruction */
	LodeIdCache instruction_ids;
	GArray *values;    /* uint64_t × instructions × columns */
	GArray *transfers; /* Edge between instructions; LODE_NONE: a thread's begin or end */
	LodeIdCache transfer_ids;
	uint64_t *totals; /* of each column */
	uint64_t n_unattributed;
	uint64_t now; /* the reference at which mappings are looked up */
	uint32_t n_columns;
	bool is_full;
};

LodeTracedCounts *lode_traced_counts_new(LodeTracedPlaces *places, LodeRecording *recording)
{
	LodeTracedCounts *self = g_new0(LodeTracedCounts, 1);

	self->places = places;
	self->recording = recording;
	self->n_columns = recording->events->len;
	self->blocks = g_array_new(FALSE, FALSE, sizeof(Block));
	self->block_places = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->edges = g_array_new(FALSE, FALSE, sizeof(Edge));
	self->threads = g_array_new(FALSE, FALSE, sizeof(Thread));
	self->strays = g_array_new(FALSE, FALSE, sizeof(Stray));
	self->instructions = g_array_new(FALSE, FALSE, sizeof(LodeTracedInstruction));
	self->values = g_array_new(FALSE, TRUE, sizeof(uint64_t));
	self->transfers = g_array_new(FALSE, FALSE, sizeof(Edge));
	self->totals = g_new0(uint64_t, self->n_columns);
	lode_id_cache_init(&self->edge_ids);
	lode_id_cache_init(&self->instruction_ids);
	lode_id_cache_init(&self->transfer_ids);
	return self;
}

void lode_traced_counts_free(LodeTracedCounts *self)
{
	if (self == NULL)
		return;
	g_clear_pointer(&self->dictionary, lode_block_dictionary_unref);
	g_array_unref(self->blocks);
	g_array_unref(self->block_places);
	g_array_unref(self->edges);
	g_array_unref(self->threads);
	g_array_unref(self->strays);
	g_array_unref(self->instructions);
	g_array_unref(self->values);
	g_array_unref(self->transfers);
	lode_id_cache_clear(&self->edge_ids);
	lode_id_cache_clear(&self->instruction_ids);
	lode_id_cache_clear(&self->transfer_ids);
	g_free(self->totals);
	g_free(self);
}

/* What does not find room any more is an error in the end. */
static uint32_t add_instruction(LodeTracedCounts *self, uint64_t run_time_address)
{
	const LodeSampledPlace place = lode_traced_places_find(
		self->places, run_time_address, self->now);
	const LodeIdKey key = {{place.address, place.object, 0}};
	bool is_new,
		has_room = (self->instructions->len + 1) * (uint64_t)self->n_columns <= MAX_VALUES;

	self->is_full |= !has_room;
	if (!has_room)
		return LODE_NONE;
	LodeIdSlot *slot = lode_id_cache_find(&self->instruction_ids, &key, &is_new);
	if (is_new) {
		LodeTracedInstruction added = {run_time_address, place.address, place.object};
		slot->id = self->instructions->len;
		g_array_append_val(self->instructions, added);
		g_array_set_size(self->values, self->instructions->len * self->n_columns);
	}
	return slot->id;
}

static const LodeTraceBlock *code_of(const LodeTracedCounts *self, uint32_t block)
{
	return lode_block_dictionary_at(self->dictionary, block);
}

static Block *block_at(const LodeTracedCounts *self, uint32_t block)
{
	return &g_array_index(self->blocks, Block, block);
}

/* The numbers of its instructions. Valid until the next call. */
static const uint32_t *places_of(LodeTracedCounts *self, uint32_t block)
{
	const LodeTraceBlock *code = code_of(self, block);
	Block *row = block_at(self, block);
	uint64_t address = code->address;

	if (row->first_place == LODE_NONE) {
		row->first_place = self->block_places->len;
		for (unsigned i = 0; i < code->n_instructions; i++) {
			uint32_t instruction = add_instruction(self, address);
			g_array_append_val(self->block_places, instruction);
			address += code->instruction_sizes[i];
		}
	}
	return &g_array_index(self->block_places, uint32_t, row->first_place);
}

static uint32_t first_of(LodeTracedCounts *self, uint32_t block)
{
	return places_of(self, block)[0];
}

static uint32_t last_of(LodeTracedCounts *self, uint32_t block)
{
	return places_of(self, block)[code_of(self, block)->n_instructions - 1];
}

static void add_value(LodeTracedCounts *self, uint32_t instruction, uint32_t column, uint64_t n)
{
	self->totals[column] += n;
	if (instruction == LODE_NONE)
		self->n_unattributed += n;
	else
		g_array_index(self->values, uint64_t,
			(size_t)instruction * self->n_columns + column) += n;
}

void lode_traced_counts_count(LodeTracedCounts *self, uint32_t instruction, uint32_t column)
{
	self->totals[column]++;
	if (instruction != LODE_NONE)
		g_array_index(
			self->values, uint64_t, (size_t)instruction * self->n_columns + column)++;
}

static void add_transfer(LodeTracedCounts *self, uint32_t source, uint32_t target, uint64_t n)
{
	const LodeIdKey key = {{source, target, 0}};
	bool is_new;

	self->is_full |= self->transfers->len >= MAX_TRANSFERS;
	if (self->is_full)
		return;
	LodeIdSlot *slot = lode_id_cache_find(&self->transfer_ids, &key, &is_new);
	if (is_new) {
		Edge added = {source, target, 0};
		slot->id = self->transfers->len;
		g_array_append_val(self->transfers, added);
	}
	g_array_index(self->transfers, Edge, slot->id).count += n;
}

static uint32_t column_of(LodeReferenceKind kind)
{
	switch (kind) {
	case LODE_REFERENCE_LOAD:
		return LODE_TRACED_LOADS;
	case LODE_REFERENCE_STORE:
		return LODE_TRACED_STORES;
	case LODE_REFERENCE_MODIFY:
		return LODE_TRACED_MODIFIES;
	default:
		return LODE_TRACED_EXECUTIONS;
	}
}

static void fold_block(LodeTracedCounts *self, uint32_t block)
{
	const LodeTraceBlock *code = code_of(self, block);
	uint64_t count = block_at(self, block)->count;
	const uint32_t *places = count > 0 ? places_of(self, block) : NULL;

	if (count == 0)
		return;
	for (unsigned i = 0; i < code->n_instructions; i++)
		add_value(self, places[i], LODE_TRACED_EXECUTIONS, count);
	for (unsigned i = 0; i < code->n_slots; i++)
		add_value(self, places[code->slots[i].instruction], column_of(code->slots[i].kind),
			count);
}

static void fold_threads(LodeTracedCounts *self)
{
	for (guint i = 0; i < self->threads->len; i++) {
		Thread *thread = &g_array_index(self->threads, Thread, i);
		if (thread->block != LODE_NONE)
			thread->instruction = last_of(self, thread->block);
		thread->block = LODE_NONE;
	}
}

static void fold(LodeTracedCounts *self)
{
	fold_threads(self);
	for (guint i = 0; i < self->blocks->len; i++)
		fold_block(self, i);
	for (guint i = 0; i < self->edges->len; i++) {
		const Edge edge = g_array_index(self->edges, Edge, i);
		add_transfer(
			self, last_of(self, edge.source), first_of(self, edge.target), edge.count);
	}
	g_array_set_size(self->blocks, 0);
	g_array_set_size(self->block_places, 0);
	g_array_set_size(self->edges, 0);
	lode_id_cache_clear(&self->edge_ids);
	lode_id_cache_init(&self->edge_ids);
}

static void add_blocks(LodeTracedCounts *self, uint32_t n)
{
	const Block added = {.first_place = LODE_NONE, .last_edge = LODE_NONE};

	while (self->blocks->len < n)
		g_array_append_val(self->blocks, added);
}

static uint32_t find_edge(LodeTracedCounts *self, uint32_t source, uint32_t target)
{
	const LodeIdKey key = {{(uint64_t)source << 32 | target, 0, 0}};
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find(&self->edge_ids, &key, &is_new);

	if (is_new) {
		Edge added = {source, target, 0};
		slot->id = self->edges->len;
		g_array_append_val(self->edges, added);
	}
	return slot->id;
}

static void pass_edge(LodeTracedCounts *self, uint32_t source, uint32_t target)
{
	Block *from = block_at(self, source);

	if (from->last_edge == LODE_NONE ||
		g_array_index(self->edges, Edge, from->last_edge).target != target)
		from->last_edge = find_edge(self, source, target);
	g_array_index(self->edges, Edge, from->last_edge).count++;
}

static Thread *thread_at(LodeTracedCounts *self, uint16_t thread)
{
	const Thread added = {LODE_NONE, LODE_NONE};

	while (self->threads->len <= thread)
		g_array_append_val(self->threads, added);
	return &g_array_index(self->threads, Thread, thread);
}

/* What comes without a fetch is of the instruction that the thread executed last. */
static void add_stray(LodeTracedCounts *self, const Thread *thread, const LodeTracedPlace *place)
{
	const LodeTraceBlock *code = code_of(self, place->block);
	Stray stray = {place->reference,
		thread->block != LODE_NONE ? last_of(self, thread->block) : thread->instruction};

	for (unsigned i = 0; i < code->n_slots; i++)
		add_value(self, stray.instruction, column_of(code->slots[i].kind), 1);
	if (stray.instruction != LODE_NONE)
		g_array_append_val(self->strays, stray);
}

static void execute(LodeTracedCounts *self, Thread *thread, uint32_t block)
{
	if (thread->block != LODE_NONE)
		pass_edge(self, thread->block, block);
	else
		add_transfer(self, thread->instruction, first_of(self, block), 1);
	block_at(self, block)->count++;
	thread->block = block;
}

static void add_invocations(LodeTracedCounts *self, const LodeTraceFrame *frame)
{
	LodeTracedPlace place = {.reference = frame->first_reference};
	Thread *thread = NULL;
	size_t next_switch = 0;

	for (size_t i = 0; i < frame->n_invocations; i++) {
		if (next_switch < frame->n_switches && frame->switches[next_switch].invocation == i)
			thread = thread_at(self, frame->switches[next_switch++].thread);
		place.block = frame->blocks[i];
		const LodeTraceBlock *code = code_of(self, place.block);
		if (code->n_instructions > 0)
			execute(self, thread, place.block);
		else
			add_stray(self, thread, &place);
		place.reference += (uint64_t)code->n_instructions + code->n_slots;
	}
}

static bool check_room(const LodeTracedCounts *self, GError **error)
{
	if (self->is_full)
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"the trace has more than %d instructions and events, or %d jumps",
			MAX_VALUES, MAX_TRANSFERS);
	return !self->is_full;
}

bool lode_traced_counts_add(LodeTracedCounts *self, const LodeTraceFrame *frame, GError **error)
{
	uint64_t change = lode_traced_places_next_change(self->places, frame->first_reference);
	uint64_t last = frame->first_reference + MAX(frame->n_references, 1) - 1;
	bool is_changed = self->dictionary != frame->dictionary ||
	                  lode_traced_places_next_change(self->places, self->now) <= last ||
	                  self->edges->len > MAX_EDGES;

	if (is_changed && self->dictionary != NULL)
		fold(self);
	if (self->dictionary != frame->dictionary) {
		g_clear_pointer(&self->dictionary, lode_block_dictionary_unref);
		self->dictionary = lode_block_dictionary_ref(frame->dictionary);
	}
	/* A block in the middle of which it changes is of what was there before. */
	self->now = MIN(last, change - 1);
	g_array_set_size(self->strays, 0);
	add_blocks(self, frame->n_blocks);
	add_invocations(self, frame);
	return check_room(self, error);
}

static uint32_t find_stray(const LodeTracedCounts *self, uint64_t reference)
{
	guint low = 0, high = self->strays->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		if (g_array_index(self->strays, Stray, middle).reference <= reference)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return LODE_NONE;
	const Stray *found = &g_array_index(self->strays, Stray, low - 1);
	return reference - found->reference < LODE_BLOCK_MAX_SLOTS ? found->instruction : LODE_NONE;
}

uint32_t lode_traced_counts_find(LodeTracedCounts *self, const LodeTracedPlace *place)
{
	if (code_of(self, place->block)->n_instructions == 0)
		return find_stray(self, place->reference);
	return places_of(self, place->block)[place->instruction];
}

const LodeTracedInstruction *lode_traced_counts_instruction(
	const LodeTracedCounts *self, uint32_t instruction)
{
	return &g_array_index(self->instructions, LodeTracedInstruction, instruction);
}

static int compare_instructions(const void *a, const void *b, void *data)
{
	const LodeTracedInstruction *rows = data;
	const LodeTracedInstruction *left = &rows[*(const uint32_t *)a];
	const LodeTracedInstruction *right = &rows[*(const uint32_t *)b];

	if (left->object != right->object)
		return left->object < right->object ? -1 : 1;
	return (left->address > right->address) - (left->address < right->address);
}

static void write_instructions(LodeTracedCounts *self)
{
	LodeRecording *recording = self->recording;
	guint n = self->instructions->len;
	g_autofree uint32_t *order = g_new(uint32_t, MAX(n, 1));

	for (guint i = 0; i < n; i++)
		order[i] = i;
	if (n > 1)
		g_qsort_with_data(order, (gint)n, sizeof(uint32_t), compare_instructions,
			self->instructions->data);
	recording->instructions = g_array_sized_new(
		FALSE, FALSE, sizeof(LodeRecordedInstruction), n);
	recording->values = g_new(double, MAX((size_t)n * self->n_columns, 1));
	for (guint i = 0; i < n; i++) {
		const LodeTracedInstruction *source = lode_traced_counts_instruction(
			self, order[i]);
		const uint64_t *values = &g_array_index(
			self->values, uint64_t, (size_t)order[i] * self->n_columns);
		LodeRecordedInstruction row = {
			.address = source->address,
			.object = source->object,
			.function = LODE_NONE,
			.file = LODE_NONE,
			.first_value = i * self->n_columns,
			.n_values = self->n_columns,
		};
		for (uint32_t j = 0; j < self->n_columns; j++)
			recording->values[row.first_value + j] = (double)values[j];
		g_array_append_val(recording->instructions, row);
	}
}

static int compare_jumps(const void *a, const void *b)
{
	const LodeRecordedJump *left = a, *right = b;

	if (left->object != right->object)
		return left->object < right->object ? -1 : 1;
	if (left->source != right->source)
		return left->source < right->source ? -1 : 1;
	if (left->target_object != right->target_object)
		return left->target_object < right->target_object ? -1 : 1;
	return (left->target > right->target) - (left->target < right->target);
}

static void write_jumps(LodeTracedCounts *self)
{
	LodeRecording *recording = self->recording;
	static const LodeTracedInstruction nowhere = {0, 0, LODE_NONE};

	recording->jumps = g_array_sized_new(
		FALSE, FALSE, sizeof(LodeRecordedJump), self->transfers->len);
	recording->calls = g_array_new(FALSE, FALSE, sizeof(LodeRecordedCall));
	for (guint i = 0; i < self->transfers->len; i++) {
		const Edge *edge = &g_array_index(self->transfers, Edge, i);
		const LodeTracedInstruction *source = edge->source != LODE_NONE
		                                              ? lode_traced_counts_instruction(
									self, edge->source)
		                                              : &nowhere;
		const LodeTracedInstruction *target = edge->target != LODE_NONE
		                                              ? lode_traced_counts_instruction(
									self, edge->target)
		                                              : &nowhere;
		LodeRecordedJump jump = {
			.source = source->address,
			.target = target->address,
			.object = source->object,
			.target_object = target->object,
			.target_function = LODE_NONE,
			.taken = (double)edge->count,
			.executed = (double)edge->count,
		};
		g_array_append_val(recording->jumps, jump);
	}
	g_array_sort(recording->jumps, compare_jumps);
}

static void end_threads(LodeTracedCounts *self)
{
	for (guint i = 0; i < self->threads->len; i++) {
		uint32_t last = g_array_index(self->threads, Thread, i).instruction;
		if (last != LODE_NONE)
			add_transfer(self, last, LODE_NONE, 1);
	}
}

bool lode_traced_counts_finish(LodeTracedCounts *self, GError **error)
{
	if (self->dictionary != NULL)
		fold(self);
	end_threads(self);
	if (!check_room(self, error))
		return false;
	write_instructions(self);
	write_jumps(self);
	g_array_set_size(self->recording->totals, self->n_columns);
	for (uint32_t i = 0; i < self->n_columns; i++)
		g_array_index(self->recording->totals, double, i) = (double)self->totals[i];
	if (self->n_unattributed > 0)
		lode_recording_add_unresolved(self->recording,
			"data references before any instruction", NULL,
			(double)self->n_unattributed, 0);
	return true;
}
