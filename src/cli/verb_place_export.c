/* SPDX-License-Identifier: MIT */
/* lode place export: a placement in the words of other tools. */
#include "base/error.h"
#include "cli/option_parser.h"
#include "cli/output_file.h"
#include "sources/placement_file.h"
#include "views/placement_export.h"

static struct {
	char *form, *output, *topology;
} given;

static const GOptionEntry options[] = {
	{"as", 0, 0, G_OPTION_ARG_STRING, &given.form,
		"numactl: a script that runs a program; hwloc: a script that binds the threads "
		"of a running process; c: source code for the program itself",
		"numactl|hwloc|c"},
	{"output", 'o', 0, G_OPTION_ARG_FILENAME, &given.output,
		"the file to write (default: standard output)", "FILE"},
	{"topology", 0, 0, G_OPTION_ARG_STRING, &given.topology,
		"the machine to write it for (default: this machine, or one with as many "
		"memories as the placement has)",
		"MACHINE"},
	G_OPTION_ENTRY_NULL,
};

/* A placement made for another machine can still be exported: memory m is node m then. */
static LodeTopology *read_topology(const LodePlacement *placement, GError **error)
{
	LodeTopology *topology = lode_topology_read(given.topology, error);

	if (topology == NULL || given.topology != NULL ||
		topology->nodes->len >= placement->n_memories)
		return topology;
	lode_topology_free(topology);
	return lode_topology_new_even(placement->n_memories, 1);
}

static int run(char **arguments, GError **error)
{
	if (!lode_options_take_one(arguments, "FILE", error))
		return LODE_EXIT_USAGE;
	if (given.form == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--as is missing: numactl, hwloc or c");
		return LODE_EXIT_USAGE;
	}
	g_autoptr(LodePlacement) placement = lode_placement_file_read(arguments[0], NULL, error);
	g_autoptr(LodeTopology) topology = placement != NULL ? read_topology(placement, error)
	                                                     : NULL;
	g_autoptr(LodeOutputFile)
		output = topology != NULL ? lode_output_file_open(given.output, error) : NULL;
	if (output == NULL ||
		!lode_placement_export(
			placement, topology, given.form, lode_output_file_stream(output), error) ||
		!lode_output_file_commit(output, error))
		return LODE_EXIT_FAILED;
	return LODE_EXIT_OK;
}

const LodeVerb lode_verb_place_export = {
	.name = "place export",
	.arguments = "FILE",
	.summary = "write a placement for other tools",
	.description = "What the other tool cannot express is written as a comment.\n"
		       "\n"
		       "Examples:\n"
		       "  lode place export x.place --as numactl >run.sh\n"
		       "  lode place export x.place --as c -o placement.c",
	.options = options,
	.run = run,
};
