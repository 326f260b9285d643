/* SPDX-License-Identifier: MIT */
#include "model/findings.h"
#include "model/profile.h"

static void add(LodeFindings *self, double each, const LodeFindingPlace *places, uint32_t n)
{
	LodeFinding one = {.each = each, .first_place = self->places->len, .n_places = n};

	g_array_append_vals(self->places, places, n);
	g_array_append_val(self->findings, one);
}

/* Of ⟪load⟫ at 1, 2, 3 and 4, ⟪load, miss⟫ at 1 and 2, and ⟪div⟫ at 7. */
static void test_each_in_all(void)
{
	const LodeFindingPlace loads[] = {{1, 0.1}, {2, 0.1}, {3, 0.1}, {4, 0.1}};
	const LodeFindingPlace misses[] = {{2, 0.2}, {1, 0.2}};
	const LodeFindingPlace divisions[] = {{7, 0.1}};
	g_autoptr(LodeFindings) all = lode_findings_new();
	uint32_t other;

	add(all, 3, loads, G_N_ELEMENTS(loads));
	add(all, 6, misses, G_N_ELEMENTS(misses));
	add(all, 9, divisions, G_N_ELEMENTS(divisions));
	add(all, 5, NULL, 0);
	/* Half of the loads cost 6 more. */
	g_assert_cmpfloat_with_epsilon(lode_finding_each_in_all(all, 0, &other), 6, 1e-9);
	g_assert_cmpuint(other, ==, 1);
	g_assert_cmpfloat_with_epsilon(lode_finding_each_in_all(all, 1, &other), 9, 1e-9);
	g_assert_cmpuint(other, ==, 0);
	g_assert_cmpfloat(lode_finding_each_in_all(all, 2, &other), ==, 9);
	g_assert_cmpuint(other, ==, LODE_NONE);
	g_assert_cmpfloat(lode_finding_each_in_all(all, 3, &other), ==, 5);
	g_assert_cmpuint(other, ==, LODE_NONE);
}

/* A finding of one element with these attributes. */
static LodeFindings *finding_of(const char *const *names)
{
	LodeFindings *all = lode_findings_new();
	LodeFindingElement element = {0, 0};
	LodeFinding one = {.n_elements = 1};

	for (; names[element.n_items] != NULL; element.n_items++) {
		g_ptr_array_add(all->attributes, g_strdup(names[element.n_items]));
		g_array_append_val(all->items, element.n_items);
	}
	g_array_append_val(all->elements, element);
	g_array_append_val(all->findings, one);
	return all;
}

/* What a mnemonic says is not said again. */
static void test_text(void)
{
	static const struct {
		const char *names[5], *text;
	} cases[] = {
		{{"kind:div", "op:div"}, "⟪div⟫"},
		{{"op:imul", "kind:mul", "mem:pointer", "kind:load"}, "⟪imul load pointer⟫"},
		{{"kind:branch", "op:jnz", "needs:load"}, "⟪jnz, needs load⟫"},
		{{"kind:jump", "kind:indirect", "op:jmp"}, "⟪jmp indirect⟫"},
		{{"kind:atomic", "op:lock_xadd"}, "⟪lock_xadd atomic⟫"},
		{{"kind:branch"}, "⟪branch⟫"},
		{{"op:push", "at:entry"}, "⟪push, at entry⟫"},
		{{NULL}, "⟪·⟫"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeFindings) all = finding_of(cases[i].names);
		g_autofree char *text = lode_finding_text(all, lode_findings_at(all, 0));
		g_assert_cmpstr(text, ==, cases[i].text);
	}
}

static void check_read(const char *text, const char *expected)
{
	g_autoptr(GPtrArray) names = lode_attributes_read(text);

	g_ptr_array_add(names, NULL);
	g_autofree char *found = g_strjoinv("|", (char **)names->pdata);
	g_assert_cmpstr(found, ==, expected);
}

/* What is shown can be typed. */
static void test_read(void)
{
	static const char *const names[] = {"op:mov", "kind:load", "needs:load", "address:add",
		"chain:4", "at:entry", "ev:l1d-miss", "ev:branch-miss:10", "obj:struct node.value",
		"loop:2"};
	g_autoptr(GString) whole = g_string_new(NULL);

	check_read("needs load", "needs:load");
	check_read("⟪load pointer, needs div⟫ → ⟨ret⟩", "load|pointer|needs:div|ret");
	check_read("⟨·⟩ → ⟪chain of 4, branch-miss ≥ 10 %⟫", "chain:4|branch-miss:10");
	check_read("add obj:struct node.value loop:1, at loop-head",
		"add|obj:struct node.value|loop:1|at:loop-head");
	check_read("ev:* needs:load", "ev:*|needs:load");
	check_read(" , ⟫", "");
	check_read("needs ", "needs");
	check_read("load ≥ ", "load|≥");
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_string_append(whole, i > 0 ? ", " : "");
		lode_attribute_append_text(whole, names[i]);
	}
	check_read(whole->str, "mov|load|needs:load|address:add|chain:4|at:entry|l1d-miss|"
			       "branch-miss:10|obj:struct node.value|loop:2");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/findings/each-in-all", test_each_in_all);
	g_test_add_func("/findings/text", test_text);
	g_test_add_func("/findings/read", test_read);
	return g_test_run();
}
