/* SPDX-License-Identifier: MIT */
/*
 * How fast the store writes and reads: a made-up profile of real size (1.4 M instructions, 2 M
 * costs, 0.5 M locations, 0.3 M edges) and a run of 300,000 sequences with 19 events.
 *
 *   store_rows FILE.lode
 */
#include "model/mining_run.h"
#include "model/profile.h"
#include "store/profile_store.h"

#include <stdio.h>
#include <time.h>

enum {
	N_FUNCTIONS = 9000,
	N_INSTRUCTIONS = 1400000,
	N_LOCATIONS = 500000,
	N_COSTS = 2000000,
	N_EDGES = 300000,
	N_SETS = 20000,
	N_ATTRIBUTES = 600,
	N_EVENTS = 19,
	N_SEQUENCES = 300000,
};

static LodeProfile *make_nouns(GRand *rand)
{
	LodeProfile *profile = lode_profile_new();
	LodeImage image = {.path = lode_profile_intern(profile, "/usr/lib/gcc/cc1")};

	lode_profile_add_event(profile, "executions", NULL, LODE_EVENT_COUNT, NULL, 0);
	for (int i = 1; i < N_EVENTS; i++) {
		g_autofree char *name = g_strdup_printf("event-%d", i);
		lode_profile_add_event(profile, name, NULL, LODE_EVENT_RECORDED, NULL, 0);
	}
	profile->code.weight_event = 0;
	profile->run.creator = lode_profile_intern(profile, "store_rows");
	g_array_append_val(profile->code.images, image);
	for (int i = 0; i < N_ATTRIBUTES; i++) {
		g_autofree char *name = g_strdup_printf("op:mnemonic%d", i);
		lode_profile_attribute(profile, name);
	}
	while (profile->code.attribute_sets->len < N_SETS) {
		uint32_t members[6];
		for (int k = 0; k < 6; k++)
			members[k] = (uint32_t)g_rand_int_range(rand, 0, N_ATTRIBUTES);
		lode_profile_attribute_set(profile, members, 6);
	}
	for (uint32_t i = 0; i < N_LOCATIONS; i++) {
		g_autofree char *file = g_strdup_printf("/build/gcc-12/src/gcc/part%u.cc", i / 500);
		g_autofree char *inlined = g_strdup_printf(
			"vec<tree>::operator[](%u)", i / 77 % 3000);
		lode_profile_location(profile, file, i % 500 + 1, i % 3 == 0 ? inlined : NULL);
	}
	return profile;
}

static void add_functions(LodeProfile *profile, GRand *rand)
{
	uint32_t per_function = N_INSTRUCTIONS / N_FUNCTIONS;
	uint64_t address = 0x400000;

	for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
		g_autofree char *name = g_strdup_printf("expand_%u(rtx_def*, unsigned int)", i);
		uint32_t n = i + 1 < N_FUNCTIONS
		                     ? per_function
		                     : N_INSTRUCTIONS - per_function * (N_FUNCTIONS - 1);
		LodeFunction function = {
			.name = lode_profile_intern(profile, name),
			.address = address,
			.size = n * 4,
			.calls = 10,
			.code = g_bytes_new_take(g_malloc0(n * 4), n * 4),
			.first_instruction = profile->code.instructions->len,
			.n_instructions = n,
		};
		g_array_append_val(profile->code.functions, function);
		for (uint32_t k = 0; k < n; k++, address += 4) {
			LodeInstruction instruction = {
				.address = address,
				.count = g_rand_int_range(rand, 0, 1 << 20),
				.next_count = k + 1 < n && k % 5 != 0
			                              ? g_rand_int_range(rand, 0, 1 << 20)
			                              : -1,
				.function = i,
				.block = LODE_NONE,
				.attribute_set = (uint32_t)g_rand_int_range(rand, 0, N_SETS),
				.location = (profile->code.instructions->len / 3) % N_LOCATIONS,
				.size = 4,
			};
			g_array_append_val(profile->code.instructions, instruction);
		}
	}
}

static void add_costs_and_edges(LodeProfile *profile, GRand *rand)
{
	g_array_set_size(profile->code.cost_starts, N_INSTRUCTIONS + 1);
	for (uint64_t i = 0; i < N_INSTRUCTIONS; i++) {
		while (profile->code.costs->len < (i + 1) * N_COSTS / N_INSTRUCTIONS) {
			uint32_t start = g_array_index(profile->code.cost_starts, uint32_t, i);
			LodeCost cost = {profile->code.costs->len - start + 1,
				g_rand_int_range(rand, 1, 1 << 20)};
			g_array_append_val(profile->code.costs, cost);
		}
		g_array_index(
			profile->code.cost_starts, uint32_t, i + 1) = profile->code.costs->len;
	}
	for (uint64_t i = 0; i < N_EDGES; i++) {
		LodeEdge edge = {
			.source = (uint32_t)(i * N_INSTRUCTIONS / N_EDGES),
			.target = (uint32_t)g_rand_int_range(rand, 0, N_INSTRUCTIONS),
			.kind = LODE_EDGE_TAKEN,
			.count = g_rand_int_range(rand, 0, 1 << 20),
		};
		g_array_append_val(profile->code.edges, edge);
	}
}

static LodeMiningRun *make_run(GRand *rand)
{
	LodeMiningParameters parameters;

	lode_mining_parameters_init(&parameters);
	LodeMiningRun *run = lode_mining_run_new("bench", &parameters);
	for (int i = 0; i < N_ATTRIBUTES; i++)
		g_ptr_array_add(run->attributes, g_strdup_printf("op:mnemonic%d", i));
	for (int i = 0; i < N_EVENTS; i++)
		g_ptr_array_add(run->events, g_strdup_printf("event-%d", i));
	for (uint32_t i = 0; i < N_SEQUENCES; i++) {
		LodeSequence sequence = {.first_item = run->items->len,
			.n_items = 1 + i % 5,
			.places = i,
			.functions = i,
			.weight = g_rand_double(rand),
			.frequency = g_rand_double(rand),
			.executions = i};
		for (uint32_t k = 0; k < sequence.n_items; k++) {
			uint32_t item = (uint32_t)g_rand_int_range(rand, 0, N_ATTRIBUTES) |
			                (k % 2 == 0 ? LODE_ITEM_START : 0);
			g_array_append_val(run->items, item);
		}
		for (int k = 0; k < N_EVENTS; k++) {
			double support = g_rand_double(rand);
			g_array_append_val(run->event_supports, support);
		}
		g_array_append_val(run->sequences, sequence);
	}
	return run;
}

typedef struct {
	gint64 wall_us;
	clock_t processor;
} Start;

static Start start_now(void)
{
	return (Start){g_get_monotonic_time(), clock()};
}

/* Both clocks: on a busy machine the processor's is the one to compare. */
static bool print_row(const char *what, double rows, Start start, const GError *error)
{
	double processor = (double)(clock() - start.processor) / CLOCKS_PER_SEC;
	double wall = (double)(g_get_monotonic_time() - start.wall_us) / 1e6;

	if (error == NULL)
		printf("%-16s %8.0f rows  %6.3f s wall  %6.3f s processor  %5.2f M rows/s\n", what,
			rows, wall, processor, rows / processor / 1e6);
	else
		fprintf(stderr, "%s: %s\n", what, error->message);
	return error == NULL;
}

static bool measure_profile(const char *path, LodeProfile *profile)
{
	double rows = profile->code.instructions->len + profile->code.costs->len +
	              profile->code.edges->len + profile->code.locations->len +
	              profile->code.functions->len + profile->code.set_members->len;
	g_autoptr(GError) error = NULL;

	Start start = start_now();
	lode_profile_store_write(path, profile, NULL, &error);
	if (!print_row("write profile", rows, start, error))
		return false;
	start = start_now();
	LodeProfile *again = lode_profile_store_read(path, NULL, &error);
	bool has_worked = print_row("read profile", rows, start, error);
	lode_profile_free(again);
	return has_worked;
}

static bool measure_run(const char *path, const LodeProfile *profile, const LodeMiningRun *run)
{
	g_autoptr(GError) error = NULL;

	Start start = start_now();
	lode_profile_store_add_run(path, profile, run, NULL, &error);
	if (!print_row("add run", N_SEQUENCES, start, error))
		return false;
	start = start_now();
	lode_profile_store_add_run(path, profile, run, NULL, &error);
	if (!print_row("replace run", N_SEQUENCES, start, error))
		return false;
	start = start_now();
	LodeMiningRun *same = lode_profile_store_read_run(path, NULL, &error);
	bool has_worked = print_row("read run", N_SEQUENCES, start, error);
	lode_mining_run_free(same);
	return has_worked;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("usage: store_rows FILE.lode\n", stderr);
		return 2;
	}
	GRand *rand = g_rand_new_with_seed(1);
	g_autoptr(LodeProfile) profile = make_nouns(rand);
	add_functions(profile, rand);
	add_costs_and_edges(profile, rand);
	g_autoptr(LodeMiningRun) run = make_run(rand);
	bool has_worked = measure_profile(argv[1], profile) && measure_run(argv[1], profile, run);
	g_rand_free(rand);
	return has_worked ? 0 : 1;
}
