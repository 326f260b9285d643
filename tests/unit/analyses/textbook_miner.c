/* SPDX-License-Identifier: MIT */
#include "model/mining_run.h"

#include "textbook_miner.h"

#include <string.h>

typedef struct {
	uint32_t sequence, position;
} Entry;

typedef struct {
	GArray **sequences; /* per graph: vertex ids in path order */
	const LodeFlowGraph *graph;
	uint32_t max_gap, min_support, max_size;
	GArray **id_lists; /* per item: of Entry */
	GArray *patterns;
} Textbook;

static GArray *order_path(const LodeFlowGraph *graph, uint32_t g)
{
	GArray *path = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint32_t first = graph->graph_starts[g], end = graph->graph_starts[g + 1];
	g_autofree bool *is_target = g_new0(bool, graph->n_vertices + 1);
	uint32_t at = first;

	for (uint32_t e = graph->edge_starts[first]; e < graph->edge_starts[end]; e++)
		is_target[graph->edge_targets[e]] = true;
	while (at < end && is_target[at])
		at++;
	for (; path->len < end - first; at = graph->edge_targets[graph->edge_starts[at]]) {
		g_array_append_val(path, at);
		if (graph->edge_starts[at] == graph->edge_starts[at + 1])
			break;
	}
	g_assert_cmpuint(path->len, ==, end - first);
	return path;
}

static void fill_id_lists(Textbook *self)
{
	const LodeFlowGraph *graph = self->graph;

	for (uint32_t a = 0; a < graph->n_attributes; a++)
		self->id_lists[a] = g_array_new(FALSE, FALSE, sizeof(Entry));
	for (uint32_t s = 0; s < graph->n_graphs; s++)
		for (uint32_t p = 0; p < self->sequences[s]->len; p++) {
			uint32_t vertex = g_array_index(self->sequences[s], uint32_t, p);
			uint32_t class = graph->attribute_classes[vertex];
			Entry entry = {s, p};
			for (uint32_t i = graph->class_starts[class];
				i < graph->class_starts[class + 1]; i++)
				g_array_append_val(self->id_lists[graph->class_members[i]], entry);
		}
}

/* The entries of `item` that one of `list` precedes by 1 … max_gap, or, for equality, equals. */
static GArray *join(const Textbook *self, const GArray *list, const GArray *item, bool is_equality)
{
	GArray *joined = g_array_new(FALSE, FALSE, sizeof(Entry));

	for (guint i = 0; i < item->len; i++) {
		Entry next = g_array_index(item, Entry, i);
		bool is_joined = false;
		for (guint j = 0; j < list->len; j++) {
			Entry last = g_array_index(list, Entry, j);
			uint32_t distance = next.position - last.position;
			is_joined |= last.sequence == next.sequence &&
			             (is_equality ? distance == 0
						  : distance >= 1 && distance <= self->max_gap);
		}
		if (is_joined)
			g_array_append_val(joined, next);
	}
	return joined;
}

static uint32_t support_of(const GArray *list)
{
	uint32_t support = 0;

	for (guint i = 0; i < list->len; i++)
		support += i == 0 || g_array_index(list, Entry, i).sequence !=
		                             g_array_index(list, Entry, i - 1).sequence;
	return support;
}

static void grow(Textbook *self, const TextbookPattern *pattern, const GArray *list)
{
	uint32_t last = LODE_ITEM_ATTRIBUTE(pattern->items[pattern->n_items - 1]);

	g_array_append_vals(self->patterns, pattern, 1);
	for (uint32_t i = 0; i < 2 * self->graph->n_attributes; i++) {
		uint32_t attribute = i / 2;
		bool is_equality = i % 2 == 0;
		TextbookPattern longer = *pattern;
		if (pattern->n_items == self->max_size || (is_equality && attribute <= last))
			continue;
		GArray *joined = join(self, list, self->id_lists[attribute], is_equality);
		longer.items[longer.n_items++] = attribute | (is_equality ? 0 : LODE_ITEM_START);
		longer.support = support_of(joined);
		if (longer.support >= self->min_support)
			grow(self, &longer, joined);
		g_array_unref(joined);
	}
}

GArray *textbook_miner_run(
	const LodeFlowGraph *graph, uint32_t max_gap, uint32_t min_support, uint32_t max_size)
{
	Textbook self = {.graph = graph,
		.max_gap = max_gap,
		.min_support = min_support,
		.max_size = max_size,
		.patterns = g_array_new(FALSE, FALSE, sizeof(TextbookPattern))};

	self.sequences = g_new0(GArray *, graph->n_graphs);
	self.id_lists = g_new0(GArray *, graph->n_attributes);
	for (uint32_t g = 0; g < graph->n_graphs; g++)
		self.sequences[g] = order_path(graph, g);
	fill_id_lists(&self);
	for (uint32_t a = 0; a < graph->n_attributes; a++) {
		TextbookPattern single = {1, {a | LODE_ITEM_START}, support_of(self.id_lists[a])};
		if (single.support >= min_support)
			grow(&self, &single, self.id_lists[a]);
	}
	for (uint32_t g = 0; g < graph->n_graphs; g++)
		g_array_unref(self.sequences[g]);
	for (uint32_t a = 0; a < graph->n_attributes; a++)
		g_array_unref(self.id_lists[a]);
	g_free(self.sequences);
	g_free(self.id_lists);
	return self.patterns;
}
