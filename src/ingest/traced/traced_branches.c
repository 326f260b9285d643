/* SPDX-License-Identifier: MIT */
/*
 * Each block has a list of its branches, made once. A branch in its middle went on to the next
 * instruction; the target of the last one is known when its thread continues:
 *
 *   400510  test   …
 *   400513  je 400540       in the middle: not taken
 *   400515  jmp *%rax       last: to the first instruction of the thread's next block
 *
 * If neither the next instruction nor the target came next (a signal), the branch is not counted,
 * since its outcome is unknown.
 */
#include "ingest/traced/traced_events.h"

#include "base/error.h"
#include "ingest/traced/traced_recording.h"
#include "model/index.h"

#include <string.h>

typedef enum {
	BRANCH_CONDITIONAL,
	BRANCH_INDIRECT,
	BRANCH_REPEATED, /* a string instruction, a loop over itself */
	BRANCH_LOCKED,   /* tries again where it did not succeed */
} BranchKind;

typedef struct {
	uint64_t address, end, target; /* at run time; target: of a direct one */
	uint32_t instruction;          /* of the counts; LODE_NONE */
	uint8_t index;                 /* in the block */
	uint8_t kind;
} Branch;

typedef struct {
	uint32_t generation; /* of the counts; else what follows is of the past */
	uint32_t first, n;   /* of the branches */
	uint32_t n_unknown;  /* instructions without code */
} Plan;

typedef struct {
	Branch last;  /* the branch that its last block ended with… */
	bool is_open; /* …whose target is not known yet */
} Thread;

struct LodeTracedBranches {
	LodeTracedBranchSums *sums; /* borrowed, as those below */
	LodeTracedCounts *counts;
	const LodeTracedRows *rows;
	GArray *plans;    /* Plan, by block */
	GArray *branches; /* Branch */
	GArray *threads;  /* Thread */
	GPtrArray *cores; /* LodeBranchPredictor; NULL: nothing ran on it yet */
	LodeInstructionDecoder decoder;
	uint32_t generation; /* that the branches are of */
	bool is_out_of_memory;
};

static uint32_t add_column(LodeRecording *recording, const char *name, const char *description)
{
	g_ptr_array_add(recording->events, g_string_chunk_insert(recording->strings, name));
	g_ptr_array_set_size(recording->descriptions, (gint)recording->events->len - 1);
	g_ptr_array_add(
		recording->descriptions, g_string_chunk_insert(recording->strings, description));
	return recording->events->len - 1;
}

static void add_columns(LodeTracedBranchSums *self)
{
	static const struct {
		const char *name, *description;
	} texts[2][2] = {
		{{"Bc", "conditional branches executed"},
			{"Bcm", "conditional branches mispredicted"}},
		{{"Bi", "indirect branches executed"}, {"Bim", "indirect branches mispredicted"}},
	};
	LodeRecording *recording = self->recording;
	g_autofree char *description = g_strdup_printf("mispredicted branches, simulated: %s",
		lode_branch_model_to_text(self->options.model));

	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++)
			self->columns[i][j] = add_column(
				recording, texts[i][j].name, texts[i][j].description);
	const LodeRecordedSum sum = {
		.name = g_string_chunk_insert_const(recording->strings, "branch-miss"),
		.description = g_string_chunk_insert(recording->strings, description),
		.cycles = 10, /* as of those that callgrind counts */
		.columns = {self->columns[0][1], self->columns[1][1]},
		.n_columns = 2,
		.is_attribute = true,
	};
	g_array_append_val(recording->sums, sum);
}

static void free_predictor(void *predictor)
{
	lode_branch_predictor_free(predictor);
}

void lode_traced_branch_sums_init(LodeTracedBranchSums *self,
	const LodeTracedBranchesOptions *options, LodeRecording *recording, LodeCodeImages *images)
{
	*self = (LodeTracedBranchSums){
		.options = *options, .recording = recording, .images = images};
	add_columns(self);
}

void lode_traced_branch_sums_clear(LodeTracedBranchSums *self)
{
	g_clear_pointer(&self->unknown, g_free);
}

void lode_traced_branch_sums_finish(LodeTracedBranchSums *self)
{
	if (self->n_unknown > 0)
		lode_recording_add_unresolved(
			self->recording, LODE_TRACED_NO_CODE, self->unknown, self->n_unknown, 0);
}

LodeTracedBranches *lode_traced_branches_new(
	LodeTracedBranchSums *sums, LodeTracedCounts *counts, const LodeTracedRows *rows)
{
	LodeTracedBranches *self = g_new0(LodeTracedBranches, 1);

	self->sums = sums;
	self->counts = counts;
	self->rows = rows;
	self->plans = g_array_new(FALSE, TRUE, sizeof(Plan));
	self->branches = g_array_new(FALSE, FALSE, sizeof(Branch));
	self->threads = g_array_new(FALSE, TRUE, sizeof(Thread));
	self->cores = g_ptr_array_new_with_free_func(free_predictor);
	lode_instruction_decoder_init(&self->decoder);
	return self;
}

void lode_traced_branches_free(LodeTracedBranches *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->plans);
	g_array_unref(self->branches);
	g_array_unref(self->threads);
	g_ptr_array_unref(self->cores);
	g_free(self);
}

/* ---- which instructions are branches ---- */

/* callgrind counts what its translation branches at, too: each round of a repeated instruction, and
 * the end of a locked one, which begins anew where memory has changed meanwhile. */
static bool is_callgrinds(const LodeDecodedInstruction *decoded, BranchKind *out_kind)
{
	char buffer[32];
	const char *name = lode_instruction_mnemonic(decoded, buffer, sizeof(buffer));
	bool is_locked = (decoded->kinds & 1u << LODE_KIND_ATOMIC) != 0 &&
	                 strstr(name, "cmpxchg") == NULL;

	*out_kind = decoded->is_repeat ? BRANCH_REPEATED : BRANCH_LOCKED;
	return decoded->is_repeat || is_locked;
}

static bool is_branch(
	const LodeTracedBranches *self, const LodeDecodedInstruction *decoded, BranchKind *out_kind)
{
	switch (decoded->branch) {
	case LODE_BRANCH_CONDITIONAL:
		*out_kind = BRANCH_CONDITIONAL;
		return true;
	case LODE_BRANCH_INDIRECT_JUMP:
	case LODE_BRANCH_INDIRECT_CALL:
		*out_kind = BRANCH_INDIRECT;
		return true;
	default:
		return self->sums->options.model == LODE_BRANCHES_CALLGRIND &&
		       is_callgrinds(decoded, out_kind);
	}
}

static const uint8_t *code_of(LodeTracedBranches *self, uint32_t instruction, size_t *out_n)
{
	LodeTracedBranchSums *sums = self->sums;
	const LodeTracedInstruction *place = lode_traced_rows_instruction(self->rows, instruction);
	const LodeRecordedObject *object = &g_array_index(
		sums->recording->objects, LodeRecordedObject, place->object);

	if (object->image == LODE_NONE)
		return NULL;
	const uint8_t *code = lode_code_image_bytes(
		lode_code_images_at(sums->images, object->image), place->address, out_n);
	if (code == NULL && sums->unknown == NULL)
		sums->unknown = g_strdup(object->path);
	return code;
}

static void add_branch(LodeTracedBranches *self, Branch branch, Plan *plan)
{
	LodeDecodedInstruction decoded;
	BranchKind kind;
	size_t n = 0;
	const uint8_t *code = branch.instruction != LODE_NONE
	                              ? code_of(self, branch.instruction, &n)
	                              : NULL;

	if (code == NULL || !lode_instruction_decoder_decode(
				    &self->decoder, code, n, branch.address, &decoded)) {
		plan->n_unknown++;
		return;
	}
	if (!is_branch(self, &decoded, &kind))
		return;
	branch.kind = (uint8_t)kind;
	branch.target = kind == BRANCH_CONDITIONAL ? decoded.target
	                : kind == BRANCH_REPEATED  ? branch.address
	                                           : branch.end;
	g_array_append_val(self->branches, branch);
	plan->n++;
}

static Plan *plan_of(LodeTracedBranches *self, const LodeTraceBlock *block, LodeTracedPlace place)
{
	Plan *plan = &g_array_index(self->plans, Plan, place.block);
	uint64_t address = block->address;

	if (plan->generation == self->generation)
		return plan;
	*plan = (Plan){.generation = self->generation, .first = self->branches->len};
	for (unsigned i = 0; i < block->n_instructions; i++) {
		place.instruction = (uint8_t)i;
		const Branch branch = {
			.address = address,
			.end = address + block->instruction_sizes[i],
			.instruction = lode_traced_counts_find(self->counts, &place),
			.index = (uint8_t)i,
		};
		add_branch(self, branch, plan);
		address = branch.end;
	}
	return plan;
}

/* ---- where they went ---- */

static LodeBranchPredictor *predictor_of(LodeTracedBranches *self, uint32_t thread)
{
	uint32_t n_cores = self->sums->options.n_cores;
	uint32_t core = n_cores > 0 ? thread % n_cores : thread;

	if (core >= self->cores->len)
		g_ptr_array_set_size(self->cores, (gint)core + 1);
	if (self->cores->pdata[core] == NULL)
		self->cores->pdata[core] = lode_branch_predictor_new(self->sums->options.model);
	self->is_out_of_memory |= self->cores->pdata[core] == NULL;
	return self->cores->pdata[core];
}

static void predict(LodeTracedBranches *self, uint32_t thread, const Branch *branch, uint64_t next)
{
	LodeBranchPredictor *predictor = predictor_of(self, thread);
	bool is_indirect = branch->kind == BRANCH_INDIRECT, is_wrong;

	if (predictor == NULL || (!is_indirect && next != branch->end && next != branch->target))
		return;
	if (is_indirect) {
		is_wrong = lode_branch_predictor_indirect(predictor, branch->address, next);
	} else {
		bool is_taken = next == branch->target && branch->target != branch->end;
		is_wrong = lode_branch_predictor_conditional(predictor, branch->address, is_taken);
	}
	lode_traced_counts_count(
		self->counts, branch->instruction, self->sums->columns[is_indirect][0]);
	if (is_wrong)
		lode_traced_counts_count(
			self->counts, branch->instruction, self->sums->columns[is_indirect][1]);
}

static Thread *thread_at(LodeTracedBranches *self, uint32_t thread)
{
	if (self->threads->len <= thread)
		g_array_set_size(self->threads, thread + 1);
	return &g_array_index(self->threads, Thread, thread);
}

static void execute(LodeTracedBranches *self, uint32_t number, const LodeTraceBlock *block,
	const LodeTracedPlace *place)
{
	Thread *thread = thread_at(self, number);

	if (thread->is_open)
		predict(self, number, &thread->last, block->address);
	thread->is_open = false;
	const Plan *plan = plan_of(self, block, *place);
	self->sums->n_unknown += plan->n_unknown;
	for (uint32_t i = 0; i < plan->n; i++) {
		const Branch *branch = &g_array_index(self->branches, Branch, plan->first + i);
		if (branch->index + 1u < block->n_instructions) {
			predict(self, number, branch, branch->end);
			continue;
		}
		thread->last = *branch;
		thread->is_open = true;
	}
}

bool lode_traced_branches_add(LodeTracedBranches *self, const LodeTraceFrame *frame, GError **error)
{
	LodeTracedPlace place = {.reference = frame->first_reference};
	uint32_t generation = lode_traced_counts_generation(self->counts);
	size_t next_switch = 0;
	uint32_t thread = 0;

	if (self->generation != generation)
		g_array_set_size(self->branches, 0);
	self->generation = generation;
	if (self->plans->len < frame->n_blocks)
		g_array_set_size(self->plans, frame->n_blocks);
	for (size_t i = 0; i < frame->n_invocations; i++) {
		if (next_switch < frame->n_switches && frame->switches[next_switch].invocation == i)
			thread = frame->switches[next_switch++].thread;
		place.block = frame->blocks[i];
		const LodeTraceBlock *block = lode_block_dictionary_at(
			frame->dictionary, place.block);
		if (block->n_instructions > 0)
			execute(self, thread, block, &place);
	}
	if (self->is_out_of_memory)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"not enough memory for branch predictors");
	return !self->is_out_of_memory;
}
