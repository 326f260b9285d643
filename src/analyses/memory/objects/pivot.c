/* SPDX-License-Identifier: MIT */
/*
 * A tree of groups, one level for each expression. One hash table finds the groups of all levels,
 * by parent and key; the tree is flattened into rows, sorted, when all samples are in.
 */
#include "analyses/memory/objects/pivot.h"

#include "analyses/memory/expressions/expression.h"
#include "analyses/memory/page_faults.h"
#include "analyses/memory/sample_attributes.h"
#include "analyses/memory/sample_filter.h"
#include "base/error.h"
#include "base/text/words.h"
#include "model/index.h"
#include "model/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct Group Group;

struct Group {
	const Group *parent; /* NULL: of the first level */
	Group *first_child, *next;
	uint32_t n_children;
	LodeValue key;
	LodeAccessTotals totals;
};

struct LodePivotGroups {
	LodeSampleAttributes *attributes;
	LodeExpression *expressions[LODE_PIVOT_MAX_LEVELS];
	LodeEvaluator *evaluators[LODE_PIVOT_MAX_LEVELS];
	GHashTable *found; /* Group → itself, by (parent, key) */
	Group root;
};

static const char *const sort_words[LODE_N_PIVOT_SORTS] = {
	"weight", "samples", "loads", "stores", "latency", "key"};

int lode_pivot_sort_from_text(const char *text)
{
	return lode_word_find(sort_words, G_N_ELEMENTS(sort_words), text);
}

static guint hash_group(const void *data)
{
	const Group *group = data;

	return lode_value_hash(&group->key) ^ g_direct_hash(group->parent) * 31u;
}

static gboolean equal_groups(const void *a, const void *b)
{
	const Group *left = a, *right = b;

	return left->parent == right->parent && lode_value_equal(&left->key, &right->key);
}

static void free_groups(LodePivotGroups *self)
{
	if (self == NULL)
		return;
	for (size_t i = 0; i < LODE_PIVOT_MAX_LEVELS; i++) {
		lode_evaluator_free(self->evaluators[i]);
		lode_expression_free(self->expressions[i]);
	}
	lode_sample_attributes_free(self->attributes);
	g_hash_table_unref(self->found);
	g_free(self);
}

void lode_pivot_free(LodePivot *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->rows);
	free_groups(self->groups);
	g_free(self);
}

static bool prefix_level(unsigned level, GError **error)
{
	if (level == 0)
		g_prefix_error(error, "--by: ");
	else
		g_prefix_error(error, "--by%u: ", level + 1);
	return false;
}

static bool open_level(
	LodePivot *self, unsigned level, const LodeExpressionScope *scope, GError **error)
{
	LodePivotGroups *groups = self->groups;
	size_t n;
	const LodeSampleAttribute *table = lode_sample_attribute_table(&n);
	g_autoptr(LodeExpression)
		expression = lode_expression_new(self->titles[level], scope, error);

	if (expression == NULL)
		return prefix_level(level, error);
	int attribute = lode_expression_attribute(expression);
	/* Asked for alone: "line" would put the lines 10 of all files together. */
	if (attribute >= 0 && table[attribute].grouped_as != NULL) {
		lode_expression_free(expression);
		expression = lode_expression_new(table[attribute].grouped_as, scope, error);
		g_assert(expression != NULL);
	}
	self->is_hex[level] = lode_expression_is_hex(expression);
	groups->evaluators[level] = lode_evaluator_new(expression, groups->attributes);
	groups->expressions[level] = g_steal_pointer(&expression);
	return true;
}

static bool open_levels(LodePivot *self, const LodePivotOptions *options, GError **error)
{
	g_autoptr(LodeExpressionScope)
		scope = lode_expression_scope_new(&lode_sample_attribute_source);

	if (!lode_expression_scope_define_all(scope, options->definitions, error))
		return false;
	for (unsigned i = 0; i < options->n_levels; i++) {
		self->titles[i] = options->by[i];
		if (!open_level(self, i, scope, error))
			return false;
	}
	return true;
}

static Group *find_group(LodePivotGroups *self, Group *parent, const LodeValue *key)
{
	Group wanted = {.parent = parent, .key = *key};
	Group *found = g_hash_table_lookup(self->found, &wanted);

	if (found != NULL)
		return found;
	found = g_memdup2(&wanted, sizeof(wanted));
	found->next = parent->first_child;
	parent->first_child = found;
	parent->n_children++;
	g_hash_table_add(self->found, found);
	return found;
}

/* A sample counts in the root and in its group of each level, so that no sums are needed later. */
static bool add_sample(
	LodePivot *self, const LodeMemorySample *sample, uint32_t row, GError **error)
{
	Group *group = &self->groups->root;

	lode_access_totals_add(&group->totals, sample, row);
	for (unsigned i = 0; i < self->n_levels; i++) {
		LodeValue key;
		if (!lode_evaluator_run(self->groups->evaluators[i], sample, &key, error))
			return prefix_level(i, error);
		group = find_group(self->groups, group, &key);
		lode_access_totals_add(&group->totals, sample, row);
	}
	return true;
}

static bool add_samples(LodePivot *self, const LodeProfile *profile, const uint32_t *samples,
	size_t n_samples, const LodeProgress *progress, GError **error)
{
	const LodeMemory *memory = lode_memory_of(profile);
	g_autoptr(GArray) accesses = lode_page_faults_exclude(profile, samples, n_samples);

	for (guint i = 0; i < accesses->len; i++) {
		uint32_t row = LODE_AT(accesses, uint32_t, i);
		if (i % LODE_SAMPLES_BETWEEN_LOOKS == 0 &&
			!lode_sample_work_goes_on(progress, error))
			return false;
		if (!add_sample(self, &LODE_AT(memory->samples, LodeMemorySample, row), row, error))
			return false;
	}
	return true;
}

static double sort_value(const LodeAccessTotals *totals, LodePivotSort sort)
{
	switch (sort) {
	case LODE_PIVOT_SORT_WEIGHT:
		return totals->weight;
	case LODE_PIVOT_SORT_SAMPLES:
		return (double)totals->n_samples;
	case LODE_PIVOT_SORT_LOADS:
		return (double)totals->n_loads;
	case LODE_PIVOT_SORT_STORES:
		return (double)totals->n_stores;
	case LODE_PIVOT_SORT_LATENCY:
		return lode_access_totals_latency(totals);
	default:
		return 0;
	}
}

/* "parse.c:9" comes before "parse.c:10". */
static int compare_keys(const LodeValue *left, const LodeValue *right)
{
	if (left->kind == LODE_VALUE_TEXT && right->kind == LODE_VALUE_TEXT)
		return strverscmp(left->text, right->text);
	return lode_value_compare(left, right);
}

/* A group with its sort key: there may be as many groups as samples. */
typedef struct {
	double value;
	const Group *group;
} Ranked;

static bool has_no_key(const Group *group)
{
	return group->key.kind == LODE_VALUE_NONE;
}

/* Samples without the value come last, whatever their weight: they are not a group of their own. */
static int compare_ranked(const void *a, const void *b)
{
	const Ranked *left = a, *right = b;

	if (has_no_key(left->group) || has_no_key(right->group))
		return has_no_key(left->group) - has_no_key(right->group);
	if (left->value != right->value)
		return left->value > right->value ? -1 : 1;
	return compare_keys(&left->group->key, &right->group->key);
}

static GArray *sorted_children(const Group *group, LodePivotSort sort)
{
	GArray *children = g_array_sized_new(FALSE, FALSE, sizeof(Ranked), group->n_children);

	for (const Group *child = group->first_child; child != NULL; child = child->next) {
		Ranked ranked = {sort_value(&child->totals, sort), child};
		g_array_append_val(children, ranked);
	}
	g_array_sort(children, compare_ranked);
	return children;
}

static void append_children(LodePivot *self, const Group *group, uint32_t level, uint32_t parent,
	const LodePivotOptions *options);

static void append_group(
	LodePivot *self, const Group *group, LodePivotRow row, const LodePivotOptions *options)
{
	bool is_none = has_no_key(group);

	row.kind = is_none ? LODE_PIVOT_NONE : LODE_PIVOT_VALUE;
	row.key = group->key;
	row.totals = group->totals;
	g_array_append_val(self->rows, row);
	append_children(self, group, row.level + 1, self->rows->len - 1, options);
}

/* As deep as there are levels. */
static void append_children(LodePivot *self, const Group *group, uint32_t level, uint32_t parent,
	const LodePivotOptions *options)
{
	g_autoptr(GArray) children = sorted_children(group, options->sort);
	LodePivotRow row = {.level = level, .parent = parent};
	LodePivotRow others = {.kind = LODE_PIVOT_OTHERS, .level = level, .parent = parent};
	const Group *without = NULL; /* a key: the last one */

	for (guint i = 0; i < children->len; i++) {
		const Group *child = g_array_index(children, Ranked, i).group;
		if (has_no_key(child)) {
			without = child;
		} else if (options->top == 0 || i < options->top) {
			append_group(self, child, row, options);
		} else {
			lode_access_totals_join(&others.totals, &child->totals);
			others.n_others++;
		}
	}
	if (others.n_others > 0)
		g_array_append_val(self->rows, others);
	if (without != NULL)
		append_group(self, without, row, options);
}

LodePivot *lode_pivot_new(const LodeProfile *profile, const uint32_t *samples, size_t n_samples,
	const LodePivotOptions *options, GError **error)
{
	g_autoptr(LodePivot) self = g_new0(LodePivot, 1);

	g_assert(options->n_levels >= 1 && options->n_levels <= LODE_PIVOT_MAX_LEVELS);
	self->n_levels = options->n_levels;
	self->rows = g_array_new(FALSE, TRUE, sizeof(LodePivotRow));
	self->groups = g_new0(LodePivotGroups, 1);
	self->groups->attributes = lode_sample_attributes_new(profile, options->own);
	self->groups->found = g_hash_table_new_full(hash_group, equal_groups, g_free, NULL);
	if (!open_levels(self, options, error) ||
		!add_samples(self, profile, samples, n_samples, options->progress, error))
		return NULL;
	self->total = self->groups->root.totals;
	append_children(self, &self->groups->root, 0, LODE_NONE, options);
	return g_steal_pointer(&self);
}

void lode_pivot_append_name(const LodePivot *self, const LodePivotRow *row, GString *out)
{
	if (row->kind == LODE_PIVOT_OTHERS)
		g_string_append_printf(
			out, "(%u %s)", row->n_others, row->n_others == 1 ? "other" : "others");
	else
		lode_value_append(&row->key, self->is_hex[row->level], out);
}
