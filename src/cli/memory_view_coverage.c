/* SPDX-License-Identifier: MIT */
/* lode memory --coverage: how much got an address, and how much of that a name. */
#include "analyses/memory/coverage.h"
#include "cli/memory_view.h"
#include "views/memory_coverage.h"

static gboolean is_given;

const GOptionEntry lode_memory_coverage_options[] = {
	{"coverage", 0, 0, G_OPTION_ARG_NONE, &is_given,
		"show the share of samples with a data address, by rule or reason, and by the "
		"layer that named the object",
		NULL},
	G_OPTION_ENTRY_NULL,
};

static bool is_wanted(void)
{
	return is_given;
}

static const char *const *list_groups(void)
{
	static const char *const groups[] = {"event", NULL};

	return groups;
}

static bool write_view(const LodeMemoryViewInput *input, FILE *out, GError **error)
{
	g_autoptr(GArray) coverage = lode_memory_coverage_new(
		input->profile, input->samples, input->n_samples);
	g_auto(LodeMemoryNotes) notes;

	lode_memory_notes_init(&notes, input->profile, input->samples, input->n_samples);
	LodeMemoryCoverageOptions view = {
		.format = input->format, .terminal = input->terminal, .notes = &notes};
	return lode_memory_coverage_write(input->profile, coverage, &view, out, error);
}

const LodeMemoryView lode_memory_view_coverage = {
	.option = "--coverage",
	.is_wanted = is_wanted,
	.write = write_view,
	.groups = list_groups,
};
