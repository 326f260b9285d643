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

typedef struct {
	double weight, lost, named;
	uint64_t n, n_lost;
} NaiveLoss;

/* A naive count of one thread, or of all where it is LODE_NONE. */
static NaiveLoss naive_loss(const LodeProfile *profile, uint32_t thread, uint32_t event)
{
	const LodeMemory *memory = profile->memory;
	NaiveLoss loss = {0};

	for (guint i = 0; i < memory->samples->len; i++) {
		const LodeMemorySample *sample = &LODE_AT(memory->samples, LodeMemorySample, i);
		bool is_lost = sample->rule == LODE_RULE_NONE;
		if (sample->event != event || (thread != LODE_NONE && sample->thread != thread))
			continue;
		if (is_lost && (sample->reason == LODE_REASON_NOT_MEMORY ||
				       sample->reason == LODE_REASON_NO_ACCESS_IN_RANGE ||
				       sample->reason == LODE_REASON_NOT_USER_CODE ||
				       sample->reason == LODE_REASON_RECORDER))
			continue;
		loss.weight += sample->weight;
		loss.n++;
		if (!is_lost)
			continue;
		loss.lost += sample->weight;
		loss.n_lost++;
		if (sample->object != LODE_NONE)
			loss.named += sample->weight;
	}
	return loss;
}

static void check_loss(const LodeProfile *profile, const LodeAddressLoss *loss)
{
	NaiveLoss naive = naive_loss(profile, loss->thread, SAMPLE_EVENT_CLOCK);
	double by_reason = 0;

	for (int i = 0; i < LODE_N_REASONS; i++)
		by_reason += loss->reason_weight[i];
	g_assert_cmpfloat_with_epsilon(loss->total.weight, naive.weight, 1e-6);
	g_assert_cmpfloat_with_epsilon(loss->lost.weight, naive.lost, 1e-6);
	g_assert_cmpfloat_with_epsilon(loss->lost_named.weight, naive.named, 1e-6);
	g_assert_cmpfloat_with_epsilon(by_reason, naive.lost, 1e-6);
	g_assert_cmpuint(loss->total.n_samples, ==, naive.n);
	g_assert_cmpuint(loss->lost.n_samples, ==, naive.n_lost);
}

static void test_losses_of_threads(void)
{
	for (uint32_t seed = 1; seed <= 20; seed++) {
		SampleProfileOptions options = {.seed = seed,
			.n_threads = 1 + seed % 7,
			.n_samples = 10 + 40 * seed,
			.anon_bytes = 1 << 16,
			.unresolved = 0.05 * seed - 0.05,
			.faults = 0.2};
		g_autoptr(LodeProfile) profile = sample_profile_random(&options);
		g_auto(LodeAddressLosses) losses;

		/* Some lost ones have an object. */
		for (guint i = 0; i < profile->memory->samples->len; i += 3) {
			LodeMemorySample *sample = &LODE_AT(
				profile->memory->samples, LodeMemorySample, i);
			if (sample->rule == LODE_RULE_NONE)
				sample->object = SAMPLE_OBJECT_COUNTS;
		}
		lode_address_losses_init(&losses, profile, LODE_NONE, NULL, 0);
		check_loss(profile, &losses.all);
		guint next = 0;
		for (uint32_t thread = 0; thread < options.n_threads; thread++) {
			if (naive_loss(profile, thread, SAMPLE_EVENT_CLOCK).n == 0)
				continue;
			g_assert_cmpuint(next, <, losses.threads->len);
			const LodeAddressLoss *loss = &LODE_AT(
				losses.threads, LodeAddressLoss, next++);
			g_assert_cmpuint(loss->thread, ==, thread);
			check_loss(profile, loss);
		}
		g_assert_cmpuint(next, ==, losses.threads->len);
	}
}

/* Some lost samples have a range, of up to 8 pages: overlapping, and also of other objects and
 * processes; some that are not lost have one, too, as in a hostile file. */
static void add_ranges(LodeProfile *profile, GRand *rand)
{
	LodeMemory *memory = profile->memory;

	for (guint i = 0; i < memory->threads->len; i++)
		LODE_AT(memory->threads, LodeThread, i).pid = 1 + i % 2;
	for (guint i = 0; i < memory->samples->len; i++) {
		LodeMemorySample *sample = &LODE_AT(memory->samples, LodeMemorySample, i);
		const LodeLostRange range = {.sample = i,
			.start = 1000 + 4096 * (uint64_t)g_rand_int_range(rand, 0, 40) +
		                 (uint64_t)g_rand_int_range(rand, 0, 4096),
			.size = 1 + (uint64_t)g_rand_int_range(rand, 0, 7 * 4096)};
		sample->object = g_rand_boolean(rand) ? SAMPLE_OBJECT_COUNTS : LODE_NONE;
		if (g_rand_int_range(rand, 0, 3) > 0)
			g_array_append_val(memory->lost_ranges, range);
	}
}

static void naive_object(const LodeProfile *profile, uint32_t object, LodeLostObject *out_object)
{
	enum { N_PAGES = 64 };
	const LodeMemory *memory = profile->memory;
	bool is_there[3][N_PAGES] = {{false}};

	*out_object = (LodeLostObject){.object = object};
	for (guint i = 0; i < memory->lost_ranges->len; i++) {
		const LodeLostRange *range = &LODE_AT(memory->lost_ranges, LodeLostRange, i);
		const LodeMemorySample *sample = &LODE_AT(
			memory->samples, LodeMemorySample, range->sample);
		if (sample->rule != LODE_RULE_NONE || sample->object != object ||
			sample->event != SAMPLE_EVENT_CLOCK ||
			!lode_address_loss_counts(sample->rule, sample->reason))
			continue;
		out_object->weight += sample->weight;
		uint32_t pid = LODE_AT(memory->threads, LodeThread, sample->thread).pid;
		for (uint64_t byte = 0; byte < range->size; byte++)
			is_there[pid][(range->start + byte) / 4096] = true;
	}
	for (unsigned i = 0; i < 3 * N_PAGES; i++)
		out_object->n_pages += is_there[i / N_PAGES][i % N_PAGES];
}

static void test_ranges(void)
{
	for (uint32_t seed = 1; seed <= 20; seed++) {
		g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
		SampleProfileOptions options = {.seed = seed,
			.n_threads = 1 + seed % 5,
			.n_samples = 3 * seed,
			.anon_bytes = 1 << 16,
			.unresolved = 0.5,
			.faults = 0.2};
		g_autoptr(LodeProfile) profile = sample_profile_random(&options);
		g_auto(LodeAddressLosses) losses;
		double all = 0;

		add_ranges(profile, rand);
		lode_address_losses_init(&losses, profile, LODE_NONE, NULL, 0);
		for (guint i = 0; i < losses.objects->len; i++) {
			const LodeLostObject *object = &LODE_AT(losses.objects, LodeLostObject, i);
			LodeLostObject naive;
			naive_object(profile, object->object, &naive);
			g_assert_cmpfloat_with_epsilon(object->weight, naive.weight, 1e-6);
			g_assert_cmpuint(object->n_pages, ==, naive.n_pages);
			g_assert_true(i == 0 || object->weight <= object[-1].weight);
			all += naive.weight;
		}
		g_assert_cmpfloat_with_epsilon(losses.all.lost_ranged.weight, all, 1e-6);
	}
}

static void test_loss_reasons(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(1, 1 << 16);
	g_auto(LodeAddressLosses) losses;

	sample_profile_access(profile, 0, SAMPLE_NODES, LODE_ACCESS_LOAD, 4);
	for (int i = LODE_REASON_NONE + 1; i < LODE_N_REASONS; i++)
		sample_profile_unresolved(profile, 0, (LodeAddressReason)i)->weight = i;
	lode_address_losses_init(&losses, profile, LODE_NONE, NULL, 0);
	g_assert_cmpuint(losses.all.lost.n_samples, ==, LODE_N_REASONS - 1 - 4);
	g_assert_cmpuint(lode_address_loss_reason(&losses.all), ==, LODE_N_REASONS - 1);
	g_assert_cmpfloat(losses.all.reason_weight[LODE_REASON_NOT_MEMORY], ==, 0);
}

static void test_next_round(void)
{
	g_autoptr(LodeProfile) profile = sample_profile_new(2, 1 << 16);
	g_auto(LodeAddressLosses) losses;

	sample_profile_access(profile, 0, SAMPLE_NODES, LODE_ACCESS_LOAD, 4);
	sample_profile_access(profile, 1, SAMPLE_NODES, LODE_ACCESS_LOAD, 4)->rule =
		LODE_RULE_NEXT_ROUND;
	lode_address_losses_init(&losses, profile, SAMPLE_EVENT_CLOCK, NULL, 0);
	g_assert_cmpfloat(losses.all.lost.weight, ==, 0);
	g_assert_cmpfloat(losses.all.next_round.weight, ==, 1);
	g_assert_cmpfloat(LODE_AT(losses.threads, LodeAddressLoss, 0).next_round.weight, ==, 0);
	g_assert_cmpfloat(LODE_AT(losses.threads, LodeAddressLoss, 1).next_round.weight, ==, 1);
	g_assert_cmpuint(lode_address_loss_reason(&losses.all), ==, LODE_REASON_NONE);
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
	g_test_add_func("/memory_coverage/losses_of_threads", test_losses_of_threads);
	g_test_add_func("/memory_coverage/ranges", test_ranges);
	g_test_add_func("/memory_coverage/loss_reasons", test_loss_reasons);
	g_test_add_func("/memory_coverage/next_round", test_next_round);
	return g_test_run();
}
