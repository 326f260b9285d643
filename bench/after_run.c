/* SPDX-License-Identifier: MIT */
/*
 * What a user waits for after `lode run`: a perf.data is imported, stored, its findings fitted and
 * stored, and reported, as by that command. Prints the elapsed and the processor seconds of each
 * stage; their ratio is the number of threads that were busy, on an idle machine.
 *
 *   after_run PERF_DATA [THREADS]    default: all processors
 */
#include "analyses/findings/findings.h"
#include "ingest/import.h"
#include "model/mining_run.h"
#include "model/profile.h"
#include "store/profile_store.h"
#include "views/findings/report.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
	const char *stage;
	double wall_s, cpu_s; /* when it began */
	double first_wall_s, first_cpu_s;
} Stages;

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void print_row(const char *name, double wall_s, double cpu_s)
{
	printf("%-36s %8.3f %8.3f %6.2f\n", name, wall_s, cpu_s, cpu_s / wall_s);
}

static void begin(Stages *self, const char *stage)
{
	double wall_s = seconds(CLOCK_MONOTONIC), cpu_s = seconds(CLOCK_PROCESS_CPUTIME_ID);

	if (self->stage != NULL && strcmp(self->stage, stage) == 0)
		return;
	if (self->stage == NULL) {
		self->first_wall_s = wall_s;
		self->first_cpu_s = cpu_s;
	} else {
		print_row(self->stage, wall_s - self->wall_s, cpu_s - self->cpu_s);
	}
	self->stage = stage;
	self->wall_s = wall_s;
	self->cpu_s = cpu_s;
}

static void report_stage(
	const char *stage, double done, double total, const char *detail, void *user_data)
{
	(void)done;
	(void)total;
	(void)detail;
	if (stage != NULL)
		begin(user_data, stage);
}

static bool run(
	const char *path, unsigned threads, const char *stored, Stages *stages, GError **error)
{
	const LodeProgress progress = {.report = report_stage, .user_data = stages};
	const LodeImportOptions options = {.paths = &path, .n_paths = 1, .threads = threads};
	LodeMiningParameters parameters;
	LodeReportOptions report_options;

	lode_mining_parameters_init(&parameters);
	parameters.threads = threads;
	parameters.only_findings = true;
	begin(stages, "reading recordings");
	g_autoptr(LodeProfile) profile = lode_import(&options, &progress, error);
	if (profile == NULL)
		return false;
	begin(stages, "writing the profile");
	if (!lode_profile_store_write(stored, profile, NULL, error))
		return false;
	g_autoptr(LodeMiningRun) mined = lode_mining_run_new("main", &parameters);
	mined->findings = lode_findings_fit(profile, &parameters, &progress, error);
	if (mined->findings == NULL)
		return false;
	begin(stages, "writing the findings");
	if (!lode_profile_store_add_run(stored, profile, mined, NULL, error))
		return false;
	begin(stages, "reporting");
	g_autofree char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	lode_report_options_init(&report_options);
	bool is_written = lode_report_write(profile, mined, &report_options, NULL, out, error);
	fclose(out);
	begin(stages, "end");
	return is_written;
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	Stages stages = {0};

	if (argc < 2) {
		fprintf(stderr, "usage: after_run PERF_DATA [THREADS]\n");
		return 2;
	}
	g_autofree char *directory = g_dir_make_tmp("after_run_XXXXXX", &error);
	if (directory == NULL) {
		fprintf(stderr, "after_run: %s\n", error->message);
		return 1;
	}
	g_autofree char *stored = g_build_filename(directory, "profile.lode", NULL);
	unsigned threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
	printf("%-36s %8s %8s %6s\n", "", "wall s", "CPU s", "busy");
	bool is_done = run(argv[1], threads, stored, &stages, &error);
	g_remove(stored);
	g_rmdir(directory);
	if (!is_done) {
		fprintf(stderr, "after_run: %s\n", error->message);
		return 1;
	}
	print_row("all", stages.wall_s - stages.first_wall_s, stages.cpu_s - stages.first_cpu_s);
	return 0;
}
