/* SPDX-License-Identifier: MIT */
/*
 * The report of a mining run: chooses the sequences, then the form.
 *
 *   run ──┬──▶ findings ─────────────────────────────┐
 *         └──▶ filter ──▶ closed ▶ sort ▶ limit ▶ list ─┴─▶ text, JSON, CSV
 */
#include "views/findings/report.h"

#include "analyses/mine/closed.h"
#include "base/bits.h"
#include "base/error.h"
#include "base/text/number_format.h"
#include "base/text/suggestion.h"
#include "model/findings.h"
#include "model/mining_run.h"
#include "model/profile.h"
#include "views/figures/profile_figures.h"
#include "views/findings/report_key.h"
#include "views/findings/report_text.h"
#include "views/findings/report_values.h"
#include "views/form/declared_columns.h"
#include "views/form/display_text.h"
#include "views/form/shell_word.h"
#include "views/profile/profile_json.h"
#include "views/profile/profile_lines.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

/* --- which sequences --- */

/*
 * Which sequences of a run a report shows. Globs are matched once for each attribute of the run,
 * not for each sequence: a sequence then only joins bit masks.
 */

enum { MAX_GLOBS = 64 };

typedef struct {
	uint64_t *with;    /* [attributes] bit i: matches the i-th --with */
	uint64_t with_all; /* all bits that a sequence needs */
	uint64_t *words;   /* likewise: has the i-th word of --text in its name */
	uint64_t words_all;
	bool *without; /* [attributes] matches any --without */
} AttributeMatches;

static void clear_matches(AttributeMatches *self)
{
	g_free(self->with);
	g_free(self->words);
	g_free(self->without);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AttributeMatches, clear_matches)

/* By the whole name or by the value alone: ev:branch-miss, branch-miss. An attribute of what an
 * instruction waits for does not match its kind: load does not match needs:load. */
static bool does_match(const char *glob, const char *attribute)
{
	bool is_of_another = g_str_has_prefix(attribute, "needs:") ||
	                     g_str_has_prefix(attribute, "address:");
	const char *colon = is_of_another ? NULL : strchr(attribute, ':');

	return fnmatch(glob, attribute, 0) == 0 ||
	       (colon != NULL && fnmatch(glob, colon + 1, 0) == 0);
}

static bool has_match(const LodeMiningRun *run, const char *glob)
{
	for (guint a = 0; a < run->attributes->len; a++)
		if (does_match(glob, g_ptr_array_index(run->attributes, a)))
			return true;
	return false;
}

/* The globs as given, and those that are typed as they are shown, such as "needs load", as the
 * attributes that they are. The caller unrefs the array, which ends with NULL. */
static GPtrArray *read_globs(const LodeMiningRun *run, const char *const *given)
{
	GPtrArray *globs = g_ptr_array_new_with_free_func(g_free);

	for (; given != NULL && *given != NULL; given++) {
		g_autoptr(GPtrArray) shown = lode_attributes_read(*given);
		bool is_shown = shown->len > 0 && !has_match(run, *given);
		if (is_shown)
			g_ptr_array_extend_and_steal(globs, g_steal_pointer(&shown));
		else
			g_ptr_array_add(globs, g_strdup(*given));
	}
	g_ptr_array_add(globs, NULL);
	return globs;
}

static bool check_globs(const char *const *globs, const char *option, GError **error)
{
	size_t n = 0;

	for (; globs != NULL && globs[n] != NULL; n++) {
		if (globs[n][0] == '\0') {
			g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
				"%s needs an attribute, such as 'ev:*' or 'load'", option);
			return false;
		}
	}
	if (n <= MAX_GLOBS)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE, "%s can be given %d times at most", option,
		MAX_GLOBS);
	return false;
}

/* In its name, or as it is shown. */
static bool has_word(const char *attribute, const char *word)
{
	g_autoptr(GString) shown = g_string_new(NULL);

	lode_attribute_append_text(shown, attribute);
	return strcasestr(attribute, word) != NULL || strcasestr(shown->str, word) != NULL;
}

/* Errors: _USAGE, for more words than there are bits. */
static bool match_words(
	AttributeMatches *self, const LodeMiningRun *run, const char *text, GError **error)
{
	g_autofree char *plain = lode_attributes_plain(text != NULL ? text : "");
	g_auto(GStrv) words = g_strsplit_set(plain, ", \t\n", -1);
	guint n = 0;

	self->words = g_new0(uint64_t, run->attributes->len + 1);
	for (size_t i = 0; words[i] != NULL; i++) {
		if (words[i][0] == '\0')
			continue;
		if (n == MAX_GLOBS) {
			g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
				"--text takes %d words at most", MAX_GLOBS);
			return false;
		}
		for (guint a = 0; a < run->attributes->len; a++)
			if (has_word(g_ptr_array_index(run->attributes, a), words[i]))
				self->words[a] |= LODE_BIT(n);
		self->words_all |= LODE_BIT(n++);
	}
	return true;
}

static void match_attributes(AttributeMatches *self, const LodeMiningRun *run,
	const char *const *with, const char *const *without)
{
	self->with = g_new0(uint64_t, run->attributes->len + 1);
	self->without = g_new0(bool, run->attributes->len + 1);
	for (guint i = 0; with != NULL && with[i] != NULL; i++)
		self->with_all |= LODE_BIT(i);
	for (guint a = 0; a < run->attributes->len; a++) {
		const char *name = g_ptr_array_index(run->attributes, a);
		for (guint i = 0; with != NULL && with[i] != NULL; i++)
			if (does_match(with[i], name))
				self->with[a] |= LODE_BIT(i);
		for (guint i = 0; without != NULL && without[i] != NULL; i++)
			self->without[a] |= does_match(without[i], name);
	}
}

static bool has_attributes(
	const AttributeMatches *self, const LodeMiningRun *run, size_t index, uint32_t n_items)
{
	const uint32_t *items = lode_mining_run_items(run, index);
	uint64_t found = 0, words = 0;

	for (uint32_t i = 0; i < n_items; i++) {
		uint32_t attribute = LODE_ITEM_ATTRIBUTE(items[i]);
		if (self->without[attribute])
			return false;
		found |= self->with[attribute];
		words |= self->words[attribute];
	}
	return found == self->with_all && words == self->words_all;
}

static bool is_inside(double value, const LodeReportRange *range)
{
	return value >= range->min && value <= range->max;
}

static bool has_supports(const LodeSequence *sequence, const LodeReportOptions *options)
{
	uint32_t max_size = options->filter.size[1] != 0 ? options->filter.size[1] : UINT32_MAX;

	return sequence->n_items >= options->filter.size[0] && sequence->n_items <= max_size &&
	       sequence->functions >= options->filter.min_functions &&
	       is_inside(sequence->weight, &options->filter.weight) &&
	       is_inside(sequence->frequency, &options->filter.frequency) &&
	       is_inside(lode_sequence_maximal(sequence), &options->filter.maximal) &&
	       is_inside(lode_sequence_differential(sequence), &options->filter.differential);
}

/*
 * One flag for each sequence: false = left out by the options' supports, size, attributes or
 * percent limit. The caller frees it. _USAGE: an empty glob, too many of them, or a percent limit
 * on a key that is not a share.
 */
static bool *filter_sequences(const LodeMiningRun *run, const LodeReportOptions *options,
	const LodeReportKey *key, GError **error)
{
	g_auto(AttributeMatches) matches = {0};
	size_t n = run->sequences->len;

	g_autoptr(GPtrArray) with = read_globs(run, options->filter.with);
	g_autoptr(GPtrArray) without = read_globs(run, options->filter.without);
	const char *const *with_globs = (const char *const *)with->pdata;
	const char *const *without_globs = (const char *const *)without->pdata;

	if (!check_globs(with_globs, "--with", error) ||
		!check_globs(without_globs, "--without", error) ||
		!match_words(&matches, run, options->filter.text, error))
		return NULL;
	if (options->filter.percent_limit > 0 && !lode_report_key_is_share(run, key)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--percent-limit needs a sort key that is a share, not '%s'",
			options->sort != NULL ? options->sort : "count");
		return NULL;
	}
	match_attributes(&matches, run, with_globs, without_globs);
	bool *is_eligible = g_new0(bool, n + 1);
	for (size_t i = 0; i < n; i++) {
		const LodeSequence *sequence = &g_array_index(run->sequences, LodeSequence, i);
		is_eligible[i] = has_supports(sequence, options) &&
		                 has_attributes(&matches, run, i, sequence->n_items);
		if (options->filter.percent_limit > 0)
			is_eligible[i] &= lode_report_key_value(run, key, i) * 100 >=
			                  options->filter.percent_limit;
	}
	return is_eligible;
}

/* --- JSON and CSV --- */

/*
 * The list of sequences for programs, with fields that stay:
 *
 *   id, sequence (list of lists), weight, frequency, maximal, differential, places, functions,
 *   executions, events{…}                          instruction runs: id, sequence, count, events{…}
 *
 * CSV has the sequence as JSON text and a column event:NAME for each event. With a baseline the
 * supports are differences from its own, and a last field `baseline` has its id.
 */

enum { HAS_SUPPORTS = 1, HAS_COUNT = 2, HAS_BASELINE = 4 };

typedef struct {
	const LodeProfile *profile;
	const LodeReportValues *values;
	const GArray *indices; /* uint32_t: those to list */
} Listed;

typedef struct {
	LodeSequence of;
	uint32_t index;
	double id, weight, frequency, maximal, differential, count, baseline;
	const char *counts;
	double events[];
} Row;

static void put_sequence(LodeJsonStream *json, const void *row, const void *user_data)
{
	lode_mining_run_sequence_json(
		((const Listed *)user_data)->values->run, ((const Row *)row)->index, json);
}

static const LodeColumn columns[] = {
	{"id", LODE_CELL_NUMBER(Row, id)},
	{"sequence", LODE_CELL_JSON(put_sequence), .type = "string[][]"},
	{"weight", LODE_CELL_SHARE(Row, weight), .when = HAS_SUPPORTS},
	{"frequency", LODE_CELL_SHARE(Row, frequency), .when = HAS_SUPPORTS},
	{"maximal", LODE_CELL_SHARE(Row, maximal), .when = HAS_SUPPORTS},
	{"differential", LODE_CELL_SHARE(Row, differential), .when = HAS_SUPPORTS},
	{"count", LODE_CELL_NUMBER(Row, count), .when = HAS_COUNT},
	{"places", LODE_CELL_NUMBER(Row, of.places), .when = HAS_SUPPORTS},
	{"functions", LODE_CELL_NUMBER(Row, of.functions), .when = HAS_SUPPORTS},
	{"executions", LODE_CELL_NUMBER(Row, of.executions), .when = HAS_SUPPORTS},
	{"events", LODE_GROUP("event:")},
	{"EVENT", LODE_CELL_NUMBER(Row, events[0]), .is_repeated = true},
	LODE_GROUP_END,
	{"baseline", LODE_CELL_NUMBER(Row, baseline), .when = HAS_BASELINE},
	{"counts", LODE_CELL_TEXT(Row, counts), .only = LODE_IN_CSV},
};
const LodeColumns lode_sequence_columns = LODE_COLUMNS("sequences", columns, Row);

static void fill_row(size_t number, void *out, const void *user_data)
{
	const Listed *self = user_data;
	const LodeReportValues *values = self->values;
	uint32_t index = g_array_index(self->indices, uint32_t, number);
	Row *row = out;

	row->of = g_array_index(values->run->sequences, LodeSequence, index);
	row->index = index;
	row->id = (double)index + 1;
	row->weight = lode_report_values_support(values, LODE_REPORT_KEY_WEIGHT, index);
	row->frequency = lode_report_values_support(values, LODE_REPORT_KEY_FREQUENCY, index);
	row->maximal = lode_report_values_support(values, LODE_REPORT_KEY_MAXIMAL, index);
	row->differential = lode_report_values_support(values, LODE_REPORT_KEY_DIFFERENTIAL, index);
	row->count = lode_report_values_support(values, LODE_REPORT_KEY_COUNT, index);
	row->baseline = (double)values->baseline + 1;
	row->counts = lode_frequency_to_text(self->profile->run.frequency);
	for (guint i = 0; i < values->run->events->len; i++)
		row->events[i] = lode_report_values_event(values, i, index);
}

typedef struct {
	bool is_page; /* else the members `passed` and `offset` are left out */
	uint32_t offset;
	uint64_t n_passed; /* sequences that the list would have without a limit */
} Page;

/* JSON: the document of profile, run, unresolved, sequences. */
static void write_rows(const Listed *self, const Page *page, LodeViewFormat format, FILE *out)
{
	const LodeMiningRun *run = self->values->run;
	LodeColumns own;
	LodeJsonStream json;

	lode_columns_repeat(&lode_sequence_columns, (const char *const *)run->events->pdata,
		run->events->len, &own);
	const LodeListing listing = {.columns = &own,
		.n_rows = self->indices->len,
		.fill = fill_row,
		.user_data = self,
		.what = (run->parameters.is_instruction_mode ? HAS_COUNT : HAS_SUPPORTS) |
	                (self->values->baseline != SIZE_MAX ? HAS_BASELINE : 0)};
	if (format == LODE_VIEW_CSV) {
		lode_listing_write_csv(&listing, out);
	} else {
		lode_profile_json_begin(&json, out, self->profile, run);
		if (page->is_page) {
			lode_json_member_number(&json, "passed", (double)page->n_passed);
			lode_json_member_number(&json, "offset", page->offset);
		}
		lode_listing_put_json(&listing, &json);
		lode_json_end(&json, '}');
	}
	g_free((void *)own.columns);
}

/* --- the report --- */

enum { LIST_LIMIT = 50 };

typedef struct {
	const LodeProfile *profile;
	const LodeMiningRun *run;
	const LodeReportOptions *options;
	FILE *out;
	LodeReportKey key;
	LodeReportValues values;
	uint64_t n_eligible; /* that pass the filters and, in the closed list, are closed */
} Report;

void lode_report_options_init(LodeReportOptions *self)
{
	LodeReportRange all = {-HUGE_VAL, HUGE_VAL};

	*self = (LodeReportOptions){
		.filter = {.weight = all, .frequency = all, .maximal = all, .differential = all}};
}

bool lode_report_lists_sequences(const LodeMiningRun *run, const LodeReportOptions *options)
{
	LodeReportOptions plain;

	lode_report_options_init(&plain);
	return run->findings == NULL || options->show_all || options->is_reversed ||
	       options->baseline != 0 || options->sort != NULL || options->filter.with != NULL ||
	       options->filter.without != NULL || options->filter.text != NULL ||
	       options->filter.size[0] != 0 || options->filter.size[1] != 0 ||
	       options->filter.min_functions != 0 || options->filter.percent_limit > 0 ||
	       memcmp(&options->filter.weight, &plain.filter.weight, sizeof(plain.filter.weight)) !=
	               0 ||
	       memcmp(&options->filter.frequency, &plain.filter.frequency,
		       sizeof(plain.filter.weight)) != 0 ||
	       memcmp(&options->filter.maximal, &plain.filter.maximal,
		       sizeof(plain.filter.weight)) != 0 ||
	       memcmp(&options->filter.differential, &plain.filter.differential,
		       sizeof(plain.filter.weight)) != 0;
}

/* Sets the reason why there is nothing to explain: a list was requested, or the run has no
 * findings. */
static void fail_unexplained(const LodeMiningRun *run, GError **error)
{
	if (run->findings != NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--explain explains findings; it cannot be used with --all, --sort, "
			"--reverse, --baseline or a filter, which list sequences");
	else if (run->parameters.is_instruction_mode)
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--explain explains findings, and run '%s' has none: it counts "
			"instruction sequences",
			run->name);
	else
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--explain explains findings, and run '%s' has none: it was made without "
			"them; lode mine makes a run that has them",
			run->name);
}

static bool keep_closed(const LodeMiningRun *run, const LodeReportOptions *options, bool *eligible,
	const LodeProgress *progress, GError **error)
{
	uint32_t n = run->sequences->len;
	const bool *is_closed = options->is_closed;
	g_autofree bool *own = NULL;

	if (is_closed == NULL) {
		own = g_new0(bool, n + 1);
		if (!lode_closed_mark(run, own, progress, error))
			return false;
		is_closed = own;
	}
	for (uint32_t i = 0; i < n; i++)
		eligible[i] &= is_closed[i];
	return true;
}

GArray *lode_report_choose(const LodeMiningRun *run, const LodeReportOptions *options,
	const LodeProgress *progress, GError **error)
{
	LodeReportKey key;

	if (!lode_report_key_parse(run, options->sort, &key, error))
		return NULL;
	g_autofree bool *eligible = filter_sequences(run, options, &key, error);
	if (eligible == NULL)
		return NULL;
	/* In instruction runs all of them are few, and closedness has no supports to compare. */
	if (!options->show_all && !run->parameters.is_instruction_mode &&
		!keep_closed(run, options, eligible, progress, error))
		return NULL;
	GArray *indices = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t i = 0; i < run->sequences->len; i++)
		if (eligible[i])
			g_array_append_val(indices, i);
	lode_report_key_sort(
		run, &key, options->is_reversed, (uint32_t *)(void *)indices->data, indices->len);
	return indices;
}

/* As many of them as are to be shown. The caller unrefs the result. */
static GArray *cut_list(Report *self, const GArray *all)
{
	const LodeReportOptions *options = self->options;
	GArray *indices = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	guint first = MIN(options->offset, all->len);
	uint32_t limit = options->limit;

	self->n_eligible = all->len;
	if (limit == 0 && options->format == LODE_VIEW_TEXT && !options->show_all)
		limit = LIST_LIMIT;
	guint n = limit != 0 ? MIN(limit, all->len - first) : all->len - first;
	if (n > 0)
		g_array_append_vals(indices, &g_array_index(all, uint32_t, first), n);
	return indices;
}

static void put_caption(const Report *self, const char *what)
{
	const LodeMiningParameters *parameters = &self->run->parameters;

	fputc('\n', self->out);
	if (parameters->is_instruction_mode)
		lode_display_print(&self->options->terminal, self->out,
			"Run '%s': %s instruction sequences with more than %s occurrences%s. %s",
			self->run->name, LODE_COUNT_TEXT(self->run->sequences->len),
			LODE_COUNT_TEXT(parameters->min_count),
			parameters->across_calls ? ", across calls" : "", what);
	else
		lode_display_print(&self->options->terminal, self->out,
			"Run '%s': %s sequences, support from %s, gap %u, window %u, size to "
			"%u%s%s%s. %s",
			self->run->name, LODE_COUNT_TEXT(self->run->sequences->len),
			LODE_SHARE_TEXT(parameters->min_support), parameters->gap,
			parameters->window, parameters->iterations,
			parameters->flow == LODE_FLOW_POTENTIAL ? "" : ", flow ",
			parameters->flow == LODE_FLOW_POTENTIAL
				? ""
				: lode_flow_model_to_text(parameters->flow),
			parameters->across_calls ? ", across calls" : "", what);
	fputc('\n', self->out);
}

/* The attribute that was meant, in the form that was given: with or without its namespace. */
static const char *meant_attribute(const LodeMiningRun *run, const char *glob)
{
	g_autoptr(GPtrArray) candidates = g_ptr_array_new();
	bool is_whole = strchr(glob, ':') != NULL;

	for (guint a = 0; a < run->attributes->len; a++) {
		const char *name = g_ptr_array_index(run->attributes, a);
		const char *colon = strchr(name, ':');
		const char *form = is_whole || colon == NULL ? name : colon + 1;
		if (does_match(form, name))
			g_ptr_array_add(candidates, (char *)form);
	}
	g_ptr_array_add(candidates, NULL);
	return lode_suggestion(glob, (const char *const *)candidates->pdata);
}

static void put_unmatched(const Report *self, const char *const *given, const char *option)
{
	g_autoptr(GPtrArray) read = read_globs(self->run, given);

	for (char **globs = (char **)read->pdata; *globs != NULL; globs++) {
		if (has_match(self->run, *globs))
			continue;
		const char *nearest = meant_attribute(self->run, *globs);
		lode_display_print(&self->options->terminal, self->out,
			"%s: no sequence of this run has an attribute '%s'%s%s%s", option, *globs,
			nearest != NULL ? "; did you mean '" : ".", nearest != NULL ? nearest : "",
			nearest != NULL ? "'?" : "");
	}
}

static void put_nothing(const Report *self)
{
	const LodeMiningParameters *parameters = &self->run->parameters;
	const char *restricted = parameters->functions != NULL ? ", or with other --functions"
	                         : parameters->images != NULL  ? ", or with other --images"
	                                                       : "";

	if (self->run->sequences->len > 0 && self->n_eligible > 0)
		lode_display_print(&self->options->terminal, self->out,
			"No sequence costs more than the average instruction, as where the weight "
			"only counts instructions; --sort weight lists those that cost most.");
	else if (self->run->sequences->len > 0)
		lode_display_print(
			&self->options->terminal, self->out, "No sequence passes these filters.");
	else
		lode_display_print(&self->options->terminal, self->out,
			"The run found no sequence; mine with a lower %s%s.",
			parameters->is_instruction_mode ? "--min-count" : "--min-support",
			restricted);
}

static void put_hint(const Report *self, const char *command, const char *purpose)
{
	const LodeTerminal *terminal = &self->options->terminal;
	enum { COMMAND_WIDTH = 36 };
	size_t width = MAX(strlen(command), COMMAND_WIDTH) + strlen(purpose) + 4;

	if (terminal->width == 0 || width <= terminal->width) {
		lode_display_print(
			terminal, self->out, "  %-*s  %s", COMMAND_WIDTH, command, purpose);
		return;
	}
	lode_display_print(terminal, self->out, "  %s", command);
	lode_display_print(terminal, self->out, "      %s", purpose);
}

static void put_hints(const Report *self, uint32_t first_id, bool is_shortened)
{
	g_autofree char *path = lode_shell_profile(
		self->options->profile_path, self->options->origins, self->profile->part_options);
	g_autofree char *file = lode_shell_profile(self->options->profile_path, NULL, NULL);
	g_autofree char *run = lode_shell_word(self->run->name);
	bool names_run = self->options->names_run;

	fputs("Next:\n", self->out);
	if (first_id != 0) {
		g_autofree char *annotate = g_strdup_printf("lode annotate %s %u%s%s", path,
			first_id, names_run ? " --run " : "", names_run ? run : "");
		put_hint(self, annotate, "the places of the first line, with their code");
	}
	if (is_shortened) {
		g_autofree char *all = g_strdup_printf("lode report %s%s%s --all", path,
			names_run ? " " : "", names_run ? run : "");
		put_hint(self, all, "every sequence; see --sort, --with, --size");
	}
	g_autofree char *info = g_strdup_printf("lode info %s", file);
	put_hint(self, info, "what is in the profile, and how good it is");
}

static void put_footer(const Report *self, uint32_t first_id, bool is_shortened)
{
	const LodeTerminal *terminal = &self->options->terminal;

	fputc('\n', self->out);
	lode_profile_lines_incomplete(self->run, terminal, self->out);
	lode_profile_lines_unresolved(self->profile, terminal, self->out);
	put_hints(self, first_id, is_shortened);
}

static void write_list_text(const Report *self, const GArray *indices)
{
	bool is_closed_only = !self->options->show_all &&
	                      !self->run->parameters.is_instruction_mode;
	g_autofree char *what = g_strdup_printf(
		"Showing %s of the %s%s that pass the filters%s%s:", LODE_COUNT_TEXT(indices->len),
		LODE_COUNT_TEXT(self->n_eligible), is_closed_only ? " closed ones" : "",
		self->options->baseline != 0 ? "; supports less those of " : "",
		self->options->baseline != 0 ? "the baseline" : "");

	lode_profile_lines_head(self->profile, lode_profile_weight_of(self->profile, self->run),
		&self->options->terminal, self->out);
	lode_profile_lines_inferred(self->profile, &self->options->terminal, self->out);
	put_caption(self, what);
	uint32_t first_id = 0;
	if (indices->len > 0) {
		first_id = g_array_index(indices, uint32_t, 0) + 1;
		lode_report_list_write(self->profile, &self->values, indices, &self->key,
			self->options, self->out);
	} else {
		put_nothing(self);
	}
	put_unmatched(self, self->options->filter.with, "--with");
	put_unmatched(self, self->options->filter.without, "--without");
	put_footer(self, first_id, is_closed_only || indices->len < self->n_eligible);
}

static void write_list(Report *self, const GArray *all, const LodeProgress *progress)
{
	g_autoptr(GArray) indices = cut_list(self, all);
	Page page = {self->options->is_page, self->options->offset, self->n_eligible};

	const Listed listed = {self->profile, &self->values, indices};

	lode_progress_end(progress);
	if (self->options->format == LODE_VIEW_TEXT)
		write_list_text(self, indices);
	else
		write_rows(&listed, &page, self->options->format, self->out);
}

/* Runs of instruction sequences have the totals of all events; one of them is the weight. */
static uint32_t find_weight_event(const LodeProfile *profile, const LodeMiningRun *run)
{
	const char *name = lode_profile_event_name(profile, lode_profile_weight_of(profile, run));
	guint index;

	if (name == NULL || !run->parameters.is_instruction_mode ||
		!g_ptr_array_find_with_equal_func(run->events, name, g_str_equal, &index))
		return LODE_NONE;
	return index;
}

bool lode_report_write(const LodeProfile *profile, const LodeMiningRun *run,
	const LodeReportOptions *options, const LodeProgress *progress, FILE *out, GError **error)
{
	Report report = {.profile = profile, .run = run, .options = options, .out = out};

	if (!lode_report_lists_sequences(run, options)) {
		lode_progress_end(progress);
		lode_finding_report_write(profile, run, options, out);
		return lode_view_flush(out, error);
	}
	if (options->is_explained) {
		fail_unexplained(run, error);
		return false;
	}
	if (!lode_report_key_parse(run, options->sort, &report.key, error) ||
		!lode_report_values_init(&report.values, run, options->baseline, error))
		return false;
	report.values.weight_event = find_weight_event(profile, run);
	g_autoptr(GArray) own = options->sequences == NULL
	                                ? lode_report_choose(run, options, progress, error)
	                                : NULL;
	if (options->sequences == NULL && own == NULL)
		return false;
	write_list(&report, own != NULL ? own : options->sequences, progress);
	return lode_view_flush(out, error);
}
