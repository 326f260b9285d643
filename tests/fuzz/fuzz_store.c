/* SPDX-License-Identifier: MIT */
/* Any bytes as a profile file: profile and run are read whole or refused. What was read is walked
 * by the analyses of lines, calls and parts. */
#include "analyses/calls/flame_tree.h"
#include "analyses/calls/function_families.h"
#include "analyses/diagnoses/diagnose.h"
#include "analyses/parts/part_choice.h"
#include "analyses/parts/program_shares.h"
#include "fuzz_target.h"
#include "model/findings.h"
#include "model/lines/own_lines.h"
#include "model/mining_run.h"
#include "model/observed/windows.h"
#include "model/profile.h"
#include "store/profile_store.h"

#include <fcntl.h>
#include <stdlib.h>

static char path[64];

static void remove_file(void)
{
	unlink(path);
}

/* SQLite follows links to the end, so that a file in memory, which has no name, will not do. */
static const char *named_file(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0) {
		const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
		g_snprintf(path, sizeof(path), "%s/lode-fuzz-XXXXXX", folder);
		fd = mkostemp(path, O_CLOEXEC);
		atexit(remove_file);
	}
	if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		g_error("no temporary file");
	return path;
}

static void walk_lines(const LodeProfile *profile)
{
	g_autoptr(LodeOwnLines) own = lode_own_lines_new(profile, NULL);

	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		g_array_unref(lode_own_lines_chain(own, i));
}

static void walk_calls(const LodeProfile *profile)
{
	g_autoptr(LodeFunctionCosts)
		costs = lode_function_costs_new(profile, profile->code.weight_event);
	g_autoptr(LodeFamilies) families = lode_families_new();
	g_autofree bool *is_marked = g_new0(bool, costs->functions->len + 1);
	g_autofree uint32_t *of = NULL;
	g_auto(LodeNeighbours) found = {0};

	is_marked[0] = true;
	lode_neighbours_init(&found, costs, is_marked, false);
	g_array_unref(lode_families_costs(families, costs, &of));
}

static void walk_windows(const LodeProfile *profile)
{
	for (uint32_t i = 0; profile->windows != NULL && i < profile->code.instructions->len; i++) {
		lode_windows_find(profile->windows, i);
		lode_windows_outcomes(profile->windows, i);
		lode_windows_find_edge(profile->windows, i, i);
	}
}

/* The profile is the part's then. */
static void walk_samples(LodeProfile *profile)
{
	const char *const threads[] = {"p*", NULL};
	const LodePartChoice of_threads = {.threads = threads},
			     of_time = {.time = "..10ns", .where = "line > 1 || !has(function)"};
	uint32_t event;

	if (profile->stacks == NULL)
		return;
	event = lode_program_shares_event(profile);
	for (int i = 0; i < 2; i++)
		lode_flame_tree_unref(lode_flame_tree_new(profile->stacks, event, i > 0, NULL));
	for (LodeProgramsBy by = 0; by <= LODE_PROGRAMS_BY_THREAD; by++)
		g_array_unref(lode_program_shares_new(profile, by, NULL));
	lode_part_choice_apply(profile, &of_threads, NULL, NULL);
	lode_part_choice_apply(profile, &of_time, NULL, NULL);
	walk_calls(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *file = named_file(data, size);
	g_autoptr(GError) error = NULL;
	g_autoptr(GError) run_error = NULL;
	g_autoptr(LodeProfile)
		profile = lode_profile_store_read_with_memory_and_stacks(file, NULL, &error);
	g_autoptr(LodeMiningRun) run = lode_profile_store_read_run(file, NULL, &run_error);

	if ((profile == NULL) == (error == NULL) || (run == NULL) == (run_error == NULL))
		g_error("a result and an error");
	/* The sequences must be readable to the last item. */
	for (guint i = 0; run != NULL && i < run->sequences->len; i++)
		g_free(lode_mining_run_sequence_text(run, i));
	for (guint i = 0; run != NULL && run->findings != NULL && i < run->findings->findings->len;
		i++)
		g_free(lode_finding_text(run->findings, lode_findings_at(run->findings, i)));
	if (profile != NULL) {
		walk_lines(profile);
		walk_calls(profile);
		walk_windows(profile);
		lode_diagnoses_free(lode_diagnose(profile, run != NULL ? run->findings : NULL,
			profile->code.weight_event, NULL));
		walk_samples(profile);
	}
	return 0;
}
