/* SPDX-License-Identifier: MIT */
#include "cli/report_options.h"

#include "cli/chosen_origins.h"
#include "cli/option_parser.h"
#include "cli/shown_source.h"

static struct {
	char *format, *sort, *size, *text, *html, **source;
	char *min_weight, *max_weight, *min_frequency, *max_frequency;
	char *min_maximal, *max_maximal, *min_differential, *max_differential;
	char **with, **without, **origins;
	gboolean is_reversed, show_all, is_explained;
	gint64 limit, baseline;
	double percent_limit;
} given;

const GOptionEntry lode_report_option_table[] = {
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
	{"origin", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given.origins, LODE_ORIGIN_HELP, "NAME|N"},
	{"html", 0, 0, G_OPTION_ARG_FILENAME, &given.html,
		"write the page of lode serve as one file that opens without it: findings, the "
		"first sequences and functions, code, data addresses",
		"FILE"},
	{"source", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &given.source,
		"with --html: " LODE_SOURCE_HELP, "DIR"},
	{"format", 0, 0, G_OPTION_ARG_STRING, &given.format, "output format (default: text)",
		"text|json|csv"},
	{NULL},
};

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
		if (!lode_option_share(
			    shares[i].option, shares[i].text, shares[i].out_share, error))
			return false;
	return true;
}

/* With --html no other option says what is in the file. */
static bool check_html(const LodeReportOptions *report, GError **error)
{
	LodeMiningRun none = {.findings = lode_findings_new()};

	bool is_plain = !lode_report_lists_sequences(&none, report) && report->limit == 0 &&
	                !report->is_explained && given.format == NULL && given.origins == NULL;
	lode_findings_free(none.findings);
	return is_plain ||
	       lode_option_refuse(
		       error, "--html writes a whole page: it cannot be used with other options");
}

bool lode_report_options_read(LodeReportOptions *report, const char **out_html,
	const char *const **out_source, GError **error)
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
	report->origins = (const char *const *)given.origins;
	report->percent_limit = given.percent_limit;
	if (!lode_option_format(given.format, &report->format, error))
		return false;
	if (given.limit < 0 || given.limit > UINT32_MAX || given.baseline < 0)
		return lode_option_refuse(error, "--limit and --baseline take numbers from 1");
	report->limit = (uint32_t)given.limit;
	report->baseline = (uint64_t)given.baseline;
	*out_html = given.html;
	*out_source = (const char *const *)given.source;
	if (given.source != NULL && given.html == NULL)
		return lode_option_refuse(error, "--source needs --html");
	if (!lode_shown_source_check(given.source, error))
		return false;
	return parse_ranges(report, error) &&
	       lode_option_range(
		       "--size", given.size, &report->min_size, &report->max_size, error) &&
	       (given.html == NULL || check_html(report, error));
}
