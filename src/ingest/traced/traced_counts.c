/* SPDX-License-Identifier: MIT */
/*
 * A trace has billions of references but some thousand blocks, so that while it is read only blocks
 * and edges between them are counted: one increment for a block that goes where it went last. When
 * a mapping changes, the dictionary is replaced or edges are too many, the counts are folded into
 * those of instructions and the blocks begin anew.
 */
#include "ingest/traced/traced_counts.h"

#include "base/arrays/id_cache.h"
#include "base/arrays/partition_point.h"
#include "model/index.h"

enum { MAX_EDGES = 1 << 22 }; /* between blocks, until they are folded */

typedef struct {
	uint64_t count;
	uint32_t first_place; /* of its instructions in `places`; LODE_NONE: not looked up yet */
	uint32_t last_edge;   /* that was passed; LODE_NONE */
} Block;

static const Block new_block = {.first_place = LODE_NONE, .last_edge = LODE_NONE};

typedef struct {
	uint32_t source, target; /* blocks */
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
	LodeBlockDictionary *dictionary;
	GArray *blocks;       /* Block, of the dictionary */
	GArray *executed;     /* uint32_t: blocks that were since the last fold */
	GArray *block_places; /* uint32_t: numbers of instructions, for each block one by one */
	GArray *edges;        /* Edge between blocks */
	LodeIdCache edge_ids;
	GArray *threads;      /* Thread */
	GArray *strays;       /* Stray, of the frame that was added last */
	LodeTracedRows *rows; /* borrowed */
	uint64_t now;         /* the reference at which mappings are looked up */
	uint32_t generation;
};

LodeTracedCounts *lode_traced_counts_new(LodeTracedPlaces *places, LodeTracedRows *rows)
{
	LodeTracedCounts *self = g_new0(LodeTracedCounts, 1);

	self->places = places;
	self->rows = rows;
	self->blocks = g_array_new(FALSE, FALSE, sizeof(Block));
	self->executed = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->block_places = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->edges = g_array_new(FALSE, FALSE, sizeof(Edge));
	self->threads = g_array_new(FALSE, FALSE, sizeof(Thread));
	self->strays = g_array_new(FALSE, FALSE, sizeof(Stray));
	lode_id_cache_init(&self->edge_ids);
	self->generation = 1;
	return self;
}

void lode_traced_counts_free(LodeTracedCounts *self)
{
	if (self == NULL)
		return;
	g_clear_pointer(&self->dictionary, lode_block_dictionary_unref);
	g_array_unref(self->blocks);
	g_array_unref(self->executed);
	g_array_unref(self->block_places);
	g_array_unref(self->edges);
	g_array_unref(self->threads);
	g_array_unref(self->strays);
	lode_id_cache_clear(&self->edge_ids);
	g_free(self);
}

static uint32_t add_instruction(LodeTracedCounts *self, uint64_t run_time_address)
{
	const LodeTracedInstruction instruction = lode_traced_places_find(
		self->places, run_time_address, self->now);

	return lode_traced_rows_find(self->rows, &instruction);
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
	const uint32_t *places = places_of(self, block);

	for (unsigned i = 0; i < code->n_instructions; i++)
		lode_traced_rows_add(self->rows, places[i], LODE_TRACED_EXECUTIONS, count);
	for (unsigned i = 0; i < code->n_slots; i++)
		lode_traced_rows_add(self->rows, places[code->slots[i].instruction],
			column_of(code->slots[i].kind), count);
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

/* As those are that were not executed. */
static void forget_blocks(LodeTracedCounts *self)
{
	for (guint i = 0; i < self->executed->len; i++)
		*block_at(self, g_array_index(self->executed, uint32_t, i)) = new_block;
	g_array_set_size(self->executed, 0);
	g_array_set_size(self->block_places, 0);
}

/* Mappings may change at each reference, so that nothing here is done for all blocks there are. */
static void fold(LodeTracedCounts *self)
{
	fold_threads(self);
	for (guint i = 0; i < self->executed->len; i++)
		fold_block(self, g_array_index(self->executed, uint32_t, i));
	for (guint i = 0; i < self->edges->len; i++) {
		const Edge edge = g_array_index(self->edges, Edge, i);
		lode_traced_rows_add_transfer(self->rows, last_of(self, edge.source),
			first_of(self, edge.target), edge.count);
	}
	forget_blocks(self);
	self->generation++;
	g_array_set_size(self->edges, 0);
	lode_id_cache_clear(&self->edge_ids);
	lode_id_cache_init(&self->edge_ids);
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

/* A reference without a fetch belongs to the instruction that the thread executed last. */
static void add_stray(LodeTracedCounts *self, const Thread *thread, const LodeTracedPlace *place)
{
	const LodeTraceBlock *code = code_of(self, place->block);
	Stray stray = {place->reference,
		thread->block != LODE_NONE ? last_of(self, thread->block) : thread->instruction};

	for (unsigned i = 0; i < code->n_slots; i++)
		lode_traced_rows_add(
			self->rows, stray.instruction, column_of(code->slots[i].kind), 1);
	if (stray.instruction != LODE_NONE)
		g_array_append_val(self->strays, stray);
	else
		self->rows->n_unattributed += code->n_slots;
}

static void execute(LodeTracedCounts *self, Thread *thread, uint32_t block)
{
	if (thread->block != LODE_NONE)
		pass_edge(self, thread->block, block);
	else
		lode_traced_rows_add_transfer(
			self->rows, thread->instruction, first_of(self, block), 1);
	if (block_at(self, block)->count++ == 0)
		g_array_append_val(self->executed, block);
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
	/* A block in the middle of which it changes is of the earlier mapping. */
	self->now = MIN(last, change - 1);
	g_array_set_size(self->strays, 0);
	while (self->blocks->len < frame->n_blocks)
		g_array_append_val(self->blocks, new_block);
	add_invocations(self, frame);
	return lode_traced_rows_check(self->rows, error);
}

static uint32_t find_stray(const LodeTracedCounts *self, uint64_t reference)
{
	const Stray *strays = (const Stray *)self->strays->data;
	guint n = LODE_PARTITION_POINT(self->strays->len, i, strays[i].reference <= reference);

	if (n == 0)
		return LODE_NONE;
	const Stray *found = &strays[n - 1];
	return reference - found->reference < LODE_BLOCK_MAX_SLOTS ? found->instruction : LODE_NONE;
}

uint32_t lode_traced_counts_generation(const LodeTracedCounts *self)
{
	return self->generation;
}

uint32_t lode_traced_counts_find(LodeTracedCounts *self, const LodeTracedPlace *place)
{
	if (code_of(self, place->block)->n_instructions == 0)
		return find_stray(self, place->reference);
	return places_of(self, place->block)[place->instruction];
}

uint32_t lode_traced_counts_find_address(LodeTracedCounts *self, uint64_t address)
{
	return address != 0 ? add_instruction(self, address) : LODE_NONE;
}

static void end_threads(LodeTracedCounts *self)
{
	for (guint i = 0; i < self->threads->len; i++) {
		uint32_t last = g_array_index(self->threads, Thread, i).instruction;
		if (last != LODE_NONE)
			lode_traced_rows_add_transfer(self->rows, last, LODE_NONE, 1);
	}
	g_array_set_size(self->threads, 0);
}

void lode_traced_counts_count(LodeTracedCounts *self, uint32_t instruction, uint32_t column)
{
	lode_traced_rows_add(self->rows, instruction, column, 1);
}

void lode_traced_counts_end(LodeTracedCounts *self)
{
	if (self->dictionary != NULL)
		fold(self);
	end_threads(self);
}
