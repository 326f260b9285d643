/* SPDX-License-Identifier: MIT */
/*
 * Chooses the classes of slots. Three walks through the frame: what is global or of the stack and
 * which slots move together; what the cheap classes cost; what the others cost where none of the
 * cheap ones does well.
 */
#include "traces/slot_trial.h"

#include "traces/varint.h"

#include <string.h>

enum {
	N_BACK = 16,         /* accesses that a slot is compared with, a power of two */
	N_PARTNERS = 6,      /* slots that are watched for one */
	N_CANDIDATES = 6,    /* ways that are tried in one walk */
	SAMPLE_FIRST = 256,  /* of a column: so many at its beginning… */
	SAMPLE_EVERY = 4096, /* …and again after so many */
	SEEN_BITS = 19,
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
	COST_SEEN = 80,
	COST_OTHER = 80,
	COST_BYTE = 64,
	COST_BASE = 100,
	COST_OFFSET = 60,
	COST_ADDRESS = 110,
	LAG = 400, /* behind so much + LAG_FACTOR times the best: lost */
	LAG_FACTOR = 2,
	SMALL = 0xf0,
};

typedef struct {
	uint64_t distance;
	uint32_t slot;
	uint16_t n_hits, n_seen;
} Partner;

typedef struct {
	uint64_t constant;
	uint64_t cost;
	uint32_t base;
	uint32_t last, before; /* differences, folded */
	uint8_t slot_class;
	uint8_t number; /* in the ballot as it was made */
	bool is_absolute;
} Candidate;

typedef struct {
	Candidate candidates[N_CANDIDATES];
	unsigned n_candidates;
} Ballot;

typedef struct {
	Partner partners[N_PARTNERS];
	uint64_t first, best_cost;
	uint32_t n, n_stack, n_total, n_sampled;
	uint32_t ballot; /* where it takes part in a trial; + 1 */
	bool is_global, is_load;
} SlotNotes;

typedef struct {
	LodeSlotPredictor *predictor;
	const LodeTraceFrame *frame;
	const LodeFrameLayout *layout;
	LodeCodecEffort effort;
	SlotNotes *notes;               /* by slot */
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
			for (unsigned p = 0; p < N_PARTNERS; p++)
				notes->partners[p].slot = UINT32_MAX;
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
				if (notes->n++ == 0)
					notes->first = *address;
				notes->is_global &= *address == notes->first;
				notes->n_stack += is_near(*address, stack->top);
			}
			if (block->is_call && i + 1 < run.end &&
				self->layout->blocks[frame->blocks[i + 1]].address != block->end)
				note_call(stack, address[-1]);
		}
	}
}

/* The accesses before this one that are not global. */
typedef struct {
	uint64_t addresses[N_BACK];
	uint32_t slots[N_BACK];
	unsigned n;
} Recent;

static void remember(Recent *recent, uint32_t slot, uint64_t address)
{
	unsigned at = recent->n++ % N_BACK;

	recent->slots[at] = slot;
	recent->addresses[at] = address;
}

static Partner *find_partner(SlotNotes *notes, uint32_t slot)
{
	Partner *free_place = NULL;

	for (unsigned i = 0; i < N_PARTNERS; i++) {
		Partner *partner = &notes->partners[i];

		if (partner->slot == slot)
			return partner;
		if (free_place == NULL && (partner->slot == UINT32_MAX ||
						  (partner->n_seen > 3 && partner->n_hits == 0)))
			free_place = partner;
	}
	if (free_place != NULL)
		*free_place = (Partner){0, slot, 0, 0};
	return free_place;
}

/* Compares an access with those before it: which were as far away as they were the last time. */
static void vote(SlotNotes *notes, uint32_t slot, uint64_t address, const Recent *recent)
{
	for (unsigned i = 1; i <= MIN(recent->n, N_BACK); i++) {
		unsigned at = (recent->n - i) % N_BACK;
		uint64_t distance = address - recent->addresses[at];
		Partner *partner;

		if (recent->slots[at] == slot)
			return;
		partner = find_partner(notes, recent->slots[at]);
		if (partner == NULL)
			continue;
		partner->n_hits = (uint16_t)(partner->n_hits +
					     (partner->n_seen > 0 &&
						     partner->distance == distance));
		partner->n_seen++;
		partner->distance = distance;
	}
}

static void find_partners(Trial *self)
{
	const LodeTraceFrame *frame = self->frame;
	const uint64_t *address = frame->addresses;
	Recent recent = {.n = 0};

	for (size_t i = 0; i < frame->n_invocations; i++) {
		const LodeFrameBlock *block = &self->layout->blocks[frame->blocks[i]];
		uint32_t slot = block->first_slot;

		for (unsigned s = 0; s < block->n_slots; s++, slot++, address++) {
			SlotNotes *notes = &self->notes[slot];
			uint32_t n = notes->n++;

			if (notes->is_global)
				continue;
			if (n < 24 || n % 128 < 4)
				vote(notes, slot, *address, &recent);
			remember(&recent, slot, *address);
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
	}
}

static void restart_counts(Trial *self)
{
	for (uint32_t i = 0; i < self->predictor->n_slots; i++)
		self->notes[i].n = 0;
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

static void add_best_partners(Ballot *ballot, const SlotNotes *notes)
{
	const Partner *best = NULL, *second = NULL;

	for (unsigned i = 0; i < N_PARTNERS; i++) {
		const Partner *partner = &notes->partners[i];

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
		add_best_partners(&ballot, notes);
		g_array_append_val(self->ballots, ballot);
		notes->ballot = self->ballots->len;
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
	unsigned n_partners = self->effort == LODE_CODEC_THOROUGH ? N_PARTNERS : 2;

	for (uint32_t i = 0; i < self->predictor->n_slots; i++) {
		SlotNotes *notes = &self->notes[i];
		Ballot ballot = {.n_candidates = 0};

		notes->ballot = notes->n = 0;
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
			uint32_t base = notes->partners[p].slot;

			if (base != UINT32_MAX && self->notes[base].is_load)
				add_candidate(&ballot, LODE_SLOT_CONTENT, base, 0, COST_BASE);
		}
		g_array_append_val(self->ballots, ballot);
		notes->ballot = self->ballots->len;
	}
}

static uint32_t fold(uint64_t value)
{
	return (uint32_t)(value * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static unsigned cost_of(Trial *self, const Candidate *candidate, uint32_t key, uint64_t difference)
{
	uint64_t zigzag = lode_zigzag(difference);
	uint64_t context = candidate->last * UINT64_C(5) + candidate->before * UINT64_C(11) + key;
	uint32_t *next = &self->foreseen[fold(context) >> (32 - SEEN_BITS)];
	uint32_t *seen = &self->seen[fold(difference + key) >> (32 - SEEN_BITS)];
	uint32_t mark = fold(difference ^ key) | 1;
	unsigned n_bytes = 1;
	bool is_foreseen = *next == mark, is_seen = *seen == mark;

	*next = *seen = mark;
	if (is_foreseen)
		return COST_FORESEEN;
	if (zigzag == 0)
		return COST_ZERO;
	if (zigzag < SMALL)
		return COST_SMALL;
	if (is_seen)
		return COST_SEEN;
	while (n_bytes < 8 && zigzag >> 8 * n_bytes != 0)
		n_bytes++;
	return COST_OTHER + COST_BYTE * n_bytes;
}

static bool is_sampled(const Trial *self, uint32_t n)
{
	return self->effort == LODE_CODEC_THOROUGH || n % SAMPLE_EVERY < SAMPLE_FIRST;
}

static bool is_learning(const Candidate *candidate)
{
	return candidate->slot_class >= LODE_SLOT_CONTENT;
}

static void try_candidate(Trial *self, uint32_t slot, uint64_t address, Candidate *candidate,
	const LodeThreadPlace *place, bool is_counted)
{
	LodeSlotGuess guess;
	uint64_t difference;

	if (!is_counted && !is_learning(candidate))
		return;
	self->predictor->contents = self->tables[candidate->number];
	guess = lode_slot_predictor_guess_as(self->predictor, slot,
		(LodeSlotClass)candidate->slot_class, candidate->base, candidate->constant, place);
	difference = lode_slot_guess_difference(
		&guess, candidate->is_absolute, candidate->constant, address);
	lode_slot_guess_learn(&guess, address);
	if (!is_counted)
		return;
	candidate->cost += cost_of(self, candidate, slot * 8 + candidate->number, difference);
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
	Ballot *ballot = &g_array_index(self->ballots, Ballot, notes->ballot - 1);
	bool is_counted = is_sampled(self, notes->n++);

	notes->n_sampled += is_counted;
	for (unsigned i = 0; i < ballot->n_candidates; i++)
		try_candidate(self, slot, address, &ballot->candidates[i], place, is_counted);
	if (is_counted && self->effort == LODE_CODEC_FAST && notes->n % DROP_EVERY == 0)
		drop_losers(notes, ballot);
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

			for (unsigned s = 0; s < block->n_slots; s++, slot++, address++) {
				if (self->notes[slot].ballot != 0)
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

		if (notes->ballot == 0)
			continue;
		ballot = &g_array_index(self->ballots, Ballot, notes->ballot - 1);
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
	begin_notes(&trial);
	note_globals(&trial);
	note_stack(&trial);
	restart_counts(&trial);
	find_partners(&trial);
	restart_counts(&trial);
	run_trials(&trial);
	g_array_unref(trial.ballots);
	g_free(trial.notes);
	g_free(trial.foreseen);
	g_free(trial.seen);
}
