/* SPDX-License-Identifier: MIT */
#include "cli/options/mining_options.h"

#include "analyses/findings/findings.h"
#include "analyses/flow_graph/flow_graph.h"
#include "analyses/mine/miner.h"
#include "base/arrays/hash.h"
#include "base/text/number_format.h"
#include "cli/mpi_ranks.h"
#include "model/causes.h"
#include "model/code.h"
#include "model/findings.h"
#include "questions/parts/mining.h"
#include "store/profile_store.h"
#include "views/form/display_text.h"

#include <string.h>
#include <time.h>

#define SHAPES_SEQUENCES .given = offsetof(LodeMiningOptions, asks_for_sequences)

const LodeParameter lode_mining_threshold_rows[] = {
	{"min-support", LODE_SHARE(LodeMiningOptions, parameters.min_support), SHAPES_SEQUENCES,
		.value = "SHARE",
		.summary = "report sequences with at least this weight or frequency, such as 0.5% "
			   "or 0.005 (default: 1%, or the share of ten samples if that is more)"},
	{"min-differential", LODE_SHARE(LodeMiningOptions, parameters.min_differential),
		SHAPES_SEQUENCES, .value = "SHARE",
		.summary = "also report sequences whose weight and frequency differ by at least "
			   "this much (default: off)"},
	{"min-functions", LODE_COUNT(LodeMiningOptions, parameters.min_functions), SHAPES_SEQUENCES,
		.value = "N",
		.summary = "report only sequences that occur in at least N functions (default: "
			   "1)"},
	{"top", LODE_COUNT(LodeMiningOptions, parameters.top), SHAPES_SEQUENCES, .value = "N",
		.summary = "use the highest --min-support that gives at least N sequences"},
	{"max-sequences", LODE_COUNT(LodeMiningOptions, parameters.max_sequences), SHAPES_SEQUENCES,
		.value = "N",
		.summary = "stop after more than N sequences and mark the run as incomplete "
			   "(default: 1000000)"},
	{"closed", LODE_FLAG(LodeMiningOptions, parameters.only_closed), SHAPES_SEQUENCES,
		.summary = "leave out sequences that are part of a longer one with the same "
			   "supports"},
	{"maximal", LODE_FLAG(LodeMiningOptions, parameters.only_maximal), SHAPES_SEQUENCES,
		.summary = "leave out sequences that are part of a longer reported one"},
	{NULL},
};

const LodeParameter lode_mining_shape_rows[] = {
	{"gap", LODE_COUNT(LodeMiningOptions, parameters.gap), SHAPES_SEQUENCES, .value = "N",
		.summary = "at most N other instructions between two elements (default: 0)"},
	{"window", LODE_COUNT(LodeMiningOptions, parameters.window), SHAPES_SEQUENCES, .value = "N",
		.summary = "the attributes of an element may come from N + 1 instructions in a "
			   "row (default: 0)"},
	{"iterations", LODE_COUNT(LodeMiningOptions, parameters.iterations), SHAPES_SEQUENCES,
		.value = "N", .summary = "maximum number of attributes in a sequence (default: 5)"},
	{"flow", LODE_WORD(LodeMiningOptions, parameters.flow), SHAPES_SEQUENCES,
		.value = "potential|expected|definite",
		.summary = "how the executions of a path are computed from those of its edges "
			   "(default: potential)"},
	{NULL},
};

const LodeParameter lode_mining_graph_rows[] = {
	{"weight", LODE_TEXT(LodeMiningOptions, parameters.weight), .value = "EVENT",
		.summary = "the event that measures cost (default: the profile's, see 'lode "
			   "info')"},
	{"granularity", LODE_WORD(LodeMiningOptions, parameters.granularity), SHAPES_SEQUENCES,
		.value = "instruction|block|function",
		.summary = "what a vertex of the graph is (default: instruction)"},
	{"across-calls", LODE_FLAG(LodeMiningOptions, parameters.across_calls), SHAPES_SEQUENCES,
		.summary = "follow calls into the callee and back"},
	{"attributes", LODE_TEXT(LodeMiningOptions, parameters.attributes), .value = "LIST",
		.summary = "the namespaces to use, separated by commas (default: "
			   "op,kind,mem,ev,at,loop,obj,needs,address,chain,user; all of them for a "
			   "flow file)"},
	{"exclude", LODE_TEXTS(LodeMiningOptions, exclude), .value = "GLOB",
		.summary = "ignore attributes that match, such as 'op:mov*'; may be repeated"},
	{"event-rate", LODE_NUMBER(LodeMiningOptions, parameters.event_rate), .value = "RATE",
		.summary = "an instruction gets ev:EVENT from this many events per execution "
			   "(default: 0.01)"},
	{"images", LODE_TEXT(LodeMiningOptions, parameters.images), .value = "REGEX",
		.summary = "mine only images whose path matches; totals are still those of the "
			   "whole profile"},
	{"functions", LODE_TEXT(LodeMiningOptions, parameters.functions), .value = "REGEX",
		.summary = "mine only functions whose name matches; totals are still those of the "
			   "whole profile"},
	{NULL},
};

const LodeParameter lode_mining_instruction_rows[] = {
	{"instructions", LODE_FLAG(LodeMiningOptions, parameters.is_instruction_mode),
		SHAPES_SEQUENCES, .needs = "min-count",
		.excludes = "min-support min-differential min-functions top closed maximal gap "
			    "window iterations flow granularity attributes exclude event-rate",
		.summary = "count sequences of opcodes along the static control flow instead"},
	{"min-count", LODE_NUMBER(LodeMiningOptions, parameters.min_count), .value = "N",
		.needs = "instructions",
		.summary = "with --instructions: report sequences that occur more than N times"},
	{"max-length", LODE_COUNT(LodeMiningOptions, parameters.iterations), .value = "N",
		.needs = "instructions",
		.summary = "with --instructions: at most N instructions (default: 5)"},
	{NULL},
};

const LodeParameter lode_mining_work_rows[] = {
	{"name", LODE_TEXT(LodeMiningOptions, name), .value = "RUN", .standard = "main",
		.summary = "the name of the run; a run of the same name is replaced (default: "
			   "main)"},
	{"threads", LODE_COUNT(LodeMiningOptions, parameters.threads), .value = "N",
		.summary = "the number of threads; the result does not depend on it (default: all "
			   "processors)"},
	{"memory", LODE_SIZE(LodeMiningOptions, parameters.memory_bytes), .value = "SIZE",
		.summary = "memory limit, such as 4G (default: half of the machine's memory, or "
			   "of what RLIMIT_AS leaves)"},
	{NULL},
};

void lode_mining_options_init(LodeMiningOptions *self)
{
	lode_mining_parameters_init(&self->parameters);
	self->parameters.min_support = -1;
}

static LodeMiningParameters parameters_for(
	const LodeMiningOptions *self, const LodeProfile *profile, const char *exclude)
{
	LodeMiningParameters parameters = self->parameters;

	if (parameters.min_support < 0)
		parameters.min_support = lode_mining_default_support(profile, parameters.weight);
	parameters.exclude = exclude;
	uint32_t weight = parameters.weight != NULL
	                          ? lode_profile_find_weight(profile, parameters.weight)
	                          : LODE_NONE;
	if (weight != LODE_NONE)
		parameters.weight = lode_profile_event(profile, weight)->name;
	return parameters;
}

LodeMiningRun *lode_mining_options_mine(const LodeMiningOptions *self, const LodeProfile *profile,
	const LodeProgress *progress, GError **error)
{
	g_autofree char *exclude = lode_parameter_join(self->exclude);
	const LodeMiningParameters parameters = parameters_for(self, profile, exclude);

	return lode_mine(profile, &parameters, self->name, progress, error);
}

/* Checks that all ranks have the same graph. */
static uint32_t fingerprint_of(const LodeFlowGraph *efg)
{
	uint64_t hash = efg->n_graphs;

	hash = lode_hash_append(hash, efg->n_vertices);
	hash = lode_hash_append(hash, efg->n_edges);
	hash = lode_hash_append(hash, efg->n_attributes);
	hash = lode_hash_append(hash, g_double_hash(&efg->total_count));
	return (uint32_t)lode_hash_append(hash, g_double_hash(&efg->total_weight));
}

LodeMiningRun *lode_mining_options_mine_shared(const LodeMiningOptions *self,
	const LodeProfile *profile, LodeRanks *ranks, const LodeProgress *progress, GError **error)
{
	g_autofree char *exclude = lode_parameter_join(self->exclude);
	const LodeMiningParameters parameters = parameters_for(self, profile, exclude);

	g_autoptr(LodeFlowGraph) efg = lode_flow_graph_build(profile, &parameters, error);
	ranks->prepare_seconds = (double)clock() / CLOCKS_PER_SEC;
	if (!lode_mpi_agree(ranks, efg != NULL, efg != NULL ? fingerprint_of(efg) : 0, error))
		return NULL;
	double n_threads = lode_miner_threads(&parameters);
	ranks->sum(ranks, &n_threads, 1);
	ranks->n_threads = (unsigned)n_threads;
	/* The other ranks search meanwhile, and so get more of the work. */
	g_autoptr(GError) unfitted = NULL;
	g_autoptr(LodeFindings)
		findings = ranks->rank == 0
	                           ? lode_findings_fit(profile, &parameters, progress, &unfitted)
	                           : NULL;
	g_autoptr(LodeMiningRun) run = lode_miner_run_shared(
		efg, &parameters, self->name, ranks->size > 1 ? ranks : NULL, progress, error);
	if (unfitted != NULL && run != NULL) {
		g_propagate_error(error, g_steal_pointer(&unfitted));
		g_clear_pointer(&run, lode_mining_run_free);
	}
	if (!lode_mpi_agree(ranks, run != NULL, 0, error))
		return NULL;
	lode_mining_run_round(run);
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
	if (path != NULL && !lode_profile_store_add_run(path, profile, mined, progress, &unstored))
		lode_display_line(
			stderr, "the mined sequences are not kept: %s", unstored->message);
	return g_steal_pointer(&mined);
}

void lode_mining_options_warn(const LodeMiningRun *run, const char *verb)
{
	if (run->findings != NULL && run->findings->least_share > 0)
		lode_display_line(stderr,
			"lode %s: findings are of patterns with at least %s of the samples: those "
			"with less would take too much memory; --functions, --images or "
			"--attributes make the profile smaller",
			verb, LODE_SHARE_TEXT(run->findings->least_share));
}

void lode_mining_options_write_summary(const LodeMiningRun *run, const char *path, FILE *out)
{
	lode_display_line(out, "%s sequences in %.2f s, stored as run '%s' of %s%s",
		LODE_COUNT_TEXT(run->sequences->len), run->seconds, run->name, path,
		run->is_complete ? ""
				 : "; incomplete: stopped at --max-sequences, raise --min-support");
}
