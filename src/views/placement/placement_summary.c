/* SPDX-License-Identifier: MIT */
#include "views/placement/placement_views.h"

#include "analyses/memory/placement/page_matrix.h"
#include "base/text/number_format.h"
#include "model/memory.h"
#include "model/run/program_run.h"
#include "views/figures/profile_figures.h"
#include "views/form/display_text.h"
#include "views/form/fact_rows.h"
#include "views/form/listing.h"
#include "views/form/shell_word.h"
#include "views/memory/memory_coverage.h"

#include <math.h>
#include <string.h>

typedef struct {
	const LodeProfile *profile;
	const LodePlacementProposal *proposal;
	const LodePlacementSummaryOptions *options;
	FILE *out;
	GPtrArray *losses; /* char *, before all else */
	GPtrArray *notes;  /* char * */
} Summary;

static const LodeProposedMemory *memory_at(const LodePlacementProposal *self, size_t i)
{
	return &LODE_AT(self->memories, LodeProposedMemory, i);
}

static double share_of(const LodePlacementProposal *self, double weight)
{
	return lode_share_of(weight, self->matrix->weight + self->matrix->lost);
}

static double local_share(const LodePlacementProposal *self, LodePlacementPolicy policy)
{
	return lode_placement_locality_share(&self->localities[policy]);
}

/* "0 2-4 7" */
static char *threads_text(const GArray *threads)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0, end; i < threads->len; i = end) {
		uint32_t first = LODE_AT(threads, uint32_t, i);
		for (end = i + 1; end < threads->len; end++)
			if (LODE_AT(threads, uint32_t, end) != first + (end - i))
				break;
		g_string_append_printf(text, "%s%u", i > 0 ? " " : "", first);
		if (end - i > 1)
			g_string_append_printf(text, "-%u", first + (end - i) - 1);
	}
	return g_string_free(text, FALSE);
}

/* The meaning of each policy, as text for the table. */
static const char *policy_meaning(LodePlacementPolicy policy)
{
	static const char *const meanings[LODE_N_PLACEMENT_POLICIES] = {
		[LODE_PLACEMENT_MAJORITY] =
			"threads by what they share, pages where most accesses come from",
		[LODE_PLACEMENT_FIRST_TOUCH] =
			"what happens without: threads dealt in turn, pages where first touched",
		[LODE_PLACEMENT_ROUND_ROBIN] = "threads dealt in turn, all pages interleaved",
		[LODE_PLACEMENT_INTERLEAVED] = "threads by what they share, all pages interleaved",
	};

	return meanings[policy];
}

/* --- what was seen --- */

/* "50 % to 99 %" of all loads and stores, of which a part has no address. */
static char *bounds_text(double local, double seen, double unseen)
{
	return g_strdup_printf("%s to %s", LODE_SHARE_TEXT(lode_share_of(local, seen + unseen)),
		LODE_SHARE_TEXT(lode_share_of(local + unseen, seen + unseen)));
}

static char *policy_bounds(const LodePlacementProposal *self, LodePlacementPolicy policy)
{
	const LodePlacementLocality *locality = &self->localities[policy];

	return bounds_text(locality->local, locality->weight, locality->unseen);
}

/* So little unseen does not change a share as it is written. */
static bool has_unseen(const LodePlacementProposal *self)
{
	return share_of(self, self->matrix->lost) >= 0.001;
}

static uint32_t ordinal_of(const Summary *self, const LodeAddressLoss *loss)
{
	return LODE_AT(lode_memory_of(self->profile)->threads, LodeThread, loss->thread).ordinal;
}

static char *end_of_thread(const LodeAddressLoss *loss, const void *user_data)
{
	const Summary *self = user_data;
	const LodePlacementProposal *proposal = self->proposal;
	uint32_t thread = ordinal_of(self, loss);
	uint32_t memory = lode_placement_thread_memory(proposal->placement, thread);
	double seen = proposal->matrix->thread_weights[thread];

	if (!(seen > 0))
		return memory != LODE_NONE
		               ? g_strdup_printf("its pages are not known, and it is on memory %u "
						 "only to spread threads",
					 memory)
		               : g_strdup("its pages are not known, and it may run anywhere");
	g_autofree char *bounds = bounds_text(
		proposal->local_of_thread[thread], seen, proposal->matrix->thread_lost[thread]);
	return g_strdup_printf("%s of all become local", bounds);
}

/* The caller unrefs it. */
static GPtrArray *find_losses(const Summary *self)
{
	const LodePlacementProposal *proposal = self->proposal;
	const LodePageMatrix *matrix = proposal->matrix;

	GPtrArray *lines = lode_memory_loss_lines(
		self->profile, &matrix->losses, end_of_thread, self);
	if (lines->len == 0 || !has_unseen(proposal))
		return lines;
	g_autofree char *bounds = policy_bounds(proposal, proposal->policy);
	g_ptr_array_add(lines,
		g_strdup_printf("Local with this placement: %s of all loads and stores; of those "
				"with an address %s.",
			bounds, LODE_SHARE_TEXT(local_share(proposal, proposal->policy))));
	return lines;
}

/* --- notes --- */

static void G_GNUC_PRINTF(2, 3) note(Summary *self, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_ptr_array_add(self->notes, g_strdup_vprintf(format, arguments));
	va_end(arguments);
}

static void note_samples(Summary *self)
{
	const LodePageMatrix *matrix = self->proposal->matrix;
	double all = matrix->weight + matrix->unresolved_weight + matrix->other_weight +
	             matrix->own_weight;
	bool is_of_windows = strcmp(matrix->event, LODE_WINDOW_ACCESSES) == 0;

	note(self, "by %s samples of %s on %s page%s%s", LODE_COUNT_TEXT(matrix->n_samples),
		matrix->event, LODE_COUNT_TEXT(matrix->pages->len),
		matrix->pages->len == 1 ? "" : "s",
		is_of_windows ? "; these are accesses in windows, executed step by step"
		: lode_memory_of(self->profile)->is_stall_weighted
			? "; timer samples weigh the time that accesses take, not their number"
			: "");
	if (matrix->unresolved_weight > 0)
		note(self,
			"left out: %s of the event's weight, samples without an address (of loads "
			"and stores, or of other instructions)",
			LODE_SHARE_TEXT(matrix->unresolved_weight / all));
	if (matrix->other_weight > 0)
		note(self, "left out: %s of the event's weight, in %u other processes",
			LODE_SHARE_TEXT(matrix->other_weight / all), matrix->n_other_processes);
	if (matrix->own_weight > 0)
		note(self, "left out: %s of the event's weight, memory of lode's own recorder",
			LODE_SHARE_TEXT(matrix->own_weight / all));
}

static void note_first_touch(Summary *self)
{
	const LodePageMatrix *matrix = self->proposal->matrix;

	if (matrix->n_first_touches == matrix->pages->len)
		note(self, "first touches are known of all pages, by their page faults");
	else
		note(self,
			"first touches are known of %s of %s pages, by their page faults; of "
			"the others the first sample stands for it",
			LODE_COUNT_TEXT(matrix->n_first_touches),
			LODE_COUNT_TEXT(matrix->pages->len));
}

static void collect_notes(Summary *self)
{
	const LodePlacementProposal *proposal = self->proposal;

	if (proposal->placement->n_memories == 1) {
		if (proposal->topology->is_described)
			note(self, "there is one memory: nothing will change");
		else
			note(self, "this machine has one memory: nothing will change. Plan for "
				   "another with --topology \"numa:4 core:8 pu:1\"");
	}
	note_samples(self);
	note_first_touch(self);
	if (proposal->n_unplaced_threads > 0)
		note(self, "threads that no sample saw may run anywhere: %u",
			proposal->n_unplaced_threads);
	if (proposal->placement->ranges->len == LODE_PLACEMENT_MAX_RANGES)
		note(self, "of all ranges the %d with most accesses are placed",
			LODE_PLACEMENT_MAX_RANGES);
	if (!proposal->has_fixed_addresses)
		note(self, "recorded with address-space randomisation: in the next run the pages "
			   "have other addresses; 'lode memory record' switches it off");
}

/* --- rows --- */

typedef struct {
	uint32_t memory, node, n_cpus;
	uint64_t n_pages;
	double accesses, share;
	const GArray *numbers; /* uint32_t: threads */
	char *threads;         /* the same as text */
} MemoryRow;

static void put_numbers(LodeJsonStream *json, const void *row, const void *user_data)
{
	const GArray *numbers = ((const MemoryRow *)row)->numbers;

	(void)user_data;
	lode_json_begin(json, '[');
	for (guint i = 0; i < numbers->len; i++)
		lode_json_number(json, LODE_AT(numbers, uint32_t, i));
	lode_json_end(json, ']');
}

static const LodeColumn memory_columns[] = {
	{"memory", LODE_CELL_NUMBER(MemoryRow, memory), .at = 1},
	{"node", LODE_CELL_NUMBER(MemoryRow, node), .at = 2, .dropped = 2},
	{"cpus", LODE_CELL_NUMBER(MemoryRow, n_cpus), .title = "CPUs", .at = 3, .dropped = 1},
	{"pages", LODE_CELL_COUNT(MemoryRow, n_pages), .at = 4},
	{"accesses", LODE_CELL_NUMBER(MemoryRow, accesses)},
	{"share", LODE_CELL_SHARE(MemoryRow, share), .title = "accesses", .at = 5},
	{"threads", LODE_CELL_JSON(put_numbers)},
	{NULL, LODE_CELL_TEXT(MemoryRow, threads), .title = "threads", .at = 6},
};
static const LodeColumns memory_set = LODE_COLUMNS("memories", memory_columns, MemoryRow);

static void fill_memory(size_t number, void *out, const void *user_data)
{
	const LodePlacementProposal *proposal = user_data;
	const LodeProposedMemory *of = memory_at(proposal, number);
	const LodeMemoryNode *node = lode_topology_node(proposal->topology, (uint32_t)number);

	*(MemoryRow *)out = (MemoryRow){(uint32_t)number, node->node, node->cpus->len, of->n_pages,
		of->accesses, share_of(proposal, of->accesses), of->threads,
		threads_text(of->threads)};
}

static LodeListing memories_of(const LodePlacementProposal *proposal)
{
	return (LodeListing){
		&memory_set, proposal->memories->len, .fill = fill_memory, .user_data = proposal};
}

typedef struct {
	const LodePlacementProposal *proposal;
	LodePlacementPolicy shown[LODE_N_PLACEMENT_POLICIES];
	size_t n;
} Policies;

/* The chosen one first. */
static Policies policies_of(const LodePlacementProposal *proposal)
{
	Policies self = {proposal, {proposal->policy}, 1};

	for (int i = 0; i < LODE_N_PLACEMENT_POLICIES; i++)
		if (i != (int)proposal->policy && proposal->has_locality[i])
			self.shown[self.n++] = (LodePlacementPolicy)i;
	return self;
}

/* Columns that would say nothing are left out: of bounds where all is seen, of distances where none
 * are known. */
enum { HAS_UNSEEN = 1, HAS_DISTANCES = 2 };

typedef struct {
	const char *policy, *meaning;
	bool is_chosen;
	LodeStyle style;
	double local, share, least, most, distance; /* no number: not known */
	uint64_t n_pages;
	char *bounds;
} PolicyRow;

static const LodeColumn policy_columns[] = {
	{"policy", LODE_CELL_TEXT(PolicyRow, policy), .at = 1,
		.styled = offsetof(PolicyRow, style)},
	{"meaning", LODE_CELL_TEXT(PolicyRow, meaning), .at = 5},
	{"is_chosen", LODE_CELL_FLAG(PolicyRow, is_chosen)},
	{"local", LODE_CELL_NUMBER(PolicyRow, local)},
	{"share", LODE_CELL_SHARE(PolicyRow, share), .title = "local", .at = 2},
	{"share_at_least", LODE_CELL_SHARE(PolicyRow, least)},
	{"share_at_most", LODE_CELL_SHARE(PolicyRow, most)},
	{"distance", LODE_CELL_NUMBER(PolicyRow, distance)},
	{"pages", LODE_CELL_NUMBER(PolicyRow, n_pages)},
	{NULL, LODE_CELL_TEXT(PolicyRow, bounds), .title = "of all accesses", .at = 3,
		.is_right = true, .when = HAS_UNSEEN},
	{NULL, LODE_CELL_NUMBER(PolicyRow, distance), .title = "distance", .at = 4, .decimals = 2,
		.dropped = 1, .when = HAS_DISTANCES},
};
static const LodeColumns policy_set = LODE_COLUMNS("policies", policy_columns, PolicyRow);

static void fill_policy(size_t number, void *out, const void *user_data)
{
	const Policies *self = user_data;
	LodePlacementPolicy policy = self->shown[number];
	const LodePlacementLocality *of = &self->proposal->localities[policy];

	*(PolicyRow *)out = (PolicyRow){
		.policy = lode_placement_policy_to_text(policy),
		.meaning = policy_meaning(policy),
		.is_chosen = policy == self->proposal->policy,
		.style = number == 0 ? LODE_STYLE_STRONG : LODE_STYLE_PLAIN,
		.local = of->local,
		.share = local_share(self->proposal, policy),
		.least = lode_placement_locality_least(of),
		.most = lode_placement_locality_most(of),
		.distance = isfinite(of->distance) ? of->distance : (double)NAN,
		.n_pages = of->n_placed_pages,
		.bounds = policy_bounds(self->proposal, policy),
	};
}

static LodeListing listing_of(const Policies *self)
{
	return (LodeListing){&policy_set, self->n, .fill = fill_policy, .user_data = self,
		.what = (has_unseen(self->proposal) ? HAS_UNSEEN : 0) |
	                (self->proposal->topology->distances != NULL ? HAS_DISTANCES : 0)};
}

/* --- text --- */

static const char *plural(uint32_t n)
{
	return n == 1 ? "" : "s";
}

static void write_head(Summary *self)
{
	const LodePlacementProposal *proposal = self->proposal;
	bool is_ascii = self->options->terminal.is_ascii;
	g_autofree char *program = lode_display_text(
		lode_program_run_of(self->profile)->program != NULL
			? lode_program_run_of(self->profile)->program
			: "unknown",
		is_ascii);
	g_autofree char *machine = lode_display_text(proposal->topology->description, is_ascii);

	lode_display_print(&self->options->terminal, self->out,
		"Placement of %s · process %u · %u thread%s · %s: %u %s, %u CPU%s · %u range%s",
		program, proposal->matrix->pid, proposal->matrix->n_threads,
		plural(proposal->matrix->n_threads), machine, proposal->placement->n_memories,
		proposal->placement->n_memories == 1 ? "memory" : "memories",
		proposal->topology->n_cpus, plural(proposal->topology->n_cpus),
		proposal->placement->ranges->len, plural(proposal->placement->ranges->len));
}

static void write_text(Summary *self)
{
	const LodePlacementProposal *proposal = self->proposal;
	const Policies policies = policies_of(proposal);
	const LodeListing memories = memories_of(proposal), listing = listing_of(&policies);

	write_head(self);
	for (guint i = 0; i < self->losses->len; i++) {
		g_autofree char *text = lode_display_text(
			self->losses->pdata[i], self->options->terminal.is_ascii);
		lode_display_print(&self->options->terminal, self->out, "%s", text);
	}
	fputc('\n', self->out);
	lode_listing_write_text(&memories, &self->options->terminal, self->out);
	if (proposal->n_interleaved > 0)
		fprintf(self->out, "interleaved pages: %" G_GUINT64_FORMAT "\n",
			proposal->n_interleaved);
	fputc('\n', self->out);
	lode_listing_write_text(&listing, &self->options->terminal, self->out);
	fputc('\n', self->out);
	for (guint i = 0; i < self->notes->len; i++) {
		g_autofree char *text = lode_display_text(
			self->notes->pdata[i], self->options->terminal.is_ascii);
		lode_display_print(&self->options->terminal, self->out, "%s", text);
	}
	if (self->options->output_path == NULL)
		return;
	g_autofree char *path = lode_shell_word(self->options->output_path);
	lode_display_print(&self->options->terminal, self->out,
		"Go on with: lode place apply %s -- PROGRAM", path);
}

/* --- csv --- */

static void add_row(GArray *rows, const char *section, const char *name, double value, double share,
	const char *detail)
{
	LodeFactRow *row = lode_fact_rows_add_number(rows, section, name, value);

	row->share = share;
	row->detail = g_strdup(detail);
}

static void write_csv(Summary *self)
{
	const LodePlacementProposal *proposal = self->proposal;
	g_autoptr(GArray) rows = lode_fact_rows_new();
	const Policies policies = policies_of(proposal);

	for (guint i = 0; i < proposal->memories->len; i++) {
		const LodeProposedMemory *memory = memory_at(proposal, i);
		g_autofree char *threads = threads_text(memory->threads);
		g_autofree char *name = g_strdup_printf("%u", i);
		add_row(rows, "memory", name, (double)memory->n_pages,
			share_of(proposal, memory->accesses), threads);
	}
	for (size_t i = 0; i < policies.n; i++)
		add_row(rows, "policy", lode_placement_policy_to_text(policies.shown[i]),
			proposal->localities[policies.shown[i]].local,
			local_share(proposal, policies.shown[i]),
			policy_meaning(policies.shown[i]));
	for (size_t i = 0; i < policies.n; i++) {
		const LodePlacementLocality *locality = &proposal->localities[policies.shown[i]];
		const char *name = lode_placement_policy_to_text(policies.shown[i]);
		add_row(rows, "at-least", name, locality->local,
			lode_placement_locality_least(locality), "of all loads and stores");
		add_row(rows, "at-most", name, locality->local + locality->unseen,
			lode_placement_locality_most(locality), "of all loads and stores");
	}
	for (uint32_t i = 0; i < proposal->matrix->n_threads; i++) {
		g_autofree char *name = g_strdup_printf("%u", i);
		double seen = proposal->matrix->thread_weights[i];
		double lost = proposal->matrix->thread_lost[i];
		add_row(rows, "thread", name, seen + lost, lode_share_of(seen, seen + lost),
			"share with an address");
		add_row(rows, "thread-at-least", name, proposal->local_of_thread[i],
			lode_share_of(proposal->local_of_thread[i], seen + lost), NULL);
		add_row(rows, "thread-at-most", name, proposal->local_of_thread[i] + lost,
			lode_share_of(proposal->local_of_thread[i] + lost, seen + lost), NULL);
	}
	for (guint i = 0; i < self->losses->len; i++)
		add_row(rows, "loss", NULL, (double)NAN, (double)NAN, self->losses->pdata[i]);
	for (guint i = 0; i < self->notes->len; i++)
		add_row(rows, "note", NULL, (double)NAN, (double)NAN, self->notes->pdata[i]);
	lode_fact_rows_write_csv(rows, false, self->out);
}

/* --- json --- */

static void write_json_threads(LodeJsonStream *json, const LodePlacementProposal *proposal)
{
	lode_json_member_begin(json, "thread_rows", '[');
	for (uint32_t i = 0; i < proposal->matrix->n_threads; i++) {
		uint32_t memory = lode_placement_thread_memory(proposal->placement, i);
		lode_json_begin(json, '{');
		lode_json_member_number(json, "thread", i);
		lode_json_member_number(json, "memory", memory != LODE_NONE ? memory : (double)NAN);
		lode_json_member_number(json, "seen", proposal->matrix->thread_weights[i]);
		lode_json_member_number(json, "lost", proposal->matrix->thread_lost[i]);
		lode_json_member_number(json, "local", proposal->local_of_thread[i]);
		lode_json_end(json, '}');
	}
	lode_json_end(json, ']');
}

static void write_strings(LodeJsonStream *json, const char *name, const GPtrArray *strings)
{
	lode_json_line(json);
	lode_json_key(json, name);
	lode_json_strings(json, strings);
}

static void write_json(Summary *self)
{
	const LodePlacementProposal *proposal = self->proposal;
	const Policies policies = policies_of(proposal);
	const LodeListing memories = memories_of(proposal), listing = listing_of(&policies);
	LodeJsonStream json;

	lode_json_stream_init(&json, self->out);
	lode_json_begin(&json, '{');
	lode_json_member_string(&json, "program", lode_program_run_of(self->profile)->program);
	lode_json_member_number(&json, "process", proposal->matrix->pid);
	lode_json_member_string(&json, "event", proposal->matrix->event);
	lode_json_member_number(&json, "weight", proposal->matrix->weight);
	lode_json_member_number(&json, "lost", proposal->matrix->lost);
	lode_json_member_number(&json, "samples", (double)proposal->matrix->n_samples);
	lode_json_member_string(&json, "topology", proposal->topology->description);
	lode_json_member_number(&json, "threads", proposal->matrix->n_threads);
	lode_json_member_number(&json, "ranges", proposal->placement->ranges->len);
	lode_json_member_number(&json, "interleaved_pages", (double)proposal->n_interleaved);
	lode_json_line(&json);
	lode_listing_put_json(&memories, &json);
	lode_json_line(&json);
	lode_listing_put_json(&listing, &json);
	lode_json_line(&json);
	write_json_threads(&json, proposal);
	write_strings(&json, "losses", self->losses);
	write_strings(&json, "notes", self->notes);
	lode_json_end(&json, '}');
}

bool lode_placement_summary_write(const LodeProfile *profile, const LodePlacementProposal *proposal,
	const LodePlacementSummaryOptions *options, FILE *out, GError **error)
{
	g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
	Summary summary = {profile, proposal, options, out, NULL, notes};

	g_autoptr(GPtrArray) losses = find_losses(&summary);
	summary.losses = losses;
	collect_notes(&summary);
	if (options->format == LODE_VIEW_TEXT)
		write_text(&summary);
	else if (options->format == LODE_VIEW_JSON)
		write_json(&summary);
	else
		write_csv(&summary);
	return lode_view_flush(out, error);
}

char *lode_placement_summary_comment(
	const LodeProfile *profile, const LodePlacementProposal *proposal)
{
	const LodeProgramRun *run = lode_program_run_of(profile);
	g_autofree char *bounds = policy_bounds(proposal, proposal->policy);
	g_autofree char *unseen =
		has_unseen(proposal)
			? g_strdup_printf("\n%s of loads and stores have no "
					  "address: of all, %s become local",
				  LODE_SHARE_TEXT(share_of(proposal, proposal->matrix->lost)),
				  bounds)
			: g_strdup("");

	return g_strdup_printf(
		"placement of %s\n"
		"policy %s, for %s\n"
		"local accesses, by the samples of %s with an address: %s; without it (first "
		"touch) %s; all interleaved %s%s",
		run->program != NULL ? run->program : "an unknown program",
		lode_placement_policy_to_text(proposal->policy), proposal->topology->description,
		proposal->matrix->event, LODE_SHARE_TEXT(local_share(proposal, proposal->policy)),
		LODE_SHARE_TEXT(local_share(proposal, LODE_PLACEMENT_FIRST_TOUCH)),
		LODE_SHARE_TEXT(local_share(proposal, LODE_PLACEMENT_ROUND_ROBIN)), unseen);
}
