/* SPDX-License-Identifier: MIT */
/* lode place: a placement of threads and pages, made of a profile. */
#include "analyses/memory/placement_proposal.h"
#include "cli/option_parser.h"
#include "cli/output_file.h"
#include "cli/terminal_progress.h"
#include "sources/placement_file.h"
#include "store/profile_store.h"
#include "views/placement_summary.h"

static struct {
	char *output, *policy, *threads_per_memory, *topology, *event, *pid, *format;
} given;

static const GOptionEntry options[] = {
	{"output", 'o', 0, G_OPTION_ARG_FILENAME, &given.output,
		"write the placement to this file (default: only show its expected effect)",
		"FILE"},
	{"policy", 0, 0, G_OPTION_ARG_STRING, &given.policy,
		"majority: each page on the memory with most of its accesses (the default); "
		"first-touch, round-robin, interleave: naive placements",
		"POLICY"},
	{"threads-per-memory", 0, 0, G_OPTION_ARG_STRING, &given.threads_per_memory,
		"at most N threads on each memory (default: 2, or more in proportion to its "
		"processors); on a machine with one memory this also sets the number of "
		"memories to plan for",
		"N"},
	{"topology", 0, 0, G_OPTION_ARG_STRING, &given.topology,
		"plan for this machine: a description such as \"numa:4 core:8 pu:1\", or an XML "
		"file of lstopo (default: this machine)",
		"MACHINE"},
	{"event", 'e', 0, G_OPTION_ARG_STRING, &given.event,
		"use the samples of this event (default: the event with most addresses)", "EVENT"},
	{"pid", 'p', 0, G_OPTION_ARG_STRING, &given.pid,
		"the process to place, of several (default: the one with most accesses)", "PID"},
	{"format", 0, 0, G_OPTION_ARG_STRING, &given.format, "output format (default: text)",
		"text|json|csv"},
	G_OPTION_ENTRY_NULL,
};

static bool read_options(
	LodePlacementProposalOptions *wanted, LodePlacementSummaryOptions *summary, GError **error)
{
	uint64_t threads = 0, pid = 0;
	int policy = given.policy != NULL ? lode_placement_policy_from_text(given.policy)
	                                  : LODE_PLACEMENT_MAJORITY;

	if (!lode_option_count("--threads-per-memory", given.threads_per_memory,
		    LODE_PLACEMENT_MAX_THREADS, &threads, error) ||
		!lode_option_count("--pid", given.pid, G_MAXINT32, &pid, error))
		return false;
	if (policy < 0)
		return lode_option_refuse(error,
			"--policy: '%s' is not majority, first-touch, round-robin or interleave",
			given.policy);
	if (!lode_option_format(given.format, &summary->format, error))
		return false;
	wanted->event = given.event;
	wanted->pid = (uint32_t)pid;
	wanted->policy = (LodePlacementPolicy)policy;
	wanted->threads_per_memory = (uint32_t)threads;
	return true;
}

static bool write_file(
	const LodeProfile *profile, const LodePlacementProposal *proposal, GError **error)
{
	g_autofree char *comment = lode_placement_summary_comment(profile, proposal);
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(LodeOutputFile) output = lode_output_file_open(given.output, error);

	if (output == NULL)
		return false;
	lode_placement_file_append(proposal->placement, comment, text);
	fwrite(text->str, 1, text->len, lode_output_file_stream(output));
	return lode_output_file_commit(output, error);
}

static bool place(const LodeProfile *profile, LodePlacementProposalOptions *wanted,
	const LodePlacementSummaryOptions *summary, GError **error)
{
	g_autoptr(LodeTopology) topology = lode_topology_read(given.topology, error);

	if (topology == NULL)
		return false;
	bool is_even = given.topology == NULL && topology->nodes->len == 1 &&
	               wanted->threads_per_memory > 0;
	wanted->topology = is_even ? NULL : topology;
	g_autoptr(LodePlacementProposal)
		proposal = lode_placement_proposal_new(profile, wanted, error);
	if (proposal == NULL || (given.output != NULL && !write_file(profile, proposal, error)))
		return false;
	return lode_placement_summary_write(profile, proposal, summary, stdout, error);
}

static int run(char **arguments, GError **error)
{
	LodePlacementProposalOptions proposal = {0};
	LodePlacementSummaryOptions summary = {
		.terminal = lode_terminal_of(stdout),
		.output_path = given.output,
	};

	if (!lode_options_take_one(arguments, "PROFILE.lode", error) ||
		!read_options(&proposal, &summary, error))
		return LODE_EXIT_USAGE;
	summary.profile_path = arguments[0];
	g_auto(LodeTerminalProgress) screen;
	lode_terminal_progress_init(&screen);
	g_autoptr(LodeProfile) profile = lode_profile_store_read_with_memory(
		arguments[0], &screen.progress, error);
	if (profile == NULL)
		return LODE_EXIT_FAILED;
	lode_terminal_progress_hide(&screen);
	return place(profile, &proposal, &summary, error) ? LODE_EXIT_OK : LODE_EXIT_FAILED;
}

const LodeVerb lode_verb_place = {
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
	.old_options = options,
	.old_run = run,
};
