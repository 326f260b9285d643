/* SPDX-License-Identifier: MIT */
/* lode annotate: the places of one sequence, each with its code. */
#include "base/error.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "store/profile_store.h"
#include "views/annotate.h"

static struct {
	char *run, *format;
	gint64 limit, context;
	gboolean shows_sampled;
} given = {.context = -1};

static const GOptionEntry options[] = {
	{"run", 0, 0, G_OPTION_ARG_STRING, &given.run, "the mining run (default: the last one)",
		"NAME"},
	{"limit", 0, 0, G_OPTION_ARG_INT64, &given.limit, "show at most N places", "N"},
	{"context", 0, 0, G_OPTION_ARG_INT64, &given.context,
		"instructions to show before and after the matched ones (default: 3)", "N"},
	{"sampled", 0, 0, G_OPTION_ARG_NONE, &given.shows_sampled,
		"show the weight also where it was sampled, beside the instruction that waited",
		NULL},
	{"format", 0, 0, G_OPTION_ARG_STRING, &given.format, "output format (default: text)",
		"text|json|csv"},
	{NULL},
};

static bool parse_options(const char *id, LodeAnnotateOptions *annotate, GError **error)
{
	guint64 number;

	lode_annotate_options_init(annotate);
	annotate->terminal = lode_terminal_of(stdout);
	annotate->names_run = given.run != NULL;
	annotate->shows_sampled = given.shows_sampled;
	if (!g_ascii_string_to_unsigned(id, 10, 1, G_MAXUINT64, &number, NULL)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"'%s' is not the id of a sequence; lode report shows them", id);
		return false;
	}
	annotate->id = number;
	if (given.format != NULL && !lode_view_format_from_text(given.format, &annotate->format)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--format: '%s' is not text, json or csv", given.format);
		return false;
	}
	if (given.limit < 0 || given.limit > UINT32_MAX || given.context < -1 ||
		given.context > UINT32_MAX) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--limit and --context take numbers from 0");
		return false;
	}
	annotate->limit = (uint32_t)given.limit;
	if (given.context >= 0)
		annotate->context = (uint32_t)given.context;
	return true;
}

static int run(char **arguments, GError **error)
{
	LodeAnnotateOptions annotate;

	if (arguments[0] == NULL || arguments[1] == NULL || arguments[2] != NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"annotate takes a profile and the id of a sequence");
		return LODE_EXIT_USAGE;
	}
	if (!parse_options(arguments[1], &annotate, error))
		return LODE_EXIT_USAGE;
	annotate.profile_path = arguments[0];
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	g_autoptr(LodeProfile)
		profile = lode_profile_store_read(arguments[0], &screen.progress, error);
	if (profile == NULL)
		return LODE_EXIT_FAILED;
	g_autoptr(LodeMiningRun)
		mined = lode_profile_store_read_run(arguments[0], given.run, error);
	if (mined == NULL)
		return LODE_EXIT_FAILED;
	if (!lode_annotate_write(profile, mined, &annotate, &screen.progress, stdout, error))
		return LODE_EXIT_FAILED;
	return LODE_EXIT_OK;
}

const LodeVerb lode_verb_annotate = {
	.name = "annotate",
	.arguments = "PROFILE.lode ID",
	.summary = "show where a sequence occurs, with its code",
	.description =
		"Shows the places of a sequence by cost, each with disassembly, source lines "
		"where the source files exist, and the events of each instruction. Matched "
		"instructions have a mark and the number of the element that they match.\n"
		"\n"
		"Examples:\n"
		"  lode annotate x.lode 231\n"
		"  lode annotate x.lode 231 --limit 100 --format csv",
	.options = options,
	.run = run,
};
