/* SPDX-License-Identifier: MIT */
#include "planted_profile.h"

#include "made_profile.h"

#include <math.h>

enum { BLOCKS = 3, BLOCK_SIZE = 12, SAMPLE_WEIGHT = 100000 };

typedef enum { KIND_MOVE, KIND_ADD, KIND_LOAD, KIND_STORE, KIND_DIV, N_KINDS } Kind;

static const char *const attributes[N_KINDS] = {
	"op:mov", "op:add kind:arith", "op:ldr kind:load", "op:str kind:store", "op:div kind:div"};

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

PlantedProfile planted_profile_new(const PlantedCosts *costs)
{
	PlantedProfile out = {.profile = made_profile("cpu-clock", LODE_EVENT_SAMPLED, "/planted")};
	LodeProfile *profile = out.profile;
	g_autoptr(GRand) rand = g_rand_new_with_seed(costs->seed);
	double expected = 0, expected_div = 0, expected_blocked = 0;

	profile->run.frequency = costs->is_counted ? LODE_FREQUENCY_EXACT : LODE_FREQUENCY_INFERRED;
	for (unsigned f = 0; f < costs->n_functions + costs->n_started; f++) {
		g_autofree char *name = g_strdup_printf("f%u", f);
		const LodeFunction function = {
			.name = name, .address = 0x1000 * (f + 1), .size = BLOCKS * BLOCK_SIZE * 4};
		bool is_started = f >= costs->n_functions;
		double count = is_started ? 1 : 500 * exp(2.5 * g_rand_double(rand));
		Kind previous = KIND_MOVE;
		made_function(profile, function);
		for (uint32_t i = 0; i < BLOCKS * BLOCK_SIZE; i++) {
			Kind kind = draw_kind(rand);
			uint64_t address = function.address + 4 * i;
			g_autofree char *all = g_strconcat(
				attributes[kind], i == 0 ? " at:entry" : "", NULL);
			bool is_blocked = kind == KIND_LOAD && previous == KIND_STORE && i > 0;
			double mean = count * (costs->base + (kind == KIND_DIV ? costs->div : 0) +
						      (is_blocked ? costs->blocked : 0));
			double n = is_started ? (i == 0 ? 1 : 0) : draw_poisson(rand, mean);
			if (i % BLOCK_SIZE == 0)
				made_block(profile, (LodeBlock){.address = address,
							    .end = address + 4 * BLOCK_SIZE,
							    .count = count});
			uint32_t added = made_instruction(profile,
				(LodeInstruction){.address = address, .count = count, .size = 4},
				all, n * SAMPLE_WEIGHT);
			if (i + 1 < BLOCKS * BLOCK_SIZE)
				made_fall(profile, added, count);
			profile->run.n_samples += n;
			profile->run.total_count += count;
			out.n_div += kind == KIND_DIV;
			out.n_blocked += is_blocked;
			expected += mean;
			expected_div += kind == KIND_DIV ? count * costs->div : 0;
			expected_blocked += is_blocked ? count * costs->blocked : 0;
			previous = kind;
		}
	}
	lode_profile_event(profile, profile->code.weight_event)->total = profile->run.n_samples *
	                                                                 SAMPLE_WEIGHT;
	out.div_share = expected_div / expected;
	out.blocked_share = expected_blocked / expected;
	return out;
}
