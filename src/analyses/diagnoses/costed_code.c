/* SPDX-License-Identifier: MIT */
#include "analyses/diagnoses/costed_code.h"

#include "analyses/diagnoses/code/code_shapes.h"
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "base/bits.h"
#include "model/memory.h"
#include "model/observed/fused_branch.h"
#include "model/observed/windows.h"
#include "model/profile.h"

#include <math.h>
#include <string.h>

/* --- loop footprints --- */

/*
 * How much memory loops go over, by the sampled addresses.
 */

enum { BLOCK_SHIFT = 16, NEAR_BLOCKS = (2 << 20) >> BLOCK_SHIFT, LEAST_SAMPLES = 40 };

typedef struct {
	uint32_t loop;
	uint64_t block;
} Touched;

LODE_ORDER(compare_touched, Touched, LODE_ASCENDING(loop), LODE_ASCENDING(block))

/* Touched, of each access in a loop whose address is known. The caller unrefs it. */
static GArray *find_touched(const LodeCostedCode *code)
{
	const LodeMemory *memory = code->context->profile->memory;
	GArray *touched = g_array_new(FALSE, FALSE, sizeof(Touched));

	for (guint i = 0; memory != NULL && i < memory->samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(memory->samples, LodeMemorySample, i);
		if (sample->address == 0 || sample->access_instruction == LODE_NONE ||
			code->loops[sample->access_instruction] == LODE_NONE)
			continue;
		const Touched one = {
			code->loops[sample->access_instruction], sample->address >> BLOCK_SHIFT};
		g_array_append_val(touched, one);
	}
	g_array_sort(touched, compare_touched);
	return touched;
}

/* Whether so many accesses lie in so few blocks. */
static bool are_near(uint32_t n, uint32_t n_blocks)
{
	return n >= LEAST_SAMPLES && n_blocks < NEAR_BLOCKS;
}

/* The same for all loops together: the work of a program may be spread over many. */
static bool are_all_near(const GArray *touched)
{
	g_autoptr(GHashTable) blocks = g_hash_table_new(NULL, NULL);

	for (guint i = 0; i < touched->len; i++)
		g_hash_table_add(
			blocks, GSIZE_TO_POINTER(g_array_index(touched, Touched, i).block));
	return are_near(touched->len, g_hash_table_size(blocks));
}

/*
 * Takes LODE_CODE_LIMIT_READING and LODE_CODE_LIMIT_WRITING from the instructions of loops whose
 * sampled loads and stores, forty or more, lie in less than 2 MiB, counted in blocks of 64 KiB; or
 * of all loops, where those of all together do: a second-level cache holds that, however many bytes
 * a loop moves in a nanosecond.
 */
static void loop_footprints_apply(LodeCostedCode *self)
{
	const uint64_t limits = LODE_BIT(LODE_CODE_LIMIT_READING) |
	                        LODE_BIT(LODE_CODE_LIMIT_WRITING);
	const LodeProfile *profile = self->context->profile;
	g_autofree bool *is_near = g_new0(bool, MAX(profile->loops->len, 1));
	g_autoptr(GArray) touched = find_touched(self);
	bool is_all_near = are_all_near(touched);

	for (guint i = 0, end; i < touched->len; i = end) {
		uint32_t loop = g_array_index(touched, Touched, i).loop, n_blocks = 0;
		for (end = i;
			end < touched->len && g_array_index(touched, Touched, end).loop == loop;
			end++)
			n_blocks += end == i ||
			            g_array_index(touched, Touched, end).block !=
			                    g_array_index(touched, Touched, end - 1).block;
		is_near[loop] = are_near(end - i, n_blocks);
	}
	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		if (self->loops[i] != LODE_NONE && (is_all_near || is_near[self->loops[i]]))
			self->facts[i] &= ~limits;
}

/* --- costed code --- */

_Static_assert(LODE_N_CODE_FACTS <= 64, "facts have bits of a number");

char *lode_code_fact_name(unsigned fact)
{
	static const char *const names[LODE_CODE_LIMIT_STEP] = {
		[LODE_CODE_FORK_HARD] = "fork:hard",
		[LODE_CODE_FORK_OPEN] = "fork:open",
		[LODE_CODE_TARGET_HARD] = "target:hard",
		[LODE_CODE_TARGET_OPEN] = "target:open",
		[LODE_CODE_SPLIT] = "split:most",
		[LODE_CODE_DENSE] = "lines:dense",
		[LODE_CODE_ACROSS] = "walk:across",
		[LODE_CODE_CROWDED] = "conflict:beside",
		[LODE_CODE_ROOTS] = "divider:roots",
		[LODE_CODE_SMALL] = "called:small",
		[LODE_CODE_STORED] = "stored:before",
		[LODE_CODE_COUNTER] = "counter:spread",
		[LODE_CODE_BITS] = "work:bits",
		[LODE_CODE_BLOCK] = "rep:block",
		[LODE_CODE_GLOBAL] = "base:global",
		[LODE_CODE_COPY] = "copy:structure",
		[LODE_CODE_PORT] = "busy:one",
		[LODE_CODE_REFERENCES] = "atomic:references",
		[LODE_CODE_CHASE] = "loop:chase",
		[LODE_CODE_SEARCH] = "loop:search",
		[LODE_CODE_NODES] = "loop:nodes",
		[LODE_CODE_SPIN] = "loop:spin",
	};

	if (fact < LODE_CODE_LIMIT_STEP)
		return g_strdup(names[fact]);
	if (fact >= LODE_CODE_LIMIT_READING)
		return g_strdup(
			fact == LODE_CODE_LIMIT_READING ? "limit:reading" : "limit:writing");
	return fact < LODE_CODE_LIMIT_UNIT
	               ? g_strdup_printf("limit:%s", lode_step_of_name(fact - LODE_CODE_LIMIT_STEP))
	               : g_strdup_printf("busy:%s", lode_unit_name(fact - LODE_CODE_LIMIT_UNIT));
}

/* Attributes that are asked for here, as bits of a set. */
enum {
	AFTER_FORK = 1,
	BRANCH = 2,
	INDIRECT = 4,
	ENTRY = 8,
	JUMP = 16,
	GLOBAL = 32,
	LOAD = 64,
	DIVIDE = 128,
	ROOT = 256,
	PARTLY = 512,
	APART = 1024,
	PITCH = 2048,
	CHASED = 4096,
	ADDRESSING = 8192,
	INDEXED = 16384,
	ATOMIC = 32768,
};

static const LodeAttributeMark marked[] = {{"after:fork", AFTER_FORK}, {"kind:branch", BRANCH},
	{"kind:indirect", INDIRECT}, {"at:entry", ENTRY}, {"kind:jump", JUMP},
	{"mem:global", GLOBAL}, {"kind:load", LOAD}, {"kind:div", DIVIDE}, {"op:*sqrt*", ROOT},
	{"lines:partly-used", PARTLY}, {"lines:apart", APART}, {"conflict:pitch", PITCH},
	{"carried:load", CHASED}, {"mem:indexed", INDEXED}, {"op:mov*", ADDRESSING},
	{"op:lea", ADDRESSING}, {"op:add", ADDRESSING}, {"op:sub", ADDRESSING},
	{"op:shl", ADDRESSING}, {"kind:atomic", ATOMIC}, {"op:lock_*", ATOMIC}};

/* Whether it has all of the marks. */
static bool has(const LodeCostedCode *self, uint32_t instruction, uint16_t mark)
{
	const LodeInstruction *one = lode_profile_instruction(self->context->profile, instruction);

	return (self->set_marks[one->attribute_set] & mark) == mark;
}

/* --- ways --- */

static void find_ways(LodeCostedCode *self)
{
	const LodeProfile *profile = self->context->profile;
	uint32_t n = profile->code.instructions->len;

	self->way_starts = g_new0(uint32_t, (size_t)n + 2);
	uint32_t *ends = self->way_starts + 1;
	for (uint32_t i = 0; i + 1 < n; i++)
		ends[i + 1] += lode_profile_instruction(profile, i)->next_count >= 0;
	for (guint e = 0; e < profile->code.edges->len; e++)
		ends[LODE_AT(profile->code.edges, LodeEdge, e).target]++;
	for (uint32_t i = 1; i <= n; i++)
		self->way_starts[i] += self->way_starts[i - 1];
	self->ways = g_new(LodeCodeWay, MAX(self->way_starts[n], 1));
	g_autofree uint32_t *next = g_memdup2(self->way_starts, (n + 1) * sizeof(uint32_t));
	for (uint32_t i = 0; i + 1 < n; i++) {
		double count = lode_profile_instruction(profile, i)->next_count;
		if (count >= 0)
			self->ways[next[i + 1]++] = (LodeCodeWay){i, LODE_EDGE_FALL_THROUGH, count};
	}
	for (guint e = 0; e < profile->code.edges->len; e++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, e);
		self->ways[next[edge->target]++] = (LodeCodeWay){
			edge->source, edge->kind, edge->count};
	}
}

/* --- loops --- */

static uint32_t depth_at(const LodeProfile *profile, uint32_t instruction)
{
	uint32_t block = lode_profile_instruction(profile, instruction)->block;

	return block != LODE_NONE ? lode_profile_block(profile, block)->loop_depth : 0;
}

/* The instructions of one loop are being taken. */
typedef struct {
	LodeCostedCode *code;
	uint32_t loop, head, depth;
	GArray *body;   /* instructions */
	uint8_t *taken; /* of each instruction: the depth of the deepest loop that has it */
} Walk;

static void visit(Walk *self, uint32_t at)
{
	const LodeProfile *profile = self->code->context->profile;
	const LodeInstruction *one = lode_profile_instruction(profile, at);
	uint32_t depth = depth_at(profile, at);

	if (depth < self->depth || self->taken[at] == self->depth ||
		one->function != lode_profile_instruction(profile, self->head)->function)
		return;
	const LodeBlock *block = lode_profile_block(profile, one->block);
	if (at != self->head && depth == self->depth && block->is_loop_head &&
		block->address == one->address)
		return;
	self->taken[at] = (uint8_t)self->depth;
	self->code->loops[at] = self->loop;
	g_array_append_val(self->body, at);
}

static bool is_within(LodeEdgeKind kind)
{
	return kind != LODE_EDGE_CALL && kind != LODE_EDGE_RETURN;
}

/* All that ways connect with the head, of its depth or deeper, in both directions, as not all ways
 * may be known: natural loops are entered by their heads alone, so that nothing else is taken if
 * neither ways to this head nor those to other heads of this depth are followed. */
static void mark_body(Walk *self)
{
	const LodeCostedCode *code = self->code;
	const LodeProfile *profile = code->context->profile;
	const GArray *edges = profile->code.edges;

	g_array_set_size(self->body, 0);
	visit(self, self->head);
	for (guint i = 0; i < self->body->len; i++) {
		uint32_t at = g_array_index(self->body, uint32_t, i);
		for (uint32_t w = code->way_starts[at];
			at != self->head && w < code->way_starts[at + 1]; w++)
			if (is_within(code->ways[w].kind))
				visit(self, code->ways[w].source);
		if (lode_profile_instruction(profile, at)->next_count >= 0 &&
			at + 1 < profile->code.instructions->len)
			visit(self, at + 1);
		for (guint e = LODE_PARTITION_POINT(
			     edges->len, k, LODE_AT(edges, LodeEdge, k).source < at);
			e < edges->len && LODE_AT(edges, LodeEdge, e).source == at; e++)
			if (is_within(LODE_AT(edges, LodeEdge, e).kind))
				visit(self, LODE_AT(edges, LodeEdge, e).target);
		self->code->loop_weights[self->loop] += code->weights[at];
	}
}

/* Outer loops first, so that the innermost stays. */
static void find_loops(LodeCostedCode *self)
{
	const LodeProfile *profile = self->context->profile;
	guint n = profile->code.instructions->len;
	g_autoptr(GArray) body = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autofree uint8_t *taken = g_new0(uint8_t, MAX(n, 1));
	Walk walk = {.code = self, .body = body, .taken = taken};
	uint32_t deepest = 0;

	self->loops = g_new(uint32_t, MAX(n, 1));
	self->loop_weights = g_new0(double, MAX(profile->loops->len, 1));
	for (uint32_t i = 0; i < n; i++)
		self->loops[i] = LODE_NONE;
	for (uint32_t i = 0; i < profile->loops->len; i++)
		deepest = MAX(
			deepest, depth_at(profile, LODE_AT(profile->loops, LodeLoop, i).head));
	for (walk.depth = 1; walk.depth <= deepest; walk.depth++)
		for (walk.loop = 0; walk.loop < profile->loops->len; walk.loop++) {
			walk.head = LODE_AT(profile->loops, LodeLoop, walk.loop).head;
			if (depth_at(profile, walk.head) == walk.depth)
				mark_body(&walk);
		}
}

double lode_costed_code_cycles(const LodeCostedCode *self, const LodeLoop *loop)
{
	double rate = self->context->profile->run.cycles_per_ns;

	return loop->iteration_ns > 0 && rate > 0 ? loop->iteration_ns * rate : NAN;
}

const LodeLoopBytes *lode_costed_code_loop_bytes(const LodeCostedCode *self, const LodeLoop *loop)
{
	return &self->loop_bytes[loop - &LODE_AT(self->context->profile->loops, LodeLoop, 0)];
}

double lode_other_recurrence(const LodeLoop *loop)
{
	bool is_same = loop->recurrence != NULL &&
	               g_strcmp0(loop->recurrence, loop->other_recurrence) == 0;

	return is_same ? 0 : loop->other_cycles;
}

/* A bound is near a time of which it is at least this share. */
static const double NEAR = 0.85;

/* Where the time is not known: a recurrence this much longer than any other bound, of at least so
 * many cycles. No bound has the needs of called functions; loads may take far longer than theirs.
 */
static const double FAR_ABOVE = 1.5, LEAST_CYCLES = 2;

/* A loop moves as much as memory can where its bytes are such shares of what was measured, and its
 * time is so many times its bounds. */
static const double LEAST_RATE = 0.5, MOST_RATE = 3, WAITS = 1.5;

/* The bit of what memory limits; 0: it does not, or is not known. */
static uint64_t memory_limit_of(const LodeCostedCode *self, const LodeLoop *loop)
{
	const LodeMemoryRates *rates = &self->context->profile->run.rates;
	double read = rates->read[LODE_RATE_MEMORY], write = rates->write[LODE_RATE_MEMORY];
	LodeUnit unit;
	const LodeLoop within = lode_loop_within_time(self->context->profile, loop);
	double bound = MAX(lode_loop_busiest(&within, &unit), within.recurrence_cycles);
	const LodeLoopBytes *bytes = lode_costed_code_loop_bytes(self, loop);

	if (!(read > 0) || !(write > 0) || !(lode_costed_code_cycles(self, loop) >= WAITS * bound))
		return 0;
	double reading = bytes->loaded / loop->iteration_ns / read;
	double writing = bytes->stored / loop->iteration_ns / write;
	if (reading + writing < LEAST_RATE || reading + writing > MOST_RATE)
		return 0;
	return LODE_BIT(writing > reading ? LODE_CODE_LIMIT_WRITING : LODE_CODE_LIMIT_READING);
}

/* One unit is busy nearly all the time, and nothing else near as long. */
static const double BUSY = 0.9, BELOW = 0.75;

static bool has_one_busy_unit(const LodeLoop *loop, double cycles)
{
	static const LodeUnit units[] = {
		LODE_UNIT_LOAD, LODE_UNIT_STORE, LODE_UNIT_ALU, LODE_UNIT_FLOAT, LODE_UNIT_VECTOR};
	double other = MAX(MAX(loop->recurrence_cycles, loop->cycles[LODE_UNIT_WIDTH]),
		MAX(loop->cycles[LODE_UNIT_DIVIDER], loop->cycles[LODE_UNIT_BRANCH]));
	double most = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(units); i++) {
		other = MAX(other, MIN(most, loop->cycles[units[i]]));
		most = MAX(most, loop->cycles[units[i]]);
	}
	return loop->recurrence_cycles >= 0 && loop->unmodelled == 0 && !(loop->calls > 0) &&
	       most >= BUSY * cycles && cycles >= BUSY * most && other < BELOW * cycles;
}

/* Arithmetic takes so many cycles to be named, as counters are recurrences of one; and no unit may
 * be near. */
static bool is_counter(uint32_t step, double chain, double units)
{
	return step == LODE_STEP_OF_ALU && (chain < LEAST_CYCLES || units >= NEAR * chain);
}

/* The bits of what limits a loop. */
static uint64_t limits_of(const LodeCostedCode *self, const LodeLoop *loop)
{
	const LodeLoop within = lode_loop_within_time(self->context->profile, loop);
	LodeUnit unit;
	double units = lode_loop_busiest(&within, &unit), chain = within.recurrence_cycles;
	double cycles = lode_costed_code_cycles(self, loop), other = lode_other_recurrence(&within);
	uint32_t step = LODE_N_STEPS_OF;
	uint64_t limits = 0;

	for (uint32_t i = 0; i < LODE_N_STEPS_OF && within.recurrence != NULL; i++)
		if (strcmp(within.recurrence, lode_step_of_name(i)) == 0)
			step = i;
	if (isnan(cycles)) {
		if (step < LODE_N_STEPS_OF && chain >= LEAST_CYCLES &&
			chain >= FAR_ABOVE * MAX(units, other) && loop->unmodelled == 0 &&
			(!(loop->calls > 0) || step == LODE_STEP_OF_LOAD))
			limits |= LODE_BIT(LODE_CODE_LIMIT_STEP + step);
		return limits;
	}
	/* The time may be wrong by two of its errors. */
	double wrong = 2 * MAX(loop->iteration_error_ns, 0) / loop->iteration_ns;
	double least = NEAR * cycles * MAX(1 - wrong, 0);
	if (step < LODE_N_STEPS_OF && chain >= least && !is_counter(step, chain, units))
		limits |= LODE_BIT(LODE_CODE_LIMIT_STEP + step);
	if (units >= least)
		limits |= LODE_BIT(LODE_CODE_LIMIT_UNIT + unit);
	if (has_one_busy_unit(&within, cycles))
		limits |= LODE_BIT(LODE_CODE_PORT);
	return limits | memory_limit_of(self, loop);
}

static void find_limits(LodeCostedCode *self)
{
	const LodeProfile *profile = self->context->profile;
	g_autofree uint64_t *limits = g_new0(uint64_t, MAX(profile->loops->len, 1));

	for (uint32_t i = 0; i < profile->loops->len; i++) {
		limits[i] = limits_of(self, &LODE_AT(profile->loops, LodeLoop, i));
		if ((limits[i] >> (LODE_CODE_LIMIT_STEP + LODE_STEP_OF_LOAD) & 1) != 0)
			limits[i] |= LODE_BIT(LODE_CODE_CHASE);
	}
	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		if (self->loops[i] != LODE_NONE && has(self, i, CHASED) &&
			(!has(self, i, ADDRESSING) || has(self, i, INDEXED)))
			limits[self->loops[i]] &= ~LODE_BIT(LODE_CODE_CHASE);
	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		if (self->loops[i] != LODE_NONE)
			self->facts[i] |= limits[self->loops[i]];
}

/* --- mispredictions --- */

/* A branch is hard to foretell where so many of its outcomes are not. */
static const double HARD = 0.04;

/* Outcomes that all branches together count for, and the least that judge one. */
static const double PRIOR_OUTCOMES = 30, LEAST_OUTCOMES = 100;

typedef struct {
	LodeCostedCode *code;
	uint32_t misses; /* event; LODE_NONE: not counted */
	double shared;   /* of all judged outcomes, those that were not foretold; NAN: too few */
} Judge;

static void judge_all(Judge *self)
{
	const LodeWindows *windows = self->code->context->profile->windows;
	double outcomes = 0, unforetold = 0;

	for (guint i = 0; windows != NULL && i < windows->instructions->len; i++) {
		const LodeObservedInstruction *one = &LODE_AT(
			windows->instructions, LodeObservedInstruction, i);
		outcomes += one->outcomes;
		unforetold += one->unforetold;
	}
	self->shared = outcomes >= LODE_JUDGED_OUTCOMES ? unforetold / outcomes : NAN;
}

/* Bit of the fact: `hard`, the one after it where nothing is known, or 0. */
static uint64_t judge(const Judge *self, uint32_t branch, unsigned hard)
{
	const LodeProfile *profile = self->code->context->profile;
	const LodeObservedInstruction *seen = profile->windows != NULL
	                                              ? lode_windows_find(profile->windows, branch)
	                                              : NULL;
	double executions = lode_profile_instruction(profile, branch)->count;
	double outcomes = seen != NULL ? seen->outcomes : 0;

	if (self->misses != LODE_NONE)
		return executions > 0 && lode_fused_event_value(profile, self->misses, branch) >=
		                                 HARD * executions
		               ? LODE_BIT(hard)
		               : 0;
	if (profile->windows != NULL && lode_windows_stays(profile->windows, branch))
		return 0;
	if (isnan(self->shared) || outcomes + PRIOR_OUTCOMES < LEAST_OUTCOMES)
		return LODE_BIT(hard + 1);
	return (seen->unforetold + self->shared * PRIOR_OUTCOMES) / (outcomes + PRIOR_OUTCOMES) >=
	                       HARD
	               ? LODE_BIT(hard)
	               : 0;
}

/* The bit goes to an instruction, and to the next one, if that has more weight: samples are taken
 * late. A load there may wait for itself. */
static void mark_way(LodeCostedCode *self, uint32_t head, uint64_t bit)
{
	const LodeProfile *profile = self->context->profile;

	self->facts[head] |= bit;
	if (lode_profile_instruction(profile, head)->next_count >= 0 &&
		head + 1 < profile->code.instructions->len && !has(self, head + 1, LOAD) &&
		self->weights[head + 1] > self->weights[head])
		self->facts[head + 1] |= bit;
}

/* The ways of a branch of which both were taken. */
typedef struct {
	uint32_t branch;
	uint32_t heads[2]; /* the second LODE_NONE: not known */
} Fork;

LODE_ORDER(compare_forks, Fork, LODE_ASCENDING(branch), LODE_ASCENDING(heads[0]))

/* A branch around a few instructions may be taken though inferred executions have no such way, as
 * all that is there executes as often without it. It is a fork if both heads have weight, and no
 * load that they may have it for. */
static void add_hidden_fork(const LodeCostedCode *self, uint32_t branch, GArray *forks)
{
	const LodeProfile *profile = self->context->profile;
	uint32_t heads[2] = {branch + 1, lode_code_shapes_hidden_target(self, branch)};

	if (heads[1] == LODE_NONE ||
		(profile->windows != NULL &&
			lode_windows_outcomes(profile->windows, branch) >= LODE_OBSERVED_STEPS))
		return;
	for (unsigned k = 0; k < 2; k++)
		if (has(self, heads[k], LOAD) || !(self->weights[heads[k]] > 0))
			return;
	for (unsigned k = 0; k < 2; k++) {
		Fork fork = {branch, {heads[k], LODE_NONE}};
		g_array_append_val(forks, fork);
	}
}

/* Both ways of a fork have the attribute at their heads. The caller unrefs the array. */
static GArray *list_forks(const LodeCostedCode *self)
{
	const LodeProfile *profile = self->context->profile;
	GArray *forks = g_array_new(FALSE, FALSE, sizeof(Fork));
	guint n = 0;

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		for (uint32_t w = self->way_starts[i];
			has(self, i, AFTER_FORK) && w < self->way_starts[i + 1]; w++) {
			const LodeCodeWay *way = &self->ways[w];
			Fork fork = {way->source, {i, LODE_NONE}};
			if ((way->kind == LODE_EDGE_TAKEN || way->kind == LODE_EDGE_FALL_THROUGH) &&
				has(self, way->source, BRANCH))
				g_array_append_val(forks, fork);
		}
		if (profile->run.frequency == LODE_FREQUENCY_INFERRED && has(self, i, BRANCH))
			add_hidden_fork(self, i, forks);
	}
	g_array_sort(forks, compare_forks);
	for (guint i = 0; i < forks->len; i++) {
		Fork fork = g_array_index(forks, Fork, i);
		Fork *last = n > 0 ? &g_array_index(forks, Fork, n - 1) : NULL;
		if (last != NULL && last->branch == fork.branch) {
			if (last->heads[0] != fork.heads[0])
				last->heads[1] = fork.heads[0];
		} else {
			g_array_index(forks, Fork, n++) = fork;
		}
	}
	g_array_set_size(forks, n);
	return forks;
}

/* Each way has this much of the weight of both, where nothing else tells that outcomes change. */
static const double LEAST_OF_BOTH = 0.2;

/* A compare that has less than this in proportion to the heads does not wait. */
static const double PART_OF_IT = 0.25;

/*
 * After a wrong guess, the first instructions of the right way are waited for, more than the
 * compare is: where a compare with memory has most, it is the load that is slow.
 */
static void mark_fork(LodeCostedCode *self, const Fork *fork, uint64_t bit)
{
	const LodeProfile *profile = self->context->profile;
	uint32_t fused = lode_fused_with(profile, fork->branch);
	double compared = self->weights[fork->branch] +
	                  (fused != LODE_NONE ? self->weights[fused] : 0);
	double heads = 0, least = INFINITY;

	for (unsigned k = 0; k < 2 && fork->heads[k] != LODE_NONE; k++) {
		heads += self->weights[fork->heads[k]];
		least = MIN(least, self->weights[fork->heads[k]]);
	}
	if ((bit & LODE_BIT(LODE_CODE_FORK_OPEN)) != 0 &&
		(fork->heads[1] == LODE_NONE || least < LEAST_OF_BOTH * heads))
		return;
	if (fused != LODE_NONE && has(self, fused, LOAD) && heads < compared)
		return;
	if (compared >= PART_OF_IT * heads) {
		self->facts[fork->branch] |= bit;
		if (fused != LODE_NONE)
			self->facts[fused] |= bit;
	}
	for (unsigned k = 0; k < 2 && fork->heads[k] != LODE_NONE; k++)
		mark_way(self, fork->heads[k], bit);
}

static void find_forks(LodeCostedCode *self, const Judge *judging)
{
	g_autoptr(GArray) forks = list_forks(self);

	for (guint i = 0; i < forks->len; i++) {
		const Fork *fork = &g_array_index(forks, Fork, i);
		uint64_t bit = judge(judging, fork->branch, LODE_CODE_FORK_HARD);
		if (bit != 0)
			mark_fork(self, fork, bit);
	}
}

/* Calls that are judged say nothing of those that are not where these have at least this share of
 * the executions. */
static const double LEAST_UNJUDGED = 0.1;

/* Whether functions are called through pointers of which not all are known, and that may change. */
static bool has_unknown_calls(const LodeCostedCode *self, const Judge *judging)
{
	const LodeProfile *profile = self->context->profile;
	double all = 0, unknown = 0;

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		double count = lode_profile_instruction(profile, i)->count;
		if (!has(self, i, INDIRECT) || has(self, i, JUMP) || !(count > 0))
			continue;
		all += count;
		unknown += judge(judging, i, LODE_CODE_TARGET_HARD) != 0 ? count : 0;
	}
	return profile->run.frequency == LODE_FREQUENCY_INFERRED && all > 0 &&
	       unknown >= LEAST_UNJUDGED * all;
}

/* By its line. Functions of the toolchain are called in ways that are not known: through slots, by
 * code that was not sampled. */
static bool is_of_toolchain(const LodeCostedCode *self, uint32_t instruction)
{
	const LodeOwnLines *own = self->context->own;
	uint32_t location = lode_own_lines_find(own, instruction);

	return location != LODE_NONE && !lode_own_lines_is_own(own, location);
}

/* Entries that count for so many with equal weight. */
static const double LEAST_ENTRIES = 2;

static bool has_known_call(const LodeCostedCode *self, uint32_t entry)
{
	for (uint32_t w = self->way_starts[entry]; w < self->way_starts[entry + 1]; w++)
		if ((self->ways[w].kind == LODE_EDGE_CALL ||
			    self->ways[w].kind == LODE_EDGE_JUMP) &&
			self->ways[w].count > 0)
			return true;
	return false;
}

/* Entries without a known call, where there are several that matter: a pointer that always leads to
 * the same function is foretold. One that begins with a load may wait for that. */
static void find_entries(LodeCostedCode *self, const Judge *judging)
{
	const LodeProfile *profile = self->context->profile;
	g_autoptr(GArray) entries = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	double sum = 0, squares = 0;

	if (!has_unknown_calls(self, judging))
		return;
	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		if (!has(self, i, ENTRY) || has(self, i, LOAD) || has_known_call(self, i) ||
			is_of_toolchain(self, i))
			continue;
		g_array_append_val(entries, i);
		sum += self->weights[i];
		squares += self->weights[i] * self->weights[i];
	}
	if (sum * sum < LEAST_ENTRIES * squares)
		return;
	for (guint i = 0; i < entries->len; i++)
		mark_way(
			self, g_array_index(entries, uint32_t, i), LODE_BIT(LODE_CODE_TARGET_OPEN));
}

/* An entry is reached through a pointer where at least half of its known calls are. */
static void find_targets(LodeCostedCode *self, const Judge *judging)
{
	const LodeProfile *profile = self->context->profile;

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		double indirect = 0, all = 0;
		uint64_t bits = 0;
		for (uint32_t w = self->way_starts[i]; w < self->way_starts[i + 1]; w++) {
			const LodeCodeWay *way = &self->ways[w];
			if (way->kind != LODE_EDGE_CALL && way->kind != LODE_EDGE_JUMP)
				continue;
			all += way->count;
			/* A stub of a linkage table always leads to the same function, and so does
			 * a call through its slot (Rust, -fno-plt). */
			if (!has(self, way->source, INDIRECT) || has(self, way->source, GLOBAL))
				continue;
			indirect += way->count;
			uint64_t bit = judge(judging, way->source, LODE_CODE_TARGET_HARD);
			self->facts[way->source] |= bit;
			bits |= bit;
		}
		if (bits != 0 && 2 * indirect >= all)
			mark_way(self, i, bits);
	}
}

/* Accesses wait for their splits where so many of them are across a border. */
static const double MOST_SPLIT = 0.3;

/* Accesses, bytes of a line of 64, and accesses that tell which of these are used. */
enum { LEAST_ACCESSES = 30, MOST_BYTES = 40, ENOUGH_ACCESSES = 16 };

/* What some accesses use of lines. */
typedef struct {
	uint64_t bytes, accesses;
} UsedLines;

static void add_used(UsedLines *self, const LodeObservedInstruction *one)
{
	self->bytes |= one->line_bytes;
	self->accesses += one->accesses;
}

static bool is_dense(const UsedLines *self)
{
	return __builtin_popcountll(self->bytes) > MOST_BYTES;
}

/* Where its accesses do not tell by themselves (lines:dense, lines:apart). Where an instruction has
 * few, all of its function count that seem to use a part of their lines; where these are few, all
 * of the program. */
static void find_dense(LodeCostedCode *self, const GArray *seen)
{
	const LodeProfile *profile = self->context->profile;
	g_autofree UsedLines *functions = g_new0(UsedLines, MAX(profile->code.functions->len, 1));
	UsedLines all = {0};

	for (guint i = 0; i < seen->len; i++) {
		const LodeObservedInstruction *one = &LODE_AT(seen, LodeObservedInstruction, i);
		if (!has(self, one->instruction, PARTLY) || has(self, one->instruction, APART))
			continue;
		add_used(&functions[lode_profile_instruction(profile, one->instruction)->function],
			one);
		add_used(&all, one);
	}
	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		const LodeObservedInstruction *one =
			has(self, i, PARTLY) ? lode_windows_find(profile->windows, i) : NULL;
		const UsedLines *used = &functions[lode_profile_instruction(profile, i)->function];
		UsedLines own = {0};
		if (!has(self, i, PARTLY) || has(self, i, APART))
			continue;
		if (one != NULL)
			add_used(&own, one);
		used = own.accesses >= ENOUGH_ACCESSES     ? &own
		       : used->accesses >= ENOUGH_ACCESSES ? used
		                                           : &all;
		if (is_dense(used))
			self->facts[i] |= LODE_BIT(LODE_CODE_DENSE);
	}
}

static void find_facts_of_lines(LodeCostedCode *self)
{
	const LodeWindows *windows = self->context->profile->windows;

	if (windows == NULL)
		return;
	for (guint i = 0; i < windows->instructions->len; i++) {
		const LodeObservedInstruction *one = &LODE_AT(
			windows->instructions, LodeObservedInstruction, i);
		if (one->accesses >= LEAST_ACCESSES && one->split >= MOST_SPLIT * one->accesses)
			self->facts[one->instruction] |= LODE_BIT(LODE_CODE_SPLIT);
	}
	find_dense(self, windows->instructions);
}

/* Stores are waited for where a later instruction finds no room for another one: any of the loop
 * may wait for a walk that misses each time. */
static void find_crowded(LodeCostedCode *self)
{
	const LodeProfile *profile = self->context->profile;
	g_autofree bool *are_crowded = g_new0(bool, MAX(profile->loops->len, 1));

	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		if (self->loops[i] != LODE_NONE && has(self, i, PITCH))
			are_crowded[self->loops[i]] = true;
	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		if (self->loops[i] != LODE_NONE && are_crowded[self->loops[i]])
			self->facts[i] |= LODE_BIT(LODE_CODE_CROWDED);
}

/* In functions that take roots and divide nothing. */
static void find_roots(LodeCostedCode *self)
{
	const LodeProfile *profile = self->context->profile;
	enum { DIVIDES = 1, TAKES_ROOTS = 2 };
	g_autofree uint8_t *does = g_new0(uint8_t, MAX(profile->code.functions->len, 1));

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		const LodeInstruction *one = lode_profile_instruction(profile, i);
		if (has(self, i, DIVIDE))
			does[one->function] |= has(self, i, ROOT) ? TAKES_ROOTS : DIVIDES;
	}
	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		if (does[lode_profile_instruction(profile, i)->function] == TAKES_ROOTS)
			self->facts[i] |= LODE_BIT(LODE_CODE_ROOTS);
}

/* Functions that change the count of references of an object that threads may share. */
static const char *const counting[] = {"*_Sp_counted_base*", "*std::__shared_count*",
	"*std::__weak_count*", "*boost::detail::sp_counted_base*", "alloc::sync::Arc*",
	"<alloc::sync::Arc*", "core::ptr::drop_in_place<alloc::sync::Arc*"};

static bool matches(const char *const *globs, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (g_pattern_match_simple(globs[i], text))
			return true;
	return false;
}

static void find_references(LodeCostedCode *self)
{
	for (uint32_t i = 0; i < self->context->profile->code.instructions->len; i++) {
		if (!has(self, i, ATOMIC))
			continue;
		g_autoptr(GArray) chain = lode_own_lines_chain(self->context->own, i);
		for (guint k = 0; k < chain->len; k++)
			if (matches(counting, G_N_ELEMENTS(counting),
				    g_array_index(chain, LodeInlinedLine, k).function))
				self->facts[i] |= LODE_BIT(LODE_CODE_REFERENCES);
	}
}

LodeCostedCode *lode_costed_code_new(const LodeDiagnosisContext *context)
{
	const LodeProfile *profile = context->profile;
	uint32_t n = profile->code.instructions->len;
	LodeCostedCode *self = g_new0(LodeCostedCode, 1);

	self->context = context;
	self->weights = g_new0(double, MAX(n, 1));
	self->facts = g_new0(uint64_t, MAX(n, 1));
	for (uint32_t i = 0; i < n; i++)
		self->weights[i] = lode_profile_event_value(profile, context->event, i);
	self->set_marks = lode_profile_mark_sets(context->profile, marked, G_N_ELEMENTS(marked));
	find_ways(self);
	find_loops(self);
	lode_code_shapes_find_bytes(self);
	find_limits(self);
	Judge judging = {self,
		profile->run.frequency == LODE_FREQUENCY_EXACT
			? lode_profile_find_event(profile, "branch-miss")
			: LODE_NONE,
		NAN};
	judge_all(&judging);
	find_forks(self, &judging);
	find_targets(self, &judging);
	find_entries(self, &judging);
	find_facts_of_lines(self);
	find_crowded(self);
	find_roots(self);
	find_references(self);
	lode_small_calls_mark(self);
	lode_code_shapes_find(self);
	lode_code_shapes_find_searches(self);
	loop_footprints_apply(self);
	return self;
}

void lode_costed_code_free(LodeCostedCode *self)
{
	if (self == NULL)
		return;
	g_free(self->weights);
	g_free(self->way_starts);
	g_free(self->ways);
	g_free(self->loops);
	g_free(self->facts);
	g_free(self->loop_weights);
	g_free(self->loop_bytes);
	g_array_unref(self->small_calls);
	g_free(self->set_marks);
	g_free(self);
}

static const char *const run_time_images[] = {"*/libc.so*", "*/libc-2.*", "*/libm.so*",
	"*/libm-2.*", "*/libpthread*.so*", "*/ld-linux*", "*/ld-2.*", "*/ld-musl*",
	"*/libstdc++.so*", "*/libgcc_s.so*", "*[vdso]*"};
static const char *const run_time_functions[] = {"runtime.*"};

bool lode_costed_code_is_run_time(const LodeDiagnosisContext *context, uint32_t function)
{
	const LodeFunction *one = lode_profile_function(context->profile, function);

	return matches(run_time_images, G_N_ELEMENTS(run_time_images),
		       lode_profile_image(context->profile, one->image)->path) ||
	       matches(run_time_functions, G_N_ELEMENTS(run_time_functions), one->name);
}
