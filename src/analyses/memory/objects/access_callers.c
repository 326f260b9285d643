/* SPDX-License-Identifier: MIT */
/*
 * Each sample walks from its object over the access outward, along a tree whose nodes differ by
 * function and place. Then the tree is written out, the heaviest first.
 */
#include "analyses/memory/objects/access_callers.h"

#include "analyses/memory/page_faults.h"
#include "base/arrays/id_cache.h"
#include "base/error.h"
#include "model/index.h"
#include "model/memory.h"

typedef struct {
	uint32_t object, call, first_child, next;
	uint64_t n_samples;
	double weight;
} Node;

typedef struct {
	const LodeProfile *profile;
	const LodeAccessCallersOptions *options;
	LodeAccessCallers *result;
	GArray *nodes; /* Node; the first is the root of all objects */
	LodeIdCache ids;
} Builder;

enum { ROOT };

static Node *node_at(const Builder *self, uint32_t node)
{
	return &LODE_AT(self->nodes, Node, node);
}

/* `what`, and where: the texts are the profile's, once each. */
static uint32_t find_child(
	Builder *self, uint32_t parent, const char *what, const char *where, const Node *fresh)
{
	const LodeIdKey key = {{parent, (uint64_t)(uintptr_t)what, (uint64_t)(uintptr_t)where}};
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find(&self->ids, &key, &is_new);

	if (!is_new)
		return slot->id;
	Node node = *fresh;
	node.first_child = LODE_NONE;
	node.next = node_at(self, parent)->first_child;
	slot->id = self->nodes->len;
	node_at(self, parent)->first_child = slot->id;
	g_array_append_val(self->nodes, node);
	return slot->id;
}

static void weigh(Builder *self, uint32_t node, const LodeMemorySample *sample, bool is_second)
{
	node_at(self, node)->weight += sample->weight;
	node_at(self, node)->n_samples += !is_second;
}

static void add_sample(Builder *self, uint32_t number, bool is_second)
{
	const LodeMemory *memory = lode_memory_of(self->profile);
	const LodeMemorySample *sample = &LODE_AT(memory->samples, LodeMemorySample, number);
	uint32_t call = LODE_AT(memory->access_paths, LodeAccessPathOf, number).call;
	const Node of_object = {.object = sample->object, .call = LODE_NONE};
	const char *name = lode_memory_object_name(memory, sample->object);
	uint32_t node = find_child(self, ROOT, name, NULL, &of_object);

	weigh(self, node, sample, is_second);
	self->result->weight += sample->weight;
	if (call == LODE_NONE ||
		LODE_AT(memory->access_calls, LodeAccessCall, call).outer == LODE_NONE)
		self->result->weight_without += sample->weight;
	for (uint32_t level = 0; call != LODE_NONE && level <= self->options->n_callers; level++) {
		const LodeAccessCall *row = &LODE_AT(memory->access_calls, LodeAccessCall, call);
		const Node of_call = {.object = sample->object, .call = call};
		node = find_child(self, node, row->function, row->place, &of_call);
		weigh(self, node, sample, is_second);
		call = row->outer;
	}
}

static int compare_nodes(const void *a, const void *b, void *data)
{
	const Builder *self = data;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	double x = node_at(self, left)->weight, y = node_at(self, right)->weight;

	if (x != y)
		return x > y ? -1 : 1;
	return (left > right) - (left < right);
}

/* The recursion is at most as deep as the requested number of callers. */
static void add_children(Builder *self, uint32_t parent, uint32_t level)
{
	uint32_t top = level == 0 ? self->options->top : self->options->top_calls;
	g_autoptr(GArray) children = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	LodeAccessCallersRow others = {.kind = LODE_ACCESS_ROW_OTHERS,
		.level = level,
		.object = node_at(self, parent)->object,
		.call = LODE_NONE};

	for (uint32_t i = node_at(self, parent)->first_child; i != LODE_NONE;
		i = node_at(self, i)->next)
		g_array_append_val(children, i);
	g_array_sort_with_data(children, compare_nodes, self);
	for (guint i = 0; i < children->len; i++) {
		uint32_t number = g_array_index(children, uint32_t, i);
		const Node *node = node_at(self, number);
		const LodeAccessCallersRow row = {
			.kind = level == 0 ? LODE_ACCESS_ROW_OBJECT : LODE_ACCESS_ROW_CALL,
			.level = level,
			.object = node->object,
			.call = node->call,
			.n_samples = node->n_samples,
			.weight = node->weight,
		};
		if (top == 0 || i < top) {
			g_array_append_val(self->result->rows, row);
			add_children(self, number, level + 1);
			continue;
		}
		others.n_others++;
		others.n_samples += node->n_samples;
		others.weight += node->weight;
	}
	if (others.n_others > 0)
		g_array_append_val(self->result->rows, others);
}

LodeAccessCallers *lode_access_callers_new(const LodeProfile *profile, const uint32_t *samples,
	size_t n_samples, const LodeAccessCallersOptions *options, GError **error)
{
	const LodeMemory *memory = lode_memory_of(profile);
	const Node root = {.object = LODE_NONE, .call = LODE_NONE, .first_child = LODE_NONE};
	uint32_t last = LODE_NONE;

	if (memory->access_paths->len == 0) {
		g_set_error_literal(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"no calls that lead to accesses were recorded; 'lode memory record -g -- "
			"PROGRAM' records them by frame pointers (-fno-omit-frame-pointer), "
			"'--call-graph dwarf' without; so does 'perf record -g -d --user-regs'");
		return NULL;
	}
	g_autofree bool *are_faults = lode_page_faults_events(profile);
	g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(Node));
	LodeAccessCallers *result = g_new0(LodeAccessCallers, 1);
	Builder self = {.profile = profile, .options = options, .result = result, .nodes = nodes};
	lode_id_cache_init(&self.ids);
	result->rows = g_array_new(FALSE, FALSE, sizeof(LodeAccessCallersRow));
	g_array_append_val(nodes, root);
	for (size_t i = 0; i < n_samples; i++) {
		const LodeMemorySample *sample = &LODE_AT(
			memory->samples, LodeMemorySample, samples[i]);
		if (are_faults[sample->event])
			continue;
		add_sample(&self, samples[i], sample->operand != 0 && last + 1 == samples[i]);
		last = samples[i];
	}
	add_children(&self, ROOT, 0);
	lode_id_cache_clear(&self.ids);
	return result;
}

void lode_access_callers_free(LodeAccessCallers *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->rows);
	g_free(self);
}
