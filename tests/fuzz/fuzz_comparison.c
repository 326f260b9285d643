/* SPDX-License-Identifier: MIT */
/*
 * Any graphs as a profile, compared with itself and with a small one: nothing changed of what is
 * the same, and all that is said of the rest are numbers. Executions are inferred and weights are
 * samples where the file's length is odd.
 */
#include "analyses/compare/comparison.h"
#include "fuzz_target.h"
#include "model/profile.h"
#include "sources/flow_file/flow_file.h"
#include "views/findings/comparison.h"

#include <math.h>
#include <string.h>

static const char small[] = "lode-flow 1\n"
			    "event cycles\n"
			    "graph sum\n"
			    "v entry 1 1 op:push at:entry\n"
			    "v load 600 100 op:mov kind:load mem:indexed loop:1\n"
			    "v add 300 100 op:add loop:1\n"
			    "e entry load 1\n"
			    "e load add 100\n"
			    "e add load 99\n";

static LodeProfile *read_flow(const uint8_t *data, size_t size)
{
	LodeProfile *profile = lode_flow_file_read(fuzz_file(data, size), NULL, NULL);

	if (profile == NULL || size % 2 == 0)
		return profile;
	profile->run.frequency = LODE_FREQUENCY_INFERRED;
	profile->run.n_samples = (double)size;
	if (profile->code.weight_event < profile->code.events->len &&
		lode_profile_event(profile, profile->code.weight_event)->kind !=
			LODE_EVENT_DERIVED &&
		lode_profile_event(profile, profile->code.weight_event)->kind != LODE_EVENT_COUNT)
		lode_profile_event(profile, profile->code.weight_event)->kind = LODE_EVENT_SAMPLED;
	return profile;
}

static void check_row(const LodeComparedRow *row)
{
	for (int side = 0; side < 2; side++)
		if (isnan(row->sides[side].time.value) || row->sides[side].time.value < 0 ||
			isnan(row->sides[side].time.error))
			g_error("a time that is no number");
	if (isnan(row->change.value) || isnan(row->change.error))
		g_error("a change that is no number");
}

static void compare(const LodeProfile *base, const LodeProfile *other)
{
	const LodeProfile *const profiles[] = {base, other};
	const LodeComparisonOptions options = {
		.wants = {true, true, true, true, false}, .threads = 1};
	const LodeComparisonViewOptions view = {
		.format = LODE_VIEW_TEXT, .fail_above = 0.05, .base_path = "base"};
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeComparison)
		comparison = lode_comparison_new(profiles, &options, NULL, &error);
	char *text = NULL;
	size_t size;

	if ((comparison == NULL) == (error == NULL))
		g_error("a result and an error");
	if (comparison == NULL)
		return;
	/* A profile without weight has totals alone. */
	for (int kind = 0; kind < LODE_COMPARED_SEQUENCE; kind++)
		for (guint i = 0; comparison->kinds[kind].rows != NULL &&
				  i < comparison->kinds[kind].rows->len;
			i++) {
			const LodeComparedRow *row = lode_compared_row(&comparison->kinds[kind], i);
			check_row(row);
			if (base == other && row->is_told && kind == LODE_COMPARED_LINE)
				g_error("a line differs from itself");
		}
	const LodeComparedFile file = {other, "other", comparison, NULL};
	FILE *out = open_memstream(&text, &size);
	if (!lode_comparison_write(base, &file, 1, &view, out, &error))
		g_error("cannot be written: %s", error->message);
	fclose(out);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(LodeProfile) profile = read_flow(data, size);
	g_autoptr(LodeProfile) other = read_flow((const uint8_t *)small, sizeof(small) - 1);

	if (profile == NULL)
		return 0;
	compare(profile, profile);
	compare(profile, other);
	compare(other, profile);
	return 0;
}
