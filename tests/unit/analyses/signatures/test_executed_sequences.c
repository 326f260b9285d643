/* SPDX-License-Identifier: MIT */
/* Supports of executed sequences against a count of all paths by their texts. */
#include "analyses/signatures/executed_sequences.h"
#include "flow_text.h"
#include "model/profile.h"
#include "seeds.h"

#include <math.h>
#include <string.h>

/* Opcode of each vertex, and all edges between vertices of one graph, as the profile has them. */
typedef struct {
	const LodeProfile *profile;
	GHashTable *supports; /* text → double * */
	double total;
} Naive;

static const char *opcode_of(const LodeProfile *profile, uint32_t instruction)
{
	const LodeAttributeSet *set = &LODE_AT(profile->code.attribute_sets, LodeAttributeSet,
		lode_profile_instruction(profile, instruction)->attribute_set);

	for (uint32_t i = 0; i < set->n; i++) {
		const char *name = g_ptr_array_index(profile->code.attributes,
			LODE_AT(profile->code.set_members, uint32_t, set->first + i));
		if (g_str_has_prefix(name, "op:"))
			return name + 3;
	}
	return NULL;
}

static void naive_walk(Naive *self, uint32_t at, const char *before, unsigned length, double count)
{
	const LodeProfile *profile = self->profile;
	const LodeInstruction *one = lode_profile_instruction(profile, at);
	g_autofree char *text = g_strdup_printf(
		"%s%s%s", before, *before ? " " : "", opcode_of(profile, at));
	double *known = g_hash_table_lookup(self->supports, text);

	if (known == NULL) {
		known = g_new0(double, 1);
		g_hash_table_insert(self->supports, g_strdup(text), known);
	}
	*known += count / self->total;
	if (length == 4)
		return;
	if (one->next_count > 0)
		naive_walk(self, at + 1, text, length + 1, count * one->next_count / one->count);
	for (guint i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		if (edge->source == at && edge->count > 0)
			naive_walk(self, edge->target, text, length + 1,
				count * edge->count / one->count);
	}
}

static void test_supports(void)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (int g = 0; g < 3; g++) {
		g_autofree char *name = g_strdup_printf("g%d", g);
		flow_text_append_graph(text, name, "o", 5, (unsigned)random_int_range(2, 12),
			random_int_range(1, 50) * 4);
	}
	g_autoptr(LodeProfile) profile = flow_text_read(text->str);
	g_autoptr(LodeSymbols) symbols = lode_symbols_new();
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeExecutedSequences)
		executed = lode_executed_sequences_new(profile, "kind,mem", symbols, &error);
	g_assert_no_error(error);
	LodeSequenceTable supports = {0};
	double totals[LODE_SIGNATURE_LENGTHS], sums[LODE_SIGNATURE_LENGTHS] = {0};
	lode_executed_sequences_count(executed, LODE_SEQUENCES_OPCODES, &supports, totals);

	Naive naive = {profile, g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free), 0};
	for (guint i = 0; i < profile->code.instructions->len; i++)
		naive.total += lode_profile_instruction(profile, i)->count;
	for (guint i = 0; i < profile->code.instructions->len; i++)
		naive_walk(&naive, i, "", 1, lode_profile_instruction(profile, i)->count);
	g_assert_cmpuint(supports.n_used, ==, g_hash_table_size(naive.supports));
	GHashTableIter each;
	void *key, *value;
	g_hash_table_iter_init(&each, naive.supports);
	while (g_hash_table_iter_next(&each, &key, &value)) {
		uint64_t id = lode_symbols_key(symbols, key);
		g_autofree char *back = lode_symbols_text(symbols, id);
		g_assert_cmpstr(back, ==, key);
		double found = lode_sequence_table_get(&supports, id, -1);
		g_assert_cmpfloat(fabs(found - *(double *)value), <, 1e-12);
		sums[lode_sequence_length(id) - 1] += found;
	}
	/* All flow goes round, so that every execution begins a sequence of each length. */
	for (unsigned i = 0; i < LODE_SIGNATURE_LENGTHS; i++) {
		g_assert_cmpfloat(fabs(totals[i] - 1), <, 1e-9);
		g_assert_cmpfloat(fabs(sums[i] - totals[i]), <, 1e-9);
	}
	lode_sequence_table_clear(&supports);
	g_hash_table_unref(naive.supports);
}

/* Attributes of one instruction are one element, escaped where a file needs it. */
static void test_attributes(void)
{
	g_autoptr(LodeProfile) profile = flow_text_read(
		"lode-flow 1\nevent cycles\ngraph g\n"
		"v a 1 10 op:mov kind:load mem:pointer\nv b 1 10 op:add\nv c 1 10 kind:kernel\n"
		"e a b 10\ne b c 10\n");
	g_autoptr(LodeSymbols) symbols = lode_symbols_new();
	g_autoptr(LodeExecutedSequences)
		executed = lode_executed_sequences_new(profile, "kind,mem", symbols, NULL);
	LodeSequenceTable supports = {0};
	double totals[LODE_SIGNATURE_LENGTHS];

	lode_executed_sequences_count(executed, LODE_SEQUENCES_ATTRIBUTES, &supports, totals);
	g_assert_cmpfloat(executed->total, ==, 20);
	g_assert_cmpuint(supports.n_used, ==, 3);
	g_assert_cmpfloat(lode_sequence_table_get(&supports,
				  lode_symbols_key(symbols, "kind:load+mem:pointer -"), -1),
		==, 0.5);
	g_assert_cmpfloat(totals[2], ==, 0);
	lode_sequence_table_clear(&supports);
}

static void test_errors(void)
{
	g_autoptr(LodeProfile) profile = flow_text_read(
		"lode-flow 1\nevent cycles\ngraph g\nv a 1 10 kind:load\n");
	g_autoptr(LodeSymbols) symbols = lode_symbols_new();
	g_autoptr(GError) error = NULL;

	g_assert_null(lode_executed_sequences_new(profile, "kind", symbols, &error));
	g_assert_true(g_str_has_prefix(error->message, "no instruction with an opcode"));
	g_clear_error(&error);
	g_assert_null(lode_executed_sequences_new(profile, "kind,op", symbols, &error));
	g_assert_true(g_str_has_prefix(error->message, "--attributes: 'op'"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/executed_sequences/supports", test_supports,
		"R02S00000000000000000000000000000001", "R02S00000000000000000000000000000002",
		"R02S00000000000000000000000000000003", "R02S00000000000000000000000000000004",
		NULL);
	g_test_add_func("/executed_sequences/attributes", test_attributes);
	g_test_add_func("/executed_sequences/errors", test_errors);
	return g_test_run();
}
