/* SPDX-License-Identifier: MIT */
#include "views/finding_figures.h"

#include "base/number_format.h"
#include "views/profile_figures.h"

#include <string.h>

const char *lode_finding_unit(const LodeProfile *profile, uint32_t weight_event)
{
	const char *name = lode_profile_event_name(profile, weight_event);

	if (name == NULL)
		return "";
	return strstr(name, "-clock") != NULL ? "ns" : name;
}

void lode_finding_append_amount(GString *out, double value)
{
	char number[LODE_NUMBER_SIZE];

	if (value >= 100)
		g_string_append(out, lode_number_format_count(value, number));
	else
		g_string_append_printf(out, "%.*f", value >= 10 ? 1 : 2, value);
}

void lode_finding_append_each(
	GString *out, const LodeFindings *findings, const LodeFinding *finding, const char *unit)
{
	if (findings->is_counted)
		g_string_append_c(out, '+');
	lode_finding_append_amount(out, finding->each);
	if (findings->is_counted)
		g_string_append_printf(out, " %s", unit);
	else
		g_string_append(out, " ×");
}

void lode_finding_append_time(GString *out, const LodeFinding *finding)
{
	g_string_append_printf(
		out, "%.1f %% ±%.1f", 100 * finding->time, 100 * finding->time_error);
}
