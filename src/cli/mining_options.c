/* SPDX-License-Identifier: MIT */
#include "cli/mining_options.h"

#include "analyses/findings/findings.h"
#include "analyses/flow_graph/flow_graph.h"
#include "analyses/mine/miner.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/number_format.h"
#include "cli/mpi_ranks.h"
#include "cli/option_parser.h"
#include "questions/mining.h"
#include "store/profile_store.h"
#include "views/display_text.h"

#include <string.h>
#include <time.h>

static struct {
	char *name, *weight, *attributes, **exclude, *images, *functions, *granularity, *event_rate;
	char *min_support, *min_differential, *min_functions, *top, *max_sequences;
	char *gap, *window, *iterations, *flow;
	char *min_count, *max_length;
	char *threads, *memory;
	char *joined_exclude; /* not an option: what the parameters borrow */
	gboolean is_instruction_mode, across_calls, only_closed, only_maximal;
} given;

static const GOptionEntry thresholds[] = {
	{"min-support", 0, 0, G_OPTION_ARG_STRING, &given.min_support,
		"report sequences with at least this weight or frequency, such as 0.5% or "
		"0.005 (default: 1%, or the share of ten samples if that is more)",
		"SHARE"},
	{"min-differential", 0, 0, G_OPTION_ARG_STRING, &given.min_differential,
		"also report sequences whose weight and frequency differ by at least this much "
		"(default: off)",
		"SHARE"},
	{"min-functions", 0, 0, G_OPTION_ARG_STRING, &given.min_functions,
		"report only sequences that occur in at least N functions (default: 1)", "N"},
	{"top", 0, 0, G_OPTION_ARG_STRING, &given.top,
		"use the highest --min-support that gives at least N sequences", "N"},
	{"max-sequences", 0, 0, G_OPTION_ARG_STRING, &given.max_sequences,
		"stop after more than N sequences and mark the run as incomplete (default: "
		"1000000)",
		"N"},
	{"closed", 0, 0, G_OPTION_ARG_NONE, &given.only_closed,
		"leave out sequences that are part of a longer one with the same supports", NULL},
	{"maximal", 0, 0, G_OPTION_ARG_NONE, &given.only_maximal,
		"leave out sequences that are part of a longer reported one", NULL},
	G_OPTION_ENTRY_NULL,
};

static const GOptionEntry shape[] = {
	{"gap", 0, 0, G_OPTION_ARG_STRING, &given.gap,
		"at most N other instructions between two elements (default: 0)", "N"},
	{"window", 0, 0, G_OPTION_ARG_STRING, &given.window,
		"the attributes of an element may come from N + 1 instructions in a row "
		"(default: 0)",
		"N"},
	{"iterations", 0, 0, G_OPTION_ARG_STRING, &given.iterations,
		"maximum number of attributes in a sequence (default: 5)", "N"},
	{"flow", 0, 0, G_OPTION_ARG_STRING, &given.flow,
		"how the executions of a path are computed from those of its edges (default: "
		"potential)",
		"potential|expected|definite"},
	G_OPTION_ENTRY_NULL,
};

static const GOptionEntry graph[] = {
	{"weight", 0, 0, G_OPTION_ARG_STRING, &given.weight,
		"the event that measures cost (default: the profile's, see 'lode info')", "EVENT"},
	{"granularity", 0, 0, G_OPTION_ARG_STRING, &given.granularity,
		"what a vertex of the graph is (default: instruction)",
		"instruction|block|function"},
	{"across-calls", 0, 0, G_OPTION_ARG_NONE, &given.across_calls,
		"follow calls into the callee and back", NULL},
	{"attributes", 0, 0, G_OPTION_ARG_STRING, &given.attributes,
		"the namespaces to use, separated by commas (default: "
		"op,kind,mem,ev,at,loop,obj,needs,address,chain,user; all of them for a flow "
		"file)",
		"LIST"},
	{"exclude", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given.exclude,
		"ignore attributes that match, such as 'op:mov*'; may be repeated", "GLOB"},
	{"event-rate", 0, 0, G_OPTION_ARG_STRING, &given.event_rate,
		"an instruction gets ev:EVENT from this many events per execution (default: "
		"0.01)",
		"RATE"},
	{"images", 0, 0, G_OPTION_ARG_STRING, &given.images,
		"mine only images whose path matches; totals are still those of the whole "
		"profile",
		"REGEX"},
	{"functions", 0, 0, G_OPTION_ARG_STRING, &given.functions,
		"mine only functions whose name matches; totals are still those of the whole "
		"profile",
		"REGEX"},
	G_OPTION_ENTRY_NULL,
};

static const GOptionEntry instructions[] = {
	{"instructions", 0, 0, G_OPTION_ARG_NONE, &given.is_instruction_mode,
		"count sequences of opcodes along the static control flow instead", NULL},
	{"min-count", 0, 0, G_OPTION_ARG_STRING, &given.min_count,
		"with --instructions: report sequences that occur more than N times", "N"},
	{"max-length", 0, 0, G_OPTION_ARG_STRING, &given.max_length,
		"with --instructions: at most N instructions (default: 5)", "N"},
	G_OPTION_ENTRY_NULL,
};

static const GOptionEntry work[] = {
	{"name", 0, 0, G_OPTION_ARG_STRING, &given.name,
		"the name of the run; a run of the same name is replaced (default: main)", "RUN"},
	{"threads", 0, 0, G_OPTION_ARG_STRING, &given.threads,
		"the number of threads; the result does not depend on it (default: all processors)",
		"N"},
	{"memory", 0, 0, G_OPTION_ARG_STRING, &given.memory,
		"memory limit, such as 4G (default: half of the machine's memory, or of what "
		"RLIMIT_AS leaves)",
		"SIZE"},
	G_OPTION_ENTRY_NULL,
};

const LodeOptionGroup lode_mining_groups[] = {
	{"What is reported", thresholds},
	{"What a sequence is", shape},
	{"What is mined", graph},
	{"Instruction sequences", instructions},
	{"The run", work},
	{NULL, NULL},
};

static bool read_count(const char *option, const char *text, uint32_t *out_value, GError **error)
{
	uint64_t value = *out_value;

	if (!lode_option_count(option, text, UINT32_MAX, &value, error))
		return false;
	*out_value = (uint32_t)value;
	return true;
}

static bool read_numbers(LodeMiningParameters *self, GError **error)
{
	uint32_t threads = 0;

	if (!lode_option_share("--min-support", given.min_support, &self->min_support, error) ||
		!lode_option_share("--min-differential", given.min_differential,
			&self->min_differential, error) ||
		!read_count("--min-functions", given.min_functions, &self->min_functions, error) ||
		!read_count("--top", given.top, &self->top, error) ||
		!lode_option_count("--max-sequences", given.max_sequences, UINT64_MAX,
			&self->max_sequences, error) ||
		!read_count("--gap", given.gap, &self->gap, error) ||
		!read_count("--window", given.window, &self->window, error) ||
		!read_count("--iterations", given.iterations, &self->iterations, error) ||
		!read_count("--max-length", given.max_length, &self->iterations, error) ||
		!lode_option_number("--event-rate", given.event_rate, &self->event_rate, error) ||
		!lode_option_number("--min-count", given.min_count, &self->min_count, error) ||
		!read_count("--threads", given.threads, &threads, error) ||
		!lode_option_size("--memory", given.memory, &self->memory_bytes, error))
		return false;
	self->threads = threads;
	return true;
}

static bool read_words(LodeMiningParameters *self, GError **error)
{
	int flow = given.flow != NULL ? lode_flow_model_from_text(given.flow) : LODE_FLOW_POTENTIAL;
	int granularity = given.granularity != NULL ? lode_granularity_from_text(given.granularity)
	                                            : LODE_GRANULARITY_INSTRUCTION;

	if (flow < 0)
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--flow: '%s' is not potential, expected or definite", given.flow);
	else if (granularity < 0)
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--granularity: '%s' is not instruction, block or function",
			given.granularity);
	if (flow < 0 || granularity < 0)
		return false;
	self->flow = (LodeFlowModel)flow;
	self->granularity = (LodeGranularity)granularity;
	return true;
}

/* The first of the options that is given, of those that the mode has no use for; NULL: none. */
static const char *useless_option(void)
{
	const struct {
		const char *option;
		bool is_given, is_of_instruction_mode;
	} options[] = {
		{"--min-count", given.min_count != NULL, true},
		{"--max-length", given.max_length != NULL, true},
		{"--min-support", given.min_support != NULL, false},
		{"--min-differential", given.min_differential != NULL, false},
		{"--min-functions", given.min_functions != NULL, false},
		{"--top", given.top != NULL, false},
		{"--closed", given.only_closed, false},
		{"--maximal", given.only_maximal, false},
		{"--gap", given.gap != NULL, false},
		{"--window", given.window != NULL, false},
		{"--iterations", given.iterations != NULL, false},
		{"--flow", given.flow != NULL, false},
		{"--granularity", given.granularity != NULL, false},
		{"--attributes", given.attributes != NULL, false},
		{"--exclude", given.exclude != NULL, false},
		{"--event-rate", given.event_rate != NULL, false},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(options); i++)
		if (options[i].is_given &&
			options[i].is_of_instruction_mode != given.is_instruction_mode)
			return options[i].option;
	return NULL;
}

bool lode_mining_options_ask_for_sequences(void)
{
	return given.is_instruction_mode || given.min_support != NULL ||
	       given.min_differential != NULL || given.min_functions != NULL || given.top != NULL ||
	       given.max_sequences != NULL || given.only_closed || given.only_maximal ||
	       given.gap != NULL || given.window != NULL || given.iterations != NULL ||
	       given.flow != NULL || given.granularity != NULL || given.across_calls;
}

static bool check_combination(GError **error)
{
	const char *useless = useless_option();

	if (useless != NULL)
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"%s cannot be used %s --instructions", useless,
			given.is_instruction_mode ? "with" : "without");
	else if (given.is_instruction_mode && given.min_count == NULL)
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_USAGE,
			"--instructions needs --min-count N: report what occurs more than N times");
	else if (given.name != NULL && *given.name == '\0')
		g_set_error_literal(
			error, LODE_ERROR, LODE_ERROR_USAGE, "--name: a run needs a name");
	else
		return true;
	return false;
}

bool lode_mining_options_read(LodeMiningParameters *out_parameters, GError **error)
{
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	if (!check_combination(error) || !read_numbers(&parameters, error) ||
		!read_words(&parameters, error))
		return false;
	if (given.attributes != NULL)
		parameters.attributes = given.attributes;
	if (given.exclude != NULL) {
		g_free(given.joined_exclude);
		given.joined_exclude = g_strjoinv(",", given.exclude);
		parameters.exclude = given.joined_exclude;
	}
	parameters.weight = given.weight;
	parameters.images = given.images;
	parameters.functions = given.functions;
	parameters.is_instruction_mode = given.is_instruction_mode;
	parameters.across_calls = given.across_calls;
	parameters.only_closed = given.only_closed;
	parameters.only_maximal = given.only_maximal;
	*out_parameters = parameters;
	return true;
}

LodeMiningRun *lode_mining_options_mine(const LodeProfile *profile,
	const LodeMiningParameters *parameters, const LodeProgress *progress, GError **error)
{
	const char *name = given.name != NULL ? given.name : "main";
	LodeMiningParameters adapted = *parameters;

	if (given.min_support == NULL)
		adapted.min_support = lode_mining_default_support(profile, parameters->weight);
	return lode_mine(profile, &adapted, name, progress, error);
}

/* Whether it is the same graph on all ranks. */
static uint32_t fingerprint_of(const LodeFlowGraph *efg)
{
	uint64_t hash = efg->n_graphs;

	hash = lode_hash_append(hash, efg->n_vertices);
	hash = lode_hash_append(hash, efg->n_edges);
	hash = lode_hash_append(hash, efg->n_attributes);
	hash = lode_hash_append(hash, g_double_hash(&efg->total_count));
	return (uint32_t)lode_hash_append(hash, g_double_hash(&efg->total_weight));
}

LodeMiningRun *lode_mining_options_mine_shared(const LodeProfile *profile,
	const LodeMiningParameters *parameters, LodeRanks *ranks, const LodeProgress *progress,
	GError **error)
{
	const char *name = given.name != NULL ? given.name : "main";
	LodeMiningParameters adapted = *parameters;

	if (given.min_support == NULL)
		adapted.min_support = lode_mining_default_support(profile, parameters->weight);
	g_autoptr(LodeFlowGraph) efg = lode_flow_graph_build(profile, &adapted, error);
	ranks->prepare_seconds = (double)clock() / CLOCKS_PER_SEC;
	if (!lode_mpi_agree(ranks, efg != NULL, efg != NULL ? fingerprint_of(efg) : 0, error))
		return NULL;
	double n_threads = lode_miner_threads(&adapted);
	ranks->sum(ranks, &n_threads, 1);
	ranks->n_threads = (unsigned)n_threads;
	/* The others search meanwhile, and so have more of that. */
	g_autoptr(GError) unfitted = NULL;
	g_autoptr(LodeFindings) findings =
		ranks->rank == 0 ? lode_findings_fit(profile, &adapted, progress, &unfitted) : NULL;
	g_autoptr(LodeMiningRun) run = lode_miner_run_shared(
		efg, &adapted, name, ranks->size > 1 ? ranks : NULL, progress, error);
	if (unfitted != NULL && run != NULL) {
		g_propagate_error(error, g_steal_pointer(&unfitted));
		g_clear_pointer(&run, lode_mining_run_free);
	}
	if (!lode_mpi_agree(ranks, run != NULL, 0, error))
		return NULL;
	run->findings = g_steal_pointer(&findings);
	return g_steal_pointer(&run);
}

void lode_mining_options_write_traffic(const LodeRanks *ranks, FILE *out)
{
	const LodeRankTraffic *traffic = &ranks->traffic;
	g_autofree char *size = g_format_size(traffic->n_bytes);

	lode_display_line(out,
		"%u ranks: %s in %" G_GUINT64_FORMAT
		" sums; they computed %.2f s, rank 0 %.2f s of them in %" G_GUINT64_FORMAT
		" tasks after %.2f s of reading, and it waited %.2f s",
		ranks->size, size, traffic->n_sums, traffic->work_seconds,
		traffic->own_work_seconds, traffic->n_taken, ranks->prepare_seconds,
		traffic->wait_seconds);
}

LodeMiningRun *lode_mining_options_mine_rest(const char *path, const LodeProfile *profile,
	LodeMiningRun *run, const LodeProgress *progress, GError **error)
{
	g_autoptr(GError) unstored = NULL;
	LodeMiningParameters parameters = run->parameters;

	parameters.only_findings = false;
	g_autoptr(LodeMiningRun)
		mined = lode_mine_sequences(profile, &parameters, run->name, progress, error);
	if (mined == NULL)
		return NULL;
	mined->findings = g_steal_pointer(&run->findings);
	if (!lode_profile_store_add_run(path, profile, mined, progress, &unstored))
		lode_display_line(
			stderr, "the mined sequences are not kept: %s", unstored->message);
	return g_steal_pointer(&mined);
}

void lode_mining_options_warn(const LodeMiningRun *run, const char *verb)
{
	char number[LODE_NUMBER_SIZE];

	if (run->findings != NULL && run->findings->least_share > 0)
		lode_display_line(stderr,
			"lode %s: findings are of patterns with at least %s of the samples: those "
			"with less would take too much memory; --functions, --images or "
			"--attributes make the profile smaller",
			verb, lode_number_format_share(run->findings->least_share, number));
}

void lode_mining_options_write_summary(const LodeMiningRun *run, const char *path, FILE *out)
{
	char number[LODE_NUMBER_SIZE];

	lode_display_line(out, "%s sequences in %.2f s, stored as run '%s' of %s%s",
		lode_number_format_count(run->sequences->len, number), run->seconds, run->name,
		path,
		run->is_complete ? ""
				 : "; incomplete: stopped at --max-sequences, raise --min-support");
}
