/* SPDX-License-Identifier: MIT */
/* What lode place says of a plan, on a profile made by hand. */
#include "../analyses/memory/sample_profile.h"
#include "analyses/memory/placement/page_matrix.h"
#include "golden_text.h"
#include "sample_profile.h"
#include "views/placement/placement_views.h"

/* Two threads that work on a half each, and lode's own memory beside. */
static LodeProfile *two_halves(void)
{
	LodeProfile *profile = sample_profile_new(2, 16 * LODE_PAGE_SIZE);

	for (uint32_t i = 0; i < 48; i++)
		sample_profile_access(profile, i % 16 / 8, SAMPLE_ANON + i % 16 * LODE_PAGE_SIZE,
			LODE_ACCESS_LOAD, 0);
	sample_profile_access(profile, 1, UINT64_C(0x200000001008), LODE_ACCESS_STORE, 0);
	return profile;
}

static void check_profile(
	const char *golden, const LodeProfile *profile, const LodeTopology *topology)
{
	LodePlacementProposalOptions options = {
		.policy = LODE_PLACEMENT_MAJORITY, .topology = topology};
	LodePlacementSummaryOptions summary = {.format = LODE_VIEW_TEXT};
	g_autoptr(GError) error = NULL;
	g_autoptr(LodePlacementProposal)
		proposal = lode_placement_proposal_new(profile, &options, &error);
	FILE *file = sample_open();

	g_assert_no_error(error);
	g_assert_true(lode_placement_summary_write(profile, proposal, &summary, file, &error));
	g_autofree char *text = sample_close(file);
	golden_assert(golden, text);
}

static void check_text(const char *golden, const LodeTopology *topology)
{
	g_autoptr(LodeProfile) profile = two_halves();

	check_profile(golden, profile, topology);
}

/* A thread without an address, and one that lost half: bounds, and who it is. */
static void test_lost(void)
{
	g_autoptr(LodeProfile) profile = two_halves();
	g_autoptr(LodeTopology) topology = lode_topology_new_even(2, 2);
	LodeMemory *memory = profile->memory;

	for (guint i = 24; i < memory->samples->len; i++) {
		LodeMemorySample *sample = &LODE_AT(memory->samples, LodeMemorySample, i);
		if (sample->thread != 1)
			continue;
		sample->rule = LODE_RULE_NONE;
		sample->reason = LODE_REASON_CLOBBERED;
		sample->address = 0;
	}
	check_profile("placement_summary_lost.txt", profile, topology);
	for (guint i = 0; i < memory->samples->len; i++) {
		LodeMemorySample *sample = &LODE_AT(memory->samples, LodeMemorySample, i);
		if (sample->thread != 1)
			continue;
		sample->rule = LODE_RULE_NONE;
		sample->reason = LODE_REASON_CLOBBERED;
	}
	check_profile("placement_summary_lost_thread.txt", profile, topology);
}

/* A column of distances only where they are known. */
static void test_distances(void)
{
	g_autoptr(LodeTopology) topology = lode_topology_new_even(2, 1);
	const double distances[] = {1, 2.1, 2.1, 1};

	check_text("placement_summary.txt", topology);
	topology->distances = g_memdup2(distances, sizeof(distances));
	check_text("placement_summary_distances.txt", topology);
}

static void test_one_memory(void)
{
	g_autoptr(LodeTopology) topology = lode_topology_new_even(1, 1);

	check_text("placement_summary_one_memory.txt", topology);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/placement_summary/distances", test_distances);
	g_test_add_func("/placement_summary/one_memory", test_one_memory);
	g_test_add_func("/placement_summary/lost", test_lost);
	return g_test_run();
}
