/* SPDX-License-Identifier: MIT */
/* A simulation spends its time in the two loops of this file: their data is copied close together,
 * and rare cases are not inlined. */
#include "caches/sets/direct_replay.h"

#include "caches/sets/cache_access.h"

#include <string.h>

/* The fields of a first-level cache that every reference needs: close together, and no store into
 * the cache can alias this. */
typedef struct {
	uint64_t *words;
	uint64_t set_mask;
	uint32_t set_words;
	uint8_t shift;
} FirstLevel;

struct LodeDirectReplay {
	LodeCacheMachine *machine;
	LodeCacheCore *core;                   /* its only one */
	LodeCacheSets *fetch_sets, *data_sets; /* the former NULL: fetches go nowhere */
	FirstLevel fetches, data;
	LodeFrameWalk walk;

	/* For words. A piece of code whose lines were all used last in their sets when the cache of
	 * instructions was in the state that it still is in changes nothing there. */
	LodeCodePieces *pieces; /* a reference; NULL: no words yet */
	GArray *numbers;        /* uint32_t, by the program's number: of `known`; 0: not seen */
	GArray *known;          /* KnownPiece; 0: none */
	uint64_t fetch_state;   /* another number after each change */
};

/* References by kind, of LODE_REPLAY_MAX_WORDS at most. */
typedef uint32_t Totals __attribute__((vector_size(LODE_N_REFERENCE_KINDS * sizeof(uint32_t))));

typedef struct {
	Totals totals;        /* of all instructions, with the accesses that are expected */
	uint64_t fetch_state; /* in which its lines were used last; 0: none */
	const uint8_t *kinds; /* × n_accesses, that are expected */
	uint64_t first, last; /* bytes of the instructions */
	unsigned n_accesses;
} KnownPiece;

static FirstLevel first_level_of(const LodeCacheCopy *copy)
{
	return (FirstLevel){
		.words = copy->sets.words,
		.set_mask = copy->sets.set_mask,
		.set_words = (uint32_t)copy->sets.set_words,
		.shift = copy->line_shift,
	};
}

static bool is_usual(const LodeCacheMachine *machine, const LodeCacheCore *core)
{
	return machine->hits_only_touch && core->data[0] != NULL &&
	       core->fetches[0] != core->data[0] && core->fetch_tlbs[0] == NULL &&
	       core->data_tlbs[0] == NULL;
}

LodeDirectReplay *lode_direct_replay_new(LodeCacheMachine *machine)
{
	LodeCacheCore *core = lode_cache_machine_core(machine, 0);
	LodeDirectReplay *self;

	if (core == NULL || !is_usual(machine, core))
		return NULL;
	self = g_new0(LodeDirectReplay, 1);
	self->machine = machine;
	self->core = core;
	self->known = g_array_new(FALSE, TRUE, sizeof(KnownPiece));
	g_array_set_size(self->known, 1);
	self->numbers = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	self->fetch_state = 1;
	self->data_sets = &core->data[0]->sets;
	self->data = first_level_of(core->data[0]);
	if (core->fetches[0] != NULL) {
		self->fetch_sets = &core->fetches[0]->sets;
		self->fetches = first_level_of(core->fetches[0]);
	}
	return self;
}

void lode_direct_replay_free(LodeDirectReplay *self)
{
	if (self == NULL)
		return;
	lode_code_pieces_unref(self->pieces);
	g_array_unref(self->known);
	g_array_unref(self->numbers);
	g_free(self);
}

void lode_direct_replay_begin(
	LodeDirectReplay *self, const LodeTraceFrame *frame, const LodeBlockPlans *plans)
{
	lode_frame_walk_begin(&self->walk, frame, plans);
	self->fetch_state++;
}

/* `frame` may be NULL where misses are not reported. */
static void look_up(
	LodeDirectReplay *self, LodeFilteredReference *place, const LodeTraceFrame *frame)
{
	place->extent = (uint16_t)MIN((uint64_t)place->extent, UINT64_MAX - place->address);
	place->parts = LODE_ACCESS_CACHES;
	lode_filtered_reference_access(place, frame, self->machine, self->core);
}

/* The way of all references. `place` has what is known of it: address, extent, kind, instruction
 * and slot; `position` is its number in the invocation. */
static void access_caches(LodeDirectReplay *self, LodeFilteredReference *place, unsigned position)
{
	place->reference = (uint32_t)self->walk.reference + position;
	place->invocation = (uint32_t)self->walk.invocation;
	place->thread = lode_frame_walk_thread(&self->walk);
	look_up(self, place, self->walk.frame);
}

/* The difference between the line used last in a set and another, and its flags. */
static inline uint64_t difference_from_newest(const FirstLevel *level, uint64_t line)
{
	return level->words[(line & level->set_mask) * level->set_words] ^ lode_line_entry(line);
}

/* A data reference to another line than that used last, or to more than one, or the first store
 * to one. */
static G_GNUC_NO_INLINE void replay_slot(
	LodeDirectReplay *self, const LodePlanSlot *slot, unsigned number, unsigned position)
{
	uint64_t address = self->walk.frame->addresses[self->walk.address + number], *entry = NULL;
	uint64_t line = address >> self->data.shift;

	if ((address + slot->extent) >> self->data.shift == line)
		entry = lode_cache_sets_touch_by_age(self->data_sets, line);
	if (entry == NULL) {
		LodeFilteredReference place = {.address = address,
			.extent = slot->extent,
			.kind = slot->kind,
			.instruction = slot->instruction,
			.slot = (uint8_t)number};

		access_caches(self, &place, position);
	} else if (slot->kind != LODE_REFERENCE_LOAD) {
		*entry |= LODE_LINE_DIRTY;
	}
}

static inline void replay_slots(LodeDirectReplay *self, const LodeBlockPlan *plan,
	const LodePlanSlot *slots, unsigned first, unsigned end)
{
	const uint64_t *addresses = self->walk.frame->addresses + self->walk.address;
	const FirstLevel data = self->data;

	for (unsigned i = first; i < end; i++) {
		uint64_t line = addresses[i] >> data.shift;
		uint64_t flags = difference_from_newest(&data, line);
		bool is_load = slots[i].kind == LODE_REFERENCE_LOAD;

		/* dirty already, or a load, in this line alone: there are no other flags here */
		if (G_LIKELY((flags | is_load) == LODE_LINE_DIRTY &&
			     (addresses[i] + slots[i].extent) >> data.shift == line))
			continue;
		replay_slot(self, &slots[i], i,
			i + (plan->n_instructions > 0 ? slots[i].instruction + 1u : 0));
	}
}

/* Uses all lines of a block up to the first that misses. False: one misses. */
static inline bool fetch_lines(LodeDirectReplay *self, const LodeBlockPlan *plan)
{
	uint64_t line = plan->first >> self->fetches.shift;
	uint64_t last = plan->last >> self->fetches.shift;

	if (self->fetch_sets == NULL || plan->n_instructions == 0)
		return true;
	if (plan->is_odd)
		return false;
	for (; line <= last; line++) {
		if (difference_from_newest(&self->fetches, line) != 0 &&
			lode_cache_sets_touch_by_age(self->fetch_sets, line) == NULL)
			return false;
	}
	return true;
}

/* Instruction by instruction, since a fetch misses: the later levels see data in between. Lines
 * that were used before this was known are used again in the same order. */
static G_GNUC_NO_INLINE void replay_in_order(
	LodeDirectReplay *self, const LodeBlockPlan *plan, const LodePlanSlot *slots)
{
	const LodeTraceBlock *block = lode_block_dictionary_at(
		self->walk.frame->dictionary, self->walk.frame->blocks[self->walk.invocation]);
	uint64_t address = block->address;
	unsigned slot = 0;

	for (unsigned i = 0; i < plan->n_instructions; i++) {
		LodeFilteredReference place = {.address = address,
			.extent = lode_access_extent(block->instruction_sizes[i]),
			.kind = LODE_REFERENCE_FETCH,
			.instruction = (uint8_t)i,
			.slot = UINT8_MAX};
		unsigned first = slot;

		access_caches(self, &place, i + slot);
		while (slot < plan->n_slots && slots[slot].instruction == i)
			slot++;
		replay_slots(self, plan, slots, first, slot);
		address += block->instruction_sizes[i];
	}
	replay_slots(self, plan, slots, slot, plan->n_slots);
}

static void replay_invocations(LodeDirectReplay *self, size_t end)
{
	while (self->walk.invocation < end) {
		const LodeBlockPlan *plan = lode_frame_walk_plan(&self->walk);
		const LodePlanSlot *slots = lode_frame_walk_slots(&self->walk, plan);

		if (G_LIKELY(fetch_lines(self, plan)))
			replay_slots(self, plan, slots, 0, plan->n_slots);
		else
			replay_in_order(self, plan, slots);
		lode_frame_walk_advance(&self->walk, plan);
	}
}

bool lode_direct_replay_next(LodeDirectReplay *self, size_t n_invocations)
{
	size_t n = MIN(n_invocations, self->walk.frame->n_invocations - self->walk.invocation);

	if (n > 0)
		replay_invocations(self, self->walk.invocation + n);
	return n > 0;
}

void lode_direct_replay_count(const LodeDirectReplay *self, uint64_t totals[LODE_N_REFERENCE_KINDS])
{
	lode_frame_walk_count(&self->walk, totals);
}

/* ---- words ---- */

static bool has_lines(const LodeCodePiece *piece)
{
	return memchr(piece->sizes, 0, piece->n_instructions) == NULL &&
	       piece->address + piece->n_bytes > piece->address;
}

static KnownPiece *add_piece(LodeDirectReplay *self, uint32_t number)
{
	const LodeCodePiece *piece = lode_code_pieces_at(self->pieces, number);

	if (piece == NULL || !has_lines(piece))
		return NULL;
	KnownPiece known = {
		.totals = {piece->n_instructions},
		.kinds = piece->kinds,
		.first = piece->address,
		.last = piece->address + piece->n_bytes - 1,
		.n_accesses = piece->n_accesses,
	};
	for (unsigned i = 0; i < piece->n_accesses; i++)
		known.totals[piece->kinds[i]]++;
	if (number >= self->numbers->len)
		g_array_set_size(self->numbers, number + 1);
	g_array_index(self->numbers, uint32_t, number) = self->known->len;
	g_array_append_val(self->known, known);
	return &g_array_index(self->known, KnownPiece, self->known->len - 1);
}

/* The piece of code that a word names; NULL: none, or one without lines of its own. */
static inline KnownPiece *known_piece(LodeDirectReplay *self, uint64_t word)
{
	uint32_t number = (uint32_t)word;

	if (lode_word_tag(word) != LODE_WORD_CODE)
		return NULL;
	if (G_LIKELY(number < self->numbers->len)) {
		uint32_t known = g_array_index(self->numbers, uint32_t, number);
		if (G_LIKELY(known != 0))
			return &g_array_index(self->known, KnownPiece, known);
	}
	return add_piece(self, number);
}

/* The words of a group in which all of the piece was executed, as in lode_word_group_is_whole();
 * 0: it is another one. */
static inline size_t whole_group(const KnownPiece *known, const uint64_t *words, size_t n)
{
	size_t end = known->n_accesses + 1U;

	if (G_UNLIKELY(end > n))
		return 0;
	for (size_t i = 1; i < end; i++)
		if (G_UNLIKELY(lode_word_tag(words[i]) != LODE_WORD_REFERENCE ||
			       lode_word_kind(words[i]) != known->kinds[i - 1]))
			return 0;
	while (end < n && end < LODE_GROUP_MAX_WORDS && lode_word_is_access(words[end]))
		end++;
	return end < n && lode_word_tag(words[end]) == LODE_WORD_RESTART ? 0 : end;
}

/* Uses all lines of a piece up to the first that misses. False: one misses. */
static G_GNUC_NO_INLINE bool fetch_piece(LodeDirectReplay *self, KnownPiece *known)
{
	uint64_t line = known->first >> self->fetches.shift;
	uint64_t last = known->last >> self->fetches.shift;
	bool is_as_before = true;

	for (; self->fetch_sets != NULL && line <= last; line++) {
		if (difference_from_newest(&self->fetches, line) == 0)
			continue;
		is_as_before = false;
		self->fetch_state++;
		if (lode_cache_sets_touch_by_age(self->fetch_sets, line) == NULL)
			return false;
	}
	/* else one of its lines may have made another one of them the last but one of its set */
	if (is_as_before)
		known->fetch_state = self->fetch_state;
	return true;
}

/* Any group, reference by reference: not all of a piece of code was executed, or a fetch misses,
 * and the later levels see data in between. Gives its words. */
static G_GNUC_NO_INLINE size_t replay_group(LodeDirectReplay *self, const uint64_t *words, size_t n,
	uint64_t totals[LODE_N_REFERENCE_KINDS])
{
	LodeReference references[LODE_GROUP_MAX_REFERENCES];
	LodeWordGroup group;
	size_t n_words = lode_word_group_read(self->pieces, words, n, &group);
	size_t n_references = lode_word_group_references(&group, references);

	for (size_t i = 0; i < n_references; i++) {
		LodeFilteredReference place = {
			.address = references[i].address,
			.extent = lode_access_extent(references[i].size),
			.kind = references[i].kind,
		};

		totals[place.kind]++;
		if (place.kind != LODE_REFERENCE_FETCH || self->fetch_sets != NULL)
			look_up(self, &place, NULL);
	}
	self->fetch_state++;
	return n_words;
}

/* Likewise of a word. */
static G_GNUC_NO_INLINE void replay_access(LodeDirectReplay *self, uint64_t word)
{
	LodeFilteredReference place = {
		.address = lode_word_address(word),
		.extent = lode_access_extent(lode_word_size(word)),
		.kind = (uint8_t)lode_word_kind(word),
	};
	uint64_t line = place.address >> self->data.shift, victim;

	if ((place.address + place.extent) >> self->data.shift != line) {
		look_up(self, &place, NULL);
		return;
	}
	bool is_hit = lode_cache_sets_use_by_age(self->data_sets, line, &victim);
	if (place.kind != LODE_REFERENCE_LOAD)
		*lode_cache_sets_at(self->data_sets, line) |= LODE_LINE_DIRTY;
	if (!is_hit)
		lode_line_brought_in(self->machine, self->core, &place, victim);
}

static inline void replay_accesses(LodeDirectReplay *self, const uint64_t *words, size_t n)
{
	const FirstLevel data = self->data;

	for (size_t i = 0; i < n; i++) {
		uint64_t address = lode_word_address(words[i]), line = address >> data.shift;
		uint64_t flags = difference_from_newest(&data, line);
		bool is_load = lode_word_kind(words[i]) == LODE_REFERENCE_LOAD;

		/* without a size it seems to end before the line, which does no harm */
		if (G_UNLIKELY((flags | is_load) != LODE_LINE_DIRTY ||
			       (address + lode_word_size(words[i]) - 1) >> data.shift != line))
			replay_access(self, words[i]);
	}
}

/* A group without code: those that a filter left of some (traces/blocks/word_filter.h). Gives its
 * words. */
static inline size_t replay_bare_accesses(LodeDirectReplay *self, const uint64_t *words, size_t n,
	uint64_t totals[LODE_N_REFERENCE_KINDS])
{
	size_t end = 1;

	while (end < n && end < LODE_GROUP_MAX_WORDS && lode_word_is_access(words[end]))
		end++;
	if (G_UNLIKELY(end < n && lode_word_tag(words[end]) == LODE_WORD_RESTART))
		return end + 1; /* their instruction was begun anew */
	for (size_t i = 0; i < end; i++)
		totals[lode_word_kind(words[i])]++;
	replay_accesses(self, words, end);
	return end;
}

bool lode_direct_replay_takes_words(const LodeDirectReplay *self)
{
	return self->machine->on_miss == NULL;
}

bool lode_direct_replay_filter(const LodeDirectReplay *self, LodeWordFilterGeometry *out)
{
	if (!lode_direct_replay_takes_words(self))
		return false;
	*out = (LodeWordFilterGeometry){
		.has_filter = true,
		.data_shift = self->data.shift,
		/* where fetches go nowhere, all code is in one line */
		.code_shift = self->fetch_sets != NULL ? self->fetches.shift : 63,
		.data_mask = (uint32_t)MIN(self->data.set_mask, UINT32_MAX),
		.code_mask = (uint32_t)MIN(self->fetches.set_mask, UINT32_MAX),
	};
	return true;
}

void lode_direct_replay_words(LodeDirectReplay *self, LodeCodePieces *pieces, const uint64_t *words,
	size_t n, uint64_t totals[LODE_N_REFERENCE_KINDS])
{
	Totals sums = {0};
	size_t n_words;

	if (self->pieces == NULL)
		self->pieces = lode_code_pieces_ref(pieces);
	for (size_t at = 0; at < n; at += n_words) {
		if (lode_word_is_access(words[at])) {
			n_words = replay_bare_accesses(self, words + at, n - at, totals);
			continue;
		}
		if (G_UNLIKELY(lode_word_is_count(words[at]))) {
			totals[lode_word_kind(words[at])] += lode_word_count(words[at]);
			n_words = 1;
			continue;
		}
		KnownPiece *known = known_piece(self, words[at]);

		n_words = known != NULL ? whole_group(known, words + at, n - at) : 0;
		if (n_words == 0 ||
			(known->fetch_state != self->fetch_state && !fetch_piece(self, known))) {
			n_words = replay_group(self, words + at, n - at, totals);
			continue;
		}
		sums += known->totals;
		for (size_t i = known->n_accesses + 1U; i < n_words; i++)
			totals[lode_word_kind(words[at + i])]++;
		replay_accesses(self, words + at + 1, n_words - 1);
	}
	for (unsigned kind = 0; kind < LODE_N_REFERENCE_KINDS; kind++)
		totals[kind] += sums[kind];
}
