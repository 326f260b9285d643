/* SPDX-License-Identifier: MIT */
/*
 * Loops that search one element after the other. Such a loop compares what it loads with a value
 * that stays the same, the key, and ends where both are equal:
 *
 *   loop: cmp [rax+rsi+0x20], bpl    loaded from where the loop goes, and the key
 *         jnz next                   the loop goes on; behind it is what was found
 *         …
 *   next: add rsi, 0x28
 *         cmp rcx, rsi               the end, of two registers alone
 *         jnz loop
 *
 * Comparisons with a constant are none, as the ends of texts and lists are found by them; nor are
 * walks over single bytes, as through texts.
 *
 * And loops that change nothing, as they look at the same memory until another thread changes it:
 *
 *   loop: mov eax, [rip+ready]      from where the loop does not change
 *         cmp eax, edx
 *         jle loop
 */
#include "analyses/diagnoses/code/code_shapes.h"

#include "base/arrays/sort_order.h"
#include "base/bits.h"
#include "images/instructions/instruction_decoder.h"
#include "images/instructions/register_use.h"
#include "model/memory.h"
#include "model/observed/windows.h"
#include "model/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A search has so many rounds, or at least as many as the second where windows saw none end; and
 * is entered often: windows saw so many ends, or samples of addresses go back as often. */
static const double MANY_ROUNDS = 50, LEAST_ROUNDS = 20;
/* The part of its rounds that a loop within one of the same head takes. */
static const double MOST_WITHIN = 0.9;
enum { FEW_EXITS = 2, FEW_RETURNS = 8, LEAST_STEP = 4, MOST_SPIN = 10 };

/* Loops with a smaller share of the weight are not looked at. */
static const double LEAST_SHARE = 0.01;

typedef struct {
	LodeCostedCode *code;
	const LodeProfile *profile;
	LodeInstructionDecoder decoder;
	uint32_t loop;
	GArray *body;                     /* uint32_t: its instructions, ascending */
	double inner_rounds;              /* of the inner one of two loops; NAN: there is one */
	LodeRegisterMask written, walked; /* walked: of it, not merely loaded from one place */
} Search;

static uint32_t body_at(const Search *self, guint i)
{
	return g_array_index(self->body, uint32_t, i);
}

static bool use_at(const Search *self, uint32_t at, LodeRegisterUse *out)
{
	size_t size;
	const uint8_t *bytes = lode_code_bytes(self->profile, at, &size);

	return bytes != NULL && lode_register_use_decode(out, bytes, size,
					lode_profile_instruction(self->profile, at)->address);
}

static bool is_inside(const Search *self, uint64_t address)
{
	const LodeInstruction *head = lode_profile_instruction(
		self->profile, LODE_AT(self->profile->loops, LodeLoop, self->loop).head);

	for (guint i = 0; i < self->body->len; i++) {
		const LodeInstruction *one = lode_profile_instruction(
			self->profile, body_at(self, i));
		if (one->function == head->function && one->address == address)
			return true;
	}
	return false;
}

/* Of two loops with the same head the profile has the outer one. Where nearly all rounds go from
 * the head straight on to the first branch back to it, these instructions are the loop that is
 * meant: one that goes on after what it found, or that waits again and again. */
static void keep_inner_loop(Search *self)
{
	uint32_t head = LODE_AT(self->profile->loops, LodeLoop, self->loop).head;
	const LodeCodeWay *ways = self->code->ways;
	double all = 0;
	guint begin = 0;

	self->inner_rounds = NAN;
	for (uint32_t w = self->code->way_starts[head]; w < self->code->way_starts[head + 1]; w++)
		all += ways[w].count;
	while (begin < self->body->len && body_at(self, begin) != head)
		begin++;
	for (guint i = begin; i < self->body->len && body_at(self, i) == head + (i - begin); i++)
		for (uint32_t w = self->code->way_starts[head];
			w < self->code->way_starts[head + 1]; w++)
			if (ways[w].source == body_at(self, i) &&
				ways[w].count >= MOST_WITHIN * all && all > ways[w].count) {
				self->inner_rounds = i + 1 < self->body->len
				                             ? all / (all - ways[w].count)
				                             : NAN;
				g_array_set_size(self->body, i + 1);
				g_array_remove_range(self->body, 0, begin);
				return;
			}
}

/* Which registers the loop changes, and which of them are more than a value loaded again and again
 * from one place. */
static bool find_written(Search *self)
{
	LodeRegisterUse use;

	self->written = self->walked = 0;
	for (guint i = 0; i < self->body->len; i++) {
		if (!use_at(self, body_at(self, i), &use))
			return false;
		self->written |= use.changes;
	}
	for (guint i = 0; i < self->body->len; i++) {
		use_at(self, body_at(self, i), &use);
		bool is_same = use.memory.is_load && !use.memory.is_store &&
		               (use.memory.registers & self->written) == 0 &&
		               (use.reads & self->written) == 0;
		if (!is_same)
			self->walked |= use.changes;
	}
	return true;
}

/* A load of at most a word from where the loop goes. */
static bool is_walk(const Search *self, const LodeRegisterUse *use)
{
	return use->memory.is_load && use->memory.size > 0 &&
	       use->memory.size <= sizeof(uint64_t) && (use->memory.registers & self->walked) != 0;
}

/* The registers that are loaded from where the loop goes, and nothing else. */
static LodeRegisterMask loaded_registers(const Search *self)
{
	LodeRegisterMask loaded = 0, others = 0;
	LodeRegisterUse use;

	for (guint i = 0; i < self->body->len; i++) {
		use_at(self, body_at(self, i), &use);
		if (is_walk(self, &use) && !use.memory.is_store)
			loaded |= use.results & ~LODE_BIT(LODE_BIT_FLAGS);
		else
			others |= use.changes;
	}
	return loaded & ~others;
}

/* Whether an instruction compares what is loaded from where the loop goes with a key. */
static bool is_compare(Search *self, uint32_t at, LodeRegisterMask loaded)
{
	LodeDecodedInstruction one;
	LodeRegisterUse use;
	char name[32];
	int64_t constant;
	size_t size;
	const uint8_t *bytes = lode_code_bytes(self->profile, at, &size);
	uint64_t address = lode_profile_instruction(self->profile, at)->address;

	if (bytes == NULL ||
		!lode_instruction_decoder_decode(&self->decoder, bytes, size, address, &one) ||
		lode_instruction_constant(&self->decoder, bytes, size, &constant) ||
		!use_at(self, at, &use))
		return false;
	lode_instruction_mnemonic(&one, name, sizeof(name));
	if (strcmp(name, "cmp") != 0)
		return false;
	LodeRegisterMask values = use.reads & ~use.memory.registers;
	bool is_loaded = use.memory.size > 0 ? is_walk(self, &use) : (values & loaded) != 0;
	/* The key: a register that stays, or a place that does. */
	bool has_key = use.memory.size > 0 && is_walk(self, &use)
	                       ? values != 0 && (values & self->walked) == 0
	               : use.memory.size > 0 ? (values & loaded) != 0 &&
	                                               (use.memory.registers & self->written) == 0
	                                     : (values & ~self->walked) != 0;
	return (is_loaded || (use.memory.size > 0 && (values & loaded) != 0)) && has_key;
}

/* Whether a branch leaves the loop where the comparison before it finds both equal. */
static bool leaves_when_equal(Search *self, uint32_t branch)
{
	LodeDecodedInstruction one;
	char name[32];
	size_t size;
	const uint8_t *bytes = lode_code_bytes(self->profile, branch, &size);
	const LodeInstruction *row = lode_profile_instruction(self->profile, branch);

	if (bytes == NULL ||
		!lode_instruction_decoder_decode(&self->decoder, bytes, size, row->address, &one) ||
		one.branch != LODE_BRANCH_CONDITIONAL || !one.has_target)
		return false;
	lode_instruction_mnemonic(&one, name, sizeof(name));
	if (strcmp(name, "jz") == 0)
		return !is_inside(self, one.target);
	return strcmp(name, "jnz") == 0 && is_inside(self, one.target) &&
	       !is_inside(self, row->address + row->size);
}

/* The instruction that sets the flags for a branch of the body, past those that leave them; itself
 * if it is not known. */
static uint32_t compare_of(const Search *self, guint branch)
{
	LodeRegisterUse use;

	for (guint i = branch; i-- > 0 && body_at(self, i) + 1 == body_at(self, i + 1);)
		if (!use_at(self, body_at(self, i), &use) ||
			(use.changes & LODE_BIT(LODE_BIT_FLAGS)) != 0)
			return body_at(self, i);
	return body_at(self, branch);
}

static bool is_search(Search *self)
{
	if (!find_written(self))
		return false;
	LodeRegisterMask loaded = loaded_registers(self);
	for (guint i = 1; i < self->body->len; i++)
		if (leaves_when_equal(self, body_at(self, i)) &&
			is_compare(self, compare_of(self, i), loaded))
			return true;
	return false;
}

/* Whether the loop only looks at memory whose address it does not change, and at nothing that it
 * makes. */
static bool is_spin(Search *self)
{
	LodeRegisterUse use;
	bool has_load = false;

	if (self->body->len > MOST_SPIN || !find_written(self) ||
		(self->walked & ~LODE_BIT(LODE_BIT_FLAGS)) != 0)
		return false;
	for (guint i = 0; i < self->body->len; i++) {
		const LodeInstruction *row = lode_profile_instruction(
			self->profile, body_at(self, i));
		if (!use_at(self, body_at(self, i), &use) || use.memory.is_store ||
			lode_profile_set_has(self->profile, row->attribute_set, "kind:call") ||
			lode_profile_set_has(self->profile, row->attribute_set, "kind:syscall"))
			return false;
		if (use.memory.size > 0 && (use.memory.registers & self->written) != 0)
			return false;
		has_load |= use.memory.is_load && use.memory.size > 0;
	}
	return has_load;
}

/* Whether the loop only goes from node to node: it loads a pointer by what it loaded, and moves it,
 * and perhaps counts. */
static bool is_walk_of_nodes(Search *self)
{
	LodeRegisterUse use;
	LodeRegisterMask loaded = 0, others = 0;
	unsigned loads = 0;

	if (self->body->len < 3 || self->body->len > MOST_SPIN || !find_written(self))
		return false;
	for (guint i = 0; i < self->body->len; i++) {
		uint32_t at = body_at(self, i), set;
		set = lode_profile_instruction(self->profile, at)->attribute_set;
		if (!use_at(self, at, &use) || use.memory.is_store ||
			lode_profile_set_has(self->profile, set, "kind:call"))
			return false;
		loads += use.memory.size > 0;
		if (use.memory.size == sizeof(uint64_t) && use.is_linear)
			loaded |= use.results;
		else if (use.memory.size > 0)
			return false;
		/* Beside moves, the test, and a count. */
		if (use.results != 0 && !use.is_linear &&
			(use.results & ~LODE_BIT(LODE_BIT_FLAGS)) != 0)
			return false;
	}
	for (guint i = 0; i < self->body->len; i++) {
		use_at(self, body_at(self, i), &use);
		if (use.memory.size > 0)
			others |= use.memory.registers & ~self->written;
	}
	return loads == 1 && others == 0 && (loaded & self->walked) != 0;
}

/* --- entries --- */

typedef struct {
	uint32_t instruction, thread;
	uint64_t time_ns, address;
} Access;

LODE_ORDER(compare_accesses, Access, LODE_ASCENDING(instruction), LODE_ASCENDING(thread),
	LODE_ASCENDING(time_ns))

/* How often sampled addresses of one load of the loop go back: one walk goes in one direction. */
static guint count_returns(const Search *self)
{
	const LodeMemory *memory = self->profile->memory;
	g_autoptr(GArray) accesses = g_array_new(FALSE, FALSE, sizeof(Access));
	guint up = 0, down = 0;

	for (guint i = 0; memory != NULL && i < memory->samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(memory->samples, LodeMemorySample, i);
		const Access access = {sample->access_instruction, sample->thread, sample->time_ns,
			sample->address};
		if (access.address != 0 && access.time_ns != 0 &&
			access.instruction < self->profile->code.instructions->len &&
			self->code->loops[access.instruction] == self->loop)
			g_array_append_val(accesses, access);
	}
	g_array_sort(accesses, compare_accesses);
	for (guint i = 1; i < accesses->len; i++) {
		const Access *one = &g_array_index(accesses, Access, i), *before = one - 1;
		bool is_next = one->instruction == before->instruction &&
		               one->thread == before->thread;
		up += is_next && one->address > before->address;
		down += is_next && one->address < before->address;
	}
	return MIN(up, down);
}

static bool is_long_and_frequent(const Search *self)
{
	const LodeLoop *loop = &LODE_AT(self->profile->loops, LodeLoop, self->loop);
	LodeLoopRounds rounds = lode_costed_code_rounds(self->code, self->loop);
	const LodeObservedInstruction *seen = self->profile->windows != NULL
	                                              ? lode_windows_find(
								self->profile->windows, loop->head)
	                                              : NULL;

	if (isnan(rounds.mean) && self->inner_rounds >= MANY_ROUNDS)
		return count_returns(self) >= FEW_RETURNS;
	if (!(rounds.mean >= (rounds.is_least ? LEAST_ROUNDS : MANY_ROUNDS)))
		return false;
	if (self->profile->run.frequency == LODE_FREQUENCY_EXACT)
		return loop->iterations >= FEW_RETURNS * rounds.mean;
	return (seen != NULL && seen->loop_exits >= FEW_EXITS) ||
	       count_returns(self) >= FEW_RETURNS;
}

/* A walk over bytes, by its stride. */
static bool is_text(const Search *self)
{
	for (guint i = 0; i < self->body->len; i++) {
		uint32_t set =
			lode_profile_instruction(self->profile, body_at(self, i))->attribute_set;
		const char *stride = lode_profile_set_value(self->profile, set, "stride:");
		gint64 step = stride != NULL ? g_ascii_strtoll(stride, NULL, 10) : 0;
		if (step != 0 && llabs(step) < LEAST_STEP)
			return true;
	}
	return false;
}

/* Of loops over single bytes the stride tells; where it is not known, the size of what is loaded.
 */
static bool has_words(const Search *self)
{
	LodeRegisterUse use;

	for (guint i = 0; i < self->body->len; i++) {
		uint32_t at = body_at(self, i);
		uint32_t set = lode_profile_instruction(self->profile, at)->attribute_set;
		const char *stride = lode_profile_set_value(self->profile, set, "stride:");
		gint64 step = stride != NULL ? g_ascii_strtoll(stride, NULL, 10) : 0;
		if (llabs(step) >= LEAST_STEP)
			return true;
		if (use_at(self, at, &use) && is_walk(self, &use) && use.memory.size >= LEAST_STEP)
			return true;
	}
	return false;
}

void lode_code_shapes_find_searches(LodeCostedCode *code)
{
	const LodeProfile *profile = code->context->profile;
	guint n = profile->loops->len;
	g_autofree GArray **bodies = g_new0(GArray *, MAX(n, 1));
	Search self = {.code = code, .profile = profile};

	lode_instruction_decoder_init(&self.decoder);
	for (guint i = 0; i < n; i++)
		if (LODE_AT(profile->loops, LodeLoop, i).is_innermost &&
			code->loop_weights[i] >= LEAST_SHARE * code->context->total)
			bodies[i] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		if (code->loops[i] != LODE_NONE && bodies[code->loops[i]] != NULL)
			g_array_append_val(bodies[code->loops[i]], i);
	for (self.loop = 0; self.loop < n; self.loop++) {
		if (bodies[self.loop] == NULL)
			continue;
		self.body = bodies[self.loop];
		keep_inner_loop(&self);
		for (guint i = 0; i < self.body->len && is_spin(&self); i++)
			code->facts[body_at(&self, i)] |= LODE_BIT(LODE_CODE_SPIN);
		for (guint i = 0; i < self.body->len && is_walk_of_nodes(&self); i++)
			code->facts[body_at(&self, i)] |= LODE_BIT(LODE_CODE_NODES);
		if (is_long_and_frequent(&self) && is_search(&self) && !is_text(&self) &&
			has_words(&self))
			for (guint i = 0; i < self.body->len; i++)
				code->facts[body_at(&self, i)] |= LODE_BIT(LODE_CODE_SEARCH);
		g_array_unref(self.body);
	}
}
