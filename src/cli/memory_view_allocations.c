/* SPDX-License-Identifier: MIT */
/* lode memory --allocations: where memory was allocated, and who called for it; --callers: who
 * called for the accesses. */
#include "analyses/memory/access_callers.h"
#include "analyses/memory/allocation_use.h"
#include "cli/memory_view.h"
#include "cli/option_parser.h"
#include "views/memory_allocations.h"
#include "views/memory_callers.h"

#include <string.h>

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
		"show the calls that led to the accesses of each data object, N levels of them "
		"(recorded with -g); with --allocations those that led to each allocation site",
		"N"},
	G_OPTION_ENTRY_NULL,
};

static bool is_wanted(void)
{
	return is_given || callers != NULL;
}

static bool read_callers(uint32_t *out_n, GError **error)
{
	uint64_t n = 0;

	if (!lode_option_count("--callers", callers, MAX_CALLERS, &n, error))
		return false;
	*out_n = (uint32_t)n;
	return true;
}

static uint32_t top_of(const LodeMemoryViewInput *input)
{
	if (input->has_top)
		return input->top;
	return input->format == LODE_VIEW_TEXT ? DEFAULT_TOP : 0;
}

static bool read_options(
	const LodeMemoryViewInput *input, LodeAllocationUseOptions *options, GError **error)
{
	bool is_screen = input->format == LODE_VIEW_TEXT;
	int sort = input->sort != NULL ? lode_allocation_sort_from_text(input->sort)
	                               : LODE_ALLOCATION_SORT_PEAK;
	uint32_t n_callers = 0;

	if (sort < 0)
		return lode_option_refuse(error,
			"--sort: '%s' is not peak, most, bytes, blocks, end or weight",
			input->sort);
	if (!read_callers(&n_callers, error))
		return false;
	*options = (LodeAllocationUseOptions){
		.n_callers = n_callers,
		.sort = (LodeAllocationSort)sort,
		.top = top_of(input),
		.top_callers = is_screen ? DEFAULT_TOP_CALLERS : 0,
	};
	return true;
}

/* Of a recording without call chains, --callers alone is of its allocations. */
static bool is_of_accesses(const LodeMemory *memory)
{
	return !is_given && (memory->access_paths->len > 0 || !memory->has_allocations);
}

static bool write_callers(const LodeMemoryViewInput *input, FILE *out, GError **error)
{
	LodeAccessCallersOptions options = {.top = top_of(input),
		.top_calls = input->format == LODE_VIEW_TEXT ? DEFAULT_TOP_CALLERS : 0};

	if (input->sort != NULL && strcmp(input->sort, "weight") != 0)
		return lode_option_refuse(error, "--sort: '%s' is not weight", input->sort);
	if (!read_callers(&options.n_callers, error))
		return false;
	g_autoptr(LodeAccessCallers) found = lode_access_callers_new(
		input->profile, input->samples, input->n_samples, &options, error);
	if (found == NULL)
		return false;
	g_auto(LodeMemoryNotes) notes;
	lode_memory_notes_init(&notes, input->profile, input->samples, input->n_samples);
	const LodeMemoryViewOptions view = {
		.format = input->format, .terminal = input->terminal, .notes = &notes};
	return lode_memory_callers_write(input->profile, found, &view, out, error);
}

static bool write_view(const LodeMemoryViewInput *input, FILE *out, GError **error)
{
	LodeAllocationUseOptions options;

	if (is_of_accesses(input->profile->memory))
		return write_callers(input, out, error);
	if (!read_options(input, &options, error))
		return false;
	g_autoptr(LodeAllocationUse) use = lode_allocation_use_new(
		input->profile, input->samples, input->n_samples, &options, error);
	if (use == NULL)
		return false;
	g_auto(LodeMemoryNotes) notes;
	lode_memory_notes_init(&notes, input->profile, input->samples, input->n_samples);
	const LodeMemoryViewOptions view = {
		.format = input->format, .terminal = input->terminal, .notes = &notes};
	return lode_memory_allocations_write(input->profile, use, &view, out, error);
}

const LodeMemoryView lode_memory_view_allocations = {
	.option = "--allocations",
	.is_wanted = is_wanted,
	.write = write_view,
};
