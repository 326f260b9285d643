/* SPDX-License-Identifier: MIT */
#include "analyses/calls/flame_tree.h"

#include "base/arrays/id_cache.h"
#include "base/arrays/sort_order.h"
#include "model/index.h"

#include <string.h>

enum {
	STEPS_BETWEEN_CHECKS = 1 << 16, /* whether the work was cancelled */
	LISTED_CHILDREN = 8,
};

/* Nearly all nodes have few children, which a list finds faster than a table does. */
typedef struct {
	uint32_t first_child, next; /* nodes; 0: none */
	uint32_t n_listed;
} Links;

typedef struct {
	const LodeStacks *stacks;
	LodeFlameTree *tree;
	uint32_t *function_of; /* of each frame */
	double *weights;       /* of each stack, ended by those of unknown stacks */
	double *samples;       /* likewise */
	uint64_t *first_ns;    /* likewise; UINT64_MAX: no time */
	GArray *links;         /* Links, of each node */
	LodeIdCache children;  /* those not listed: node and function → node */
} Builder;

static const LodeStack *stack_at(const Builder *self, uint32_t i)
{
	return &g_array_index(self->stacks->stacks, LodeStack, i);
}

static LodeFlameNode *node_at(const LodeFlameTree *self, uint32_t i)
{
	return &g_array_index(self->nodes, LodeFlameNode, i);
}

static void number_functions(Builder *self)
{
	const GArray *frames = self->stacks->frames;
	LodeIdCache known;

	lode_id_cache_init(&known);
	for (uint32_t i = 0; i < frames->len; i++) {
		const LodeFrame *frame = &g_array_index(frames, LodeFrame, i);
		/* Equal strings of a profile are one. */
		const LodeIdKey key = {
			{(uint64_t)(uintptr_t)frame->function, (uint64_t)(uintptr_t)frame->image}};
		bool is_new;
		LodeIdSlot *slot = lode_id_cache_find(&known, &key, &is_new);
		if (is_new) {
			slot->id = self->tree->functions->len;
			g_array_append_val(self->tree->functions, i);
		}
		self->function_of[i] = slot->id;
	}
	lode_id_cache_clear(&known);
}

static void sum_samples(Builder *self, uint32_t event)
{
	guint n = self->stacks->stacks->len;

	for (guint i = 0; i < self->stacks->samples->len; i++) {
		const LodeStackSample *sample = &g_array_index(
			self->stacks->samples, LodeStackSample, i);
		guint at = MIN(sample->stack, n);
		if (sample->event != event)
			continue;
		self->weights[at] += sample->weight;
		self->samples[at] += 1.0 + sample->n_more;
		if (sample->time_ns != 0)
			self->first_ns[at] = MIN(self->first_ns[at], sample->time_ns);
	}
}

static uint32_t add_node(Builder *self, uint32_t parent, uint32_t function)
{
	const LodeFlameNode node = {.function = function, .parent = parent, .first_ns = UINT64_MAX};
	const Links none = {0};

	g_array_append_val(self->tree->nodes, node);
	g_array_append_val(self->links, none);
	return self->tree->nodes->len - 1;
}

static Links *links_of(const Builder *self, uint32_t node)
{
	return &g_array_index(self->links, Links, node);
}

static uint32_t list_child(Builder *self, uint32_t parent, uint32_t function)
{
	uint32_t child = add_node(self, parent, function);
	Links *of_parent = links_of(self, parent);

	links_of(self, child)->next = of_parent->first_child;
	of_parent->first_child = child;
	of_parent->n_listed++;
	return child;
}

/* The node of a function below another; LODE_NONE: the tree is full. */
static uint32_t find_child(Builder *self, uint32_t parent, uint32_t frame)
{
	uint32_t function = self->function_of[frame];
	const LodeIdKey key = {{parent, function}};
	bool is_new;

	for (uint32_t at = links_of(self, parent)->first_child; at != 0;
		at = links_of(self, at)->next)
		if (node_at(self->tree, at)->function == function)
			return at;
	if (self->tree->nodes->len >= LODE_FLAME_MAX_NODES)
		return LODE_NONE;
	if (links_of(self, parent)->n_listed < LISTED_CHILDREN)
		return list_child(self, parent, function);
	LodeIdSlot *slot = lode_id_cache_find(&self->children, &key, &is_new);
	if (is_new)
		slot->id = add_node(self, parent, function);
	return slot->id;
}

/* The samples of a stack end at a node, which may not be that of its last frame. */
static void end_stack(Builder *self, uint32_t stack, uint32_t node, bool is_cut)
{
	LodeFlameNode *end = node_at(self->tree, node);

	end->self += self->weights[stack];
	end->samples += self->samples[stack];
	end->first_ns = MIN(end->first_ns, self->first_ns[stack]);
	if (is_cut)
		self->tree->cut += self->weights[stack];
}

/* Outer stacks are rows before inner ones, so that their nodes are there first. */
static bool add_inward(Builder *self, const LodeProgress *progress)
{
	guint n = self->stacks->stacks->len;
	g_autofree bool *are_used = g_new0(bool, n + 1);
	g_autofree bool *are_cut = g_new0(bool, n + 1);
	g_autofree uint32_t *nodes = g_new0(uint32_t, n + 1);

	for (uint32_t i = n; i-- > 0;) {
		uint32_t outer = stack_at(self, i)->outer;
		are_used[i] |= self->samples[i] > 0;
		if (are_used[i] && outer != LODE_NONE)
			are_used[outer] = true;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t outer = stack_at(self, i)->outer, parent = 0;
		if (i % STEPS_BETWEEN_CHECKS == 0 && lode_progress_is_cancelled(progress))
			return false;
		if (!are_used[i])
			continue;
		if (outer != LODE_NONE) {
			parent = nodes[outer];
			are_cut[i] = are_cut[outer];
		}
		uint32_t node = are_cut[i] ? LODE_NONE
		                           : find_child(self, parent, stack_at(self, i)->frame);
		are_cut[i] = node == LODE_NONE;
		nodes[i] = node != LODE_NONE ? node : parent;
		end_stack(self, i, nodes[i], are_cut[i]);
	}
	return true;
}

/* How many frames of each stack can be added in LODE_FLAME_MAX_STEPS. */
static uint32_t depth_limit(const Builder *self)
{
	guint n = self->stacks->stacks->len;
	g_autofree uint32_t *depths = g_new(uint32_t, MAX(n, 1));
	uint32_t limit = 2 * LODE_STACK_MAX_DEPTH;
	uint64_t steps;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t outer = stack_at(self, i)->outer;
		depths[i] = outer != LODE_NONE ? depths[outer] + 1 : 1;
	}
	do {
		limit /= 2;
		steps = 0;
		for (uint32_t i = 0; i < n; i++)
			steps += self->samples[i] > 0 ? MIN(depths[i], limit) : 0;
	} while (steps > LODE_FLAME_MAX_STEPS && limit > 1);
	return limit;
}

static bool add_outward(Builder *self, const LodeProgress *progress)
{
	uint32_t limit = depth_limit(self);
	uint64_t steps = 0;

	for (uint32_t i = 0; i < self->stacks->stacks->len; i++) {
		uint32_t node = 0, at = self->samples[i] > 0 ? i : LODE_NONE;
		for (uint32_t depth = 0; at != LODE_NONE && depth < limit; depth++) {
			uint32_t child = find_child(self, node, stack_at(self, at)->frame);
			if (++steps % STEPS_BETWEEN_CHECKS == 0 &&
				lode_progress_is_cancelled(progress))
				return false;
			if (child == LODE_NONE)
				break;
			node = child;
			at = stack_at(self, at)->outer;
		}
		if (self->samples[i] > 0)
			end_stack(self, i, node, at != LODE_NONE);
	}
	return true;
}

/* A node stands after its parent. */
static void sum_nodes(LodeFlameTree *self)
{
	for (uint32_t i = self->nodes->len; i-- > 0;) {
		LodeFlameNode *node = node_at(self, i);
		node->weight += node->self;
		if (i == 0)
			break;
		LodeFlameNode *parent = node_at(self, node->parent);
		parent->weight += node->weight;
		parent->samples += node->samples;
		parent->first_ns = MIN(parent->first_ns, node->first_ns);
	}
}

LodeFlameTree *lode_flame_tree_new(
	const LodeStacks *stacks, uint32_t event, bool is_inverted, const LodeProgress *progress)
{
	LodeFlameTree *tree = g_new0(LodeFlameTree, 1);
	guint n = stacks->stacks->len;
	Builder self = {
		.stacks = stacks,
		.tree = tree,
		.function_of = g_new(uint32_t, MAX(stacks->frames->len, 1)),
		.weights = g_new0(double, n + 1),
		.samples = g_new0(double, n + 1),
		.first_ns = g_new(uint64_t, n + 1),
	};

	g_atomic_ref_count_init(&tree->references);
	tree->functions = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	tree->nodes = g_array_new(FALSE, FALSE, sizeof(LodeFlameNode));
	self.links = g_array_new(FALSE, FALSE, sizeof(Links));
	lode_id_cache_init(&self.children);
	memset(self.first_ns, 0xff, (n + 1) * sizeof(uint64_t));
	number_functions(&self);
	sum_samples(&self, event);
	add_node(&self, LODE_NONE, LODE_NONE);
	if (self.samples[n] > 0)
		end_stack(&self, n, add_node(&self, 0, LODE_NONE), false);
	bool is_done = is_inverted ? add_outward(&self, progress) : add_inward(&self, progress);
	sum_nodes(tree);
	lode_id_cache_clear(&self.children);
	g_array_unref(self.links);
	g_free(self.function_of);
	g_free(self.weights);
	g_free(self.samples);
	g_free(self.first_ns);
	if (is_done)
		return tree;
	lode_flame_tree_unref(tree);
	return NULL;
}

LodeFlameTree *lode_flame_tree_ref(LodeFlameTree *self)
{
	g_atomic_ref_count_inc(&self->references);
	return self;
}

void lode_flame_tree_unref(LodeFlameTree *self)
{
	if (self == NULL || !g_atomic_ref_count_dec(&self->references))
		return;
	g_array_unref(self->functions);
	g_array_unref(self->nodes);
	g_free(self);
}

static int compare_nodes(const void *a, const void *b, void *data)
{
	const LodeFlameTree *self = data;
	const LodeFlameNode *left = node_at(self, GPOINTER_TO_UINT(a));
	const LodeFlameNode *right = node_at(self, GPOINTER_TO_UINT(b));

	return LODE_FIRST_DIFFERENCE(LODE_DESCENDING(weight),
		lode_number_order(GPOINTER_TO_UINT(a), GPOINTER_TO_UINT(b)));
}

/* No node is wider than its parent, which has a lower number: the widest are a tree. */
GArray *lode_flame_tree_widest(const LodeFlameTree *self, uint32_t root, uint32_t limit)
{
	g_autoptr(GSequence) widest = g_sequence_new(NULL);
	g_autofree bool *are_below = g_new0(bool, self->nodes->len);
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	int n = (int)MIN(MAX(limit, 1), LODE_FLAME_MAX_NODES);
	double narrowest = -1;

	are_below[root] = true;
	for (uint32_t i = root; i < self->nodes->len; i++) {
		const LodeFlameNode *node = node_at(self, i);
		are_below[i] |= node->parent != LODE_NONE && are_below[node->parent];
		/* An equally wide one has a lower number. */
		if (!are_below[i] || node->weight <= narrowest)
			continue;
		g_sequence_insert_sorted(widest, GUINT_TO_POINTER(i), compare_nodes, (void *)self);
		if (g_sequence_get_length(widest) < n)
			continue;
		GSequenceIter *last = g_sequence_iter_prev(g_sequence_get_end_iter(widest));
		if (g_sequence_get_length(widest) > n) {
			g_sequence_remove(last);
			last = g_sequence_iter_prev(g_sequence_get_end_iter(widest));
		}
		narrowest = node_at(self, GPOINTER_TO_UINT(g_sequence_get(last)))->weight;
	}
	for (GSequenceIter *at = g_sequence_get_begin_iter(widest); !g_sequence_iter_is_end(at);
		at = g_sequence_iter_next(at)) {
		uint32_t node = GPOINTER_TO_UINT(g_sequence_get(at));
		g_array_append_val(rows, node);
	}
	g_array_sort(rows, lode_compare_u32);
	return rows;
}

double lode_flame_tree_weight_of(const LodeFlameTree *self, const bool *are_chosen)
{
	g_autofree bool *are_inside = g_new0(bool, self->nodes->len);
	double sum = 0;

	for (uint32_t i = 1; i < self->nodes->len; i++) {
		const LodeFlameNode *node = node_at(self, i);
		are_inside[i] = are_inside[node->parent];
		if (are_inside[i] || node->function == LODE_NONE || !are_chosen[node->function])
			continue;
		are_inside[i] = true;
		sum += node->weight;
	}
	return sum;
}
