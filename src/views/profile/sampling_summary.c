/* SPDX-License-Identifier: MIT */
#include "views/profile/sampling_summary.h"

#include "base/text/number_format.h"
#include "views/form/display_text.h"

void lode_sampling_summary_write(
	const LodePerfSampling *sampled, const char *verb, const char *path, FILE *out)
{
	g_autofree char *file = NULL;

	if (sampled->sampling != NULL)
		lode_display_line(out, "lode %s: %s", verb, sampled->sampling);
	if (sampled->n_throttled > 0)
		lode_display_line(out,
			"lode %s: the kernel held sampling back %" G_GUINT64_FORMAT
			" times, as it took too much time",
			verb, sampled->n_throttled);
	if (path != NULL)
		file = g_strdup_printf(", %s kB in %s",
			LODE_COUNT_TEXT((double)sampled->bytes_written / 1000), path);
	lode_display_line(out, "lode %s: %s samples of %s, %s lost%s", verb,
		LODE_COUNT_TEXT(sampled->n_samples), sampled->event,
		LODE_COUNT_TEXT(sampled->n_lost), file != NULL ? file : "");
	if (sampled->windows.n_windows > 0)
		lode_display_line(out,
			"lode %s: %s windows with %s instructions, %.1f ms of processor time", verb,
			LODE_COUNT_TEXT(sampled->windows.n_windows),
			LODE_COUNT_TEXT(sampled->windows.n_steps),
			(double)sampled->windows.cpu_ns / 1e6);
}
