/* SPDX-License-Identifier: MIT */
/* lode memory --first-touch: who touched pages first, against who uses them. */
#include "cli/memory_view.h"
#include "cli/memory_view_histogram.h"
#include "cli/option_parser.h"
#include "views/first_touch.h"

#include <string.h>

static gboolean is_given;

const GOptionEntry lode_memory_first_touch_options[] = {
	{"first-touch", 0, 0, G_OPTION_ARG_NONE, &is_given,
		"show which thread touched which pages first, and which threads use them; also "
		"takes --granularity, --sort address and --top",
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
	touch.limit = input->top;
	touch.has_limit = input->has_top;
	touch.is_by_address = g_strcmp0(input->sort, "address") == 0;
	if (input->sort != NULL && !touch.is_by_address && strcmp(input->sort, "weight") != 0)
		return lode_option_refuse(
			error, "--sort '%s' is neither weight nor address", input->sort);
	if (!lode_memory_view_granularity(&touch.page_bytes, error))
		return false;
	return lode_first_touch_write(
		input->profile, input->samples, input->n_samples, &touch, out, error);
}

const LodeMemoryView lode_memory_view_first_touch = {
	.option = "--first-touch",
	.is_wanted = is_wanted,
	.write = write_view,
};
