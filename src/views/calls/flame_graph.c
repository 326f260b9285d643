/* SPDX-License-Identifier: MIT */
#include "views/calls/flame_graph.h"

#include "analyses/calls/flame_tree.h"
#include "analyses/calls/function_numbers.h"
#include "base/error.h"
#include "model/index.h"
#include "views/figures/profile_figures.h"
#include "views/form/display_text.h"
#include "views/form/format.h"
#include "views/form/function_name.h"
#include "views/profile/profile_json.h"

#include <string.h>

/* A row of the answer. */
typedef struct {
	uint32_t node;     /* of the tree; of a row for narrower ones, their parent */
	uint32_t function; /* its place in the answer */
	uint32_t parent;   /* row */
	uint32_t narrower;
	double samples, weight, self;
	double first_s; /* from the first sample of all; -1: not known */
} Row;

typedef struct {
	const LodeStackExport *export;
	const LodeFlameTree *tree;
	const LodeFlameGraphOptions *options;
	bool *are_chosen;         /* of the tree's functions: those with the text */
	uint32_t *rows_of;        /* of nodes, their row + 1 */
	uint32_t *listed;         /* of the tree's functions, their place in the answer + 1 */
	GArray *functions, *rows; /* uint32_t of the tree's functions; Row */
	guint path_length;        /* rows before the root's */
	uint64_t first_ns;        /* of all samples */
	LodeJsonStream json;
} Graph;

static const LodeFlameNode *node_at(const Graph *self, uint32_t i)
{
	return &g_array_index(self->tree->nodes, LodeFlameNode, i);
}

static const LodeFrame *frame_of(const Graph *self, uint32_t function)
{
	return &g_array_index(self->export->stacks->frames, LodeFrame,
		g_array_index(self->tree->functions, uint32_t, function));
}

static bool *choose_functions(const Graph *self)
{
	bool *are_chosen = g_new0(bool, self->tree->functions->len + 1);

	for (uint32_t i = 0; i < self->tree->functions->len; i++) {
		const char *name = frame_of(self, i)->function;
		are_chosen[i] = name != NULL && strcasestr(name, self->options->text) != NULL;
	}
	return are_chosen;
}

/* To the microsecond. */
static double seconds_of(const Graph *self, const LodeFlameNode *node)
{
	return node->first_ns != UINT64_MAX
	               ? (double)((node->first_ns - self->first_ns) / 1000) / 1e6
	               : -1;
}

static void add_row(Graph *self, uint32_t number)
{
	const LodeFlameNode *node = node_at(self, number);
	Row row = {
		.node = number,
		.function = LODE_NONE,
		.parent = node->parent != LODE_NONE ? self->rows_of[node->parent] - 1 : LODE_NONE,
		.samples = node->samples,
		.weight = node->weight,
		.self = node->self,
		.first_s = seconds_of(self, node),
	};

	if (node->function != LODE_NONE) {
		if (self->listed[node->function] == 0) {
			g_array_append_val(self->functions, node->function);
			self->listed[node->function] = self->functions->len;
		}
		row.function = self->listed[node->function] - 1;
	}
	g_array_append_val(self->rows, row);
	self->rows_of[number] = self->rows->len;
}

/* The path to the root, and the widest nodes below it. */
static void add_rows(Graph *self)
{
	uint32_t root = self->options->root;
	g_autoptr(GArray) widest = lode_flame_tree_widest(self->tree, root, self->options->limit);
	g_autoptr(GArray) path = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t at = node_at(self, root)->parent; at != LODE_NONE;
		at = node_at(self, at)->parent)
		g_array_append_val(path, at);
	self->path_length = path->len;
	for (guint i = path->len; i-- > 0;)
		add_row(self, g_array_index(path, uint32_t, i));
	for (guint i = 0; i < widest->len; i++)
		add_row(self, g_array_index(widest, uint32_t, i));
}

/* A row for the nodes below each that are left out. Those beside the path to the root are not asked
 * for. */
static void add_narrower(Graph *self)
{
	guint n = self->rows->len;
	g_autofree uint32_t *narrower = g_new0(uint32_t, n + 1); /* of rows: row + 1 */

	for (uint32_t i = 1; i < self->tree->nodes->len; i++) {
		const LodeFlameNode *node = node_at(self, i);
		uint32_t parent = self->rows_of[node->parent];
		if (self->rows_of[i] != 0 || parent <= self->path_length)
			continue;
		if (narrower[parent] == 0) {
			const Row row = {.node = node->parent,
				.function = LODE_NONE,
				.parent = parent - 1,
				.first_s = -1};
			g_array_append_val(self->rows, row);
			narrower[parent] = self->rows->len;
		}
		Row *row = &g_array_index(self->rows, Row, narrower[parent] - 1);
		row->samples += node->samples;
		row->weight += node->weight;
		row->narrower++;
		if (row->first_s < 0 ||
			(node->first_ns != UINT64_MAX && seconds_of(self, node) < row->first_s))
			row->first_s = seconds_of(self, node);
	}
}

static void put_name(LodeJsonStream *json, const char *name)
{
	g_autofree char *text = name != NULL ? lode_display_text(name, false) : NULL;

	lode_json_string(json, text);
}

/* null if it is not shorter. */
static void put_short_name(LodeJsonStream *json, const char *name)
{
	g_autofree char *text = name != NULL ? lode_function_name_short(name) : NULL;

	put_name(json, text != NULL && strlen(text) < strlen(name) ? text : NULL);
}

static void put_functions(Graph *self)
{
	LodeJsonStream *json = &self->json;
	g_auto(LodeFunctionNumbers) numbers;

	lode_function_numbers_init(&numbers, self->export->profile);
	lode_json_member_begin(json, "functions", '[');
	for (guint i = 0; i < self->functions->len; i++) {
		uint32_t function = g_array_index(self->functions, uint32_t, i);
		const LodeFrame *frame = frame_of(self, function);
		uint32_t number = lode_function_numbers_find(
			&numbers, frame->function, frame->image);
		lode_json_line(json);
		lode_json_begin(json, '[');
		put_name(json, frame->function);
		put_name(json, frame->image);
		if (number == LODE_NONE)
			lode_json_string(json, NULL);
		else
			lode_json_integer(json, number);
		lode_json_bool(json, self->are_chosen != NULL && self->are_chosen[function]);
		put_short_name(json, frame->function);
		lode_json_end(json, ']');
	}
	lode_json_end(json, ']');
}

/* A field of all rows: a double, or a uint32_t of which LODE_NONE is written as −1. */
static void put_column(Graph *self, const char *name, size_t field, bool is_double)
{
	lode_json_line(&self->json);
	lode_json_member_begin(&self->json, name, '[');
	for (guint i = 0; i < self->rows->len; i++) {
		const char *at = (const char *)&g_array_index(self->rows, Row, i) + field;
		uint32_t number = *(const uint32_t *)(const void *)at;
		if (is_double)
			lode_json_number(&self->json, *(const double *)(const void *)at);
		else
			lode_json_number(&self->json, number == LODE_NONE ? -1.0 : number);
	}
	lode_json_end(&self->json, ']');
}

static void put_nodes(Graph *self)
{
	lode_json_member_begin(&self->json, "nodes", '{');
	put_column(self, "number", offsetof(Row, node), false);
	put_column(self, "function", offsetof(Row, function), false);
	put_column(self, "parent", offsetof(Row, parent), false);
	put_column(self, "weight", offsetof(Row, weight), true);
	put_column(self, "self", offsetof(Row, self), true);
	put_column(self, "samples", offsetof(Row, samples), true);
	put_column(self, "narrower", offsetof(Row, narrower), false);
	put_column(self, "first", offsetof(Row, first_s), true);
	lode_json_end(&self->json, '}');
}

static void put_events(Graph *self)
{
	const LodeStackExport *export = self->export;

	lode_json_member_string(
		&self->json, "event", lode_profile_event_name(export->profile, export->weight));
	lode_json_member_begin(&self->json, "events", '[');
	for (guint i = 0; i < export->events->len; i++)
		lode_json_string(&self->json, lode_profile_event_name(export->profile,
						      g_array_index(export->events, uint32_t, i)));
	lode_json_end(&self->json, ']');
}

static void put_totals(Graph *self)
{
	LodeJsonStream *json = &self->json;
	const LodeFlameNode *all = node_at(self, 0);

	lode_json_member_string(json, "from", self->export->stacks->has_chains ? "stacks" : "tops");
	lode_json_member_string(json, "advice", NULL);
	lode_json_member_bool(json, "inverted", self->options->is_inverted);
	lode_json_member_number(json, "weight", all->weight);
	lode_json_member_number(json, "samples", all->samples);
	lode_json_member_number(json, "cut", lode_share_of(self->tree->cut, all->weight));
	lode_json_member_number(json, "tree_nodes", self->tree->nodes->len);
	lode_json_member_number(json, "root", self->path_length);
	lode_json_key(json, "matched");
	if (self->are_chosen == NULL)
		lode_json_string(json, NULL);
	else
		lode_json_number(
			json, lode_share_of(lode_flame_tree_weight_of(self->tree, self->are_chosen),
				      all->weight));
}

bool lode_flame_graph_write(const LodeStackExport *export, const LodeFlameTree *tree,
	const LodeFlameGraphOptions *options, FILE *out, GError **error)
{
	Graph self = {.export = export,
		.tree = tree,
		.options = options,
		.first_ns = lode_stacks_span(export->stacks).first_ns};

	if (options->root >= tree->nodes->len) {
		g_set_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND,
			"the flame graph has no node %u", options->root);
		return false;
	}
	g_autoptr(GArray) functions = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(Row));
	g_autofree uint32_t *rows_of = g_new0(uint32_t, tree->nodes->len);
	g_autofree uint32_t *listed = g_new0(uint32_t, tree->functions->len + 1);
	g_autofree bool *are_chosen = NULL;
	self.functions = functions;
	self.rows = rows;
	self.rows_of = rows_of;
	self.listed = listed;
	if (options->text != NULL)
		self.are_chosen = are_chosen = choose_functions(&self);
	add_rows(&self);
	add_narrower(&self);
	lode_profile_json_begin(&self.json, out, export->profile, NULL);
	put_events(&self);
	put_totals(&self);
	put_functions(&self);
	put_nodes(&self);
	lode_json_end(&self.json, '}');
	return lode_view_flush(out, error);
}

bool lode_flame_graph_write_none(const LodeProfile *profile, FILE *out, GError **error)
{
	LodeJsonStream json;

	lode_profile_json_begin(&json, out, profile, NULL);
	lode_json_member_string(&json, "from", NULL);
	lode_json_member_string(&json, "advice",
		"no calls were recorded: 'lode run -g' and 'lode record -g' record them by frame "
		"pointers, '--call-graph dwarf' for programs without these");
	lode_json_end(&json, '}');
	return lode_view_flush(out, error);
}
