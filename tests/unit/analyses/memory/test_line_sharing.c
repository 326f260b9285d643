/* SPDX-License-Identifier: MIT */
/* Shared lines against a naive search that compares all pairs of samples, on random accesses. */
#include "analyses/memory/objects/line_sharing.h"

#include "model/memory.h"
#include "model/profile.h"
#include "sample_profile.h"
#include "seeds.h"

#include <gio/gio.h>
#include <math.h>

enum { N_THREADS = 5, MAX_SAMPLES = 60, LINE_BYTES = 64, N_LINES = 4 };

static LodeProfile *new_profile(void)
{
	LodeProfile *profile = lode_profile_new();

	lode_profile_add_event(profile, "cpu-clock", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	profile->memory = lode_memory_new();
	for (uint32_t i = 0; i < N_THREADS; i++) {
		/* two processes */
		LodeThread thread = {.pid = i < 3 ? 10 : 20, .tid = 10 + i, .ordinal = i};
		g_array_append_val(profile->memory->threads, thread);
	}
	return profile;
}

static void add(LodeProfile *profile, uint32_t thread, uint64_t address, uint32_t size,
	uint8_t access, uint64_t time_ns)
{
	LodeMemorySample sample = {
		.weight = 1,
		.time_ns = time_ns,
		.pc = 0x1000 + 4u * access,
		.access_pc = 0x1000 + 4u * access,
		.address = address,
		.thread = thread,
		.instruction = LODE_NONE,
		.access_instruction = LODE_NONE,
		.access_function = LODE_NONE,
		.access_location = LODE_NONE,
		.object = LODE_NONE,
		.mapping = LODE_NONE,
		.allocation = LODE_NONE,
		.cpu = thread % 2,
		.node = UINT32_MAX,
		.size = size,
		.rule = LODE_RULE_AT_PC,
		.access = access,
	};
	g_array_append_val(profile->memory->samples, sample);
}

static LodeLineSharing *find(const LodeProfile *profile)
{
	g_autofree uint32_t *numbers = g_new(uint32_t, profile->memory->samples->len + 1);

	for (guint i = 0; i < profile->memory->samples->len; i++)
		numbers[i] = i;
	const LodeLineSharingOptions options = {.line_bytes = LINE_BYTES};
	return lode_line_sharing_new(profile, numbers, profile->memory->samples->len, &options);
}

static const LodeSharedLine *line_at(const LodeLineSharing *sharing, guint i)
{
	return &LODE_AT(sharing->lines, LodeSharedLine, i);
}

enum { LOAD = LODE_ACCESS_LOAD, STORE = LODE_ACCESS_STORE };

static void test_false(void)
{
	g_autoptr(LodeProfile) profile = new_profile();

	for (uint64_t i = 0; i < 10; i++) {
		add(profile, 0, 0x1000, 8, STORE, 10 * i);
		add(profile, 1, 0x1008, 8, STORE, 10 * i + 5);
	}
	g_autoptr(LodeLineSharing) sharing = find(profile);
	g_assert_cmpuint(sharing->lines->len, ==, 1);
	const LodeSharedLine *line = line_at(sharing, 0);
	g_assert_cmphex(line->address, ==, 0x1000);
	g_assert_cmpuint(line->kind, ==, LODE_SHARING_FALSE);
	g_assert_cmpuint(line->n_threads, ==, 2);
	g_assert_cmpuint(line->n_storing, ==, 2);
	g_assert_cmpuint(line->n_cpus, ==, 2);
	g_assert_cmpuint(line->n_accesses, ==, 2);
	g_assert_cmpfloat(line->false_weight, ==, 20);
	/* each sample after one of the other; at random, half of them and a bit more */
	g_assert_cmpuint(line->turns, ==, 19);
	g_assert_cmpfloat(fabs(line->expected_turns - 10), <, 1e-9);
	g_assert_cmpfloat(line->true_weight, ==, 0);
	/* all samples are in it, so that none is there by chance */
	g_assert_cmpfloat(line->weight_error, ==, 0);
}

/* A window is of one thread while others go on: it does not tell of sharing. */
static void test_windows(void)
{
	static const uint32_t numbers[] = {0, 1, 2, 3};
	g_autoptr(LodeProfile) profile = new_profile();
	uint32_t event = lode_profile_add_event(
		profile, LODE_WINDOW_ACCESSES, NULL, LODE_EVENT_SAMPLED, NULL, 0);

	for (unsigned i = 0; i < 4; i++) {
		add(profile, i % 2, 0x1000 + 8 * i, 8, STORE, 10 * i);
		if (i >= 2)
			LODE_AT(profile->memory->samples, LodeMemorySample, i).event = event;
	}
	g_autoptr(GArray) chosen = lode_line_sharing_choose(profile, numbers, 4);
	g_assert_cmpuint(chosen->len, ==, 2);
	g_assert_cmpuint(g_array_index(chosen, uint32_t, 1), ==, 1);
}

/* Half of all samples: as when a coin is thrown as often. */
static void test_error(void)
{
	g_autoptr(LodeProfile) profile = new_profile();

	for (uint64_t i = 0; i < 100; i++) {
		add(profile, (uint32_t)i % 2, 0x1000, 8, STORE, i);
		add(profile, 0, 0x2000, 8, STORE, i);
	}
	g_autoptr(LodeLineSharing) sharing = find(profile);
	g_assert_cmpuint(sharing->lines->len, ==, 1);
	g_assert_cmpfloat(fabs(line_at(sharing, 0)->weight_error - sqrt(200 * 0.25)), <, 1e-9);
	g_assert_cmpfloat(fabs(sharing->shared_error - sqrt(200 * 0.25)), <, 1e-9);
}

static void add_store(LodeProfile *profile, uint32_t sample, uint32_t thread, uint64_t address,
	uint32_t size, uint64_t n)
{
	LodeLineStore store = {.sample = sample,
		.thread = thread,
		.function = LODE_NONE,
		.location = LODE_NONE,
		.pc = 0x1000,
		.address = address,
		.size = size,
		.n = n};
	g_array_append_val(profile->memory->line_stores, store);
}

/* Of an access of two samples, equal stores are one, and that of most misses is first. */
static void test_stores(void)
{
	g_autoptr(LodeProfile) profile = new_profile();

	for (uint64_t i = 0; i < 2; i++) {
		add(profile, 0, 0x1000, 8, STORE, 10 * i);
		add(profile, 1, 0x1008, 8, STORE, 10 * i + 5);
	}
	add_store(profile, 0, 1, 0x1000, 4, 5);
	add_store(profile, 0, 1, 0x1008, 8, 3);
	add_store(profile, 2, 1, 0x1008, 8, 4);
	add_store(profile, 2, 2, 0xff8, 8, 1);
	add_store(profile, 3, 0, 0x1000, 8, 2);
	g_autoptr(LodeLineSharing) sharing = find(profile);
	g_assert_cmpuint(sharing->stores->len, ==, 4);
	const LodeSharedLine *line = line_at(sharing, 0);
	for (uint32_t i = 0; i < line->n_accesses; i++) {
		const LodeSharingAccess *access = &LODE_AT(
			sharing->accesses, LodeSharingAccess, line->first_access + i);
		const LodeSharingStore *stores = &LODE_AT(
			sharing->stores, LodeSharingStore, access->first_store);
		bool is_first = access->thread == 0;
		g_assert_cmpuint(access->n_stores, ==, is_first ? 3 : 1);
		g_assert_cmpuint(stores[0].n_misses, ==, is_first ? 7 : 2);
		g_assert_cmpint(stores[0].offset, ==, is_first ? 8 : 0);
		g_assert_cmpuint(stores[0].size, ==, 8);
		g_assert_cmpuint(stores[0].thread, ==, is_first ? 1 : 0);
		if (!is_first)
			continue;
		g_assert_cmpuint(stores[1].n_misses, ==, 5);
		g_assert_cmpuint(stores[1].size, ==, 4);
		g_assert_cmpuint(stores[2].thread, ==, 2);
		/* a cache with longer lines lost the line to it */
		g_assert_cmpint(stores[2].offset, ==, -8);
	}
}

static void test_true(void)
{
	g_autoptr(LodeProfile) profile = new_profile();

	for (uint64_t i = 0; i < 10; i++) {
		add(profile, 0, 0x1000, 4, LOAD | STORE, 10 * i);
		add(profile, 1, 0x1000, 4, LOAD | STORE, 10 * i + 5);
	}
	g_autoptr(LodeLineSharing) sharing = find(profile);
	g_assert_cmpuint(sharing->lines->len, ==, 1);
	g_assert_cmpuint(line_at(sharing, 0)->kind, ==, LODE_SHARING_TRUE);
	g_assert_cmpfloat(line_at(sharing, 0)->true_weight, ==, 20);
}

/* Counters of two threads, which a third one reads now and then: still false sharing. */
static void test_reader(void)
{
	g_autoptr(LodeProfile) profile = new_profile();

	for (uint64_t i = 0; i < 100; i++) {
		add(profile, 0, 0x1000, 8, STORE, 10 * i);
		add(profile, 1, 0x1008, 8, STORE, 10 * i + 5);
	}
	add(profile, 2, 0x1000, 8, LOAD, 200);
	add(profile, 2, 0x1008, 8, LOAD, 300);
	g_autoptr(LodeLineSharing) sharing = find(profile);
	g_assert_cmpuint(sharing->lines->len, ==, 1);
	g_assert_cmpuint(line_at(sharing, 0)->n_threads, ==, 3);
	g_assert_cmpuint(line_at(sharing, 0)->n_storing, ==, 2);
	g_assert_cmpuint(line_at(sharing, 0)->kind, ==, LODE_SHARING_FALSE);
}

/* Filled by one thread, then used by others; read by all; the same address elsewhere. */
static void test_not_shared(void)
{
	g_autoptr(LodeProfile) profile = new_profile();

	for (uint64_t i = 0; i < 10; i++) {
		add(profile, 0, 0x1000, 8, STORE, i);
		add(profile, 1, 0x1000, 8, LOAD, 100 + i);
		add(profile, 0, 0x2000, 8, LOAD, i);
		add(profile, 1, 0x2000, 8, LOAD, i);
		add(profile, 0, 0x3000, 8, STORE, i);
		add(profile, 3, 0x3000, 8, STORE, i);
	}
	LodeMemorySample *next;
	add(profile, 0, 0x4000, 8, STORE, 5);
	add(profile, 1, 0x4000, 8, STORE, 5);
	next = &LODE_AT(
		profile->memory->samples, LodeMemorySample, profile->memory->samples->len - 1);
	next->rule = LODE_RULE_NONE;
	next->reason = LODE_REASON_CLOBBERED;
	g_autoptr(LodeLineSharing) sharing = find(profile);
	g_assert_cmpuint(sharing->lines->len, ==, 0);
	g_assert_cmpuint(sharing->n_consecutive, ==, 1);
	g_assert_cmpuint(sharing->consecutive.n_samples, ==, 20);
	g_assert_cmpuint(sharing->unresolved.n_samples, ==, 1);
}

/* In turns of ten samples each, at times that overlap all the same; with other samples of the
 * thread whose turn it is not, or with none, as of a task that moves between threads. */
static void test_turns(void)
{
	for (unsigned moves = 0; moves < 2; moves++) {
		g_autoptr(LodeProfile) profile = new_profile();
		for (uint64_t i = 0; i < 40; i++) {
			uint32_t thread = (uint32_t)(i / 10 % 2);
			add(profile, thread, 0x1000, 8, STORE, 1 + 2 * i);
			if (moves == 0)
				add(profile, 1 - thread, 0x2000 + 64 * thread, 8, STORE, 2 + 2 * i);
		}
		g_autoptr(LodeLineSharing) sharing = find(profile);
		g_assert_cmpuint(sharing->lines->len, ==, 1);
		g_assert_cmpuint(line_at(sharing, 0)->turns, ==, moves == 0 ? 3 : 0);
		g_assert_cmpfloat(fabs(line_at(sharing, 0)->expected_turns - 20), <, 1e-9);
	}
}

/* --- against all pairs --- */

typedef struct {
	double weight, true_weight;
	uint32_t n_threads;
} Naive;

static bool are_of_one_line(const LodeMemorySample *a, const LodeMemorySample *b)
{
	return a->address / LINE_BYTES == b->address / LINE_BYTES &&
	       (a->thread < 3) == (b->thread < 3);
}

static bool conflict(const LodeMemorySample *a, const LodeMemorySample *b)
{
	return a->thread != b->thread && ((a->access | b->access) & STORE) != 0;
}

/* A store of the place that an access is at, as its load and store are one row. */
static void naive_times(const GArray *samples, const LodeMemorySample *of, uint64_t *first,
	uint64_t *last, bool *stores)
{
	*first = UINT64_MAX;
	*last = 0;
	*stores = false;
	for (guint i = 0; i < samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(samples, LodeMemorySample, i);
		if (sample->thread != of->thread || !are_of_one_line(sample, of))
			continue;
		*first = MIN(*first, sample->time_ns);
		*last = MAX(*last, sample->time_ns);
		*stores |= (sample->access & STORE) != 0;
	}
}

static bool naive_shares(const GArray *samples, const LodeMemorySample *of)
{
	uint64_t first, last, other_first, other_last;
	bool stores, other_stores;

	naive_times(samples, of, &first, &last, &stores);
	for (guint i = 0; i < samples->len; i++) {
		const LodeMemorySample *other = &LODE_AT(samples, LodeMemorySample, i);
		if (other->thread == of->thread || !are_of_one_line(other, of))
			continue;
		naive_times(samples, other, &other_first, &other_last, &other_stores);
		if ((stores || other_stores) && other_first <= last && first <= other_last)
			return true;
	}
	return false;
}

static Naive naive_line(const GArray *samples, uint64_t address, uint32_t pid)
{
	uint32_t threads = 0;
	Naive naive = {0};

	for (guint i = 0; i < samples->len; i++) {
		const LodeMemorySample *own = &LODE_AT(samples, LodeMemorySample, i);
		double others = 0, to_same = 0;
		if (own->address / LINE_BYTES != address / LINE_BYTES ||
			(own->thread < 3) != (pid == 10) || !naive_shares(samples, own))
			continue;
		naive.weight += own->weight;
		threads |= 1u << own->thread;
		for (guint j = 0; j < samples->len; j++) {
			const LodeMemorySample *other = &LODE_AT(samples, LodeMemorySample, j);
			if (!are_of_one_line(own, other) || !conflict(own, other) ||
				!naive_shares(samples, other))
				continue;
			others += other->weight;
			if (own->address < other->address + other->size &&
				other->address < own->address + own->size)
				to_same += other->weight;
		}
		naive.true_weight += others > 0 ? own->weight * to_same / others : 0;
	}
	naive.n_threads = (uint32_t)__builtin_popcount(threads);
	return naive;
}

static void test_random(void)
{
	g_autoptr(LodeProfile) profile = new_profile();
	gint32 n = random_int_range(0, MAX_SAMPLES), times = random_int_range(1, 40);
	guint n_found = 0;

	for (gint32 i = 0; i < n; i++) {
		/* Places of 8 bytes, each always accessed in one way: a row is one of them. */
		uint64_t slot = (uint64_t)random_int_range(0, 8 * N_LINES);
		add(profile, (uint32_t)random_int_range(0, N_THREADS), 0x1000 + 8 * slot,
			slot % 3 == 0 ? 4 : 8, (uint8_t)random_int_range(1, 4),
			(uint64_t)random_int_range(0, times));
	}
	g_autoptr(LodeLineSharing) sharing = find(profile);
	for (uint64_t line = 0; line < N_LINES; line++) {
		for (uint32_t pid = 10; pid <= 20; pid += 10) {
			uint64_t address = 0x1000 + LINE_BYTES * line;
			Naive naive = naive_line(profile->memory->samples, address, pid);
			const LodeSharedLine *found = NULL;
			for (guint i = 0; i < sharing->lines->len; i++)
				if (line_at(sharing, i)->address == address &&
					line_at(sharing, i)->pid == pid)
					found = line_at(sharing, i);
			g_assert_true((found != NULL) == (naive.n_threads > 0));
			if (found == NULL)
				continue;
			n_found++;
			g_assert_cmpuint(found->n_threads, ==, naive.n_threads);
			g_assert_cmpfloat(found->totals.weight, ==, naive.weight);
			g_assert_cmpfloat(fabs(found->true_weight - naive.true_weight), <, 1e-9);
		}
	}
	g_assert_cmpuint(n_found, ==, sharing->lines->len);
	for (guint i = 1; i < sharing->lines->len; i++)
		g_assert_cmpfloat(line_at(sharing, i - 1)->totals.weight, >=,
			line_at(sharing, i)->totals.weight);
}

/* Code of std::vector that is inlined is of the line that it is inlined in. */
static void test_own_lines(void)
{
	static const char *const globs[] = {"*/stl_*.h", NULL};
	const uint32_t numbers[] = {0, 1, 2, 3};
	g_autoptr(LodeProfile) profile = sample_profile_new(2, 0x10000);
	LodeLineSharingOptions options = {.line_bytes = LINE_BYTES};
	uint32_t own = sample_profile_inline_vector(profile, 0);

	for (uint32_t i = 0; i < G_N_ELEMENTS(numbers); i++)
		sample_profile_access(profile, i % 2, SAMPLE_ANON + 8 * (i % 2), STORE, 0);
	g_autoptr(LodeLineSharing)
		sharing = lode_line_sharing_new(profile, numbers, G_N_ELEMENTS(numbers), &options);
	options.own = globs;
	g_autoptr(LodeLineSharing)
		inner = lode_line_sharing_new(profile, numbers, G_N_ELEMENTS(numbers), &options);
	g_assert_cmpuint(sharing->accesses->len, ==, 2);
	g_assert_cmpuint(inner->accesses->len, ==, 2);
	for (guint i = 0; i < 2; i++) {
		g_assert_cmpuint(
			LODE_AT(sharing->accesses, LodeSharingAccess, i).location, ==, own);
		g_assert_cmpuint(LODE_AT(inner->accesses, LodeSharingAccess, i).location, ==,
			lode_profile_instruction(profile, 0)->location);
	}
}

static void test_stopped(void)
{
	g_autoptr(LodeProfile) profile = new_profile();
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	const LodeProgress progress = {.cancellable = cancellable};
	const LodeLineSharingOptions options = {.line_bytes = LINE_BYTES, .progress = &progress};
	const uint32_t number = 0;

	add(profile, 0, 0x1000, 8, STORE, 0);
	g_autoptr(LodeLineSharing) sharing = lode_line_sharing_new(profile, &number, 1, &options);
	g_assert_nonnull(sharing);
	g_cancellable_cancel(cancellable);
	g_assert_null(lode_line_sharing_new(profile, &number, 1, &options));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/line-sharing/false", test_false);
	g_test_add_func("/line-sharing/true", test_true);
	g_test_add_func("/line-sharing/windows", test_windows);
	g_test_add_func("/line-sharing/stores", test_stores);
	g_test_add_func("/line-sharing/error", test_error);
	g_test_add_func("/line-sharing/reader", test_reader);
	g_test_add_func("/line-sharing/not-shared", test_not_shared);
	g_test_add_func("/line-sharing/turns", test_turns);
	g_test_add_func("/line-sharing/stopped", test_stopped);
	g_test_add_func("/line-sharing/own-lines", test_own_lines);
	add_random_test("/line-sharing/random", test_random, "R02S00000000000000000000000000000001",
		"R02S00000000000000000000000000000002", "R02S00000000000000000000000000000003",
		"R02S00000000000000000000000000000004", "R02S00000000000000000000000000000005",
		"R02S00000000000000000000000000000006", "R02S00000000000000000000000000000007",
		"R02S00000000000000000000000000000008", NULL);
	return g_test_run();
}
