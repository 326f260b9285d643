/* SPDX-License-Identifier: MIT */
/* The places of one sequence: finds them, then writes the form asked for. */
#include "views/annotate.h"

#include "base/error.h"
#include "views/annotate_place.h"

enum { CONTEXT = 3 };

void lode_annotate_options_init(LodeAnnotateOptions *self)
{
	*self = (LodeAnnotateOptions){.context = CONTEXT};
}

bool lode_annotate_write(const LodeProfile *profile, const LodeMiningRun *run,
	const LodeAnnotateOptions *options, const LodeProgress *progress, FILE *out, GError **error)
{
	g_auto(LodeAnnotation) annotation = {0};

	lode_progress_report(progress, "finding occurrences", 0, 0, NULL);
	if (!lode_annotation_init(&annotation, profile, run, options, error))
		return false;
	if (lode_progress_is_cancelled(progress)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
		return false;
	}
	lode_progress_end(progress);
	switch (options->format) {
	case LODE_VIEW_TEXT:
		lode_annotate_text(&annotation, out);
		break;
	case LODE_VIEW_JSON:
		lode_annotate_json(&annotation, out);
		break;
	case LODE_VIEW_CSV:
		lode_annotate_csv(&annotation, out);
		break;
	}
	return lode_view_flush(out, error);
}
