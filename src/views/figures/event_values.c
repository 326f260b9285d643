/* SPDX-License-Identifier: MIT */
#include "views/figures/event_values.h"

#include "base/text/number_format.h"
#include "model/causes.h"
#include "model/code.h"
#include "model/waits.h"
#include "views/figures/profile_figures.h"

#include <string.h>

#define NS_PER_S 1e9

static bool is_clock(const char *event)
{
	return event != NULL &&
	       (strstr(event, "-clock") != NULL || strcmp(event, LODE_WAITING_EVENT) == 0 ||
		       strcmp(event, LODE_CLOCK_EVENT) == 0 ||
		       strcmp(event, LODE_CLOCK_EVENT LODE_CAUSE_SUFFIX) == 0);
}

/* The event that latency and the time in the kernel are made of: the first that weighs time. */
static const char *clocked_event(const LodeProfile *profile)
{
	for (uint32_t i = 0; i < lode_code_of(profile)->events->len; i++) {
		const char *name = lode_profile_event(profile, i)->name;
		if (is_clock(name) || strstr(name, "cycles") != NULL)
			return name;
	}
	return LODE_LATENCY_EVENT;
}

const char *lode_event_value_unit(const LodeProfile *profile, uint32_t weight_event)
{
	const char *name = lode_profile_event_name(profile, weight_event);

	if (name == NULL)
		return "";
	if (strcmp(name, LODE_LATENCY_EVENT) == 0 ||
		strcmp(name, LODE_LATENCY_EVENT LODE_CAUSE_SUFFIX) == 0 ||
		g_str_has_prefix(name, LODE_KERNEL_EVENTS))
		name = clocked_event(profile);
	return is_clock(name) ? "ns" : name;
}

void lode_event_value_append(GString *out, const LodeProfile *profile, uint32_t event, double value)
{
	double seconds = value / NS_PER_S;

	if (value == 0 || strcmp(lode_event_value_unit(profile, event), "ns") != 0)
		g_string_append(out, LODE_COUNT_TEXT(value));
	else if (seconds >= 100)
		g_string_append_printf(out, "%s s", LODE_COUNT_TEXT(seconds));
	else
		/* A sample of 0.1 ms is seen as such. */
		g_string_append_printf(out, "%.*f s",
			seconds >= 10    ? 1
			: seconds >= 0.1 ? 2
					 : 4,
			seconds);
}
