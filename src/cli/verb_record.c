/* SPDX-License-Identifier: MIT */
/* lode record: samples a program into a perf.data file. */
#include "base/error.h"
#include "base/number_format.h"
#include "cli/call_graph_options.h"
#include "cli/command_text.h"
#include "cli/interrupt.h"
#include "cli/live_page.h"
#include "cli/option_parser.h"
#include "cli/wrapped_program.h"
#include "record/perf_sampler.h"
#include "views/display_text.h"

#include <stdio.h>
#include <string.h>

enum { MAX_PAGES = 1 << 20, MAX_MS = 1000 * 1000 * 1000 };

static struct {
	char **events;
	char *frequency, *period, *pid, *output, *control, *delay, *duration, *buffer;
	gboolean has_branches, has_registers, has_data, has_kernel, is_stopped, serves;
} given;

static const GOptionEntry options[] = {
	{"event", 'e', 0, G_OPTION_ARG_STRING_ARRAY, &given.events,
		"what to sample, such as cycles:u or page-faults; may be repeated (default: "
		"cycles:u as precise as possible, or cpu-clock:u where there is no PMU)",
		"EVENT"},
	{"frequency", 'F', 0, G_OPTION_ARG_STRING, &given.frequency,
		"samples per second (default: 4000)", "HZ"},
	{"period", 'c', 0, G_OPTION_ARG_STRING, &given.period,
		"take a sample every N events; for cpu-clock, nanoseconds", "N"},
	{"branches", 'b', 0, G_OPTION_ARG_NONE, &given.has_branches,
		"record the last taken branches with each sample; needs a PMU", NULL},
	LODE_CALL_GRAPH_ENTRIES("sample", "'lode export' has formats that show them"),
	{"data", 'd', 0, G_OPTION_ARG_NONE, &given.has_data,
		"record data addresses, data sources and data mappings", NULL},
	{"user-regs", 0, 0, G_OPTION_ARG_NONE, &given.has_registers,
		"record the program's registers with each sample", NULL},
	{"pid", 'p', 0, G_OPTION_ARG_STRING, &given.pid,
		"sample this process until it ends, until Ctrl-C, or for as long as PROGRAM runs, "
		"which is not sampled: -p 4711 -- sleep 10",
		"PID"},
	{"output", 'o', 0, G_OPTION_ARG_FILENAME, &given.output,
		"the recording to write; an existing one is renamed to FILE.old (default: "
		"perf.data)",
		"FILE"},
	{"start-stopped", 0, 0, G_OPTION_ARG_NONE, &given.is_stopped,
		"do not sample until SIGUSR1; each further one stops or starts sampling", NULL},
	{"control", 0, 0, G_OPTION_ARG_FILENAME, &given.control,
		"a named pipe to read commands from: enable, disable, stop", "FIFO"},
	{"delay", 0, 0, G_OPTION_ARG_STRING, &given.delay,
		"start sampling after this many milliseconds", "MS"},
	{"duration", 0, 0, G_OPTION_ARG_STRING, &given.duration,
		"sample for this long, then end the program (not with --pid)", "SECONDS"},
	{"kernel", 0, 0, G_OPTION_ARG_NONE, &given.has_kernel,
		"sample the kernel's code too, where that is allowed", NULL},
	{"serve", 0, 0, G_OPTION_ARG_NONE, &given.serves,
		"show in a browser which functions run, and with --user-regs which addresses they "
		"access, while the program runs; the address is printed",
		NULL},
	{"buffer", 0, 0, G_OPTION_ARG_STRING, &given.buffer,
		"pages of each CPU's buffer, a power of two (default: 128, or what the kernel "
		"allows)",
		"PAGES"},
	G_OPTION_ENTRY_NULL,
};

static bool usage(const char *message, GError **error)
{
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE, message);
	return false;
}

static bool read_options(LodePerfSamplerOptions *self, char **arguments, GError **error)
{
	uint64_t delay_ms = 0, pages = 0;

	if (!lode_option_positive(
		    "--frequency", given.frequency, G_MAXUINT32, &self->frequency, error) ||
		!lode_option_positive("--period", given.period, G_MAXINT64, &self->period, error) ||
		!lode_option_pid("--pid", given.pid, &self->pid, error) ||
		!lode_option_positive("--delay", given.delay, MAX_MS, &delay_ms, error) ||
		!lode_option_seconds("--duration", given.duration, &self->duration_ms, error) ||
		!lode_option_positive("--buffer", given.buffer, MAX_PAGES, &pages, error))
		return false;
	self->delay_ms = (unsigned)delay_ms;
	self->buffer_pages = (unsigned)pages;
	if (self->frequency > 0 && self->period > 0)
		return usage("--frequency and --period exclude each other", error);
	if ((self->buffer_pages & (self->buffer_pages - 1)) != 0)
		return usage("--buffer: the number of pages must be a power of two", error);
	if (given.is_stopped && self->delay_ms > 0)
		return usage("--start-stopped and --delay exclude each other", error);
	if (self->pid == 0 && arguments[0] == NULL)
		return usage("PROGRAM is missing: lode record -- PROGRAM ARGUMENT…, or "
			     "lode record -p PID",
			error);
	return true;
}

/* What stands in the recording as its command line: all of ours, options too. */
static char **command_line(char **arguments)
{
	g_autoptr(GPtrArray) words = g_ptr_array_new();
	g_autofree char *text = NULL;
	gsize size;

	if (!g_file_get_contents("/proc/self/cmdline", &text, &size, NULL) || size == 0)
		return g_strdupv(arguments);
	for (const char *at = text; at < text + size; at += strlen(at) + 1)
		g_ptr_array_add(words, (char *)at);
	g_ptr_array_add(words, NULL);
	return g_strdupv((char **)words->pdata);
}

static void tell(const LodePerfSampling *sampled, const char *output)
{
	char samples[LODE_NUMBER_SIZE], lost[LODE_NUMBER_SIZE], size[LODE_NUMBER_SIZE];

	if (sampled->note != NULL)
		lode_display_line(stderr, "lode record: %s", sampled->note);
	if (sampled->n_throttled > 0)
		lode_display_line(stderr,
			"lode record: the kernel held sampling back %" G_GUINT64_FORMAT
			" times, as it took too much time",
			sampled->n_throttled);
	lode_display_line(stderr, "lode record: %s samples of %s, %s lost, %s kB in %s",
		lode_number_format_count((double)sampled->n_samples, samples), sampled->event,
		lode_number_format_count((double)sampled->n_lost, lost),
		lode_number_format_count((double)sampled->bytes_written / 1000, size), output);
	char *words[] = {(char *)output, NULL};
	g_autofree char *path = lode_command_text(words);
	if (sampled->n_samples > 0)
		lode_display_line(
			stderr, "lode record: go on with 'lode import %s -o x.lode'", path);
	else
		lode_display_line(stderr,
			"lode record: too little ran while it was sampled; -F raises the "
			"frequency");
}

/* Counting needs neither a PMU nor the kernel's leave, but cannot be attached. */
static void advise(const LodePerfSamplerOptions *sampler, GError *failed)
{
	if (*sampler->is_refused && sampler->pid == 0 && !sampler->has_kernel)
		lode_wrapped_program_advise(failed, "'lode run --exact' counts without sampling");
	else if (failed->code == LODE_ERROR_UNSUPPORTED && given.has_branches)
		lode_wrapped_program_advise(failed, "'lode run --exact' counts every branch");
}

static int run(char **arguments, GError **error)
{
	const char *output = given.output != NULL ? given.output : "perf.data";
	g_auto(GStrv) command = command_line(arguments);
	bool is_refused = false;
	LodePerfSamplerOptions sampler = {
		.events = (const char *const *)given.events,
		.n_events = given.events != NULL ? g_strv_length(given.events) : 0,
		.has_kernel = given.has_kernel,
		.has_branch_stacks = given.has_branches,
		.has_user_registers = given.has_registers,
		.has_data_addresses = given.has_data,
		.argv = (const char *const *)arguments,
		.output = output,
		.start_stopped = given.is_stopped,
		.control_fifo = given.control,
		.is_refused = &is_refused,
		.command = (const char *const *)command,
		.notes = lode_wrapped_program_notes("record"),
	};

	if (!read_options(&sampler, arguments, error) ||
		!lode_call_graph_options_read(
			&sampler.has_call_chains, &sampler.user_stack_bytes, error))
		return LODE_EXIT_USAGE;
	sampler.has_user_registers |= sampler.user_stack_bytes > 0;
	/* Signals that come when the recording is done must not end us before we say so. */
	lode_interrupt_cancellable();
	g_autoptr(LodeLivePage) page = NULL;
	if (given.serves) {
		const LodeLivePageOptions page_options = {
			.verb = "record",
			.feed = {.program = arguments[0] != NULL ? arguments[0] : given.pid,
				.start_stopped = given.is_stopped},
		};
		page = lode_live_page_open(&page_options, error);
		if (page == NULL)
			return LODE_EXIT_FAILED;
		sampler.observer = lode_live_page_observer(page);
	}
	g_autoptr(LodePerfSampling) sampled = lode_perf_sampler_run(&sampler, NULL, error);
	if (page != NULL)
		lode_live_page_end(page);
	if (sampled == NULL) {
		advise(&sampler, *error);
		return LODE_EXIT_FAILED;
	}
	tell(sampled, output);
	if (page != NULL)
		lode_live_page_stay(page);
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
		"With --pid a process that runs already is sampled, in its threads and in what it "
		"starts from then on. lode's status is then 0, or that of PROGRAM if it ended "
		"first.\n"
		"\n"
		"Your own programs can be sampled without privileges unless "
		"kernel.perf_event_paranoid is above 2; lode says so then.\n"
		"\n"
		"Examples:\n"
		"  lode record -- ./program argument\n"
		"  lode record -F 10000 -o x.perf.data -- gzip -k file\n"
		"  lode record -e page-faults -c 1 -d -- ./program\n"
		"  lode record -p 4711 -- sleep 10\n"
		"  lode record -p 4711 --duration 10",
	.options = options,
	.run = run,
	.is_wrapper = true,
};
