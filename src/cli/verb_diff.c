/* SPDX-License-Identifier: MIT */
/* lode diff: what changed between two profiles, and why. */
#include "base/error.h"
#include "cli/option_parser.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "store/profile_store.h"
#include "views/comparison.h"
#include "views/display_text.h"

#include <math.h>
#include <string.h>

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

static bool usage(GError **error, const char *format, const char *word)
{
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, format, word);
	return false;
}

static bool read_kinds(LodeComparisonOptions *out, GError **error)
{
	const char *list = given.by != NULL ? given.by : "patterns,functions,lines";
	g_auto(GStrv) words = g_strsplit(list, ",", -1);

	for (char **word = words; *word != NULL; word++) {
		int kind = lode_compared_kind_from_text(*word);
		if (strcmp(*word, "all") == 0)
			for (int i = 0; i < LODE_N_COMPARED; i++)
				out->wants[i] = true;
		else if (kind >= 0)
			out->wants[kind] = true;
		else
			return usage(error,
				"--by: '%s' is none of patterns, functions, lines, sequences, all",
				*word);
	}
	return true;
}

static bool read_comparison(LodeComparisonOptions *out, GError **error)
{
	const char *normalise = given.normalise != NULL ? given.normalise : "none";

	if (!read_kinds(out, error))
		return false;
	if (given.min_support != NULL &&
		(!lode_view_share_from_text(given.min_support, &out->min_support) ||
			!(out->min_support > 0)))
		return usage(
			error, "--min-support: '%s' is not a share such as 1%%", given.min_support);
	if (strcmp(normalise, "executions") == 0) {
		out->normalisation = LODE_NORMALISE_EXECUTIONS;
	} else if (strcmp(normalise, "none") != 0) {
		out->normalisation = LODE_NORMALISE_FUNCTION;
		out->work_function = normalise;
	}
	out->weight = given.weight;
	out->images = given.images;
	out->functions = given.functions;
	return true;
}

/* "5", "5%" and "5 %" are five percent. */
static bool read_percent(double *out_share, GError **error)
{
	char *end = NULL;
	double percent;

	if (given.fail_above == NULL)
		return true;
	percent = g_ascii_strtod(given.fail_above, &end);
	while (*end == ' ')
		end++;
	if (end == given.fail_above || (*end != '\0' && strcmp(end, "%") != 0) ||
		!isfinite(percent) || percent < 0)
		return usage(
			error, "--fail-above: '%s' is not a number of percent", given.fail_above);
	*out_share = percent / 100;
	return true;
}

static bool read_view(LodeComparisonViewOptions *out, GError **error)
{
	*out = (LodeComparisonViewOptions){
		.fail_above = NAN, .is_all = given.is_all, .terminal = lode_terminal_of(stdout)};
	if (given.format != NULL && !lode_view_format_from_text(given.format, &out->format))
		return usage(error, "--format: '%s' is not text, json or csv", given.format);
	if (given.limit < -1 || given.limit > UINT32_MAX)
		return usage(error, "%s takes numbers from 0", "--limit");
	out->limit = given.limit >= 0                ? (uint32_t)given.limit
	             : out->format == LODE_VIEW_TEXT ? DEFAULT_LIMIT
	                                             : 0;
	return read_percent(&out->fail_above, error);
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

/* Says of each row that is slower by more than allowed. Gives how many there are. */
static unsigned tell_slower(const Compared *self, double share)
{
	unsigned n = 0;

	for (guint i = 0; i < self->files->len && !isnan(share); i++) {
		const LodeComparedFile *file = &g_array_index(self->files, LodeComparedFile, i);
		const LodeProfile *const both[] = {
			g_ptr_array_index(self->profiles, 0), file->profile};
		for (int kind = 0; kind < LODE_N_COMPARED; kind++) {
			const LodeComparedRows *rows = &file->comparison->kinds[kind];
			for (guint r = 0; rows->rows != NULL && r < rows->rows->len; r++) {
				const LodeComparedRow *row = lode_compared_row(rows, r);
				if (!lode_compared_row_is_slower(file->comparison, row, share))
					continue;
				g_autofree char *text = lode_compared_row_text(
					file->comparison, both, row);
				lode_display_line(stderr, "lode diff: slower: %s", text);
				n++;
			}
		}
	}
	return n;
}

static int run(char **arguments, GError **error)
{
	LodeComparisonOptions comparing = {0};
	LodeComparisonViewOptions view;
	g_auto(Compared) compared = {0};

	if (arguments[0] == NULL || arguments[1] == NULL) {
		usage(error, "diff takes two profiles or more: %s", "BASE.lode NEW.lode");
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
	if (!lode_comparison_write(g_ptr_array_index(compared.profiles, 0),
		    (const LodeComparedFile *)(void *)compared.files->data, compared.files->len,
		    &view, stdout, error))
		return LODE_EXIT_FAILED;
	return tell_slower(&compared, view.fail_above) > 0 ? LODE_EXIT_SLOWER : LODE_EXIT_OK;
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
	.options = options,
	.run = run,
};
