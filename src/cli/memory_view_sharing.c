/* SPDX-License-Identifier: MIT */
/* lode memory --sharing: cache lines that threads take away from each other. */
#include "analyses/memory/sample_attributes.h"
#include "base/error.h"
#include "cli/memory_view.h"
#include "cli/memory_view_histogram.h"
#include "cli/option_parser.h"
#include "views/memory_sharing.h"

enum { DEFAULT_TOP = 10 }; /* on a screen; JSON and CSV have all */

static gboolean is_given;

const GOptionEntry lode_memory_sharing_options[] = {
	{"sharing", 0, 0, G_OPTION_ARG_NONE, &is_given,
		"show cache lines that two or more threads use while one of them stores: false "
		"and true sharing, by offset, thread, object and code; also takes "
		"--granularity (16 to 256; default: line) and --top",
		NULL},
	G_OPTION_ENTRY_NULL,
};

static bool is_wanted(void)
{
	return is_given;
}

/* All events of a trace: which of them tell of sharing is found afterwards. */
static const char *const *list_groups(void)
{
	static const char *const groups[] = {"event", NULL};

	return groups;
}

static bool write_view(const LodeMemoryViewInput *input, FILE *out, GError **error)
{
	uint32_t default_top = input->format == LODE_VIEW_TEXT ? DEFAULT_TOP : 0;
	LodeMemorySharingOptions view = {.format = input->format,
		.terminal = input->terminal,
		.limit = input->has_top ? input->top : default_top};
	uint64_t line_bytes = LODE_SAMPLE_LINE_BYTES;

	if (input->sort != NULL && g_strcmp0(input->sort, "weight") != 0) {
		g_set_error(
			error, LODE_ERROR, LODE_ERROR_USAGE, "--sort: --sharing sorts by weight");
		return false;
	}
	if (!lode_memory_view_granularity(&line_bytes, error))
		return false;
	if (line_bytes < LODE_SHARING_MIN_LINE || line_bytes > LODE_SHARING_MAX_LINE)
		return lode_option_refuse(error,
			"--granularity: a cache line of --sharing has %d to %d bytes",
			LODE_SHARING_MIN_LINE, LODE_SHARING_MAX_LINE);
	g_autoptr(GArray)
		chosen = lode_line_sharing_choose(input->profile, input->samples, input->n_samples);
	const uint32_t *samples = (const uint32_t *)chosen->data;
	g_autoptr(LodeLineSharing) sharing = lode_line_sharing_new(
		input->profile, samples, chosen->len, line_bytes, NULL);
	g_auto(LodeMemoryNotes) notes;
	lode_memory_notes_init(&notes, input->profile, samples, chosen->len);
	view.notes = &notes;
	view.are_misses_classified = sharing->is_of_misses;
	return lode_memory_sharing_write(input->profile, sharing, &view, out, error);
}

const LodeMemoryView lode_memory_view_sharing = {
	.option = "--sharing",
	.is_wanted = is_wanted,
	.write = write_view,
	.groups = list_groups,
};
