/* SPDX-License-Identifier: MIT */
/*
 * The instruction that a timer's interrupt waited for: the last that ran before the sampled one
 * (model/causes.h has the same rule for weights without registers).
 *
 *      cmp eax, [rbx]  ─┐ one             add rax, [rsi]       jmp L   takes no time: had it been
 *      jne L           ─┘ way                  │                 │     waited for before it, the
 *        …                └────────────────▶ L: sampled ◀────────┘     sample would lie on it
 *
 * A way is the instruction that it comes from: the one above, a conditional jump (which retires
 * with a compare of memory just before it), an indirect jump, a call; after a call it is the return
 * of the function. Where there are several, each is followed back a little: registers, flags and
 * stack contradict most of those that the thread did not take.
 */
#include "images/data/argument_slots.h"

#include "images/data/access_walk.h"
#include "images/instructions/instruction_effect.h"
#include "images/registers/backward_undoing.h"
#include "images/registers/memory_emulation.h"

#include <string.h>

/*
 * the last instructions that ran before a sample, and what registers and memory
 * held before each:
 *
 *   backward   undoing one instruction after the other      ◀── registers at the sample
 *   forward    from the oldest one on, doing each again: registers that were overwritten since are
 *              computed as the code did, from registers that were not, and from the dump of the
 *              stack where nothing has been written since
 *
 *   sub  ecx, 1        ▲ undone: rcx        │
 *   mov  eax, ecx      │                    │ eax = ecx
 *   and  eax, 0xff     │                    ▼ eax = ecx & 0xff
 *   mov  eax, [r11+rax*4]   steps[0]: where did it load from?
 *   (sampled)
 *
 * Where both know a value they must agree. If they do not, the thread did not come this way.
 */

typedef struct {
	LodeFullInstruction full;
	uint32_t number; /* in the function's control flow; UINT32_MAX: in another function */
	uint64_t next;   /* the address, in the image, of what ran after it */
} PathStep;

typedef struct {
	LodeAccessWalk *walk;
	LodeRegisterState after;                                /* as sampled */
	PathStep steps[LODE_ACCESS_SEARCH_STEPS];               /* the last that ran first */
	LodeRegisterState before[LODE_ACCESS_SEARCH_STEPS];     /* each step, undone */
	LodeRegisterState recomputed[LODE_ACCESS_SEARCH_STEPS]; /* likewise, done again */
	unsigned n;
	bool has_ended; /* what ran before is not known */
} AccessPath;

/* The flags by which conditions and results are compared. */
#define COMPARED_FLAGS                                                                             \
	((uint64_t)(ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF |    \
		    ZYDIS_CPUFLAG_OF))

static bool add_step(AccessPath *self, uint64_t address, uint32_t number, uint64_t next)
{
	LodeAccessSearch *search = self->walk->search;
	PathStep *step = &self->steps[self->n];

	if (!lode_access_search_decode(search, address))
		return false;
	step->full = search->full;
	step->number = number;
	step->next = next;
	self->before[self->n] = self->n > 0 ? self->before[self->n - 1] : self->after;
	lode_backward_undo(&step->full, &self->before[self->n]);
	self->n++;
	return true;
}

/* Begins with the instruction at an address of the image, after which the sampled one ran. `number`
 * as in a step. False: it cannot be decoded. */
static bool access_path_begin(AccessPath *self, LodeAccessWalk *walk,
	const LodeRegisterState *sampled, uint64_t address, uint32_t number)
{
	self->walk = walk;
	self->after = *sampled;
	self->n = 0;
	self->has_ended = number == UINT32_MAX;
	return add_step(self, address, number, walk->search->question->pc);
}

/* One that control came from: not decoded otherwise than the function was, and of known effect. */
static bool add_before(AccessPath *self, uint32_t before)
{
	const LodeStaticInstruction *found = lode_access_walk_at(self->walk, before);
	const LodeFullInstruction *full = &self->steps[self->n].full;
	uint64_t next = self->steps[self->n - 1].full.address;

	if (!add_step(self, found->address, before, next))
		return false;
	if (full->instruction.length == found->decoded.length &&
		!lode_access_is_opaque(full, &found->decoded))
		return true;
	self->n--;
	return false;
}

/* Up to `n` steps in all, as far as only one way leads there. */
static void access_path_extend(AccessPath *self, unsigned n)
{
	while (!self->has_ended && self->n < MIN(n, LODE_ACCESS_SEARCH_STEPS)) {
		uint32_t before = lode_access_walk_before(
			self->walk, self->steps[self->n - 1].number);

		self->has_ended = before == UINT32_MAX || !add_before(self, before);
	}
}

/* --- memory --- */

static void init_memory(const AccessPath *self, LodeStackMemory *memory)
{
	const LodeDataAccessQuestion *question = self->walk->search->question;
	uint64_t start = 0;
	bool is_known = lode_register_state_read(&self->after, ZYDIS_REGISTER_RSP, &start);

	lode_stack_memory_init(
		memory, is_known ? question->stack : NULL, question->stack_size, start);
	memory->constants = self->walk->search->stack.constants;
	memory->n_constants = self->walk->search->stack.n_constants;
	for (unsigned i = 0; i < self->n; i++) {
		if (!lode_memory_is_written(&self->steps[i].full))
			continue;
		LodeStackWrite write = lode_memory_write_of(&self->steps[i].full, &self->before[i]);
		lode_stack_memory_expect(memory, &write);
	}
	memory->is_past = true;
}

/* --- doing it again --- */

/* False: a jump went elsewhere. */
static bool do_again(const PathStep *step, LodeRegisterState *state, LodeStackMemory *memory)
{
	bool is_writing = lode_memory_is_written(&step->full);
	unsigned n_expected = memory->n_expected - (is_writing ? 1 : 0);
	uint64_t next;
	LodeStep went = lode_memory_emulate(&step->full, state, memory, &next);

	if (is_writing && memory->n_expected != n_expected)
		lode_stack_memory_forget(memory);
	memory->n_expected = n_expected;
	return (went != LODE_STEP_ON && went != LODE_STEP_COMPUTED) || next == step->next;
}

/* A result whose input was in memory still gives zero, sign and parity. False: the flags are not
 * those of this result. */
static bool has_flags_of_result(const LodeFullInstruction *full, const LodeRegisterState *after)
{
	uint64_t value, flags = 0;
	unsigned bits = full->operands[0].size;

	switch (lode_instruction_operation(&full->instruction)) {
	case LODE_OPERATION_ADD:
	case LODE_OPERATION_ADD_CARRY:
	case LODE_OPERATION_AND:
	case LODE_OPERATION_NEGATE:
	case LODE_OPERATION_OR:
	case LODE_OPERATION_SUBTRACT:
	case LODE_OPERATION_SUBTRACT_BORROW:
	case LODE_OPERATION_XOR:
		break;
	default:
		return true;
	}
	if (lode_operand_register(&full->operands[0]) < 0 ||
		!lode_register_state_read(after, full->operands[0].reg.value, &value))
		return true;
	flags |= value == 0 ? ZYDIS_CPUFLAG_ZF : 0;
	flags |= value >> (bits - 1) & 1 ? ZYDIS_CPUFLAG_SF : 0;
	flags |= __builtin_parityll(value & 0xff) ? 0 : ZYDIS_CPUFLAG_PF;
	return ((flags ^ after->flags) & after->known_flags &
		       (ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_PF)) == 0;
}

/* Adds what another state of the same moment knows. False: they contradict each other. */
static bool merge(LodeRegisterState *state, const LodeRegisterState *other)
{
	uint32_t both = state->known & other->known;
	uint64_t both_flags = state->known_flags & other->known_flags & COMPARED_FLAGS;

	if ((state->flags ^ other->flags) & both_flags)
		return false;
	for (unsigned i = 0; i < LODE_N_GENERAL_REGISTERS; i++) {
		if ((both >> i & 1) && state->values[i] != other->values[i])
			return false;
		if (other->known >> i & 1)
			state->values[i] = other->values[i];
	}
	state->known |= other->known;
	state->flags = (state->flags & ~other->known_flags) | (other->flags & other->known_flags);
	state->known_flags |= other->known_flags;
	return true;
}

/* Fills `recomputed`. False: the sample contradicts this way. */
static bool access_path_recompute(AccessPath *self)
{
	LodeStackMemory memory;
	LodeRegisterState state = self->before[self->n - 1];

	init_memory(self, &memory);
	for (unsigned i = self->n; i-- > 0;) {
		const LodeRegisterState *after = i > 0 ? &self->before[i - 1] : &self->after;

		self->recomputed[i] = state;
		if (!do_again(&self->steps[i], &state, &memory) || !merge(&state, after) ||
			!has_flags_of_result(&self->steps[i].full, &state))
			return false;
	}
	return true;
}

/* The steps that distinguish ways; mostly one or two instructions suffice. */
enum { EVIDENCE_STEPS = 8, MAX_CALL_BYTES = 8 };

typedef struct {
	uint64_t source; /* 0: the return of a function that is not known */
	uint32_t number; /* as in PathStep */
} Way;

typedef struct {
	LodeAccessWalk walk;
	LodeRegisterState sampled;
	Way ways[LODE_MAX_DATA_WAYS];
	unsigned n;
	bool is_cut;   /* there are more */
	bool has_jump; /* a jump that takes no time leads here too */
	bool is_open;  /* so do calls that are not known */
	LodeStackWrite slots[LODE_MAX_ARGUMENT_SLOTS]; /* looked for where an address is lost */
} Ways;

static void add_way(Ways *self, uint64_t source, uint32_t number)
{
	for (unsigned i = 0; i < self->n; i++)
		if (self->ways[i].source == source)
			return;
	if (self->n == LODE_MAX_DATA_WAYS)
		self->is_cut = true;
	else
		self->ways[self->n++] = (Way){source, number};
}

/* Adds the instructions that fall through to an instruction. One may begin inside another (after a
 * lock prefix). */
static void add_from_above(Ways *self, uint32_t i)
{
	uint64_t address = lode_access_walk_at(&self->walk, i)->address;

	for (uint32_t back = 1; back <= MIN(i, 2); back++) {
		const LodeStaticInstruction *above = lode_access_walk_at(&self->walk, i - back);

		if (above->address + above->decoded.length != address ||
			(back == 1 && !lode_access_walk_falls_into(&self->walk, i)))
			continue;
		switch (above->decoded.branch) {
		case LODE_BRANCH_NONE:
		case LODE_BRANCH_CONDITIONAL:
			add_way(self, above->address, i - back);
			break;
		case LODE_BRANCH_CALL:
		case LODE_BRANCH_INDIRECT_CALL:
			add_way(self, 0, UINT32_MAX);
			break;
		default:
			break;
		}
	}
}

/* The address to which the function returns that begins at the sample, in the image. */
static bool find_return(const Ways *self, uint64_t *out_address)
{
	const LodeDataAccessQuestion *question = self->walk.search->question;

	if (question->stack == NULL || question->stack_size < sizeof(*out_address))
		return false;
	memcpy(out_address, question->stack, sizeof(*out_address));
	*out_address -= question->bias;
	return true;
}

static void add_direct(Ways *self, uint64_t source)
{
	LodeAccessSearch *search = self->walk.search;
	uint64_t returns_to = 0;

	if (!lode_access_search_decode(search, source))
		return;
	switch (search->full.instruction.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		add_way(self, source, lode_control_flow_find(self->walk.flow, source));
		break;
	case ZYDIS_CATEGORY_CALL:
		if (!find_return(self, &returns_to) ||
			returns_to == source + search->full.instruction.length)
			add_way(self, source, UINT32_MAX);
		break;
	case ZYDIS_CATEGORY_UNCOND_BR:
		self->has_jump = true;
		break;
	default: /* its address is taken: for a call, or for an indirect jump */
		break;
	}
}

static void add_indirect_jumps(Ways *self)
{
	const GArray *jumps = self->walk.targets->indirect_jumps;
	const LodeControlFlow *flow = self->walk.flow;

	for (guint i = 0; i < jumps->len; i++) {
		uint64_t source = g_array_index(jumps, uint64_t, i);
		uint32_t number = lode_control_flow_find(flow, source);

		if (number != UINT32_MAX)
			add_way(self, source, number);
	}
}

/* Adds the jumps, calls and tables of the image that lead to the sampled address. */
static void add_from_elsewhere(Ways *self, uint64_t address)
{
	const LodeBranchTargets *targets = self->walk.targets;
	bool is_pointed_to = false;

	if (targets == NULL)
		return;
	for (guint end = lode_branch_targets_above(targets, address); end-- > 0;) {
		const LodeBranchTarget *target = &g_array_index(
			targets->targets, LodeBranchTarget, end);

		if (target->target != address)
			break;
		if (target->source != 0)
			add_direct(self, target->source);
		else
			is_pointed_to = true;
	}
	if (self->walk.has_indirect_jumps && is_pointed_to)
		add_indirect_jumps(self);
	self->walk.has_ignored |= is_pointed_to && !self->walk.has_indirect_jumps;
}

/*
 * Whether a jump at the end of another function, `jmp rax`, may have led here: then a register
 * holds this address. `call [memory]` leaves it in none.
 */
static bool is_held(const Ways *self)
{
	const LodeDataAccessQuestion *question = self->walk.search->question;
	uint64_t here = question->pc + question->bias;

	for (unsigned i = 0; i < LODE_N_GENERAL_REGISTERS; i++)
		if ((self->sampled.known >> i & 1) != 0 && self->sampled.values[i] == here)
			return true;
	return false;
}

/* It is unknown whether a called function ended with one of these, which are few. */
static void add_jumps_at_ends(Ways *self)
{
	const GArray *jumps = self->walk.targets != NULL ? self->walk.targets->memory_jumps : NULL;

	for (guint i = 0; jumps != NULL && i < jumps->len && !self->is_cut; i++)
		add_way(self, g_array_index(jumps, uint64_t, i), UINT32_MAX);
}

/*
 * A function is entered by the call before the return address on the stack. `call [memory]` is an
 * access. Through a procedure linkage table or a jump at the end of another function the last
 * instruction is unknown.
 */
static void add_callers(Ways *self)
{
	LodeAccessSearch *search = self->walk.search;
	uint64_t returns_to, target, found = 0;
	unsigned n_found = 0;
	bool is_by_memory = false;

	for (unsigned i = 0; i < self->n; i++)
		if (self->ways[i].number == UINT32_MAX && self->ways[i].source != 0)
			return; /* the direct call */
	self->is_open = true;
	if (!find_return(self, &returns_to))
		return;
	for (unsigned length = 2; length <= MAX_CALL_BYTES; length++) {
		const LodeFullInstruction *full = &search->full;

		if (!lode_access_search_decode(search, returns_to - length) ||
			full->instruction.length != length ||
			full->instruction.meta.category != ZYDIS_CATEGORY_CALL ||
			full->instruction.raw.imm[0].is_relative)
			continue;
		bool leads_here = lode_operand_register(&full->operands[0]) < 0 ||
		                  !lode_register_state_read(
					  &self->sampled, full->operands[0].reg.value, &target) ||
		                  target - full->bias == search->question->pc;
		if (!leads_here)
			continue;
		found = returns_to - length;
		is_by_memory = full->operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY;
		n_found++;
	}
	if (n_found != 1)
		return;
	add_way(self, found, UINT32_MAX);
	if (is_by_memory)
		add_jumps_at_ends(self);
	self->is_open = is_by_memory && is_held(self);
	self->walk.has_ignored = true; /* a function in between may have jumped here */
}

/* Where symbols are stripped, a function may begin in the middle of an assumed one: endbr64 is at
 * the targets of calls through a register or memory, also from other images. */
static bool is_entry(const Ways *self, uint32_t i, uint64_t address)
{
	LodeAccessSearch *search = self->walk.search;

	return i == 0 || (lode_access_search_decode(search, address) &&
				 search->full.instruction.mnemonic == ZYDIS_MNEMONIC_ENDBR64);
}

static void find_ways(Ways *self, uint32_t i)
{
	uint64_t address = lode_access_walk_at(&self->walk, i)->address;

	add_from_above(self, i);
	add_from_elsewhere(self, address);
	if (is_entry(self, i, address))
		add_callers(self);
}

/* --- what waited, on one way --- */

/* Compares and tests of memory, without an immediate, retire with the jump after them. */
static bool fuses_with_jump(const LodeFullInstruction *full)
{
	uint8_t numbers[LODE_MAX_DATA_OPERANDS];

	return (full->instruction.mnemonic == ZYDIS_MNEMONIC_CMP ||
		       full->instruction.mnemonic == ZYDIS_MNEMONIC_TEST) &&
	       full->operands[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	       lode_full_instruction_accesses(full, numbers) > 0;
}

enum { NO_ACCESS = -1, NOT_KNOWN = -2 };

/* A jump and what stands before it, which the thread may have jumped over. */
static int find_compare(AccessPath *path)
{
	LodeAccessSearch *search = path->walk->search;
	const PathStep *jump = &path->steps[0];
	const LodeStaticInstruction *before;

	if (jump->number == UINT32_MAX)
		return NOT_KNOWN;
	if (jump->number == 0)
		return NO_ACCESS;
	before = lode_access_walk_at(path->walk, jump->number - 1);
	if (before->address + before->decoded.length != jump->full.address ||
		!lode_access_search_decode(search, before->address) ||
		!fuses_with_jump(&search->full))
		return NO_ACCESS;
	access_path_extend(path, 2);
	return path->n > 1 && path->steps[1].full.address == before->address ? 1 : NOT_KNOWN;
}

/* The number of the path's step that waited, if it accesses memory. */
static int find_access(AccessPath *path)
{
	const LodeFullInstruction *full = &path->steps[0].full;
	uint8_t numbers[LODE_MAX_DATA_OPERANDS];
	uint64_t repetitions = 1;

	if (full->instruction.meta.category == ZYDIS_CATEGORY_COND_BR)
		return find_compare(path);
	if (lode_full_instruction_accesses(full, numbers) == 0)
		return NO_ACCESS;
	lode_full_instruction_repetitions(full, &path->before[0], &repetitions);
	return repetitions > 0 ? 0 : NO_ACCESS;
}

/* With the registers undone, or else computed again over more and more of the path. */
static void locate(AccessPath *path, unsigned step)
{
	LodeAccessSearch *search = path->walk->search;

	search->full = path->steps[step].full;
	search->state = path->before[step];
	lode_access_search_take(search, LODE_RULE_BACKWARD);
	/* it waited in its last rounds, and the computed address is that of the first one */
	if (lode_full_instruction_is_repeated(&path->steps[step].full))
		return;
	for (unsigned n = 4; search->found.reason == LODE_REASON_CLOBBERED && path->n > step &&
			     n <= LODE_ACCESS_SEARCH_STEPS;
		n *= 2) {
		unsigned had = path->n;

		access_path_extend(path, n);
		if ((n > 4 && path->n == had) || !access_path_recompute(path))
			break;
		search->full = path->steps[step].full;
		search->state = path->recomputed[step];
		lode_access_search_take(search, LODE_RULE_RECOMPUTED);
	}
}

static void name_access(LodeAccessSearch *search, const LodeFullInstruction *full)
{
	uint8_t numbers[LODE_MAX_DATA_OPERANDS];

	lode_full_instruction_accesses(full, numbers);
	LodeDataOperand operand = lode_full_instruction_operand(full, numbers[0]);

	search->found.waiting_pc = full->address;
	search->found.waiting_operand = operand.operand;
	search->found.waiting_access = operand.access;
	search->found.waiting_size = operand.size;
	search->full = *full;
	search->found.base = lode_access_search_base(search, &operand);
}

/* Finds the address of the next round if the own one is lost. */
static void locate_later(const Ways *self, const LodeFullInstruction *full)
{
	LodeAccessSearch *search = self->walk.search;
	const LodeRegisterState before = search->state;

	if (lode_full_instruction_is_repeated(full) ||
		lode_access_search_next_round(search, &self->sampled, full))
		return;
	lode_access_search_fail(search, LODE_REASON_CLOBBERED);
	search->state = before;
}

/* Whether memory is known of which no sample has a dump. The stack of the search has it then. */
static bool find_slots(Ways *self)
{
	LodeStackMemory *stack = &self->walk.search->stack;

	if (stack->constants == NULL)
		stack->n_constants = lode_argument_slots_find(
			self->walk.search, &self->sampled, self->slots);
	stack->constants = self->slots;
	return stack->n_constants > 0;
}

/* Sets `found` for the case that the thread came this way. False: it did not. */
static bool follow(Ways *self, const Way *way, bool needs_evidence)
{
	LodeAccessSearch *search = self->walk.search;
	AccessPath path;

	if (way->source == 0) {
		lode_access_search_fail(search, LODE_REASON_NOT_MEMORY);
		return true;
	}
	if (!access_path_begin(&path, &self->walk, &self->sampled, way->source, way->number)) {
		lode_access_search_fail(search, LODE_REASON_NO_DECODE);
		return true;
	}
	int step = find_access(&path);
	if (needs_evidence) {
		access_path_extend(&path, EVIDENCE_STEPS);
		if (!access_path_recompute(&path))
			return false;
	}
	if (step < 0) {
		lode_access_search_fail(search,
			step == NO_ACCESS ? LODE_REASON_NOT_MEMORY : LODE_REASON_BRANCH_TARGET);
		return true;
	}
	locate(&path, (unsigned)step);
	if (search->found.reason == LODE_REASON_CLOBBERED && find_slots(self))
		locate(&path, (unsigned)step);
	if (search->found.reason == LODE_REASON_CLOBBERED)
		locate_later(self, &path.steps[step].full);
	if (search->found.rule != LODE_RULE_NONE)
		search->found.is_unverified = lode_access_walk_is_unverified(&self->walk,
			path.steps[step].number != UINT32_MAX ? path.steps[step].number : 0);
	else
		name_access(search, &path.steps[step].full);
	return true;
}

/* --- which way --- */

/* A repeated string instruction is interrupted between its rounds. */
static bool is_itself(LodeAccessSearch *search, const LodeStaticInstruction *sampled)
{
	uint64_t repetitions = 0;

	return sampled->decoded.is_repeat && lode_access_search_decode(search, sampled->address) &&
	       (!lode_full_instruction_repetitions(&search->full, &search->state, &repetitions) ||
		       repetitions > 0) &&
	       lode_access_search_take(search, LODE_RULE_AT_PC);
}

/* Keeps the ways that the sample does not contradict, and what each would be charged with. */
static unsigned keep_possible(Ways *self, LodeDataWay *out_ways)
{
	const LodeDataAccess *found = &self->walk.search->found;
	bool needs_evidence = self->n > 1 || self->has_jump || self->is_open;
	unsigned n = 0;

	for (unsigned i = 0; i < self->n; i++) {
		if (!follow(self, &self->ways[i], needs_evidence) ||
			(self->n > 1 && self->ways[i].number == UINT32_MAX &&
				found->reason == LODE_REASON_INVALID_ADDRESS))
			continue; /* the call or jump would have failed */
		out_ways[n].source = self->ways[i].source;
		out_ways[n++].access = self->walk.search->found;
	}
	return n;
}

static bool are_alike(const LodeDataWay *ways, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (ways[i].access.reason != LODE_REASON_NOT_MEMORY)
			return n == 1;
	return n > 0;
}

unsigned lode_access_search_waiting(LodeAccessSearch *self, LodeDataWay *out_ways)
{
	LodeDataWay ways[LODE_MAX_DATA_WAYS];
	Ways found = {.sampled = self->state};
	uint32_t i;

	if (!lode_access_walk_init(&found.walk, self, &i) ||
		is_itself(self, lode_access_walk_at(&found.walk, i)))
		return 0;
	find_ways(&found, i);
	unsigned n = keep_possible(&found, ways);
	if (n == 0) {
		lode_access_search_fail(self, found.is_open    ? LODE_REASON_BLOCKED
					      : found.has_jump ? LODE_REASON_NOT_MEMORY
							       : LODE_REASON_BRANCH_TARGET);
		return 0;
	}
	if (are_alike(ways, n) && !found.is_cut && !found.is_open) {
		self->found = ways[0].access;
		return 0;
	}
	lode_access_search_fail(self, LODE_REASON_AMBIGUOUS);
	if (out_ways == NULL || found.is_cut || found.is_open)
		return 0;
	memcpy(out_ways, ways, n * sizeof(*ways));
	return n;
}
