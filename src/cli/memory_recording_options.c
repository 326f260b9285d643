/* SPDX-License-Identifier: MIT */
#include "cli/memory_recording_options.h"

#include "cli/call_graph_options.h"
#include "cli/option_parser.h"
#include "cli/wrapped_program.h"

enum {
	NS_PER_US = 1000,
	MAX_TIMER_US = 10 * 1000 * 1000,
};

static struct {
	char *output, *keep_recording, *timer, *frequency, *period, *pid, *duration, **events,
		**skipped_frames;
	gboolean has_allocations, has_page_nodes, is_stopped, has_no_page_faults, is_randomised,
		allow_debuginfod, is_live, serves, charges_next_access;
} given;

const GOptionEntry lode_memory_recording_options[] = {
	{"timer", 0, 0, G_OPTION_ARG_STRING, &given.timer,
		"take a sample every US microseconds of running time", "US"},
	{"event", 'e', 0, G_OPTION_ARG_STRING_ARRAY, &given.events,
		"what to sample, as for lode record; may be repeated (default: cycles:u as "
		"precise as possible, or cpu-clock:u where there is no PMU)",
		"EVENT"},
	{"frequency", 'F', 0, G_OPTION_ARG_STRING, &given.frequency,
		"samples per second (default: 10000)", "HZ"},
	{"period", 'c', 0, G_OPTION_ARG_STRING, &given.period, "take a sample every N events", "N"},
	{"pid", 'p', 0, G_OPTION_ARG_STRING, &given.pid,
		"record this process until it ends, until Ctrl-C, or for as long as PROGRAM runs, "
		"which is not recorded: -p 4711 -- sleep 10",
		"PID"},
	{"duration", 0, 0, G_OPTION_ARG_STRING, &given.duration,
		"record for this long, then end the program (not with --pid)", "SECONDS"},
	{"allocations", 0, 0, G_OPTION_ARG_NONE, &given.has_allocations,
		"record the program's allocations and the calls that led there", NULL},
	{"skip-frame", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given.skipped_frames,
		"name no allocation after a function or library of this name, but after its "
		"caller; * and ? stand for any text and character; may be repeated",
		"GLOB"},
	LODE_CALL_GRAPH_ENTRIES("access", "'lode memory --callers' shows them"),
	{"start-stopped", 0, 0, G_OPTION_ARG_NONE, &given.is_stopped,
		"do not sample until SIGUSR1; each further one stops or starts sampling", NULL},
	{"no-page-faults", 0, 0, G_OPTION_ARG_NONE, &given.has_no_page_faults,
		"do not record which thread touches each page first", NULL},
	{"page-nodes", 0, 0, G_OPTION_ARG_NONE, &given.has_page_nodes,
		"record on which NUMA node each page lies, also where there is only one node",
		NULL},
	{"randomised", 0, 0, G_OPTION_ARG_NONE, &given.is_randomised,
		"do not switch off address-space randomisation", NULL},
	{"live", 0, 0, G_OPTION_ARG_NONE, &given.is_live,
		"draw the accesses in the terminal while the program runs; the key h shows all "
		"keys",
		NULL},
	{"serve", 0, 0, G_OPTION_ARG_NONE, &given.serves,
		"show the accesses in a browser while the program runs, and then the profile until "
		"Ctrl-C; the address is printed",
		NULL},
	{"next-access", 0, 0, G_OPTION_ARG_NONE, &given.charges_next_access,
		"charge timer samples to the next access, in place of the one that was waited for",
		NULL},
	{"output", 'o', 0, G_OPTION_ARG_FILENAME, &given.output,
		"the profile to write; an existing one is replaced (default: PROGRAM.lode)",
		"FILE"},
	{"keep-recording", 0, 0, G_OPTION_ARG_FILENAME, &given.keep_recording,
		"record into this directory and keep the recordings there", "DIR"},
	{"debuginfod", 0, 0, G_OPTION_ARG_NONE, &given.allow_debuginfod,
		"fetch missing debug information from the servers in DEBUGINFOD_URLS", NULL},
	G_OPTION_ENTRY_NULL,
};

static bool read_timer(LodeMemoryRecordingOptions *self, GError **error)
{
	static const char *const timer[] = {"cpu-clock:u"};
	uint64_t us = 1;

	if (given.timer == NULL)
		return true;
	if (given.events != NULL || given.frequency != NULL || given.period != NULL)
		return lode_option_refuse(
			error, "--timer excludes --event, --frequency and --period");
	if (!lode_option_positive("--timer", given.timer, MAX_TIMER_US, &us, error))
		return false;
	self->events = timer;
	self->n_events = G_N_ELEMENTS(timer);
	self->period = us * NS_PER_US;
	return true;
}

bool lode_memory_recording_options_read(
	char **arguments, LodeMemoryRecordOptions *out_options, GError **error)
{
	LodeMemoryRecordOptions options = {
		.recording.argv = (const char *const *)arguments,
		.recording.events = (const char *const *)given.events,
		.recording.n_events = given.events != NULL ? g_strv_length(given.events) : 0,
		.recording.has_allocations = given.has_allocations,
		.recording.has_no_page_faults = given.has_no_page_faults,
		.recording.has_page_nodes = given.has_page_nodes,
		.recording.is_randomised = given.is_randomised,
		.recording.start_stopped = given.is_stopped,
		.recording.notes = lode_wrapped_program_notes("memory record"),
		.output = given.output,
		.keep_recording = given.keep_recording,
		.skipped_frames = (const char *const *)given.skipped_frames,
		.allow_debuginfod = given.allow_debuginfod,
		.charges_next_access = given.charges_next_access,
		.is_live = given.is_live,
		.serves = given.serves,
	};
	LodeMemoryRecordingOptions *recording = &options.recording;

	if (given.frequency != NULL && given.period != NULL)
		return lode_option_refuse(error, "--frequency and --period exclude each other");
	if (!lode_option_positive(
		    "--frequency", given.frequency, G_MAXUINT32, &recording->frequency, error) ||
		!lode_option_positive(
			"--period", given.period, G_MAXINT64, &recording->period, error) ||
		!lode_option_pid("--pid", given.pid, &recording->pid, error) ||
		!lode_option_seconds("--duration", given.duration, &recording->duration_ms, error))
		return false;
	if (recording->pid == 0 && arguments[0] == NULL)
		return lode_option_refuse(error,
			"PROGRAM is missing: lode memory record -- PROGRAM ARGUMENT…, or "
			"lode memory record -p PID");
	if (recording->pid != 0 && given.has_allocations)
		return lode_option_refuse(error,
			"--allocations cannot be used with --pid: the library that records "
			"them is loaded when a program starts");
	if (given.serves && given.is_live)
		return lode_option_refuse(error, "--serve and --live exclude each other");
	if (!lode_call_graph_options_read(
		    &recording->has_call_chains, &recording->user_stack_bytes, error) ||
		!read_timer(recording, error))
		return false;
	*out_options = options;
	return true;
}
