/* SPDX-License-Identifier: MIT */
/*
 * Chooses the classes of slots. Three walks through the frame: what is global or of the stack and
 * which slots move together; what the cheap classes cost; what the others cost where none of the
 * cheap ones does well.
 */
#include "traces/slot_trial.h"

#include "traces/slot_partners.h"
#include "traces/varint.h"

#include <string.h>

enum {
	N_CANDIDATES = 6,    /* ways that are tried in one walk */
	SAMPLE_FIRST = 256,  /* of a column: so many at its beginning… */
	SAMPLE_EVERY = 4096, /* …and again after so many */
	SEEN_BITS = 19,
	AHEAD = 4,             /* invocations */
	STACK_REACH = 1 << 18, /* bytes that an access of the stack is away from its top at most */
	LOST_CALLS = 8,        /* calls elsewhere until the stack is another one */
	COSTLY_BITS = 1,       /* a reference: look for better */
	DROP_EVERY = 8,        /* accesses, candidates without hope */
	FEW_VALUES = 12,
	FEW_STACK_VALUES = 16,
};

/* Costs are in eighths of a bit. */
enum {
	COST_FORESEEN = 1,
	COST_ZERO = 24,
	COST_SMALL = 64,
	COST_BYTE = 64,
	COST_BASE = 100,
	COST_OFFSET = 60,
	COST_ADDRESS = 110,
	LAG = 400, /* behind so much + LAG_FACTOR times the best: lost */
	LAG_FACTOR = 2,
	SMALL = 0xf0,
};

/* Of a far difference, by effort: as programs' traces became smallest. */
static const struct {
	unsigned seen, other; /* other: and its bytes */
} FAR_COSTS[] = {[LODE_CODEC_FAST] = {84, 88}, [LODE_CODEC_THOROUGH] = {80, 80}};

typedef struct {
	uint64_t constant;
	uint64_t cost;
	uint32_t base;
	uint32_t last, before; /* differences, folded */
	uint8_t slot_class;
	uint8_t number; /* in the ballot as it was made */
	bool is_absolute;
	bool is_in_run; /* when the last two were the same, the next one was, too */
} Candidate;

typedef struct {
	Candidate candidates[N_CANDIDATES];
	unsigned n_candidates;
} Ballot;

typedef struct {
	uint64_t first, best_cost;
	uint32_t n_stack, n_total, n_sampled;
	bool is_begun, is_global, is_load;
} SlotNotes;

/* All that most accesses ask of a slot in a walk, apart from the rest so that it stays in the
 * cache. */
typedef struct {
	uint32_t n;
	uint32_t ballot : 30; /* where it takes part in a trial; + 1 */
	uint32_t is_global : 1;
	uint32_t is_learning : 1; /* in its ballot are some that learn */
} SlotTurn;

typedef struct {
	LodeSlotPredictor *predictor;
	const LodeTraceFrame *frame;
	const LodeFrameLayout *layout;
	LodeCodecEffort effort;
	SlotNotes *notes; /* by slot, as the two below */
	SlotTurn *turns;
	LodeSlotPartners *partners;
	GArray *ballots;                /* Ballot */
	uint32_t *foreseen;             /* by the two differences before: the next, as a hash */
	uint32_t *seen;                 /* differences */
	uint64_t *tables[N_CANDIDATES]; /* of contents, for each candidate */
} Trial;

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

static void note_globals(Trial *self)
{
	const LodeTraceFrame *frame = self->frame;
	g_autofree StackTop *stacks = g_new0(StackTop, self->predictor->n_threads + 1U);
	const uint64_t *address = frame->addresses;
	LodeThreadRun run;

	for (size_t k = 0; lode_thread_run_at(frame, k, &run); k++) {
		StackTop *stack = &stacks[run.thread];

		for (size_t i = run.first; i < run.end; i++) {
			const LodeFrameBlock *block = &self->layout->blocks[frame->blocks[i]];
			SlotNotes *notes = &self->notes[block->first_slot];

			for (unsigned s = 0; s < block->n_slots; s++, notes++, address++) {
				if (!notes->is_begun)
					notes->first = *address;
				notes->is_begun = true;
				notes->is_global &= *address == notes->first;
				notes->n_stack += is_near(*address, stack->top);
			}
			if (block->is_call && i + 1 < run.end &&
				self->layout->blocks[frame->blocks[i + 1]].address != block->end)
				note_call(stack, address[-1]);
		}
	}
}

/* What is of the stack; there a few accesses are guessed more cheaply than told an address. */
static void note_stack(Trial *self)
{
	for (uint32_t i = 0; i < self->predictor->n_slots; i++) {
		SlotNotes *notes = &self->notes[i];
		LodeSlotState *state = &self->predictor->slots[i];

		state->constant = notes->first;
		state->is_stack = notes->n_stack > notes->n_total / 2;
		notes->is_global &= !state->is_stack || notes->n_total > FEW_STACK_VALUES;
		notes->best_cost = UINT64_MAX;
		self->turns[i].is_global = notes->is_global;
	}
}

/* What is global has no turn. */
static void find_partners(Trial *self)
{
	uint32_t n_slots = self->predictor->n_slots;
	g_autofree uint32_t *turns = g_new0(uint32_t, n_slots + 1U);

	for (uint32_t i = 0; i < n_slots; i++)
		turns[i] = self->turns[i].is_global ? LODE_SLOT_NO_TURN : 0;
	lode_slot_partners_find(self->partners, self->frame, self->layout, turns);
}

static void add_candidate(
	Ballot *ballot, LodeSlotClass slot_class, uint32_t base, uint64_t constant, unsigned cost)
{
	unsigned n = ballot->n_candidates;

	if (n < N_CANDIDATES)
		ballot->candidates[ballot->n_candidates++] = (Candidate){
			.slot_class = (uint8_t)slot_class,
			.number = (uint8_t)n,
			.base = base,
			.constant = constant,
			.cost = cost};
}

static void add_best_partners(Ballot *ballot, const LodeSlotPartners *partners)
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
		add_candidate(ballot, LODE_SLOT_LOCAL, best->slot, best->distance,
			COST_BASE + COST_OFFSET);
	if (second != NULL)
		add_candidate(ballot, LODE_SLOT_LOCAL, second->slot, second->distance,
			COST_BASE + COST_OFFSET);
}

static bool is_learning(const Candidate *candidate)
{
	return candidate->slot_class >= LODE_SLOT_CONTENT;
}

static void add_ballot(Trial *self, uint32_t slot, const Ballot *ballot)
{
	SlotTurn *turn = &self->turns[slot];

	g_array_append_vals(self->ballots, ballot, 1);
	turn->ballot = self->ballots->len & 0x3fffffff;
	for (unsigned i = 0; i < ballot->n_candidates; i++)
		turn->is_learning |= is_learning(&ballot->candidates[i]);
}

static void add_cheap_candidates(Trial *self)
{
	for (uint32_t i = 0; i < self->predictor->n_slots; i++) {
		SlotNotes *notes = &self->notes[i];
		Ballot ballot = {.n_candidates = 0};

		if (notes->is_global)
			continue;
		add_candidate(&ballot, LODE_SLOT_NEAR, 0, notes->first, COST_ADDRESS);
		add_candidate(&ballot, LODE_SLOT_UNASSIGNED, 0, notes->first, COST_ADDRESS);
		add_candidate(&ballot, LODE_SLOT_STRIDE, 0, notes->first, COST_ADDRESS);
		if (self->predictor->slots[i].is_stack)
			add_candidate(&ballot, LODE_SLOT_STACK, 0, 0, 0);
		add_best_partners(&ballot, &self->partners[i]);
		add_ballot(self, i, &ballot);
	}
}

/* Wrong guesses are told by an address. */
static void add_absolute(Ballot *ballot, LodeSlotClass slot_class, uint64_t first)
{
	add_candidate(ballot, slot_class, 0, first, COST_ADDRESS);
	ballot->candidates[ballot->n_candidates - 1].is_absolute = true;
}

static void add_costly_candidates(Trial *self)
{
	unsigned n_partners = self->effort == LODE_CODEC_THOROUGH ? LODE_N_SLOT_PARTNERS : 2;

	for (uint32_t i = 0; i < self->predictor->n_slots; i++) {
		SlotNotes *notes = &self->notes[i];
		Ballot ballot = {.n_candidates = 0};

		self->turns[i] = (SlotTurn){.is_global = notes->is_global};
		if (notes->is_global || notes->n_total < FEW_VALUES ||
			notes->best_cost < (uint64_t)notes->n_sampled * 8 * COSTLY_BITS)
			continue;
		self->predictor->slots[i].is_history = true;
		add_candidate(&ballot, LODE_SLOT_HISTORY_1, 0, 0, 0);
		add_absolute(&ballot, LODE_SLOT_HISTORY_1, notes->first);
		if (self->effort == LODE_CODEC_THOROUGH)
			add_absolute(&ballot, LODE_SLOT_HISTORY_2, notes->first);
		add_absolute(&ballot, LODE_SLOT_HISTORY_3, notes->first);
		for (unsigned p = 0; p < n_partners; p++) {
			uint32_t base = self->partners[i].of[p].slot;

			if (base != UINT32_MAX && self->notes[base].is_load)
				add_candidate(&ballot, LODE_SLOT_CONTENT, base, 0, COST_BASE);
		}
		add_ballot(self, i, &ballot);
	}
}

static uint32_t fold(uint64_t value)
{
	return (uint32_t)(value * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

/* Of a table of marks: where one stands. */
static uint32_t mark_place(uint64_t key)
{
	return fold(key) >> (32 - SEEN_BITS);
}

/* Whether the mark stands there; it does behind this. */
static bool is_marked(uint32_t *place, uint32_t mark)
{
	bool result = *place == mark;

	*place = mark;
	return result;
}

/* Of a slot's candidate, in the tables of marks. */
static uint32_t candidate_key(uint32_t slot, const Candidate *candidate)
{
	return slot * 8 + candidate->number;
}

/* Where stands what came last behind the two differences before. */
static uint32_t *foreseen_by(const Trial *self, uint32_t key, const Candidate *candidate)
{
	uint64_t context = candidate->last * UINT64_C(5) + candidate->before * UINT64_C(11) + key;

	return &self->foreseen[mark_place(context)];
}

/* Whether the difference is the same once more, and was so when the two before were the same last:
 * the table would say so too, but it is far from the processor. */
static bool is_repeated(Candidate *candidate, uint64_t difference)
{
	bool is_run = candidate->last == candidate->before;
	bool is_same = is_run && candidate->last == fold(difference);
	bool result = is_same && candidate->is_in_run;

	if (is_run)
		candidate->is_in_run = is_same;
	return result;
}

/* Fast leaves out look-ups that seldom change a cost. */
static unsigned cost_of(Trial *self, Candidate *candidate, uint32_t key, uint64_t difference)
{
	bool is_fast = self->effort == LODE_CODEC_FAST;
	uint64_t zigzag = lode_zigzag(difference);
	uint32_t mark = fold(difference ^ key) | 1;
	bool is_far = zigzag >= SMALL, is_seen = false;

	if (is_fast && is_repeated(candidate, difference))
		return COST_FORESEEN;
	if (is_far || !is_fast)
		is_seen = is_marked(&self->seen[mark_place(difference + key)], mark);
	if (is_marked(foreseen_by(self, key, candidate), mark))
		return COST_FORESEEN;
	if (zigzag == 0)
		return COST_ZERO;
	if (!is_far)
		return COST_SMALL;
	if (is_seen)
		return FAR_COSTS[self->effort].seen;
	return FAR_COSTS[self->effort].other +
	       COST_BYTE * ((unsigned)(71 - __builtin_clzll(zigzag)) / 8);
}

static bool is_sampled(const Trial *self, uint32_t n)
{
	return self->effort == LODE_CODEC_THOROUGH || n % SAMPLE_EVERY < SAMPLE_FIRST;
}

static LodeSlotGuess guess_as(
	Trial *self, uint32_t slot, const Candidate *candidate, const LodeThreadPlace *place)
{
	self->predictor->contents = self->tables[candidate->number];
	return lode_slot_predictor_guess_as(self->predictor, slot,
		(LodeSlotClass)candidate->slot_class, candidate->base, candidate->constant, place);
}

/* Asks for what all candidates need together, so that it is waited for once. */
static void foresee_candidates(
	Trial *self, uint32_t slot, const Ballot *ballot, const LodeThreadPlace *place)
{
	for (unsigned i = 0; i < ballot->n_candidates; i++) {
		const Candidate *candidate = &ballot->candidates[i];

		if (is_learning(candidate))
			__builtin_prefetch(guess_as(self, slot, candidate, place).learned, 1);
		__builtin_prefetch(foreseen_by(self, candidate_key(slot, candidate), candidate), 1);
	}
}

static void try_candidate(Trial *self, uint32_t slot, uint64_t address, Candidate *candidate,
	const LodeThreadPlace *place, bool is_counted)
{
	LodeSlotGuess guess;
	uint64_t difference;

	if (!is_counted && !is_learning(candidate))
		return;
	guess = guess_as(self, slot, candidate, place);
	difference = lode_slot_guess_difference(
		&guess, candidate->is_absolute, candidate->constant, address);
	lode_slot_guess_learn(&guess, address);
	if (!is_counted)
		return;
	candidate->cost += cost_of(self, candidate, candidate_key(slot, candidate), difference);
	candidate->before = candidate->last;
	candidate->last = fold(difference);
}

/* Drops those that can win no more, or hardly: costlier than a slot's best class is in all, or far
 * behind. */
static void drop_losers(const SlotNotes *notes, Ballot *ballot)
{
	uint64_t limit = notes->best_cost;
	unsigned n = 0;

	for (unsigned i = 0; i < ballot->n_candidates; i++)
		limit = MIN(limit, ballot->candidates[i].cost * LAG_FACTOR + LAG);
	for (unsigned i = 0; i < ballot->n_candidates; i++) {
		if (ballot->candidates[i].cost < limit)
			ballot->candidates[n++] = ballot->candidates[i];
	}
	ballot->n_candidates = n;
}

static void try_access(Trial *self, uint32_t slot, uint64_t address, const LodeThreadPlace *place)
{
	SlotNotes *notes = &self->notes[slot];
	SlotTurn *turn = &self->turns[slot];
	bool is_counted = is_sampled(self, turn->n++);
	Ballot *ballot;

	if (!is_counted && !turn->is_learning)
		return;
	ballot = &g_array_index(self->ballots, Ballot, turn->ballot - 1U);
	notes->n_sampled += is_counted;
	if (is_counted)
		foresee_candidates(self, slot, ballot, place);
	for (unsigned i = 0; i < ballot->n_candidates; i++)
		try_candidate(self, slot, address, &ballot->candidates[i], place, is_counted);
	if (is_counted && self->effort == LODE_CODEC_FAST && turn->n % DROP_EVERY == 0)
		drop_losers(notes, ballot);
}

/* Asks for what the slots of an invocation further on need, as they lie anywhere in memory. */
static void foresee_slots(const Trial *self, uint32_t block)
{
	uint32_t slot = self->layout->blocks[block].first_slot;

	__builtin_prefetch(&self->turns[slot], 1);
	__builtin_prefetch(&self->predictor->slots[slot], 1);
	__builtin_prefetch(&self->predictor->slots[slot + 1], 1);
}

static void try_candidates(Trial *self)
{
	const LodeTraceFrame *frame = self->frame;
	const uint64_t *address = frame->addresses;
	LodeThreadRun run;

	for (size_t k = 0; lode_thread_run_at(frame, k, &run); k++) {
		LodeThreadPlace *place = &self->predictor->places[run.thread];

		for (size_t i = run.first; i < run.end; i++) {
			const LodeFrameBlock *block = &self->layout->blocks[frame->blocks[i]];
			uint32_t slot = block->first_slot;

			foresee_slots(self, frame->blocks[MIN(i + AHEAD, run.end - 1)]);
			for (unsigned s = 0; s < block->n_slots; s++, slot++, address++) {
				if (self->turns[slot].ballot != 0)
					try_access(self, slot, *address, place);
				lode_slot_predictor_advance(self->predictor, slot, *address, place);
			}
		}
	}
}

static void choose(Trial *self)
{
	for (uint32_t i = 0; i < self->predictor->n_slots; i++) {
		SlotNotes *notes = &self->notes[i];
		LodeSlotState *state = &self->predictor->slots[i];
		const Ballot *ballot;

		if (self->turns[i].ballot == 0)
			continue;
		ballot = &g_array_index(self->ballots, Ballot, self->turns[i].ballot - 1U);
		for (unsigned k = 0; k < ballot->n_candidates; k++) {
			const Candidate *candidate = &ballot->candidates[k];

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

static void run_trial(Trial *self)
{
	lode_slot_predictor_rewind(self->predictor);
	memset(self->foreseen, 0, sizeof(uint32_t) << SEEN_BITS);
	memset(self->seen, 0, sizeof(uint32_t) << SEEN_BITS);
	try_candidates(self);
	self->predictor->contents = self->tables[0];
	choose(self);
	g_array_set_size(self->ballots, 0);
}

static void run_trials(Trial *self)
{
	self->tables[0] = self->predictor->contents;
	add_cheap_candidates(self);
	run_trial(self);
	for (unsigned i = 1; i < N_CANDIDATES; i++)
		self->tables[i] = g_new0(uint64_t, (size_t)1 << self->predictor->content_bits);
	add_costly_candidates(self);
	run_trial(self);
	for (unsigned i = 1; i < N_CANDIDATES; i++)
		g_free(self->tables[i]);
}

void lode_slot_trial(LodeSlotPredictor *predictor, const LodeTraceFrame *frame,
	const LodeFrameLayout *layout, LodeCodecEffort effort)
{
	Trial trial = {.predictor = predictor, .frame = frame, .layout = layout, .effort = effort};

	trial.notes = g_new0(SlotNotes, predictor->n_slots + 1U);
	trial.ballots = g_array_new(FALSE, FALSE, sizeof(Ballot));
	trial.foreseen = g_new(uint32_t, (size_t)1 << SEEN_BITS);
	trial.seen = g_new(uint32_t, (size_t)1 << SEEN_BITS);
	trial.turns = g_new0(SlotTurn, predictor->n_slots + 1U);
	trial.partners = lode_slot_partners_new(predictor->n_slots);
	begin_notes(&trial);
	note_globals(&trial);
	note_stack(&trial);
	find_partners(&trial);
	run_trials(&trial);
	g_array_unref(trial.ballots);
	g_free(trial.notes);
	g_free(trial.turns);
	g_free(trial.partners);
	g_free(trial.foreseen);
	g_free(trial.seen);
}
