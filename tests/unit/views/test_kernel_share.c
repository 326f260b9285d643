/* SPDX-License-Identifier: MIT */
/* The sentence on the kernel's share, of profiles made up. */
#include "made_profile.h"
#include "views/profile/kernel_share.h"

static void check(const LodeProfile *profile, const char *expected)
{
	g_autofree char *text = lode_kernel_share_text(profile);

	g_assert_cmpstr(text, ==, expected);
}

static void add_function(LodeProfile *profile, uint32_t image, const char *name, double weight)
{
	made_function(profile, (LodeFunction){.image = image, .name = (char *)name});
	made_instruction(profile, (LodeInstruction){0}, NULL, weight);
	lode_profile_event(profile, profile->code.weight_event)->total += weight;
}

static void test_share(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();

	g_assert_cmpfloat(lode_kernel_share(profile), ==, -1);
	check(profile, NULL);
	profile->run.system_seconds = 0.004;
	check(profile, "100.0 % of 0.0040 s of processor time were in the kernel, not sampled; "
		       "--kernel samples it too.");
	profile->run.user_seconds = 0.5;
	profile->run.system_seconds = 1.5;
	g_assert_cmpfloat(lode_kernel_share(profile), ==, 0.75);
	check(profile, "75.0 % of 2.00 s of processor time were in the kernel, not sampled; "
		       "--kernel samples it too.");
	profile->run.user_seconds = 1e15;
	check(profile, "0 % of 1000000000000002 s of processor time were in the kernel, "
		       "not sampled; --kernel samples it too.");
}

static void test_functions(void)
{
	g_autoptr(LodeProfile) profile = lode_profile_new();
	const LodeImage images[] = {
		{.path = lode_profile_intern(profile, "/bin/x")},
		{.path = lode_profile_intern(profile, "[kernel]"), .kind = LODE_IMAGE_KERNEL},
	};

	g_array_append_vals(profile->code.images, images, G_N_ELEMENTS(images));
	profile->code.weight_event = lode_profile_add_event(
		profile, "cpu-clock", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	profile->run.user_seconds = 1;
	profile->run.is_kernel_sampled = true;
	check(profile, "0 % of 1.00 s of processor time were in the kernel, sampled too.");
	profile->run.system_seconds = 1;
	if (profile->code.cost_starts->len == 0) {
		uint32_t zero = 0;
		g_array_append_val(profile->code.cost_starts, zero);
	}
	add_function(profile, 0, "main", 50);
	add_function(profile, 1, "small", 3);
	add_function(profile, 1, "large", 30);
	add_function(profile, 1, "smallest", 2);
	add_function(profile, 1, "middle", 15);
	check(profile, "50.0 % of 2.00 s of processor time were in the kernel, sampled too: "
		       "most in large (30.0 %), middle (15.0 %), small (3.0 %).");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/views/kernel-share/share", test_share);
	g_test_add_func("/views/kernel-share/functions", test_functions);
	return g_test_run();
}
