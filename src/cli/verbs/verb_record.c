/* SPDX-License-Identifier: MIT */
/* lode record: samples a program into a perf.data file. */
#include "base/error.h"
#include "cli/interrupt.h"
#include "cli/live/live_server.h"
#include "cli/options/call_graph_options.h"
#include "cli/options/recording_options.h"
#include "cli/options/window_options.h"
#include "cli/recording/wrapped_program.h"
#include "cli/verb.h"
#include "record/perf/perf_sampler.h"
#include "views/form/display_text.h"
#include "views/form/shell_word.h"
#include "views/profile/sampling_summary.h"

#include <stdio.h>

enum { MAX_PAGES = 1 << 20, MAX_MS = 1000 * 1000 * 1000 };

typedef struct {
	LodePerfSamplerOptions sampler;
	const char *call_graph, *windows, *probes;
	bool serves, has_no_waits, has_no_scripts;
} Options;

static const LodeParameter rows[] = {
	{"event", 'e', LODE_TEXTS(Options, sampler.events), .value = "EVENT",
		.summary = "what to sample, such as cycles:u or page-faults; may be repeated "
			   "(default: cycles:u as precise as possible, or cpu-clock:u where there "
			   "is no PMU)"},
	{"frequency", 'F', LODE_COUNT(Options, sampler.frequency), .least = 1, .most = G_MAXUINT32,
		.value = "HZ", .excludes = "period",
		.summary = "samples per second (default: 4000)"},
	{"period", 'c', LODE_COUNT(Options, sampler.period), .least = 1, .most = G_MAXINT64,
		.value = "N",
		.summary = "take a sample every N events; for cpu-clock, nanoseconds"},
	{"branches", 'b', LODE_FLAG(Options, sampler.content.has_branch_stacks),
		.summary = "record the last taken branches with each sample; needs a PMU"},
	LODE_CALL_GRAPH_ROWS(Options, sampler.content.has_call_chains, call_graph, "sample",
		"'lode export' has formats that show them"),
	{"data", 'd', LODE_FLAG(Options, sampler.content.has_data_addresses),
		.summary = "record data addresses, data sources and data mappings"},
	{"user-regs", LODE_FLAG(Options, sampler.content.has_user_registers),
		.summary = "record the program's registers with each sample"},
	{"pid", 'p', LODE_COUNT(Options, sampler.pid), .least = 1, .most = G_MAXINT32,
		.value = "PID",
		.summary = "sample this process until it ends, until Ctrl-C, or for as long as "
			   "PROGRAM runs, which is not sampled: -p 4711 -- sleep 10"},
	LODE_SIBLINGS_ROW(Options, sampler.has_siblings),
	{"output", 'o', LODE_OUTPUT(Options, sampler.output, RECORDING), .value = "FILE",
		.standard = "perf.data",
		.summary = "the recording to write; an existing one is renamed to FILE.old "
			   "(default: perf.data)"},
	{"start-stopped", LODE_FLAG(Options, sampler.control.start_stopped), .excludes = "delay",
		.summary = "do not sample until SIGUSR1; each further one stops or starts "
			   "sampling"},
	{"control", LODE_FILE(Options, sampler.control.fifo), .value = "FIFO",
		.summary = "a named pipe to read commands from: enable, disable, stop"},
	{"delay", LODE_COUNT(Options, sampler.control.delay_ms), .least = 1, .most = MAX_MS,
		.value = "MS", .summary = "start sampling after this many milliseconds"},
	{"duration", LODE_SECONDS(Options, sampler.control.duration_ms), .value = "SECONDS",
		.summary =
			"sample for this long, then end the program (a process of --pid goes on)"},
	{"kernel", LODE_FLAG(Options, sampler.content.has_kernel),
		.summary = "sample the kernel's code too, where that is allowed"},
	{"no-switches", LODE_FLAG(Options, sampler.content.has_no_switches),
		.summary = "do not record context switches, for a program that makes a hundred "
			   "thousand a second: no latency, no times of threads"},
	{"no-waits", LODE_FLAG(Options, has_no_waits),
		.summary = "do not look at threads that wait: no causes of waiting"},
	{"each-wait", LODE_FLAG(Options, sampler.content.has_each_wait),
		.excludes = "no-waits no-switches",
		.summary = "let the kernel tell the place of each wait, and who ended it, where it "
			   "may (root, CAP_PERFMON; tracefs); a switch then costs twice as much"},
	{"native", LODE_FLAG(Options, has_no_scripts),
		.summary = "do not look at the frames of interpreters: their own functions are "
			   "recorded, not those of the script"},
	LODE_PROBES_ROW(Options, probes, LODE_PROBES_OF_RECORD),
	LODE_WINDOWS_ROW(Options, windows),
	{"serve", LODE_FLAG(Options, serves),
		.summary = "show in a browser which functions run, and with --user-regs which "
			   "addresses they access, while the program runs; the address is "
			   "printed"},
	{"buffer", LODE_COUNT(Options, sampler.buffer_pages), .least = 1, .most = MAX_PAGES,
		.value = "PAGES",
		.summary = "pages of each CPU's buffer, a power of two (default: 128, or what the "
			   "kernel allows)"},
	{NULL},
};

static const LodeParameterGroup groups[] = {{"Options", rows, 0}, {NULL}};

static bool complete(Options *self, char **arguments, GError **error)
{
	LodePerfSamplerOptions *sampler = &self->sampler;

	if ((sampler->buffer_pages & (sampler->buffer_pages - 1)) != 0)
		return lode_parameter_refuse(
			error, "--buffer: the number of pages must be a power of two");
	if (sampler->pid == 0 && arguments[0] == NULL)
		return lode_parameter_refuse(error,
			"PROGRAM is missing: lode record -- PROGRAM ARGUMENT…, or "
			"lode record -p PID");
	if (!lode_call_graph_read(self->call_graph, &sampler->content.has_call_chains,
		    &sampler->content.user_stack_bytes, error) ||
		!lode_window_options_read(self->windows, sampler->pid, &sampler->windows, error) ||
		!lode_probe_options_read(
			self->probes, LODE_PROBES_OF_RECORD, &sampler->probes, error))
		return false;
	sampler->content.has_user_registers |= sampler->content.user_stack_bytes > 0;
	sampler->argv = (const char *const *)arguments;
	sampler->can_trace = true;
	sampler->content.has_waits = !self->has_no_waits;
	sampler->content.has_scripts = !self->has_no_scripts;
	sampler->notes = lode_wrapped_program_notes("record");
	return true;
}

static void print_summary(const LodePerfSampling *sampled, const char *output)
{
	g_autofree char *path = lode_shell_word(output);

	if (sampled->note != NULL)
		lode_display_line(stderr, "lode record: %s", sampled->note);
	lode_sampling_summary_write(sampled, "record", output, stderr);
	if (sampled->obstacle != NULL)
		lode_display_line(stderr, "lode record: %s", sampled->obstacle);
	else if (sampled->n_samples > 0 || sampled->n_looks > 0)
		lode_display_line(
			stderr, "lode record: go on with 'lode import %s -o x.lode'", path);
	else if (!sampled->was_closed)
		lode_display_line(stderr,
			"lode record: too little ran while it was sampled; -F raises the "
			"frequency");
}

/* Counting needs neither a PMU nor the kernel's permission, but cannot be attached. */
static void advise(const LodePerfSamplerOptions *sampler, GError *failed)
{
	if (*sampler->is_refused && sampler->pid == 0 && !sampler->content.has_kernel)
		lode_wrapped_program_advise(failed, "'lode run --exact' counts without sampling");
	else if (failed->code == LODE_ERROR_UNSUPPORTED && sampler->content.has_branch_stacks)
		lode_wrapped_program_advise(failed, "'lode run --exact' counts every branch");
}

static int run(void *options, char **arguments, GError **error)
{
	Options *given = options;
	LodePerfSamplerOptions *sampler = &given->sampler;
	g_auto(GStrv) command = lode_wrapped_program_own_command(arguments);
	bool is_refused = false;

	if (!complete(given, arguments, error))
		return LODE_EXIT_USAGE;
	sampler->command = (const char *const *)command;
	sampler->is_refused = &is_refused;
	/* Signals that come when the recording is done must not end us before we say so. */
	lode_interrupt_cancellable();
	g_autoptr(LodeLiveServer) page = NULL;
	g_autofree char *pid = g_strdup_printf("%d", sampler->pid);
	if (given->serves) {
		const LodeLiveServerOptions page_options = {
			.verb = "record",
			.feed = {.program = arguments[0] != NULL ? arguments[0] : pid,
				.recording = sampler->output,
				.start_stopped = sampler->control.start_stopped},
		};
		page = lode_live_server_open(&page_options, error);
		if (page == NULL)
			return LODE_EXIT_FAILED;
		sampler->observer = lode_live_server_observer(page);
	}
	g_autoptr(LodePerfSampling) sampled = lode_perf_sampler_run(sampler, NULL, error);
	if (page != NULL)
		lode_live_server_end(page);
	if (sampled == NULL) {
		advise(sampler, *error);
		return LODE_EXIT_FAILED;
	}
	print_summary(sampled, sampler->output);
	/* SIGTERM is meant for us, too, also where it came before the end of the program. */
	if (page != NULL && sampled->stop_signal == 0)
		lode_live_server_stay(page);
	return lode_wrapped_program_status(sampled->exit_status, sampled->stop_signal);
}

const LodeVerb lode_verb_record = {
	.name = "record",
	.arguments = "[-p PID] [-- PROGRAM [ARGUMENT…]]",
	.summary = "sample a running program into a perf.data file",
	.description =
		"Interrupts the program 4000 times per second of running time and records the "
		"instruction address, in all its threads and the programs that it starts. "
		"'lode import' and perf read the recording. The program runs at nearly full "
		"speed, slower at higher frequencies. Executions are not counted; for that, "
		"see 'lode run --exact'.\n"
		"\n"
		"The program has the standard input, output and error of lode, and lode exits "
		"with its status; if a signal ends the program, lode ends by the same signal. "
		"After Ctrl-C the recording is complete. After --duration SECONDS the program "
		"gets SIGTERM, as from perf, and lode's status is 0 if that ends it.\n"
		"\n"
		"With --pid a process that runs already is sampled, in its threads, and in what it "
		"has started or starts. lode's status is then 0, or that of PROGRAM if it ended "
		"first.\n"
		"\n"
		"Your own programs can be sampled without privileges. Where the kernel refuses "
		"perf events (kernel.perf_event_paranoid above 2, or a container), a program is "
		"sampled by ptrace, some 400 times a second; lode says so then.\n"
		"\n"
		"Examples:\n"
		"  lode record -- ./program argument\n"
		"  lode record -F 10000 -o x.perf.data -- gzip -k file\n"
		"  lode record -e page-faults -c 1 -d -- ./program\n"
		"  lode record -p 4711 -- sleep 10\n"
		"  lode record -p 4711 --duration 10",
	.groups = groups,
	.size = sizeof(Options),
	.run = run,
	.is_wrapper = true,
};
