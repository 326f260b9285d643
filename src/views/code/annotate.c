/* SPDX-License-Identifier: MIT */
#include "views/code/annotate.h"

#include "base/error.h"
#include "model/index.h"
#include "views/code/annotation.h"

enum { CONTEXT = 3 };

void lode_annotate_options_init(LodeAnnotateOptions *self)
{
	*self = (LodeAnnotateOptions){.context = CONTEXT, .function = LODE_NONE};
}

bool lode_annotate_write(const LodeProfile *profile, const LodeMiningRun *run,
	const LodeAnnotateOptions *options, const LodeProgress *progress, FILE *out, GError **error)
{
	g_auto(LodeAnnotation) annotation = {0};

	lode_progress_report(progress, "finding places", 0, 0, NULL);
	if (!lode_annotation_init(&annotation, profile, run, options, error))
		return false;
	if (lode_progress_is_cancelled(progress)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
		return false;
	}
	lode_progress_end(progress);
	if (options->format == LODE_VIEW_TEXT)
		lode_annotation_write_text(&annotation, out);
	else if (options->format == LODE_VIEW_JSON)
		lode_annotation_write_json(&annotation, out);
	else
		lode_annotation_write_csv(&annotation, out);
	return lode_view_flush(out, error);
}
