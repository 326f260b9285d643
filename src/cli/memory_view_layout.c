/* SPDX-License-Identifier: MIT */
/* lode memory --layout TYPE: a type's members and what happened to each. */
#include "cli/memory_view.h"
#include "views/memory_layout.h"

static char *type;

const GOptionEntry lode_memory_layout_options[] = {
	{"layout", 0, 0, G_OPTION_ARG_STRING, &type,
		"show the members of a type in order, with offsets, holes, cache lines, and "
		"the samples of each",
		"TYPE"},
	G_OPTION_ENTRY_NULL,
};

static bool is_wanted(void)
{
	return type != NULL;
}

static bool write_view(const LodeMemoryViewInput *input, FILE *out, GError **error)
{
	const LodeTypeLayoutOptions options = {.type = type};
	g_autoptr(GPtrArray) layouts = lode_type_layout_find(
		input->profile, input->samples, input->n_samples, &options, error);

	if (layouts == NULL) {
		g_prefix_error(error, "--layout: ");
		return false;
	}
	g_auto(LodeMemoryNotes) notes;
	lode_memory_notes_init(&notes, input->profile, input->samples, input->n_samples);
	LodeMemoryLayoutOptions view = {
		.format = input->format, .terminal = input->terminal, .notes = &notes};
	return lode_memory_layout_write(input->profile, layouts, &view, out, error);
}

const LodeMemoryView lode_memory_view_layout = {
	.option = "--layout",
	.is_wanted = is_wanted,
	.write = write_view,
};
