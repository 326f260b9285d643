/* SPDX-License-Identifier: MIT */
#include "cli/options/memory_recording_options.h"

#include "cli/options/call_graph_options.h"
#include "cli/options/window_options.h"
#include "cli/recording/wrapped_program.h"

enum {
	NS_PER_US = 1000,
	MAX_TIMER_US = 10 * 1000 * 1000,
};

typedef LodeMemoryRecordOptions Options;

const LodeParameter lode_memory_recording_rows[] = {
	{"timer", LODE_COUNT(Options, timer_us), .least = 1, .most = MAX_TIMER_US, .value = "US",
		.excludes = "event frequency period",
		.summary = "take a sample every US microseconds of running time"},
	{"event", 'e', LODE_TEXTS(Options, recording.events), .value = "EVENT",
		.summary = "what to sample, as for lode record; may be repeated (default: "
			   "cycles:u as precise as possible, or cpu-clock:u where there is no "
			   "PMU)"},
	{"frequency", 'F', LODE_COUNT(Options, recording.frequency), .least = 1,
		.most = G_MAXUINT32, .value = "HZ", .excludes = "period",
		.summary = "samples per second (default: 10000)"},
	{"period", 'c', LODE_COUNT(Options, recording.period), .least = 1, .most = G_MAXINT64,
		.value = "N", .summary = "take a sample every N events"},
	{"pid", 'p', LODE_COUNT(Options, recording.pid), .least = 1, .most = G_MAXINT32,
		.value = "PID",
		.summary = "record this process until it ends, until Ctrl-C, or for as long as "
			   "PROGRAM runs, which is not recorded: -p 4711 -- sleep 10"},
	{"duration", LODE_SECONDS(Options, recording.duration_ms), .value = "SECONDS",
		.summary =
			"record for this long, then end the program (a process of --pid goes on)"},
	{"allocations", LODE_FLAG(Options, recording.has_allocations),
		.summary = "record the program's allocations and the calls that led there"},
	{"skip-frame", LODE_TEXTS(Options, skipped_frames), .value = "GLOB",
		.summary = "name no allocation after a function or library of this name, but "
			   "after its caller; * and ? stand for any text and character; may be "
			   "repeated"},
	LODE_CALL_GRAPH_ROWS(Options, recording.has_call_chains, call_graph, "access",
		"'lode memory --callers' shows them"),
	LODE_PROBES_ROW(Options, probes, LODE_PROBES_OF_RECORD),
	LODE_WINDOWS_ROW(Options, windows),
	{"start-stopped", LODE_FLAG(Options, recording.start_stopped),
		.summary = "do not sample until SIGUSR1; each further one stops or starts "
			   "sampling"},
	{"no-page-faults", LODE_FLAG(Options, recording.has_no_page_faults),
		.summary = "do not record which thread touches each page first"},
	{"page-nodes", LODE_FLAG(Options, recording.has_page_nodes),
		.summary = "record on which NUMA node each page lies, also where there is only "
			   "one node"},
	{"randomised", LODE_FLAG(Options, recording.is_randomised),
		.summary = "do not switch off address-space randomisation"},
	{"live", LODE_FLAG(Options, is_live),
		.summary = "draw the accesses in the terminal while the program runs; the key h "
			   "shows all keys"},
	{"serve", LODE_FLAG(Options, serves), .excludes = "live",
		.summary = "show the accesses in a browser while the program runs, and then the "
			   "profile until Ctrl-C; the address is printed"},
	{"next-access", LODE_FLAG(Options, charges_next_access),
		.summary = "charge timer samples to the next access, in place of the one that was "
			   "waited for"},
	{"output", 'o', LODE_OUTPUT(Options, output, PROFILE), .value = "FILE",
		.summary = "the profile to write; an existing one is renamed to FILE.old (default: "
			   "PROGRAM.lode, of a script SCRIPT.lode)"},
	{"keep-recording", LODE_FILE(Options, keep_recording), .value = "DIR",
		.summary = "record into this directory and keep the recordings there"},
	{"debuginfod", LODE_FLAG(Options, allow_debuginfod),
		.summary = "fetch missing debug information from the servers in DEBUGINFOD_URLS"},
	{NULL},
};

bool lode_memory_recording_options_complete(
	LodeMemoryRecordOptions *self, char **arguments, GError **error)
{
	static const char *const timer[] = {"cpu-clock:u", NULL};
	LodeMemoryRecordingOptions *recording = &self->recording;

	if (recording->pid == 0 && arguments[0] == NULL)
		return lode_parameter_refuse(error,
			"PROGRAM is missing: lode memory record -- PROGRAM ARGUMENT…, or "
			"lode memory record -p PID");
	if (recording->pid != 0 && recording->has_allocations)
		return lode_parameter_refuse(error,
			"--allocations cannot be used with --pid: the library that records "
			"them is loaded when a program starts");
	if (self->timer_us > 0) {
		recording->events = timer;
		recording->period = self->timer_us * NS_PER_US;
	}
	recording->argv = (const char *const *)arguments;
	recording->notes = lode_wrapped_program_notes("memory record");
	return lode_call_graph_read(self->call_graph, &recording->has_call_chains,
		       &recording->user_stack_bytes, error) &&
	       lode_window_options_read(
		       self->windows, recording->pid, &recording->windows, error) &&
	       lode_probe_options_read(
		       self->probes, LODE_PROBES_OF_RECORD, &recording->probes, error);
}
