/* SPDX-License-Identifier: MIT */
/* lode memory --first-touch: who touched pages first, against who uses them. */
#include "cli/memory_view.h"
#include "cli/memory_view_histogram.h"
#include "views/first_touch.h"

static gboolean is_given;

static const GOptionEntry options[] = {
	{"first-touch", 0, 0, G_OPTION_ARG_NONE, &is_given,
		"which thread touched which pages first, against who uses them; heeds "
		"--granularity, --sort address and --top",
		NULL},
	{NULL},
};

static bool is_wanted(void)
{
	return is_given;
}

static bool write_view(const LodeMemoryViewInput *input, FILE *out, GError **error)
{
	LodeFirstTouchOptions touch;

	lode_first_touch_options_init(&touch);
	touch.format = input->format;
	touch.terminal = input->terminal;
	touch.is_by_address = lode_memory_view_is_by_address();
	if (!lode_memory_view_granularity(&touch.page_bytes, error) ||
		!lode_memory_view_limit(&touch.limit, &touch.has_limit, error))
		return false;
	return lode_first_touch_write(
		input->profile, input->samples, input->n_samples, &touch, out, error);
}

const LodeMemoryView lode_memory_view_first_touch = {
	.title = "First touch",
	.options = options,
	.is_wanted = is_wanted,
	.write = write_view,
};
