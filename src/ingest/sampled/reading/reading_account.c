/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/reading/sampled_reading.h"

#include "base/error.h"
#include "ingest/memory/memory_reading.h"
#include "ingest/sampled/processor_time.h"
#include "ingest/sampled/sampled_columns.h"
#include "ingest/windows/window_reading.h"
#include "model/run/unresolved.h"

#include <string.h>

static void account_skipped(
	LodeSampledReading *self, const LodeSampledInput *input, const LodePerfInfo *info)
{
	for (guint i = 0; i < info->left_out.skipped->len; i++) {
		const LodePerfSkipped *skipped = &g_array_index(
			info->left_out.skipped, LodePerfSkipped, i);
		const char *name = lode_perf_data_record_name(skipped->type);
		g_autofree char *reason =
			name != NULL ? g_strdup_printf("records %s, which lode does not read", name)
			: skipped->type == LODE_PERF_FURTHER_TYPES
				? g_strdup("records of further unknown types")
				: g_strdup_printf("records of the unknown type %u", skipped->type);
		lode_recording_add_unresolved(
			self->recording, reason, input->path, (double)skipped->n, 0);
	}
	if (info->left_out.n_missing_chains > 0)
		lode_recording_add_unresolved(self->recording,
			"samples whose callers were to come later, but are not in the recording",
			input->path, (double)info->left_out.n_missing_chains, 0);
	if (info->left_out.n_unused_chains > 0)
		lode_recording_add_unresolved(self->recording,
			"callers that came later, but whose sample is not in the recording",
			input->path, (double)info->left_out.n_unused_chains, 0);
}

static void account_looks(LodeSampledReading *self, const LodeSampledInput *input)
{
	if (input->n_bad_scripts > 0)
		lode_recording_add_unresolved(self->recording,
			"looks at scripts, which are damaged or of a newer lode", input->path,
			(double)input->n_bad_scripts, 0);
	if (input->n_bad_looks > 0)
		lode_recording_add_unresolved(self->recording,
			"looks at threads that wait, which are damaged or of a newer lode",
			input->path, (double)input->n_bad_looks, 0);
	if (input->threads == NULL || !lode_sampled_input_has_looks(input))
		return;
	uint64_t n_stray = lode_sampled_threads_waits(input->threads)->n_stray;
	if (n_stray > 0)
		lode_recording_add_unresolved(self->recording,
			"looks at threads that did not wait then, by their context switches",
			input->path, (double)n_stray, 0);
}

/* Accounts for skipped and missing parts of the files. */
static void account_files(LodeSampledReading *self)
{
	for (guint i = 0; i < self->inputs->len; i++) {
		const LodeSampledInput *input = &g_array_index(self->inputs, LodeSampledInput, i);
		const LodePerfInfo *info = lode_perf_data_info(input->data);
		account_skipped(self, input, info);
		account_looks(self, input);
		if (info->left_out.n_unknown_ids > 0)
			lode_recording_add_unresolved(self->recording,
				"sample of an event that the recording does not describe",
				input->path, (double)info->left_out.n_unknown_ids, 0);
		if (info->left_out.aux_trace != NULL) {
			g_autofree char *reason = g_strconcat(
				strchr(info->left_out.aux_trace, ' ') + 1, " that is not decoded",
				NULL);
			lode_recording_add_unresolved(self->recording, reason, input->path, 1, 0);
		}
		if (input->counts.n_left_out > 0)
			lode_recording_add_unresolved(self->recording,
				"count of an event that the recording does not describe",
				input->path, (double)input->counts.n_left_out, 0);
		if (input->counts.n_untracked > 0)
			lode_recording_add_unresolved(self->recording,
				"count of more counters than are kept", input->path,
				(double)input->counts.n_untracked, 0);
		if (info->is_truncated)
			lode_recording_add_unresolved(
				self->recording, LODE_CUT_SHORT, input->path, 1, 0);
		else if (info->left_out.n_damaged_features > 0)
			lode_recording_add_unresolved(self->recording, LODE_CUT_DESCRIPTION,
				input->path, (double)info->left_out.n_damaged_features, 0);
	}
}

static void account_losses(LodeSampledReading *self)
{
	static const char *const losses[] = {"records lost by the kernel while sampling",
		"samples lost by the kernel", "times that the kernel throttled the sampling"};
	const double counts[] = {self->n_lost, self->n_lost_samples, self->n_throttled};

	lode_sampled_totals_account(&self->totals, self->recording);
	for (size_t i = 0; i < G_N_ELEMENTS(losses); i++)
		if (counts[i] > 0)
			lode_recording_add_unresolved(
				self->recording, losses[i], NULL, counts[i], 0);
	if (lode_sampled_scripts_n_torn(self->scripts) > 0)
		lode_recording_add_unresolved(self->recording,
			"looks at scripts whose frames changed meanwhile", NULL,
			(double)lode_sampled_scripts_n_torn(self->scripts), 0);
	if (self->memory->n_left_out > 0)
		lode_recording_add_unresolved(self->recording,
			"samples whose data is not looked at, for which others stand", NULL,
			(double)self->memory->n_left_out, 0);
	if (self->totals.own.n > 0)
		lode_recording_add_unresolved(self->recording,
			"samples of lode's own libraries in the program: left out of all shares",
			NULL, self->totals.own.n, 0);
}

static void describe_program(LodeRecording *recording, const LodeSampledInput *input)
{
	const LodePerfInfo *info = lode_perf_data_info(input->data);
	uint32_t weight = lode_recording_weight_column(recording);
	const char *program = info->program != NULL ? info->program : info->command;
	size_t n_events;
	const LodePerfEvent *events = lode_perf_data_events(input->data, &n_events);

	if (program != NULL)
		lode_recording_add_command(recording, program, strlen(program));
	recording->programs.user_seconds += (double)info->run.user_ns / 1e9;
	recording->programs.system_seconds += (double)info->run.system_ns / 1e9;
	for (size_t i = 0; i < n_events; i++)
		recording->is_kernel_sampled |= events[i].has_kernel && input->columns[i] == weight;
}

/* Samples of page faults stand for those up to them; the kernel has counted all. */
static void complete_page_faults(LodeSampledReading *self)
{
	uint32_t column = lode_sampled_columns_find(self->recording, "page-faults");
	double counted = 0;

	for (guint i = 0; i < self->inputs->len; i++) {
		const LodeSampledInput *input = &g_array_index(self->inputs, LodeSampledInput, i);
		if (input->programs == NULL && self->options->end_ns == 0)
			counted += (double)lode_perf_data_info(input->data)->run.n_page_faults;
	}
	if (column == LODE_NONE)
		return;
	double *total = &g_array_index(self->recording->totals, double, column);
	*total = MAX(*total, counted);
}

/* From one of the timer's samples to the next; 0: there are none. */
static double mean_period(const LodeSampledReading *self)
{
	return self->n_timed > 0 ? (self->timer.user_ns + self->timer.kernel_ns) / self->n_timed
	                         : 0;
}

static void describe_machine(const LodeSampledReading *self, const LodePerfInfo *info)
{
	LodeRecording *recording = self->recording;
	double period_ns = mean_period(self);

	recording->programs.wall_seconds = (double)info->run.wall_ns / 1e9;
	recording->programs.speed = info->run.speed;
	recording->programs.cycles_per_ns = (double)info->run.clock_khz / 1e6;
	recording->programs.rates = info->run.rates;
	recording->programs.core_figures = info->run.core_figures;
	if (period_ns <= 0 || (double)info->run.sample_ns > period_ns / 2)
		return;
	recording->programs.sampling_share = (double)info->run.sample_ns / period_ns;
	recording->programs.sampling_error = (double)info->run.sample_error_ns / period_ns;
}

static void describe(LodeSampledReading *self)
{
	LodeRecording *recording = self->recording;
	const LodePerfInfo *info = lode_perf_data_info(
		g_array_index(self->inputs, LodeSampledInput, 0).data);
	const char *version = info->version != NULL ? info->version : "";
	bool is_number = version[0] == '\0' || g_ascii_isdigit(version[0]);
	g_autofree char *creator = g_strchomp(
		g_strconcat("perf.data of ", is_number ? "perf " : "", version, NULL));

	recording->programs.creator = g_string_chunk_insert(recording->strings, creator);
	if (self->inputs->len == 1)
		describe_machine(self, info);
	if (info->host != NULL)
		recording->programs.host = g_string_chunk_insert(recording->strings, info->host);
	if (info->cpu_id != NULL)
		recording->programs.processor = g_string_chunk_insert(
			recording->strings, info->cpu_id);
	for (guint i = 0; i < self->inputs->len; i++)
		describe_program(recording, &g_array_index(self->inputs, LodeSampledInput, i));
	uint32_t weight = lode_recording_weight_column(recording);
	if (g_str_has_suffix(recording->events->pdata[weight], "-clock"))
		recording->programs.user_seconds = MAX(
			recording->programs.user_seconds - self->totals.own.weights[weight] / 1e9,
			0);
	recording->frequency = self->has_branches ? LODE_FREQUENCY_SAMPLED
	                                          : LODE_FREQUENCY_INFERRED;
}

/* Whether the timer ran all the time: in slices of it, what is in none of them is not the kernel's.
 */
static bool is_sampled_throughout(const LodeSampledReading *self)
{
	for (guint i = 0; i < self->inputs->len; i++)
		if (lode_perf_data_info(g_array_index(self->inputs, LodeSampledInput, i).data)
				->run.sampling != NULL)
			return false;
	return true;
}

void lode_sampled_reading_divide_time(LodeSampledReading *self)
{
	LodeRecording *recording = self->recording;
	const LodeWindowReading *windows = self->options->windows;
	LodeProcessorTime time = {
		recording->programs.user_seconds, recording->programs.system_seconds, 0};

	if (self->n_lost == 0 && self->n_lost_samples == 0 && self->n_throttled == 0 &&
		self->n_left_out == 0 && self->options->end_ns == 0 && is_sampled_throughout(self))
		self->timer.period_ns = mean_period(self);
	self->timer.has_kernel = recording->is_kernel_sampled;
	self->timer.n_threads = recording->thread_times->len;
	self->timer.steal = recording->programs.speed.runs > 0 ? recording->programs.speed.steal
	                                                       : 0;
	self->timer.windows_seconds = (double)(windows->user_ns + windows->system_ns) / 1e9;
	lode_processor_time_divide(&time, &self->timer);
	recording->programs.user_seconds = time.user_seconds;
	recording->programs.system_seconds = time.system_seconds;
	recording->programs.system_error = time.system_error;
}

/* A trace that the processor made is no recording that lode reads, and without it there must be
 * samples. */
static bool is_more_than_trace(const LodeSampledInput *input, GError **error)
{
	const LodePerfInfo *info = lode_perf_data_info(input->data);

	if (input->n_samples > 0 || info->left_out.aux_trace == NULL)
		return true;
	g_set_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED,
		"%s: it holds no samples, but %s (%" G_GUINT64_FORMAT
		" bytes), which lode does not decode; 'perf inject --itrace=i1000i -i %s -o FILE' "
		"makes samples of it",
		input->path, info->left_out.aux_trace, info->left_out.aux_bytes, input->path);
	return false;
}

bool lode_sampled_reading_has_wanted(const LodeSampledReading *self, GError **error)
{
	const LodeSampledRecordingOptions *options = self->options;

	for (guint i = 0; i < self->inputs->len; i++)
		if (!is_more_than_trace(&g_array_index(self->inputs, LodeSampledInput, i), error))
			return false;
	if (self->n_left_out == 0 || self->recording->n_samples > 0)
		return true;
	g_autofree char *names = options->only != NULL ? g_strjoinv("', '", (char **)options->only)
	                                               : g_strdup("");
	g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
		options->only != NULL ? "%s: no sample is of a program with a name like '%s'"
				      : "%s: no sample is of the program itself%s",
		options->paths[0], names);
	return false;
}

/* Lists the threads' times, without the time of their windows. */
static void list_threads(LodeSampledReading *self)
{
	GArray *times = self->recording->thread_times;
	double n_incomplete = 0;

	for (guint i = 0; i < self->inputs->len; i++) {
		const LodeSampledInput *input = &g_array_index(self->inputs, LodeSampledInput, i);
		if (!input->has_switches)
			continue;
		n_incomplete += (double)lode_sampled_threads_n_incomplete(input->threads);
		guint first = times->len;
		lode_sampled_threads_list(input->threads, &self->memory->threads, times);
		for (guint k = first; k < times->len; k++) {
			LodeThreadTime *time = &LODE_AT(times, LodeThreadTime, k);
			time->running_ns -= MIN(
				time->running_ns, lode_window_times_running(&input->windows,
							  time->tid, time->begin_ns, time->end_ns));
		}
	}
	if (n_incomplete > 0)
		lode_recording_add_unresolved(self->recording,
			"context switches without the one before or after them", NULL, n_incomplete,
			0);
	if (self->n_in_gaps > 0)
		lode_recording_add_unresolved(
			self->recording, LODE_UNRESOLVED_SWITCHES, NULL, self->n_in_gaps, 0);
}

void lode_sampled_reading_account(LodeSampledReading *self)
{
	list_threads(self);
	account_losses(self);
	account_files(self);
	complete_page_faults(self);
	describe(self);
}
