/* SPDX-License-Identifier: MIT */
#include "planted_profile.h"

#include <math.h>

enum { BLOCKS = 3, BLOCK_SIZE = 12, SAMPLE_WEIGHT = 100000 };

typedef enum { KIND_MOVE, KIND_ADD, KIND_LOAD, KIND_STORE, KIND_DIV, N_KINDS } Kind;

static const char *const ops[N_KINDS] = {"op:mov", "op:add", "op:ldr", "op:str", "op:div"};
static const char *const kinds[N_KINDS] = {
	NULL, "kind:arith", "kind:load", "kind:store", "kind:div"};

/* Knuth's for small means, a rounded normal for large ones. */
static double draw_poisson(GRand *rand, double mean)
{
	double limit = exp(-mean), product = 1;
	unsigned n = 0;

	if (mean > 50) {
		double u = 0;
		for (int i = 0; i < 12; i++)
			u += g_rand_double(rand);
		return fmax(0, round(mean + (u - 6) * sqrt(mean)));
	}
	while ((product *= g_rand_double(rand)) > limit)
		n++;
	return n;
}

static Kind draw_kind(GRand *rand)
{
	double u = g_rand_double(rand);

	return u < 0.05   ? KIND_DIV
	       : u < 0.25 ? KIND_LOAD
	       : u < 0.40 ? KIND_STORE
	       : u < 0.70 ? KIND_ADD
	                  : KIND_MOVE;
}

static uint32_t set_of(LodeProfile *profile, Kind kind, uint32_t position)
{
	uint32_t ids[3] = {lode_profile_attribute(profile, ops[kind])};
	size_t n = 1;

	if (kinds[kind] != NULL)
		ids[n++] = lode_profile_attribute(profile, kinds[kind]);
	if (position == 0)
		ids[n++] = lode_profile_attribute(profile, "at:entry");
	return lode_profile_attribute_set(profile, ids, n);
}

PlantedProfile planted_profile_new(const PlantedCosts *costs)
{
	PlantedProfile out = {.profile = lode_profile_new()};
	LodeProfile *profile = out.profile;
	g_autoptr(GRand) rand = g_rand_new_with_seed(costs->seed);
	double expected = 0, expected_div = 0, expected_blocked = 0;
	LodeImage image = {.path = lode_profile_intern(profile, "/planted")};
	uint32_t zero = 0;

	profile->frequency = costs->is_counted ? LODE_FREQUENCY_EXACT : LODE_FREQUENCY_INFERRED;
	profile->weight_event = lode_profile_add_event(
		profile, "cpu-clock", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	g_array_append_val(profile->images, image);
	if (profile->cost_starts->len == 0)
		g_array_append_val(profile->cost_starts, zero);
	for (unsigned f = 0; f < costs->n_functions + costs->n_started; f++) {
		g_autofree char *name = g_strdup_printf("f%u", f);
		LodeFunction function = {.source = LODE_FUNCTION_SYMBOL,
			.name = lode_profile_intern(profile, name),
			.address = 0x1000 * (f + 1),
			.size = BLOCKS * BLOCK_SIZE * 4,
			.first_instruction = profile->instructions->len,
			.n_instructions = BLOCKS * BLOCK_SIZE,
			.first_block = profile->blocks->len,
			.n_blocks = BLOCKS};
		bool is_started = f >= costs->n_functions;
		double count = is_started ? 1 : 500 * exp(2.5 * g_rand_double(rand));
		Kind previous = KIND_MOVE;
		for (uint32_t i = 0; i < BLOCKS * BLOCK_SIZE; i++) {
			Kind kind = draw_kind(rand);
			bool is_last = i + 1 == BLOCKS * BLOCK_SIZE;
			if (i % BLOCK_SIZE == 0) {
				LodeBlock block = {.function = f,
					.address = function.address + 4 * i,
					.end = function.address + 4 * (i + BLOCK_SIZE),
					.count = count};
				g_array_append_val(profile->blocks, block);
			}
			LodeInstruction one = {.address = function.address + 4 * i,
				.count = count,
				.next_count = is_last ? -1 : count,
				.function = f,
				.block = profile->blocks->len - 1,
				.attribute_set = set_of(profile, kind, i),
				.location = LODE_NONE,
				.size = 4};
			bool is_blocked = kind == KIND_LOAD && previous == KIND_STORE && i > 0;
			double mean = count * (costs->base + (kind == KIND_DIV ? costs->div : 0) +
						      (is_blocked ? costs->blocked : 0));
			double n = is_started ? (i == 0 ? 1 : 0) : draw_poisson(rand, mean);
			LodeCost cost = {profile->weight_event, n * SAMPLE_WEIGHT};
			g_array_append_val(profile->instructions, one);
			if (n > 0)
				g_array_append_val(profile->costs, cost);
			g_array_append_val(profile->cost_starts, profile->costs->len);
			profile->n_samples += n;
			profile->total_count += count;
			out.n_div += kind == KIND_DIV;
			out.n_blocked += is_blocked;
			expected += mean;
			expected_div += kind == KIND_DIV ? count * costs->div : 0;
			expected_blocked += is_blocked ? count * costs->blocked : 0;
			previous = kind;
		}
		g_array_append_val(profile->functions, function);
	}
	lode_profile_event(profile, profile->weight_event)->total = profile->n_samples *
	                                                            SAMPLE_WEIGHT;
	out.div_share = expected_div / expected;
	out.blocked_share = expected_blocked / expected;
	return out;
}
