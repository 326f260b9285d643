/* SPDX-License-Identifier: MIT */
/* What the first line of a comparison says of profiles that are not alike. */
#include "model/profile.h"
#include "model/run/origins.h"
#include "views/findings/comparison_parts.h"

#include <string.h>

typedef struct {
	LodeProfile *profiles[2];
	LodeComparison comparison;
} Fixture;

/* Two that are alike. */
static void set_up(Fixture *self)
{
	*self = (Fixture){.comparison.weight = (char *)"time"};
	for (int side = 0; side < 2; side++) {
		LodeProfile *profile = lode_profile_new();
		profile->run.user_seconds = side == 0 ? 2 : 1;
		profile->run.system_seconds = 0.5;
		profile->run.wall_seconds = 4;
		self->profiles[side] = profile;
		self->comparison.profiles[side] = (LodeComparedProfile){
			.total = 1000, .work = 1, .samples = 100, .common = 1};
	}
}

static void check(Fixture *self, const char *expected)
{
	g_autoptr(GString) text = g_string_new(NULL);

	lode_comparison_append_differences(
		(const LodeProfile *const *)self->profiles, &self->comparison, text);
	if (*expected == '\0')
		g_assert_cmpstr(text->str, ==, "");
	else if (strstr(text->str, expected) == NULL)
		g_error("'%s' is not in '%s'", expected, text->str);
	for (int side = 0; side < 2; side++)
		lode_profile_free(self->profiles[side]);
}

static void test_alike(void)
{
	Fixture self;

	set_up(&self);
	check(&self, "");
}

static void test_differences(void)
{
	Fixture self;

	set_up(&self);
	self.profiles[0]->run.core = lode_profile_intern(self.profiles[0], "Zen 3");
	self.profiles[1]->run.core = lode_profile_intern(self.profiles[1], "Zen 5");
	check(&self, "Different machines, Zen 3 and Zen 5:");
	set_up(&self);
	self.comparison.profiles[1].samples = 1000;
	check(&self, "Different rates, a sample each 10.0 → 1.0 time:");
	/* The same, of which one was shorter. */
	set_up(&self);
	self.comparison.profiles[1].samples = 1000;
	for (int side = 0; side < 2; side++)
		lode_profile_add_event(self.profiles[side], "cpu-clock",
			"sampled 1500 times a second, 6000 at first", LODE_EVENT_SAMPLED, NULL, 0);
	check(&self, "");
	/* What sampling took stands in place of the rate of one; page faults do not answer for it.
	 */
	set_up(&self);
	self.comparison.profiles[1].samples = 10;
	lode_profile_add_event(self.profiles[0], "cpu-clock", "lode itself took 1.1 %",
		LODE_EVENT_SAMPLED, NULL, 0);
	lode_profile_add_event(self.profiles[1], "cpu-clock", "sampled 50 times a second",
		LODE_EVENT_SAMPLED, NULL, 0);
	for (int side = 0; side < 2; side++)
		lode_profile_add_event(self.profiles[side], "page-faults", "sampled every 61",
			LODE_EVENT_SAMPLED, NULL, 0);
	check(&self, "Different rates, a sample each 10 → 100 time:");
	set_up(&self);
	self.profiles[1]->run.is_kernel_sampled = true;
	check(&self, "The kernel is sampled in new alone:");
	set_up(&self);
	self.comparison.profiles[0].is_counted = true;
	check(&self, "Executions are counted in the base alone:");
	set_up(&self);
	self.comparison.profiles[0].common = 0.125;
	self.comparison.profiles[1].common = 0.25;
	self.profiles[0]->run.program = lode_profile_intern(self.profiles[0], "/bin/one -x");
	self.profiles[1]->run.program = lode_profile_intern(self.profiles[1], "/bin/other");
	check(&self,
		"These are profiles of different programs, one and other: functions that both have "
		"take only 25.0 %");
	set_up(&self);
	self.comparison.profiles[1].total = 0;
	check(&self, "Empty: new has no time,");
}

static void test_times(void)
{
	Fixture self;
	g_autoptr(GString) text = g_string_new(NULL);

	set_up(&self);
	g_assert_true(lode_comparison_append_times(
		(const LodeProfile *const *)self.profiles, &self.comparison, text));
	g_assert_cmpstr(text->str, ==,
		"Processor time 2.50 → 1.50 s, 0.60 ×: user 2.00 → 1.00, kernel 0.500 → 0.500; "
		"wall 4.00 → 4.00 s, 1.00 ×.");
	self.comparison.totals[LODE_TOTAL_PAGE_FAULTS] = (LodeComparedTotal){
		.sides = {{16459, 128}, {105, 10}}, .is_told = true};
	g_string_truncate(text, 0);
	lode_comparison_append_times(
		(const LodeProfile *const *)self.profiles, &self.comparison, text);
	g_assert_true(g_str_has_suffix(text->str, "1.00 ×; page faults 16,459 → 105."));
	check(&self, "");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/comparison_head/alike", test_alike);
	g_test_add_func("/comparison_head/differences", test_differences);
	g_test_add_func("/comparison_head/times", test_times);
	return g_test_run();
}
