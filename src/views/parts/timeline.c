/* SPDX-License-Identifier: MIT */
/* What threads cost, and what they did, over time. */
#include "views/parts/program_list.h"

#include "analyses/parts/program_shares.h"
#include "analyses/waits/wait_groups.h"
#include "base/text/json_stream.h"
#include "model/process.h"
#include "model/profile.h"
#include "model/stacks.h"
#include "views/export/stack_export.h"
#include "views/form/format.h"

#include <math.h>

static const LodeProgramShare *row_at(const GArray *rows, size_t i)
{
	return &g_array_index(rows, LodeProgramShare, i);
}

typedef struct {
	LodeStackSpan of; /* of all samples */
	double weight;    /* of the event */
} Span;

static Span find_span(const LodeStacks *stacks, uint32_t event)
{
	Span span = {.of = lode_stacks_span(stacks)};

	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		if (sample->event == event)
			span.weight += sample->weight;
	}
	return span;
}

static uint32_t bin_of(const Span *span, uint32_t n_bins, uint64_t time_ns)
{
	double at = span->of.length_ns > 0
	                    ? (double)(time_ns - span->of.first_ns) / (double)span->of.length_ns
	                    : 0;

	return MIN((uint32_t)(at * n_bins), n_bins - 1);
}

/* The shares of the first threads, one row of bins after another. */
static double *sum_bins(const LodeStacks *stacks, uint32_t event, const Span *span,
	const uint32_t *row_of, uint32_t n_bins)
{
	double *bins = g_new0(double, (size_t)LODE_TIMELINE_MAX_THREADS *n_bins);

	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		uint32_t row = row_of[sample->thread];
		if (sample->event == event && sample->time_ns != 0 &&
			row < LODE_TIMELINE_MAX_THREADS && span->weight > 0)
			bins[(size_t)row * n_bins + bin_of(span, n_bins, sample->time_ns)] +=
				sample->weight / span->weight;
	}
	return bins;
}

/* Null where samples do not stand for time, or have none. */
static void put_busy(LodeJsonStream *json, const LodeProfile *profile, uint32_t event,
	const Span *span, uint32_t n_bins)
{
	const GArray *samples = profile->stacks->samples;
	g_autofree double *busy = g_new0(double, n_bins);
	double bin_ns = (double)span->of.length_ns / n_bins;

	lode_json_key(json, "busy");
	if (!lode_stack_export_is_time(profile, event) || span->of.length_ns == 0) {
		lode_json_string(json, NULL);
		return;
	}
	for (guint i = 0; i < samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(samples, LodeStackSample, i);
		if (sample->event == event && sample->time_ns != 0)
			busy[bin_of(span, n_bins, sample->time_ns)] += sample->weight / bin_ns;
	}
	lode_json_begin(json, '[');
	for (uint32_t i = 0; i < n_bins; i++)
		lode_json_number(json, busy[i]);
	lode_json_end(json, ']');
}

/* --- threads --- */

/* The threads shown, the heaviest first, then others of which it is known what they did. */
typedef struct {
	const LodeProfile *profile;
	Span span;
	uint32_t n_bins;
	GArray *rows;        /* LodeProgramShare */
	GPtrArray *slices;   /* of each: GArray of const LodeWaitSlice * */
	GHashTable *numbers; /* pid << 32 | tid → row + 1 */
	uint32_t *group_of;  /* of each of the waits' rows */
} Timeline;

static void free_array(void *array)
{
	g_array_unref(array);
}

static void timeline_clear(Timeline *self)
{
	g_clear_pointer(&self->rows, g_array_unref);
	g_clear_pointer(&self->slices, g_ptr_array_unref);
	g_clear_pointer(&self->numbers, g_hash_table_unref);
	g_clear_pointer(&self->group_of, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Timeline, timeline_clear)

static void add_row(Timeline *self, const LodeProgramShare *row)
{
	gint64 *key = g_new(gint64, 1);

	*key = (gint64)((uint64_t)row->pid << 32 | row->tid);
	g_array_append_vals(self->rows, row, 1);
	g_ptr_array_add(self->slices, g_array_new(FALSE, FALSE, sizeof(const LodeWaitSlice *)));
	g_hash_table_replace(self->numbers, key, GUINT_TO_POINTER(self->rows->len));
}

/* A thread without samples, or with fewer than those shown. */
static void add_lighter_row(Timeline *self, const LodeWaitSlice *slice, const GArray *shares)
{
	const GArray *times = self->profile->thread_times;
	LodeProgramShare row = {.pid = slice->pid,
		.tid = slice->tid,
		.first_ns = MAX(slice->begin_ns, self->span.of.first_ns) - self->span.of.first_ns};

	for (guint i = 0; i < times->len; i++) {
		const LodeThreadTime *time = &LODE_AT(times, LodeThreadTime, i);
		if (time->pid == row.pid && time->tid == row.tid)
			row.name = time->name;
	}
	for (guint i = self->rows->len; i < shares->len; i++)
		if (row_at(shares, i)->pid == row.pid && row_at(shares, i)->tid == row.tid)
			row = *row_at(shares, i);
	add_row(self, &row);
}

/* A thread begins before its first sample. */
static void begin_at(LodeProgramShare *row, const LodeWaitSlice *slice, uint64_t first_ns)
{
	row->first_ns = MIN(row->first_ns, MAX(slice->begin_ns, first_ns) - first_ns);
}

static void add_slices(Timeline *self, const GArray *shares)
{
	const GArray *slices = self->profile->waits->slices;

	for (guint i = 0; i < slices->len; i++) {
		const LodeWaitSlice *slice = &LODE_AT(slices, LodeWaitSlice, i);
		gint64 key = (gint64)((uint64_t)slice->pid << 32 | slice->tid);
		guint number = GPOINTER_TO_UINT(g_hash_table_lookup(self->numbers, &key));
		/* A file may say anything. */
		if (number == 0 &&
			self->rows->len < LODE_TIMELINE_MAX_THREADS + LODE_MAX_SLICED_THREADS) {
			add_lighter_row(self, slice, shares);
			number = self->rows->len;
		}
		if (number == 0)
			continue;
		begin_at(&g_array_index(self->rows, LodeProgramShare, number - 1), slice,
			self->span.of.first_ns);
		g_array_append_val((GArray *)g_ptr_array_index(self->slices, number - 1), slice);
	}
}

/* A time since the first sample, in µs, within the samples' time. */
static double microseconds(const Timeline *self, uint64_t time_ns)
{
	const LodeStackSpan *span = &self->span.of;
	uint64_t at_ns = MAX(time_ns, span->first_ns) - span->first_ns;

	return round((double)MIN(at_ns, span->length_ns) / 1e3);
}

static void put_slices(const Timeline *self, const GArray *slices, LodeJsonStream *json)
{
	lode_json_member_begin(json, "slices", '[');
	for (guint i = 0; i < slices->len; i++) {
		const LodeWaitSlice *slice = LODE_AT(slices, const LodeWaitSlice *, i);
		uint32_t group = slice->wait != LODE_NONE ? self->group_of[slice->wait] : LODE_NONE;
		double begin = microseconds(self, slice->begin_ns);
		double length = microseconds(self, slice->end_ns) - begin;
		if (!(length > 0))
			continue;
		lode_json_begin(json, '[');
		lode_json_number(json, begin);
		lode_json_number(json, length);
		lode_json_number(json, slice->kind);
		lode_json_number(json, group != LODE_NONE ? group : -1.0);
		lode_json_number(json, MIN(round(slice->time_ns / 1e3), length));
		lode_json_number(json, MIN(round(slice->path_ns / 1e3), length));
		lode_json_end(json, ']');
	}
	lode_json_end(json, ']');
}

/* Of several processes, with which words the thread's was started: the one that had its number
 * then. NULL: not known, or it is not its first thread. */
static const char *command_of(const Timeline *self, const LodeProgramShare *row)
{
	const GArray *processes = self->profile->waits != NULL ? self->profile->waits->processes
	                                                       : NULL;
	const char *command = NULL;

	if (processes == NULL || processes->len < 2 || row->pid != row->tid)
		return NULL;
	for (guint i = 0; i < processes->len; i++) {
		const LodeWaitProcess *process = &g_array_index(processes, LodeWaitProcess, i);
		if (process->pid == row->pid &&
			(command == NULL ||
				process->begin_ns <= self->span.of.first_ns + row->first_ns))
			command = process->command;
	}
	return command;
}

static void put_thread(const Timeline *self, guint number, const double *bins, LodeJsonStream *json)
{
	const LodeProgramShare *row = row_at(self->rows, number);

	lode_json_line_begin(json, '{');
	lode_json_member_number(json, "pid", row->pid);
	lode_json_member_number(json, "tid", row->tid);
	lode_json_member_string(json, "name", row->name);
	lode_json_member_string(json, "command", command_of(self, row));
	lode_json_member_number(json, "samples", row->samples);
	lode_json_member_number(json, "weight", row->share);
	lode_json_member_number(json, "from", (double)row->first_ns / 1e9);
	lode_json_member_begin(json, "values", '[');
	for (uint32_t i = 0; bins != NULL && i < self->n_bins; i++)
		lode_json_number(json, bins[i]);
	lode_json_end(json, ']');
	put_slices(self, g_ptr_array_index(self->slices, number), json);
	lode_json_end(json, '}');
}

/* What the numbers in slices mean. */
static void put_kinds(const GArray *groups, bool has_path, LodeJsonStream *json)
{
	lode_json_member_bool(json, "has_path", has_path);
	lode_json_member_begin(json, "kinds", '[');
	for (uint32_t i = 0; i < LODE_N_SLICE_KINDS; i++)
		lode_json_string(json, lode_wait_slice_kind_to_text(i));
	lode_json_end(json, ']');
	lode_json_member_begin(json, "idle", '[');
	for (guint i = 0; i < groups->len; i++)
		lode_json_bool(json, lode_wait_group_at(groups, i)->is_idle);
	lode_json_end(json, ']');
}

static void put_threads(
	LodeJsonStream *json, const LodeProfile *profile, const Span *span, uint32_t n_bins)
{
	uint32_t event = lode_program_shares_event(profile);
	const LodeWaits *waits = profile->waits;
	g_autofree uint32_t *row_of = NULL;
	g_autoptr(GArray)
		shares = lode_program_shares_new(profile, LODE_PROGRAMS_BY_THREAD, &row_of);
	g_autofree double *bins = sum_bins(profile->stacks, event, span, row_of, n_bins);
	g_autoptr(LodeOwnLines) own = lode_own_lines_new(profile, NULL);
	g_autoptr(GArray) groups = lode_wait_groups_new(profile, own);
	guint n = MIN(shares->len, LODE_TIMELINE_MAX_THREADS), n_shown = 0;
	g_auto(Timeline) self = {.profile = profile,
		.span = *span,
		.n_bins = n_bins,
		.rows = g_array_new(FALSE, FALSE, sizeof(LodeProgramShare)),
		.slices = g_ptr_array_new_with_free_func(free_array),
		.numbers = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
		.group_of = lode_wait_groups_of_rows(groups, waits != NULL ? waits->rows->len : 0)};

	for (guint i = 0; i < n; i++)
		add_row(&self, row_at(shares, i));
	if (waits != NULL)
		add_slices(&self, shares);
	put_busy(json, profile, event, span, n_bins);
	put_kinds(groups, waits != NULL && waits->has_path, json);
	lode_json_member_begin(json, "threads", '[');
	for (guint i = 0; i < self.rows->len; i++) {
		put_thread(&self, i, i < n ? bins + (size_t)i * n_bins : NULL, json);
		n_shown += row_at(self.rows, i)->samples > 0;
	}
	lode_json_end(json, ']');
	lode_json_member_number(json, "threads_left_out", shares->len - n_shown);
}

bool lode_timeline_write(const LodeProfile *profile, uint32_t n_bins, FILE *out, GError **error)
{
	bool has_samples = profile->stacks != NULL && profile->stacks->samples->len > 0;
	Span span = {0};
	LodeJsonStream json;

	if (has_samples)
		span = find_span(profile->stacks, lode_program_shares_event(profile));
	lode_json_stream_init(&json, out);
	lode_json_begin(&json, '{');
	lode_json_member_number(&json, "seconds", (double)span.of.length_ns / 1e9);
	lode_json_member_number(&json, "bins", n_bins);
	lode_program_list_put_event(&json, profile);
	if (has_samples) {
		put_threads(&json, profile, &span, n_bins);
	} else {
		lode_json_member_string(&json, "busy", NULL);
		lode_json_member_bool(&json, "has_path", false);
		lode_json_member_begin(&json, "kinds", '[');
		lode_json_end(&json, ']');
		lode_json_member_begin(&json, "idle", '[');
		lode_json_end(&json, ']');
		lode_json_member_begin(&json, "threads", '[');
		lode_json_end(&json, ']');
		lode_json_member_number(&json, "threads_left_out", 0);
	}
	lode_json_end(&json, '}');
	return lode_view_flush(out, error);
}
