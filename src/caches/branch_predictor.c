/* SPDX-License-Identifier: MIT */
/* Branch predictors, as branch_predictor.h defines them. */
#include "caches/branch_predictor.h"

#include "base/bits.h"
#include "base/text/words.h"

#include <stdlib.h>
#include <string.h>

enum {
	TARGETS = 512,
	BASE_COUNTERS = 8192,
	TABLES = 6,
	ENTRY_BITS = 10,
	TARGET_TABLES = 4,
	TARGET_ENTRY_BITS = 8,
	TAG_BITS = 11,
	TAG_SHIFT = 40,
	AGING_BRANCHES = 1 << 18,
	NO_TABLE = -1,
};

typedef struct {
	uint16_t tag; /* + 1; 0: nothing is here yet */
	int8_t counter;
	uint8_t use;
} Entry;

typedef struct {
	uint64_t target;
	uint16_t tag; /* likewise */
	uint8_t confidence, use;
} TargetEntry;

typedef struct {
	uint64_t recent, old; /* the history; bit 0 of `recent` is the last */
	uint64_t random;
	uint32_t n_until_aging;
	int8_t alternative; /* whether it is better than a new entry */
	uint8_t base[BASE_COUNTERS];
	Entry tables[TABLES][1 << ENTRY_BITS];
	uint64_t last_targets[TARGETS];
	TargetEntry target_tables[TARGET_TABLES][1 << TARGET_ENTRY_BITS];
} Tage;

struct LodeBranchPredictor {
	LodeBranchModel model;
	union {
		LodeCallgrindPredictor callgrind;
		Tage tage;
	};
};

static const char *const names[LODE_N_BRANCH_MODELS] = {"callgrind", "tage"};

LodeBranchPredictor *lode_branch_predictor_new(LodeBranchModel model)
{
	LodeBranchPredictor *self = calloc(1, sizeof(*self));

	if (self == NULL)
		return NULL;
	self->model = model;
	if (model == LODE_BRANCHES_TAGE) {
		memset(self->tage.base, 1, sizeof(self->tage.base));
		self->tage.random = UINT64_C(0x9e3779b97f4a7c15);
		self->tage.n_until_aging = AGING_BRANCHES;
	}
	return self;
}

void lode_branch_predictor_free(LodeBranchPredictor *self)
{
	free(self);
}

LodeCallgrindPredictor *lode_branch_predictor_callgrind(LodeBranchPredictor *self)
{
	return self->model == LODE_BRANCHES_CALLGRIND ? &self->callgrind : NULL;
}

static uint8_t count_up_to_3(uint8_t counter, bool is_up)
{
	if (is_up)
		return (uint8_t)(counter + (counter < 3));
	return (uint8_t)(counter - (counter > 0));
}

static int8_t count_within(int8_t counter, bool is_up, int8_t most)
{
	if (is_up)
		return (int8_t)(counter + (counter < most));
	return (int8_t)(counter - (counter > -most - 1));
}

/* ---- TAGE ---- */

static const uint8_t lengths[TABLES] = {4, 8, 16, 32, 64, 128};
static const uint8_t target_lengths[TARGET_TABLES] = {4, 12, 32, 80};

/* A hash of the address and the last bits of the history. */
static uint64_t hash_of(const Tage *self, uint64_t address, unsigned n_bits)
{
	uint64_t hash = (self->recent & lode_low_bits(n_bits)) * UINT64_C(0x9e3779b97f4a7c15);

	if (n_bits > 64)
		hash += (self->old & lode_low_bits(n_bits - 64)) * UINT64_C(0xc2b2ae3d27d4eb4f);
	hash = (hash ^ hash >> 29) + (address + n_bits) * UINT64_C(0xbf58476d1ce4e5b9);
	return (hash ^ hash >> 32) * UINT64_C(0x94d049bb133111eb);
}

static uint32_t index_of(uint64_t hash, unsigned n_bits)
{
	return (uint32_t)(hash >> (64 - n_bits));
}

static uint16_t tag_of(uint64_t hash)
{
	return (uint16_t)((hash >> TAG_SHIFT & lode_low_bits(TAG_BITS)) + 1);
}

static void remember(Tage *self, uint64_t bits, unsigned n)
{
	self->old = self->old << n | self->recent >> (64 - n);
	self->recent = self->recent << n | bits;
}

/* Whether one that could be taken is passed by. */
static bool is_passed(Tage *self)
{
	self->random ^= self->random << 13;
	self->random ^= self->random >> 7;
	self->random ^= self->random << 17;
	return (self->random & 3) == 0;
}

static void age(Tage *self)
{
	if (--self->n_until_aging > 0)
		return;
	self->n_until_aging = AGING_BRANCHES;
	for (int i = 0; i < TABLES; i++)
		for (int j = 0; j < 1 << ENTRY_BITS; j++)
			self->tables[i][j].use >>= 1;
	for (int i = 0; i < TARGET_TABLES; i++)
		for (int j = 0; j < 1 << TARGET_ENTRY_BITS; j++)
			self->target_tables[i][j].use >>= 1;
}

/* The free ones among those of longer histories, the last of them where the others are passed by.
 */
static Entry *choose_entry(Tage *self, Entry **entries, int provider, int *out_table)
{
	Entry *chosen = NULL;

	for (int i = provider + 1; i < TABLES; i++) {
		if (entries[i]->use > 0)
			continue;
		*out_table = i;
		if (chosen != NULL)
			return entries[i];
		chosen = entries[i];
		if (!is_passed(self))
			return chosen;
	}
	return chosen;
}

static void allocate(
	Tage *self, Entry **entries, const uint64_t *hashes, int provider, bool is_taken)
{
	int table = 0;
	Entry *chosen = choose_entry(self, entries, provider, &table);

	for (int i = provider + 1; chosen == NULL && i < TABLES; i++)
		entries[i]->use--;
	if (chosen != NULL)
		*chosen = (Entry){
			.tag = tag_of(hashes[table]), .counter = (int8_t)(is_taken ? 0 : -1)};
}

static bool predict_tage(Tage *self, uint64_t address, bool is_taken)
{
	uint64_t hashes[TABLES];
	Entry *entries[TABLES];
	int provider = NO_TABLE, second = NO_TABLE;
	uint8_t *base = &self->base[address % BASE_COUNTERS];

	for (int i = 0; i < TABLES; i++) {
		hashes[i] = hash_of(self, address, lengths[i]);
		entries[i] = &self->tables[i][index_of(hashes[i], ENTRY_BITS)];
		if (entries[i]->tag != tag_of(hashes[i]))
			continue;
		second = provider;
		provider = i;
	}
	bool alternative = second >= 0 ? entries[second]->counter >= 0 : *base >= 2;
	bool prediction = alternative;
	if (provider >= 0) {
		Entry *entry = entries[provider];
		bool own = entry->counter >= 0;
		bool is_new = entry->use == 0 && (entry->counter == 0 || entry->counter == -1);

		if (!is_new || self->alternative < 0)
			prediction = own;
		if (own != alternative) {
			if (is_new)
				self->alternative = count_within(
					self->alternative, alternative == is_taken, 7);
			entry->use = count_up_to_3(entry->use, own == is_taken);
		}
		entry->counter = count_within(entry->counter, is_taken, 3);
	} else {
		*base = count_up_to_3(*base, is_taken);
	}
	if (prediction != is_taken)
		allocate(self, entries, hashes, provider, is_taken);
	remember(self, is_taken, 1);
	age(self);
	return prediction != is_taken;
}

/* ---- ITTAGE ---- */

static uint64_t two_bits_of(uint64_t target)
{
	target ^= target >> 32;
	target ^= target >> 16;
	target ^= target >> 8;
	target ^= target >> 4;
	return (target ^ target >> 2) & 3;
}

static void allocate_target(
	Tage *self, TargetEntry **entries, const uint64_t *hashes, int provider, uint64_t target)
{
	TargetEntry *chosen = NULL;
	int table = 0;

	for (int i = provider + 1; i < TARGET_TABLES; i++) {
		if (entries[i]->use > 0)
			continue;
		bool is_last = chosen != NULL;
		chosen = entries[i];
		table = i;
		if (is_last || !is_passed(self))
			break;
	}
	for (int i = provider + 1; chosen == NULL && i < TARGET_TABLES; i++)
		entries[i]->use--;
	if (chosen != NULL)
		*chosen = (TargetEntry){.target = target, .tag = tag_of(hashes[table])};
}

static bool predict_target(Tage *self, uint64_t address, uint64_t target)
{
	uint64_t hashes[TARGET_TABLES];
	TargetEntry *entries[TARGET_TABLES];
	int provider = NO_TABLE, second = NO_TABLE;
	uint64_t *base = &self->last_targets[address % TARGETS];

	for (int i = 0; i < TARGET_TABLES; i++) {
		hashes[i] = hash_of(self, address, target_lengths[i]);
		entries[i] = &self->target_tables[i][index_of(hashes[i], TARGET_ENTRY_BITS)];
		if (entries[i]->tag != tag_of(hashes[i]))
			continue;
		second = provider;
		provider = i;
	}
	uint64_t alternative = second >= 0 ? entries[second]->target : *base;
	uint64_t prediction = alternative;
	if (provider >= 0) {
		TargetEntry *entry = entries[provider];
		bool is_right = entry->target == target;

		if (entry->confidence > 0)
			prediction = entry->target;
		if (entry->target != alternative)
			entry->use = is_right;
		if (!is_right && entry->confidence == 0)
			entry->target = target;
		else
			entry->confidence = count_up_to_3(entry->confidence, is_right);
	}
	*base = target;
	if (prediction != target)
		allocate_target(self, entries, hashes, provider, target);
	remember(self, two_bits_of(target), 2);
	return prediction != target;
}

/* ---- either ---- */

bool lode_branch_predictor_conditional(LodeBranchPredictor *self, uint64_t address, bool is_taken)
{
	if (self->model == LODE_BRANCHES_TAGE)
		return predict_tage(&self->tage, address, is_taken);
	return lode_callgrind_predictor_conditional(&self->callgrind, address, is_taken);
}

bool lode_branch_predictor_indirect(LodeBranchPredictor *self, uint64_t address, uint64_t target)
{
	if (self->model == LODE_BRANCHES_TAGE)
		return predict_target(&self->tage, address, target);
	return lode_callgrind_predictor_indirect(&self->callgrind, address, target);
}

int lode_branch_model_from_text(const char *text)
{
	return lode_word_find(names, LODE_N_BRANCH_MODELS, text);
}

const char *lode_branch_model_to_text(LodeBranchModel model)
{
	return names[model];
}
