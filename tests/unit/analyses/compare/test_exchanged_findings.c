/* SPDX-License-Identifier: MIT */
/* Which findings take each other's place, against their definition, on random findings. */
#include "analyses/compare/moved_code.h"
#include "model/findings.h"
#include "model/lines/own_lines.h"
#include "model/profile.h"
#include "seeds.h"

#include <math.h>

enum { N_FINDINGS = 9, N_LINES = 6 };

typedef struct {
	double shares[2][N_FINDINGS][N_LINES]; /* of the time of a finding in a profile, by line */
	double changes[N_FINDINGS];
} Case;

/* Two instructions of each line; those of the last line have none. */
static LodeProfile *new_profile(void)
{
	LodeProfile *profile = lode_profile_new();

	for (uint32_t i = 0; i < 2 * N_LINES; i++) {
		LodeInstruction one = {.address = i, .block = LODE_NONE, .location = LODE_NONE};
		if (i / 2 < N_LINES - 1)
			one.location = lode_profile_location(profile, "/src/a.c", 1 + i / 2, NULL);
		g_array_append_val(profile->code.instructions, one);
	}
	return profile;
}

static LodeFindings *new_findings(const Case *self, int side)
{
	LodeFindings *out = lode_findings_new();

	for (uint32_t f = 0; f < N_FINDINGS; f++) {
		LodeFinding one = {.first_place = out->places->len};
		for (uint32_t i = 0; i < 2 * N_LINES; i++) {
			/* A place's time is of all: each finding has another scale. */
			LodeFindingPlace place = {.instruction = i,
				.time = self->shares[side][f][i / 2] / (2 + f) / 2};
			g_array_append_val(out->places, place);
		}
		one.n_places = out->places->len - one.first_place;
		g_array_append_val(out->findings, one);
	}
	return out;
}

static double common_share(const Case *self, uint32_t before, uint32_t after)
{
	double common = 0;

	for (uint32_t l = 0; l < N_LINES - 1; l++)
		common += fmin(self->shares[0][before][l], self->shares[1][after][l]);
	return common;
}

static bool is_exchanged(const Case *self, uint32_t faster, uint32_t slower)
{
	return self->changes[faster] < 0 && self->changes[slower] > 0 &&
	       common_share(self, faster, slower) >= 0.5;
}

/* Rounding decides whether it is a half. */
static bool has_half(const Case *self)
{
	for (uint32_t a = 0; a < N_FINDINGS; a++)
		for (uint32_t b = 0; b < N_FINDINGS; b++)
			if (fabs(common_share(self, a, b) - 0.5) < 1e-9)
				return true;
	return false;
}

static void draw(Case *self)
{
	for (uint32_t f = 0; f < N_FINDINGS; f++) {
		self->changes[f] = (double)random_int_range(-2, 3);
		for (int side = 0; side < 2; side++) {
			double sum = 0;
			for (uint32_t l = 0; l < N_LINES; l++) {
				double share = random_int_range(0, 3) == 0
				                       ? random_int_range(1, 1000)
				                       : 0;
				self->shares[side][f][l] = share;
				sum += share;
			}
			for (uint32_t l = 0; l < N_LINES && sum > 0; l++)
				self->shares[side][f][l] /= sum;
		}
	}
}

static void test_groups(void)
{
	unsigned n_joined = 0;

	for (int round = 0; round < 200; round++) {
		g_autoptr(LodeProfile) first = new_profile();
		g_autoptr(LodeProfile) second = new_profile();
		g_autoptr(LodeOwnLines) own = lode_own_lines_new(first, NULL);
		g_autoptr(LodeOwnLines) other_own = lode_own_lines_new(second, NULL);
		Case one;
		do
			draw(&one);
		while (has_half(&one));
		g_autoptr(LodeFindings) before = new_findings(&one, 0);
		g_autoptr(LodeFindings) after = new_findings(&one, 1);
		const LodeProfile *const profiles[] = {first, second};
		const LodeSharedFindings shared = {.sides = {before, after}};
		const LodeOwnLines *const both[] = {own, other_own};
		g_autofree uint32_t *groups = lode_exchanged_findings_group(
			profiles, &shared, both, one.changes);
		uint32_t expected[N_FINDINGS];
		for (uint32_t f = 0; f < N_FINDINGS; f++)
			expected[f] = f;
		/* Until nothing changes: the least number of what is connected. */
		for (uint32_t pass = 0; pass < N_FINDINGS; pass++)
			for (uint32_t a = 0; a < N_FINDINGS; a++)
				for (uint32_t b = 0; b < N_FINDINGS; b++)
					if (is_exchanged(&one, a, b))
						expected[a] = expected[b] = MIN(
							expected[a], expected[b]);
		for (uint32_t f = 0; f < N_FINDINGS; f++) {
			g_assert_cmpuint(groups[f], ==, expected[f]);
			n_joined += groups[f] != f;
		}
	}
	g_assert_cmpuint(n_joined, >, 100);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/analyses/exchanged_findings/groups", test_groups);
	return g_test_run();
}
