/* SPDX-License-Identifier: MIT */
/*
 * Prefix growth over the static graph. Paths need not be listed: how many paths match a prefix and
 * end in a vertex is all that its extensions need, so a level is (vertex, number of paths).
 */
#include "analyses/mine/instruction_miner.h"

#include "analyses/mine/instruction_graph.h"
#include "base/error.h"
#include "model/mining_run.h"
#include "model/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
	uint32_t vertex;
	double paths; /* that match the prefix and end here; in 64 steps they can be above 2⁶⁴ */
} End;

typedef struct {
	GArray *ends;   /* End, by opcode of the vertex */
	GArray *starts; /* uint32_t [n_opcodes + 1] */
	uint32_t opcode;
} Level;

typedef struct {
	const LodeProfile *profile;
	const LodeMiningParameters *parameters;
	const LodeProgress *progress;
	const LodeInstructionGraph *graph;
	LodeMiningRun *run;
	Level *levels;    /* [iterations] */
	double *paths;    /* [n_vertices] scratch: paths into a vertex */
	uint32_t *stamps; /* [n_vertices] scratch: marks of one sequence */
	uint32_t *function_stamps;
	uint32_t stamp;
	GArray *touched; /* uint32_t vertices with paths */
	GArray *marked;  /* uint32_t vertices of the sequence being measured */
	double *values;  /* [executed instructions × events], per profile instruction */
	bool is_full, is_cancelled;
} Search;

/* A counting sort. Counts stand two places further on, so that after the sums place opcode + 1 is
 * where the next one goes, and once all are placed it is where the next opcode starts. */
static void group_ends(Search *self, Level *level)
{
	const LodeInstructionGraph *graph = self->graph;
	uint32_t *starts;

	g_array_set_size(level->starts, 0);
	g_array_set_size(level->starts, graph->n_opcodes + 2);
	starts = (uint32_t *)(void *)level->starts->data;
	memset(starts, 0, sizeof(uint32_t) * (graph->n_opcodes + 2));
	g_array_set_size(level->ends, self->touched->len);
	for (guint i = 0; i < self->touched->len; i++)
		starts[graph->opcodes[LODE_AT(self->touched, uint32_t, i)] + 2]++;
	for (uint32_t i = 0; i < graph->n_opcodes; i++)
		starts[i + 2] += starts[i + 1];
	for (guint i = 0; i < self->touched->len; i++) {
		uint32_t v = LODE_AT(self->touched, uint32_t, i);
		LODE_AT(level->ends, End, starts[graph->opcodes[v] + 1]++) = (End){
			v, self->paths[v]};
		self->paths[v] = 0;
	}
	g_array_set_size(self->touched, 0);
}

static void add_paths(Search *self, uint32_t vertex, double paths)
{
	if (self->graph->opcodes[vertex] == LODE_NONE)
		return;
	if (self->paths[vertex] == 0)
		g_array_append_val(self->touched, vertex);
	self->paths[vertex] += paths;
}

static void start_level(Search *self)
{
	for (uint32_t v = 0; v < self->graph->n_vertices; v++)
		add_paths(self, v, 1);
	group_ends(self, &self->levels[0]);
}

static void ends_of(const Level *level, uint32_t opcode, uint32_t *out_first, uint32_t *out_end)
{
	*out_first = LODE_AT(level->starts, uint32_t, opcode);
	*out_end = LODE_AT(level->starts, uint32_t, opcode + 1);
}

static void extend(Search *self, uint32_t depth)
{
	const LodeInstructionGraph *graph = self->graph;
	const Level *above = &self->levels[depth - 1];
	uint32_t first, end;

	ends_of(above, above->opcode, &first, &end);
	for (uint32_t i = first; i < end; i++) {
		const End *one = &LODE_AT(above->ends, End, i);
		for (uint32_t e = graph->edge_starts[one->vertex];
			e < graph->edge_starts[one->vertex + 1]; e++)
			add_paths(self, graph->edge_targets[e], one->paths);
	}
	group_ends(self, &self->levels[depth]);
}

static bool leads_to_marked(const Search *self, uint32_t vertex, uint32_t stamp)
{
	const LodeInstructionGraph *graph = self->graph;

	for (uint32_t e = graph->edge_starts[vertex]; e < graph->edge_starts[vertex + 1]; e++)
		if (self->stamps[graph->edge_targets[e]] == stamp)
			return true;
	return false;
}

/*
 * The distinct vertices of all paths: level by level from the last, those that lead on. Levels
 * alternate between two stamps so that a vertex can be in several; `marked` may then hold it twice.
 */
static void mark_vertices(Search *self, uint32_t depth)
{
	uint32_t first, end;

	g_array_set_size(self->marked, 0);
	for (uint32_t d = depth + 1; d-- > 0;) {
		const Level *level = &self->levels[d];
		uint32_t after = self->stamp++;
		ends_of(level, level->opcode, &first, &end);
		g_autofree bool *leads = g_new(bool, end - first + 1);
		for (uint32_t i = first; i < end; i++)
			leads[i - first] = d == depth ||
			                   leads_to_marked(self,
						   LODE_AT(level->ends, End, i).vertex, after);
		for (uint32_t i = first; i < end; i++) {
			uint32_t v = LODE_AT(level->ends, End, i).vertex;
			if (!leads[i - first])
				continue;
			self->stamps[v] = self->stamp;
			g_array_append_val(self->marked, v);
		}
	}
}

/* places and functions: of the first vertices, which mark_vertices() marked last. */
static void count_places(Search *self, LodeSequence *sequence)
{
	const Level *level = &self->levels[0];
	uint32_t first, end;

	ends_of(level, level->opcode, &first, &end);
	for (uint32_t i = first; i < end; i++) {
		uint32_t v = LODE_AT(level->ends, End, i).vertex;
		if (self->stamps[v] != self->stamp)
			continue;
		uint32_t *stamp = &self->function_stamps[self->graph->functions[v]];
		sequence->places++;
		sequence->functions += *stamp != self->stamp;
		*stamp = self->stamp;
	}
}

static void append_totals(Search *self)
{
	guint n_events = self->run->events->len, at = self->run->event_supports->len;

	g_array_set_size(self->run->event_supports, at + n_events);
	double *totals = &g_array_index(self->run->event_supports, double, at);
	self->stamp++;
	for (guint i = 0; i < self->marked->len; i++) {
		uint32_t v = LODE_AT(self->marked, uint32_t, i);
		uint32_t instruction = self->graph->instructions[v];
		if (self->stamps[v] == self->stamp || instruction == LODE_NONE)
			continue;
		self->stamps[v] = self->stamp;
		for (guint e = 0; e < n_events; e++)
			totals[e] += self->values[(size_t)instruction * n_events + e];
	}
}

static void report(Search *self, uint32_t depth, double count)
{
	LodeSequence sequence = {
		.first_item = self->run->items->len,
		.n_items = depth + 1,
		.count = count,
	};

	for (uint32_t d = 0; d <= depth; d++) {
		uint32_t item = self->levels[d].opcode | LODE_ITEM_START;
		g_array_append_val(self->run->items, item);
	}
	mark_vertices(self, depth);
	count_places(self, &sequence);
	g_array_append_val(self->run->sequences, sequence);
	append_totals(self);
}

static bool should_stop(Search *self)
{
	if (self->run->sequences->len >= self->parameters->max_sequences)
		self->is_full = true;
	if (lode_progress_is_cancelled(self->progress))
		self->is_cancelled = true;
	return self->is_full || self->is_cancelled;
}

static void search(Search *self, uint32_t depth)
{
	Level *level = &self->levels[depth];
	uint32_t first, end;

	for (uint32_t opcode = 0; opcode < self->graph->n_opcodes; opcode++) {
		double count = 0;
		ends_of(level, opcode, &first, &end);
		for (uint32_t i = first; i < end; i++)
			count += LODE_AT(level->ends, End, i).paths;
		if (!(count > self->parameters->min_count))
			continue;
		if (should_stop(self))
			return;
		if (depth == 0)
			lode_progress_report(self->progress, "mining instruction sequences", opcode,
				self->graph->n_opcodes, NULL);
		level->opcode = opcode;
		report(self, depth, count);
		if (depth + 1 < self->parameters->iterations) {
			extend(self, depth + 1);
			search(self, depth + 1);
		}
	}
}

/* All events of the profile as columns, and their values laid out by instruction. */
static bool prepare_events(Search *self, GError **error)
{
	const LodeProfile *profile = self->profile;
	guint n = profile->events->len;

	self->values = g_try_new(double, (size_t)profile->instructions->len *n + 1);
	if (self->values == NULL) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_LIMIT,
			"too little memory for the values of %u events on %u instructions", n,
			profile->instructions->len);
		return false;
	}
	for (guint e = 0; e < n; e++) {
		g_ptr_array_add(self->run->events, g_strdup(lode_profile_event(profile, e)->name));
		for (guint i = 0; i < profile->instructions->len; i++)
			self->values[(size_t)i * n + e] = lode_profile_event_value(profile, e, i);
	}
	for (uint32_t i = 0; i < self->graph->n_opcodes; i++)
		g_ptr_array_add(self->run->attributes, g_strdup(self->graph->opcode_names[i]));
	return true;
}

static bool search_init(Search *self, GError **error)
{
	self->levels = g_new0(Level, self->parameters->iterations);
	for (uint32_t i = 0; i < self->parameters->iterations; i++) {
		self->levels[i].ends = g_array_new(FALSE, FALSE, sizeof(End));
		self->levels[i].starts = g_array_new(FALSE, TRUE, sizeof(uint32_t));
	}
	self->paths = g_new0(double, self->graph->n_vertices + 1);
	self->stamps = g_new0(uint32_t, self->graph->n_vertices + 1);
	self->function_stamps = g_new0(uint32_t, self->profile->functions->len + 1);
	self->touched = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->marked = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	return prepare_events(self, error);
}

static void search_clear(Search *self)
{
	for (uint32_t i = 0; i < self->parameters->iterations; i++) {
		g_array_unref(self->levels[i].ends);
		g_array_unref(self->levels[i].starts);
	}
	g_free(self->levels);
	g_free(self->paths);
	g_free(self->stamps);
	g_free(self->function_stamps);
	g_free(self->values);
	g_array_unref(self->touched);
	g_array_unref(self->marked);
}

LodeMiningRun *lode_instruction_miner_run(const LodeProfile *profile,
	const LodeMiningParameters *parameters, const char *name, const LodeProgress *progress,
	GError **error)
{
	gint64 start_us = g_get_monotonic_time();

	if (parameters->iterations < 1 || parameters->iterations > 64) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_USAGE,
			"a length of %u instructions: between 1 and 64 can be mined",
			parameters->iterations);
		return NULL;
	}
	g_autoptr(LodeInstructionGraph)
		graph = lode_instruction_graph_build(profile, parameters, error);
	if (graph == NULL)
		return NULL;
	g_autoptr(LodeMiningRun) run = lode_mining_run_new(name, parameters);
	Search self = {.profile = profile,
		.parameters = parameters,
		.progress = progress,
		.graph = graph,
		.run = run};
	bool has_begun = search_init(&self, error);
	if (has_begun) {
		start_level(&self);
		search(&self, 0);
	}
	search_clear(&self);
	if (!has_begun)
		return NULL;
	run->is_complete = !self.is_full;
	run->seconds = (double)(g_get_monotonic_time() - start_us) / 1e6;
	if (self.is_cancelled) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_CANCELLED, "stopped");
		return NULL;
	}
	return g_steal_pointer(&run);
}
