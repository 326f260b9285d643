/* SPDX-License-Identifier: MIT */
/* Figures of a whole profile that several views show. */
#include "views/figures/profile_figures.h"

#include "analyses/parts/program_shares.h"
#include "base/text/number_format.h"
#include "model/mining_run.h"
#include "model/profile.h"
#include "model/run/unresolved.h"

#include <string.h>

uint32_t lode_profile_weight_of(const LodeProfile *profile, const LodeMiningRun *run)
{
	uint32_t event = LODE_NONE;

	if (run->parameters.weight != NULL)
		event = lode_profile_find_event(profile, run->parameters.weight);
	return event != LODE_NONE ? event : profile->code.weight_event;
}

const char *lode_profile_event_name(const LodeProfile *profile, uint32_t event)
{
	return event < profile->code.events->len ? lode_profile_event(profile, event)->name : NULL;
}

double lode_profile_event_total(const LodeProfile *profile, uint32_t event)
{
	return event < profile->code.events->len ? lode_profile_event(profile, event)->total : 0;
}

double lode_share_of(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static GArray *function_values(const LodeProfile *profile, uint32_t event)
{
	GArray *values = g_array_sized_new(
		FALSE, TRUE, sizeof(double), MAX(profile->code.functions->len, 1));

	g_array_set_size(values, profile->code.functions->len);
	if (event >= profile->code.events->len)
		return values;
	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		uint32_t function = lode_profile_instruction(profile, i)->function;
		LODE_AT(values, double, function) += lode_profile_event_value(profile, event, i);
	}
	return values;
}

GArray *lode_profile_image_values(const LodeProfile *profile, uint32_t event)
{
	g_autoptr(GArray) functions = function_values(profile, event);
	GArray *values = g_array_sized_new(
		FALSE, TRUE, sizeof(double), MAX(profile->code.images->len, 1));

	g_array_set_size(values, profile->code.images->len);
	for (uint32_t i = 0; i < functions->len; i++)
		LODE_AT(values, double, lode_profile_function(profile, i)->image) += LODE_AT(
			functions, double, i);
	return values;
}

uint32_t lode_profile_hottest_function(
	const LodeProfile *profile, uint32_t event, double *out_value)
{
	g_autoptr(GArray) values = function_values(profile, event);
	uint32_t hottest = LODE_NONE;

	*out_value = 0;
	for (uint32_t i = 0; i < values->len; i++) {
		if (LODE_AT(values, double, i) > *out_value) {
			*out_value = LODE_AT(values, double, i);
			hottest = i;
		}
	}
	return hottest;
}

char *lode_profile_sampling(const LodeProfile *profile)
{
	for (uint32_t i = 0; i < profile->code.events->len; i++) {
		const char *text = lode_profile_event(profile, i)->description;
		if (text != NULL && g_str_has_suffix(text, LODE_SAMPLING_END))
			return g_strndup(text, strlen(text) - strlen(LODE_SAMPLING_END));
	}
	return NULL;
}

uint64_t lode_profile_count_edges(const LodeProfile *profile)
{
	uint64_t n = profile->code.edges->len;

	for (guint i = 0; i < profile->code.instructions->len; i++)
		n += lode_profile_instruction(profile, i)->next_count >= 0;
	return n;
}

static void add_amount(GString *text, double amount, const char *one, const char *many)
{
	if (amount > 0)
		g_string_append_printf(text, "%s%s %s", text->len > 0 ? ", " : "",
			LODE_COUNT_TEXT(amount), amount == 1 ? one : many);
}

char *lode_profile_unresolved_extent(const LodeUnresolved *row)
{
	GString *text = g_string_new(NULL);

	add_amount(text, row->count, "execution", "executions");
	add_amount(text, row->samples, "time", "times");
	add_amount(text, (double)row->places, "place", "places");
	return g_string_free(text, FALSE);
}

double lode_profile_unresolved_share(const LodeProfile *profile, const LodeUnresolved *row)
{
	double total = lode_profile_event_total(profile, profile->code.weight_event);

	if (total > 0)
		return row->weight / total;
	return lode_share_of(row->count, profile->run.total_count);
}

static const char simulated_begins[] = ", through ";

/* Finds the simulated caches in the text; false: there are none. */
static bool find_simulated(const char *creator, const char **out_first, const char **out_end)
{
	const char *first = creator != NULL ? g_strrstr(creator, simulated_begins) : NULL;
	const char *end = first != NULL ? strstr(first, " and ") : NULL;

	if (first == NULL)
		return false;
	*out_first = first;
	*out_end = end != NULL ? end : first + strlen(first);
	return true;
}

char *lode_profile_tool(const LodeProfile *profile)
{
	const char *first, *end;

	if (!find_simulated(profile->run.creator, &first, &end))
		return g_strdup(profile->run.creator);
	return g_strdup_printf(
		"%.*s%s", (int)(first - profile->run.creator), profile->run.creator, end);
}

char *lode_profile_simulated(const LodeProfile *profile)
{
	const char *first, *end;

	if (!find_simulated(profile->run.creator, &first, &end))
		return NULL;
	first += strlen(simulated_begins);
	return g_strndup(first, (gsize)(end - first));
}
