/* SPDX-License-Identifier: MIT */
#include "analyses/waits/wait_groups.h"

#include "base/arrays/sort_order.h"
#include "base/arrays/sum_table.h"
#include "model/index.h"
#include "model/waits.h"

#include <string.h>

/* On a busy machine, those that ran for so long at most, and lived for so long. */
static const double SHORT_RUN_NS = 4e6, SHORT_BUSY_NS = 100e6;

typedef struct {
	const LodeWaits *waits;
	const double *left_out;
	GHashTable *by_parent; /* index + 1 → Family */
} Search;

typedef struct {
	double processes, lives_ns, running_ns, lived_ns;
	uint64_t until_ns;
	GHashTable *names; /* borrowed → double *, how many */
} Family;

static void family_free(void *data)
{
	Family *self = data;

	g_hash_table_unref(self->names);
	g_free(self);
}

static Family *family_of(Search *self, uint32_t parent)
{
	Family *family = g_hash_table_lookup(self->by_parent, GUINT_TO_POINTER(parent + 1));

	if (family == NULL) {
		family = g_new0(Family, 1);
		family->names = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
		g_hash_table_insert(self->by_parent, GUINT_TO_POINTER(parent + 1), family);
	}
	return family;
}

static void add(Search *self, uint32_t index)
{
	const LodeWaitProcess *one = &LODE_AT(self->waits->processes, LodeWaitProcess, index);
	double kept = 1 - (self->left_out != NULL ? MIN(self->left_out[index], 1) : 0);

	if (one->parent >= self->waits->processes->len || one->name == NULL ||
		strcmp(one->name, LODE_SLEEP_PROGRAM) == 0)
		return;
	Family *family = family_of(self, one->parent);
	family->processes += kept;
	family->lives_ns += kept * (double)(one->end_ns - one->begin_ns);
	family->running_ns += kept * one->running_ns;
	if (one->end_ns > family->until_ns)
		family->lived_ns += kept *
		                    (double)(one->end_ns - MAX(one->begin_ns, family->until_ns));
	family->until_ns = MAX(family->until_ns, one->end_ns);
	*lode_sum_at(family->names, (char *)one->name) += kept;
}

static const char *most_of(GHashTable *names, double *out_n)
{
	GHashTableIter iter;
	void *name, *value;
	const char *most = NULL;

	*out_n = 0;
	g_hash_table_iter_init(&iter, names);
	while (g_hash_table_iter_next(&iter, &name, &value)) {
		double n = *(const double *)value;
		if (n > *out_n || (n == *out_n && most != NULL && strcmp(name, most) < 0)) {
			*out_n = n;
			most = name;
		}
	}
	return most;
}

static bool is_short(const Family *self)
{
	double life = self->lives_ns / self->processes, run = self->running_ns / self->processes;

	return self->processes >= LODE_MANY_CHILDREN &&
	       (life <= LODE_SHORT_LIFE_NS || (run <= SHORT_RUN_NS && life <= SHORT_BUSY_NS));
}

static void append(GArray *found, uint32_t parent, const Family *family)
{
	double most;
	const char *name = most_of(family->names, &most);
	guint others = g_hash_table_size(family->names) - 1;
	g_autofree char *more = others > 0 ? g_strdup_printf(" and %u more", others) : NULL;
	const LodeStarted one = {.parent = parent,
		.lived_ns = family->lived_ns,
		.children = {.kind = LODE_CHILDREN_SHORT,
			.name = name,
			.text = g_strdup_printf("%s ×%.0f%s", name, most, more != NULL ? more : ""),
			.processes = family->processes,
			.life_ns = family->lives_ns / family->processes,
			.running_ns = family->running_ns / family->processes,
			.at_once = family->lives_ns / MAX(family->lived_ns, 1)}};

	g_array_append_val(found, one);
}

static void started_clear(void *data)
{
	LodeStarted *self = data;

	lode_children_clear(&self->children);
}

LODE_ORDER(compare_started, LodeStarted, LODE_DESCENDING(lived_ns), LODE_ASCENDING(parent))

GArray *lode_started_new(const LodeProfile *profile, double least_ns, const double *left_out)
{
	const LodeWaits *waits = lode_waits_of(profile);
	GArray *found = g_array_new(FALSE, FALSE, sizeof(LodeStarted));
	g_autoptr(GHashTable) by_parent = g_hash_table_new_full(NULL, NULL, NULL, family_free);
	Search self = {waits, left_out, by_parent};
	GHashTableIter iter;
	void *key, *value;

	g_array_set_clear_func(found, started_clear);
	for (uint32_t i = 0; i < waits->processes->len; i++)
		add(&self, i);
	g_hash_table_iter_init(&iter, by_parent);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		const Family *family = value;
		if (is_short(family) && family->lived_ns >= least_ns)
			append(found, GPOINTER_TO_UINT(key) - 1, family);
	}
	g_array_sort(found, compare_started);
	return found;
}
