/* SPDX-License-Identifier: MIT */
/* The figures of a sequence as a report shows them. */
#include "views/findings/report_values.h"

#include "base/error.h"
#include "model/index.h"
#include "model/mining_run.h"

#include <math.h>

bool lode_report_find_sequence(
	const LodeMiningRun *run, uint64_t id, size_t *out_index, GError **error)
{
	if (id >= 1 && id <= run->sequences->len) {
		*out_index = (size_t)(id - 1);
		return true;
	}
	if (run->parameters.only_findings)
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no sequence %" G_GUINT64_FORMAT
			": those of run '%s' are not mined yet; lode report --all mines and lists "
			"them",
			id, run->name);
	else if (run->sequences->len == 0)
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no sequence %" G_GUINT64_FORMAT ": run '%s' has none", id, run->name);
	else
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no sequence %" G_GUINT64_FORMAT " in run '%s'; it has 1 to %u", id,
			run->name, run->sequences->len);
	return false;
}

bool lode_report_values_init(
	LodeReportValues *self, const LodeMiningRun *run, uint64_t id, GError **error)
{
	size_t baseline = SIZE_MAX;

	if (id != 0 && !lode_report_find_sequence(run, id, &baseline, error)) {
		g_prefix_error(error, "--baseline: ");
		return false;
	}
	*self = (LodeReportValues){.run = run, .baseline = baseline, .weight_event = LODE_NONE};
	return true;
}

static double relative(const LodeReportValues *self, const LodeReportKey *key, size_t index)
{
	double value = lode_report_key_value(self->run, key, index);

	if (self->baseline == SIZE_MAX)
		return value;
	return value - lode_report_key_value(self->run, key, self->baseline);
}

double lode_report_values_support(
	const LodeReportValues *self, LodeReportKeyKind kind, size_t index)
{
	return relative(self, &(LodeReportKey){.kind = kind}, index);
}

double lode_report_values_event(const LodeReportValues *self, uint32_t event, size_t index)
{
	return relative(self, &(LodeReportKey){LODE_REPORT_KEY_EVENT, event}, index);
}

double lode_report_values_cost(const LodeReportValues *self, size_t index)
{
	const LodeSequence *sequence = &g_array_index(self->run->sequences, LodeSequence, index);

	return sequence->frequency != 0 ? sequence->weight / sequence->frequency : (double)NAN;
}
