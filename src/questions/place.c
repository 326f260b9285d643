/* SPDX-License-Identifier: MIT */
/* A placement of threads and pages, and its expected effect. */
#include "analyses/memory/placement/placement_proposal.h"
#include "base/error.h"
#include "questions/parts/rows.h"
#include "questions/questions.h"
#include "sources/placement_file.h"
#include "views/placement/placement_views.h"

typedef struct {
	LodePlacementProposalOptions proposal;
	LodePlacementSummaryOptions view;
	const char *machine;
} Options;

static const LodeParameter rows[] = {
	{"output", 'o', LODE_OUTPUT(Options, view.output_path, OTHER), .value = "FILE",
		.audience = LODE_PARAMETER_FOR_TERMINAL,
		.summary = "write the placement to this file (default: only show its expected "
			   "effect)"},
	{"policy", LODE_WORD(Options, proposal.policy),
		.value = "majority|first-touch|round-robin|interleave",
		.read = lode_placement_policy_from_text,
		.summary = "majority: each page on the memory with most of its accesses (the "
			   "default); first-touch, round-robin, interleave: naive placements"},
	{"threads-per-memory", LODE_COUNT(Options, proposal.threads_per_memory),
		.most = LODE_PLACEMENT_MAX_THREADS, .value = "N",
		.summary =
			"at most N threads on each memory (default: 2, or more in proportion to "
			"its processors); on a machine with one memory this also sets the number "
			"of memories to plan for"},
	{"topology", LODE_TEXT(Options, machine), .value = "MACHINE",
		.summary = "plan for this machine: a description such as \"numa:4 core:8 pu:1\", "
			   "or an XML file of lstopo (default: this machine)"},
	{"event", 'e', LODE_TEXT(Options, proposal.event), .value = "EVENT",
		.summary =
			"use the samples of this event (default: the event with most addresses)"},
	{"pid", 'p', LODE_COUNT(Options, proposal.pid), .most = G_MAXINT32, .value = "PID",
		.summary =
			"the process to place, of several (default: the one with most accesses)"},
	LODE_FORMAT_ROW(Options, view.format),
	{NULL},
};

static const LodeParameterGroup groups[] = {{"Options", rows, 0}, {NULL}};

/* A machine in words, as "numa:4 core:8 pu:1": an address of the page never names a file. */
static bool check_machine(const LodeAsking *asking, const char *machine, GError **error)
{
	if (!asking->is_page || machine == NULL ||
		g_regex_match_simple(
			"^[a-z0-9]{1,16}:[0-9]{1,4}( [a-z0-9]{1,16}:[0-9]{1,4}){0,7}\\z", machine,
			0, 0))
		return true;
	return lode_parameter_refuse(
		error, "--topology: '%s' is not a machine such as \"numa:4 core:8 pu:1\"", machine);
}

typedef struct {
	const LodeProfile *profile;
	const LodePlacementProposal *proposal;
} Placed;

static bool write_file(const void *what, FILE *out, GError **error)
{
	const Placed *self = what;
	g_autofree char *comment = lode_placement_summary_comment(self->profile, self->proposal);
	g_autoptr(GString) text = g_string_new(NULL);

	(void)error;
	lode_placement_file_append(self->proposal->placement, comment, text);
	fwrite(text->str, 1, text->len, out);
	return true;
}

static bool answer(LodeAsking *asking, void *options, GError **error)
{
	const LodeProfileChoice choice = {.has_memory = true};
	Options *self = options;

	if (!check_machine(asking, self->machine, error))
		return false;
	const LodeProfile *profile = lode_asking_memory(asking, &choice, error);
	g_autoptr(LodeTopology)
		topology = profile != NULL ? lode_topology_read(self->machine, error) : NULL;
	if (topology == NULL)
		return false;
	/* A machine with one memory gets a plan for as many memories as the threads need. */
	bool is_even = self->machine == NULL && topology->nodes->len == 1 &&
	               self->proposal.threads_per_memory > 0;
	self->proposal.topology = is_even ? NULL : topology;
	self->proposal.progress = asking->progress;
	g_autoptr(LodePlacementProposal)
		proposal = lode_placement_proposal_new(profile, &self->proposal, error);
	if (proposal == NULL)
		return false;
	const Placed placed = {profile, proposal};
	if (self->view.output_path != NULL &&
		!lode_asking_write_file(self->view.output_path, write_file, &placed, error))
		return false;
	FILE *out = lode_asking_begin(asking, NULL, error);
	if (out == NULL)
		return false;
	self->view.terminal = asking->terminal;
	self->view.profile_path = asking->is_page ? NULL : asking->paths[0];
	return lode_placement_summary_write(profile, proposal, &self->view, out, error) &&
	       lode_asking_end(asking, error);
}

const LodeVerb lode_question_place = {
	.name = "place",
	.arguments = "PROFILE.lode",
	.summary = "plan which thread and which page goes to which memory",
	.description =
		"On a machine with several memories (NUMA nodes) an access is faster when the "
		"thread and the page are on the same one. Threads that share pages are put on "
		"one memory, each page on the memory with most of its accesses, and pages that "
		"all threads use equally are interleaved. The share of sampled accesses that "
		"become local is shown for this placement, for no placement, and for naive "
		"placements.\n"
		"\n"
		"The file has the syntax of IRIX dplace(5); 'lode place apply' runs a program "
		"with it.\n"
		"\n"
		"Examples:\n"
		"  lode place x.lode -o x.place\n"
		"  lode place x.lode --topology \"numa:4 core:8 pu:1\"\n"
		"  lode place x.lode --threads-per-memory 2 -o x.place",
	.groups = groups,
	.size = sizeof(Options),
	.answer = answer,
};
