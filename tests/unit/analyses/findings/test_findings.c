/* SPDX-License-Identifier: MIT */
/* Findings of profiles whose samples were drawn from known costs, and of profiles that say nothing.
 */
#include "analyses/findings/findings.h"
#include "base/error.h"
#include "model/findings.h"
#include "model/mining_run.h"
#include "planted_profile.h"
#include "seeds.h"

#include <gio/gio.h>
#include <math.h>
#include <string.h>

static LodeFindings *fit(const LodeProfile *profile, unsigned threads)
{
	g_autoptr(GError) error = NULL;
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	parameters.threads = threads;
	LodeFindings *findings = lode_findings_fit(profile, &parameters, NULL, &error);
	g_assert_no_error(error);
	return findings;
}

/* The finding with this text, NULL where there is none. */
static const LodeFinding *find(const LodeFindings *findings, const char *text)
{
	for (guint i = 0; i < findings->findings->len; i++) {
		g_autofree char *own = lode_finding_text(findings, lode_findings_at(findings, i));
		if (strcmp(own, text) == 0)
			return lode_findings_at(findings, i);
	}
	return NULL;
}

/* How many of the draws give the planted patterns, each within three standard errors. */
static void check_draws(bool is_counted)
{
	const unsigned draws = random_rounds(100, 100), needed = draws * 95 / 100;
	unsigned n_div = 0, n_blocked = 0, n_more = 0;

	for (guint32 seed = 0; seed < draws; seed++) {
		const PlantedCosts costs = {.seed = soak_seed(seed),
			.is_counted = is_counted,
			.n_functions = 60,
			.base = 0.0005,
			.div = 0.01,
			.blocked = 0.006};
		PlantedProfile planted = planted_profile_new(&costs);
		g_autoptr(LodeProfile) profile = planted.profile;
		g_autoptr(LodeFindings) findings = fit(profile, 0);
		const LodeFinding *div = find(findings, "⟪div⟫");
		const LodeFinding *blocked = find(findings, "⟨str store⟩ → ⟪ldr load⟫");
		double each = 100000 * costs.div;
		n_div += div != NULL &&
		         fabs(div->time - planted.div_share) <= 3 * div->time_error &&
		         (!is_counted || fabs(div->each - each) <= 3 * div->each_error) &&
		         fabs((double)div->places / planted.n_div - 1) <= 0.1;
		n_blocked += blocked != NULL &&
		             fabs(blocked->time - planted.blocked_share) <= 3 * blocked->time_error;
		n_more += findings->findings->len > 2;
	}
	g_test_message("%u and %u of %u draws, %u with more", n_div, n_blocked, draws, n_more);
	g_assert_cmpuint(n_div, >=, needed);
	g_assert_cmpuint(n_blocked, >=, needed);
	g_assert_cmpuint(n_more, <=, draws - needed);
}

static void test_planted_counted(void)
{
	check_draws(true);
}

static void test_planted_alone(void)
{
	check_draws(false);
}

/* Where everything costs the same there is nothing to find. */
static void test_uniform(void)
{
	const unsigned draws = random_rounds(40, 40);

	for (guint32 seed = 0; seed < draws; seed++) {
		const PlantedCosts costs = {.seed = soak_seed(seed),
			.is_counted = seed % 2 == 0,
			.n_functions = 40,
			.base = 0.002};
		PlantedProfile planted = planted_profile_new(&costs);
		g_autoptr(LodeProfile) profile = planted.profile;
		g_autoptr(LodeFindings) findings = fit(profile, 0);
		g_assert_cmpuint(findings->findings->len, ==, 0);
		g_assert_cmpfloat(findings->explained, ==, 0);
	}
}

/* One sample each on code that executed once, as of a program's start, is far above what is
 * expected there. It must not make all else look like chance. */
static void test_start_up(void)
{
	for (guint32 seed = 0; seed < 10; seed++) {
		const PlantedCosts costs = {.seed = soak_seed(seed),
			.is_counted = true,
			.n_functions = 60,
			.base = 0.0005,
			.div = 0.01,
			.n_started = 100};
		PlantedProfile planted = planted_profile_new(&costs);
		g_autoptr(LodeProfile) profile = planted.profile;
		g_autoptr(LodeFindings) findings = fit(profile, 0);
		const LodeFinding *div = find(findings, "⟪div⟫");
		g_assert_nonnull(div);
		g_assert_cmpfloat(div->time_error, <, 0.02);
		g_assert_cmpfloat(fabs(div->time - planted.div_share), <=, 4 * div->time_error);
	}
}

static uint32_t set_of(LodeProfile *profile, const char *const *names)
{
	uint32_t ids[8], n = 0;

	for (; names[n] != NULL; n++)
		ids[n] = lode_profile_attribute(profile, names[n]);
	return lode_profile_attribute_set(profile, ids, n);
}

/* Turns divisions into locked additions, and `n_others` of the instructions that cost little into
 * something global; the first of them is atomic too. */
static void make_atomic(LodeProfile *profile, unsigned n_others)
{
	static const char *const division[] = {"op:div", "kind:div", NULL};
	static const char *const move[] = {"op:mov", NULL};
	static const char *const addition[] = {"op:lock_xadd", "kind:atomic", "mem:global", NULL};
	static const char *const other[] = {"op:lock_cmpxchg", "kind:atomic", "mem:global", NULL};
	static const char *const global[] = {"op:mov", "mem:global", NULL};
	uint32_t from = set_of(profile, division), cheap = set_of(profile, move);
	unsigned n = 0;

	for (guint i = 0; i < profile->code.instructions->len; i++) {
		LodeInstruction *one = lode_profile_instruction(profile, i);
		if (one->attribute_set == from)
			one->attribute_set = set_of(profile, addition);
		else if (one->attribute_set == cheap && n++ < n_others)
			one->attribute_set = set_of(profile, n == 1 ? other : global);
	}
}

/* What else executed does not change a name: a mnemonic that is rarer than what it is of hides
 * nothing. */
static void test_name(void)
{
	for (unsigned n_others = 0; n_others < 5; n_others++) {
		const PlantedCosts costs = {
			.seed = 5, .n_functions = 60, .base = 0.0005, .div = 0.01};
		PlantedProfile planted = planted_profile_new(&costs);
		g_autoptr(LodeProfile) profile = planted.profile;
		make_atomic(profile, n_others);
		g_autoptr(LodeFindings) findings = fit(profile, 0);
		g_autofree char *text = lode_finding_text(findings, lode_findings_at(findings, 0));
		g_test_message("with %u others: %s", n_others, text);
		g_assert_true(g_str_has_prefix(text, "⟪lock_xadd atomic"));
	}
}

/* The name of the first finding where divisions have these attributes, but of each ten so many only
 * that they are global, and one of four mnemonics; and its places among those of all divisions. */
static char *name_of_some(const char *const *names, unsigned n_others, double *out_share)
{
	static const char *const division[] = {"op:div", "kind:div", NULL};
	static const char *const others[] = {"op:mov", "op:movsd", "op:add", "op:sub"};
	const PlantedCosts costs = {
		.seed = soak_seed(11), .n_functions = 60, .base = 0.0005, .div = 0.01};
	PlantedProfile planted = planted_profile_new(&costs);
	g_autoptr(LodeProfile) profile = planted.profile;
	uint32_t from = set_of(profile, division), to = set_of(profile, names);
	unsigned n = 0;

	for (guint i = 0; i < profile->code.instructions->len; i++) {
		LodeInstruction *one = lode_profile_instruction(profile, i);
		const char *const other[] = {others[n % G_N_ELEMENTS(others)], "mem:global", NULL};
		if (one->attribute_set != from)
			continue;
		one->attribute_set = n % 10 < n_others ? set_of(profile, other) : to;
		n++;
	}
	g_autoptr(LodeFindings) findings = fit(profile, 0);
	*out_share = (double)lode_findings_at(findings, 0)->places / n;
	return lode_finding_text(findings, lode_findings_at(findings, 0));
}

static char *name_of_divisions(const char *const *names)
{
	double share;

	return name_of_some(names, 0, &share);
}

/* A few places that cost as much do not hide what is known to be slow, and are not counted as its
 * own; many do hide it, and it is the cause of nothing then. */
static void test_cause(void)
{
	static const char *const fill[] = {"op:rep_stosb", "kind:string", "mem:global", NULL};
	static const char *const move[] = {"op:movsx", "kind:move", "mem:global", NULL};
	double most_places, half_places, other_places;
	g_autofree char *most = name_of_some(fill, 1, &most_places);
	g_autofree char *half = name_of_some(fill, 5, &half_places);
	g_autofree char *other = name_of_some(move, 1, &other_places);

	g_test_message(
		"%s %g, %s %g, %s %g", most, most_places, half, half_places, other, other_places);
	g_assert_nonnull(strstr(most, "rep_stosb"));
	g_assert_cmpfloat(most_places, <, 0.93);
	g_assert_cmpfloat(half_places, >, 0.97);
	g_assert_cmpfloat(other_places, >, 0.97);
	g_assert_cmpstr(half, ==, "⟪global⟫");
	g_assert_cmpstr(other, ==, "⟪global⟫");
}

/* Where code lies says nothing of its cost, but that a call leads there; and what an instruction
 * does is not left out for where its operands come from. */
static void test_common(void)
{
	static const char *const entries[] = {"op:push", "at:entry", "loop:1", NULL};
	static const char *const heads[] = {"op:push", "at:loop-head", "loop:1", NULL};
	static const char *const rounds[] = {"op:push", "at:entry", "at:loop-head", "loop:1", NULL};
	static const char *const calls[] = {
		"op:call", "kind:call", "kind:indirect", "address:load", NULL};
	g_autofree char *entry = name_of_divisions(entries);
	g_autofree char *head = name_of_divisions(heads);
	g_autofree char *round = name_of_divisions(rounds);
	g_autofree char *call = name_of_divisions(calls);

	g_assert_cmpstr(entry, ==, "⟪push, at entry⟫");
	g_assert_cmpstr(head, ==, "⟪push⟫");
	g_assert_cmpstr(round, ==, "⟪push⟫");
	g_assert_cmpstr(call, ==, "⟪call indirect, address from load⟫");
}

static void assert_same(const LodeFindings *a, const LodeFindings *b)
{
	g_assert_cmpuint(a->findings->len, ==, b->findings->len);
	for (guint i = 0; i < a->findings->len; i++) {
		const LodeFinding *x = lode_findings_at(a, i), *y = lode_findings_at(b, i);
		g_autofree char *left = lode_finding_text(a, x), *right = lode_finding_text(b, y);
		g_assert_cmpstr(left, ==, right);
		g_assert_cmpfloat(x->time, ==, y->time);
		g_assert_cmpfloat(x->time_error, ==, y->time_error);
		g_assert_cmpfloat(x->each, ==, y->each);
	}
	g_assert_cmpuint(a->places->len, ==, b->places->len);
	for (guint i = 0; i < a->places->len; i++)
		g_assert_cmpfloat(g_array_index(a->places, LodeFindingPlace, i).time, ==,
			g_array_index(b->places, LodeFindingPlace, i).time);
}

static void test_threads(void)
{
	const PlantedCosts costs = {
		.seed = 7, .n_functions = 50, .base = 0.001, .div = 0.02, .blocked = 0.01};
	PlantedProfile planted = planted_profile_new(&costs);
	g_autoptr(LodeProfile) profile = planted.profile;
	g_autoptr(LodeFindings) one = fit(profile, 1);

	g_assert_cmpuint(one->findings->len, >, 0);
	for (unsigned threads = 2; threads <= 5; threads++) {
		g_autoptr(LodeFindings) more = fit(profile, threads);
		assert_same(one, more);
	}
}

static void assert_sane(const LodeFindings *findings)
{
	g_assert_true(isfinite(findings->base) && isfinite(findings->explained) &&
		      isfinite(findings->single) && isfinite(findings->samples));
	for (guint i = 0; i < findings->findings->len; i++) {
		const LodeFinding *one = lode_findings_at(findings, i);
		g_autofree char *text = lode_finding_text(findings, one);
		g_assert_cmpstr(text, !=, "");
		g_assert_true(isfinite(one->time) && one->time >= 0);
		g_assert_true(isfinite(one->time_error) && isfinite(one->each));
		g_assert_true(isfinite(one->each_error) && isfinite(one->spread));
		g_assert_true(isfinite(one->executed));
	}
}

typedef enum {
	ODD_NO_SAMPLES,
	ODD_ONE_SAMPLE,
	ODD_ONE_PLACE,
	ODD_NEVER_EXECUTED,
	ODD_MANY_EXECUTIONS,
	ODD_TINY_WEIGHT,
	ODD_HUGE_WEIGHT,
	ODD_NO_BLOCKS,
	ODD_NO_EDGES,
	N_ODDITIES,
} Oddity;

static void make_odd(LodeProfile *profile, Oddity oddity)
{
	double total = 0;

	for (guint i = 0; i < profile->code.costs->len; i++) {
		double *value = &LODE_AT(profile->code.costs, LodeCost, i).value;
		if (oddity == ODD_NO_SAMPLES || (oddity == ODD_ONE_SAMPLE && i > 0) ||
			(oddity == ODD_ONE_PLACE && i > 0))
			*value = 0;
		if (oddity == ODD_ONE_PLACE && i == 0)
			*value = 1e9;
		if (oddity == ODD_TINY_WEIGHT)
			*value *= 1e-300;
		if (oddity == ODD_HUGE_WEIGHT)
			*value *= 1e290;
		total += *value;
	}
	lode_profile_event(profile, profile->code.weight_event)->total = total;
	if (oddity == ODD_NO_SAMPLES)
		profile->run.n_samples = 0;
	if (oddity == ODD_ONE_SAMPLE)
		profile->run.n_samples = 1;
	for (guint i = 0; i < profile->code.instructions->len; i++) {
		LodeInstruction *one = lode_profile_instruction(profile, i);
		if (oddity == ODD_NEVER_EXECUTED && i % 3 == 0)
			one->count = 0;
		if (oddity == ODD_MANY_EXECUTIONS)
			one->count *= 1e15;
		if (oddity == ODD_NO_BLOCKS)
			one->block = LODE_NONE;
		if (oddity == ODD_NO_EDGES)
			one->next_count = -1;
	}
}

static void test_odd(void)
{
	for (Oddity oddity = 0; oddity < N_ODDITIES; oddity++)
		for (int is_counted = 0; is_counted < 2; is_counted++) {
			const PlantedCosts costs = {.seed = 3,
				.is_counted = is_counted != 0,
				.n_functions = 20,
				.base = 0.001,
				.div = 0.02};
			PlantedProfile planted = planted_profile_new(&costs);
			g_autoptr(LodeProfile) profile = planted.profile;
			make_odd(profile, oddity);
			g_autoptr(LodeFindings) findings = fit(profile, 0);
			assert_sane(findings);
			if (oddity == ODD_NO_SAMPLES || oddity == ODD_ONE_SAMPLE)
				g_assert_cmpuint(findings->findings->len, ==, 0);
			/* The scatter that one place makes does not hide it. */
			if (oddity == ODD_ONE_PLACE) {
				g_assert_cmpuint(findings->findings->len, ==, 1);
				g_assert_cmpfloat(lode_findings_at(findings, 0)->time, >, 0.5);
				g_assert_cmpuint(lode_findings_at(findings, 0)->places, ==, 1);
			}
			/* Without blocks nothing is known of any instruction but itself. */
			if (oddity == ODD_NO_BLOCKS && is_counted == 0)
				g_assert_cmpuint(findings->findings->len, ==, 0);
		}
}

static LodeSharedFindings *fit_shared(
	const LodeProfile *base, const LodeProfile *other, const uint32_t *counterparts)
{
	const LodeProfile *const profiles[] = {base, other};
	g_autoptr(GError) error = NULL;
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	LodeSharedFindings *shared = lode_findings_fit_shared(
		profiles, &parameters, counterparts, NULL, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(shared->sides[0]->findings->len, ==, shared->sides[1]->findings->len);
	return shared;
}

static guint number_of(const LodeFindings *findings, const char *text)
{
	const LodeFinding *found = find(findings, text);

	return found != NULL ? (guint)(found - lode_findings_at(findings, 0)) : G_MAXUINT;
}

static bool is_near(double value, double expected, double error)
{
	return fabs(value - expected) <= 3 * error;
}

static const LodeExposure *exposure(const LodeSharedFindings *shared, int side, guint index)
{
	return &g_array_index(shared->exposures[side], LodeExposure, index);
}

/* A division costs twice as much in the second of two programs, in which a blocked load costs as
 * much as in the first. */
static void test_shared(void)
{
	unsigned n_right = 0, n_draws = 0;

	for (guint32 seed = 0; seed < 20; seed++) {
		PlantedCosts costs = {.seed = soak_seed(seed),
			.is_counted = seed % 2 == 0,
			.n_functions = 60,
			.base = 0.0005,
			.div = 0.01,
			.blocked = 0.006};
		const PlantedProfile before = planted_profile_new(&costs);
		costs.seed = soak_seed(seed + 100);
		costs.div *= 2;
		const PlantedProfile after = planted_profile_new(&costs);
		g_autoptr(LodeProfile) first = before.profile, second = after.profile;
		g_autoptr(LodeSharedFindings) shared = fit_shared(first, second, NULL);
		guint div = number_of(shared->sides[0], "⟪div⟫");
		guint blocked = number_of(shared->sides[0], "⟨str store⟩ → ⟪ldr load⟫");
		g_assert_cmpuint(div, ==, number_of(shared->sides[1], "⟪div⟫"));
		bool is_right = div != G_MAXUINT && blocked != G_MAXUINT;
		for (int side = 0; side < 2 && is_right; side++) {
			const PlantedProfile *planted = side == 0 ? &before : &after;
			const LodeFinding *one = lode_findings_at(shared->sides[side], div);
			const LodeFinding *other = lode_findings_at(shared->sides[side], blocked);
			double weight = 100000 * planted->profile->run.n_samples;
			is_right = is_near(one->time, planted->div_share, one->time_error) &&
			           is_near(other->time, planted->blocked_share, other->time_error);
			if (costs.is_counted)
				is_right = is_right && is_near(one->each, side == 0 ? 1000 : 2000,
							       one->each_error);
			g_assert_cmpfloat_with_epsilon(
				one->each * exposure(shared, side, div)->value / weight, one->time,
				1e-6);
		}
		n_right += is_right;
		n_draws++;
	}
	g_test_message("%u of %u", n_right, n_draws);
	g_assert_cmpuint(n_right, >=, n_draws - 2);
}

/* What is the same costs the same; a place of one is the place of the other. */
static void test_shared_with_itself(void)
{
	const PlantedCosts costs = {
		.seed = 3, .n_functions = 60, .base = 0.0005, .div = 0.01, .blocked = 0.006};
	g_autoptr(LodeProfile) profile = planted_profile_new(&costs).profile;
	g_autofree uint32_t *same = g_new(uint32_t, profile->code.instructions->len);
	uint32_t hot = 50;
	unsigned n_places = 0;

	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		same[i] = i;
	for (uint32_t c = LODE_AT(profile->code.cost_starts, uint32_t, hot);
		c < LODE_AT(profile->code.cost_starts, uint32_t, hot + 1); c++)
		LODE_AT(profile->code.costs, LodeCost, c).value += 1e8;
	lode_profile_event(profile, 0)->total += 1e8;
	profile->run.n_samples += 1000;
	g_autoptr(LodeSharedFindings) shared = fit_shared(profile, profile, same);
	g_assert_nonnull(find(shared->sides[0], "⟪div⟫"));
	for (guint i = 0; i < shared->sides[0]->findings->len; i++) {
		const LodeFinding *a = lode_findings_at(shared->sides[0], i);
		const LodeFinding *b = lode_findings_at(shared->sides[1], i);
		g_assert_cmpfloat_with_epsilon(a->time, b->time, 1e-9);
		g_assert_cmpfloat_with_epsilon(a->each, b->each, 1e-6);
		n_places += a->kind == LODE_FINDING_PLACE;
		if (a->kind != LODE_FINDING_PLACE)
			continue;
		for (int side = 0; side < 2; side++) {
			const LodeFindings *findings = shared->sides[side];
			g_assert_cmpuint(g_array_index(findings->places, LodeFindingPlace,
						 (side == 0 ? a : b)->first_place)
						 .instruction,
				==, hot);
		}
	}
	g_assert_cmpuint(n_places, ==, 1);
}

/* One instruction has most of the samples of the second program, and makes its scatter so large
 * that nothing is worth its price there: it does not hide, whatever the first one's findings are.
 */
static void test_shared_hidden_place(void)
{
	for (int is_counted = 0; is_counted < 2; is_counted++) {
		PlantedCosts costs = {.seed = 3,
			.is_counted = is_counted != 0,
			.n_functions = 20,
			.base = 0.001,
			.div = 0.02};
		g_autoptr(LodeProfile) first = planted_profile_new(&costs).profile;
		costs.div = 0;
		g_autoptr(LodeProfile) second = planted_profile_new(&costs).profile;
		make_odd(second, ODD_ONE_PLACE);
		g_autoptr(LodeSharedFindings) shared = fit_shared(first, second, NULL);
		const LodeFindings *base = shared->sides[0], *other = shared->sides[1];
		double most = 0;
		for (guint i = 0; i < other->findings->len; i++)
			most = fmax(most, lode_findings_at(other, i)->time);
		g_assert_cmpfloat(most, >, 0.5);
		g_assert_nonnull(find(base, "⟪div⟫"));
	}
}

static void test_cancelled(void)
{
	const PlantedCosts costs = {.seed = 1, .n_functions = 20, .base = 0.001, .div = 0.02};
	PlantedProfile planted = planted_profile_new(&costs);
	g_autoptr(LodeProfile) profile = planted.profile;
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	const LodeProgress progress = {.cancellable = cancellable};
	g_autoptr(GError) error = NULL;
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	g_cancellable_cancel(cancellable);
	g_assert_null(lode_findings_fit(profile, &parameters, &progress, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_CANCELLED);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/findings/planted-counted", test_planted_counted);
	g_test_add_func("/findings/planted-alone", test_planted_alone);
	g_test_add_func("/findings/uniform", test_uniform);
	g_test_add_func("/findings/start-up", test_start_up);
	g_test_add_func("/findings/name", test_name);
	g_test_add_func("/findings/common", test_common);
	g_test_add_func("/findings/cause", test_cause);
	g_test_add_func("/findings/threads", test_threads);
	g_test_add_func("/findings/odd", test_odd);
	g_test_add_func("/findings/shared", test_shared);
	g_test_add_func("/findings/shared-with-itself", test_shared_with_itself);
	g_test_add_func("/findings/shared-hidden-place", test_shared_hidden_place);
	g_test_add_func("/findings/cancelled", test_cancelled);
	return g_test_run();
}
