/* SPDX-License-Identifier: MIT */
/*
 * lode compare: two commands run by turns, each time under 'lode run', and what is different.
 *
 *   A B │ B A │ A B …  ─▶  a profile of each run  ─▶  run_series.h  ─▶  table
 *
 * Each run is a process of lode's own, so that one that fails or is killed leaves the others as
 * they are.
 */
#include "analyses/compare/run_series.h"
#include "base/error.h"
#include "base/files/output_file.h"
#include "base/text/command_words.h"
#include "cli/interrupt.h"
#include "cli/recording/recording_directory.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "model/profile.h"
#include "questions/parts/rows.h"
#include "store/profile_store.h"
#include "views/findings/series_report.h"
#include "views/form/display_text.h"

#include <gio/gio.h>
#include <math.h>
#include <string.h>

enum { LEAST_RUNS = 2, LAST_WORDS = 300 };

typedef struct {
	uint32_t runs;
	const char *output, *keep;
	const char *const *own;
	double fail_above;
	bool has_fail_above, is_all, may_fail, has_full_names;
	LodeSeriesFormat format;
} Options;

static const LodeParameter rows[] = {
	{"runs", 'n', LODE_COUNT(Options, runs), .least = LEAST_RUNS, .most = LODE_PAIRED_MAX,
		.value = "N", .standard = "7", .summary = "runs of each command (default: 7)"},
	{"output", 'o', LODE_OUTPUT(Options, output, OTHER), .value = "FILE",
		.summary = "where the table is written (default: standard output)"},
	{"keep", LODE_FILE(Options, keep), .value = "DIR",
		.summary = "keep the profiles of the runs in this new folder: a1.lode, b1.lode, …"},
	{"fail-above", LODE_PERCENT(Options, fail_above), .value = "PERCENT",
		.given = offsetof(Options, has_fail_above),
		.summary =
			"exit with status 3 when the second command takes more processor time or "
			"time by the clock by more than this, beyond what differs from run to run"},
	{"ignore-failure", LODE_FLAG(Options, may_fail),
		.summary = "go on when a command ends with another status than 0"},
	{"all", LODE_FLAG(Options, is_all),
		.summary = "list in text and Markdown what did not change, too"},
	LODE_OWN_ROW(Options, own),
	LODE_FULL_NAMES_ROW(Options, has_full_names),
	{"format", LODE_WORD(Options, format), .value = "text|json|csv|markdown",
		.summary = "output format (default: text)"},
	{NULL},
};

static const LodeParameterGroup groups[] = {{"Options", rows, 0}, {NULL}};

typedef struct {
	const Options *options;
	char **commands[2];
	char *shown[2]; /* as a user would type them */
	LodeRecordingDirectory *folder;
	LodeTerminalProgress *screen;
} Comparing;

/* Divides the words at "---". */
static bool take_commands(Comparing *self, char **arguments, GError **error)
{
	char **second = arguments;

	while (*second != NULL && strcmp(*second, "---") != 0)
		second++;
	if (second == arguments || *second == NULL || second[1] == NULL)
		return lode_parameter_refuse(error, "compare takes two commands: lode compare -- "
						    "./old argument --- ./new argument");
	*second = NULL;
	self->commands[0] = arguments;
	self->commands[1] = second + 1;
	for (int side = 0; side < 2; side++) {
		GString *shown = g_string_new(NULL);
		for (char **at = self->commands[side]; *at != NULL; at++)
			lode_command_words_append(shown, *at);
		self->shown[side] = g_string_free(shown, FALSE);
	}
	return true;
}

static char *path_of(const Comparing *self, int side, unsigned number)
{
	return g_strdup_printf("%s/%c%u.lode", self->folder->path, "ab"[side], number + 1);
}

/* The end of what a run wrote on standard error, which may be anything, for a message; the caller
 * frees it. */
static char *last_words(GBytes *said)
{
	size_t size;
	const char *text = g_bytes_get_data(said, &size);
	size_t left_out = size > LAST_WORDS ? size - LAST_WORDS : 0;

	return size > 0 ? g_strchomp(g_utf8_make_valid(text + left_out, (gssize)(size - left_out)))
	                : g_strdup("");
}

static bool check_run(const Comparing *self, int side, unsigned number, GSubprocess *process,
	const char *words, GError **error)
{
	bool has_exited = g_subprocess_get_if_exited(process);
	int status = has_exited ? g_subprocess_get_exit_status(process)
	                        : g_subprocess_get_term_sig(process);
	g_autofree char *path = path_of(self, side, number);

	if (lode_interrupt_signal() != 0) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
		return false;
	}
	if (!g_file_test(path, G_FILE_TEST_EXISTS) || !has_exited ||
		(status != 0 && !self->options->may_fail)) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_IO,
			"run %u of %s ended %s %d; --ignore-failure "
			"goes on where there is a profile%s%s",
			number + 1, self->shown[side], has_exited ? "with status" : "by signal",
			status, *words != '\0' ? "; its last words: " : "", words);
		return false;
	}
	return true;
}

static bool run_once(const Comparing *self, int side, unsigned number, GError **error)
{
	g_autofree char *path = path_of(self, side, number),
			*lode = g_file_read_link("/proc/self/exe", error);
	g_autoptr(GPtrArray) command = g_ptr_array_new();
	g_autoptr(GBytes) said = NULL;

	if (lode == NULL)
		return false;
	const char *const first[] = {lode, "run", "--report", "/dev/null", "-o", path, "--", NULL};
	for (size_t i = 0; first[i] != NULL; i++)
		g_ptr_array_add(command, (void *)first[i]);
	for (char **at = self->commands[side]; *at != NULL; at++)
		g_ptr_array_add(command, *at);
	g_ptr_array_add(command, NULL);
	g_autoptr(GSubprocess) process = g_subprocess_newv((const char *const *)command->pdata,
		G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_PIPE, error);
	if (process == NULL || !g_subprocess_communicate(process, NULL, NULL, NULL, &said, error))
		return false;
	g_autofree char *words = last_words(said);
	return check_run(self, side, number, process, words, error);
}

/* The second of each other pair begins, so that what one run does to the next is on both sides. */
static bool run_all(const Comparing *self, GError **error)
{
	unsigned n = self->options->runs;

	for (unsigned i = 0; i < 2 * n; i++) {
		unsigned pair = i / 2;
		int side = (int)((i + pair) % 2);
		lode_progress_report(
			&self->screen->progress, "running by turns", i, 2 * n, self->shown[side]);
		if (!run_once(self, side, pair, error))
			return false;
	}
	return true;
}

static bool add_pair(const Comparing *self, unsigned pair, LodeRunSeries *series, GError **error)
{
	const LodeProgress *progress = &self->screen->progress;
	g_autofree char *paths[2] = {path_of(self, 0, pair), path_of(self, 1, pair)};
	g_autoptr(LodeProfile)
		base = lode_profile_store_read_with_stacks(paths[0], progress, error);
	g_autoptr(LodeProfile) other = base != NULL ? lode_profile_store_read_with_stacks(
							      paths[1], progress, error)
	                                            : NULL;
	const LodeProfile *const both[] = {base, other};

	return other != NULL &&
	       lode_run_series_add(series, both, self->options->own, progress, error);
}

static bool is_slower(const LodeRunSeries *series, double most)
{
	return lode_series_row(series, 0)->change.low > most ||
	       lode_series_row(series, 1)->change.low > most;
}

static int compare(const Comparing *self, GError **error)
{
	const Options *options = self->options;
	g_autoptr(LodeRunSeries) series = lode_run_series_new();
	g_autoptr(LodeOutputFile) file = lode_output_file_open(options->output, error);

	if (file == NULL || !run_all(self, error))
		return LODE_EXIT_FAILED;
	for (unsigned i = 0; i < options->runs; i++) {
		lode_progress_report(&self->screen->progress, "comparing", i, options->runs, NULL);
		if (!add_pair(self, i, series, error))
			return LODE_EXIT_FAILED;
	}
	lode_run_series_finish(series);
	lode_terminal_progress_hide(self->screen);
	FILE *out = lode_output_file_stream(file);
	LodeSeriesReportOptions report = {options->format, lode_terminal_of(out),
		{self->shown[0], self->shown[1]}, options->is_all};
	report.terminal.has_full_names = options->has_full_names;
	if (!lode_series_report_write(series, &report, out, error) ||
		!lode_output_file_commit(file, error))
		return LODE_EXIT_FAILED;
	return options->has_fail_above && is_slower(series, options->fail_above) ? LODE_EXIT_CHECKED
	                                                                         : LODE_EXIT_OK;
}

static int run(void *options, char **arguments, GError **error)
{
	g_auto(LodeTerminalProgress) screen;
	Comparing self = {.options = options, .screen = &screen};
	int status = LODE_EXIT_USAGE;

	lode_terminal_progress_init(&screen);
	if (take_commands(&self, arguments, error)) {
		self.folder = lode_recording_directory_open(self.options->keep, error);
		status = self.folder != NULL ? compare(&self, error) : LODE_EXIT_FAILED;
		if (self.folder != NULL)
			lode_recording_directory_close(self.folder);
	}
	g_free(self.shown[0]);
	g_free(self.shown[1]);
	return status;
}

const LodeVerb lode_verb_compare = {
	.name = "compare",
	.arguments = "-- A [ARGUMENT…] --- B [ARGUMENT…]",
	.summary = "run two commands by turns, and say what is different",
	.description =
		"Runs both commands by turns under 'lode run', the second first in every other "
		"pair, "
		"and says which takes less time, by how much with a confidence of 95 % (of six "
		"runs or "
		"more), and which diagnoses, functions and waits that comes from. Of those a "
		"change is "
		"listed if it has one direction in all pairs and half a percent of the time at "
		"least. "
		"Where there is none, it says how large a difference may be that was not seen.\n"
		"\n"
		"What the commands write on standard output is dropped; their input is empty. "
		"'lode diff' compares two profiles that are there already.\n"
		"\n"
		"Examples:\n"
		"  lode compare -- ./old input --- ./new input\n"
		"  lode compare -n 15 -- sort words --- env LC_ALL=C sort words\n"
		"  lode compare --format markdown -o change.md -- ./old --- ./new\n"
		"  lode compare --fail-above 2 -- ./old --- ./new   status 3 for a CI job",
	.groups = groups,
	.size = sizeof(Options),
	.run = run,
	.is_wrapper = true,
};
