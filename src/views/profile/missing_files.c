/* SPDX-License-Identifier: MIT */
#include "views/profile/missing_files.h"

#include "base/arrays/sort_order.h"
#include "model/code.h"
#include "views/figures/profile_figures.h"

const char lode_missing_files_remedy[] =
	"Binaries are given to 'lode import' as further arguments (files, folders, archives of "
	"'perf archive'), at their paths below a folder with --symfs, or from servers with "
	"--debuginfod.";

LODE_ORDER(compare_files, LodeMissingFile, LODE_DESCENDING(value), LODE_ASCENDING(image))

GArray *lode_missing_files_new(const LodeProfile *profile)
{
	const LodeCode *code = lode_code_of(profile);
	GArray *files = g_array_new(FALSE, FALSE, sizeof(LodeMissingFile));
	g_autoptr(GArray) values = lode_profile_image_values(profile, code->weight_event);
	double total = lode_profile_event_total(profile, code->weight_event);
	g_autofree bool *is_known = g_new0(bool, code->images->len + 1);

	for (uint32_t i = 0; i < code->functions->len; i++) {
		const LodeFunction *function = lode_profile_function(profile, i);
		is_known[function->image] |= function->code != NULL ||
		                             function->source != LODE_FUNCTION_RECORDED;
	}
	for (uint32_t i = 0; i < values->len; i++) {
		double value = LODE_AT(values, double, i);
		const LodeMissingFile row = {i, value, lode_share_of(value, total)};
		if (!is_known[i] && lode_profile_image(profile, i)->kind == LODE_IMAGE_FILE)
			g_array_append_val(files, row);
	}
	g_array_sort(files, compare_files);
	return files;
}
