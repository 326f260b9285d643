/* SPDX-License-Identifier: MIT */
/* Call stacks merged into a tree, for the page to draw. */
#include "views/calls/flame_graph.h"

#include "analyses/calls/flame_tree.h"
#include "base/error.h"
#include "model/index.h"
#include "model/stacks.h"
#include "questions/parts/part_rows.h"
#include "questions/parts/rows.h"
#include "questions/questions.h"

enum { MAX_KEPT_NODES = 1 << 20 }; /* 40 MB */

typedef struct {
	LodeFlameGraphOptions graph;
	LodePartChoice part;
	const char *weight;
	LodeViewFormat format;
} Options;

static const LodeParameter rows[] = {
	{"inverted", LODE_FLAG(Options, graph.is_inverted),
		.summary = "begin with the innermost function, its callers above it"},
	{"text", LODE_TEXT(Options, graph.text), .value = "TEXT",
		.summary = "how much is in stacks with functions that have this in their names"},
	{"root", LODE_COUNT(Options, graph.root), .most = UINT32_MAX - 1, .value = "N",
		.summary = "what is below this node of an answer"},
	{"limit", LODE_COUNT(Options, graph.limit), .least = 1, .most = 100000, .value = "N",
		.standard = "5000", .summary = "at most N nodes, the widest"},
	LODE_EVENT_ROW(Options, weight),
	{"format", LODE_WORD(Options, format), .value = "json", .summary = "only JSON"},
	{NULL},
};

static const LodeParameterGroup groups[] = {
	{"Options", rows, 0},
	{"Part", lode_part_rows, offsetof(Options, part)},
	{NULL},
};

static void *ref_tree(void *tree)
{
	return lode_flame_tree_ref(tree);
}

static void unref_tree(void *tree)
{
	lode_flame_tree_unref(tree);
}

/* Zooming and searching request parts of the same tree. */
static LodeFlameTree *find_tree(
	LodeAsking *asking, const LodeStackExport *export, bool is_inverted, GError **error)
{
	static const LodeKeptKind kind = {ref_tree, unref_tree};
	static const char *const of_view[] = {"text", "root", "limit", "format", NULL};
	g_autofree char *key = lode_asking_key(asking, "flame", of_view, true);
	LodeFlameTree *tree = asking->asker->find(asking, &kind, key);

	if (tree != NULL)
		return tree;
	tree = lode_flame_tree_new(export->stacks, export->weight, is_inverted, asking->progress);
	if (tree == NULL)
		lode_asking_fail_stopped(error);
	else if (tree->nodes->len <= MAX_KEPT_NODES)
		asking->asker->keep(asking, &kind, key, tree);
	return tree;
}

static bool answer(LodeAsking *asking, void *options, GError **error)
{
	const Options *self = options;
	g_auto(LodeStackExport) export = {0};
	g_autoptr(LodeFlameTree) tree = NULL;
	const LodeProfile *profile = asking->asker->profile(asking, 0,
		&(const LodeProfileChoice){
			.has_stacks = true, .part = self->part, .event = self->weight},
		error);

	if (profile == NULL)
		return false;
	const LodeStacks *stacks = lode_stacks_of(profile);
	bool has_calls = stacks != NULL && (stacks->has_chains || stacks->has_tops);
	if (has_calls) {
		if (!lode_stack_export_init_recorded(&export, profile, LODE_NONE, error))
			return false;
		tree = find_tree(asking, &export, self->graph.is_inverted, error);
		if (tree == NULL)
			return false;
	}
	FILE *out = lode_asking_begin(asking, NULL, error);
	return out != NULL &&
	       (has_calls ? lode_flame_graph_write(&export, tree, &self->graph, out, error)
			  : lode_flame_graph_write_none(profile, out, error)) &&
	       lode_asking_end(asking, error);
}

const LodeVerb lode_question_flame = {
	.name = "flame",
	.summary = "merge call stacks into a flame graph",
	.groups = groups,
	.size = sizeof(Options),
	.answer = answer,
};
