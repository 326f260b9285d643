/* SPDX-License-Identifier: MIT */
/* Placements of profiles made by hand: known answers, and locality against a naive count. */
#include "analyses/memory/placement/page_matrix.h"
#include "analyses/memory/placement/placement_proposal.h"
#include "base/error.h"
#include "model/memory.h"
#include "sample_profile.h"
#include "seeds.h"

#include <gio/gio.h>
#include <math.h>
#include <string.h>

static LodePlacementProposal *propose(
	const LodeProfile *profile, const LodeTopology *topology, LodePlacementPolicy policy)
{
	LodePlacementProposalOptions options = {.policy = policy, .topology = topology};
	GError *error = NULL;
	LodePlacementProposal *proposal = lode_placement_proposal_new(profile, &options, &error);

	g_assert_no_error(error);
	return proposal;
}

static void access_pages(
	LodeProfile *profile, uint32_t thread, uint32_t first, uint32_t n, int times)
{
	for (int i = 0; i < times; i++)
		for (uint32_t p = first; p < first + n; p++)
			sample_profile_access(profile, thread, SAMPLE_ANON + p * LODE_PAGE_SIZE + 8,
				LODE_ACCESS_LOAD, 0);
}

/* Threads 0 and 2 work on one half, 1 and 3 on the other; thread 0 touched all of it first. */
static LodeProfile *two_halves(void)
{
	LodeProfile *profile = sample_profile_new(4, 32 * LODE_PAGE_SIZE);

	for (uint32_t p = 0; p < 32; p++)
		sample_profile_fault(profile, 0, SAMPLE_ANON + p * LODE_PAGE_SIZE, 1 + p, 0);
	access_pages(profile, 0, 0, 16, 3);
	access_pages(profile, 2, 0, 16, 2);
	access_pages(profile, 1, 16, 16, 3);
	access_pages(profile, 3, 16, 16, 2);
	return profile;
}

static void test_halves(void)
{
	g_autoptr(LodeProfile) profile = two_halves();
	g_autoptr(LodeTopology) topology = lode_topology_new_even(2, 2);
	g_autoptr(LodePlacementProposal)
		proposal = propose(profile, topology, LODE_PLACEMENT_MAJORITY);
	const LodePlacement *placement = proposal->placement;
	const uint32_t expected[] = {0, 1, 0, 1};

	for (uint32_t i = 0; i < 4; i++)
		g_assert_cmpuint(lode_placement_thread_memory(placement, i), ==, expected[i]);
	g_assert_cmpuint(placement->ranges->len, ==, 2);
	const LodePlacedRange *low = &LODE_AT(placement->ranges, LodePlacedRange, 0);
	const LodePlacedRange *high = &LODE_AT(placement->ranges, LodePlacedRange, 1);
	g_assert_cmphex(low->start, ==, SAMPLE_ANON);
	g_assert_cmphex(low->end, ==, SAMPLE_ANON + 16 * LODE_PAGE_SIZE);
	g_assert_cmphex(high->end, ==, SAMPLE_ANON + 32 * LODE_PAGE_SIZE);
	g_assert_cmpuint(low->memory, ==, 0);
	g_assert_cmpuint(high->memory, ==, 1);
	g_assert_cmpstr(low->note, ==, "[anon]");
	g_assert_cmpuint(proposal->matrix->n_first_touches, ==, 32);
	/* before: all on memory 0, and threads 1 and 3 on memory 1 */
	g_assert_cmpfloat(proposal->localities[LODE_PLACEMENT_MAJORITY].local, ==, 160);
	g_assert_cmpfloat(proposal->localities[LODE_PLACEMENT_FIRST_TOUCH].local, ==, 80);
	g_assert_cmpfloat(proposal->localities[LODE_PLACEMENT_ROUND_ROBIN].local, ==, 80);
	g_assert_true(isnan(proposal->localities[LODE_PLACEMENT_MAJORITY].distance));
}

/* Pages that all use alike and much are interleaved; a lone one is not. */
static void test_shared_pages(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(4, 64 * LODE_PAGE_SIZE);
	g_autoptr(LodeTopology) topology = lode_topology_new_even(2, 2);

	for (uint32_t thread = 0; thread < 4; thread++) {
		access_pages(profile, thread, 0, 4, 20);
		access_pages(profile, thread, 40, 1, 20);
		access_pages(profile, thread, 8 + 4 * (thread / 2), 4, 5);
	}
	g_autoptr(LodePlacementProposal)
		proposal = propose(profile, topology, LODE_PLACEMENT_MAJORITY);
	const GArray *ranges = proposal->placement->ranges;
	g_assert_cmpuint(lode_placement_thread_memory(proposal->placement, 1), ==, 0);
	g_assert_cmpuint(lode_placement_thread_memory(proposal->placement, 2), ==, 1);
	g_assert_cmpuint(ranges->len, ==, 4);
	g_assert_cmpint(LODE_AT(ranges, LodePlacedRange, 0).kind, ==, LODE_PLACE_INTERLEAVE);
	g_assert_cmphex(
		LODE_AT(ranges, LodePlacedRange, 0).end, ==, SAMPLE_ANON + 4 * LODE_PAGE_SIZE);
	g_assert_cmpuint(LODE_AT(ranges, LodePlacedRange, 1).memory, ==, 0);
	g_assert_cmpuint(LODE_AT(ranges, LodePlacedRange, 2).memory, ==, 1);
	g_assert_cmpint(LODE_AT(ranges, LodePlacedRange, 3).kind, ==, LODE_PLACE_RANGE);
}

/* Neighbours are one range over pages that no sample saw, but not over the end of a mapping. */
static void test_merging(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(2, 64 * LODE_PAGE_SIZE);
	g_autoptr(LodeTopology) topology = lode_topology_new_even(2, 1);

	access_pages(profile, 0, 3, 1, 5);
	access_pages(profile, 0, 30, 1, 5);
	access_pages(profile, 1, 40, 1, 5);
	sample_profile_access(profile, 1, SAMPLE_STACKS + SAMPLE_STACK_SIZE, LODE_ACCESS_STORE, 1);
	g_autoptr(LodePlacementProposal)
		proposal = propose(profile, topology, LODE_PLACEMENT_MAJORITY);
	const GArray *ranges = proposal->placement->ranges;
	g_assert_cmpuint(ranges->len, ==, 3);
	g_assert_cmphex(
		LODE_AT(ranges, LodePlacedRange, 0).start, ==, SAMPLE_ANON + 3 * LODE_PAGE_SIZE);
	g_assert_cmphex(
		LODE_AT(ranges, LodePlacedRange, 0).end, ==, SAMPLE_ANON + 31 * LODE_PAGE_SIZE);
}

/* The pages' distances decide, not only who uses most: the middle of three is nearest to both. */
static void test_distances(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(3, 8 * LODE_PAGE_SIZE);
	g_autoptr(LodeTopology) topology = lode_topology_new_even(3, 1);
	const double line[9] = {1, 2, 4, 2, 1, 2, 4, 2, 1};

	topology->distances = g_memdup2(line, sizeof(line));
	/* On page 0 both outer threads work; the chain 0 ─ 1 ─ 2 orders the threads. */
	access_pages(profile, 0, 0, 1, 10);
	access_pages(profile, 2, 0, 1, 10);
	access_pages(profile, 1, 1, 1, 50);
	access_pages(profile, 0, 1, 1, 40);
	access_pages(profile, 1, 2, 1, 50);
	access_pages(profile, 2, 2, 1, 40);
	g_autoptr(LodePlacementProposal)
		proposal = propose(profile, topology, LODE_PLACEMENT_MAJORITY);
	const LodePlacement *placement = proposal->placement;
	g_assert_cmpuint(lode_placement_thread_memory(placement, 1), ==, 1);
	/* Pages 0, 1 and 2 are one range on the middle memory; 10·2 + 10·2 + 50·1 + 40·2 … */
	g_assert_cmpuint(placement->ranges->len, ==, 1);
	g_assert_cmpuint(LODE_AT(placement->ranges, LodePlacedRange, 0).memory, ==, 1);
	g_assert_cmpfloat_with_epsilon(proposal->localities[LODE_PLACEMENT_MAJORITY].distance,
		(20 * 2 + 100 * 1 + 80 * 2) / 200.0, 1e-9);
}

/* What lode preloads into the recorded program is not there in the next run. */
static void test_own_memory(void)
{
	g_autoptr(LodeProfile) profile = two_halves();
	g_autoptr(LodeTopology) topology = lode_topology_new_even(2, 2);
	g_autoptr(LodePlacementProposal)
		without = propose(profile, topology, LODE_PLACEMENT_MAJORITY);

	sample_profile_fault(profile, 1, UINT64_C(0x200000001000), 99, 0);
	sample_profile_access(profile, 1, UINT64_C(0x200000001008), LODE_ACCESS_STORE, 0);
	sample_profile_access(profile, 0, UINT64_C(0x7f5000000000), LODE_ACCESS_STORE, 0)->mapping =
		profile->memory->mappings->len;
	LodeMemoryMapping library = {
		.name = lode_profile_intern(profile, "/usr/lib/lode/liblode-allocations.so")};
	g_array_append_val(profile->memory->mappings, library);
	g_autoptr(LodePlacementProposal) with = propose(profile, topology, LODE_PLACEMENT_MAJORITY);
	g_assert_cmpuint(with->matrix->pages->len, ==, without->matrix->pages->len);
	g_assert_cmpuint(with->placement->ranges->len, ==, 2);
	g_assert_cmpfloat(with->matrix->own_weight, ==, 2);
	g_assert_cmpfloat(with->matrix->weight, ==, without->matrix->weight);
}

static void test_one_memory(void)
{
	g_autoptr(LodeProfile) profile = two_halves();
	g_autoptr(LodeTopology) topology = lode_topology_new_even(1, 4);
	g_autoptr(LodePlacementProposal)
		proposal = propose(profile, topology, LODE_PLACEMENT_MAJORITY);

	g_assert_cmpuint(proposal->placement->ranges->len, ==, 0);
	for (int i = 0; i < LODE_N_PLACEMENT_POLICIES; i++)
		g_assert_cmpfloat(lode_placement_locality_share(&proposal->localities[i]), ==, 1);
}

/* What a sample's page and thread are on, range by range for each sample. */
static double naive_local(const LodeProfile *profile, const LodePlacement *placement)
{
	const GArray *samples = profile->memory->samples;
	double local = 0;

	for (guint i = 0; i < samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(samples, LodeMemorySample, i);
		uint32_t page = LODE_NONE, thread;
		bool is_placed = false;
		if (sample->event != SAMPLE_EVENT_CLOCK || sample->address == 0)
			continue;
		for (guint r = 0; r < placement->ranges->len; r++) {
			const LodePlacedRange *range = &LODE_AT(
				placement->ranges, LodePlacedRange, r);
			if (sample->address / 4096 < range->start / 4096 ||
				sample->address / 4096 > (range->end - 1) / 4096)
				continue;
			is_placed = true;
			page = range->kind == LODE_PLACE_RANGE ? range->memory : LODE_NONE;
		}
		uint64_t first_ns = UINT64_MAX;
		bool is_fault = false;
		for (guint s = 0; s < samples->len && !is_placed; s++) {
			const LodeMemorySample *other = &LODE_AT(samples, LodeMemorySample, s);
			bool is_earlier = other->event == SAMPLE_EVENT_FAULTS && !is_fault;
			if (other->address / 4096 != sample->address / 4096 ||
				other->address == 0 ||
				(is_fault && other->event != SAMPLE_EVENT_FAULTS) ||
				(!is_earlier && other->time_ns >= first_ns))
				continue;
			first_ns = other->time_ns;
			is_fault = other->event == SAMPLE_EVENT_FAULTS;
			page = lode_placement_thread_memory(placement, other->thread);
		}
		thread = lode_placement_thread_memory(placement, sample->thread);
		if (page == LODE_NONE || thread == LODE_NONE)
			local += sample->weight / placement->n_memories;
		else
			local += page == thread ? sample->weight : 0;
	}
	return local;
}

static LodePlacement *random_placement(GRand *random, uint32_t n_memories)
{
	static const uint64_t starts[] = {
		SAMPLE_DATA, SAMPLE_NODES, SAMPLE_BUFFER, SAMPLE_ANON, SAMPLE_STACKS};
	LodePlacement *self = lode_placement_new(n_memories, 5);

	for (uint32_t i = 0; i < 5; i++)
		if (g_rand_int_range(random, 0, 4) > 0)
			LODE_AT(self->thread_memories, uint32_t, i) = g_rand_int(random) %
			                                              n_memories;
	for (int i = g_rand_int_range(random, 0, 30); i > 0; i--) {
		LodePlacedRange range = {.kind = LODE_PLACE_RANGE};
		range.start = starts[g_rand_int_range(random, 0, 5)] +
		              (uint64_t)g_rand_int_range(random, 0, 40 * 4096);
		range.end = range.start + (uint64_t)g_rand_int_range(random, 1, 20 * 4096);
		range.memory = g_rand_int(random) % n_memories;
		if (g_rand_boolean(random))
			range.kind = LODE_PLACE_INTERLEAVE;
		lode_placement_add(self, &range);
	}
	return self;
}

static void test_naive_count(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(3));

	for (uint32_t i = 0; i < 60; i++) {
		SampleProfileOptions options = {.seed = i,
			.n_threads = 5,
			.n_samples = 400,
			.anon_bytes = 40 * 4096,
			.unresolved = 0.1,
			.faults = 0.2};
		uint32_t n_memories = (uint32_t)g_rand_int_range(random, 1, 5);
		g_autoptr(LodeProfile) profile = sample_profile_random(&options);
		g_autoptr(LodeTopology) topology = lode_topology_new_even(n_memories, 2);
		g_autoptr(LodePageMatrix)
			matrix = lode_page_matrix_new(profile, NULL, 0, NULL, NULL);
		g_autoptr(LodePlacement) placement = random_placement(random, n_memories);
		LodePlacementLocality locality = lode_placement_locality(
			placement, matrix, topology, NULL);
		g_assert_cmpfloat_with_epsilon(
			locality.local, naive_local(profile, placement), 1e-6);
		g_assert_cmpfloat_with_epsilon(locality.weight, matrix->weight, 1e-6);
	}
}

/* Each thread in its own slice, shared data beside it: never worse than what happens without. */
static void test_random_profiles(void)
{
	for (uint32_t i = 0; i < 20; i++) {
		SampleProfileOptions options = {.seed = 100 + i,
			.n_threads = 2 + i % 7,
			.n_samples = 3000,
			.anon_bytes = 2520 * 4096,
			.unresolved = 0.05,
			.faults = 0.1};
		g_autoptr(LodeProfile) profile = sample_profile_random(&options);
		g_autoptr(LodeTopology) topology = lode_topology_new_even(2 + i % 3, 2);
		g_autoptr(LodePlacementProposal)
			first = propose(profile, topology, LODE_PLACEMENT_MAJORITY);
		g_autoptr(LodePlacementProposal)
			second = propose(profile, topology, LODE_PLACEMENT_MAJORITY);
		const LodePlacementLocality *shares = first->localities;
		if (first->has_locality[LODE_PLACEMENT_MAJORITY])
			g_assert_cmpfloat(shares[LODE_PLACEMENT_MAJORITY].local, >=,
				shares[LODE_PLACEMENT_INTERLEAVED].local);
		g_assert_cmpuint(first->placement->ranges->len, ==, second->placement->ranges->len);
		for (uint32_t t = 0; t < options.n_threads; t++)
			g_assert_cmpuint(lode_placement_thread_memory(first->placement, t), ==,
				lode_placement_thread_memory(second->placement, t));
	}
}

static uint32_t memory_of_page(const LodePlacement *placement, uint32_t page)
{
	uint64_t address = SAMPLE_ANON + page * LODE_PAGE_SIZE;

	for (guint i = 0; i < placement->ranges->len; i++) {
		const LodePlacedRange *range = &LODE_AT(placement->ranges, LodePlacedRange, i);
		if (range->start <= address && address < range->end)
			return range->kind == LODE_PLACE_RANGE ? range->memory : LODE_NONE;
	}
	return LODE_NONE;
}

/* One stray sample does not decide on a page that its neighbours' thread uses; four do. */
static void test_few_samples(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(2, 64 * LODE_PAGE_SIZE);
	g_autoptr(LodeTopology) topology = lode_topology_new_even(2, 1);

	access_pages(profile, 0, 0, 8, 1);
	access_pages(profile, 0, 9, 8, 1);
	access_pages(profile, 0, 18, 8, 1);
	access_pages(profile, 1, 8, 1, 1);  /* stray */
	access_pages(profile, 1, 17, 1, 6); /* its own */
	access_pages(profile, 1, 40, 16, 1);
	access_pages(profile, 0, 50, 1, 1); /* as much as the other, but alone */
	g_autoptr(LodePlacementProposal)
		proposal = propose(profile, topology, LODE_PLACEMENT_MAJORITY);
	g_assert_cmpuint(lode_placement_thread_memory(proposal->placement, 0), ==, 0);
	g_assert_cmpuint(memory_of_page(proposal->placement, 4), ==, 0);
	g_assert_cmpuint(memory_of_page(proposal->placement, 8), ==, 0);
	g_assert_cmpuint(memory_of_page(proposal->placement, 12), ==, 0);
	g_assert_cmpuint(memory_of_page(proposal->placement, 17), ==, 1);
	g_assert_cmpuint(memory_of_page(proposal->placement, 50), ==, 1);
}

/* Threads that share little are spread, though two fit onto a memory; one that does next to nothing
 * does not count. */
static void test_even_spread(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(3, 64 * LODE_PAGE_SIZE);
	g_autoptr(LodeTopology) topology = lode_topology_new_even(2, 4);

	access_pages(profile, 1, 0, 20, 8);
	access_pages(profile, 2, 20, 20, 8);
	access_pages(profile, 1, 60, 1, 4);
	access_pages(profile, 2, 60, 1, 4);
	access_pages(profile, 0, 60, 1, 1);
	g_autoptr(LodePlacementProposal)
		apart = propose(profile, topology, LODE_PLACEMENT_MAJORITY);
	g_assert_cmpuint(lode_placement_thread_memory(apart->placement, 1), !=,
		lode_placement_thread_memory(apart->placement, 2));
	access_pages(profile, 1, 61, 1, 60);
	access_pages(profile, 2, 61, 1, 60);
	g_autoptr(LodePlacementProposal)
		joined = propose(profile, topology, LODE_PLACEMENT_MAJORITY);
	g_assert_cmpuint(lode_placement_thread_memory(joined->placement, 1), ==,
		lode_placement_thread_memory(joined->placement, 2));
}

static void test_traced(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 4096);
	g_autoptr(GError) error = NULL;
	LodePlacementProposalOptions options = {0};

	access_pages(profile, 0, 0, 1, 3);
	for (guint i = 0; i < profile->memory->samples->len; i++)
		LODE_AT(profile->memory->samples, LodeMemorySample, i).rule = LODE_RULE_TRACED;
	g_assert_null(lode_placement_proposal_new(profile, &options, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED);
}

static void test_errors(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(4, 4096);
	g_autoptr(LodeProfile) empty = lode_profile_new();
	g_autoptr(LodeTopology) topology = lode_topology_new_even(2, 1);
	LodePlacementProposalOptions options = {.topology = topology, .threads_per_memory = 1};
	g_autoptr(GError) error = NULL;

	g_assert_null(lode_placement_proposal_new(empty, &options, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	g_clear_error(&error);
	g_assert_null(lode_placement_proposal_new(profile, &options, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	g_clear_error(&error);
	for (uint32_t i = 0; i < 4; i++)
		access_pages(profile, i, 0, 1, 1);
	g_assert_null(lode_placement_proposal_new(profile, &options, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_USAGE);
	g_assert_cmpstr(error->message, ==,
		"4 threads do not fit onto 2 memories, 1 on each; give --threads-per-memory 2");
	g_clear_error(&error);
	LODE_AT(profile->memory->threads, LodeThread, 3).ordinal = UINT32_MAX;
	options.threads_per_memory = 0;
	g_assert_null(lode_placement_proposal_new(profile, &options, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_LIMIT);
}

static void lose(LodeProfile *profile, uint32_t thread, LodeAddressReason reason, int times)
{
	for (int i = 0; i < times; i++)
		sample_profile_unresolved(profile, thread, reason);
}

/* Threads 2 and 3 of equal time, of which no address is known: one on each memory, and not a claim
 * about them. */
static void test_lost_threads(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(5, 32 * LODE_PAGE_SIZE);
	g_autoptr(LodeTopology) topology = lode_topology_new_even(2, 2);

	access_pages(profile, 0, 0, 10, 10);
	access_pages(profile, 1, 16, 10, 10);
	lose(profile, 2, LODE_REASON_CLOBBERED, 100);
	lose(profile, 3, LODE_REASON_CLOBBERED, 100);
	lose(profile, 4, LODE_REASON_NOT_MEMORY, 1000);
	g_autoptr(LodePlacementProposal)
		proposal = propose(profile, topology, LODE_PLACEMENT_MAJORITY);
	const LodePlacement *placement = proposal->placement;
	const LodePlacementLocality *locality = &proposal->localities[LODE_PLACEMENT_MAJORITY];
	uint32_t memories[5];
	for (uint32_t i = 0; i < 5; i++)
		memories[i] = lode_placement_thread_memory(placement, i);
	g_assert_cmpuint(memories[0] + memories[1], ==, 1);
	g_assert_cmpuint(memories[2] + memories[3], ==, 1);
	/* Without a load or store it may run anywhere. */
	g_assert_cmpuint(memories[4], ==, LODE_NONE);
	g_assert_cmpfloat(proposal->matrix->lost, ==, 200);
	g_assert_cmpfloat(locality->weight, ==, 200);
	g_assert_cmpfloat(locality->local, ==, 200);
	g_assert_cmpfloat(lode_placement_locality_share(locality), ==, 1);
	g_assert_cmpfloat(lode_placement_locality_least(locality), ==, 0.5);
	g_assert_cmpfloat(lode_placement_locality_most(locality), ==, 1);
	g_assert_cmpfloat(proposal->local_of_thread[0], ==, 100);
	g_assert_cmpfloat(proposal->local_of_thread[2], ==, 0);
	g_assert_cmpfloat(lode_page_matrix_thread_weight(proposal->matrix, 2), ==, 100);
	for (guint m = 0; m < 2; m++)
		g_assert_cmpfloat(
			LODE_AT(proposal->memories, LodeProposedMemory, m).accesses, ==, 200);
}

/* Each page that a sample is on was touched first by thread 0, so that losing samples does not
 * change a page's home. */
static void fault_all(LodeProfile *profile)
{
	for (guint i = 0, n = profile->memory->samples->len; i < n; i++) {
		uint64_t address = LODE_AT(profile->memory->samples, LodeMemorySample, i).address;
		if (address != 0)
			sample_profile_fault(profile, 0, address, 0, 0);
	}
}

/* Whatever the lost ones did, the truth is within the bounds: random samples lose their address
 * after the placement of all was looked at. */
static void test_bounds(void)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(soak_seed(11));

	for (uint32_t i = 0; i < 40; i++) {
		SampleProfileOptions options = {.seed = 500 + i,
			.n_threads = 5,
			.n_samples = 600,
			.anon_bytes = 40 * 4096,
			.faults = 0.2};
		uint32_t n_memories = (uint32_t)g_rand_int_range(random, 1, 5);
		g_autoptr(LodeProfile) profile = sample_profile_random(&options);
		g_autoptr(LodeTopology) topology = lode_topology_new_even(n_memories, 2);
		g_autoptr(LodePlacement) placement = random_placement(random, n_memories);
		fault_all(profile);
		g_autoptr(LodePageMatrix)
			whole = lode_page_matrix_new(profile, NULL, 0, NULL, NULL);
		double truth = naive_local(profile, placement) / whole->weight;

		for (guint s = 0; s < profile->memory->samples->len; s++) {
			LodeMemorySample *sample = &LODE_AT(
				profile->memory->samples, LodeMemorySample, s);
			/* All of thread 3's, and a third of the others'. */
			if (sample->event != SAMPLE_EVENT_CLOCK ||
				(sample->thread != 3 && g_rand_int_range(random, 0, 3) > 0))
				continue;
			sample->rule = LODE_RULE_NONE;
			sample->reason = LODE_REASON_CLOBBERED;
			sample->address = 0;
		}
		g_autoptr(LodePageMatrix)
			matrix = lode_page_matrix_new(profile, NULL, 0, NULL, NULL);
		g_autofree double *of_thread = g_new0(double, matrix->n_threads);
		LodePlacementLocality locality = lode_placement_locality(
			placement, matrix, topology, of_thread);
		double sum = 0;
		for (uint32_t t = 0; t < matrix->n_threads; t++)
			sum += of_thread[t];
		g_assert_cmpfloat_with_epsilon(sum, locality.local, 1e-6);
		g_assert_cmpfloat(of_thread[3], ==, 0);
		g_assert_cmpfloat_with_epsilon(
			matrix->weight + matrix->lost, whole->weight, whole->weight * 1e-9);
		g_assert_cmpfloat(lode_placement_locality_least(&locality), <=, truth + 1e-9);
		g_assert_cmpfloat(lode_placement_locality_most(&locality), >=, truth - 1e-9);
	}
}

/* Nothing, or next to nothing, is seen: it says why, and how to record. */
static void test_all_lost(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(2, 32 * LODE_PAGE_SIZE);
	g_autoptr(LodeTopology) topology = lode_topology_new_even(2, 2);
	LodePlacementProposalOptions options = {.topology = topology};
	g_autoptr(GError) error = NULL;

	lose(profile, 0, LODE_REASON_CLOBBERED, 600);
	lose(profile, 1, LODE_REASON_CLOBBERED, 600);
	g_assert_null(lode_placement_proposal_new(profile, &options, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	g_assert_nonnull(strstr(error->message,
		"none of the 1,200 load and store samples has a data address (most: clobbered)"));
	g_assert_nonnull(strstr(error->message, "--windows"));
	g_clear_error(&error);
	access_pages(profile, 0, 0, 10, 1);
	g_assert_null(lode_placement_proposal_new(profile, &options, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	g_assert_nonnull(strstr(error->message, "too few to place pages by"));
	g_clear_error(&error);
	access_pages(profile, 0, 0, 10, 2);
	g_autoptr(LodePlacementProposal)
		proposal = propose(profile, topology, LODE_PLACEMENT_MAJORITY);
	g_assert_nonnull(proposal);
	g_autoptr(LodeProfile) garbage = sample_profile_new(2, 4096);
	lose(garbage, 0, LODE_REASON_INVALID_ADDRESS, 5);
	g_assert_null(lode_placement_proposal_new(garbage, &options, &error));
	g_assert_nonnull(strstr(error->message, "the registers point to no memory"));
}

/* The process that does most is chosen, though its addresses are lost; another one when asked. */
static void test_lost_process(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(2, 32 * LODE_PAGE_SIZE);
	g_autoptr(LodeTopology) topology = lode_topology_new_even(2, 2);
	LodePlacementProposalOptions options = {.topology = topology};
	LodeThread *threads = &LODE_AT(profile->memory->threads, LodeThread, 0);
	g_autoptr(GError) error = NULL;

	threads[1].pid = threads[0].pid + 1;
	threads[1].ordinal = 0;
	access_pages(profile, 0, 0, 10, 1);
	lose(profile, 1, LODE_REASON_CLOBBERED, 600);
	lose(profile, 0, LODE_REASON_NOT_MEMORY, 6000);
	g_assert_null(lode_placement_proposal_new(profile, &options, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	g_autofree char *process = g_strdup_printf("in process %u ", threads[1].pid);
	g_assert_nonnull(strstr(error->message, process));
	g_clear_error(&error);
	options.pid = threads[0].pid;
	g_autoptr(LodePlacementProposal)
		proposal = lode_placement_proposal_new(profile, &options, &error);
	g_assert_no_error(error);
	g_assert_cmpfloat(proposal->matrix->lost, ==, 0);
	g_assert_cmpuint(proposal->matrix->n_other_processes, ==, 1);
}

static void test_stopped(void)
{
	g_autoptr(LodeProfile) profile = two_halves();
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	const LodeProgress progress = {.cancellable = cancellable};
	const LodePlacementProposalOptions options = {.progress = &progress};
	g_autoptr(GError) error = NULL;
	g_autoptr(LodePlacementProposal)
		proposal = lode_placement_proposal_new(profile, &options, &error);

	g_assert_no_error(error);
	g_assert_nonnull(proposal);
	g_cancellable_cancel(cancellable);
	g_assert_null(lode_placement_proposal_new(profile, &options, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CANCELLED);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/placement/own_memory", test_own_memory);
	g_test_add_func("/placement/halves", test_halves);
	g_test_add_func("/placement/shared-pages", test_shared_pages);
	g_test_add_func("/placement/merging", test_merging);
	g_test_add_func("/placement/distances", test_distances);
	g_test_add_func("/placement/few-samples", test_few_samples);
	g_test_add_func("/placement/even-spread", test_even_spread);
	g_test_add_func("/placement/traced", test_traced);
	g_test_add_func("/placement/one-memory", test_one_memory);
	g_test_add_func("/placement/naive-count", test_naive_count);
	g_test_add_func("/placement/random-profiles", test_random_profiles);
	g_test_add_func("/placement/errors", test_errors);
	g_test_add_func("/placement/stopped", test_stopped);
	g_test_add_func("/placement/lost_threads", test_lost_threads);
	g_test_add_func("/placement/bounds", test_bounds);
	g_test_add_func("/placement/all_lost", test_all_lost);
	g_test_add_func("/placement/lost_process", test_lost_process);
	return g_test_run();
}
