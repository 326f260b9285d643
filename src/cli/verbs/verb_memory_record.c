/* SPDX-License-Identifier: MIT */
/* lode memory record: runs a program and writes a profile of the data that it accesses. */
#include "cli/interrupt.h"
#include "cli/live/live_picture.h"
#include "cli/live/live_server.h"
#include "cli/options/memory_recording_options.h"
#include "cli/recording/recorded_profile.h"
#include "cli/recording/wrapped_program.h"
#include "cli/terminal_progress.h"
#include "cli/verb.h"
#include "model/profile.h"
#include "model/run/unresolved.h"
#include "store/profile_store.h"
#include "views/form/display_text.h"
#include "views/form/shell_word.h"
#include "views/profile/sampling_summary.h"

#include <stdio.h>

typedef LodeMemoryRecordOptions Options;

static const LodeParameterGroup groups[] = {{"Options", lode_memory_recording_rows, 0}, {NULL}};

/* Prints which allocations are missing; lode info shows the shares of samples. */
static void print_unresolved(const Options *given, const LodeProfile *profile)
{
	for (guint i = 0; i < profile->unresolved->len; i++) {
		const LodeUnresolved *row = &LODE_AT(profile->unresolved, LodeUnresolved, i);
		if (given->recording.has_allocations && g_str_has_prefix(row->reason, "allocation"))
			lode_display_line(stderr, "lode memory record: %s (%.0f; %s)", row->reason,
				row->samples, row->example);
	}
}

static bool import(const Options *given, const LodeRecordedProfile *recorded,
	const LodeRecordedRun *run, GError **error)
{
	const LodeImportOptions import_options = {
		.skipped_frames = given->skipped_frames,
		.allow_debuginfod = given->allow_debuginfod,
		.charges_next_access = given->charges_next_access,
		.skips_damaged_logs = true,
	};
	g_auto(LodeTerminalProgress) screen;

	lode_terminal_progress_init(&screen);
	g_autoptr(LodeProfile) profile = lode_recorded_profile_import(
		recorded, run, &import_options, &screen.progress, error);
	bool is_written = profile != NULL && lode_profile_store_write(recorded->path, profile,
						     &screen.progress, error);
	lode_terminal_progress_hide(&screen);
	if (is_written)
		print_unresolved(given, profile);
	return is_written;
}

/* NULL: the picture cannot be drawn, and recording continues without it. */
static LodeLivePicture *open_picture(const Options *given, const char *program)
{
	const LodeLivePictureOptions picture_options = {
		.directory = given->recording.directory,
		.program = program,
		.start_stopped = given->recording.start_stopped,
		.charges_next_access = given->charges_next_access,
		.has_allocations = given->recording.has_allocations,
		.skipped_frames = given->skipped_frames,
	};
	g_autoptr(GError) why = NULL;
	LodeLivePicture *picture = lode_live_picture_open(&picture_options, &why);

	if (picture == NULL)
		lode_display_line(stderr,
			"lode memory record: --live: %s; recording without a picture",
			why->message);
	return picture;
}

static LodeLiveServer *open_page(
	const Options *given, const char *profile, const char *program, GError **error)
{
	const LodeMemoryRecordingOptions *recording = &given->recording;
	g_autofree char *sampled = g_build_filename(
		recording->directory, LODE_MEMORY_RECORDING_SAMPLES, NULL);
	const LodeLiveServerOptions page_options = {
		.verb = "memory record",
		.profile = profile,
		.feed = {.program = program,
			.recording = sampled,
			.start_stopped = recording->start_stopped,
			.charges_next_access = given->charges_next_access,
			.log_directory = recording->has_allocations ? recording->directory : NULL,
			.skipped_frames = given->skipped_frames},
	};

	return lode_live_server_open(&page_options, error);
}

/* Afterwards the picture is erased and the output of the program is shown. */
static LodeMemoryRecording *record_program(
	Options *given, const char *program, LodeLiveServer *page, GError **error)
{
	LodePerfSamplerOptions sampler = {0};
	g_autoptr(LodeLivePicture) picture = given->is_live ? open_picture(given, program) : NULL;

	if (picture != NULL)
		sampler.observer = lode_live_picture_observer(picture);
	if (page != NULL)
		sampler.observer = lode_live_server_observer(page);
	if (sampler.observer != NULL)
		given->recording.sampler = &sampler;
	LodeMemoryRecording *recorded = lode_memory_recording_run(&given->recording, NULL, error);
	given->recording.sampler = NULL;
	if (page != NULL)
		lode_live_server_end(page);
	return recorded;
}

static int run(void *options, char **arguments, GError **error)
{
	Options *given = options;

	if (!lode_memory_recording_options_complete(given, arguments, error))
		return LODE_EXIT_USAGE;
	/* Signals that come when the recording is done must not end us before the profile is there.
	 */
	lode_interrupt_cancellable();
	const LodeRecordedProfileOptions profile_options = {
		.verb = "memory record",
		.command = arguments,
		.pid = given->recording.pid,
		.output = given->output,
		.keep_recording = given->keep_recording,
	};
	g_auto(LodeRecordedProfile) recorded = {0};
	if (!lode_recorded_profile_open(&recorded, &profile_options, error))
		return LODE_EXIT_FAILED;
	given->recording.directory = recorded.directory->path;
	const char *program = given->recording.pid != 0 ? recorded.program : arguments[0];
	g_autoptr(LodeLiveServer) page = NULL;
	if (given->serves && (page = open_page(given, recorded.path, program, error)) == NULL)
		return LODE_EXIT_FAILED;
	g_autoptr(LodeMemoryRecording) done = record_program(given, program, page, error);
	if (done == NULL) {
		lode_recording_directory_explain(recorded.directory, error);
		return LODE_EXIT_FAILED;
	}
	int status = lode_wrapped_program_status(done->run.exit_status, 0);
	if (!lode_recorded_profile_can_import(&recorded, &done->run, done->sampling->n_samples == 0,
		    "a higher --frequency takes more samples", &status, error))
		return status;
	if (!import(given, &recorded, &done->run, error))
		return LODE_EXIT_FAILED;
	lode_sampling_summary_write(done->sampling, "memory record", NULL, stderr);
	g_autofree char *word = lode_shell_word(recorded.path);
	lode_display_line(stderr, "lode memory record: go on with 'lode memory %s'", word);
	if (page != NULL)
		lode_live_server_stay(page);
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
		"has started or starts, at the addresses that it has. lode's status is then 0, or "
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
	.groups = groups,
	.size = sizeof(Options),
	.run = run,
	.is_wrapper = true,
};
