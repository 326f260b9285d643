/* SPDX-License-Identifier: MIT */
/*
 * trace_truth: steps a program and says how often the library's data addresses are true.
 *
 *   trace_truth [OPTION…] -- PROGRAM ARGUMENT…
 *
 * Exit status: 0 all that was claimed is true, 1 some is wrong, 2 the program could not be stepped.
 */
#include "witness.h"

#include <locale.h>
#include <string.h>

static struct {
	gint64 skip, steps, every, calls, stack;
	gboolean is_main_only, has_bases, has_no_header;
	char *from, *name, *format;
} given = {.every = 1, .stack = 256};

static const GOptionEntry entries[] = {
	{"from", 0, 0, G_OPTION_ARG_STRING, &given.from,
		"begin at this function, or at the program's entry ('entry')", "FUNCTION"},
	{"calls", 0, 0, G_OPTION_ARG_INT64, &given.calls,
		"and then after so many system calls of its first thread", "N"},
	{"skip", 0, 0, G_OPTION_ARG_INT64, &given.skip, "first steps that are not asked about",
		"N"},
	{"steps", 0, 0, G_OPTION_ARG_INT64, &given.steps, "steps after these (default: all)", "N"},
	{"every", 0, 0, G_OPTION_ARG_INT64, &given.every, "ask at each N-th step", "N"},
	{"main-only", 0, 0, G_OPTION_ARG_NONE, &given.is_main_only,
		"other threads run freely, unseen", NULL},
	{"stack", 0, 0, G_OPTION_ARG_INT64, &given.stack,
		"tell the rules so much of the stack (default: 256; at most 4096)", "BYTES"},
	{"thread-bases", 0, 0, G_OPTION_ARG_NONE, &given.has_bases,
		"tell the rules fs and gs, which samples do not have", NULL},
	{"name", 0, 0, G_OPTION_ARG_STRING, &given.name, "the program's in the table", "NAME"},
	{"format", 0, 0, G_OPTION_ARG_STRING, &given.format, "text (default) or csv", "FORMAT"},
	{"no-header", 0, 0, G_OPTION_ARG_NONE, &given.has_no_header, "of CSV", NULL},
	G_OPTION_ENTRY_NULL,
};

static uint64_t find_function(void *user, const char *path, const char *function)
{
	return image_set_function(&((Witness *)user)->images, path, function);
}

/* Steps run by turns of this many in programs with threads: they meet in many places. */
enum { QUANTUM = 50 };

static bool run(Witness *witness, char **argv, GError **error)
{
	const SteppedProgramWatcher watcher = witness_watcher(witness);
	const SteppedProgramOptions options = {
		.argv = argv,
		.from = given.from,
		.n_calls = (uint64_t)given.calls,
		.is_main_only = given.is_main_only,
		.quantum = QUANTUM,
		.find = find_function,
		.watcher = &watcher,
	};

	return stepped_program_run(&options, &witness->mappings, error);
}

static int report(const Witness *witness, const char *program)
{
	const TruthTable *table = &witness->table;

	if (g_strcmp0(given.format, "csv") == 0)
		truth_table_write_csv(table, program, !given.has_no_header, stdout);
	else
		truth_table_write_text(table, program, stdout);
	for (TruthRow row = 0; g_strcmp0(given.format, "csv") == 0 && row < TRUTH_N_ROWS; row++)
		fputs(table->shown[row]->str, stderr);
	return truth_table_is_right(table) ? 0 : 1;
}

static int fail(const GError *error)
{
	fprintf(stderr, "trace_truth: %s\n", error != NULL ? error->message : "no program");
	return 2;
}

int main(int argc, char **argv)
{
	g_autoptr(GOptionContext) context = g_option_context_new("-- PROGRAM ARGUMENT…");
	g_autoptr(GError) error = NULL;
	Witness witness;
	int status;

	setlocale(LC_ALL, "C.UTF-8");
	g_option_context_add_main_entries(context, entries, NULL);
	g_option_context_set_strict_posix(context, TRUE);
	if (!g_option_context_parse(context, &argc, &argv, &error))
		return fail(error);
	if (argc > 1 && strcmp(argv[1], "--") == 0)
		argv++, argc--;
	if (argc < 2 || given.every < 1 || given.skip < 0 || given.steps < 0 || given.calls < 0 ||
		given.stack < 0 || given.stack > WITNESS_MAX_STACK)
		return fail(NULL);
	witness_init(
		&witness, &(WitnessOptions){(uint64_t)given.skip, (uint64_t)given.steps,
				  (uint64_t)given.every, (size_t)given.stack, given.has_bases});
	status = run(&witness, argv + 1, &error)
	                 ? report(&witness, given.name != NULL ? given.name : argv[1])
	                 : fail(error);
	witness_clear(&witness);
	return status;
}
