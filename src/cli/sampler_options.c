/* SPDX-License-Identifier: MIT */
#include "cli/sampler_options.h"

#include "cli/call_graph_options.h"
#include "cli/option_parser.h"
#include "cli/wrapped_program.h"

enum { MAX_PAGES = 1 << 20, MAX_MS = 1000 * 1000 * 1000 };

static struct {
	char **events;
	char *frequency, *period, *pid, *output, *control, *delay, *duration, *buffer;
	gboolean has_branches, has_registers, has_data, has_kernel, is_stopped, serves;
} given;

const GOptionEntry lode_sampler_options[] = {
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

bool lode_sampler_options_read(char **arguments, LodeSamplerOptions *out_options, GError **error)
{
	LodeSamplerOptions options = {
		.sampler.events = (const char *const *)given.events,
		.sampler.n_events = given.events != NULL ? g_strv_length(given.events) : 0,
		.sampler.has_kernel = given.has_kernel,
		.sampler.has_branch_stacks = given.has_branches,
		.sampler.has_data_addresses = given.has_data,
		.sampler.argv = (const char *const *)arguments,
		.sampler.output = given.output != NULL ? given.output : "perf.data",
		.sampler.start_stopped = given.is_stopped,
		.sampler.control_fifo = given.control,
		.sampler.notes = lode_wrapped_program_notes("record"),
		.program = arguments[0] != NULL ? arguments[0] : given.pid,
		.serves = given.serves,
	};
	LodePerfSamplerOptions *sampler = &options.sampler;
	uint64_t delay_ms = 0, pages = 0;

	if (!lode_option_positive(
		    "--frequency", given.frequency, G_MAXUINT32, &sampler->frequency, error) ||
		!lode_option_positive(
			"--period", given.period, G_MAXINT64, &sampler->period, error) ||
		!lode_option_pid("--pid", given.pid, &sampler->pid, error) ||
		!lode_option_positive("--delay", given.delay, MAX_MS, &delay_ms, error) ||
		!lode_option_seconds("--duration", given.duration, &sampler->duration_ms, error) ||
		!lode_option_positive("--buffer", given.buffer, MAX_PAGES, &pages, error))
		return false;
	sampler->delay_ms = (unsigned)delay_ms;
	sampler->buffer_pages = (unsigned)pages;
	if (sampler->frequency > 0 && sampler->period > 0)
		return lode_option_refuse(error, "--frequency and --period exclude each other");
	if ((pages & (pages - 1)) != 0)
		return lode_option_refuse(
			error, "--buffer: the number of pages must be a power of two");
	if (given.is_stopped && delay_ms > 0)
		return lode_option_refuse(error, "--start-stopped and --delay exclude each other");
	if (sampler->pid == 0 && arguments[0] == NULL)
		return lode_option_refuse(error,
			"PROGRAM is missing: lode record -- PROGRAM ARGUMENT…, or "
			"lode record -p PID");
	if (!lode_call_graph_options_read(
		    &sampler->has_call_chains, &sampler->user_stack_bytes, error))
		return false;
	sampler->has_user_registers = given.has_registers || sampler->user_stack_bytes > 0;
	*out_options = options;
	return true;
}
