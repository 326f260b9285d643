/* SPDX-License-Identifier: MIT */
/* lode report: the findings of a mining run, or the list of its sequences. */
#include "base/error.h"
#include "cli/mining_options.h"
#include "cli/output_file.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "serve/html_report.h"
#include "store/profile_store.h"
#include "views/report.h"

#include <math.h>
#include <string.h>

static struct {
	char *format, *sort, *size, *text, *html;
	char *min_weight, *max_weight, *min_frequency, *max_frequency;
	char *min_maximal, *max_maximal, *min_differential, *max_differential;
	char **with, **without;
	gboolean is_reversed, show_all, is_explained;
	gint64 limit, baseline;
	double percent_limit;
} given;

static const GOptionEntry options[] = {
	{"explain", 0, 0, G_OPTION_ARG_NONE, &given.is_explained,
		"say below each finding what the pattern usually means, what people do about it, "
		"and where that is written",
		NULL},
	{"sort", 0, 0, G_OPTION_ARG_STRING, &given.sort,
		"sort by excess (the default), weight, frequency, maximal, differential, "
		"places, functions, executions, event:NAME or sequence; runs of instruction "
		"sequences also by count",
		"KEY"},
	{"reverse", 0, 0, G_OPTION_ARG_NONE, &given.is_reversed, "reverse the order", NULL},
	{"all", 0, 0, G_OPTION_ARG_NONE, &given.show_all,
		"show every mined sequence, not only the closed ones", NULL},
	{"limit", 0, 0, G_OPTION_ARG_INT64, &given.limit, "show at most N findings or sequences",
		"N"},
	{"with", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given.with,
		"only sequences with an attribute that matches; may be repeated: all must match",
		"GLOB"},
	{"without", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given.without,
		"only sequences without any attribute that matches; may be repeated", "GLOB"},
	{"text", 0, 0, G_OPTION_ARG_STRING, &given.text,
		"only sequences that have each of these words in the name of an attribute",
		"WORDS"},
	{"size", 0, 0, G_OPTION_ARG_STRING, &given.size, "only sequences of this many attributes",
		"N-M"},
	{"min-weight", 0, 0, G_OPTION_ARG_STRING, &given.min_weight,
		"minimum weight support, such as 2% or 0.02", "SHARE"},
	{"max-weight", 0, 0, G_OPTION_ARG_STRING, &given.max_weight, "maximum weight support",
		"SHARE"},
	{"min-frequency", 0, 0, G_OPTION_ARG_STRING, &given.min_frequency,
		"minimum frequency support", "SHARE"},
	{"max-frequency", 0, 0, G_OPTION_ARG_STRING, &given.max_frequency,
		"maximum frequency support", "SHARE"},
	{"min-maximal", 0, 0, G_OPTION_ARG_STRING, &given.min_maximal,
		"minimum of the maximal support", "SHARE"},
	{"max-maximal", 0, 0, G_OPTION_ARG_STRING, &given.max_maximal,
		"maximum of the maximal support", "SHARE"},
	{"min-differential", 0, 0, G_OPTION_ARG_STRING, &given.min_differential,
		"minimum differential support", "SHARE"},
	{"max-differential", 0, 0, G_OPTION_ARG_STRING, &given.max_differential,
		"maximum differential support", "SHARE"},
	{"baseline", 0, 0, G_OPTION_ARG_INT64, &given.baseline,
		"show by how many points supports differ from those of sequence ID", "ID"},
	{"percent-limit", 0, 0, G_OPTION_ARG_DOUBLE, &given.percent_limit,
		"leave out lines whose sort key is below this percentage", "PERCENT"},
	{"html", 0, 0, G_OPTION_ARG_FILENAME, &given.html,
		"write the page of lode serve as one file that opens without it: findings, the "
		"first sequences and functions, code, data addresses",
		"FILE"},
	{"format", 0, 0, G_OPTION_ARG_STRING, &given.format, "output format (default: text)",
		"text|json|csv"},
	{NULL},
};

static bool fail_usage(GError **error, const char *option, const char *text, const char *wanted)
{
	g_set_error(
		error, LODE_ERROR, LODE_ERROR_USAGE, "%s: '%s' is not %s", option, text, wanted);
	return false;
}

static bool parse_share(const char *option, const char *text, double *out_share, GError **error)
{
	if (text == NULL)
		return true;
	if (lode_view_share_from_text(text, out_share) && *out_share >= 0 && *out_share <= 1)
		return true;
	return fail_usage(error, option, text, "a share such as 2% or 0.02");
}

static bool parse_ranges(LodeReportOptions *report, GError **error)
{
	const struct {
		const char *option, *text;
		double *out_share;
	} shares[] = {
		{"--min-weight", given.min_weight, &report->weight.min},
		{"--max-weight", given.max_weight, &report->weight.max},
		{"--min-frequency", given.min_frequency, &report->frequency.min},
		{"--max-frequency", given.max_frequency, &report->frequency.max},
		{"--min-maximal", given.min_maximal, &report->maximal.min},
		{"--max-maximal", given.max_maximal, &report->maximal.max},
		{"--min-differential", given.min_differential, &report->differential.min},
		{"--max-differential", given.max_differential, &report->differential.max},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(shares); i++)
		if (!parse_share(shares[i].option, shares[i].text, shares[i].out_share, error))
			return false;
	return true;
}

/* "3", "2-4", "2-", "-4" */
static bool parse_size(const char *text, LodeReportOptions *report, GError **error)
{
	static const char wanted[] = "a size such as 3, 2-4, 2- or -4";
	guint64 least = 0, most = 0;

	if (text == NULL)
		return true;
	g_auto(GStrv) parts = g_strsplit(text, "-", 2);
	bool is_range = parts[0] != NULL && parts[1] != NULL;
	if (parts[0] == NULL || (parts[0][0] == '\0' && (!is_range || parts[1][0] == '\0')))
		return fail_usage(error, "--size", text, wanted);
	if (parts[0][0] != '\0' &&
		!g_ascii_string_to_unsigned(parts[0], 10, 1, UINT32_MAX, &least, NULL))
		return fail_usage(error, "--size", text, wanted);
	if (is_range && parts[1][0] != '\0' &&
		!g_ascii_string_to_unsigned(parts[1], 10, 1, UINT32_MAX, &most, NULL))
		return fail_usage(error, "--size", text, wanted);
	report->min_size = (uint32_t)least;
	report->max_size = (uint32_t)(is_range ? most : least);
	return true;
}

static bool parse_options(LodeReportOptions *report, GError **error)
{
	lode_report_options_init(report);
	report->terminal = lode_terminal_of(stdout);
	report->sort = given.sort;
	report->is_reversed = given.is_reversed;
	report->show_all = given.show_all;
	report->is_explained = given.is_explained;
	report->with = (const char *const *)given.with;
	report->without = (const char *const *)given.without;
	report->text = given.text;
	report->percent_limit = given.percent_limit;
	if (given.format != NULL && !lode_view_format_from_text(given.format, &report->format))
		return fail_usage(error, "--format", given.format, "text, json or csv");
	if (given.limit < 0 || given.limit > UINT32_MAX || given.baseline < 0) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--limit and --baseline take numbers from 1");
		return false;
	}
	report->limit = (uint32_t)given.limit;
	report->baseline = (uint64_t)given.baseline;
	return parse_ranges(report, error) && parse_size(given.size, report, error);
}

/* With --html no other option says what is in the file. */
static bool check_html(const LodeReportOptions *report, GError **error)
{
	LodeMiningRun none = {.findings = lode_findings_new()};

	bool is_plain = !lode_report_lists_sequences(&none, report) && report->limit == 0 &&
	                !report->is_explained && given.format == NULL;
	lode_findings_free(none.findings);
	if (!is_plain)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--html writes a whole page: it cannot be used with other options");
	return is_plain;
}

static int write_html(char **arguments, GError **error)
{
	g_auto(LodeTerminalProgress) screen;

	lode_terminal_progress_init(&screen);
	g_autoptr(LodeOutputFile) file = lode_output_file_open(given.html, error);
	if (file == NULL ||
		!lode_html_report_write(arguments[0], arguments[1], &screen.progress,
			lode_output_file_stream(file), error) ||
		!lode_output_file_commit(file, error))
		return LODE_EXIT_FAILED;
	return LODE_EXIT_OK;
}

static int run(char **arguments, GError **error)
{
	LodeReportOptions report;

	if (arguments[0] == NULL || (arguments[1] != NULL && arguments[2] != NULL)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"report takes a profile and perhaps the name of a run");
		return LODE_EXIT_USAGE;
	}
	if (!parse_options(&report, error))
		return LODE_EXIT_USAGE;
	if (given.html != NULL)
		return check_html(&report, error) ? write_html(arguments, error) : LODE_EXIT_USAGE;
	report.profile_path = arguments[0];
	report.names_run = arguments[1] != NULL;
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	g_autoptr(LodeProfile)
		profile = lode_profile_store_read(arguments[0], &screen.progress, error);
	if (profile == NULL)
		return LODE_EXIT_FAILED;
	g_autoptr(LodeMiningRun)
		mined = lode_profile_store_read_run(arguments[0], arguments[1], error);
	if (mined == NULL)
		return LODE_EXIT_FAILED;
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
		"  lode report x.lode --html x.html",
	.options = options,
	.run = run,
};
