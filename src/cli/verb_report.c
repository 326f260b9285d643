/* SPDX-License-Identifier: MIT */
/* lode report: the findings of a mining run, or the list of its sequences. */
#include "base/error.h"
#include "cli/chosen_origins.h"
#include "cli/mining_options.h"
#include "cli/output_file.h"
#include "cli/report_options.h"
#include "cli/shown_source.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "questions/mining.h"
#include "serve/html_report.h"
#include "store/profile_store.h"

static int write_html(
	char **arguments, const char *path, const char *const *folders, GError **error)
{
	g_autoptr(GHashTable) shown = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GHashTable)
		refused = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	const LodeSourceAccess source = {folders, shown, refused};
	const LodeHtmlReportOptions options = {arguments[0], arguments[1], &source};
	g_auto(LodeTerminalProgress) screen;

	lode_terminal_progress_init(&screen);
	g_autoptr(LodeOutputFile) file = lode_output_file_open(path, error);
	if (file == NULL ||
		!lode_html_report_write(
			&options, &screen.progress, lode_output_file_stream(file), error) ||
		!lode_output_file_commit(file, error))
		return LODE_EXIT_FAILED;
	lode_terminal_progress_hide(&screen);
	lode_shown_source_tell(path, &source);
	return LODE_EXIT_OK;
}

/* A run is of the origins that it was made of; others are mined in its way, and not stored. */
static bool choose_origins(LodeProfile **profile, LodeMiningRun **run, const char *path,
	const char *origins, const LodeReportOptions *report, const LodeProgress *progress,
	GError **error)
{
	if (origins == NULL && (*run)->parameters.origins == NULL)
		return true;
	if (origins == NULL) {
		lode_profile_free(*profile);
		*profile = lode_chosen_origins_read(
			path, (*run)->parameters.origins, lode_profile_store_read, progress, error);
		return *profile != NULL;
	}
	bool has_sequences = !report->is_explained && lode_report_lists_sequences(*run, report);
	LodeMiningRun *mined = lode_mine_origins(
		*profile, *run, origins, has_sequences, progress, error);
	lode_mining_run_free(*run);
	*run = mined;
	return mined != NULL;
}

static int run(char **arguments, GError **error)
{
	LodeReportOptions report;
	const char *const *source;
	const char *html;

	if (arguments[0] == NULL || (arguments[1] != NULL && arguments[2] != NULL)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"report takes a profile and perhaps the name of a run");
		return LODE_EXIT_USAGE;
	}
	if (!lode_report_options_read(&report, &html, &source, error))
		return LODE_EXIT_USAGE;
	if (html != NULL)
		return write_html(arguments, html, source, error);
	report.profile_path = arguments[0];
	report.names_run = arguments[1] != NULL;
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	g_autofree char *origins = lode_chosen_origins_join(report.origins);
	g_autoptr(LodeProfile) profile = lode_chosen_origins_read(
		arguments[0], origins, lode_profile_store_read, &screen.progress, error);
	if (profile == NULL)
		return LODE_EXIT_FAILED;
	g_autoptr(LodeMiningRun)
		mined = lode_profile_store_read_run(arguments[0], arguments[1], error);
	if (mined == NULL || !choose_origins(&profile, &mined, arguments[0], origins, &report,
				     &screen.progress, error))
		return LODE_EXIT_FAILED;
	lode_terminal_progress_hide(&screen);
	if (mined->parameters.only_findings && !report.is_explained &&
		lode_report_lists_sequences(mined, &report)) {
		LodeMiningRun *whole = lode_mining_options_mine_rest(
			arguments[0], profile, mined, &screen.progress, error);
		if (whole == NULL)
			return LODE_EXIT_FAILED;
		lode_mining_run_free(mined);
		mined = whole;
		lode_terminal_progress_hide(&screen);
	}
	if (!lode_report_write(profile, mined, &report, &screen.progress, stdout, error))
		return LODE_EXIT_FAILED;
	return LODE_EXIT_OK;
}

const LodeVerb lode_verb_report = {
	.name = "report",
	.arguments = "PROFILE.lode [RUN]",
	.summary = "show the patterns that cost most",
	.description =
		"Without options, shows the findings of the run: the patterns that explain the "
		"cost, what an execution of each costs, and the hottest places. With --all, "
		"--sort, --reverse, --baseline or a filter, lists the mined sequences. After "
		"'lode run' the first list takes longer: it mines them.\n"
		"\n"
		"Examples:\n"
		"  lode report x.lode\n"
		"  lode report x.lode --explain\n"
		"  lode report x.lode --with 'ev:*' --size 2-\n"
		"  lode report x.lode --all --sort places --format csv\n"
		"  lode report all.lode --origin web1\n"
		"  lode report x.lode --html x.html",
	.old_options = lode_report_option_table,
	.old_run = run,
};
