/* SPDX-License-Identifier: MIT */
/* Coverage by rule, reason and layer: counted by hand, and its sums on random samples. */
#include "analyses/memory/coverage.h"
#include "sample_profile.h"

static const LodeMemoryCoverage *coverage_at(const GArray *coverage, guint i)
{
	g_assert_cmpuint(i, <, coverage->len);
	return &g_array_index(coverage, LodeMemoryCoverage, i);
}

static void test_by_hand(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(2, 1 << 16);

	sample_profile_access(profile, 0, SAMPLE_NODES, LODE_ACCESS_LOAD, 4)->weight = 4;
	sample_profile_access(profile, 0, SAMPLE_DATA, LODE_ACCESS_LOAD, 0)->weight = 2;
	LodeMemorySample *buffer = sample_profile_access(
		profile, 1, SAMPLE_BUFFER, LODE_ACCESS_STORE, 1);
	buffer->rule = LODE_RULE_BACKWARD;
	buffer->is_unverified = true;
	sample_profile_access(profile, 1, SAMPLE_ANON, LODE_ACCESS_STORE, 1);
	sample_profile_access(profile, 1, 64, LODE_ACCESS_STORE, 1); /* in no mapping */
	/* an address that is lost, of an object that is known */
	LodeMemorySample *lost = sample_profile_unresolved(profile, 0, LODE_REASON_TLS);
	lost->weight = 3;
	lost->object = SAMPLE_OBJECT_COUNTS;
	sample_profile_unresolved(profile, 0, LODE_REASON_BLOCKED)->weight = 8;
	sample_profile_fault(profile, 0, SAMPLE_ANON, 9, 0);
	g_autoptr(GArray) coverage = lode_memory_coverage_new(profile, NULL, 0);
	const LodeMemoryCoverage *row = coverage_at(coverage, 0);
	g_assert_cmpuint(coverage->len, ==, 1);
	g_assert_cmpuint(row->event, ==, SAMPLE_EVENT_CLOCK);
	g_assert_cmpfloat(row->total.weight, ==, 20);
	g_assert_cmpfloat(row->resolved.weight, ==, 9);
	g_assert_cmpfloat(row->unverified.weight, ==, 1);
	g_assert_cmpfloat(row->by_rule[LODE_RULE_AT_PC].weight, ==, 8);
	g_assert_cmpfloat(row->by_rule[LODE_RULE_BACKWARD].weight, ==, 1);
	g_assert_cmpfloat(row->by_reason[LODE_REASON_TLS].weight, ==, 3);
	g_assert_cmpfloat(row->by_reason[LODE_REASON_BLOCKED].weight, ==, 8);
	g_assert_cmpfloat(row->named[LODE_LAYER_TYPE].weight, ==, 4);
	g_assert_cmpfloat(row->named[LODE_LAYER_VARIABLE].weight, ==, 5);
	g_assert_cmpfloat(row->named[LODE_LAYER_ALLOCATION].weight, ==, 1);
	g_assert_cmpfloat(row->named[LODE_LAYER_MAPPING].weight, ==, 1);
	g_assert_cmpfloat(row->unnamed.weight, ==, 9);
	/* counts[] has a type too, the nodes a site, and all of them lie in a mapping. */
	g_assert_cmpfloat(row->known[LODE_LAYER_TYPE].weight, ==, 9);
	g_assert_cmpfloat(row->known[LODE_LAYER_VARIABLE].weight, ==, 5);
	g_assert_cmpfloat(row->known[LODE_LAYER_ALLOCATION].weight, ==, 5);
	g_assert_cmpfloat(row->known[LODE_LAYER_MAPPING].weight, ==, 11);
	g_assert_cmpfloat(row->members.weight, ==, 4);
}

static void test_sums(void)
{
	SampleProfileOptions options = {.seed = 21,
		.n_threads = 3,
		.n_samples = 3000,
		.anon_bytes = 1 << 16,
		.unresolved = 0.3,
		.faults = 0.2};
	g_autoptr(LodeProfile) profile = sample_profile_random(&options);
	g_autoptr(GArray) coverage = lode_memory_coverage_new(profile, NULL, 0);
	const LodeMemoryCoverage *row = coverage_at(coverage, 0);
	uint64_t n_rules = 0, n_reasons = 0, n_named = row->unnamed.n_samples;

	for (int i = 0; i < LODE_N_RULES; i++)
		n_rules += row->by_rule[i].n_samples;
	for (int i = 0; i < LODE_N_REASONS; i++)
		n_reasons += row->by_reason[i].n_samples;
	for (int i = 0; i < LODE_N_LAYERS; i++)
		n_named += row->named[i].n_samples;
	g_assert_cmpuint(n_rules, ==, row->total.n_samples);
	g_assert_cmpuint(n_reasons, ==, row->total.n_samples);
	g_assert_cmpuint(n_named, ==, row->total.n_samples);
	g_assert_cmpuint(row->by_rule[LODE_RULE_NONE].n_samples, ==,
		row->total.n_samples - row->resolved.n_samples);
	g_assert_cmpuint(row->total.n_samples, >, 2000);
	g_assert_cmpuint(row->total.n_samples, <, 3000);
}

static void test_choice(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 1 << 16);
	uint32_t fault = 1, both[] = {0, 1};

	g_autoptr(GArray) empty = lode_memory_coverage_new(profile, NULL, 0);
	g_assert_cmpuint(empty->len, ==, 0);
	sample_profile_access(profile, 0, SAMPLE_NODES, LODE_ACCESS_LOAD, 4);
	sample_profile_fault(profile, 0, SAMPLE_ANON, 9, 0);
	g_autoptr(GArray) faults = lode_memory_coverage_new(profile, &fault, 1);
	g_assert_cmpuint(faults->len, ==, 1);
	g_assert_cmpuint(coverage_at(faults, 0)->event, ==, SAMPLE_EVENT_FAULTS);
	g_autoptr(GArray) accesses = lode_memory_coverage_new(profile, both, 2);
	g_assert_cmpuint(accesses->len, ==, 1);
	g_assert_cmpuint(coverage_at(accesses, 0)->event, ==, SAMPLE_EVENT_CLOCK);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/memory_coverage/by_hand", test_by_hand);
	g_test_add_func("/memory_coverage/sums", test_sums);
	g_test_add_func("/memory_coverage/choice", test_choice);
	return g_test_run();
}
