/* SPDX-License-Identifier: MIT */
/*
 * The rule next-round, for a load that has overwritten its own base or index. Execution is
 * emulated from the sampled instruction until the load is about to run again, and the address is
 * taken there: for a list that of the next node, which the load has just read.
 *
 *   L: mov  rax, [rax]   the access: its rax is lost ◀─┐ but this one is known: one round late
 *      (sampled)                                       │
 *      add  rcx, 1                                     │
 *      test rax, rax                                   │
 *      jne  L            decided by the flags ─────────┘
 *
 * Values loaded on the way are known where the memory is (registers/memory_emulation.h). A jump
 * that depends on an unknown value is followed both ways; there is an address only if both lead to
 * the same one. A called function is followed; where that fails, the registers that the System V
 * ABI does not preserve are unknown. Only the same activation of the function counts: its return
 * ends the search, and so does an execution of the load in a recursive call.
 *
 * In an unrolled loop the next address may depend on copies of the load, instructions with the
 * same operand: then it is that of the first copy that runs.
 */
#include "images/data/access_search.h"
#include "images/registers/memory_emulation.h"

/* The most instructions in all, and the most jumps followed both ways. */
enum { ROUND_STEPS = 48, MAX_FORKS = 4 };

/* rbx, rsp, rbp, r12 to r15. */
#define PRESERVED_BY_CALLS UINT32_C(0xf038)
/* rsp, rbp, r14 (Go internal ABI specification). */
#define PRESERVED_BY_GO UINT32_C(0x4030)

typedef struct {
	uint64_t address; /* in the image, of the next instruction */
	LodeRegisterState state;
	LodeStackMemory memory;
	unsigned depth; /* of calls */
} Point;

typedef struct {
	LodeAccessSearch *search; /* its `found` is of the first way that arrived */
	const LodeFullInstruction *access;
	unsigned n_left, n_forks;
	bool has_arrived;
	bool is_recursive;   /* the instruction has run in a called function */
	LodeDataAccess copy; /* the first of its copies that runs; rule NONE: none */
} Round;

/* False: no address, or not the one at which a different way has arrived. */
static bool arrive(Round *self, const Point *point)
{
	LodeAccessSearch *search = self->search;
	LodeDataAccess before = search->found;

	search->state = point->state;
	if (!lode_access_search_take(search, LODE_RULE_NEXT_ROUND) ||
		search->found.rule == LODE_RULE_NONE)
		return false;
	for (unsigned i = 0; self->has_arrived && i < before.n_operands; i++)
		if (before.operands[i].address != search->found.operands[i].address)
			return false;
	self->has_arrived = true;
	return true;
}

/* Whether an instruction has the same operand in memory, with a register in it, as the access. */
static bool is_copy(const LodeFullInstruction *full, const LodeFullInstruction *access)
{
	uint8_t ours[LODE_MAX_DATA_OPERANDS], theirs[LODE_MAX_DATA_OPERANDS];

	if (lode_full_instruction_accesses(full, ours) != 1 ||
		lode_full_instruction_accesses(access, theirs) != 1)
		return false;
	const ZydisDecodedOperand *a = &full->operands[ours[0]];
	const ZydisDecodedOperand *b = &access->operands[theirs[0]];
	return a->size == b->size && a->actions == b->actions && a->mem.type == b->mem.type &&
	       a->mem.base == b->mem.base && a->mem.base != ZYDIS_REGISTER_RIP &&
	       a->mem.index == b->mem.index && a->mem.scale == b->mem.scale &&
	       a->mem.segment == b->mem.segment && a->mem.disp.value == b->mem.disp.value;
}

/* Notes a copy of the instruction that certainly runs next. */
static void note_copy(Round *self, const Point *point)
{
	LodeAccessSearch *search = self->search;
	const LodeDataAccess before = search->found;

	if (self->n_forks > 0 || point->depth > 0 || self->copy.rule != LODE_RULE_NONE ||
		!is_copy(&search->full, self->access))
		return;
	search->state = point->state;
	if (lode_access_search_take(search, LODE_RULE_NEXT_ROUND))
		self->copy = search->found;
	self->copy.pc = self->access->address;
	search->found = before;
}

static void skip_call(const Round *self, Point *point)
{
	point->state.known &= self->search->question->is_go ? PRESERVED_BY_GO : PRESERVED_BY_CALLS;
	point->state.known_flags = 0;
	lode_stack_memory_forget(&point->memory);
}

static bool go_on(Round *self, Point *point);

/* The called function may take half of the instructions that are left; the rest is for its caller.
 */
static bool go_through_call(Round *self, const Point *before)
{
	unsigned reserved = self->n_left / 2;
	Point inside = *before;
	LodeStep step = lode_memory_emulate(
		&self->search->full, &inside.state, &inside.memory, &inside.address);
	bool has_arrived;

	if (step != LODE_STEP_ON && step != LODE_STEP_COMPUTED)
		return false;
	self->n_left -= reserved;
	inside.depth++;
	has_arrived = go_on(self, &inside);
	self->n_left += reserved;
	return has_arrived;
}

static bool go_both_ways(Round *self, uint64_t target, Point *point)
{
	Point taken = *point;

	taken.address = target;
	return self->n_forks++ < MAX_FORKS && go_on(self, &taken) && go_on(self, point);
}

/* Whether all ways from a point on lead to the instruction, and to one address. */
static bool go_on(Round *self, Point *point)
{
	LodeAccessSearch *search = self->search;
	const ZydisDecodedInstruction *instruction = &search->full.instruction;

	while (self->n_left > 0 && lode_access_search_decode(search, point->address)) {
		ZydisInstructionCategory category = instruction->meta.category;
		uint64_t following = point->address + instruction->length;

		if (point->address == self->access->address) {
			self->is_recursive |= point->depth > 0;
			return point->depth == 0 && arrive(self, point);
		}
		self->n_left--;
		note_copy(self, point);
		if (category == ZYDIS_CATEGORY_CALL) {
			if (go_through_call(self, point))
				return true;
			if (self->is_recursive || self->has_arrived || point->depth > 0)
				return false;
			point->address = following;
			skip_call(self, point);
			continue;
		}
		if (category == ZYDIS_CATEGORY_RET && point->depth-- == 0)
			return false;
		LodeStep step = lode_memory_emulate(
			&search->full, &point->state, &point->memory, &point->address);
		if (category == ZYDIS_CATEGORY_COND_BR && step == LODE_STEP_LOST)
			return instruction->mnemonic != ZYDIS_MNEMONIC_XBEGIN &&
			       go_both_ways(self,
				       following + (uint64_t)instruction->raw.imm[0].value.s,
				       point);
		if (step == LODE_STEP_BLOCKED ||
			(step == LODE_STEP_LOST && category != ZYDIS_CATEGORY_STRINGOP))
			return false;
	}
	return false;
}

bool lode_access_search_next_round(
	LodeAccessSearch *self, const LodeRegisterState *sampled, const LodeFullInstruction *access)
{
	Round round = {.search = self, .access = access, .n_left = ROUND_STEPS};
	Point point = {.address = self->question->pc, .state = *sampled, .memory = self->stack};

	if (go_on(&round, &point))
		return true;
	self->found = round.copy;
	return round.copy.rule != LODE_RULE_NONE;
}
