/* SPDX-License-Identifier: MIT */
/* lode record: samples a program into a perf.data file. */
#include "base/error.h"
#include "cli/interrupt.h"
#include "cli/live_page.h"
#include "cli/sampler_options.h"
#include "cli/verb.h"
#include "cli/wrapped_program.h"
#include "views/display_text.h"
#include "views/sampling_summary.h"
#include "views/shell_word.h"

#include <stdio.h>

static LodeSamplerOptions given;

static void tell(const LodePerfSampling *sampled, const char *output)
{
	g_autofree char *path = lode_shell_word(output);

	if (sampled->note != NULL)
		lode_display_line(stderr, "lode record: %s", sampled->note);
	lode_sampling_summary_write(sampled, "record", output, stderr);
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
	else if (failed->code == LODE_ERROR_UNSUPPORTED && sampler->has_branch_stacks)
		lode_wrapped_program_advise(failed, "'lode run --exact' counts every branch");
}

static int run(char **arguments, GError **error)
{
	LodePerfSamplerOptions *sampler = &given.sampler;
	g_auto(GStrv) command = lode_wrapped_program_own_command(arguments);
	bool is_refused = false;

	if (!lode_sampler_options_read(arguments, &given, error))
		return LODE_EXIT_USAGE;
	sampler->command = (const char *const *)command;
	sampler->is_refused = &is_refused;
	/* Signals that come when the recording is done must not end us before we say so. */
	lode_interrupt_cancellable();
	g_autoptr(LodeLivePage) page = NULL;
	if (given.serves) {
		const LodeLivePageOptions page_options = {
			.verb = "record",
			.feed = {.program = given.program,
				.recording = sampler->output,
				.start_stopped = sampler->start_stopped},
		};
		page = lode_live_page_open(&page_options, error);
		if (page == NULL)
			return LODE_EXIT_FAILED;
		sampler->observer = lode_live_page_observer(page);
	}
	g_autoptr(LodePerfSampling) sampled = lode_perf_sampler_run(sampler, NULL, error);
	if (page != NULL)
		lode_live_page_end(page);
	if (sampled == NULL) {
		advise(sampler, *error);
		return LODE_EXIT_FAILED;
	}
	tell(sampled, sampler->output);
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
	.old_options = lode_sampler_options,
	.old_run = run,
	.is_wrapper = true,
};
