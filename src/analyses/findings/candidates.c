/* SPDX-License-Identifier: MIT */
/*
 * Candidates are found level by level, as in Apriori (R. Agrawal, R. Srikant 1994): a pattern has
 * no more samples than its focus alone and than its context alone, so that only attributes that
 * pass alone are combined. These are few, so that all combinations are cells of plain tables.
 */
#include "analyses/findings/candidates.h"

#include "analyses/findings/candidate_columns.h"
#include "analyses/findings/observations.h"
#include "base/arrays/sort_order.h"
#include "base/text/words.h"
#include "base/worker_pool.h"
#include "model/index.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* So many samples, and this share of all, or there is nothing to be learned. */
#define MIN_SAMPLES 10.0
#define MIN_SAMPLE_SHARE 0.01

/* A vertex that comes before in less than this share of the executions is not context. */
#define MIN_CONTEXT_SHARE 0.01F

enum {
	MAX_SINGLES = 1000, /* attributes in one role; 1 % each of ten attributes are so many */
	MAX_PAIRS = 4000,
	MAX_CONTEXTS = 4000,
};

typedef enum { ROLE_FOCUS, ROLE_BEFORE, ROLE_BEFORE_THAT, ROLE_AFTER, N_ROLES } Role;

/* Keys with enough samples, numbered. */
typedef struct {
	size_t n_keys;
	uint32_t *numbers; /* [n_keys]; LODE_NONE: too few samples */
	GArray *keys;      /* uint32_t: of each number */
} Passed;

typedef struct {
	const LodeObservations *seen;
	double needed;           /* samples of a pattern */
	Passed singles[N_ROLES]; /* keys: attributes of the graph */
	Passed pairs;            /* keys: a × n + b, focus numbers a < b */
	Passed contexts;  /* keys: a × (n1 + 1) + b; a: number before that + 1, 0 none; b: number
	                     before + 1, 0 any. Contexts of one element come first. */
	uint32_t n_short; /* contexts of one element */
	/* Cells: samples at first, then candidate + 1; 0: too few. */
	double *focus_cells, *pair_cells, *context_cells, *after_cells, *long_cells, *deep_cells;
	LodeCandidates *found;
	double *bits; /* of each attribute of the graph */
} Search;

/* The attributes of a vertex and its neighbours, as numbers. */
typedef struct {
	uint32_t number;
	float share;
} Shared;

typedef struct {
	GArray *focus;    /* uint32_t, ascending */
	GArray *pairs;    /* uint32_t */
	GArray *contexts; /* Shared, ascending: contexts of one element first */
	GArray *after;    /* Shared */
	float *shares;    /* scratch: [contexts' keys], all 0 between uses */
	GArray *touched;  /* uint32_t */
	float *after_shares;
} View;

bool lode_attribute_is_cause(const char *attribute)
{
	static const char *const names[] = {
		"kind:div", "kind:atomic", "kind:fence", "needs:part-store"};

	return lode_word_find(names, G_N_ELEMENTS(names), attribute) >= 0 ||
	       g_str_has_prefix(attribute, "op:rep");
}

static void passed_clear(Passed *self)
{
	g_clear_pointer(&self->numbers, g_free);
	g_clear_pointer(&self->keys, g_array_unref);
}

/* Numbers the keys with enough samples; the heaviest `limit` of them where they are more. */
static void pass(Passed *self, const double *samples, size_t n_keys, double needed, size_t limit)
{
	g_autoptr(GArray) heavy = g_array_new(FALSE, FALSE, sizeof(double));

	for (size_t i = 0; i < n_keys; i++)
		if (samples[i] >= needed)
			g_array_append_val(heavy, samples[i]);
	if (heavy->len > limit) {
		g_array_sort(heavy, lode_compare_doubles_descending);
		needed = nextafter(g_array_index(heavy, double, limit - 1), HUGE_VAL);
	}
	self->n_keys = n_keys;
	self->numbers = g_new(uint32_t, n_keys + 1);
	self->keys = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (size_t i = 0; i < n_keys; i++) {
		uint32_t key = (uint32_t)i;
		self->numbers[i] = samples[i] >= needed ? self->keys->len : LODE_NONE;
		if (samples[i] >= needed)
			g_array_append_val(self->keys, key);
	}
}

static uint32_t key_of(const Passed *self, uint32_t number)
{
	return g_array_index(self->keys, uint32_t, number);
}

static void view_init(View *self, const Search *search)
{
	*self = (View){
		.focus = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.pairs = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.contexts = g_array_new(FALSE, FALSE, sizeof(Shared)),
		.after = g_array_new(FALSE, FALSE, sizeof(Shared)),
		.touched = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		.shares = g_new0(float, (search->singles[ROLE_BEFORE_THAT].keys->len + 1) *
						(search->singles[ROLE_BEFORE].keys->len + 1)),
		.after_shares = g_new0(float, search->singles[ROLE_AFTER].keys->len + 1),
	};
}

static void view_clear(View *self)
{
	g_array_unref(self->focus);
	g_array_unref(self->pairs);
	g_array_unref(self->contexts);
	g_array_unref(self->after);
	g_array_unref(self->touched);
	g_free(self->shares);
	g_free(self->after_shares);
}

#define FOR_EACH_ATTRIBUTE(graph, vertex, i)                                                       \
	for (uint32_t i = (graph)->class_starts[(graph)->attribute_classes[vertex]];               \
		i < (graph)->class_starts[(graph)->attribute_classes[vertex] + 1]; i++)

static void add_share(float *shares, GArray *touched, uint32_t key, float share)
{
	if (shares[key] == 0)
		g_array_append_val(touched, key);
	shares[key] += share;
}

/* Adds the vertices two steps before; they lead to `own` in `share` of its executions. */
static void add_contexts_before(
	const Search *self, View *view, LodeNeighbour reached, const uint32_t *before, uint32_t n)
{
	const LodeFlowGraph *graph = self->seen->graph;
	const uint32_t *numbers = self->singles[ROLE_BEFORE_THAT].numbers;
	uint32_t width = self->singles[ROLE_BEFORE].keys->len + 1;

	FOR_EACH_ATTRIBUTE(graph, reached.vertex, i)
	{
		uint32_t number = numbers[graph->class_members[i]];
		if (number == LODE_NONE)
			continue;
		add_share(view->shares, view->touched, (number + 1) * width, reached.share);
		for (uint32_t j = 0; j < n; j++)
			add_share(view->shares, view->touched, (number + 1) * width + before[j] + 1,
				reached.share);
	}
}

/* Contexts by their key, with the share of the executions in which the vertex is reached so. */
static void add_contexts(const Search *self, View *view, uint32_t u, const uint32_t *observed)
{
	const LodeObservations *seen = self->seen;
	const LodeFlowGraph *graph = seen->graph;
	const uint32_t *numbers = self->singles[ROLE_BEFORE].numbers;
	uint32_t before[256];

	for (uint32_t i = seen->before_starts[u]; i < seen->before_starts[u + 1]; i++) {
		LodeNeighbour one = seen->before[i];
		uint32_t n = 0, p = observed[one.vertex];
		if (one.share < MIN_CONTEXT_SHARE)
			continue;
		FOR_EACH_ATTRIBUTE(graph, one.vertex, j)
		{
			uint32_t number = numbers[graph->class_members[j]];
			if (number == LODE_NONE || n == G_N_ELEMENTS(before))
				continue;
			add_share(view->shares, view->touched, number + 1, one.share);
			before[n++] = number;
		}
		if (p == LODE_NONE)
			continue;
		for (uint32_t j = seen->before_starts[p]; j < seen->before_starts[p + 1]; j++) {
			LodeNeighbour reached = seen->before[j];
			reached.share *= one.share;
			if (reached.share >= MIN_CONTEXT_SHARE)
				add_contexts_before(self, view, reached, before, n);
		}
	}
}

/* Hands out the shares that were summed, and leaves the scratch empty. */
static void take_shares(float *shares, GArray *touched, const Passed *passed, GArray *out)
{
	g_array_set_size(out, 0);
	g_array_sort(touched, lode_compare_u32);
	for (guint i = 0; i < touched->len; i++) {
		uint32_t key = g_array_index(touched, uint32_t, i);
		Shared one = {passed != NULL ? passed->numbers[key] : key, MIN(shares[key], 1)};
		shares[key] = 0;
		if (one.number != LODE_NONE)
			g_array_append_val(out, one);
	}
	g_array_set_size(touched, 0);
}

/* Fills the view with what a vertex has. While contexts and pairs are not chosen yet, contexts are
 * given by their keys, and pairs not at all. */
static void fill_view(const Search *self, View *view, uint32_t u, const uint32_t *observed)
{
	const LodeObservations *seen = self->seen;
	const LodeFlowGraph *graph = seen->graph;
	const uint32_t *focus = self->singles[ROLE_FOCUS].numbers;
	const uint32_t *after = self->singles[ROLE_AFTER].numbers;
	uint32_t n_focus = self->singles[ROLE_FOCUS].keys->len;

	g_array_set_size(view->focus, 0);
	g_array_set_size(view->pairs, 0);
	FOR_EACH_ATTRIBUTE(graph, seen->vertices[u], i)
	{
		uint32_t number = focus[graph->class_members[i]];
		if (number != LODE_NONE)
			g_array_append_val(view->focus, number);
	}
	for (guint i = 0; self->pairs.keys != NULL && i < view->focus->len; i++)
		for (guint j = i + 1; j < view->focus->len; j++) {
			uint32_t pair =
				self->pairs
					.numbers[g_array_index(view->focus, uint32_t, i) * n_focus +
						 g_array_index(view->focus, uint32_t, j)];
			if (pair != LODE_NONE)
				g_array_append_val(view->pairs, pair);
		}
	add_contexts(self, view, u, observed);
	take_shares(view->shares, view->touched,
		self->contexts.keys != NULL ? &self->contexts : NULL, view->contexts);
	for (uint32_t i = seen->after_starts[u]; i < seen->after_starts[u + 1]; i++) {
		LodeNeighbour one = seen->after[i];
		if (one.share < MIN_CONTEXT_SHARE)
			continue;
		FOR_EACH_ATTRIBUTE(graph, one.vertex, j)
		{
			uint32_t number = after[graph->class_members[j]];
			if (number != LODE_NONE)
				add_share(view->after_shares, view->touched, number, one.share);
		}
	}
	take_shares(view->after_shares, view->touched, NULL, view->after);
}

/* Calls `cell` for each combination that the vertex is the focus of. */
typedef void (*CellFunc)(double *cell, float share, void *data);

static void visit_cells(const Search *self, const View *view, CellFunc cell, void *data)
{
	uint32_t n_focus = self->singles[ROLE_FOCUS].keys->len, n_pairs = self->pairs.keys->len;
	const uint32_t *focus = (const uint32_t *)(void *)view->focus->data;
	const uint32_t *pairs = (const uint32_t *)(void *)view->pairs->data;

	for (guint i = 0; i < view->focus->len; i++)
		cell(&self->focus_cells[focus[i]], 1, data);
	for (guint i = 0; i < view->pairs->len; i++)
		cell(&self->pair_cells[pairs[i]], 1, data);
	for (guint c = 0; c < view->contexts->len; c++) {
		Shared context = g_array_index(view->contexts, Shared, c);
		double *deep = self->deep_cells + (size_t)context.number * n_focus;
		cell(&self->context_cells[context.number], context.share, data);
		for (guint i = 0; i < view->focus->len; i++)
			cell(&deep[focus[i]], context.share, data);
		if (context.number >= self->n_short)
			continue;
		double *wide = self->long_cells + (size_t)context.number * n_pairs;
		for (guint i = 0; i < view->pairs->len; i++)
			cell(&wide[pairs[i]], context.share, data);
	}
	for (guint a = 0; a < view->after->len; a++) {
		Shared one = g_array_index(view->after, Shared, a);
		double *cells = self->after_cells + (size_t)one.number * n_focus;
		for (guint i = 0; i < view->focus->len; i++)
			cell(&cells[focus[i]], one.share, data);
	}
}

/* --- what passes alone --- */

/* Fillers say where code lies, not why it costs. */
static bool is_telling(const char *attribute)
{
	return !g_str_has_prefix(attribute, "loop:");
}

static void add_samples(
	const LodeFlowGraph *graph, uint32_t vertex, double samples, double *out_samples)
{
	FOR_EACH_ATTRIBUTE(graph, vertex, i) out_samples[graph->class_members[i]] += samples;
}

static void pass_singles(Search *self, const uint32_t *observed)
{
	const LodeObservations *seen = self->seen;
	const LodeFlowGraph *graph = seen->graph;
	g_autofree double *samples[N_ROLES] = {NULL};

	for (Role role = 0; role < N_ROLES; role++)
		samples[role] = g_new0(double, graph->n_attributes + 1);
	for (uint32_t u = 0; u < seen->n; u++) {
		double y = seen->samples[u];
		if (y == 0)
			continue;
		add_samples(graph, seen->vertices[u], y, samples[ROLE_FOCUS]);
		for (uint32_t i = seen->before_starts[u]; i < seen->before_starts[u + 1]; i++) {
			LodeNeighbour one = seen->before[i];
			uint32_t p = observed[one.vertex];
			add_samples(graph, one.vertex, y * (double)one.share, samples[ROLE_BEFORE]);
			if (p == LODE_NONE || one.share < MIN_CONTEXT_SHARE)
				continue;
			for (uint32_t j = seen->before_starts[p]; j < seen->before_starts[p + 1];
				j++)
				add_samples(graph, seen->before[j].vertex,
					y * (double)(one.share * seen->before[j].share),
					samples[ROLE_BEFORE_THAT]);
		}
		for (uint32_t i = seen->after_starts[u]; i < seen->after_starts[u + 1]; i++)
			add_samples(graph, seen->after[i].vertex, y * (double)seen->after[i].share,
				samples[ROLE_AFTER]);
	}
	for (Role role = 0; role < N_ROLES; role++) {
		for (uint32_t a = 0; a < graph->n_attributes; a++)
			if (!is_telling(graph->attribute_names[a]))
				samples[role][a] = 0;
		pass(&self->singles[role], samples[role], graph->n_attributes, self->needed,
			MAX_SINGLES);
	}
	for (Role role = 1; role < N_ROLES; role++)
		g_free(g_steal_pointer(&samples[role]));
}

static void pass_pairs_and_contexts(Search *self, const uint32_t *observed)
{
	const LodeObservations *seen = self->seen;
	size_t n = self->singles[ROLE_FOCUS].keys->len;
	size_t width = self->singles[ROLE_BEFORE].keys->len + 1;
	size_t n_contexts = (self->singles[ROLE_BEFORE_THAT].keys->len + 1) * width;
	g_autofree double *pairs = g_new0(double, n *n + 1);
	g_autofree double *contexts = g_new0(double, n_contexts);
	View view;

	view_init(&view, self);
	for (uint32_t u = 0; u < seen->n; u++) {
		double y = seen->samples[u];
		if (y == 0)
			continue;
		fill_view(self, &view, u, observed);
		const uint32_t *focus = (const uint32_t *)(void *)view.focus->data;
		for (guint i = 0; i < view.focus->len; i++)
			for (guint j = i + 1; j < view.focus->len; j++)
				pairs[focus[i] * n + focus[j]] += y;
		for (guint i = 0; i < view.contexts->len; i++) {
			Shared one = g_array_index(view.contexts, Shared, i);
			contexts[one.number] += y * (double)one.share;
		}
	}
	view_clear(&view);
	pass(&self->pairs, pairs, n * n, self->needed, MAX_PAIRS);
	pass(&self->contexts, contexts, n_contexts, self->needed, MAX_CONTEXTS);
	while (self->n_short < self->contexts.keys->len &&
		key_of(&self->contexts, self->n_short) < width)
		self->n_short++;
}

static void add_to_cell(double *cell, float share, void *data)
{
	*cell += (double)share * *(const double *)data;
}

static void make_cells(Search *self, const uint32_t *observed)
{
	const LodeObservations *seen = self->seen;
	size_t n_focus = self->singles[ROLE_FOCUS].keys->len, n_pairs = self->pairs.keys->len;
	size_t n_contexts = self->contexts.keys->len;
	View view;

	self->focus_cells = g_new0(double, n_focus + 1);
	self->pair_cells = g_new0(double, n_pairs + 1);
	self->context_cells = g_new0(double, n_contexts + 1);
	self->deep_cells = g_new0(double, n_contexts *n_focus + 1);
	self->long_cells = g_new0(double, self->n_short *n_pairs + 1);
	self->after_cells = g_new0(double, self->singles[ROLE_AFTER].keys->len *n_focus + 1);
	view_init(&view, self);
	for (uint32_t u = 0; u < seen->n; u++) {
		double y = seen->samples[u];
		if (y == 0)
			continue;
		fill_view(self, &view, u, observed);
		visit_cells(self, &view, add_to_cell, &y);
	}
	view_clear(&view);
}

/* --- candidates --- */

static void count_bits(Search *self)
{
	const LodeFlowGraph *graph = self->seen->graph;
	g_autofree uint32_t *counts = g_new0(uint32_t, graph->n_attributes + 1);

	self->bits = g_new0(double, graph->n_attributes + 1);
	for (uint32_t v = 0; v < graph->n_vertices; v++)
		if (graph->count[v] > 0)
			FOR_EACH_ATTRIBUTE(graph, v, i) counts[graph->class_members[i]]++;
	for (uint32_t a = 0; a < graph->n_attributes; a++)
		self->bits[a] = 2 + log2(fmax(1, self->seen->n_executed) / fmax(1, counts[a]));
}

static void add_bits(const Search *self, uint32_t attribute, double *bits)
{
	*bits += attribute != LODE_NONE ? self->bits[attribute] : 0;
}

/* Turns a cell of samples into one of a candidate. */
static void settle(Search *self, double *cell, LodeCandidate candidate)
{
	double bits = 0;

	if (*cell < self->needed) {
		*cell = 0;
		return;
	}
	for (int i = 0; i < 2; i++) {
		add_bits(self, candidate.focus[i], &bits);
		add_bits(self, candidate.before[i], &bits);
	}
	add_bits(self, candidate.after, &bits);
	/* ⟨a⟩ → ⟨·⟩ → ⟪b⟫ has two elements of context. */
	bits += candidate.before[1] != LODE_NONE ? 4 : candidate.before[0] != LODE_NONE ? 2 : 0;
	bits += candidate.after != LODE_NONE ? 2 : 0;
	candidate.price = (float)(G_LN2 * bits);
	g_array_append_val(self->found->candidates, candidate);
	*cell = self->found->candidates->len;
}

static void settle_all(Search *self)
{
	const Passed *focus = &self->singles[ROLE_FOCUS];
	uint32_t n_focus = focus->keys->len, n_pairs = self->pairs.keys->len;
	uint32_t width = self->singles[ROLE_BEFORE].keys->len + 1;
	const LodeCandidate none = {.focus = {LODE_NONE, LODE_NONE},
		.before = {LODE_NONE, LODE_NONE},
		.after = LODE_NONE,
		.place = LODE_NONE};

	for (uint32_t f = 0; f < n_focus; f++) {
		LodeCandidate one = none;
		one.focus[0] = key_of(focus, f);
		settle(self, &self->focus_cells[f], one);
	}
	for (uint32_t p = 0; p < n_pairs; p++) {
		LodeCandidate one = none;
		one.focus[0] = key_of(focus, key_of(&self->pairs, p) / n_focus);
		one.focus[1] = key_of(focus, key_of(&self->pairs, p) % n_focus);
		settle(self, &self->pair_cells[p], one);
	}
	for (uint32_t c = 0; c < self->contexts.keys->len; c++) {
		LodeCandidate context = none;
		uint32_t key = key_of(&self->contexts, c);
		if (key % width > 0)
			context.before[0] = key_of(&self->singles[ROLE_BEFORE], key % width - 1);
		if (key / width > 0)
			context.before[1] = key_of(
				&self->singles[ROLE_BEFORE_THAT], key / width - 1);
		settle(self, &self->context_cells[c], context);
		for (uint32_t f = 0; f < n_focus; f++) {
			LodeCandidate one = context;
			one.focus[0] = key_of(focus, f);
			settle(self, &self->deep_cells[(size_t)c * n_focus + f], one);
		}
		for (uint32_t p = 0; c < self->n_short && p < n_pairs; p++) {
			LodeCandidate one = context;
			one.focus[0] = key_of(focus, key_of(&self->pairs, p) / n_focus);
			one.focus[1] = key_of(focus, key_of(&self->pairs, p) % n_focus);
			settle(self, &self->long_cells[(size_t)c * n_pairs + p], one);
		}
	}
	for (uint32_t a = 0; a < self->singles[ROLE_AFTER].keys->len; a++)
		for (uint32_t f = 0; f < n_focus; f++) {
			LodeCandidate one = none;
			one.focus[0] = key_of(focus, f);
			one.after = key_of(&self->singles[ROLE_AFTER], a);
			settle(self, &self->after_cells[(size_t)a * n_focus + f], one);
		}
}

static void add_places(Search *self, double needed)
{
	const LodeObservations *seen = self->seen;
	double price = G_LN2 * (log2(fmax(1, seen->n_executed)) + 4);

	for (uint32_t k = 0; k < seen->n_sampled; k++) {
		LodeCandidate place = {.focus = {LODE_NONE, LODE_NONE},
			.before = {LODE_NONE, LODE_NONE},
			.after = LODE_NONE,
			.place = k,
			.price = (float)price};
		if (seen->sampled_samples[k] < needed)
			continue;
		/* The same one of the other part stands for both. */
		uint32_t u = seen->sampled[k];
		uint32_t same = seen->counterparts != NULL ? seen->counterparts[u] : LODE_NONE;
		if (same == LODE_NONE || same > u || seen->samples[same] < needed)
			g_array_append_val(self->found->candidates, place);
	}
}

/* --- their vertices --- */

/* The scratch memory of a worker. */
typedef struct {
	View view;
	float *shares;   /* [candidates]: of the present block; all 0 between blocks */
	GArray *touched; /* uint32_t: those that are not 0 */
} WorkerScratch;

typedef struct {
	const Search *search;
	const uint32_t *observed;
	WorkerScratch *scratches; /* of each worker */
	LodeMembershipChunk *chunks;
	size_t max_members;
	atomic_size_t n_members; /* of the chunks that are done */
	const LodeProgress *progress;
} Filling;

typedef struct {
	LodeMembershipChunk *chunk;
	WorkerScratch *scratch;
	uint32_t sampled; /* LODE_NONE: the vertex has no samples */
	double executions;
	unsigned part;
	bool is_counted;
} Filler;

static void note_member(double *cell, float share, void *data)
{
	Filler *self = data;

	if (*cell == 0)
		return;
	LodeMembership one = {(uint32_t)*cell - 1, {self->sampled, share}};
	if (self->is_counted)
		self->chunk->executions[LODE_CANDIDATE_PARTS * (size_t)one.candidate +
					self->part] += self->executions * (double)share;
	else
		add_share(self->scratch->shares, self->scratch->touched, one.candidate, share);
	if (self->sampled != LODE_NONE)
		lode_membership_chunk_add(self->chunk, one);
}

/* Notes what the vertices of a block had, and leaves the scratch empty. */
static void end_block(LodeMembershipChunk *chunk, WorkerScratch *scratch, uint32_t block)
{
	for (guint i = 0; i < scratch->touched->len; i++) {
		uint32_t candidate = g_array_index(scratch->touched, uint32_t, i);
		LodeBlockMembership one = {candidate, {block, scratch->shares[candidate]}};
		scratch->shares[candidate] = 0;
		lode_membership_chunk_add_block(chunk, one);
	}
	g_array_set_size(scratch->touched, 0);
}

/* Where a chunk begins: where executions were not counted, at the begin of a block. */
static uint32_t first_of_chunk(const LodeObservations *seen, size_t chunk)
{
	uint32_t u = (uint32_t)((uint64_t)seen->n * chunk / LODE_MEMBERSHIP_CHUNKS);

	while (!seen->is_counted && u > 0 && u < seen->n && seen->blocks[u] == seen->blocks[u - 1])
		u++;
	return u;
}

static void fill_chunk(size_t task, unsigned worker, void *data)
{
	Filling *self = data;
	const LodeObservations *seen = self->search->seen;
	LodeMembershipChunk *chunk = &self->chunks[task];
	WorkerScratch *scratch = &self->scratches[worker];
	uint32_t first = first_of_chunk(seen, task), end = first_of_chunk(seen, task + 1);
	uint32_t sampled = 0;

	lode_membership_chunk_init(chunk, self->search->found->candidates->len);
	for (uint32_t n = seen->n_sampled; n > 0;) {
		bool is_before = seen->sampled[sampled + n / 2] < first;
		sampled += is_before ? n / 2 + 1 : 0;
		n = is_before ? n - n / 2 - 1 : n / 2;
	}
	for (uint32_t u = first; u < end && !lode_progress_is_cancelled(self->progress); u++) {
		if (atomic_load_explicit(&self->n_members, memory_order_relaxed) +
				chunk->n_members + chunk->n_blocks >
			self->max_members)
			break;
		bool is_sampled = seen->samples[u] > 0;
		Filler filler = {chunk, scratch, is_sampled ? sampled : LODE_NONE,
			seen->executions[u], u >= seen->second, seen->is_counted};
		sampled += is_sampled;
		fill_view(self->search, &scratch->view, u, self->observed);
		visit_cells(self->search, &scratch->view, note_member, &filler);
		if (u + 1 == end || seen->blocks[u + 1] != seen->blocks[u])
			end_block(chunk, scratch, seen->blocks[u]);
	}
	/* A block that was broken off. */
	end_block(chunk, scratch, 0);
	atomic_fetch_add(&self->n_members, chunk->n_members + chunk->n_blocks);
}

/* False where the candidates have more members than allowed; they then have no columns. */
static bool fill_columns(Search *self, const uint32_t *observed, size_t max_members,
	unsigned n_workers, const LodeProgress *progress)
{
	guint n = self->found->candidates->len;
	g_autofree LodeMembershipChunk *chunks = g_new0(
		LodeMembershipChunk, LODE_MEMBERSHIP_CHUNKS);
	g_autofree WorkerScratch *scratches = g_new0(WorkerScratch, n_workers);
	g_auto(LodeMemberships) all = {0};
	Filling filling = {.search = self,
		.observed = observed,
		.scratches = scratches,
		.chunks = chunks,
		.max_members = max_members,
		.progress = progress};

	for (unsigned i = 0; i < n_workers; i++) {
		view_init(&scratches[i].view, self);
		scratches[i].shares = g_new0(float, n + 1);
		scratches[i].touched = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	}
	lode_worker_pool_run(LODE_MEMBERSHIP_CHUNKS, n_workers, fill_chunk, &filling);
	for (unsigned i = 0; i < n_workers; i++) {
		view_clear(&scratches[i].view);
		g_free(scratches[i].shares);
		g_array_unref(scratches[i].touched);
	}
	bool is_within = atomic_load(&filling.n_members) <= max_members;
	if (is_within)
		lode_memberships_sort(chunks, n, n_workers, &all);
	for (size_t c = 0; c < LODE_MEMBERSHIP_CHUNKS; c++)
		lode_membership_chunk_clear(&chunks[c]);
	if (is_within)
		lode_candidates_share_columns(self->found, self->seen, &all, n_workers);
	return is_within;
}

static void search_clear(Search *self)
{
	for (Role role = 0; role < N_ROLES; role++)
		passed_clear(&self->singles[role]);
	passed_clear(&self->pairs);
	passed_clear(&self->contexts);
	g_clear_pointer(&self->focus_cells, g_free);
	g_clear_pointer(&self->pair_cells, g_free);
	g_clear_pointer(&self->context_cells, g_free);
	g_clear_pointer(&self->after_cells, g_free);
	g_clear_pointer(&self->long_cells, g_free);
	g_clear_pointer(&self->deep_cells, g_free);
	g_clear_pointer(&self->bits, g_free);
	self->n_short = 0;
}

/* Finds the candidates with so many samples, and the places with `place_needed`. */
static bool find(Search *self, double place_needed, const uint32_t *observed, size_t max_members,
	unsigned n_workers, const LodeProgress *progress)
{
	g_array_set_size(self->found->candidates, 0);
	pass_singles(self, observed);
	pass_pairs_and_contexts(self, observed);
	make_cells(self, observed);
	count_bits(self);
	settle_all(self);
	add_places(self, place_needed);
	bool is_within = fill_columns(self, observed, max_members, n_workers, progress);
	search_clear(self);
	return is_within;
}

LodeCandidates *lode_candidates_find(const LodeObservations *observations, size_t max_members,
	unsigned n_workers, const LodeProgress *progress)
{
	const LodeFlowGraph *graph = observations->graph;
	Search self = {.seen = observations, .found = g_new0(LodeCandidates, 1)};
	g_autofree uint32_t *observed = g_new(uint32_t, graph->n_vertices + 1);

	double needed = fmax(MIN_SAMPLES, MIN_SAMPLE_SHARE * observations->least_samples);
	self.found->candidates = g_array_new(FALSE, FALSE, sizeof(LodeCandidate));
	self.found->column_starts = g_array_new(FALSE, FALSE, sizeof(size_t));
	self.found->vertices = g_array_new(FALSE, FALSE, sizeof(LodeFocusVertex));
	self.found->block_starts = g_array_new(FALSE, FALSE, sizeof(size_t));
	self.found->blocks = g_array_new(FALSE, FALSE, sizeof(LodeFocusBlock));
	self.found->vertex_middles = g_array_new(FALSE, FALSE, sizeof(size_t));
	self.found->block_middles = g_array_new(FALSE, FALSE, sizeof(size_t));
	self.found->executions = g_array_new(FALSE, FALSE, sizeof(double));
	self.found->column_members = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self.found->next_member = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t v = 0; v < graph->n_vertices; v++)
		observed[v] = LODE_NONE;
	for (uint32_t u = 0; u < observations->n; u++)
		observed[observations->vertices[u]] = u;

	self.needed = needed;
	while (!find(&self, needed, observed, max_members, n_workers, progress) &&
		!lode_progress_is_cancelled(progress))
		self.needed *= 2;
	self.found->needed = self.needed;
	self.found->is_limited = self.needed > needed;
	if (lode_progress_is_cancelled(progress))
		g_clear_pointer(&self.found, lode_candidates_free);
	return self.found;
}

void lode_candidates_free(LodeCandidates *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->candidates);
	g_array_unref(self->column_starts);
	g_array_unref(self->vertices);
	g_array_unref(self->block_starts);
	g_array_unref(self->blocks);
	g_array_unref(self->vertex_middles);
	g_array_unref(self->block_middles);
	g_array_unref(self->executions);
	g_array_unref(self->column_members);
	g_array_unref(self->next_member);
	g_free(self);
}
