/* SPDX-License-Identifier: MIT */
/* lode diff: what changed between two profiles, and why. */
#include "cli/option_parser.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "store/profile_store.h"
#include "views/comparison.h"

#include <math.h>

enum { DEFAULT_LIMIT = 10 };

static struct {
	char *by, *normalise, *fail_above, *weight, *images, *functions, *min_support, *format;
	gint64 limit;
	gboolean is_all;
} given = {.limit = -1};

static const GOptionEntry options[] = {
	{"by", 0, 0, G_OPTION_ARG_STRING, &given.by,
		"what to compare, separated by commas: patterns, functions, lines, sequences, all "
		"(default: patterns,functions,lines)",
		"LIST"},
	{"normalise", 0, 0, G_OPTION_ARG_STRING, &given.normalise,
		"divide costs by nothing (none, the default), by executed instructions "
		"(executions), or by the calls of a function (its name)",
		"none|executions|FUNCTION"},
	{"fail-above", 0, 0, G_OPTION_ARG_STRING, &given.fail_above,
		"exit with status 3 when a pattern, place or function got slower by more, beyond 3 "
		"standard errors",
		"PERCENT"},
	{"weight", 0, 0, G_OPTION_ARG_STRING, &given.weight,
		"the event that is compared (default: the base's, see 'lode info')", "EVENT"},
	{"images", 0, 0, G_OPTION_ARG_STRING, &given.images,
		"only functions of images whose path matches", "REGEX"},
	{"functions", 0, 0, G_OPTION_ARG_STRING, &given.functions,
		"only functions whose name matches", "REGEX"},
	{"min-support", 0, 0, G_OPTION_ARG_STRING, &given.min_support,
		"sequences: least share of the weight or the executions in one of the profiles "
		"(default: as 'lode mine')",
		"SHARE"},
	{"limit", 0, 0, G_OPTION_ARG_INT64, &given.limit,
		"rows of each kind (default: 10 in text, else all; 0: all)", "N"},
	{"all", 0, 0, G_OPTION_ARG_NONE, &given.is_all, "list in text what did not change, too",
		NULL},
	{"format", 0, 0, G_OPTION_ARG_STRING, &given.format, "output format (default: text)",
		"text|json|csv"},
	G_OPTION_ENTRY_NULL,
};

static bool read_comparison(LodeComparisonOptions *out, GError **error)
{
	if (!lode_comparison_options_read(given.by, given.normalise, out, error)) {
		g_prefix_error(error, "--by: ");
		return false;
	}
	if (!lode_option_share("--min-support", given.min_support, &out->min_support, error))
		return false;
	if (given.min_support != NULL && !(out->min_support > 0))
		return lode_option_refuse(error, "%s: 0 is too little", "--min-support");
	out->weight = given.weight;
	out->images = given.images;
	out->functions = given.functions;
	return true;
}

static bool read_view(LodeComparisonViewOptions *out, GError **error)
{
	*out = (LodeComparisonViewOptions){
		.fail_above = NAN, .is_all = given.is_all, .terminal = lode_terminal_of(stdout)};
	if (!lode_option_format(given.format, &out->format, error))
		return false;
	if (given.limit < -1 || given.limit > UINT32_MAX)
		return lode_option_refuse(error, "%s takes numbers from 0", "--limit");
	out->limit = given.limit >= 0                ? (uint32_t)given.limit
	             : out->format == LODE_VIEW_TEXT ? DEFAULT_LIMIT
	                                             : 0;
	return lode_option_percent("--fail-above", given.fail_above, &out->fail_above, error);
}

/* What was compared, in the order given. */
typedef struct {
	GPtrArray *profiles;    /* LodeProfile, the base first */
	GPtrArray *comparisons; /* LodeComparison */
	GArray *files;          /* LodeComparedFile */
} Compared;

static void compared_clear(Compared *self)
{
	g_clear_pointer(&self->files, g_array_unref);
	g_clear_pointer(&self->comparisons, g_ptr_array_unref);
	g_clear_pointer(&self->profiles, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Compared, compared_clear)

static bool compare_all(Compared *self, char **paths, const LodeComparisonOptions *comparing,
	const LodeProgress *progress, GError **error)
{
	self->profiles = g_ptr_array_new_with_free_func((GDestroyNotify)lode_profile_free);
	self->comparisons = g_ptr_array_new_with_free_func((GDestroyNotify)lode_comparison_free);
	self->files = g_array_new(FALSE, FALSE, sizeof(LodeComparedFile));
	for (size_t i = 0; paths[i] != NULL; i++) {
		LodeProfile *profile = lode_profile_store_read(paths[i], progress, error);
		if (profile == NULL)
			return false;
		g_ptr_array_add(self->profiles, profile);
		if (i == 0)
			continue;
		const LodeProfile *const both[] = {g_ptr_array_index(self->profiles, 0), profile};
		LodeComparison *comparison = lode_comparison_new(both, comparing, progress, error);
		if (comparison == NULL) {
			g_prefix_error(error, "%s and %s: ", paths[0], paths[i]);
			return false;
		}
		LodeComparedFile file = {profile, paths[i], comparison};
		g_ptr_array_add(self->comparisons, comparison);
		g_array_append_val(self->files, file);
	}
	return true;
}

static int run(char **arguments, GError **error)
{
	LodeComparisonOptions comparing = {0};
	LodeComparisonViewOptions view;
	g_auto(Compared) compared = {0};

	if (arguments[0] == NULL || arguments[1] == NULL) {
		lode_option_refuse(
			error, "diff takes two profiles or more: %s", "BASE.lode NEW.lode");
		return LODE_EXIT_USAGE;
	}
	if (!read_comparison(&comparing, error) || !read_view(&view, error))
		return LODE_EXIT_USAGE;
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	if (!compare_all(&compared, arguments, &comparing, &screen.progress, error))
		return LODE_EXIT_FAILED;
	lode_terminal_progress_hide(&screen);
	view.base_path = arguments[0];
	const LodeProfile *base = g_ptr_array_index(compared.profiles, 0);
	const LodeComparedFile *files = (const LodeComparedFile *)(void *)compared.files->data;
	if (!lode_comparison_write(base, files, compared.files->len, &view, stdout, error))
		return LODE_EXIT_FAILED;
	if (isnan(view.fail_above) || lode_comparison_write_slower(base, files, compared.files->len,
					      view.fail_above, "lode diff: slower", stderr) == 0)
		return LODE_EXIT_OK;
	return LODE_EXIT_SLOWER;
}

const LodeVerb lode_verb_diff = {
	.name = "diff",
	.arguments = "BASE.lode NEW.lode [MORE.lode…]",
	.summary = "compare profiles: what got slower or faster, and why",
	.description =
		"Fits the findings of both profiles with the same patterns and shows for each what "
		"it\ncosts in both, and how much of the change is due to being executed more often "
		"and how\nmuch to each execution costing more; and likewise functions and source "
		"lines, and with\n--by also mined sequences. What chance in the samples explains "
		"is not listed.\n"
		"Further profiles are compared with the base, too.\n"
		"\n"
		"Functions are matched by name, and those that were renamed by their code.\n"
		"\n"
		"Examples:\n"
		"  lode diff old.lode new.lode\n"
		"  lode diff O2.lode O3.lode clang.lode --by functions\n"
		"  lode diff old.lode new.lode --normalise handle_request\n"
		"  lode diff old.lode new.lode --fail-above 5   status 3 for a CI job",
	.old_options = options,
	.old_run = run,
};
