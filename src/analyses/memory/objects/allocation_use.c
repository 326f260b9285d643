/* SPDX-License-Identifier: MIT */
/*
 * Paths of one site are merged into a tree by function and place, the site's own call at the root:
 * paths may have come to it through different wrappers. Then the tree is written out, the greatest
 * first.
 */
#include "analyses/memory/objects/allocation_use.h"

#include "analyses/memory/page_faults.h"
#include "base/arrays/id_cache.h"
#include "base/arrays/sort_order.h"
#include "base/error.h"
#include "base/text/words.h"
#include "model/index.h"
#include "model/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
	uint32_t call, parent, first_child, next;
	LodeAllocationFigures figures;
} Node;

typedef struct {
	const LodeProfile *profile;
	const LodeAllocationUseOptions *options;
	LodeAllocationUse *use;
	GArray *nodes; /* Node; those of the sites come first */
	LodeIdCache ids;
	GArray *path_weights; /* LodeAllocationFigures of which only the samples are set */
} Builder;

enum { N_WORDS = LODE_N_ALLOCATION_SORTS };

static const char *const sort_words[N_WORDS] = {
	[LODE_ALLOCATION_SORT_PEAK] = "peak",
	[LODE_ALLOCATION_SORT_MOST] = "most",
	[LODE_ALLOCATION_SORT_BYTES] = "bytes",
	[LODE_ALLOCATION_SORT_BLOCKS] = "blocks",
	[LODE_ALLOCATION_SORT_END] = "end",
	[LODE_ALLOCATION_SORT_WEIGHT] = "weight",
};

int lode_allocation_sort_from_text(const char *text)
{
	return lode_word_find(sort_words, G_N_ELEMENTS(sort_words), text);
}

static void add_number(uint64_t *sum, uint64_t value)
{
	*sum = value > UINT64_MAX - *sum ? UINT64_MAX : *sum + value;
}

static void add_figures(LodeAllocationFigures *sum, const LodeAllocationFigures *part)
{
	add_number(&sum->n, part->n);
	add_number(&sum->n_bytes, part->n_bytes);
	add_number(&sum->n_at_peak, part->n_at_peak);
	add_number(&sum->n_bytes_at_peak, part->n_bytes_at_peak);
	add_number(&sum->n_at_end, part->n_at_end);
	add_number(&sum->n_bytes_at_end, part->n_bytes_at_end);
	sum->lifetime_ns += part->lifetime_ns;
	sum->weight += part->weight;
	sum->n_samples += part->n_samples;
}

static const LodeAllocationCall *call_at(const LodeMemory *memory, uint32_t call)
{
	return &LODE_AT(memory->calls, LodeAllocationCall, call);
}

/* The call that a path's site is at: the innermost of the program's, or of none the outermost.
 * LODE_NONE: no call is known. */
static uint32_t site_call_of(const LodeMemory *memory, const LodeAllocationPath *path)
{
	uint32_t found = path->call;

	for (uint32_t i = path->call; i != LODE_NONE; i = call_at(memory, i)->inner)
		if (call_at(memory, i)->role == LODE_CALL_OF_PROGRAM)
			found = i;
	return found;
}

static Node *node_at(const Builder *self, uint32_t node)
{
	return &LODE_AT(self->nodes, Node, node);
}

/* The child of a node that is a call from the same place of the same function. */
static uint32_t find_child(Builder *self, uint32_t parent, uint32_t call)
{
	const LodeAllocationCall *row = call_at(lode_memory_of(self->profile), call);
	const LodeIdKey key = {
		{parent, (uint64_t)(uintptr_t)row->function, (uint64_t)(uintptr_t)row->place}};
	bool is_new;

	LodeIdSlot *slot = lode_id_cache_find(&self->ids, &key, &is_new);
	if (!is_new)
		return slot->id;
	slot->id = self->nodes->len;
	const Node node = {.call = call,
		.parent = parent,
		.first_child = LODE_NONE,
		.next = node_at(self, parent)->first_child};
	node_at(self, parent)->first_child = slot->id;
	g_array_append_val(self->nodes, node);
	return slot->id;
}

static LodeAllocationFigures figures_of(const Builder *self, guint path)
{
	const LodeAllocationPath *row = &LODE_AT(
		lode_memory_of(self->profile)->paths, LodeAllocationPath, path);
	LodeAllocationFigures figures = LODE_AT(self->path_weights, LodeAllocationFigures, path);

	figures.n = row->n;
	figures.n_bytes = row->n_bytes;
	figures.n_at_peak = row->n_at_peak;
	figures.n_bytes_at_peak = row->n_bytes_at_peak;
	figures.n_at_end = row->n_at_end;
	figures.n_bytes_at_end = row->n_bytes_at_end;
	figures.lifetime_ns = row->lifetime_ns;
	return figures;
}

/* Adds to the site, and to the requested number of callers. */
static void add_path(Builder *self, guint path, GArray *outward)
{
	const LodeMemory *memory = lode_memory_of(self->profile);
	const LodeAllocationPath *row = &LODE_AT(memory->paths, LodeAllocationPath, path);
	const LodeAllocationFigures figures = figures_of(self, path);
	uint32_t site_call = site_call_of(memory, row), node = row->site;

	add_figures(&node_at(self, node)->figures, &figures);
	if (node_at(self, node)->call == LODE_NONE)
		node_at(self, node)->call = site_call;
	g_array_set_size(outward, 0);
	for (uint32_t i = row->call; i != site_call; i = call_at(memory, i)->inner)
		g_array_append_val(outward, i);
	/* Callers of main(), or of a thread's function, carry no information. */
	while (outward->len > 0 &&
		call_at(memory, g_array_index(outward, uint32_t, 0))->role == LODE_CALL_IN_RUNTIME)
		g_array_remove_index(outward, 0);
	for (guint i = 0; i < MIN(outward->len, self->options->n_callers); i++) {
		node = find_child(
			self, node, g_array_index(outward, uint32_t, outward->len - 1 - i));
		add_figures(&node_at(self, node)->figures, &figures);
	}
}

static void add_sites(Builder *self)
{
	const LodeMemory *memory = lode_memory_of(self->profile);
	g_autoptr(GArray) outward = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (guint i = 0; i < memory->sites->len; i++) {
		Node node = {.call = LODE_NONE,
			.parent = LODE_NONE,
			.first_child = LODE_NONE,
			.next = LODE_NONE};
		const LodeAllocationSite *site = &LODE_AT(memory->sites, LodeAllocationSite, i);
		/* Profiles of before have sites without paths. */
		if (!self->use->has_paths) {
			node.figures.n = site->n;
			node.figures.n_bytes = site->n_bytes;
		}
		g_array_append_val(self->nodes, node);
	}
	for (guint i = 0; i < memory->paths->len; i++)
		add_path(self, i, outward);
	for (guint i = 0; i < memory->sites->len; i++) {
		bool is_map = g_str_has_prefix(
			LODE_AT(memory->sites, LodeAllocationSite, i).name, "mmap@");
		add_figures(is_map ? &self->use->mappings : &self->use->heap,
			&node_at(self, i)->figures);
	}
}

/* Adds the weight of the samples by path, or by site where there are no paths. */
static void weigh(Builder *self, const uint32_t *samples, size_t n_samples)
{
	const LodeMemory *memory = lode_memory_of(self->profile);
	g_autofree bool *are_faults = lode_page_faults_events(self->profile);
	uint32_t last = LODE_NONE;

	for (size_t i = 0; i < n_samples; i++) {
		const LodeMemorySample *sample = &LODE_AT(
			memory->samples, LodeMemorySample, samples[i]);
		if (are_faults[sample->event])
			continue;
		bool is_second = sample->operand != 0 && last + 1 == samples[i];
		last = samples[i];
		self->use->weight += sample->weight;
		if (sample->allocation >= memory->allocation_paths->len)
			continue;
		uint32_t path = LODE_AT(
			memory->allocation_paths, LodeAllocationPathOf, sample->allocation)
		                        .path;
		LodeAllocationFigures *of = &LODE_AT(
			self->path_weights, LodeAllocationFigures, path);
		of->weight += sample->weight;
		of->n_samples += !is_second;
	}
}

/* --- rows, the greatest first --- */

static double measure(const Builder *self, uint32_t number)
{
	const LodeMemory *memory = lode_memory_of(self->profile);
	const Node *node = node_at(self, number);

	switch (self->options->sort) {
	case LODE_ALLOCATION_SORT_MOST:
		return number < memory->site_peaks->len
		               ? (double)LODE_AT(memory->site_peaks, LodeAllocationPeak, number)
		                         .n_bytes
		               : (double)node->figures.n_bytes_at_peak;
	case LODE_ALLOCATION_SORT_BYTES:
		return (double)node->figures.n_bytes;
	case LODE_ALLOCATION_SORT_BLOCKS:
		return (double)node->figures.n;
	case LODE_ALLOCATION_SORT_END:
		return (double)node->figures.n_bytes_at_end;
	case LODE_ALLOCATION_SORT_WEIGHT:
		return node->figures.weight;
	default:
		return (double)node->figures.n_bytes_at_peak;
	}
}

/* Equal ones by their bytes, then in the order of the profile. */
static int compare_nodes(const void *a, const void *b, void *user_data)
{
	const Builder *self = user_data;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	double x = measure(self, left), y = measure(self, right);

	if (x == y) {
		x = (double)node_at(self, left)->figures.n_bytes;
		y = (double)node_at(self, right)->figures.n_bytes;
	}
	if (x != y)
		return x > y ? -1 : 1;
	return (left > right) - (left < right);
}

static void add_rows(Builder *self, GArray *nodes, uint32_t site, uint32_t level);

static void add_node(Builder *self, uint32_t number, uint32_t site, uint32_t level)
{
	const LodeMemory *memory = lode_memory_of(self->profile);
	g_autoptr(GArray) children = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	LodeAllocationUseRow row = {
		.kind = level == 0 ? LODE_ALLOCATION_ROW_SITE : LODE_ALLOCATION_ROW_CALLER,
		.site = site,
		.level = level,
		.call = node_at(self, number)->call,
		.figures = node_at(self, number)->figures,
	};

	if (level == 0 && site < memory->site_peaks->len)
		row.most = LODE_AT(memory->site_peaks, LodeAllocationPeak, site);
	g_array_append_val(self->use->rows, row);
	for (uint32_t i = node_at(self, number)->first_child; i != LODE_NONE;
		i = node_at(self, i)->next)
		g_array_append_val(children, i);
	if (children->len > 0)
		add_rows(self, children, site, level + 1);
}

/* The recursion is at most as deep as the requested number of callers. */
static void add_rows(Builder *self, GArray *nodes, uint32_t site, uint32_t level)
{
	uint32_t top = level == 0 ? self->options->top : self->options->top_callers;
	guint n = top != 0 ? MIN(nodes->len, top) : nodes->len;
	LodeAllocationUseRow others = {
		.kind = LODE_ALLOCATION_ROW_OTHERS,
		.site = site,
		.level = level,
		.call = LODE_NONE,
		.n_others = nodes->len - n,
	};

	g_array_sort_with_data(nodes, compare_nodes, self);
	for (guint i = 0; i < n; i++) {
		uint32_t node = g_array_index(nodes, uint32_t, i);
		add_node(self, node, level == 0 ? node : site, level);
	}
	for (guint i = n; i < nodes->len; i++)
		add_figures(&others.figures,
			&node_at(self, g_array_index(nodes, uint32_t, i))->figures);
	if (others.n_others > 0)
		g_array_append_val(self->use->rows, others);
}

static uint64_t find_begin(const LodeMemory *memory)
{
	uint64_t begin_ns = UINT64_MAX;

	for (guint i = 0; i < memory->threads->len; i++)
		begin_ns = MIN(begin_ns, LODE_AT(memory->threads, LodeThread, i).begin_ns);
	return begin_ns == UINT64_MAX ? 0 : begin_ns;
}

LodeAllocationUse *lode_allocation_use_new(const LodeProfile *profile, const uint32_t *samples,
	size_t n_samples, const LodeAllocationUseOptions *options, GError **error)
{
	const LodeMemory *memory = lode_memory_of(profile);

	if (!memory->has_allocations) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no allocations were recorded; 'lode memory record --allocations -- "
			"PROGRAM' records them");
		return NULL;
	}
	LodeAllocationUse *use = g_new0(LodeAllocationUse, 1);
	g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(Node));
	g_autoptr(GArray) weights = g_array_new(FALSE, TRUE, sizeof(LodeAllocationFigures));
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	Builder self = {.profile = profile,
		.options = options,
		.use = use,
		.nodes = nodes,
		.path_weights = weights};
	lode_id_cache_init(&self.ids);
	use->rows = g_array_new(FALSE, FALSE, sizeof(LodeAllocationUseRow));
	use->has_peaks = memory->heap_peak->len > 0;
	use->has_paths = memory->paths->len > 0;
	use->begin_ns = find_begin(memory);
	if (use->has_peaks)
		use->peak = LODE_AT(memory->heap_peak, LodeAllocationPeak, 0);
	g_array_set_size(weights, memory->paths->len);
	weigh(&self, samples, n_samples);
	add_sites(&self);
	for (uint32_t i = 0; i < memory->sites->len; i++)
		g_array_append_val(all, i);
	add_rows(&self, all, LODE_NONE, 0);
	lode_id_cache_clear(&self.ids);
	return use;
}

void lode_allocation_use_free(LodeAllocationUse *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->rows);
	g_free(self);
}

/* Blocks of all paths that lead through each call: from the outermost in, as what a call calls
 * stands before it. */
static uint64_t *count_blocks(const LodeMemory *memory)
{
	uint64_t *n = g_new0(uint64_t, MAX(memory->calls->len, 1));

	for (guint i = 0; i < memory->paths->len; i++) {
		const LodeAllocationPath *path = &LODE_AT(memory->paths, LodeAllocationPath, i);
		if (path->call != LODE_NONE)
			add_number(&n[path->call], path->n);
	}
	for (guint i = memory->calls->len; i-- > 0;) {
		uint32_t inner = call_at(memory, i)->inner;
		if (inner != LODE_NONE)
			add_number(&n[inner], n[i]);
	}
	return n;
}

LODE_ORDER(compare_wrappers, LodeAllocationWrapper, LODE_DESCENDING(n),
	strcmp(left->function, right->function))

GArray *lode_allocation_wrappers_new(const LodeMemory *memory)
{
	GArray *wrappers = g_array_new(FALSE, TRUE, sizeof(LodeAllocationWrapper));
	g_autoptr(GHashTable) rows = g_hash_table_new(NULL, NULL);
	g_autofree uint64_t *n = count_blocks(memory);

	for (guint i = 0; i < memory->calls->len; i++) {
		const LodeAllocationCall *call = call_at(memory, i);
		LodeAllocationWrapper fresh = {call->function, call->role, 0};
		if (call->function == NULL ||
			(call->role != LODE_CALL_PASSES_SIZE && call->role != LODE_CALL_SKIPPED))
			continue;
		guint row = GPOINTER_TO_UINT(g_hash_table_lookup(rows, call->function));
		if (row == 0) {
			g_array_append_val(wrappers, fresh);
			row = wrappers->len;
			g_hash_table_insert(rows, call->function, GUINT_TO_POINTER(row));
		}
		add_number(&LODE_AT(wrappers, LodeAllocationWrapper, row - 1).n, n[i]);
	}
	g_array_sort(wrappers, compare_wrappers);
	return wrappers;
}
