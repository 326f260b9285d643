/* SPDX-License-Identifier: MIT */
/*
 * One loop waits for whatever comes first: a ring that is filling, a signal, a line on the control
 * pipe, the end of an attached process, a deadline. Signals are blocked and read from a descriptor
 * (signalfd(2)): nothing needs a handler, or state outside a call.
 */
#include "record/perf/perf_sampler.h"

#include "base/error.h"
#include "base/text/number_format.h"
#include "machine/cpu_meter.h"
#include "record/events/perf_attachment.h"
#include "record/events/perf_control_fifo.h"
#include "record/events/perf_existing.h"
#include "record/perf/perf_program.h"
#include "record/perf/perf_recording.h"
#include "record/perf/perf_sources.h"
#include "record/perf/perf_writer.h"
#include "record/programs/child_reports.h"
#include "record/programs/closed_programs.h"
#include "record/programs/preloaded_library.h"
#include "record/programs/program_check.h"
#include "record/programs/running_process.h"
#include "record/programs/stop_requests.h"
#include "record/ptrace/ptrace_sampler.h"
#include "record/waits/wait_looker.h"
#include "sources/perf_data/perf_data.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The rings are written to the file at least this often. */
enum { ROUND_MS = 250 };

/* And this often where started programs must be examined before they end; also for some time after
 * a new file was executed, as files in a container can be read only while it runs. */
enum { SHORT_ROUND_MS = 10, SHORT_ROUNDS_US = 500 * 1000 };

static const int caught_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD};

/* So long the command that timed an attached recording may take to end. */
enum { COMMAND_END_MS = 2000 };

/* The share of a program's time that sampling may take where its threads switch very often. */
static const double SLICE_BUDGET = 0.03;

/* Stops and looks of a tracer make no round each. */
enum { TRACER_ROUND_US = 20 * 1000, TRACER_PAGES = 256 };

/* The descriptors that poll() waits for; the rings come after these. */
enum {
	WAIT_SIGNALS,
	WAIT_CONTROL,
	WAIT_PROCESS,
	WAIT_WINDOWS,
	WAIT_TRACER,
	WAIT_WINDOW_REQUESTS,
	N_WAITS = WAIT_WINDOW_REQUESTS + LODE_N_WINDOW_REQUESTS
};

typedef struct {
	sigset_t caught, old_mask;
	struct sigaction child_action;
	int descriptor;
} Signals;

typedef struct {
	gint64 enable_us, end_us, later_us; /* when to; 0: never */
	gint64 begun_us;                    /* when the program or the recording began */
	gint64 short_rounds_end_us;
	gint64 round_us; /* of the last round, with a tracer */
} Times;

/* Of the program. */
typedef struct {
	bool is_there, is_by_us;
	int status;
	struct rusage usage;
} ProgramEnd;

typedef struct {
	const LodePerfSamplerOptions *options;
	LodePerfRecording recording;
	LodePerfProgram program;
	LodePerfControlFifo control;
	GString *note;
	GArray *waits; /* struct pollfd */
	Signals signals;
	Times times;
	LodeStopRequests requests;
	LodeWindowRecorder *windows; /* NULL: none */
	LodePtraceSampler *tracer;   /* NULL: perf events are not refused */
	char *refusal;               /* why only looks are recorded; NULL: not only they are */
	char *windows_obstacle;      /* why the program can have none; NULL: nothing is known */
	LodeProbeRecorder *probes;   /* NULL: none */
	LodeWindowLogs *probe_logs;  /* of probes without windows; NULL: none */
	LodeWaitLooker *looker;      /* at threads that wait; NULL: none */
	uint64_t n_looks;            /* in all */
	LodeRunningProcess running;  /* the attached process */
	LodeCpuMeter meter;
	ProgramEnd end;
	int process;
	unsigned n_unknown_controls;
	bool is_later;         /* than the first milliseconds */
	bool was_sliced;       /* sampled in slices for a time */
	char *sampling;        /* see sampling_text() */
	uint64_t n_processors; /* that the program may use; 0: not known */
	bool is_enabled, is_over, is_time_up;
} Session;

static gint64 now_us(void)
{
	return g_get_monotonic_time();
}

/* Whether lode started the recorded program. */
static bool is_program(const Session *self)
{
	return self->options->pid == 0;
}

/* Something was started by us: the program, or what says how long a process is recorded. */
static bool has_command(const Session *self)
{
	return is_program(self) || (self->options->argv != NULL && self->options->argv[0] != NULL);
}

/* --- signals --- */

static bool is_ignored(int signal)
{
	struct sigaction action;

	return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* Ignored signals (nohup, a script's background job) stay so; blocking would make them arrive. */
static void block_signals(Session *self)
{
	const struct sigaction default_action = {.sa_handler = SIG_DFL};

	/* Where SIGCHLD is ignored the kernel reaps the child and its status is lost. */
	sigaction(SIGCHLD, &default_action, &self->signals.child_action);
	sigemptyset(&self->signals.caught);
	for (size_t i = 0; i < G_N_ELEMENTS(caught_signals); i++)
		if (!is_ignored(caught_signals[i]))
			sigaddset(&self->signals.caught, caught_signals[i]);
	pthread_sigmask(SIG_BLOCK, &self->signals.caught, &self->signals.old_mask);
	self->signals.descriptor = signalfd(-1, &self->signals.caught, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void restore_signals(Session *self)
{
	close(self->signals.descriptor);
	pthread_sigmask(SIG_SETMASK, &self->signals.old_mask, NULL);
	sigaction(SIGCHLD, &self->signals.child_action, NULL);
}

/* The processes that are sampled; the caller unrefs the array of pid_t. */
static GArray *list_processes(const Session *self)
{
	const LodeProcessTree tree = {
		.pid = is_program(self) ? self->program.pid : self->options->pid,
		.has_siblings = self->options->has_siblings,
	};

	return lode_process_tree_list(&tree, "/proc");
}

static void begin_meter(Session *self)
{
	g_autoptr(GArray) processes = list_processes(self);

	lode_cpu_meter_begin(&self->meter, "/proc", g_array_index(processes, pid_t, 0), false);
	for (guint i = 1; i < processes->len; i++)
		lode_cpu_meter_follow(&self->meter, g_array_index(processes, pid_t, i));
}

static void switch_sampling(Session *self, bool is_on)
{
	if (self->is_over || is_on == self->is_enabled)
		return;
	self->is_enabled = is_on;
	lode_perf_event_set_enable(self->recording.events, is_on);
	if (self->tracer != NULL)
		lode_ptrace_sampler_switch(self->tracer, is_on);
	if (self->windows != NULL)
		lode_window_recorder_switch(self->windows, is_on);
	if (self->looker != NULL)
		lode_wait_looker_switch(self->looker, is_on);
	if (is_on && self->meter.pid == 0)
		begin_meter(self);
	if (is_on && self->times.end_us == 0 && self->options->control.duration_ms > 0)
		self->times.end_us = now_us() + (gint64)self->options->control.duration_ms * 1000;
}

static void reap_program(Session *self)
{
	/* Nor is a stop taken that steps wait for. */
	if (self->probes != NULL && !lode_probe_recorder_let_go(self->probes))
		return;
	if (self->tracer != NULL)
		self->end.is_there |= lode_ptrace_sampler_reap(
			self->tracer, &self->end.status, &self->end.usage);
	else if (self->program.pid > 0 && !self->end.is_there &&
		 lode_child_reports_take(self->program.pid, &self->end.status, &self->end.usage))
		self->end.is_there = true;
}

/*
 * To a program SIGINT is a command that it may take or die of; SIGTERM and SIGHUP mean us too. An
 * attached process is not ours to signal: whatever comes ends the recording.
 */
static void take_stop(Session *self, const struct signalfd_siginfo *info)
{
	int signal = (int)info->ssi_signo;

	if (!is_program(self)) {
		self->is_over = true;
		self->requests.was_interrupted |= signal == SIGINT;
		self->requests.stop_signal = signal == SIGINT ? 0 : signal;
		return;
	}
	/* Sent by a process to us, not by the terminal, which sends it to both. */
	lode_stop_requests_take(&self->requests, self->end.is_there ? 0 : self->program.pid, signal,
		info->ssi_code <= 0);
}

static void take_signal(Session *self, const struct signalfd_siginfo *info)
{
	bool is_user = info->ssi_signo == SIGUSR1 || info->ssi_signo == SIGUSR2;

	if (info->ssi_signo == SIGCHLD)
		reap_program(self);
	else if (info->ssi_signo == SIGUSR1 && self->options->control.start_stopped)
		switch_sampling(self, !self->is_enabled);
	else if (!is_user || is_program(self))
		take_stop(self, info);
}

static void take_signals(Session *self)
{
	struct signalfd_siginfo info;

	while (read(self->signals.descriptor, &info, sizeof(info)) == sizeof(info))
		take_signal(self, &info);
}

static void take_controls(Session *self)
{
	LodePerfControl control;

	while ((control = lode_perf_control_fifo_next(&self->control)) != LODE_PERF_CONTROL_NONE) {
		if (control == LODE_PERF_CONTROL_ENABLE || control == LODE_PERF_CONTROL_DISABLE)
			switch_sampling(self, control == LODE_PERF_CONTROL_ENABLE);
		self->is_over |= control == LODE_PERF_CONTROL_STOP;
		self->n_unknown_controls += control == LODE_PERF_CONTROL_UNKNOWN;
	}
}

/* --- the loop --- */

static int ring_descriptor(const Session *self, unsigned cpu)
{
	guint index = g_array_index(self->recording.events->cpus, LodePerfCpu, cpu).polled;

	return index < self->recording.events->descriptors->len
	               ? g_array_index(
				 self->recording.events->descriptors, LodePerfDescriptor, index)
	                         .descriptor
	               : -1;
}

static void set_up_waits(Session *self)
{
	int fixed[N_WAITS] = {
		[WAIT_SIGNALS] = self->signals.descriptor,
		[WAIT_CONTROL] = self->control.descriptor,
		[WAIT_PROCESS] = self->process,
		[WAIT_WINDOWS] = self->windows != NULL
	                                 ? lode_window_recorder_descriptor(self->windows)
	                                 : -1,
		[WAIT_TRACER] = self->tracer != NULL ? lode_ptrace_sampler_descriptor(self->tracer)
	                                             : -1,
	};

	for (unsigned i = 0; i < LODE_N_WINDOW_REQUESTS; i++)
		fixed[WAIT_WINDOW_REQUESTS + i] = self->windows != NULL
		                                          ? lode_window_recorder_request_descriptor(
								    self->windows, i)
		                                          : -1;
	self->waits = g_array_new(FALSE, FALSE, sizeof(struct pollfd));
	for (unsigned i = 0; i < N_WAITS + self->recording.events->cpus->len; i++) {
		const struct pollfd wait = {
			.fd = i < N_WAITS ? fixed[i] : ring_descriptor(self, i - N_WAITS),
			.events = POLLIN,
		};
		g_array_append_val(self->waits, wait);
	}
}

/* Its thread has ended: another one that writes into the same ring is waited for. */
static void poll_next_of_ring(Session *self, unsigned cpu)
{
	LodePerfCpu *place = &g_array_index(self->recording.events->cpus, LodePerfCpu, cpu);
	const GArray *all = self->recording.events->descriptors;

	do
		place->polled++;
	while (place->polled < all->len &&
		g_array_index(all, LodePerfDescriptor, place->polled).cpu != cpu);
	g_array_index(self->waits, struct pollfd, N_WAITS + cpu).fd = ring_descriptor(self, cpu);
}

static bool has_rings_left(const Session *self)
{
	for (unsigned i = N_WAITS; i < self->waits->len; i++)
		if (g_array_index(self->waits, struct pollfd, i).fd >= 0)
			return true;
	return false;
}

static int timeout_ms(const Session *self)
{
	gint64 now = now_us();
	bool is_short = self->options->follows_mappings || now < self->times.short_rounds_end_us;
	gint64 until_us = now + (gint64)(is_short ? SHORT_ROUND_MS : ROUND_MS) * 1000;

	if (self->times.enable_us != 0)
		until_us = MIN(until_us, self->times.enable_us);
	if (self->times.later_us != 0)
		until_us = MIN(until_us, self->times.later_us);
	if (lode_perf_recording_is_sliced(&self->recording) && self->is_enabled)
		until_us = MIN(until_us, lode_sample_slices_due_us(&self->recording.slices));
	if (self->times.end_us != 0)
		until_us = MIN(until_us, self->times.end_us);
	if (self->windows != NULL && lode_window_recorder_due_us(self->windows) != 0)
		until_us = MIN(until_us, lode_window_recorder_due_us(self->windows));
	if (self->probes != NULL && self->is_enabled)
		until_us = MIN(until_us, lode_probe_recorder_due_us(self->probes));
	return (int)MAX((until_us - now_us() + 999) / 1000, 0);
}

static void take_deadlines(Session *self)
{
	gint64 now = now_us();

	if (self->times.enable_us != 0 && now >= self->times.enable_us) {
		self->times.enable_us = 0;
		switch_sampling(self, true);
	}
	if (self->times.later_us != 0 && now >= self->times.later_us) {
		self->times.later_us = 0;
		self->is_later = true;
	}
	self->is_time_up = self->times.end_us != 0 && now >= self->times.end_us;
	self->is_over |= self->is_time_up;
}

static void take_ring_ends(Session *self)
{
	for (unsigned i = N_WAITS; i < self->waits->len; i++)
		if (g_array_index(self->waits, struct pollfd, i).revents & (POLLHUP | POLLERR))
			poll_next_of_ring(self, i - N_WAITS);
}

/* Processes that come one after another do not make a round each. */
static void take_windows(Session *self)
{
	struct pollfd *wait = &g_array_index(self->waits, struct pollfd, WAIT_WINDOWS);

	if (self->windows == NULL)
		return;
	lode_window_recorder_update(self->windows);
	bool is_due = lode_window_recorder_due_us(self->windows) != 0;
	wait->fd = is_due ? -1 : lode_window_recorder_descriptor(self->windows);
}

/* Whether that was all there is to do. */
static bool take_tracer(Session *self)
{
	if (self->tracer == NULL)
		return false;
	lode_ptrace_sampler_update(self->tracer);
	take_signals(self);
	/* The signal of its end may have been taken. */
	reap_program(self);
	if (!self->end.is_there && !lode_ptrace_sampler_is_full(self->tracer) &&
		now_us() < self->times.round_us + TRACER_ROUND_US)
		return true;
	self->times.round_us = now_us();
	return false;
}

/* The rings are emptied before, as they are not while a session is held. */
static void take_probes(Session *self)
{
	if (self->probes == NULL || !self->is_enabled || self->end.is_there)
		return;
	lode_probe_recorder_update(self->probes);
	/* The signal of its end may have been taken. */
	reap_program(self);
}

static LodePerfStretch stretch_of(Session *self)
{
	if (lode_perf_recording_is_sliced(&self->recording))
		return lode_perf_recording_update_slices(
			       &self->recording, self->options->sample_ns, SLICE_BUDGET)
		               ? LODE_PERF_IN_SLICES
		               : LODE_PERF_BETWEEN_SLICES;
	lode_sample_slices_skip(&self->recording.slices, now_us());
	return self->is_later ? LODE_PERF_LATER : LODE_PERF_AT_FIRST;
}

static void begin_stretch(Session *self)
{
	LodePerfEventSet *events = self->recording.events;

	lode_perf_event_set_begin_stretch(events, stretch_of(self), self->is_enabled);
	self->was_sliced |= events->stretch == LODE_PERF_IN_SLICES;
}

static void end_round(Session *self)
{
	const LodePerfObserver *observer = self->options->observer;

	guint n_files = lode_kept_files_count(self->recording.tally.files);

	lode_perf_recording_drain(&self->recording);
	lode_perf_recording_charge(&self->recording, self->options->sample_ns);
	/* Threads of a process that is attached to may get events later. */
	if (is_program(self) && lode_perf_recording_bound_events(&self->recording))
		for (unsigned i = N_WAITS; i < self->waits->len; i++)
			g_array_index(self->waits, struct pollfd, i).fd = ring_descriptor(
				self, i - N_WAITS);
	begin_stretch(self);
	if (lode_kept_files_count(self->recording.tally.files) > n_files)
		self->times.short_rounds_end_us = now_us() + SHORT_ROUNDS_US;
	if (!is_program(self))
		lode_cpu_meter_update(&self->meter);
	if (observer != NULL && observer->round != NULL)
		switch_sampling(self, observer->round(self->is_enabled, observer->user_data));
}

/* All but the stops of traced threads, which come much more often. */
static void take_round(Session *self)
{
	const struct pollfd *waits = (const struct pollfd *)self->waits->data;

	take_windows(self);
	take_signals(self);
	take_controls(self);
	take_deadlines(self);
	/* emptied before the ends of threads are seen: their last records are kept */
	end_round(self);
	take_probes(self);
	take_ring_ends(self);
	self->is_over |= self->end.is_there || waits[WAIT_PROCESS].revents != 0 ||
	                 (!is_program(self) && self->refusal == NULL && !has_rings_left(self)) ||
	                 self->recording.write_error != NULL;
}

static void wait_once(Session *self)
{
	if (poll((struct pollfd *)self->waits->data, self->waits->len, timeout_ms(self)) < 0 ||
		take_tracer(self))
		return;
	if (self->tracer != NULL)
		lode_ptrace_sampler_step_aside(self->tracer, true);
	take_round(self);
	if (self->tracer != NULL)
		lode_ptrace_sampler_step_aside(self->tracer, false);
}

static bool is_command_running(const Session *self)
{
	return self->program.pid > 0 && !self->end.is_there;
}

/* Ctrl-C is often repeated until the program ends; SIGTERM ends servers. */
static void end_command(Session *self)
{
	if (!is_command_running(self) || (is_program(self) && !self->is_time_up))
		return;
	self->end.is_by_us = true;
	lode_stop_requests_end(&self->requests, self->program.pid);
}

/* Its recording is done, but the program's status is ours to pass on. */
static void wait_for_program(Session *self)
{
	struct pollfd wait = {.fd = self->signals.descriptor, .events = POLLIN};
	gint64 kill_at_us = now_us() + (gint64)COMMAND_END_MS * 1000;

	while (is_command_running(self)) {
		poll(&wait, 1, ROUND_MS);
		if (!is_program(self) && now_us() > kill_at_us)
			kill(self->program.pid, SIGKILL);
		take_signals(self);
		reap_program(self);
	}
}

/* --- start and end --- */

/* The event that is open while the program starts waits for its exec, unless it is to wait longer.
 */
static void set_start(const LodePerfSamplerOptions *options, GPtrArray *choices)
{
	bool is_later = options->control.start_stopped || options->control.delay_ms > 0;

	for (guint i = 0; i < choices->len; i++) {
		LodePerfChoice *choice = choices->pdata[i];
		choice->attr.enable_on_exec = options->pid == 0 &&
		                              choice->stretch <= LODE_PERF_AT_FIRST &&
		                              (choice->is_tracking || !is_later);
	}
}

/* By its settings, limits and filters, whatever is sampled. */
static void note_refusal(const Session *self, const GError *cause)
{
	if (self->options->is_refused != NULL && cause != NULL)
		*self->options->is_refused = cause->code == LODE_ERROR_IO;
}

/* Whether looks at the threads of a process that is attached to are worth something by themselves:
 * where nothing is wanted that only events give. */
static bool can_only_look(const LodePerfSamplerOptions *options)
{
	return options->can_trace && options->pid != 0 && options->content.has_waits &&
	       !options->content.has_no_switches && options->events == NULL &&
	       options->exact_events == NULL && options->period == 0 &&
	       !options->content.has_kernel && !options->content.has_branch_stacks &&
	       !options->content.has_data_addresses;
}

static bool choose_events(Session *self, const LodePerfKernel *kernel, GError **error)
{
	GError *cause = NULL;
	gsize noted = self->note->len;

	self->recording.choices = lode_perf_choices_make(kernel, self->options, self->note, &cause);
	if (cause != NULL)
		self->tracer = lode_ptrace_sampler_new(kernel, self->options);
	if (cause != NULL && self->tracer == NULL && can_only_look(self->options))
		self->refusal = lode_perf_kernel_refusal(kernel);
	if (self->refusal != NULL) {
		g_clear_error(&cause);
		g_string_truncate(self->note, noted);
		self->recording.choices = lode_perf_choices_without_events();
		self->recording.follows_mappings = true;
	}
	if (self->tracer != NULL) {
		g_clear_error(&cause);
		g_string_truncate(self->note, noted);
		self->recording.choices = lode_ptrace_sampler_choices(
			self->tracer, self->note, &cause);
		self->recording.follows_mappings = true;
	}
	note_refusal(self, cause);
	if (cause != NULL)
		g_propagate_error(error, cause);
	return self->recording.choices != NULL;
}

/* `threads` NULL: those of the process that is attached to. */
static LodePerfEventSet *open_set(Session *self, const LodePerfKernel *kernel,
	const GArray *threads, bool *out_has_doubles, GError **error)
{
	GPtrArray *choices = self->recording.choices;
	size_t pages = self->options->buffer_pages;

	if (threads != NULL)
		return lode_perf_event_set_open(kernel, choices, threads, pages, self->note, error);
	const LodeProcessTree tree = {self->options->pid, self->options->has_siblings};
	return lode_perf_attachment_open(
		kernel, choices, &tree, pages, self->note, out_has_doubles, error);
}

/* Context switches and events aside are not worth an error: descriptors may suffice without those
 * for them. */
static bool leave_out_least(Session *self, GError **cause)
{
	GPtrArray *choices = self->recording.choices;
	guint least = choices->len - 1;

	while (least > 0 && !((const LodePerfChoice *)choices->pdata[least])->is_switching &&
		!((const LodePerfChoice *)choices->pdata[least])->is_aside)
		least--;
	if (least == 0)
		return false;
	g_ptr_array_remove_index(choices, least);
	for (guint i = 0; i < choices->len; i++)
		g_array_set_size(((LodePerfChoice *)choices->pdata[i])->ids, 0);
	g_clear_error(cause);
	return true;
}

/* `threads` NULL: those of the process that is attached to. */
static bool open_events(
	Session *self, const LodePerfKernel *kernel, const GArray *threads, GError **error)
{
	GError *cause = NULL;
	bool has_doubles = false;

	self->recording.events = open_set(self, kernel, threads, &has_doubles, &cause);
	while (self->recording.events == NULL && leave_out_least(self, &cause))
		self->recording.events = open_set(self, kernel, threads, &has_doubles, &cause);
	if (has_doubles && self->recording.events != NULL)
		self->recording.sources = lode_perf_sources_new(self->recording.events);
	note_refusal(self, cause);
	if (cause != NULL)
		g_propagate_error(error, cause);
	return self->recording.events != NULL;
}

/* Sampling, and windows, begin when they are switched on, not with the program. */
static bool starts_stopped(const Session *self)
{
	return self->options->control.start_stopped || self->options->control.delay_ms > 0;
}

/* Without them there is less to know, but all else is recorded. */
static void prepare_windows(Session *self, const LodePerfKernel *kernel)
{
	const LodePerfSamplerOptions *options = self->options;
	g_autoptr(GError) cause = NULL;

	if (options->windows.share <= 0 || !is_program(self) || self->tracer != NULL)
		return;
	self->windows = lode_window_recorder_new(
		&options->windows, kernel, !starts_stopped(self), &cause);
	if (cause != NULL)
		lode_perf_note(self->note, "windows are not recorded: %s", cause->message);
	if (cause != NULL)
		return;
	if (lode_window_recorder_has_timer(self->windows) &&
		(starts_stopped(self) || options->control.fifo != NULL)) {
		lode_perf_note(self->note,
			"windows are not recorded: where the kernel has no events for them (before "
			"Linux 5.18) they cannot be switched off and on");
		g_clear_pointer(&self->windows, lode_window_recorder_free);
		return;
	}
	self->recording.windows = self->windows;
	self->windows_obstacle = lode_preloaded_library_obstacle(options->argv[0]);
	if (self->windows_obstacle != NULL)
		lode_perf_note(self->note, "the program is recorded without windows: %s",
			self->windows_obstacle);
}

/* Without them there is less to know, but all else is recorded. */
static void prepare_probes(Session *self, const LodePerfKernel *kernel)
{
	bool is_wanted = self->options->probes.share > 0;
	LodeWindowLogs *logs = self->windows != NULL ? lode_window_recorder_logs(self->windows)
	                                             : NULL;

	if (is_wanted && logs == NULL)
		logs = self->probe_logs = lode_window_logs_new(NULL, NULL);
	if (is_wanted && logs != NULL)
		self->probes = lode_probe_recorder_new(&self->options->probes, kernel, logs);
	if (self->probes != NULL && self->tracer != NULL)
		lode_ptrace_sampler_set_user(
			self->tracer, lode_probe_recorder_use_stops(self->probes));
	self->recording.probes = self->probes;
	self->recording.logs = logs;
}

/* Without context switches it is not known how long threads wait. */
static void prepare_waits(Session *self)
{
	const LodePerfSamplerOptions *options = self->options;
	const LodeProcessTree tree = {
		.pid = is_program(self) ? self->program.pid : options->pid,
		.has_siblings = options->has_siblings,
	};

	bool has_waits = options->content.has_waits && !options->content.has_no_switches &&
	                 self->tracer == NULL;
	if (!has_waits && !options->content.has_scripts)
		return;
	self->looker = lode_wait_looker_new(&tree, has_waits, options->content.has_scripts);
	if (self->refusal != NULL)
		lode_wait_looker_tell_running(self->looker);
	self->recording.looker = self->looker;
}

/* Forks, but does not execute it; gives its path, or NULL. */
static char *hold_command(Session *self, GError **error)
{
	const LodePerfSamplerOptions *options = self->options;
	g_autofree char *path = lode_program_find(options->argv[0], error);
	g_auto(GStrv)
		own = options->runtime != NULL
	                      ? lode_jit_runtime_environment(options->runtime, options->environment)
	                      : NULL;
	const char *const *environment = own != NULL ? (const char *const *)own
	                                             : options->environment;
	const LodePerfCommand command = {
		.path = path,
		.argv = options->argv,
		.environment = self->windows != NULL && self->windows_obstacle == NULL
	                               ? lode_window_recorder_environment(
						 self->windows, environment)
	                               : environment,
		.mask = &self->signals.old_mask,
		.has_fixed_addresses = options->has_fixed_addresses,
	};

	if (path == NULL || !lode_perf_program_hold(&self->program, &command, error))
		return NULL;
	return g_steal_pointer(&path);
}

static void serve_tracer(void *session)
{
	reap_program(session);
}

/* In place of open_events(). Stops of the program before it is executed are handled meanwhile. */
static bool begin_tracer(Session *self, const char *path, GError **error)
{
	GError *cause = NULL;

	self->program.serve = serve_tracer;
	self->program.serve_data = self;
	self->recording.events = lode_perf_event_set_of_memory(
		self->recording.choices, TRACER_PAGES, &cause);
	if (self->recording.events != NULL)
		lode_ptrace_sampler_begin(self->tracer, self->program.pid, path,
			self->recording.events, self->recording.tally.files, &cause);
	note_refusal(self, cause);
	if (cause == NULL)
		return true;
	g_propagate_error(error, cause);
	return false;
}

static bool start_program(Session *self, const LodePerfKernel *kernel, GError **error)
{
	g_autofree char *path = hold_command(self, error);
	g_autoptr(GArray) threads = g_array_new(FALSE, FALSE, sizeof(pid_t));

	/* events are opened on it before its first instruction, and enable_on_exec begins them with
	 * it */
	if (path == NULL)
		return false;
	g_array_append_val(threads, self->program.pid);
	if (self->windows_obstacle != NULL)
		lode_window_recorder_add_obstacle(self->windows, self->program.pid);
	if (self->probes != NULL)
		lode_probe_recorder_set_child(self->probes, self->program.pid);
	lode_perf_recording_follow(&self->recording, self->program.pid);
	bool is_open = self->tracer != NULL ? begin_tracer(self, path, error)
	                                    : open_events(self, kernel, threads, error);
	if (!is_open || !lode_perf_program_release(&self->program, path, error))
		return false;
	if (self->options->has_started != NULL)
		*self->options->has_started = true;
	if (self->options->runtime != NULL)
		lode_jit_runtime_add_process(self->options->runtime, (uint32_t)self->program.pid);
	prepare_waits(self);
	if (!lode_perf_recording_begin(&self->recording, error))
		return false;
	self->is_enabled = !starts_stopped(self);
	if (self->tracer != NULL)
		lode_ptrace_sampler_switch(self->tracer, self->is_enabled);
	if (self->is_enabled)
		lode_cpu_meter_begin(&self->meter, "/proc", self->program.pid, true);
	return true;
}

/* Who types -p may wait for an end that does not come by itself. */
static void note_attached(const Session *self, guint n_processes)
{
	const LodePerfSamplerOptions *options = self->options;
	g_autofree char *others = n_processes > 1 ? g_strdup_printf(" and %u more processes",
							    n_processes - 1)
	                                          : g_strdup("");
	g_autofree char *until = options->control.duration_ms > 0
	                                 ? g_strdup_printf(
						   "for %g s", options->control.duration_ms / 1e3)
	                                 : g_strdup("until it ends, or until Ctrl-C");

	lode_notes_add(&options->notes, "samples process %d (%s)%s %s", (int)options->pid,
		self->running.name, others,
		has_command(self) ? "for as long as the command runs" : until);
}

/* In place of open_events(), where only looks are recorded. */
static bool open_memory(Session *self, GError **error)
{
	self->recording.events = lode_perf_event_set_of_memory(
		self->recording.choices, TRACER_PAGES, error);
	return self->recording.events != NULL;
}

/* Enabled before its mappings are read: one that comes in between is seen twice, not never. */
static bool attach(Session *self, const LodePerfKernel *kernel, GError **error)
{
	g_autofree char *path = NULL;

	if (has_command(self) && (path = hold_command(self, error)) == NULL)
		return false;
	if (!lode_running_process_read(self->options->pid, &self->running, error))
		return false;
	lode_perf_recording_follow(&self->recording, self->options->pid);
	bool is_open = self->refusal != NULL ? open_memory(self, error)
	                                     : open_events(self, kernel, NULL, error);
	if (!is_open || (path != NULL && !lode_perf_program_release(&self->program, path, error)))
		return false;
	prepare_waits(self);
	if (!lode_perf_recording_begin(&self->recording, error))
		return false;
	/* Linux 5.3 and later; poll() ignores −1, and the rings end with the process */
	self->process = (int)syscall(SYS_pidfd_open, self->options->pid, 0);
	if (!starts_stopped(self))
		switch_sampling(self, true);
	g_autoptr(GArray) processes = list_processes(self);
	note_attached(self, processes->len);
	for (guint i = 0; i < processes->len; i++)
		lode_perf_recording_add_process(&self->recording,
			g_array_index(processes, pid_t, i),
			self->options->content.has_data_addresses ||
				self->options->content.has_data_mappings);
	return true;
}

static void set_deadlines(Session *self)
{
	const LodePerfSamplerOptions *options = self->options;

	self->times.begun_us = now_us();
	if (options->control.delay_ms > 0 && !options->control.start_stopped)
		self->times.enable_us = now_us() + (gint64)options->control.delay_ms * 1000;
	if (options->first.ms > 0)
		self->times.later_us = now_us() + (gint64)options->first.ms * 1000;
	if (self->is_enabled && options->control.duration_ms > 0)
		self->times.end_us = now_us() + (gint64)options->control.duration_ms * 1000;
}

/* Adds processes that the program started and did not wait for: their time counts, and those that
 * still run are reported. */
static void add_left_processes(Session *self)
{
	GHashTableIter at;
	void *pid;
	unsigned n_running = 0;
	guint first = G_MAXUINT;

	g_hash_table_iter_init(&at, self->recording.tally.processes);
	while (g_hash_table_iter_next(&at, &pid, NULL)) {
		if (!lode_cpu_meter_add(&self->meter, GPOINTER_TO_INT(pid)))
			continue;
		n_running++;
		first = MIN(first, GPOINTER_TO_UINT(pid));
	}
	if (n_running > 0)
		lode_perf_note(self->note,
			"processes that the program started still run and are no longer sampled: "
			"%u, such as process %u",
			n_running, first);
}

/* Time in slices below this share of all is not worth a line: their samples stand for it. */
#define NOTABLE_SLICED 0.1

/* Where it was not by perf events at one rate all the time; else NULL. */
static char *rate_text(const Session *self)
{
	const LodeSampleSlices *slices = &self->recording.slices;
	char part[LODE_NUMBER_SIZE];

	if (self->tracer != NULL)
		return g_strdup(lode_ptrace_sampler_text(self->tracer));
	if (self->refusal != NULL)
		return g_strdup_printf("perf events are refused here (%s): by looks alone, which "
				       "say what threads wait for, and not how often, nor where "
				       "they run or wait for a processor",
			self->refusal);
	double all_us = (double)(now_us() - self->times.begun_us);
	if (!self->was_sliced || slices->passed_us < NOTABLE_SLICED * all_us)
		return NULL;
	lode_number_format_share(slices->sliced_us / MAX(slices->passed_us, 1), part);
	if (self->recording.has_few_events)
		return g_strdup_printf(
			"sampled for %s of the time, as %s threads and processes start a second",
			part, LODE_COUNT_TEXT(self->recording.tasks.rate));
	return g_strdup_printf(
		LODE_PERF_SLICED "%s of %.2g s was sampled", part, slices->passed_us / 1e6);
}

/* With what it took, where that is more than it should; NULL: neither is worth a word. */
static char *sampling_text(const Session *self, const LodeCpuTime *cpu_time)
{
	LodeOwnCost cost = self->recording.cost;
	g_autofree char *rate = rate_text(self);

	if (self->tracer != NULL)
		cost.ns[LODE_COST_STOPS] = lode_ptrace_sampler_spent_ns(self->tracer);
	g_autofree char *took = lode_own_cost_text(
		&cost, cpu_time != NULL ? (double)(cpu_time->user_ns + cpu_time->system_ns) : 0);
	if (rate != NULL && took != NULL)
		return g_strconcat(rate, "; ", took, NULL);
	return rate != NULL ? g_steal_pointer(&rate) : g_steal_pointer(&took);
}

static bool finish(Session *self, const LodePerfKernel *kernel, GError **error)
{
	LodeCpuTime cpu_time;
	bool has_usage = is_program(self) && self->end.is_there;

	if (self->tracer != NULL)
		lode_ptrace_sampler_end(self->tracer);
	if (self->looker != NULL)
		self->n_looks = lode_wait_looker_end(self->looker).n_looks;
	if (has_usage)
		add_left_processes(self);
	bool has_time = lode_cpu_meter_end(
		&self->meter, has_usage ? &self->end.usage : NULL, &cpu_time);
	self->sampling = sampling_text(self, has_time ? &cpu_time : NULL);
	const LodePerfRecordedProgram program = {
		.options = self->options,
		.kernel = kernel,
		.program = is_program(self) ? self->options->argv
	                                    : (const char *const *)self->running.command,
		.cpu_time = has_time ? &cpu_time : NULL,
		.sampling = self->sampling,
		.n_processors = self->n_processors,
		.is_by_ptrace = self->tracer != NULL,
		.n_page_faults =
			(self->tracer != NULL || self->recording.has_few_events) && has_usage
				? (uint64_t)(self->end.usage.ru_minflt + self->end.usage.ru_majflt)
				: 0,
	};
	bool is_finished = lode_perf_recording_finish(&self->recording, &program, error);

	end_command(self);
	wait_for_program(self);
	if (self->end.is_there)
		lode_stop_requests_wait(&self->requests, self->end.status);
	return is_finished;
}

static char *event_names(const GPtrArray *choices)
{
	GString *names = g_string_new(NULL);

	for (guint i = 0; i < choices->len; i++) {
		const LodePerfChoice *choice = choices->pdata[i];
		if (!choice->is_tracking && !choice->is_aside &&
			(choice->stretch == LODE_PERF_ALWAYS || choice->stretch == LODE_PERF_LATER))
			g_string_append_printf(names, "%s%s", i > 0 ? " and " : "", choice->name);
	}
	return g_string_free(names, FALSE);
}

static bool is_killed_by(const Session *self, int signal)
{
	return WIFSIGNALED(self->end.status) && WTERMSIG(self->end.status) == signal;
}

/* A program that handles the signal and exits has a status; a command that Ctrl-C ended gave the
 * time. */
static int exit_status(const Session *self)
{
	bool is_ours = is_program(self) ? self->end.is_by_us && is_killed_by(self, SIGTERM)
	                                : self->end.is_by_us || is_killed_by(self, SIGINT);

	return is_ours ? 0 : self->end.status;
}

/* SIGTRAP ended the program itself, or one that it ran in a shell. */
static bool is_ended_by_trap(const Session *self)
{
	return is_killed_by(self, SIGTRAP) ||
	       (WIFEXITED(self->end.status) &&
		       WEXITSTATUS(self->end.status) == LODE_SHELL_BY_SIGNAL + SIGTRAP);
}

static bool note_closed(const LodeClosedPrograms *closed, GString *note)
{
	const char *name;
	unsigned n = lode_closed_programs_count(closed, &name);
	g_autofree char *which = n == 1 ? g_strdup_printf("'%s'", name)
	                                : g_strdup_printf("%u processes such as '%s'", n, name);

	if (n > 0)
		lode_perf_note(note,
			"not sampled: %s; the kernel ends the sampling of a program that has more "
			"rights than its caller (set-user-ID, set-group-ID, file capabilities) or "
			"that its caller may not read; root can record it with '-p PID' while it "
			"runs",
			which);
	return n > 0;
}

static LodePerfSampling *result_of(Session *self)
{
	LodePerfSampling *result = g_new0(LodePerfSampling, 1);
	int status = exit_status(self);
	const char *too_large;

	if (self->n_unknown_controls > 0)
		lode_perf_note(self->note,
			"unknown commands on the control pipe (enable, disable and stop are "
			"known): %u",
			self->n_unknown_controls);
	unsigned n_too_large = lode_kept_files_too_large(self->recording.tally.files, &too_large);
	if (n_too_large > 0)
		lode_perf_note(self->note,
			"files that lie nowhere else and are too large to be kept in the "
			"recording: %u, such as '%s'",
			n_too_large, too_large);
	if (self->windows != NULL)
		lode_window_recorder_add_note(self->windows, self->note);
	if (self->recording.logs != NULL)
		result->windows = *lode_window_logs_tally(self->recording.logs);
	if (self->windows != NULL && is_ended_by_trap(self))
		lode_perf_note(self->note,
			"SIGTRAP ended the program, which its windows may have caused; "
			"'--windows off' records without them");
	result->was_closed = note_closed(self->recording.tally.closed, self->note);
	if (self->looker != NULL)
		lode_wait_looker_add_note(self->looker, self->note);
	if (self->tracer != NULL) {
		lode_ptrace_sampler_add_note(self->tracer, self->note);
		result->obstacle = g_strdup(lode_ptrace_sampler_obstacle(self->tracer));
	}
	if (result->obstacle == NULL)
		result->sampling = g_strdup(self->sampling);
	result->n_samples = self->recording.tally.n_samples;
	result->n_looks = self->n_looks;
	result->n_lost = self->recording.tally.n_lost;
	result->n_throttled = self->recording.tally.n_throttled;
	result->bytes_written = lode_perf_writer_size(self->recording.writer);
	result->event = event_names(self->recording.choices);
	result->note = self->note->len > 0 ? g_strdup(self->note->str) : NULL;
	result->exit_status = status;
	result->stop_signal = lode_stop_requests_signal(&self->requests, status);
	result->was_interrupted = self->requests.was_interrupted;
	return result;
}

static LodePerfSampling *record(Session *self, const LodePerfKernel *kernel, GError **error)
{
	if (!choose_events(self, kernel, error))
		return NULL;
	set_start(self->options, self->recording.choices);
	lode_perf_recording_read_kernel(&self->recording);
	prepare_windows(self, kernel);
	prepare_probes(self, kernel);
	bool is_started = is_program(self) ? start_program(self, kernel, error)
	                                   : attach(self, kernel, error);
	if (!is_started)
		return NULL;
	lode_perf_recording_add_kernel(&self->recording);
	set_deadlines(self);
	set_up_waits(self);
	self->times.short_rounds_end_us = now_us() + SHORT_ROUNDS_US;
	if (self->looker != NULL)
		lode_wait_looker_begin(self->looker, self->is_enabled);
	while (!self->is_over)
		wait_once(self);
	return finish(self, kernel, error) ? result_of(self) : NULL;
}

static void session_clear(Session *self)
{
	lode_perf_program_cancel(&self->program);
	end_command(self);
	wait_for_program(self);
	lode_perf_recording_clear(&self->recording);
	lode_perf_control_fifo_close(&self->control);
	g_clear_pointer(&self->probes, lode_probe_recorder_free);
	g_clear_pointer(&self->looker, lode_wait_looker_free);
	g_clear_pointer(&self->windows, lode_window_recorder_free);
	g_clear_pointer(&self->tracer, lode_ptrace_sampler_free);
	g_clear_pointer(&self->probe_logs, lode_window_logs_free);
	g_clear_pointer(&self->sampling, g_free);
	g_clear_pointer(&self->refusal, g_free);
	g_free(self->windows_obstacle);
	g_clear_pointer(&self->waits, g_array_unref);
	if (self->process >= 0)
		close(self->process);
	g_string_free(self->note, TRUE);
	lode_running_process_clear(&self->running);
	lode_cpu_meter_clear(&self->meter);
	restore_signals(self);
}

/* Those that a process may use; of 0 those of lode, which a program inherits. */
static uint64_t count_processors(pid_t pid)
{
	cpu_set_t allowed;

	return sched_getaffinity(pid, sizeof(allowed), &allowed) == 0
	               ? (uint64_t)CPU_COUNT(&allowed)
	               : 0;
}

LodePerfSampling *lode_perf_sampler_run(
	const LodePerfSamplerOptions *options, const LodeProgress *progress, GError **error)
{
	Session session = {
		.options = options,
		.note = g_string_new(NULL),
		.n_processors = count_processors(options->pid),
		.process = -1,
		.control = {.descriptor = -1},
		.requests = {.notes = options->notes},
	};
	LodePerfSampling *result = NULL;

	lode_progress_end(progress);
	lode_perf_recording_init(&session.recording);
	session.recording.observer = options->observer;
	session.recording.tally.runtime = options->runtime;
	session.recording.follows_mappings = options->follows_mappings ||
	                                     options->content.has_data_mappings ||
	                                     lode_window_options_has_addresses(&options->windows);
	session.recording.page_output = options->page_output;
	session.recording.heaps = options->heaps;
	block_signals(&session);
	session.recording.writer = lode_perf_writer_open(options->output, error);
	if (session.recording.writer != NULL &&
		lode_perf_control_fifo_open(&session.control, options->control.fifo, error))
		result = record(&session, &lode_perf_kernel, error);
	session_clear(&session);
	return result;
}

void lode_perf_sampling_free(LodePerfSampling *self)
{
	if (self == NULL)
		return;
	g_free(self->event);
	g_free(self->note);
	g_free(self->sampling);
	g_free(self->obstacle);
	g_free(self);
}
