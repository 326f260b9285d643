/* SPDX-License-Identifier: MIT */
#include "cli/memory_view.h"
#include "cli/option_parser.h"

static const LodeMemoryView *const views[] = {
	&lode_memory_view_first_touch,
	&lode_memory_view_pivot,
	&lode_memory_view_allocations,
	&lode_memory_view_sharing,
	&lode_memory_view_layout,
	&lode_memory_view_coverage,
	&lode_memory_view_histogram,
};

bool lode_memory_view_choose(const LodeMemoryView **out_view, GError **error)
{
	*out_view = NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(views); i++) {
		if (!views[i]->is_wanted())
			continue;
		if (*out_view != NULL)
			return lode_option_refuse(error, "%s and %s exclude each other",
				(*out_view)->option, views[i]->option);
		*out_view = views[i];
	}
	if (*out_view == NULL)
		*out_view = &lode_memory_view_histogram;
	return true;
}
