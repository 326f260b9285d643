/* SPDX-License-Identifier: MIT */
/* lode annotate: the places of a sequence or a finding, a function or a source line, with their
 * code. */
#include "base/error.h"
#include "base/suggestion.h"
#include "cli/chosen_origins.h"
#include "cli/option_parser.h"
#include "cli/shown_source.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "questions/mining.h"
#include "store/profile_store.h"
#include "views/annotate.h"

#include <string.h>

static struct {
	char *run, *format, **origins, **source;
	char *file; /* of `line FILE:LINE` */
	gint64 limit, context;
	gboolean shows_sampled;
} given = {.context = -1};

static const GOptionEntry options[] = {
	{"run", 0, 0, G_OPTION_ARG_STRING, &given.run, "the mining run (default: the last one)",
		"NAME"},
	{"limit", 0, 0, G_OPTION_ARG_INT64, &given.limit, "show at most N places", "N"},
	{"context", 0, 0, G_OPTION_ARG_INT64, &given.context,
		"instructions to show before and after the matched ones (default: 3)", "N"},
	{"origin", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given.origins, LODE_ORIGIN_HELP, "NAME|N"},
	{"source", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &given.source, LODE_SOURCE_HELP, "DIR"},
	{"sampled", 0, 0, G_OPTION_ARG_NONE, &given.shows_sampled,
		"show the weight also where it was sampled, beside the instruction that waited",
		NULL},
	{"format", 0, 0, G_OPTION_ARG_STRING, &given.format, "output format (default: text)",
		"text|json|csv"},
	{NULL},
};

/* "list.c:31"; the number is after the last colon. */
static bool parse_line(const char *text, LodeAnnotateOptions *annotate, GError **error)
{
	const char *colon = strrchr(text, ':');
	guint64 number;

	if (colon == NULL || colon == text ||
		!g_ascii_string_to_unsigned(colon + 1, 10, 1, UINT32_MAX - 1, &number, NULL))
		return lode_option_refuse(
			error, "'%s' is not a source line, such as 'list.c:31'", text);
	g_free(given.file);
	given.file = g_strndup(text, (gsize)(colon - text));
	annotate->subject = LODE_ANNOTATE_LINE;
	annotate->name = given.file;
	annotate->line = (uint32_t)number;
	return true;
}

/* "231", "F3", "function NAME" or "line FILE:LINE". */
static bool parse_subject(char **words, LodeAnnotateOptions *annotate, GError **error)
{
	static const char *const names[] = {"function", "line", NULL};
	bool is_function = words[0] != NULL && strcmp(words[0], "function") == 0;
	bool is_line = words[0] != NULL && strcmp(words[0], "line") == 0;
	guint64 number;

	if (words[0] == NULL || (words[1] == NULL && (is_function || is_line)) ||
		(words[1] != NULL && words[2] != NULL))
		return lode_option_refuse(error,
			"annotate takes a profile and one of: the id of a finding (F3) or of a "
			"sequence (231), function NAME, line FILE:LINE");
	if (is_line)
		return parse_line(words[1], annotate, error);
	if (is_function) {
		annotate->subject = LODE_ANNOTATE_FUNCTION;
		annotate->name = words[1];
		return true;
	}
	bool is_finding = words[0][0] == 'F' || words[0][0] == 'f';
	bool is_id = words[1] == NULL && g_ascii_string_to_unsigned(words[0] + is_finding, 10,
						 is_finding ? 0 : 1, G_MAXUINT64, &number, NULL);
	if (is_id) {
		annotate->subject = is_finding ? LODE_ANNOTATE_FINDING : LODE_ANNOTATE_SEQUENCE;
		annotate->id = number;
		return true;
	}
	const char *nearest = lode_suggestion(words[0], names);
	if (nearest != NULL && words[1] != NULL)
		return lode_option_refuse(error, "'%s': did you mean '%s'?", words[0], nearest);
	const char *colon = strrchr(words[0], ':');
	const char *kind = colon != NULL && g_ascii_isdigit(colon[1]) ? "line" : "function";
	return lode_option_refuse(error,
		"'%s' is not the id of a sequence (231) or a finding (F3), which lode report "
		"shows; or did you mean '%s %s'?",
		words[0], kind, words[0]);
}

static bool parse_options(char **words, LodeAnnotateOptions *annotate, GError **error)
{
	lode_annotate_options_init(annotate);
	annotate->terminal = lode_terminal_of(stdout);
	annotate->names_run = given.run != NULL;
	annotate->origins = (const char *const *)given.origins;
	annotate->shows_sampled = given.shows_sampled;
	if (!parse_subject(words, annotate, error) ||
		!lode_option_format(given.format, &annotate->format, error) ||
		!lode_shown_source_check(given.source, error))
		return false;
	if (given.limit < 0 || given.limit > UINT32_MAX || given.context < -1 ||
		given.context > UINT32_MAX)
		return lode_option_refuse(error, "--limit and --context take numbers from 0");
	annotate->limit = (uint32_t)given.limit;
	if (given.context >= 0)
		annotate->context = (uint32_t)given.context;
	return true;
}

/* A function or a line can be shown before anything was mined. */
static LodeMiningRun *read_run(const char *path, LodeAnnotateOptions *annotate, GError **error)
{
	g_autoptr(GError) missing = NULL;
	LodeMiningRun *found = lode_profile_store_read_run(path, given.run, &missing);
	LodeMiningParameters parameters;

	if (found != NULL)
		return found;
	annotate->has_no_run = given.run == NULL && annotate->subject >= LODE_ANNOTATE_FUNCTION &&
	                       g_error_matches(missing, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	if (annotate->has_no_run) {
		lode_mining_parameters_init(&parameters);
		return lode_mining_run_new("none", &parameters);
	}
	g_propagate_error(error, g_steal_pointer(&missing));
	return NULL;
}

/* A run is of the origins that it was made of; of others it is made again, as by lode report. */
static bool choose_origins(LodeProfile **profile, LodeMiningRun **run, const char *origins,
	const LodeAnnotateOptions *annotate, const LodeProgress *progress, GError **error)
{
	if (origins == NULL && (*run)->parameters.origins != NULL) {
		lode_profile_free(*profile);
		*profile = lode_chosen_origins_read(
			annotate->profile_path, (*run)->parameters.origins, NULL, progress, error);
		return *profile != NULL;
	}
	if (origins == NULL || annotate->has_no_run)
		return true;
	LodeMiningRun *mined = lode_mine_origins(*profile, *run, origins,
		annotate->subject == LODE_ANNOTATE_SEQUENCE, progress, error);
	lode_mining_run_free(*run);
	*run = mined;
	return mined != NULL;
}

static int run(char **arguments, GError **error)
{
	const LodeSourceAccess source = {.folders = (const char *const *)given.source};
	LodeAnnotateOptions annotate;

	if (!parse_options(arguments[0] != NULL ? arguments + 1 : arguments, &annotate, error))
		return LODE_EXIT_USAGE;
	annotate.profile_path = arguments[0];
	annotate.source = &source;
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	g_autofree char *origins = lode_chosen_origins_join(annotate.origins);
	g_autoptr(LodeProfile) profile = lode_chosen_origins_read(arguments[0], origins,
		lode_profile_store_read_with_memory, &screen.progress, error);
	if (profile == NULL)
		return LODE_EXIT_FAILED;
	g_autoptr(LodeMiningRun) mined = read_run(arguments[0], &annotate, error);
	if (mined == NULL ||
		!choose_origins(&profile, &mined, origins, &annotate, &screen.progress, error))
		return LODE_EXIT_FAILED;
	if (!lode_annotate_write(profile, mined, &annotate, &screen.progress, stdout, error))
		return LODE_EXIT_FAILED;
	return LODE_EXIT_OK;
}

const LodeVerb lode_verb_annotate = {
	.name = "annotate",
	.arguments = "PROFILE.lode F3 | ID | function NAME | line FILE:LINE",
	.summary = "show the code of a finding, sequence, function or line",
	.description =
		"Shows code with its source lines, where the source files are below the folder in "
		"which it was compiled or one of --source, and the events of each instruction: the "
		"places of a finding (F3) or of a sequence (231), the costliest first, a whole "
		"function, or the instructions of a source line.\n"
		"\n"
		"Instructions that match have a mark; where there are several elements, the number "
		"of the one that they match. Of a finding, the mark is on the instruction that is "
		"charged. In a function and around a line, the margin names the findings that "
		"explain time of an instruction.\n"
		"\n"
		"Of a profile with data addresses (lode memory record), each load and store has "
		"beside it its share of the function's sampled memory time, its samples, the "
		"object and member with most of them, and the range of addresses.\n"
		"\n"
		"A function is named by its whole name, or by a part of it that no other one has. "
		"A source file is named by its path, or by the end of it.\n"
		"\n"
		"Examples:\n"
		"  lode annotate x.lode F1\n"
		"  lode annotate x.lode function lookup\n"
		"  lode annotate x.lode line list.c:31\n"
		"  lode annotate all.lode F1 --origin web1\n"
		"  lode annotate x.lode 231 --limit 100 --format csv",
	.old_options = options,
	.old_run = run,
};
