/* SPDX-License-Identifier: MIT */
#include "base/arrays/sum_table.h"
#include "views/export/stack_export.h"

#include "base/arrays/sort_order.h"
#include "model/index.h"
#include "model/stacks.h"
#include "views/form/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Separators of frames cannot be part of a name. */
static void append_name(GString *line, const char *name)
{
	g_autofree char *text = lode_stack_export_text(name);

	g_string_append(line, g_strdelimit(text, ";", ':'));
}

static char *stack_text(const LodeStackExport *self, const LodeStackSum *sum)
{
	const LodeStacks *stacks = self->stacks;
	const LodeStackThread *thread = &g_array_index(
		stacks->threads, LodeStackThread, sum->thread);
	g_autoptr(GArray) way = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	GString *text = g_string_new(NULL);

	for (uint32_t at = sum->stack; at != LODE_NONE;
		at = g_array_index(stacks->stacks, LodeStack, at).outer)
		g_array_append_val(way, at);
	append_name(text, thread->name != NULL ? thread->name : "[unknown]");
	for (guint i = way->len; i-- > 0;) {
		const LodeStack *stack = &g_array_index(
			stacks->stacks, LodeStack, g_array_index(way, uint32_t, i));
		g_autofree char *name = lode_stack_export_frame_name(
			&g_array_index(stacks->frames, LodeFrame, stack->frame));
		g_string_append_c(text, ';');
		append_name(text, name);
	}
	if (way->len == 0)
		g_string_append(text, ";[unknown]");
	return g_string_free(text, FALSE);
}

static guint weight_column(const LodeStackExport *self)
{
	for (guint i = 0; i < self->events->len; i++)
		if (g_array_index(self->events, uint32_t, i) == self->weight)
			return i;
	return 0;
}

/* Stacks that differ in their lines only are one line here. */
static GHashTable *sum_texts(const LodeStackExport *self)
{
	g_autofree double *values = NULL;
	g_autoptr(GArray) sums = lode_stack_export_sums(self, &values);
	GHashTable *weights = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	guint column = weight_column(self);

	for (guint i = 0; i < sums->len; i++) {
		const LodeStackSum *sum = &g_array_index(sums, LodeStackSum, i);
		g_autofree char *text = stack_text(self, sum);
		*lode_sum_at_text(weights, text) += sum->values[column];
	}
	return weights;
}

bool lode_folded_stacks_write(const LodeStackExport *self, FILE *out, GError **error)
{
	g_autoptr(GHashTable) weights = sum_texts(self);
	guint n;
	g_autofree void **texts = g_hash_table_get_keys_as_array(weights, &n);

	if (n > 1)
		qsort(texts, n, sizeof(char *), lode_compare_texts);
	for (guint i = 0; i < n; i++) {
		double weight = round(*(const double *)g_hash_table_lookup(weights, texts[i]));
		if (weight > 0)
			fprintf(out, "%s %.0f\n", (const char *)texts[i], weight);
	}
	return lode_view_flush(out, error);
}
