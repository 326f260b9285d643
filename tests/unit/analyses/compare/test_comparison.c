/* SPDX-License-Identifier: MIT */
/* What is said of two profiles whose samples were drawn from known costs. */
#include "analyses/compare/comparison.h"
#include "base/error.h"
#include "model/profile.h"
#include "planted_profile.h"
#include "seeds.h"

#include <math.h>
#include <string.h>

static LodeComparison *compare(const LodeProfile *base, const LodeProfile *other, GError **error)
{
	const LodeProfile *const profiles[] = {base, other};
	const LodeComparisonOptions options = {.wants = {true, true, true, true, false}};

	return lode_comparison_new(profiles, &options, NULL, error);
}

static LodeComparison *compared(const LodeProfile *base, const LodeProfile *other)
{
	g_autoptr(GError) error = NULL;
	LodeComparison *out = compare(base, other, &error);

	g_assert_no_error(error);
	return out;
}

static double draw_poisson(double mean)
{
	double limit = exp(-fmin(mean, 500)), product = 1;
	unsigned n = 0;

	while ((product *= (random_int_range(0, 1 << 30) + 0.5) / (1 << 30)) > limit)
		n++;
	return n;
}

/* Another recording of the same program: as many samples on each instruction as chance has it.
 * `factor`: how much longer each function takes. The caller frees it. */
static LodeProfile *record_again(const PlantedCosts *costs, double (*factor)(uint32_t function))
{
	LodeProfile *profile = planted_profile_new(costs).profile;
	double total = 0;

	profile->run.n_samples = 0;
	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		double scale = factor(lode_profile_instruction(profile, i)->function);
		for (uint32_t c = LODE_AT(profile->code.cost_starts, uint32_t, i);
			c < LODE_AT(profile->code.cost_starts, uint32_t, i + 1); c++) {
			LodeCost *cost = &LODE_AT(profile->code.costs, LodeCost, c);
			double n = draw_poisson(scale * cost->value / 100000);
			/* 0 is no value. */
			cost->value = n > 0 ? n * 100000 : 1e-3;
			total += cost->value;
			profile->run.n_samples += n;
		}
	}
	lode_profile_event(profile, profile->code.weight_event)->total = total;
	return profile;
}

static double same(uint32_t function)
{
	(void)function;
	return 1;
}

static double longer(uint32_t function)
{
	(void)function;
	return 1.3;
}

static double quarter(uint32_t function)
{
	(void)function;
	return 0.25;
}

static double two_longer(uint32_t function)
{
	return function == 3 || function == 5 ? 2 : 1;
}

static const LodeComparedRow *find_row(
	const LodeComparison *comparison, LodeComparedKind kind, const char *text)
{
	const LodeComparedRows *rows = &comparison->kinds[kind];

	for (guint i = 0; i < rows->rows->len; i++)
		if (strcmp(lode_compared_row(rows, i)->text, text) == 0)
			return lode_compared_row(rows, i);
	return NULL;
}

static unsigned count_told(const LodeComparison *comparison, LodeComparedKind kind)
{
	unsigned n = 0;

	for (guint i = 0; i < comparison->kinds[kind].rows->len; i++)
		n += lode_compared_row(&comparison->kinds[kind], i)->is_told;
	return n;
}

static PlantedCosts planted(guint32 seed)
{
	return (PlantedCosts){.seed = soak_seed(seed),
		.is_counted = seed % 2 == 0,
		.n_functions = 40,
		.base = 0.001,
		.div = 0.01};
}

/* The planted profile has no code; it is the same one: four bytes for each instruction. */
static void give_code(LodeProfile *first, LodeProfile *second)
{
	static const char lea[] = {0x48, (char)0x8d, 0x04, 0x08};

	for (guint f = 0; f < first->code.functions->len; f++) {
		LodeFunction *one = lode_profile_function(first, f);
		g_autoptr(GString) code = g_string_new(NULL);
		for (uint32_t i = 0; i < one->n_instructions; i++)
			g_string_append_len(code, lea, sizeof(lea));
		one->code = g_bytes_new(code->str, code->len);
		lode_profile_function(second, f)->code = g_bytes_ref(one->code);
	}
}

/* As the recorder measured it: each run takes `factor` times as long. */
static void give_speed(LodeProfile *profile, double factor)
{
	profile->run.speed = (LodeMachineSpeed){
		.runs = 20,
		.chain_ns = 0.25 * factor,
		.chain_scatter = 0.01,
		.walk_ns = 3 * factor,
		.walk_scatter = 0.01,
	};
}

static bool is_any_told(const LodeComparison *comparison)
{
	bool is_told = false;

	for (int kind = 0; kind < LODE_COMPARED_SEQUENCE; kind++)
		is_told = is_told || count_told(comparison, (LodeComparedKind)kind) > 0;
	return is_told;
}

/* Two recordings of one program say nothing, nor do those of a machine that was measured to be
 * slower. */
static void check_silence(double (*factor)(uint32_t function))
{
	unsigned n_told = 0;
	const unsigned draws = 40;

	for (guint32 seed = 0; seed < draws; seed++) {
		const PlantedCosts costs = planted(seed);
		g_autoptr(LodeProfile) first = record_again(&costs, same);
		g_autoptr(LodeProfile) second = record_again(&costs, factor);
		give_code(first, second);
		give_speed(first, 1);
		give_speed(second, factor(0));
		g_autoptr(LodeComparison) comparison = compared(first, second);
		n_told += is_any_told(comparison) || comparison->same_code.is_told;
		g_assert_true(comparison->speed.is_measured);
		g_assert_cmpfloat_with_epsilon(comparison->speed.factor, factor(0), 1e-9);
		g_assert_cmpuint(comparison->same_code.n_functions, >=, 30);
		g_assert_cmpfloat(fabs(comparison->same_code.factor - factor(0)), <,
			5 * comparison->same_code.error);
	}
	g_test_message("%u of %u", n_told, draws);
	/* One in 20 is what is promised. */
	g_assert_cmpuint(n_told, <=, draws / 8);
}

static void test_same(void)
{
	check_silence(same);
}

static void test_slower_machine(void)
{
	check_silence(longer);
}

/* Code that did not change, on a machine that did not either: what it works on did. */
static void test_other_data(void)
{
	for (guint32 seed = 0; seed < 20; seed++) {
		const PlantedCosts costs = planted(seed);
		g_autoptr(LodeProfile) first = record_again(&costs, longer);
		g_autoptr(LodeProfile) second = record_again(&costs, quarter);
		double sums[2] = {0};
		give_code(first, second);
		for (int is_measured = 0; is_measured < 2; is_measured++) {
			give_speed(first, 1);
			give_speed(second, 1);
			second->run.speed.runs *= is_measured;
			g_autoptr(LodeComparison) comparison = compared(first, second);
			const LodeComparedRows *rows = &comparison->kinds[LODE_COMPARED_FUNCTION];
			g_assert_true(comparison->speed.is_measured == is_measured);
			g_assert_cmpfloat_with_epsilon(comparison->speed.factor, 1, 1e-9);
			g_assert_true(comparison->same_code.is_told);
			g_assert_cmpfloat(fabs(comparison->same_code.factor - 0.25 / 1.3), <,
				5 * comparison->same_code.error);
			for (guint i = 0; i < rows->rows->len; i++) {
				const LodeComparedRow *row = lode_compared_row(rows, i);
				g_assert_true(row->is_same_code);
				sums[is_measured] += row->sides[1].time.value;
				if (row->sides[0].time.value > 200 * 100000)
					g_assert_true(row->is_told);
			}
			g_assert_cmpfloat_with_epsilon(
				comparison->same_code.times[1].value, sums[is_measured], 1e-3);
		}
	}
}

/* Executions that were observed in branch stacks, or inferred, divide nothing. */
static void test_counted_alone_divide(void)
{
	static const LodeFrequency ways[] = {LODE_FREQUENCY_EXACT, LODE_FREQUENCY_SAMPLED,
		LODE_FREQUENCY_INFERRED, LODE_FREQUENCY_GIVEN};
	const PlantedCosts costs = planted(2);

	for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
		g_autoptr(LodeProfile) first = record_again(&costs, same);
		g_autoptr(LodeProfile) second = record_again(&costs, two_longer);
		bool is_counted = ways[i] == LODE_FREQUENCY_EXACT ||
		                  ways[i] == LODE_FREQUENCY_GIVEN;
		second->run.frequency = ways[i];
		g_autoptr(LodeComparison) comparison = compared(first, second);
		g_assert_true(comparison->is_counted == is_counted);
		for (int kind = 0; kind < LODE_COMPARED_SEQUENCE; kind++)
			for (guint k = 0; k < comparison->kinds[kind].rows->len; k++) {
				const LodeComparedRow *row = lode_compared_row(
					&comparison->kinds[kind], k);
				g_assert_true(is_counted || isnan(row->more_often.value));
				g_assert_true(is_counted || isnan(row->costs_more.value));
				g_assert_true(is_counted || isnan(row->sides[0].each.value));
			}
	}
}

/* The kernel's time fell from 9 s of 10 to 0.4 s of 1. */
static void test_totals(void)
{
	const PlantedCosts costs = planted(2);
	g_autoptr(LodeProfile) first = record_again(&costs, same);
	g_autoptr(LodeProfile) second = record_again(&costs, same);

	first->run.user_seconds = 1;
	first->run.system_seconds = 9;
	second->run.user_seconds = 0.6;
	second->run.system_seconds = 0.4;
	first->run.wall_seconds = 11;
	g_autoptr(LodeComparison) comparison = compared(first, second);
	const LodeComparedTotal *kernel = &comparison->totals[LODE_TOTAL_KERNEL];
	const LodeComparedTotal *user = &comparison->totals[LODE_TOTAL_USER];
	g_assert_true(kernel->is_told);
	g_assert_cmpfloat_with_epsilon(kernel->change.value, -8.6, 1e-9);
	g_assert_cmpfloat_with_epsilon(user->change.value, -0.4, 1e-9);
	/* A tenth of 2,500 ticks: σ = √(0.1 · 0.9 · 10 s · 4 ms). */
	g_assert_cmpfloat_with_epsilon(user->sides[0].error, 0.06, 1e-9);
	g_assert_true(isnan(comparison->totals[LODE_TOTAL_WALL].change.value));
	g_assert_false(comparison->totals[LODE_TOTAL_WALL].is_told);
	g_assert_true(isnan(comparison->totals[LODE_TOTAL_PAGE_FAULTS].sides[0].value));
}

/* Two functions of forty that take twice as long are told, and only they. */
static void test_two_longer(void)
{
	unsigned n_others = 0;

	for (guint32 seed = 0; seed < 20; seed++) {
		const PlantedCosts costs = planted(seed);
		g_autoptr(LodeProfile) first = record_again(&costs, same);
		g_autoptr(LodeProfile) second = record_again(&costs, two_longer);
		g_autoptr(LodeComparison) comparison = compared(first, second);
		for (int i = 3; i <= 5; i += 2) {
			g_autofree char *name = g_strdup_printf("f%d", i);
			const LodeComparedRow *row = find_row(
				comparison, LODE_COMPARED_FUNCTION, name);
			double before = row->sides[0].time.value;
			g_assert_cmpfloat(
				fabs(row->change.value - before), <, 5 * row->change.error);
			if (before > 200 * 100000)
				g_assert_true(row->is_told);
			g_assert_true(
				!row->is_told || !lode_compared_row_is_slower(comparison, row, 4));
			if (before > 800 * 100000)
				g_assert_true(lode_compared_row_is_slower(comparison, row, 0.1));
			if (!comparison->is_counted) {
				g_assert_true(isnan(row->more_often.value));
				continue;
			}
			g_assert_cmpfloat_with_epsilon(row->more_often.value, 0, 1e-6);
			g_assert_cmpfloat_with_epsilon(
				row->costs_more.value, row->change.value, 1e-3);
		}
		n_others += count_told(comparison, LODE_COMPARED_FUNCTION) > 2;
	}
	g_assert_cmpuint(n_others, <=, 3);
}

/* Moves most samples of every other instruction to the next one, or of that one back. */
static void move_samples(LodeProfile *profile)
{
	for (uint32_t i = 0; i + 1 < profile->code.instructions->len; i += 2) {
		uint32_t from = LODE_AT(profile->code.cost_starts, uint32_t, i);
		uint32_t to = LODE_AT(profile->code.cost_starts, uint32_t, i + 1);
		if (to == from || to == LODE_AT(profile->code.cost_starts, uint32_t, i + 2))
			continue;
		double *values[] = {&LODE_AT(profile->code.costs, LodeCost, from).value,
			&LODE_AT(profile->code.costs, LodeCost, to).value};
		int source = random_int_range(0, 2);
		double moved = 0.8 * fmin(*values[0], *values[1]);
		*values[source] -= moved;
		*values[1 - source] += moved;
	}
}

/* Samples that lie on the next instruction in another recording are no change of the program. */
static void test_moved_samples(void)
{
	unsigned n_told = 0;

	for (guint32 seed = 0; seed < 20; seed++) {
		PlantedCosts costs = planted(seed);
		costs.base = 0.04;
		costs.div = 0.1;
		g_autoptr(LodeProfile) first = record_again(&costs, same);
		g_autoptr(LodeProfile) second = record_again(&costs, same);
		give_code(first, second);
		move_samples(second);
		g_autoptr(LodeComparison) comparison = compared(first, second);
		n_told += count_told(comparison, LODE_COMPARED_PATTERN) +
		                  count_told(comparison, LODE_COMPARED_PLACE) >
		          0;
		g_assert_cmpfloat(comparison->scatter, >, 1.2);
	}
	g_test_message("%u told", n_told);
	g_assert_cmpuint(n_told, <=, 3);
}

/* What costs nothing any more is at its places of the base, and at none of the new profile. */
static void test_vanished(void)
{
	unsigned n_vanished = 0;

	for (guint32 seed = 0; seed < 4; seed++) {
		PlantedCosts costs = planted(seed);
		g_autoptr(LodeProfile) first = planted_profile_new(&costs).profile;
		costs.div = 0;
		g_autoptr(LodeProfile) second = planted_profile_new(&costs).profile;
		g_autoptr(LodeComparison) comparison = compared(first, second);
		const LodeComparedRow *row = find_row(comparison, LODE_COMPARED_PATTERN, "⟪div⟫");
		g_assert_true(row->is_told);
		g_assert_cmpfloat(row->sides[0].time.value, >, 0);
		g_assert_cmpuint(row->sides[0].instruction, !=, LODE_NONE);
		g_assert_cmpuint(row->sides[0].function, !=, LODE_NONE);
		if (row->sides[1].time.value > 0)
			continue;
		g_assert_cmpuint(row->sides[1].instruction, ==, LODE_NONE);
		g_assert_cmpuint(row->sides[1].function, ==, LODE_NONE);
		n_vanished++;
	}
	g_assert_cmpuint(n_vanished, >, 0);
}

static void expect_refusal(const LodeProfile *base, const LodeProfile *other, int code)
{
	g_autoptr(GError) error = NULL;

	g_assert_null(compare(base, other, &error));
	g_assert_error(error, LODE_ERROR, code);
}

/* Each third instruction is of a header, inlined by a call in the program's own file. */
static void give_lines(LodeProfile *profile)
{
	uint32_t call = lode_profile_location(profile, "/home/me/a.c", 7, NULL);
	uint32_t own = lode_profile_location(profile, "/home/me/a.c", 8, NULL);
	uint32_t header = lode_profile_location(profile, "/usr/include/c++/12/map", 99, "find");

	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		lode_profile_instruction(profile, i)->location = i % 3 == 0 ? header : own;
		if (i % 3 == 0)
			lode_profile_set_inlining(
				profile, i, lode_profile_inlining(profile, call, LODE_NONE));
	}
}

/* The two lines of each function; `is_swapped`: with each other's code. */
static void give_two_lines(LodeProfile *profile, bool is_swapped)
{
	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		LodeInstruction *one = lode_profile_instruction(profile, i);
		bool is_second = (i % 4 == 0) != is_swapped;
		one->location = lode_profile_location(
			profile, "/home/me/a.c", 100 * (one->function + 1) + is_second, NULL);
	}
}

/* A compiler gave the same code to other lines: time only moved. */
static void test_moved_lines(void)
{
	unsigned n_told = 0, n_listed = 0;

	for (guint32 seed = 0; seed < 10; seed++) {
		const PlantedCosts costs = planted(seed);
		g_autoptr(LodeProfile) first = record_again(&costs, same);
		g_autoptr(LodeProfile) second = record_again(&costs, same);
		give_two_lines(first, false);
		give_two_lines(second, true);
		g_autoptr(LodeComparison) comparison = compared(first, second);
		const LodeComparedRows *rows = &comparison->kinds[LODE_COMPARED_LINE];
		for (guint i = 0; i < rows->rows->len; i++) {
			const LodeComparedRow *row = lode_compared_row(rows, i);
			const char *name =
				lode_profile_function(second, row->sides[1].function)->name;
			const LodeComparedRow *function = find_row(
				comparison, LODE_COMPARED_FUNCTION, name);
			n_told += row->is_told;
			n_listed += row->is_told && !function->is_told && !row->is_repeated;
		}
	}
	/* Here and there chance took some of the time in the meantime. */
	g_assert_cmpuint(n_told, >, 20);
	g_assert_cmpuint(10 * n_listed, <, n_told);
}

/* A function that has samples in one recording alone: of one file it is unused in the other, of two
 * it is gone. */
static void test_unused(void)
{
	static const char *const build_ids[] = {"ab", "cd"};
	const PlantedCosts costs = planted(1);

	for (int is_other = 0; is_other < 2; is_other++) {
		g_autoptr(LodeProfile) first = record_again(&costs, same);
		g_autoptr(LodeProfile) second = record_again(&costs, same);
		LodeProfile *const profiles[] = {first, second};
		for (int side = 0; side < 2; side++) {
			LodeImage *image = &LODE_AT(profiles[side]->code.images, LodeImage, 0);
			image->kind = LODE_IMAGE_FILE;
			image->build_id = lode_profile_intern(
				profiles[side], build_ids[side == 1 && is_other]);
		}
		LodeFunction *moved = lode_profile_function(second, 0);
		moved->name = lode_profile_intern(second, "another");
		moved->address += 0x100000;
		g_autoptr(LodeComparison) comparison = compared(first, second);
		const LodeComparedRow *gone = find_row(
			comparison, LODE_COMPARED_FUNCTION, lode_profile_function(first, 0)->name);
		const LodeComparedRow *new = find_row(
			comparison, LODE_COMPARED_FUNCTION, "another");
		g_assert_cmpint(gone->match, ==, LODE_MATCH_GONE);
		g_assert_cmpint(new->match, ==, LODE_MATCH_NEW);
		g_assert_true(gone->is_unused == !is_other && new->is_unused == !is_other);
		for (int side = 0; side < 2; side++)
			g_assert_true((comparison->profiles[side].common > 1 - 1e-9) == !is_other);
	}
}

static double weight_of_function(const LodeProfile *profile, uint32_t function)
{
	double weight = 0;

	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		if (lode_profile_instruction(profile, i)->function == function)
			weight += lode_profile_event_value(profile, profile->code.weight_event, i);
	return weight;
}

/* A run-time compiler made one function twice, and three times in the other recording. */
static void test_versions(void)
{
	const PlantedCosts costs = planted(1);
	g_autoptr(LodeProfile) first = record_again(&costs, same);
	g_autoptr(LodeProfile) second = record_again(&costs, same);
	LodeProfile *const profiles[] = {first, second};
	const uint32_t n_versions[] = {2, 3};
	double weights[2] = {0}, found[2] = {0};
	unsigned n_rows = 0;

	for (int side = 0; side < 2; side++) {
		LODE_AT(profiles[side]->code.images, LodeImage, 0).kind = LODE_IMAGE_JIT;
		for (uint32_t f = 0; f < n_versions[side]; f++) {
			lode_profile_function(profiles[side], f)->name = lode_profile_intern(
				profiles[side], "made");
			weights[side] += weight_of_function(profiles[side], f);
		}
	}
	g_autoptr(LodeComparison) comparison = compared(first, second);
	const LodeComparedRows *rows = &comparison->kinds[LODE_COMPARED_FUNCTION];
	for (guint i = 0; i < rows->rows->len; i++) {
		const LodeComparedRow *row = lode_compared_row(rows, i);
		if (strcmp(row->text, "made") != 0 || !(row->sides[1].time.value > 0))
			continue;
		n_rows++;
		for (int side = 0; side < 2; side++)
			found[side] = row->sides[side].time.value;
	}
	g_assert_cmpuint(n_rows, ==, 1);
	for (int side = 0; side < 2; side++)
		g_assert_cmpfloat_with_epsilon(found[side], weights[side], 1e-3);
}

static double weight_of_thirds(const LodeProfile *profile)
{
	double weight = 0;

	for (uint32_t i = 0; i < profile->code.instructions->len; i += 3)
		weight += lode_profile_event_value(profile, profile->code.weight_event, i);
	return weight;
}

static void test_own_lines(void)
{
	const PlantedCosts costs = planted(2);
	g_autoptr(LodeProfile) first = record_again(&costs, same);
	g_autoptr(LodeProfile) second = record_again(&costs, longer);

	give_lines(first);
	give_lines(second);
	g_autoptr(LodeComparison) comparison = compared(first, second);
	const LodeComparedRow *row = find_row(comparison, LODE_COMPARED_LINE, "a.c:7");
	g_assert_cmpuint(comparison->kinds[LODE_COMPARED_LINE].rows->len, ==, 2);
	g_assert_nonnull(row);
	g_assert_cmpfloat_with_epsilon(row->sides[0].time.value, weight_of_thirds(first), 1e-3);
	g_assert_cmpfloat_with_epsilon(row->sides[1].time.value, weight_of_thirds(second), 1e-3);
}

/* Nothing in common, and nothing at all. */
static void test_odd(void)
{
	const PlantedCosts costs = planted(1);
	g_autoptr(LodeProfile) profile = planted_profile_new(&costs).profile;
	g_autoptr(LodeProfile) empty = lode_profile_new();
	g_autoptr(LodeProfile) other = planted_profile_new(&costs).profile;

	expect_refusal(empty, profile, LODE_ERROR_UNSUPPORTED);
	expect_refusal(profile, empty, LODE_ERROR_NOT_FOUND);
	lode_profile_event(other, 0)->total = 0;
	/* Nothing of the weight: only the totals are compared. */
	g_autoptr(LodeComparison) nothing = compared(profile, other);
	g_assert_cmpfloat(nothing->change.value, ==, -lode_profile_event(profile, 0)->total);
	for (int kind = 0; kind < LODE_N_COMPARED; kind++)
		g_assert_null(nothing->kinds[kind].rows);
	lode_profile_event(other, 0)->total = NAN;
	expect_refusal(profile, other, LODE_ERROR_UNSUPPORTED);
	lode_profile_event(other, 0)->total = lode_profile_event(profile, 0)->total;
	/* Counts and samples that are absurd. */
	for (guint i = 0; i < other->code.instructions->len; i++)
		lode_profile_instruction(other, i)->count = i % 3 == 0 ? 0 : 1e15;
	other->run.n_samples = 1e15;
	other->run.frequency = LODE_FREQUENCY_EXACT;
	g_autoptr(LodeComparison) comparison = compared(profile, other);
	for (int kind = 0; kind < LODE_COMPARED_SEQUENCE; kind++)
		for (guint i = 0; i < comparison->kinds[kind].rows->len; i++) {
			const LodeComparedRow *row = lode_compared_row(&comparison->kinds[kind], i);
			g_assert_true(isfinite(row->change.value));
			g_assert_true(isfinite(row->change.error));
		}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/analyses/comparison/same", test_same);
	g_test_add_func("/analyses/comparison/slower-machine", test_slower_machine);
	g_test_add_func("/analyses/comparison/other-data", test_other_data);
	g_test_add_func("/analyses/comparison/counted-alone-divide", test_counted_alone_divide);
	g_test_add_func("/analyses/comparison/totals", test_totals);
	g_test_add_func("/analyses/comparison/two-longer", test_two_longer);
	g_test_add_func("/analyses/comparison/moved-samples", test_moved_samples);
	g_test_add_func("/analyses/comparison/vanished", test_vanished);
	g_test_add_func("/analyses/comparison/own-lines", test_own_lines);
	g_test_add_func("/analyses/comparison/moved-lines", test_moved_lines);
	g_test_add_func("/analyses/comparison/versions", test_versions);
	g_test_add_func("/analyses/comparison/unused", test_unused);
	g_test_add_func("/analyses/comparison/odd", test_odd);
	return g_test_run();
}
