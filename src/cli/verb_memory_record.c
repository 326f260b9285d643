/* SPDX-License-Identifier: MIT */
/* lode memory record: runs a program and writes a profile of the data that it accesses. */
#include "base/error.h"
#include "base/number_format.h"
#include "cli/call_graph_options.h"
#include "cli/command_text.h"
#include "cli/interrupt.h"
#include "cli/live_page.h"
#include "cli/live_picture.h"
#include "cli/option_parser.h"
#include "cli/recorded_profile.h"
#include "cli/terminal_progress.h"
#include "cli/wrapped_program.h"
#include "record/memory_recording.h"
#include "store/profile_store.h"
#include "views/display_text.h"

#include <stdio.h>
#include <string.h>

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

static const GOptionEntry options[] = {
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

static bool usage(const char *message, GError **error)
{
	g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE, message);
	return false;
}

static bool read_timer(LodeMemoryRecordingOptions *self, GError **error)
{
	static const char *const timer[] = {"cpu-clock:u"};
	uint64_t us = 1;

	if (given.timer == NULL)
		return true;
	if (given.events != NULL || given.frequency != NULL || given.period != NULL)
		return usage("--timer excludes --event, --frequency and --period", error);
	if (!lode_option_count("--timer", given.timer, MAX_TIMER_US, &us, error))
		return false;
	if (us == 0)
		return usage("--timer: 0 is too little", error);
	self->events = timer;
	self->n_events = G_N_ELEMENTS(timer);
	self->period = us * NS_PER_US;
	return true;
}

static bool read_options(LodeMemoryRecordingOptions *self, GError **error)
{
	if (given.frequency != NULL && given.period != NULL)
		return usage("--frequency and --period exclude each other", error);
	if (!lode_option_count(
		    "--frequency", given.frequency, G_MAXUINT32, &self->frequency, error) ||
		!lode_option_count("--period", given.period, G_MAXINT64, &self->period, error))
		return false;
	if (given.frequency != NULL && self->frequency == 0)
		return usage("--frequency: 0 is too little", error);
	if (given.period != NULL && self->period == 0)
		return usage("--period: 0 is too little", error);
	if (!lode_option_pid("--pid", given.pid, &self->pid, error) ||
		!lode_option_seconds("--duration", given.duration, &self->duration_ms, error))
		return false;
	if (self->pid == 0 && self->argv[0] == NULL)
		return usage("PROGRAM is missing: lode memory record -- PROGRAM ARGUMENT…, or "
			     "lode memory record -p PID",
			error);
	if (self->pid != 0 && self->has_allocations)
		return usage("--allocations cannot be used with --pid: the library that records "
			     "them is loaded when a program starts",
			error);
	if (given.serves && given.is_live)
		return usage("--serve and --live exclude each other", error);
	return lode_call_graph_options_read(
		       &self->has_call_chains, &self->user_stack_bytes, error) &&
	       read_timer(self, error);
}

/* What is missing of the allocations; shares of samples are for lode info. */
static void tell_unresolved(const LodeProfile *profile)
{
	for (guint i = 0; given.has_allocations && i < profile->unresolved->len; i++) {
		const LodeUnresolved *row = &LODE_AT(profile->unresolved, LodeUnresolved, i);
		if (g_str_has_prefix(row->reason, "allocation"))
			lode_display_line(stderr, "lode memory record: %s (%.0f; %s)", row->reason,
				row->samples, row->example);
	}
}

static bool import(const LodeRecordedProfile *recorded, const LodeRecordedRun *run, GError **error)
{
	const LodeImportOptions import_options = {
		.skipped_frames = (const char *const *)given.skipped_frames,
		.allow_debuginfod = given.allow_debuginfod,
		.charges_next_access = given.charges_next_access,
		.passes_over_damaged_logs = true,
	};
	g_auto(LodeTerminalProgress) screen;

	lode_terminal_progress_init(&screen);
	g_autoptr(LodeProfile) profile = lode_recorded_profile_import(
		recorded, run, &import_options, &screen.progress, error);
	bool is_written = profile != NULL && lode_profile_store_write(recorded->path, profile,
						     &screen.progress, error);
	lode_terminal_progress_hide(&screen);
	if (is_written)
		tell_unresolved(profile);
	return is_written;
}

static void tell_end(const LodePerfSampling *sampled, const char *path)
{
	char samples[LODE_NUMBER_SIZE], lost[LODE_NUMBER_SIZE];
	char *words[] = {(char *)path, NULL};
	g_autofree char *shown = lode_command_text(words);

	lode_display_line(stderr, "lode memory record: %s samples of %s, %s lost",
		lode_number_format_count((double)sampled->n_samples, samples), sampled->event,
		lode_number_format_count((double)sampled->n_lost, lost));
	lode_display_line(stderr, "lode memory record: go on with 'lode memory %s'", shown);
}

/* NULL: there is to be none, or there can be none, and recording goes on without it. */
static LodeLivePicture *open_picture(
	const LodeMemoryRecordingOptions *recording, const char *program)
{
	const LodeLivePictureOptions picture_options = {
		.directory = recording->directory,
		.program = program,
		.start_stopped = recording->start_stopped,
		.charges_next_access = given.charges_next_access,
		.has_allocations = recording->has_allocations,
		.skipped_frames = (const char *const *)given.skipped_frames,
	};
	g_autoptr(GError) why = NULL;
	LodeLivePicture *picture = NULL;

	if (given.is_live)
		picture = lode_live_picture_open(&picture_options, &why);
	if (why != NULL) {
		lode_display_line(stderr,
			"lode memory record: --live: %s; recording without a picture",
			why->message);
	}
	return picture;
}

/* The picture is gone, and what the program wrote is shown, when this returns. */
static LodeMemoryRecording *record_program(LodeMemoryRecordingOptions *recording,
	const char *program, LodeLivePage *page, GError **error)
{
	LodePerfSamplerOptions sampler = {0};
	g_autoptr(LodeLivePicture) picture = open_picture(recording, program);

	if (picture != NULL)
		sampler.observer = lode_live_picture_observer(picture);
	if (page != NULL)
		sampler.observer = lode_live_page_observer(page);
	if (sampler.observer != NULL)
		recording->sampler = &sampler;
	LodeMemoryRecording *recorded = lode_memory_recording_run(recording, NULL, error);
	recording->sampler = NULL;
	if (page != NULL)
		lode_live_page_end(page);
	return recorded;
}

static LodeLivePage *open_page(const LodeMemoryRecordingOptions *recording, const char *profile,
	const char *program, GError **error)
{
	const LodeLivePageOptions page_options = {
		.verb = "memory record",
		.profile = profile,
		.feed = {.program = program,
			.start_stopped = recording->start_stopped,
			.charges_next_access = given.charges_next_access,
			.log_directory = recording->has_allocations ? recording->directory : NULL,
			.skipped_frames = (const char *const *)given.skipped_frames},
	};

	return lode_live_page_open(&page_options, error);
}

static int run(char **arguments, GError **error)
{
	LodeMemoryRecordingOptions recording = {
		.argv = (const char *const *)arguments,
		.events = (const char *const *)given.events,
		.n_events = given.events != NULL ? g_strv_length(given.events) : 0,
		.has_allocations = given.has_allocations,
		.has_no_page_faults = given.has_no_page_faults,
		.has_page_nodes = given.has_page_nodes,
		.is_randomised = given.is_randomised,
		.start_stopped = given.is_stopped,
		.notes = lode_wrapped_program_notes("memory record"),
	};

	if (!read_options(&recording, error))
		return LODE_EXIT_USAGE;
	/* Signals that come when the recording is done must not end us before the profile is there.
	 */
	lode_interrupt_cancellable();
	const LodeRecordedProfileOptions profile_options = {
		.verb = "memory record",
		.command = arguments,
		.pid = recording.pid,
		.output = given.output,
		.keep_recording = given.keep_recording,
	};
	g_auto(LodeRecordedProfile) recorded = {0};
	if (!lode_recorded_profile_open(&recorded, &profile_options, error))
		return LODE_EXIT_FAILED;
	recording.directory = recorded.directory->path;
	const char *program = recording.pid != 0 ? recorded.program : arguments[0];
	g_autoptr(LodeLivePage) page = NULL;
	if (given.serves) {
		page = open_page(&recording, recorded.path, program, error);
		if (page == NULL)
			return LODE_EXIT_FAILED;
	}
	g_autoptr(LodeMemoryRecording) done = record_program(&recording, program, page, error);
	if (done == NULL) {
		lode_recording_directory_explain(recorded.directory, error);
		return LODE_EXIT_FAILED;
	}
	int status = lode_wrapped_program_status(done->run.exit_status, 0);
	if (!lode_recorded_profile_can_import(&recorded, &done->run, done->sampling->n_samples == 0,
		    "a higher --frequency takes more samples", &status, error))
		return status;
	if (!import(&recorded, &done->run, error))
		return LODE_EXIT_FAILED;
	tell_end(done->sampling, recorded.path);
	if (page != NULL)
		lode_live_page_stay(page);
	return status;
}

const LodeVerb lode_verb_memory_record = {
	.name = "memory record",
	.arguments = "[-p PID] [-- PROGRAM [ARGUMENT…]]",
	.summary = "record which data a program accesses",
	.description =
		"Samples the program with its registers, from which 'lode memory' computes the "
		"data addresses that it accessed. The first touch of each page is recorded "
		"too, and with --allocations every allocated block, with the calls that led "
		"there. Addresses are not randomised, so that they are the same in the next "
		"run.\n"
		"\n"
		"Timer samples show where time is spent, not how often data is accessed: one "
		"access that waits for memory counts as much as many that do not.\n"
		"\n"
		"The program has the standard input, output and error of lode, and lode exits "
		"with its status; if a signal ends the program, lode ends by the same signal.\n"
		"\n"
		"With --pid a process that runs already is recorded, in its threads and in what it "
		"starts from then on, at the addresses that it has. lode's status is then 0, or "
		"that of PROGRAM if it ended first.\n"
		"\n"
		"--live draws threads and the addresses that they access while the program "
		"runs. The program's output to the terminal is shown when it ends, or with the "
		"key o; the program cannot read from the terminal. Ctrl-C is passed to the "
		"program; q leaves the picture, and the recording continues. Objects have the "
		"names that 'lode memory' will show.\n"
		"\n"
		"--serve prints the address of a page that shows the same in a browser, where it "
		"can be paused, and by thread and granularity; see 'lode serve' for who can open "
		"it. When the program has ended the page shows its profile, until Ctrl-C.\n"
		"\n"
		"--allocations preloads a library that intercepts malloc and related functions "
		"(LD_PRELOAD). Allocations of programs that are linked statically or have "
		"their own malloc cannot be recorded, and lode says so.\n"
		"\n"
		"-g records the calls that lead to each access where the program was compiled with "
		"-fno-omit-frame-pointer; --call-graph dwarf works without, with much larger "
		"recordings.\n"
		"\n"
		"Examples:\n"
		"  lode memory record -- ./program argument\n"
		"  lode memory record -g -o x.lode -- ./program\n"
		"  lode memory record --allocations -o x.lode -- python3 script.py\n"
		"  lode memory record --timer 250 --no-page-faults -- ./program\n"
		"  lode memory record --live --keep-recording kept -- ./program\n"
		"  lode memory record -p 4711 -- sleep 10",
	.options = options,
	.run = run,
	.is_wrapper = true,
};
