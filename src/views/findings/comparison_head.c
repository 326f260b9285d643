/* SPDX-License-Identifier: MIT */
#include "views/findings/comparison_parts.h"

#include "base/text/number_format.h"
#include "model/profile.h"
#include "model/run/origins.h"
#include "views/figures/event_values.h"
#include "views/profile/thread_times.h"

#include <math.h>
#include <string.h>

/* A logarithm: periods that differ by less than a factor of two are no matter, as `lode run`
 * chooses them by what a sample costs at the time. */
#define SAME_PERIOD 0.69

#define NS_PER_MS 1e6

/* Page faults differ by so much in equal runs, where memory is collected. */
#define OTHER_FAULTS 0.2

double lode_comparison_wall_seconds(const LodeProfile *profile)
{
	/* Earlier versions of lode did not store it. */
	double seconds = profile->run.wall_seconds > 0 ? profile->run.wall_seconds
	                                               : lode_threads_elapsed_seconds(profile);

	return seconds > 0 ? seconds : NAN;
}

/* "0.98 → 0.74" with three digits of the larger one. */
static void append_both(GString *out, double before, double after)
{
	double scale = fmax(before, after);
	int digits = scale < 0.1 ? 4 : scale < 1 ? 3 : scale < 10 ? 2 : scale < 100 ? 1 : 0;

	g_string_append_printf(out, "%.*f → %.*f", digits, before, digits, after);
}

/* ", 0.76 ×" */
static void append_ratio(GString *out, double before, double after)
{
	if (before > 0 && after > 0)
		g_string_append_printf(
			out, ", %.*f ×", after < 10 * before ? 2 : 0, after / before);
}

bool lode_comparison_append_times(
	const LodeProfile *const profiles[2], const LodeComparison *comparison, GString *out)
{
	const LodeComparedTotal *faults = &comparison->totals[LODE_TOTAL_PAGE_FAULTS];

	double user[2], kernel[2], all[2], wall[2];
	char numbers[2][LODE_NUMBER_SIZE];

	for (int side = 0; side < 2; side++) {
		user[side] = profiles[side]->run.user_seconds;
		kernel[side] = profiles[side]->run.system_seconds;
		all[side] = user[side] + kernel[side];
		wall[side] = lode_comparison_wall_seconds(profiles[side]);
		if (!(all[side] > 0) || profiles[side]->part != NULL)
			return false;
	}
	g_string_append(out, "Processor time ");
	append_both(out, all[0], all[1]);
	g_string_append(out, " s");
	append_ratio(out, all[0], all[1]);
	g_string_append(out, ": user ");
	append_both(out, user[0], user[1]);
	g_string_append(out, ", kernel ");
	append_both(out, kernel[0], kernel[1]);
	if (isfinite(wall[0]) && isfinite(wall[1])) {
		g_string_append(out, "; wall ");
		append_both(out, wall[0], wall[1]);
		g_string_append(out, " s");
		append_ratio(out, wall[0], wall[1]);
	}
	if (faults->is_told &&
		fabs(log(faults->sides[1].value / faults->sides[0].value)) > OTHER_FAULTS)
		g_string_append_printf(out, "; page faults %s → %s",
			lode_number_format_count(faults->sides[0].value, numbers[0]),
			lode_number_format_count(faults->sides[1].value, numbers[1]));
	g_string_append_c(out, '.');
	return true;
}

/* The name of the program's file: the last part of the command's first word; NULL: not known. The
 * caller frees it. */
static char *program_name(const LodeProfile *profile)
{
	const char *command = profile->run.program != NULL ? profile->run.program : "";
	g_autofree char *file = g_strndup(command, strcspn(command, " "));

	return *file != '\0' ? g_path_get_basename(file) : NULL;
}

static void append_programs(
	const LodeProfile *const profiles[2], const LodeComparison *comparison, GString *out)
{
	/* A fix may take all time from functions that the other profile has not. */
	double common = fmax(comparison->profiles[0].common, comparison->profiles[1].common);
	g_autofree char *before = program_name(profiles[0]), *after = program_name(profiles[1]);

	if (!(common < LODE_LITTLE_COMMON))
		return;
	if (before != NULL && after != NULL && strcmp(before, after) != 0)
		g_string_append_printf(
			out, "These are profiles of different programs, %s and %s", before, after);
	else
		g_string_append(out, "Little in common");
	g_string_append_printf(out, ": functions that both have take only %s of the time. ",
		LODE_SHARE_TEXT(common));
}

/* NULL: not known. */
static const char *host_of(const LodeProfile *profile)
{
	return profile->origins->len > 0 ? LODE_AT(profile->origins, LodeOrigin, 0).host : NULL;
}

static void append_machines(const LodeProfile *const profiles[2], GString *out)
{
	const char *cores[2] = {profiles[0]->run.core, profiles[1]->run.core};
	const char *hosts[2] = {host_of(profiles[0]), host_of(profiles[1])};
	bool has_hosts = hosts[0] != NULL && hosts[1] != NULL && strcmp(hosts[0], hosts[1]) != 0;
	bool has_cores = cores[0] != NULL && cores[1] != NULL && strcmp(cores[0], cores[1]) != 0;

	if (has_hosts || has_cores)
		g_string_append_printf(out,
			"Different machines, %s and %s: the speed of each is in all times. ",
			has_cores ? cores[0] : hosts[0], has_cores ? cores[1] : hosts[1]);
}

/* By what both recordings say of their first sampled event: "sampled 1500 times a second, 6000 at
 * first", by which short programs have more samples a second. Events after it, such as page faults,
 * have rates of their own. */
static bool are_asked_for_alike(const LodeProfile *const profiles[2])
{
	for (guint i = 0; i < profiles[0]->code.events->len; i++) {
		const LodeEvent *event = lode_profile_event(profiles[0], i);
		if (event->kind != LODE_EVENT_SAMPLED || event->description == NULL)
			continue;
		uint32_t other = lode_profile_find_event(profiles[1], event->name);
		return other != LODE_NONE &&
		       g_strcmp0(event->description,
			       lode_profile_event(profiles[1], other)->description) == 0;
	}
	return false;
}

static void append_rates(const LodeProfile *const profiles[2], const LodeComparison *comparison,
	bool is_ns, GString *out)
{
	double periods[2];

	for (int side = 0; side < 2; side++) {
		const LodeComparedProfile *one = &comparison->profiles[side];
		/* Some samples of a part do not have the weight that is compared. */
		if (!(one->samples > 0) || profiles[side]->part != NULL)
			return;
		periods[side] = one->total * one->work / one->samples;
	}
	if (!(fabs(log(periods[1] / periods[0])) > SAME_PERIOD) || are_asked_for_alike(profiles))
		return;
	g_string_append(out, "Different rates, a sample each ");
	append_both(
		out, periods[0] / (is_ns ? NS_PER_MS : 1), periods[1] / (is_ns ? NS_PER_MS : 1));
	g_string_append_printf(out, " %s: errors are those of the fewer samples. ",
		is_ns ? "ms" : comparison->weight);
}

void lode_comparison_append_differences(
	const LodeProfile *const profiles[2], const LodeComparison *comparison, GString *out)
{
	static const char *const names[] = {"the base", "new"};
	const char *unit = lode_event_value_unit(
		profiles[0], lode_profile_find_event(profiles[0], comparison->weight));

	bool is_empty = false;
	for (int side = 0; side < 2; side++) {
		if (comparison->profiles[side].total > 0)
			continue;
		is_empty = true;
		g_string_append_printf(out,
			"Empty: %s has no %s, so that nothing is known of where its time is. ",
			names[side], comparison->weight);
	}
	if (is_empty)
		return;
	append_programs(profiles, comparison, out);
	append_machines(profiles, out);
	append_rates(profiles, comparison, strcmp(unit, "ns") == 0, out);
	if (profiles[0]->run.is_kernel_sampled != profiles[1]->run.is_kernel_sampled)
		g_string_append_printf(out,
			"The kernel is sampled in %s alone: its functions are not compared with "
			"anything. ",
			names[profiles[1]->run.is_kernel_sampled]);
	if (comparison->profiles[0].is_counted != comparison->profiles[1].is_counted)
		g_string_append_printf(out,
			"Executions are counted in %s alone: only times are compared. ",
			names[comparison->profiles[1].is_counted]);
	if ((profiles[0]->windows != NULL) != (profiles[1]->windows != NULL))
		g_string_append_printf(out, "Only %s has windows: what they show is not compared. ",
			names[profiles[1]->windows != NULL]);
}
