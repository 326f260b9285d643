/* SPDX-License-Identifier: MIT */
/* How diagnoses of two profiles are matched, and what was promised and achieved. */
#include "analyses/compare/compared_diagnoses.h"

#include <math.h>

typedef struct {
	LodeDiagnoses *diagnoses[2];
	LodeComparison comparison;
} Fixture;

/* Both took so many seconds; the comparison tells a change of the time. */
static void set_up(Fixture *self, double base, double other)
{
	*self = (Fixture){.comparison.speed.factor = 1};
	for (int side = 0; side < 2; side++) {
		self->diagnoses[side] = lode_diagnoses_new();
		self->diagnoses[side]->seconds = side == 0 ? base : other;
		self->comparison.profiles[side].total = self->diagnoses[side]->seconds;
		self->comparison.profiles[side].common = 1;
	}
	self->comparison.change.value = other - base;
	self->comparison.totals[LODE_TOTAL_USER].is_told = true;
}

static void tear_down(Fixture *self)
{
	for (int side = 0; side < 2; side++)
		lode_diagnoses_free(self->diagnoses[side]);
}

static void add(Fixture *self, int side, const char *cause, LodeScopeKind scope,
	const char *function, double time)
{
	LodeDiagnosis *one = lode_diagnosis_new(cause, scope);

	one->site.function = g_strdup(function);
	one->name = g_strdup_printf(
		"%s@%s", cause, scope == LODE_SCOPE_FUNCTIONS ? "functions" : function);
	one->time = time;
	one->time_error = 0.01;
	one->low = time / 2;
	one->high = time;
	g_ptr_array_add(self->diagnoses[side]->diagnoses, one);
}

static LodeComparedDiagnoses *compare(Fixture *self)
{
	return lode_compared_diagnoses_new(
		(const LodeDiagnoses *const *)self->diagnoses, &self->comparison);
}

static void test_gone(void)
{
	Fixture self;

	set_up(&self, 10, 4);
	add(&self, 0, "division", LODE_SCOPE_FUNCTION, "hash", 0.8);
	add(&self, 0, "latency", LODE_SCOPE_FUNCTION, "find", 0.05);
	add(&self, 1, "latency", LODE_SCOPE_FUNCTION, "find", 0.125);
	g_autoptr(LodeComparedDiagnoses) all = compare(&self);
	g_assert_cmpuint(all->rows->len, ==, 2);
	const LodeComparedDiagnosis *gone = lode_compared_diagnosis(all, 0);
	g_assert_cmpint(gone->match, ==, LODE_MATCH_GONE);
	g_assert_true(gone->is_told);
	g_assert_cmpfloat_with_epsilon(gone->seconds[0].value, 8, 1e-9);
	/* It took 8 of 10 s, but 6 were saved. */
	g_assert_cmpfloat_with_epsilon(gone->achieved, 0.6, 1e-9);
	const LodeComparedDiagnosis *same = lode_compared_diagnosis(all, 1);
	g_assert_cmpint(same->match, ==, LODE_MATCH_SAME);
	g_assert_false(same->is_told);
	g_assert_true(isnan(same->achieved));
	tear_down(&self);
}

/* Two are gone: each has its own time; one that another took the place of saved no more than all.
 */
static void test_achieved(void)
{
	Fixture self;

	set_up(&self, 10, 5);
	add(&self, 0, "division", LODE_SCOPE_FUNCTION, "hash", 0.7);
	add(&self, 0, "latency", LODE_SCOPE_FUNCTION, "find", 0.2);
	add(&self, 1, "lines", LODE_SCOPE_FUNCTION, "hash", 0.7);
	g_autoptr(LodeComparedDiagnoses) all = compare(&self);
	const LodeComparedDiagnosis *rows = lode_compared_diagnosis(all, 0);
	g_assert_cmpstr(rows[0].sides[0]->cause, ==, "division");
	g_assert_cmpfloat_with_epsilon(rows[0].achieved, 0.5, 1e-9);
	g_assert_cmpint(rows[1].match, ==, LODE_MATCH_NEW);
	g_assert_true(isnan(rows[1].achieved));
	g_assert_cmpstr(rows[2].sides[0]->cause, ==, "latency");
	g_assert_cmpfloat_with_epsilon(rows[2].achieved, 0.2, 1e-9);
	tear_down(&self);
}

/* The same cause where a type changed, or where one function is left of several. */
static void test_other_scope(void)
{
	Fixture self;

	set_up(&self, 10, 5);
	add(&self, 0, "division", LODE_SCOPE_FUNCTION, "hash(int)", 0.5);
	add(&self, 0, "latency", LODE_SCOPE_FUNCTIONS, "find", 0.4);
	add(&self, 0, "lines", LODE_SCOPE_FUNCTION, "walk", 0.1);
	add(&self, 1, "division", LODE_SCOPE_FUNCTION, "hash(long)", 0.1);
	add(&self, 1, "latency", LODE_SCOPE_FUNCTION, "find", 0.1);
	add(&self, 1, "lines", LODE_SCOPE_FUNCTION, "run", 0.2);
	g_autoptr(LodeComparedDiagnoses) all = compare(&self);
	g_assert_cmpuint(all->rows->len, ==, 4);
	for (guint i = 0; i < 2; i++)
		g_assert_cmpint(lode_compared_diagnosis(all, i)->match, ==, LODE_MATCH_RENAMED);
	for (guint i = 2; i < 4; i++) {
		const LodeComparedDiagnosis *row = lode_compared_diagnosis(all, i);
		g_assert_cmpstr(row->sides[row->sides[0] == NULL]->cause, ==, "lines");
	}
	tear_down(&self);
}

/* The same code, of which samples say another cause. */
static void test_nothing_changed(void)
{
	Fixture self;

	set_up(&self, 10, 10);
	self.comparison.totals[LODE_TOTAL_USER].is_told = false;
	add(&self, 0, "division", LODE_SCOPE_FUNCTION, "hash", 0.5);
	add(&self, 1, "latency", LODE_SCOPE_FUNCTION, "hash", 0.5);
	g_autoptr(LodeComparedDiagnoses) all = compare(&self);
	for (guint i = 0; i < all->rows->len; i++)
		g_assert_false(lode_compared_diagnosis(all, i)->is_told);
	tear_down(&self);
}

/* One that takes hardly more than what makes a diagnosis may have been there before. */
static void test_small(void)
{
	Fixture self;

	set_up(&self, 10, 5);
	add(&self, 0, "division", LODE_SCOPE_FUNCTION, "hash", 0.03);
	g_autoptr(LodeComparedDiagnoses) all = compare(&self);
	g_assert_false(lode_compared_diagnosis(all, 0)->is_told);
	tear_down(&self);
	/* Twenty samples hide nearly all. */
	set_up(&self, 10, 5);
	self.comparison.profiles[1].samples = 20;
	add(&self, 0, "division", LODE_SCOPE_FUNCTION, "hash", 0.4);
	g_autoptr(LodeComparedDiagnoses) few = compare(&self);
	g_assert_false(lode_compared_diagnosis(few, 0)->is_told);
	tear_down(&self);
	/* Nothing was promised of another program. */
	set_up(&self, 10, 5);
	self.comparison.profiles[0].common = self.comparison.profiles[1].common = 0.1;
	add(&self, 0, "division", LODE_SCOPE_FUNCTION, "hash", 0.4);
	g_autoptr(LodeComparedDiagnoses) others = compare(&self);
	g_assert_true(lode_compared_diagnosis(others, 0)->is_told);
	g_assert_true(isnan(lode_compared_diagnosis(others, 0)->achieved));
	tear_down(&self);
}

static void test_slower(void)
{
	Fixture self;

	set_up(&self, 5, 10);
	add(&self, 0, "latency", LODE_SCOPE_FUNCTION, "find", 0.4);
	add(&self, 1, "latency", LODE_SCOPE_FUNCTION, "find", 0.2);
	add(&self, 1, "division", LODE_SCOPE_FUNCTION, "hash", 0.5);
	g_autoptr(LodeComparedDiagnoses) all = compare(&self);
	g_assert_true(lode_compared_diagnosis_is_slower(all, 0, &self.comparison, 0.05));
	g_assert_false(lode_compared_diagnosis_is_slower(all, 1, &self.comparison, 0.05));
	tear_down(&self);
	/* A cause in place of a worse one. */
	set_up(&self, 10, 5);
	add(&self, 0, "latency", LODE_SCOPE_FUNCTION, "find", 0.9);
	add(&self, 1, "division", LODE_SCOPE_FUNCTION, "find", 0.5);
	g_autoptr(LodeComparedDiagnoses) better = compare(&self);
	for (guint i = 0; i < better->rows->len; i++)
		g_assert_false(
			lode_compared_diagnosis_is_slower(better, i, &self.comparison, 0.05));
	tear_down(&self);
}

/* One that is not seen any more where nothing takes less time. */
static void test_not_saved(void)
{
	Fixture self;

	set_up(&self, 10, 12);
	add(&self, 0, "division", LODE_SCOPE_FUNCTION, "hash", 0.5);
	g_autoptr(LodeComparedDiagnoses) all = compare(&self);
	g_assert_false(lode_compared_diagnosis(all, 0)->is_told);
	tear_down(&self);
	/* It is, if pages are used in another way. */
	set_up(&self, 10, 12);
	self.comparison.totals[LODE_TOTAL_USER].is_told = false;
	self.comparison.totals[LODE_TOTAL_PAGE_FAULTS] = (LodeComparedTotal){
		.sides = {{900, 30}, {100, 10}}, .is_told = true};
	add(&self, 0, "division", LODE_SCOPE_FUNCTION, "hash", 0.5);
	g_autoptr(LodeComparedDiagnoses) others = compare(&self);
	g_assert_true(lode_compared_diagnosis(others, 0)->is_told);
	g_assert_cmpfloat(lode_compared_diagnosis(others, 0)->achieved, <, 0);
	tear_down(&self);
}

/* The program takes longer, but not the function that another cause is named in. */
static void test_other_function(void)
{
	Fixture self;

	set_up(&self, 5, 10);
	LodeComparedRow rows[] = {{.text = (char *)"find", .change = {0.1, 0.2}},
		{.text = (char *)"hash", .change = {5, 0.2}, .is_told = true}};
	g_autoptr(GArray) functions = g_array_new(FALSE, FALSE, sizeof(LodeComparedRow));
	g_array_append_vals(functions, rows, G_N_ELEMENTS(rows));
	self.comparison.kinds[LODE_COMPARED_FUNCTION].rows = functions;
	add(&self, 1, "latency", LODE_SCOPE_FUNCTION, "find", 0.3);
	add(&self, 1, "division", LODE_SCOPE_FUNCTION, "hash", 0.5);
	g_autoptr(LodeComparedDiagnoses) all = compare(&self);
	g_assert_cmpstr(lode_compared_diagnosis(all, 0)->sides[1]->site.function, ==, "hash");
	g_assert_true(lode_compared_diagnosis(all, 0)->is_told);
	g_assert_false(lode_compared_diagnosis(all, 1)->is_told);
	tear_down(&self);
}

/* Time in the kernel moves what is of the kernel alone. */
static void test_kernel(void)
{
	Fixture self;

	set_up(&self, 10, 5);
	self.comparison.totals[LODE_TOTAL_USER].is_told = false;
	self.comparison.totals[LODE_TOTAL_KERNEL] = (LodeComparedTotal){
		.sides = {{5, 0.1}, {1, 0.1}}, .change = {-4, 0.2}, .is_told = true};
	add(&self, 0, "division", LODE_SCOPE_FUNCTION, "hash", 0.4);
	add(&self, 0, "system-call", LODE_SCOPE_KERNEL, "write", 0.4);
	g_autoptr(LodeComparedDiagnoses) all = compare(&self);
	for (guint i = 0; i < 2; i++) {
		const LodeComparedDiagnosis *row = lode_compared_diagnosis(all, i);
		g_assert_true(row->is_told == (row->sides[0]->scope == LODE_SCOPE_KERNEL));
	}
	tear_down(&self);
}

/* Where the processor time of one is not known, they are of the weight; of a clock still seconds.
 */
static void test_weight(void)
{
	static const struct {
		const char *weight, *unit;
		double before;
	} cases[] = {{"cycles", "cycles", 8e9}, {"cpu-clock:u", NULL, 8}};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		Fixture self;
		set_up(&self, 10e9, 4e9);
		self.diagnoses[0]->seconds = 0;
		self.comparison.weight = (char *)cases[i].weight;
		add(&self, 0, "division", LODE_SCOPE_FUNCTION, "hash", 0.8);
		g_autoptr(LodeComparedDiagnoses) all = compare(&self);
		const LodeComparedDiagnosis *gone = lode_compared_diagnosis(all, 0);
		g_assert_cmpstr(all->unit, ==, cases[i].unit);
		g_assert_cmpfloat_with_epsilon(
			gone->seconds[0].value, cases[i].before, 1e-9 * cases[i].before);
		g_assert_true(gone->is_told);
		g_assert_cmpfloat_with_epsilon(gone->achieved, 0.6, 1e-9);
		tear_down(&self);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/compared_diagnoses/gone", test_gone);
	g_test_add_func("/compared_diagnoses/achieved", test_achieved);
	g_test_add_func("/compared_diagnoses/other_scope", test_other_scope);
	g_test_add_func("/compared_diagnoses/nothing_changed", test_nothing_changed);
	g_test_add_func("/compared_diagnoses/small", test_small);
	g_test_add_func("/compared_diagnoses/slower", test_slower);
	g_test_add_func("/compared_diagnoses/not_saved", test_not_saved);
	g_test_add_func("/compared_diagnoses/other_function", test_other_function);
	g_test_add_func("/compared_diagnoses/kernel", test_kernel);
	g_test_add_func("/compared_diagnoses/weight", test_weight);
	return g_test_run();
}
