/* SPDX-License-Identifier: MIT */
/* All diagnoses of a profile: their order and names, findings, and profiles that hold anything. */
#include "analyses/diagnoses/diagnose.h"
#include "model/memory.h"
#include "model/observed/loops.h"
#include "model/observed/windows.h"
#include "model/stacks.h"

#include "../../store/random_profile.h"
#include "code_profile.h"
#include "seeds.h"

#include <math.h>
#include <string.h>

/* --- order, names, shares --- */

/* A function with divisions of `first` and another one with `second` of 1000 samples. */
static LodeProfile *divisions_new(double first, double second)
{
	LodeProfile *profile = code_profile_new();
	const double weights[] = {first, second, 1000 - first - second};

	for (size_t i = 0; i < G_N_ELEMENTS(weights); i++) {
		const char *const names[] = {"hash", "scale", "main"};
		code_profile_function(profile, names[i]);
		code_profile_block(profile, 0, false);
		uint32_t at = code_profile_add(
			profile, i < 2 ? "op:idiv kind:div needs:div" : "op:nop", weights[i]);
		lode_profile_instruction(profile, at)->location = lode_profile_location(
			profile, "/home/me/code.c", (uint32_t)i + 1, NULL);
		code_profile_add(profile, "op:nop", 0);
	}
	code_profile_finish(profile);
	return profile;
}

static void add_finding(LodeFindings *findings, uint32_t n, const LodeFindingPlace *places)
{
	const LodeFinding finding = {.first_place = findings->places->len, .n_places = n};

	g_array_append_vals(findings->places, places, n);
	g_array_append_val(findings->findings, finding);
}

static void test_order(void)
{
	g_autoptr(LodeProfile) profile = divisions_new(200, 300);
	g_autoptr(LodeFindings) findings = lode_findings_new();

	add_finding(findings, 2, (const LodeFindingPlace[]){{2, 0.2}, {4, 0.1}});
	add_finding(findings, 2, (const LodeFindingPlace[]){{4, 0.2}, {0, 0.1}});
	add_finding(findings, 2, (const LodeFindingPlace[]){{4, 0.2}, {0, 0.2}});
	add_finding(findings, 0, NULL);
	profile->user_seconds = 8;
	profile->system_seconds = 0.2;
	g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, findings, 0, NULL);
	g_assert_cmpfloat_with_epsilon(all->seconds, 8.2, 1e-9);
	g_assert_cmpfloat_with_epsilon(all->user, 8 / 8.2, 1e-9);
	g_assert_cmpuint(all->diagnoses->len, ==, 2);
	const LodeDiagnosis *scale = lode_diagnoses_at(all, 0), *hash = lode_diagnoses_at(all, 1);
	g_assert_cmpstr(scale->name, ==, "division@scale");
	g_assert_cmpstr(hash->name, ==, "division@hash");
	g_assert_cmpfloat_with_epsilon(scale->time, 0.3 * 8 / 8.2, 1e-9);
	g_assert_cmpfloat_with_epsilon(hash->time, 0.2 * 8 / 8.2, 1e-9);
	g_assert_cmpfloat_with_epsilon(all->covered, 0.5 * 8 / 8.2, 1e-9);
	g_assert_cmpuint(scale->instruction, ==, 2);
	g_assert_cmpstr(scale->file, ==, "/home/me/code.c");
	g_assert_cmpuint(scale->line, ==, 2);
	/* Findings that have half of their time there. */
	g_assert_cmpuint(scale->findings->len, ==, 1);
	g_assert_cmpuint(g_array_index(scale->findings, uint32_t, 0), ==, 0);
	g_assert_cmpuint(hash->findings->len, ==, 1);
	g_assert_cmpuint(g_array_index(hash->findings, uint32_t, 0), ==, 2);
}

/* Nothing weighs. */
static void test_no_event(void)
{
	g_autoptr(LodeProfile) profile = divisions_new(200, 300);

	profile->user_seconds = 1;
	profile->system_seconds = 1;
	g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, NULL, LODE_NONE, NULL);
	g_assert_cmpuint(all->diagnoses->len, ==, 0);
	g_assert_cmpfloat(all->user, ==, 0.5);
	profile->is_kernel_sampled = true;
	g_autoptr(LodeDiagnoses) sampled = lode_diagnose(profile, NULL, LODE_NONE, NULL);
	g_assert_cmpuint(sampled->diagnoses->len, ==, 0);
	g_assert_cmpfloat(sampled->user, ==, 1);
}

/* No samples, no instructions, the kernel alone. */
static void test_little(void)
{
	for (int i = 0; i < 4; i++) {
		g_autoptr(LodeProfile) profile = code_profile_new();
		if (i > 0)
			code_profile_function(profile, "f");
		for (int k = 0; k < 2 && i > 0; k++)
			code_profile_add(profile, "kind:div kind:syscall", i == 2 && k == 0);
		if (i == 3)
			lode_profile_image(profile, 0)->kind = LODE_IMAGE_KERNEL;
		code_profile_finish(profile);
		profile->is_kernel_sampled = i == 3;
		profile->user_seconds = i == 2 ? 1 : 0;
		g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, NULL, 0, NULL);
		g_assert_cmpuint(all->diagnoses->len, ==, 0);
	}
}

/* --- anything --- */

/* Gives attributes that rules ask for to a random profile, which has samples of its own. */
static void make_like_code(LodeProfile *profile, GRand *rand)
{
	static const char *const names[] = {"kind:div", "kind:load", "kind:store", "kind:branch",
		"kind:indirect", "kind:call", "kind:syscall", "after:fork", "at:entry",
		"mem:pointer", "carried:load", "needs:part-store", "loop:1"};
	uint32_t ids[G_N_ELEMENTS(names)];

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		ids[i] = lode_profile_attribute(profile, names[i]);
	for (guint i = 0; i < profile->instructions->len; i++) {
		uint32_t chosen[3];
		for (int k = 0; k < 3; k++)
			chosen[k] = ids[g_rand_int_range(rand, 0, G_N_ELEMENTS(names))];
		lode_profile_instruction(profile, i)->attribute_set = lode_profile_attribute_set(
			profile, chosen, 3);
	}
	for (guint i = 0; i < profile->blocks->len; i++) {
		lode_profile_block(profile, i)->loop_depth = (uint8_t)g_rand_int(rand);
		lode_profile_block(profile, i)->is_loop_head = g_rand_boolean(rand);
	}
	for (guint i = 0; i < profile->functions->len; i++) {
		static const char *const known[] = {"malloc", "strlen", "write", "f"};
		if (g_rand_boolean(rand))
			lode_profile_function(profile, i)->name = lode_profile_intern(
				profile, known[g_rand_int_range(rand, 0, 4)]);
	}
	profile->user_seconds = g_rand_double(rand);
	profile->system_seconds = g_rand_double(rand);
	profile->is_kernel_sampled = g_rand_boolean(rand);
	profile->cycles_per_ns = 4;
}

static void check_texts(const LodeDiagnosis *one)
{
	const char *const texts[] = {
		one->cause, one->title, one->name, one->explanation, one->remedy, one->source};

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		g_assert_nonnull(texts[i]);
	g_assert_cmpuint(one->evidence->len, >, 0);
}

static void test_anything(void)
{
	guint n = 0;

	for (unsigned round = 0; round < random_rounds(300, 5000); round++) {
		guint32 seed = soak_seed(round);
		g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
		g_autoptr(LodeProfile) profile = random_profile_new(seed, 30);
		if (round % 4 != 0)
			make_like_code(profile, rand);
		for (uint32_t event = 0; event <= profile->events->len; event++) {
			g_autoptr(LodeDiagnoses) all = lode_diagnose(profile, NULL,
				event < profile->events->len ? event : LODE_NONE, NULL);
			for (guint i = 0; i < all->diagnoses->len; i++, n++) {
				const LodeDiagnosis *one = lode_diagnoses_at(all, i);
				check_texts(one);
				g_assert_true(
					i == 0 || lode_diagnoses_at(all, i - 1)->high >= one->high);
			}
		}
	}
	g_assert_cmpuint(n, >, 100);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/diagnose/order", test_order);
	g_test_add_func("/diagnose/no_event", test_no_event);
	g_test_add_func("/diagnose/little", test_little);
	g_test_add_func("/diagnose/anything", test_anything);
	return g_test_run();
}
