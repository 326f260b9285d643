/* SPDX-License-Identifier: MIT */
/* lode memory --allocations: where memory was allocated, and who called for it. */
#include "analyses/memory/allocation_use.h"
#include "base/error.h"
#include "cli/memory_view.h"
#include "cli/option_parser.h"
#include "views/memory_allocations.h"

enum { DEFAULT_TOP = 20, DEFAULT_TOP_CALLERS = 5, MAX_CALLERS = 256 };

static gboolean is_given;
static char *callers;

const GOptionEntry lode_memory_allocations_options[] = {
	{"allocations", 0, 0, G_OPTION_ARG_NONE, &is_given,
		"show allocation sites with their bytes, the peak, what was live at the end, "
		"and the weight of the samples there; --sort takes peak (the default), most, "
		"bytes, blocks, end or weight",
		NULL},
	{"callers", 0, 0, G_OPTION_ARG_STRING, &callers,
		"show below each site the calls that led there, N levels of them", "N"},
	G_OPTION_ENTRY_NULL,
};

static bool is_wanted(void)
{
	return is_given || callers != NULL;
}

static bool read_options(
	const LodeMemoryViewInput *input, LodeAllocationUseOptions *options, GError **error)
{
	bool is_screen = input->format == LODE_VIEW_TEXT;
	int sort = input->sort != NULL ? lode_allocation_sort_from_text(input->sort)
	                               : LODE_ALLOCATION_SORT_PEAK;
	uint64_t n_callers = 0;

	if (sort < 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--sort: '%s' is not peak, most, bytes, blocks, end or weight",
			input->sort);
		return false;
	}
	if (!lode_option_count("--callers", callers, MAX_CALLERS, &n_callers, error))
		return false;
	*options = (LodeAllocationUseOptions){
		.n_callers = (uint32_t)n_callers,
		.sort = (LodeAllocationSort)sort,
		.top = input->has_top ? input->top
	               : is_screen    ? DEFAULT_TOP
	                              : 0,
		.top_callers = is_screen ? DEFAULT_TOP_CALLERS : 0,
	};
	return true;
}

static bool write_view(const LodeMemoryViewInput *input, FILE *out, GError **error)
{
	LodeAllocationUseOptions options;

	if (!read_options(input, &options, error))
		return false;
	g_autoptr(LodeAllocationUse) use = lode_allocation_use_new(
		input->profile, input->samples, input->n_samples, &options, error);
	if (use == NULL)
		return false;
	g_auto(LodeMemoryNotes) notes;
	lode_memory_notes_init(&notes, input->profile, input->samples, input->n_samples);
	const LodeMemoryAllocationsOptions view = {
		.format = input->format, .terminal = input->terminal, .notes = &notes};
	return lode_memory_allocations_write(input->profile, use, &view, out, error);
}

const LodeMemoryView lode_memory_view_allocations = {
	.option = "--allocations",
	.is_wanted = is_wanted,
	.write = write_view,
};
