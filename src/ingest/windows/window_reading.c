/* SPDX-License-Identifier: MIT */
#include "ingest/windows/window_reading.h"

#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "ingest/windows/recent_accesses.h"

#include <string.h>
#include <time.h>

enum { MAX_EDGES = 1 << 21 };

static void add_edge(LodeWindowReading *self, const LodeVisitedStep *step)
{
	const LodeIdKey key = {{step->code->number, step->next_code->number, 0}};
	const LodeReadEdge added = {.source = step->code->number,
		.target = step->next_code->number,
		.last_window = LODE_NONE};
	bool is_new;

	LodeIdSlot *slot = lode_id_cache_find_limited(&self->numbers, &key, MAX_EDGES, &is_new);
	if (slot == NULL) {
		self->n_edges_left++;
		return;
	}
	if (is_new) {
		slot->id = self->edges->len;
		g_array_append_val(self->edges, added);
	}
	LodeReadEdge *edge = &LODE_AT(self->edges, LodeReadEdge, slot->id);
	edge->steps++;
	edge->hits += step->is_hit;
	edge->windows += edge->last_window != step->n_window;
	edge->last_window = step->n_window;
}

/* Windows that begin in the midst of a repeated string instruction are all that is seen of long
 * ones: they take the time, and end the window. Half of the rounds are left then, on average. */
static void add_string_run(const LodeVisitedStep *step, LodeObservedInstruction *facts)
{
	enum { RCX = 1 };

	if (!step->has_registers || lode_instruction_string_width(&step->code->decoded) == 0 ||
		(step->step->is_gap && step->index > 0 && !step->is_hit))
		return;
	uint32_t left = (uint32_t)MIN(step->step->registers[RCX], LODE_MOST_STRING_ROUNDS / 2);
	uint32_t rounds = step->index == 0 && !step->is_hit ? 2 * left : left;
	facts->string_runs++;
	facts->string_rounds += MIN(rounds, UINT32_MAX - facts->string_rounds);
}

static void visit(void *data, const LodeVisitedStep *step)
{
	LodeWindowReading *self = data;

	if (self->process != NULL) {
		self->process->n_windows += step->index == 0;
		self->process->n_steps++;
	}
	if (step->code != NULL && !step->is_round) {
		LodeObservedInstruction *facts = lode_window_facts_at(
			self->facts, step->code->number);
		facts->steps += !step->is_hit;
		facts->hits += step->is_hit;
		add_string_run(step, facts);
	}
	if (step->is_frequent && step->code != NULL && step->next_code != NULL)
		add_edge(self, step);
}

static bool is_wanted(void *data, const LodeWindowHead *window)
{
	const LodeWindowReading *self = data;
	const LodeWindowLogOptions *options = self->options;

	lode_window_times_add(options->times, window->tid, window->begin_ns, window->end_ns,
		self->running, (window->flags & LODE_WINDOW_IS_PROBES) == 0);
	return options->is_wanted == NULL ||
	       options->is_wanted(options->data, self->pid, window->begin_ns);
}

static void set_cache(LodeWindowReading *self, uint32_t n_sets, uint32_t n_ways)
{
	LodeRecentAccesses recent;

	lode_recent_accesses_begin(&recent, n_sets, n_ways);
	self->cache_sets = recent.n_sets;
	self->cache_ways = recent.n_ways;
}

LodeWindowReading *lode_window_reading_new(LodePlaces *places)
{
	LodeWindowReading *self = g_new0(LodeWindowReading, 1);
	const LodeWindowVisitor own = {visit, self};

	self->places = places;
	set_cache(self, 0, 0);
	self->steps = lode_window_steps_new(places);
	lode_window_steps_choose(self->steps, is_wanted, self);
	self->facts = g_array_new(FALSE, TRUE, sizeof(LodeObservedInstruction));
	self->edges = g_array_new(FALSE, FALSE, sizeof(LodeReadEdge));
	self->processes = g_array_new(FALSE, FALSE, sizeof(LodeReadProcess));
	self->visitors = g_array_new(FALSE, FALSE, sizeof(LodeWindowVisitor));
	lode_id_cache_init(&self->numbers);
	lode_window_reading_add_visitor(self, &own);
	self->outcomes = lode_window_outcomes_new(self->facts, 0);
	const LodeWindowVisitor outcomes = lode_window_outcomes_visitor(self->outcomes);
	lode_window_reading_add_visitor(self, &outcomes);
	self->calls = lode_window_calls_new(self->facts);
	const LodeWindowVisitor calls = lode_window_calls_visitor(self->calls);
	lode_window_reading_add_visitor(self, &calls);
	self->periods = lode_window_periods_new();
	const LodeWindowVisitor periods = lode_window_periods_visitor(self->periods);
	lode_window_reading_add_visitor(self, &periods);
	return self;
}

void lode_window_reading_free(LodeWindowReading *self)
{
	if (self == NULL)
		return;
	lode_window_steps_free(self->steps);
	lode_window_outcomes_free(self->outcomes);
	lode_window_calls_free(self->calls);
	lode_window_periods_free(self->periods);
	g_array_unref(self->facts);
	g_array_unref(self->edges);
	g_array_unref(self->processes);
	g_array_unref(self->visitors);
	lode_id_cache_clear(&self->numbers);
	g_free(self);
}

void lode_window_reading_add_visitor(LodeWindowReading *self, const LodeWindowVisitor *visitor)
{
	g_array_append_vals(self->visitors, visitor, 1);
}

static void leave_out(
	const LodeWindowLogOptions *options, const char *reason, const char *example, double n)
{
	lode_recording_add_unresolved(options->recording, reason, example, n, 0);
}

/* False: it is of no process of the recording. */
static bool begin_process(LodeWindowReading *self, const LodeWindowLogHeader *header)
{
	const LodeThreads *threads = self->options->threads;
	uint32_t thread = lode_threads_look_up(threads, header->pid, header->pid, header->begin_ns);
	LodeReadProcess process = {.pid = header->pid, .obstacle = header->obstacle};

	self->pid = header->pid;
	self->process = NULL;
	if (thread == LODE_NONE)
		return false;
	self->n_logs++;
	if (header->version >= LODE_WINDOW_LOG_PROBES_VERSION)
		return true;
	process.name = LODE_AT(threads->threads, LodeThread, thread).name;
	g_array_append_val(self->processes, process);
	self->process = &LODE_AT(self->processes, LodeReadProcess, self->processes->len - 1);
	return true;
}

static bool walk(
	LodeWindowReading *self, LodeWindowLog *log, const LodeProgress *progress, GError **error)
{
	return lode_window_steps_walk(self->steps, log,
		(const LodeWindowVisitor *)(const void *)self->visitors->data, self->visitors->len,
		progress, error);
}

/* The share of the time in windows in which the threads ran. */
static double share_running(const LodeWindowLogHeader *header)
{
	double ran_ns = (double)header->user_ns + (double)header->system_ns;

	return ran_ns < (double)header->window_ns ? ran_ns / (double)header->window_ns : 1;
}

bool lode_window_reading_add(LodeWindowReading *self, GBytes *bytes,
	const LodeWindowLogOptions *options, const LodeProgress *progress, GError **error)
{
	g_autoptr(GError) why = NULL;
	g_autoptr(LodeWindowLog) log = lode_window_log_new(bytes, "windows", &why);

	if (log == NULL) {
		leave_out(options, "log of windows that cannot be read", why->message, 1);
		return true;
	}
	const LodeWindowLogHeader *header = lode_window_log_header(log);
	g_autofree char *process = g_strdup_printf("process %" G_GUINT32_FORMAT, header->pid);
	self->options = options;
	if (!begin_process(self, header)) {
		leave_out(options, "log of windows of a process that is not in the recording",
			process, 1);
		return true;
	}
	self->user_ns += header->user_ns;
	self->system_ns += header->system_ns;
	self->running = share_running(header);
	set_cache(self, header->cache_sets, header->cache_ways);
	if (!walk(self, log, progress, error))
		return false;
	if (lode_window_log_damaged(log) > 0)
		leave_out(options, "log of windows that is damaged or cut short", process, 1);
	/* A program that was not chosen is not listed, as its samples are not. */
	if (self->process != NULL && self->process->n_windows == 0 && options->is_wanted != NULL &&
		!options->is_wanted(options->data, header->pid, header->begin_ns))
		g_array_set_size(self->processes, self->processes->len - 1);
	return true;
}

bool lode_window_reading_add_all(LodeWindowReading *self, LodePerfData *data,
	const LodeWindowLogOptions *options, const LodeProgress *progress, GError **error)
{
	const LodePerfInfo *info = lode_perf_data_info(data);
	guint n = info->window_logs->len;

	if (n > 0 && (!lode_perf_data_has_times(data) || info->clock_id != CLOCK_MONOTONIC)) {
		leave_out(options, "log of windows in a recording of another clock", NULL, n);
		return true;
	}
	for (guint i = 0; i < n; i++) {
		g_autoptr(GError) why = NULL;
		g_autoptr(GBytes) log = lode_perf_data_window_log(data, i, &why);
		if (g_error_matches(why, LODE_ERROR, LODE_ERROR_NOT_FOUND)) {
			leave_out(options, "log of windows that the recording had no room for",
				NULL, 1);
		} else if (log == NULL) {
			leave_out(options, "log of windows that cannot be read", why->message, 1);
		} else if (!lode_window_reading_add(self, log, options, progress, error)) {
			return false;
		}
	}
	lode_window_times_freeze(options->times);
	return true;
}

static void account(const LodeWindowReading *self, LodeRecording *recording)
{
	const LodeWindowFigures *figures = lode_window_steps_figures(self->steps);
	const struct {
		const char *reason;
		uint64_t n;
	} further[] = {
		{"step of a window in the kernel's [vdso] or in a library of lode's",
			figures->n_own},
		{"step of a window: more windows or code than are kept", figures->n_left},
		{"step of a window: more edges than are kept", self->n_edges_left},
		{"step of a window that is damaged", figures->n_damaged},
		{"system call in a window: what came after it is not known", figures->n_cut},
	};

	for (int i = 1; i < LODE_PLACE_N_OUTCOMES; i++) {
		/* as of samples */
		g_autofree char *reason = g_strconcat("step of a window",
			lode_place_outcome_reason((LodePlaceOutcome)i) + strlen("sample"), NULL);
		g_autofree char *example = g_strdup_printf("0x%" G_GINT64_MODIFIER
							   "x in process %" G_GUINT32_FORMAT,
			figures->examples[i].address, figures->examples[i].pid);
		if (figures->outcomes[i] > 0)
			lode_recording_add_unresolved(
				recording, reason, example, (double)figures->outcomes[i], 0);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(further); i++)
		if (further[i].n > 0)
			lode_recording_add_unresolved(
				recording, further[i].reason, NULL, (double)further[i].n, 0);
}

LODE_ORDER(compare_steps, LodeRecordedStep, LODE_ASCENDING(object), LODE_ASCENDING(source),
	LODE_ASCENDING(target_object), LODE_ASCENDING(target))

static void add_steps(const LodeWindowReading *self, LodeRecording *recording)
{
	const LodeCodeImages *images = lode_places_images(self->places);

	for (guint i = 0; i < self->edges->len; i++) {
		const LodeReadEdge *edge = &LODE_AT(self->edges, LodeReadEdge, i);
		const LodePlace source = lode_window_steps_code(self->steps, edge->source)->place;
		const LodePlace target = lode_window_steps_code(self->steps, edge->target)->place;
		const LodeRecordedStep step = {
			.source = source.address,
			.target = target.address,
			.object = lode_code_images_object_of(images, recording, source.image),
			.target_object = lode_code_images_object_of(
				images, recording, target.image),
			.steps = edge->steps,
			.windows = edge->windows,
			.hits = edge->hits,
		};
		g_array_append_val(recording->steps, step);
	}
	g_array_sort(recording->steps, compare_steps);
	guint n = 0;
	for (guint i = 0; i < recording->steps->len; i++) {
		const LodeRecordedStep step = LODE_AT(recording->steps, LodeRecordedStep, i);
		LodeRecordedStep *last = n > 0 ? &LODE_AT(recording->steps, LodeRecordedStep, n - 1)
		                               : NULL;
		if (last == NULL || compare_steps(last, &step) != 0) {
			LODE_AT(recording->steps, LodeRecordedStep, n++) = step;
			continue;
		}
		last->steps += step.steps;
		last->windows += step.windows;
		last->hits += step.hits;
	}
	g_array_set_size(recording->steps, n);
}

static double without(double seconds, uint64_t ns)
{
	return MAX(seconds - (double)ns / 1e9, 0);
}

void lode_window_reading_finish(const LodeWindowReading *self, LodeRecording *recording)
{
	lode_window_outcomes_finish(self->outcomes);
	lode_window_calls_finish(self->calls);
	add_steps(self, recording);
	account(self, recording);
	recording->programs.user_seconds = without(recording->programs.user_seconds, self->user_ns);
	recording->programs.system_seconds = without(
		recording->programs.system_seconds, self->system_ns);
}
