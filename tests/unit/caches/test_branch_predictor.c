/* SPDX-License-Identifier: MIT */
/* Branch predictors: sequences of which it is known how often they are guessed wrong, and random
 * programs against predictors that are written once more, slowly, from the definition. */
#include "caches/branch_predictor.h"
#include "seeds.h"

#include <string.h>

enum {
	WARM_UP = 20000,
	MEASURED = 20000,
	LONGEST = 128,
	N_TABLES = 6,
	N_TARGET_TABLES = 4,
	TAG_MASK = 2047,
};

/* ---- naive ---- */

typedef struct {
	bool is_there;
	unsigned tag;
	int counter; /* or the confidence */
	int use;
	uint64_t target;
} NaiveEntry;

typedef struct {
	bool history[LONGEST]; /* the last one first */
	uint64_t random;
	uint64_t n_conditional;
	int alternative;
	int base[8192];
	NaiveEntry tables[N_TABLES][1024];
	uint64_t last_targets[512];
	NaiveEntry target_tables[N_TARGET_TABLES][256];
	/* callgrind's */
	int counters[128][128];
	uint64_t callgrind_targets[512];
} Naive;

static Naive *naive_new(void)
{
	Naive *self = g_new0(Naive, 1);

	for (int i = 0; i < 8192; i++)
		self->base[i] = 1;
	self->random = UINT64_C(0x9e3779b97f4a7c15);
	return self;
}

static void naive_remember(Naive *self, bool bit)
{
	memmove(self->history + 1, self->history, LONGEST - 1);
	self->history[0] = bit;
}

static uint64_t naive_hash(const Naive *self, uint64_t address, unsigned length)
{
	uint64_t recent = 0, old = 0;

	for (unsigned i = 0; i < length; i++) {
		if (i < 64)
			recent |= (uint64_t)self->history[i] << i;
		else
			old |= (uint64_t)self->history[i] << (i - 64);
	}
	uint64_t hash = recent * UINT64_C(0x9e3779b97f4a7c15) + old * UINT64_C(0xc2b2ae3d27d4eb4f);
	hash = (hash ^ hash >> 29) + (address + length) * UINT64_C(0xbf58476d1ce4e5b9);
	return (hash ^ hash >> 32) * UINT64_C(0x94d049bb133111eb);
}

static unsigned naive_tag(uint64_t hash)
{
	return (unsigned)(hash / (UINT64_C(1) << 40)) & TAG_MASK;
}

static int step(int counter, bool is_up, int least, int most)
{
	return CLAMP(counter + (is_up ? 1 : -1), least, most);
}

static bool naive_chance(Naive *self)
{
	self->random ^= self->random << 13;
	self->random ^= self->random >> 7;
	self->random ^= self->random << 17;
	return self->random % 4 == 0;
}

/* The entry to be taken among those after the provider; −1: none, and they were made less useful.
 */
static int naive_allocate(Naive *self, NaiveEntry **entries, int provider, int n)
{
	int free_ones[N_TABLES], n_free = 0;

	for (int i = provider + 1; i < n; i++)
		if (entries[i]->use == 0)
			free_ones[n_free++] = i;
	for (int i = provider + 1; n_free == 0 && i < n; i++)
		entries[i]->use--;
	if (n_free == 0)
		return -1;
	return naive_chance(self) && n_free > 1 ? free_ones[1] : free_ones[0];
}

static void naive_halve(Naive *self)
{
	if (++self->n_conditional % 262144 != 0)
		return;
	for (int i = 0; i < N_TABLES; i++)
		for (int j = 0; j < 1024; j++)
			self->tables[i][j].use /= 2;
	for (int i = 0; i < N_TARGET_TABLES; i++)
		for (int j = 0; j < 256; j++)
			self->target_tables[i][j].use /= 2;
}

static bool naive_conditional(Naive *self, uint64_t address, bool is_taken)
{
	static const unsigned lengths[N_TABLES] = {4, 8, 16, 32, 64, 128};
	NaiveEntry *entries[N_TABLES];
	unsigned tags[N_TABLES];
	int matching[N_TABLES + 1] = {-1}, n = 0; /* the longest first */

	for (int i = N_TABLES - 1; i >= 0; i--) {
		uint64_t hash = naive_hash(self, address, lengths[i]);
		entries[i] = &self->tables[i][hash >> 54];
		tags[i] = naive_tag(hash);
		if (entries[i]->is_there && entries[i]->tag == tags[i])
			matching[n++] = i;
	}
	int provider = n > 0 ? matching[0] : -1;
	int *base = &self->base[address % 8192];
	bool alternative = n > 1 ? entries[matching[1]]->counter >= 0 : *base >= 2;
	bool prediction = alternative;
	if (n > 0) {
		NaiveEntry *entry = entries[provider];
		bool own = entry->counter >= 0;
		bool is_new = entry->use == 0 && entry->counter >= -1 && entry->counter <= 0;
		prediction = is_new && self->alternative >= 0 ? alternative : own;
		if (is_new && own != alternative)
			self->alternative = step(self->alternative, alternative == is_taken, -8, 7);
		if (own != alternative)
			entry->use = step(entry->use, own == is_taken, 0, 3);
		entry->counter = step(entry->counter, is_taken, -4, 3);
	} else {
		*base = step(*base, is_taken, 0, 3);
	}
	int taken = prediction != is_taken ? naive_allocate(self, entries, provider, N_TABLES) : -1;
	if (taken >= 0)
		*entries[taken] = (NaiveEntry){
			.is_there = true, .tag = tags[taken], .counter = is_taken ? 0 : -1};
	naive_remember(self, is_taken);
	naive_halve(self);
	return prediction != is_taken;
}

static bool naive_indirect(Naive *self, uint64_t address, uint64_t target)
{
	static const unsigned lengths[N_TARGET_TABLES] = {4, 12, 32, 80};
	NaiveEntry *entries[N_TARGET_TABLES];
	unsigned tags[N_TARGET_TABLES];
	int matching[N_TARGET_TABLES + 1] = {-1}, n = 0;
	bool low = false, high = false;

	for (int i = N_TARGET_TABLES - 1; i >= 0; i--) {
		uint64_t hash = naive_hash(self, address, lengths[i]);
		entries[i] = &self->target_tables[i][hash >> 56];
		tags[i] = naive_tag(hash);
		if (entries[i]->is_there && entries[i]->tag == tags[i])
			matching[n++] = i;
	}
	int provider = n > 0 ? matching[0] : -1;
	uint64_t alternative = n > 1 ? entries[matching[1]]->target
	                             : self->last_targets[address % 512];
	uint64_t prediction = alternative;
	if (n > 0) {
		NaiveEntry *entry = entries[provider];
		bool is_right = entry->target == target;
		if (entry->counter > 0)
			prediction = entry->target;
		if (entry->target != alternative)
			entry->use = is_right ? 1 : 0;
		if (entry->counter == 0 && !is_right)
			entry->target = target;
		else
			entry->counter = step(entry->counter, is_right, 0, 3);
	}
	self->last_targets[address % 512] = target;
	int taken = prediction != target ? naive_allocate(self, entries, provider, N_TARGET_TABLES)
	                                 : -1;
	if (taken >= 0)
		*entries[taken] = (NaiveEntry){
			.is_there = true, .tag = tags[taken], .target = target};
	for (int i = 0; i < 64; i += 2) {
		low ^= (target >> i & 1) != 0;
		high ^= (target >> (i + 1) & 1) != 0;
	}
	naive_remember(self, high);
	naive_remember(self, low);
	return prediction != target;
}

static bool naive_callgrind_conditional(Naive *self, uint64_t address, bool is_taken)
{
	unsigned outcomes = 0;

	for (int i = 6; i >= 0; i--)
		outcomes = outcomes * 2 + self->history[i];
	int *counter = &self->counters[outcomes][address % 128];
	bool is_wrong = (*counter > 1) != is_taken;
	*counter = step(*counter, is_taken, 0, 3);
	naive_remember(self, is_taken);
	return is_wrong;
}

static bool naive_callgrind_indirect(Naive *self, uint64_t address, uint64_t target)
{
	bool is_wrong = self->callgrind_targets[address % 512] != target;

	self->callgrind_targets[address % 512] = target;
	return is_wrong;
}

/* ---- against it ---- */

/* Branches of which some have a period, some depend on the one before, some on nothing. */
static void compare(LodeBranchModel model, unsigned n)
{
	bool is_tage = model == LODE_BRANCHES_TAGE;
	g_autofree Naive *naive = naive_new();
	LodeBranchPredictor *predictor = lode_branch_predictor_new(model);
	uint64_t addresses[32], periods[32];
	bool last = false;

	for (int i = 0; i < 32; i++) {
		addresses[i] = (uint64_t)random_int_range(0, 1 << 14) * 3;
		periods[i] = (uint64_t)random_int_range(1, 12);
	}
	for (unsigned i = 0; i < n; i++) {
		int at = random_int_range(0, 32) & random_int_range(0, 32);
		if (periods[at] > 8) {
			uint64_t target = addresses[random_int_range(0, 3)] + (uint64_t)last;
			g_assert_cmpint(
				lode_branch_predictor_indirect(predictor, addresses[at], target),
				==,
				is_tage ? naive_indirect(naive, addresses[at], target)
					: naive_callgrind_indirect(naive, addresses[at], target));
			continue;
		}
		bool is_taken = periods[at] == 1   ? random_bit()
		                : periods[at] == 2 ? !last
		                                   : i % periods[at] == 0;
		g_assert_cmpint(
			lode_branch_predictor_conditional(predictor, addresses[at], is_taken), ==,
			is_tage ? naive_conditional(naive, addresses[at], is_taken)
				: naive_callgrind_conditional(naive, addresses[at], is_taken));
		last = is_taken;
	}
	lode_branch_predictor_free(predictor);
}

static void test_as_defined(void)
{
	compare(LODE_BRANCHES_CALLGRIND, 20000);
	/* Beyond the first halving of usefulness. */
	compare(LODE_BRANCHES_TAGE, random_rounds(500000, 2000000));
}

/* ---- sequences ---- */

typedef bool (*OutcomeFunc)(unsigned i, bool last);

static bool alternates(unsigned i, bool last)
{
	(void)last;
	return i % 2 == 0;
}

static bool loops_seven_times(unsigned i, bool last)
{
	(void)last;
	return i % 7 != 6;
}

static bool loops_forty_times(unsigned i, bool last)
{
	(void)last;
	return i % 40 != 39;
}

static bool is_chance(unsigned i, bool last)
{
	(void)i;
	(void)last;
	return random_bit();
}

/* Of 1,000 measured outcomes of one branch, how many were guessed wrong. */
static unsigned wrong_of_1000(LodeBranchModel model, OutcomeFunc outcome)
{
	LodeBranchPredictor *predictor = lode_branch_predictor_new(model);
	unsigned n_wrong = 0;
	bool last = false;

	for (unsigned i = 0; i < WARM_UP + MEASURED; i++) {
		last = outcome(i, last);
		bool is_wrong = lode_branch_predictor_conditional(predictor, 0x401136, last);
		n_wrong += is_wrong && i >= WARM_UP;
	}
	lode_branch_predictor_free(predictor);
	return n_wrong * 1000 / MEASURED;
}

static void test_known_sequences(void)
{
	for (int model = 0; model < LODE_N_BRANCH_MODELS; model++) {
		g_assert_cmpuint(wrong_of_1000((LodeBranchModel)model, alternates), ==, 0);
		g_assert_cmpuint(wrong_of_1000((LodeBranchModel)model, loops_seven_times), ==, 0);
		g_assert_cmpuint(wrong_of_1000((LodeBranchModel)model, is_chance), >=, 470);
		g_assert_cmpuint(wrong_of_1000((LodeBranchModel)model, is_chance), <=, 530);
	}
	/* 7 outcomes of history do not reach back to the end of the loop before: 1 in 40. */
	g_assert_cmpuint(wrong_of_1000(LODE_BRANCHES_CALLGRIND, loops_forty_times), ==, 25);
	g_assert_cmpuint(wrong_of_1000(LODE_BRANCHES_TAGE, loops_forty_times), ==, 0);
}

/* The second does what the first did, which is chance. */
static void test_correlated(void)
{
	for (int model = 0; model < LODE_N_BRANCH_MODELS; model++) {
		LodeBranchPredictor *predictor = lode_branch_predictor_new((LodeBranchModel)model);
		unsigned n_first = 0, n_second = 0;
		for (unsigned i = 0; i < WARM_UP + MEASURED; i++) {
			bool is_taken = random_bit();
			bool first = lode_branch_predictor_conditional(
				predictor, 0x401000, is_taken);
			bool second = lode_branch_predictor_conditional(
				predictor, 0x401010, is_taken);
			n_first += first && i >= WARM_UP;
			n_second += second && i >= WARM_UP;
		}
		g_assert_cmpuint(n_first * 100 / MEASURED, >=, 47);
		g_assert_cmpuint(n_first * 100 / MEASURED, <=, 53);
		g_assert_cmpuint(n_second * 100 / MEASURED, <=, 5);
		lode_branch_predictor_free(predictor);
	}
}

/* An interpreter's dispatch: the last target says nothing, the last ones everything. */
static void test_dispatch(void)
{
	static const uint64_t targets[] = {0x401000, 0x401043, 0x4010a1, 0x401043, 0x401107};
	static const unsigned expected[] = {1000, 0};

	for (int model = 0; model < LODE_N_BRANCH_MODELS; model++) {
		LodeBranchPredictor *predictor = lode_branch_predictor_new((LodeBranchModel)model);
		unsigned n_wrong = 0;
		for (unsigned i = 0; i < WARM_UP + MEASURED; i++) {
			bool is_wrong = lode_branch_predictor_indirect(
				predictor, 0x400800, targets[i % G_N_ELEMENTS(targets)]);
			n_wrong += is_wrong && i >= WARM_UP;
		}
		g_assert_cmpuint(n_wrong * 1000 / MEASURED, ==, expected[model]);
		lode_branch_predictor_free(predictor);
	}
}

static void test_names(void)
{
	for (int model = 0; model < LODE_N_BRANCH_MODELS; model++)
		g_assert_cmpint(lode_branch_model_from_text(
					lode_branch_model_to_text((LodeBranchModel)model)),
			==, model);
	g_assert_cmpint(lode_branch_model_from_text("oracle"), ==, -1);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/branch_predictor/as_defined", test_as_defined,
		"R02S5b1d3c4e2f60718293a4b5c6d7e8f901", "R02S000102030405060708090a0b0c0d0e0f",
		NULL);
	g_test_add_func("/branch_predictor/known_sequences", test_known_sequences);
	g_test_add_func("/branch_predictor/correlated", test_correlated);
	g_test_add_func("/branch_predictor/dispatch", test_dispatch);
	g_test_add_func("/branch_predictor/names", test_names);
	return g_test_run();
}
