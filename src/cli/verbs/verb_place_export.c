/* SPDX-License-Identifier: MIT */
/* lode place export: writes a placement in the formats of other tools. */
#include "base/error.h"
#include "base/files/output_file.h"
#include "cli/verb.h"
#include "sources/placement_file.h"
#include "views/placement/placement_views.h"

typedef struct {
	const char *form, *output, *topology;
} Options;

static const LodeParameter rows[] = {
	{"as", LODE_TEXT(Options, form), .value = "numactl|hwloc|c",
		.summary = "numactl: a script that runs a program; hwloc: a script that binds the "
			   "threads of a running process; c: source code for the program itself"},
	{"output", 'o', LODE_OUTPUT(Options, output, OTHER), .value = "FILE",
		.summary = "the file to write (default: standard output)"},
	{"topology", LODE_TEXT(Options, topology), .value = "MACHINE",
		.summary = "the machine to write it for (default: this machine, or one with as "
			   "many memories as the placement has)"},
	{NULL},
};

static const LodeParameterGroup groups[] = {{"Options", rows, 0}, {NULL}};

/* A placement made for another machine can still be exported: memory m is node m then. */
static LodeTopology *read_topology(
	const LodePlacement *placement, const char *machine, GError **error)
{
	LodeTopology *topology = lode_topology_read(machine, error);

	if (topology == NULL || machine != NULL || topology->nodes->len >= placement->n_memories)
		return topology;
	lode_topology_free(topology);
	return lode_topology_new_even(placement->n_memories, 1);
}

static int run(void *options, char **arguments, GError **error)
{
	const Options *given = options;

	if (!lode_parameter_take_one(arguments, "placement", "x.placement", error))
		return LODE_EXIT_USAGE;
	if (given->form == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--as is missing: numactl, hwloc or c");
		return LODE_EXIT_USAGE;
	}
	g_autoptr(LodePlacement) placement = lode_placement_file_read(arguments[0], NULL, error);
	g_autoptr(LodeTopology)
		topology = placement != NULL ? read_topology(placement, given->topology, error)
	                                     : NULL;
	g_autoptr(LodeOutputFile)
		output = topology != NULL ? lode_output_file_open(given->output, error) : NULL;
	if (output == NULL ||
		!lode_placement_export(
			placement, topology, given->form, lode_output_file_stream(output), error) ||
		!lode_output_file_commit(output, error))
		return LODE_EXIT_FAILED;
	return LODE_EXIT_OK;
}

const LodeVerb lode_verb_place_export = {
	.name = "place export",
	.arguments = "FILE",
	.summary = "write a placement for other tools",
	.description = "Parts that the other tool cannot express are written as comments.\n"
		       "\n"
		       "Examples:\n"
		       "  lode place export x.place --as numactl >run.sh\n"
		       "  lode place export x.place --as c -o placement.c",
	.groups = groups,
	.size = sizeof(Options),
	.run = run,
};
