/* SPDX-License-Identifier: MIT */
/*
 * Selects a predictor for each slot: the classes of slot_predictor.h, with their parameters, are
 * candidates; each predicts a sample of the slot's addresses, the coded size of its residuals is
 * estimated, and the candidate with the least cost is selected.
 *
 *   pass 1   which slots are global or of the stack; which ones move together (slot_partners.h)
 *   pass 2   the costs of the cheap candidates
 *   pass 3   the costs of those with tables, for slots that no cheap candidate predicts well
 *
 * A residual's cost is that of an adaptive code: little where the two residuals before it had the
 * same successor the last time, more where it occurred lately, else by its length.
 *
 * Follows: M. Burtscher and others, "The VPC Trace-Compression Algorithms", IEEE Transactions on
 * Computers 54 (11), 2005 (the best of several value predictors for each instruction); the
 * candidates are raced, that is dropped as soon as they are clearly worse than the best: O. Maron,
 * A. Moore, "Hoeffding Races", Advances in Neural Information Processing Systems 6, 1993, with a
 * margin that was measured in place of Hoeffding's bound.
 */
#include "traces/slots/slot_columns.h"

#include "base/arrays/hash.h"
#include "traces/frames/frame_sample.h"
#include "traces/rps/varint.h"
#include "traces/slots/slot_partners.h"
#include "traces/slots/slot_predictor.h"

#include <string.h>

enum {
	N_CANDIDATES = 6,      /* of a slot in one pass */
	SAMPLE_FIRST = 128,    /* accesses of a slot that are sampled, of every … */
	SAMPLE_EVERY = 4096,   /* … so many */
	RECENT_BITS = 19,      /* of the two tables of residuals … */
	FAST_RECENT_BITS = 15, /* … for few of them: what the processor's cache holds */
	PREFETCH_DISTANCE = 4, /* invocations */
	STACK_REACH = 1 << 18, /* bytes between an access of the stack and its top, at most */
	LOST_CALLS = 8,        /* calls far from the stack's top until the top is given up */
	COSTLY_BITS = 1,       /* a reference at which pass 3 tries more candidates */
	RACE_EVERY = 8,        /* sampled accesses */
	FEW_VALUES = 12,       /* too few for a table to learn from */
	FEW_STACK_VALUES = 16,
	QUICK_CONTENT_BITS =
		14, /* of the tables of contents: what the cache holds, as few are sampled */
};

static const LodeFrameSampleSize FAST_SAMPLE = {1 << 13, 48}, QUICK_SAMPLE = {1 << 12, 16};

/* Costs are in eighths of a bit. The values are those with which the traces of programs became
 * smallest. */
enum {
	COST_PREDICTED = 1, /* residual: the same successor as the last time */
	COST_ZERO = 24,
	COST_SMALL = 64,
	COST_BYTE = 64,
	COST_BASE = 100, /* parameter, once a slot */
	COST_OFFSET = 60,
	COST_ADDRESS = 110,
	RACE_MARGIN = 400, /* dropped: RACE_FACTOR times the best one's cost and this more */
	RACE_FACTOR = 2,
	SMALL = 0xf0, /* residuals below it take one byte */
};

/* A residual of more than a byte, by effort: one that occurred lately, or another, whose bytes are
 * added. */
static const struct {
	unsigned recent, other;
} FAR_COSTS[] = {[LODE_CODEC_QUICK] = {84, 88},
	[LODE_CODEC_FAST] = {84, 88},
	[LODE_CODEC_THOROUGH] = {80, 80}};

typedef struct {
	uint64_t constant;
	uint64_t cost;
	uint32_t base;
	uint32_t last, before; /* residuals, hashed */
	uint8_t slot_class;
	uint8_t number; /* in the set as it was made; does not change when others are dropped */
	bool is_absolute;
	bool is_in_run; /* the last time that two residuals were equal, so was the next one */
} Candidate;

typedef struct {
	Candidate candidates[N_CANDIDATES];
	unsigned n_candidates;
} CandidateSet;

typedef struct {
	uint64_t first, best_cost;
	uint32_t n_stack, n_total, n_noted, n_sampled;
	bool is_begun, is_global, is_load;
} SlotNotes;

/* All that most accesses need of a slot in a pass: apart from its notes, so that it stays in the
 * processor's cache. */
typedef struct {
	uint32_t n;
	uint32_t set : 30; /* index in sets + 1; 0: the slot has no candidates in this pass */
	uint32_t is_global : 1;
	uint32_t has_tables : 1; /* some of its candidates learn from accesses not sampled, too */
} SlotProgress;

typedef struct {
	LodeSlotPredictor *predictor;
	const LodeTraceFrame *frame;
	const LodeFrameLayout *layout;
	LodeFrameSample sample;
	LodeCodecEffort effort;
	SlotNotes *notes; /* by slot, as the two below */
	SlotProgress *progress;
	LodeSlotPartners *partners;
	GArray *sets;                   /* CandidateSet */
	uint32_t *successors;           /* hash of a residual, by the two before it */
	uint32_t *recent;               /* hashes of residuals */
	unsigned recent_bits;           /* of these two */
	uint64_t *tables[N_CANDIDATES]; /* of contents, for each candidate */
} Trial;

/* Slots of blocks that the frame does not invoke have no number. */
static void begin_notes(Trial *self)
{
	const LodeFrameLayout *layout = self->layout;

	for (uint32_t i = 0; i < layout->n_blocks; i++) {
		const LodeFrameBlock *block = &layout->blocks[i];
		const LodeTraceBlock *code = lode_block_dictionary_at(self->frame->dictionary, i);

		for (unsigned k = 0; block->n_invocations > 0 && k < block->n_slots; k++) {
			SlotNotes *notes = &self->notes[block->first_slot + k];

			notes->is_global = true;
			notes->is_load = code->slots[k].kind != LODE_REFERENCE_STORE;
			notes->n_total = block->n_invocations;
		}
	}
}

/* The top of a thread's stack, by its calls. */
typedef struct {
	uint64_t top;
	unsigned n_lost;
} StackTop;

static bool is_near(uint64_t a, uint64_t b)
{
	return a - b + STACK_REACH < 2 * STACK_REACH;
}

static void note_call(StackTop *stack, uint64_t address)
{
	if (is_near(address, stack->top) || ++stack->n_lost > LOST_CALLS) {
		stack->top = address;
		stack->n_lost = 0;
	}
}

/* Pass 1. A call is taken to be a block that ends with a store and is followed by a block
 * elsewhere: what it stores is the return address, at the top of the stack. */
static void note_stretch(Trial *self, const LodeFrameStretch *stretch, StackTop *stack)
{
	const LodeTraceFrame *frame = self->frame;
	const uint64_t *address = frame->addresses + stretch->address;

	for (uint32_t i = stretch->first; i < stretch->end; i++) {
		const LodeFrameBlock *block = &self->layout->blocks[frame->blocks[i]];
		SlotNotes *notes = &self->notes[block->first_slot];

		for (unsigned s = 0; s < block->n_slots; s++, notes++, address++) {
			if (!notes->is_begun)
				notes->first = *address;
			notes->is_begun = true;
			notes->is_global &= *address == notes->first;
			notes->n_stack += is_near(*address, stack->top);
			notes->n_noted++;
		}
		if (block->is_call && i + 1 < stretch->end &&
			self->layout->blocks[frame->blocks[i + 1]].address != block->end)
			note_call(stack, address[-1]);
	}
}

/* Notes them for the whole frame, or, when fast, for the sample. */
static void note_globals(Trial *self)
{
	g_autofree StackTop *stacks = g_new0(StackTop, self->predictor->n_threads + 1U);
	g_auto(LodeFrameSample) whole = {0};
	const GArray *stretches = self->sample.stretches;

	if (self->effort == LODE_CODEC_FAST) {
		lode_frame_sample_init(&whole, self->frame, self->layout, NULL);
		stretches = whole.stretches;
	}
	for (guint i = 0; i < stretches->len; i++) {
		const LodeFrameStretch *stretch = &g_array_index(stretches, LodeFrameStretch, i);

		note_stretch(self, stretch, &stacks[stretch->thread]);
	}
}

/* A slot of the stack is predicted from where the stack is; for a few accesses that costs less than
 * writing the one address of a global slot. */
static void note_stack(Trial *self)
{
	for (uint32_t i = 0; i < self->predictor->n_slots; i++) {
		SlotNotes *notes = &self->notes[i];
		LodeSlotState *state = &self->predictor->slots[i];

		state->constant = notes->first;
		state->is_stack = notes->n_stack > notes->n_noted / 2;
		notes->is_global &= !state->is_stack || notes->n_total > FEW_STACK_VALUES;
		/* It is compared with its one address then, and no more. */
		if (notes->is_global && self->effort == LODE_CODEC_QUICK)
			state->is_stack = false;
		notes->best_cost = UINT64_MAX;
		self->progress[i].is_global = notes->is_global;
	}
}

static void find_partners(Trial *self)
{
	uint32_t n_slots = self->predictor->n_slots;
	g_autofree uint32_t *n_accesses = g_new0(uint32_t, n_slots + 1U);

	for (uint32_t i = 0; i < n_slots; i++)
		n_accesses[i] = self->progress[i].is_global ? LODE_SLOT_EXCLUDED : 0;
	lode_slot_partners_find(
		self->partners, self->frame, self->layout, &self->sample, n_accesses);
}

static void add_candidate(CandidateSet *set, LodeSlotClass slot_class, uint32_t base,
	uint64_t constant, unsigned cost)
{
	unsigned n = set->n_candidates;

	if (n < N_CANDIDATES)
		set->candidates[set->n_candidates++] = (Candidate){
			.slot_class = (uint8_t)slot_class,
			.number = (uint8_t)n,
			.base = base,
			.constant = constant,
			.cost = cost};
}

static void add_best_partners(CandidateSet *set, const LodeSlotPartners *partners)
{
	const LodeSlotPartner *best = NULL, *second = NULL;

	for (unsigned i = 0; i < LODE_N_SLOT_PARTNERS; i++) {
		const LodeSlotPartner *partner = &partners->of[i];

		if (partner->slot == UINT32_MAX)
			continue;
		if (best == NULL || partner->n_hits > best->n_hits) {
			second = best;
			best = partner;
		} else if (second == NULL || partner->n_hits > second->n_hits) {
			second = partner;
		}
	}
	if (best != NULL)
		add_candidate(
			set, LODE_SLOT_LOCAL, best->slot, best->distance, COST_BASE + COST_OFFSET);
	if (second != NULL)
		add_candidate(set, LODE_SLOT_LOCAL, second->slot, second->distance,
			COST_BASE + COST_OFFSET);
}

static bool has_table(const Candidate *candidate)
{
	return candidate->slot_class >= LODE_SLOT_CONTENT;
}

static void add_set(Trial *self, uint32_t slot, const CandidateSet *set)
{
	SlotProgress *progress = &self->progress[slot];

	g_array_append_vals(self->sets, set, 1);
	progress->set = self->sets->len & 0x3fffffff;
	for (unsigned i = 0; i < set->n_candidates; i++)
		progress->has_tables |= has_table(&set->candidates[i]);
}

static void add_cheap_candidates(Trial *self)
{
	for (uint32_t i = 0; i < self->predictor->n_slots; i++) {
		SlotNotes *notes = &self->notes[i];
		CandidateSet set = {.n_candidates = 0};

		if (notes->is_global)
			continue;
		add_candidate(&set, LODE_SLOT_NEAR, 0, notes->first, COST_ADDRESS);
		add_candidate(&set, LODE_SLOT_UNASSIGNED, 0, notes->first, COST_ADDRESS);
		add_candidate(&set, LODE_SLOT_STRIDE, 0, notes->first, COST_ADDRESS);
		if (self->predictor->slots[i].is_stack)
			add_candidate(&set, LODE_SLOT_STACK, 0, 0, 0);
		add_best_partners(&set, &self->partners[i]);
		add_set(self, i, &set);
	}
}

/* A wrong prediction is coded by the distance from the slot's first address, not from the
 * prediction. */
static void add_absolute(CandidateSet *set, LodeSlotClass slot_class, uint64_t first)
{
	add_candidate(set, slot_class, 0, first, COST_ADDRESS);
	set->candidates[set->n_candidates - 1].is_absolute = true;
}

/* The shortest history is tried with both kinds of residual: a wrong prediction of it may be near
 * the right address, or anywhere. */
static void add_costly_candidates(Trial *self)
{
	unsigned n_partners = self->effort == LODE_CODEC_THOROUGH ? LODE_N_SLOT_PARTNERS : 2;

	for (uint32_t i = 0; i < self->predictor->n_slots; i++) {
		SlotNotes *notes = &self->notes[i];
		CandidateSet set = {.n_candidates = 0};

		self->progress[i] = (SlotProgress){.is_global = notes->is_global};
		if (notes->is_global || notes->n_total < FEW_VALUES ||
			notes->best_cost < (uint64_t)notes->n_sampled * 8 * COSTLY_BITS)
			continue;
		self->predictor->slots[i].is_history = true;
		add_candidate(&set, LODE_SLOT_HISTORY_1, 0, 0, 0);
		add_absolute(&set, LODE_SLOT_HISTORY_1, notes->first);
		if (self->effort == LODE_CODEC_THOROUGH)
			add_absolute(&set, LODE_SLOT_HISTORY_2, notes->first);
		add_absolute(&set, LODE_SLOT_HISTORY_3, notes->first);
		for (unsigned p = 0; p < n_partners; p++) {
			uint32_t base = self->partners[i].of[p].slot;

			if (base != UINT32_MAX && self->notes[base].is_load)
				add_candidate(&set, LODE_SLOT_CONTENT, base, 0, COST_BASE);
		}
		add_set(self, i, &set);
	}
}

static uint32_t hash_residual(uint64_t value)
{
	return (uint32_t)lode_hash_slot(value, 32);
}

/* Whether the table's entry is this hash; it is from now on. */
static bool exchange(uint32_t *entry, uint32_t hash)
{
	bool result = *entry == hash;

	*entry = hash;
	return result;
}

/* Keeps the candidates apart that share the tables. */
static uint32_t candidate_key(uint32_t slot, const Candidate *candidate)
{
	return slot * 8 + candidate->number;
}

static uint32_t *successor_entry(const Trial *self, uint32_t key, const Candidate *candidate)
{
	uint64_t context = candidate->last * UINT64_C(5) + candidate->before * UINT64_C(11) + key;

	return &self->successors[lode_hash_slot(context, self->recent_bits)];
}

/* Whether three residuals in a row are equal, as they were the last time that two were: the table
 * of successors gives the same, but is seldom in the processor's cache. */
static bool is_repeated(Candidate *candidate, uint64_t residual)
{
	bool is_run = candidate->last == candidate->before;
	bool is_same = is_run && candidate->last == hash_residual(residual);
	bool result = is_same && candidate->is_in_run;

	if (is_run)
		candidate->is_in_run = is_same;
	return result;
}

/* The fast effort leaves out look-ups that seldom change a cost. */
static unsigned cost_of(Trial *self, Candidate *candidate, uint32_t key, uint64_t residual)
{
	bool is_fast = self->effort != LODE_CODEC_THOROUGH;
	uint64_t zigzag = lode_zigzag(residual);
	uint32_t hash = hash_residual(residual ^ key) | 1; /* 0: an empty entry */
	bool is_far = zigzag >= SMALL, is_recent = false;

	if (is_fast && is_repeated(candidate, residual))
		return COST_PREDICTED;
	if (is_far || !is_fast)
		is_recent = exchange(
			&self->recent[lode_hash_slot(residual + key, self->recent_bits)], hash);
	if (exchange(successor_entry(self, key, candidate), hash))
		return COST_PREDICTED;
	if (zigzag == 0)
		return COST_ZERO;
	if (!is_far)
		return COST_SMALL;
	if (is_recent)
		return FAR_COSTS[self->effort].recent;
	return FAR_COSTS[self->effort].other +
	       COST_BYTE * ((unsigned)(71 - __builtin_clzll(zigzag)) / 8);
}

static bool is_sampled(const Trial *self, uint32_t n)
{
	return self->effort == LODE_CODEC_THOROUGH || n % SAMPLE_EVERY < SAMPLE_FIRST;
}

static inline LodeSlotGuess guess_as(
	Trial *self, uint32_t slot, const Candidate *candidate, const LodeThreadPlace *place)
{
	self->predictor->contents = self->tables[candidate->number];
	return lode_slot_predictor_guess_as(self->predictor, slot,
		(LodeSlotClass)candidate->slot_class, candidate->base, candidate->constant, place);
}

/* The tables are larger than the cache: the entries of all candidates are prefetched together, so
 * that their misses overlap. */
static void prefetch_candidates(
	Trial *self, uint32_t slot, const CandidateSet *set, const LodeThreadPlace *place)
{
	for (unsigned i = 0; i < set->n_candidates; i++) {
		const Candidate *candidate = &set->candidates[i];

		if (has_table(candidate))
			__builtin_prefetch(guess_as(self, slot, candidate, place).learned, 1);
		__builtin_prefetch(
			successor_entry(self, candidate_key(slot, candidate), candidate), 1);
	}
}

static void try_candidate(Trial *self, uint32_t slot, uint64_t address, Candidate *candidate,
	const LodeThreadPlace *place, bool is_counted)
{
	LodeSlotGuess guess;
	uint64_t residual;

	if (!is_counted && !has_table(candidate))
		return;
	guess = guess_as(self, slot, candidate, place);
	residual = lode_slot_guess_difference(
		&guess, candidate->is_absolute, candidate->constant, address);
	lode_slot_guess_learn(&guess, address);
	if (!is_counted)
		return;
	candidate->cost += cost_of(self, candidate, candidate_key(slot, candidate), residual);
	candidate->before = candidate->last;
	candidate->last = hash_residual(residual);
}

/* The race: drops candidates that already cost more than the best one of the pass before, or so
 * much more than the best one of this pass that they hardly catch up. */
static void drop_worst(const SlotNotes *notes, CandidateSet *set)
{
	uint64_t limit = notes->best_cost;
	unsigned n = 0;

	for (unsigned i = 0; i < set->n_candidates; i++)
		limit = MIN(limit, set->candidates[i].cost * RACE_FACTOR + RACE_MARGIN);
	for (unsigned i = 0; i < set->n_candidates; i++) {
		if (set->candidates[i].cost < limit)
			set->candidates[n++] = set->candidates[i];
	}
	set->n_candidates = n;
}

static void try_access(Trial *self, uint32_t slot, uint64_t address, const LodeThreadPlace *place)
{
	SlotNotes *notes = &self->notes[slot];
	SlotProgress *progress = &self->progress[slot];
	bool is_counted = is_sampled(self, progress->n++);
	CandidateSet *set;

	if (!is_counted && !progress->has_tables)
		return;
	set = &g_array_index(self->sets, CandidateSet, progress->set - 1U);
	notes->n_sampled += is_counted;
	if (is_counted)
		prefetch_candidates(self, slot, set, place);
	for (unsigned i = 0; i < set->n_candidates; i++)
		try_candidate(self, slot, address, &set->candidates[i], place, is_counted);
	if (is_counted && self->effort != LODE_CODEC_THOROUGH && progress->n % RACE_EVERY == 0)
		drop_worst(notes, set);
}

/* The slots of successive invocations lie anywhere in memory, where the processor expects nothing.
 */
static void prefetch_slots(const Trial *self, uint32_t block)
{
	uint32_t slot = self->layout->blocks[block].first_slot;

	__builtin_prefetch(&self->progress[slot], 1);
	__builtin_prefetch(&self->predictor->slots[slot], 1);
	__builtin_prefetch(&self->predictor->slots[slot + 1], 1);
}

/* Every access advances the predictor, also one that is not sampled: bases and the stack move on.
 */
static void try_stretch(Trial *self, const LodeFrameStretch *stretch)
{
	const LodeTraceFrame *frame = self->frame;
	const uint64_t *address = frame->addresses + stretch->address;
	LodeThreadPlace *place = &self->predictor->places[stretch->thread];

	for (uint32_t i = stretch->first; i < stretch->end; i++) {
		const LodeFrameBlock *block = &self->layout->blocks[frame->blocks[i]];
		bool is_tried = lode_frame_sample_has(&self->sample, i);
		uint32_t slot = block->first_slot;

		prefetch_slots(self, frame->blocks[MIN(i + PREFETCH_DISTANCE, stretch->end - 1)]);
		for (unsigned s = 0; s < block->n_slots; s++, slot++, address++) {
			if (is_tried && self->progress[slot].set != 0)
				try_access(self, slot, *address, place);
			lode_slot_predictor_advance(self->predictor, slot, *address, place);
		}
	}
}

static void try_candidates(Trial *self)
{
	for (guint i = 0; i < self->sample.stretches->len; i++)
		try_stretch(self, &g_array_index(self->sample.stretches, LodeFrameStretch, i));
}

/* A candidate of pass 3 must beat the best one of pass 2. */
static void select_candidates(Trial *self)
{
	for (uint32_t i = 0; i < self->predictor->n_slots; i++) {
		SlotNotes *notes = &self->notes[i];
		LodeSlotState *state = &self->predictor->slots[i];
		const CandidateSet *set;

		if (self->progress[i].set == 0)
			continue;
		set = &g_array_index(self->sets, CandidateSet, self->progress[i].set - 1U);
		for (unsigned k = 0; k < set->n_candidates; k++) {
			const Candidate *candidate = &set->candidates[k];

			if (candidate->cost >= notes->best_cost)
				continue;
			notes->best_cost = candidate->cost;
			state->slot_class = candidate->slot_class;
			state->base = candidate->base;
			state->constant = candidate->constant;
			state->is_absolute = candidate->is_absolute;
		}
	}
}

static void run_pass(Trial *self)
{
	lode_slot_predictor_rewind(self->predictor);
	memset(self->successors, 0, sizeof(uint32_t) << self->recent_bits);
	memset(self->recent, 0, sizeof(uint32_t) << self->recent_bits);
	try_candidates(self);
	self->predictor->contents = self->tables[0];
	select_candidates(self);
	g_array_set_size(self->sets, 0);
}

/* In pass 2 no candidate learns contents, so one table will do; in pass 3 each has its own, as if
 * it were the only one. */
static void run_passes(Trial *self)
{
	self->tables[0] = self->predictor->contents;
	add_cheap_candidates(self);
	run_pass(self);
	for (unsigned i = 1; i < N_CANDIDATES; i++)
		self->tables[i] = g_new0(uint64_t, (size_t)1 << self->predictor->content_bits);
	add_costly_candidates(self);
	run_pass(self);
	for (unsigned i = 1; i < N_CANDIDATES; i++)
		g_free(self->tables[i]);
}

/* Expects global slots, which are known to be so for the sample only. */
static void expect_globals(Trial *self)
{
	for (uint32_t i = 0; i < self->predictor->n_slots; i++)
		if (self->notes[i].is_global)
			self->predictor->slots[i].slot_class = LODE_SLOT_UNASSIGNED;
}

void lode_slot_trial(LodeSlotPredictor *predictor, const LodeTraceFrame *frame,
	const LodeFrameLayout *layout, LodeCodecEffort effort)
{
	Trial trial = {.predictor = predictor, .frame = frame, .layout = layout, .effort = effort};

	trial.notes = g_new0(SlotNotes, predictor->n_slots + 1U);
	trial.sets = g_array_new(FALSE, FALSE, sizeof(CandidateSet));
	trial.recent_bits = effort == LODE_CODEC_THOROUGH ? RECENT_BITS : FAST_RECENT_BITS;
	trial.successors = g_new(uint32_t, (size_t)1 << trial.recent_bits);
	trial.recent = g_new(uint32_t, (size_t)1 << trial.recent_bits);
	trial.progress = g_new0(SlotProgress, predictor->n_slots + 1U);
	trial.partners = lode_slot_partners_new(predictor->n_slots);
	lode_frame_sample_init(&trial.sample, frame, layout,
		effort == LODE_CODEC_THOROUGH ? NULL
		: effort == LODE_CODEC_FAST   ? &FAST_SAMPLE
					      : &QUICK_SAMPLE);
	begin_notes(&trial);
	note_globals(&trial);
	note_stack(&trial);
	find_partners(&trial);
	if (effort == LODE_CODEC_QUICK) {
		uint8_t content_bits = predictor->content_bits;

		predictor->content_bits = MIN(content_bits, QUICK_CONTENT_BITS);
		run_passes(&trial);
		predictor->content_bits = content_bits;
		expect_globals(&trial);
	} else {
		run_passes(&trial);
	}
	lode_frame_sample_clear(&trial.sample);
	g_array_unref(trial.sets);
	g_free(trial.notes);
	g_free(trial.progress);
	g_free(trial.partners);
	g_free(trial.successors);
	g_free(trial.recent);
}
