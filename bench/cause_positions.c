/* SPDX-License-Identifier: MIT */
/*
 * Where the weight of a kernel of cause_kernels lies, for bench/cause.sh: a line of its table, or
 * its heading.
 *
 *   cause_positions COUNTED.lode INFERRED.lode NAME SHARE wait|branch CAUSE STEP N AFTER STEP N
 *   cause_positions
 *
 * The profiles are of the same samples, with executions that were counted and inferred. Shares of
 * the weight as sampled are given by how many instructions after the cause they were executed.
 * "right" is the share of the excess, over the weight of the loop without the cause, that is on the
 * cause, or on the first instruction after a branch; the loop's own weight is taken to be spread
 * over all that it executes.
 */
#include "model/causes.h"
#include "model/profile.h"
#include "store/profile_store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = -2, LAST = 3, FAR = 100 };

typedef struct {
	const LodeProfile *profile;
	int8_t *distances; /* of each instruction from the causes; FAR: more */
	bool *is_right;    /* likewise */
	bool *is_kernel;   /* likewise: not of the program around it */
} Positions;

static bool is_kernel(const LodeFunction *function)
{
	return g_str_has_prefix(function->name, "kernel_") ||
	       g_str_has_prefix(function->name, "cause_") ||
	       strcmp(function->name, "callees") == 0 || strcmp(function->name, "blocks") == 0;
}

static void mark_places(Positions *self, char **places, int8_t distance, bool is_right)
{
	uint64_t first = strtoull(places[0], NULL, 16), step = strtoull(places[1], NULL, 10);
	uint64_t n = strtoull(places[2], NULL, 10);

	for (uint32_t i = 0; i < self->profile->code.instructions->len; i++) {
		uint64_t from = lode_profile_instruction(self->profile, i)->address - first;
		bool is_one = n > 0 && self->is_kernel[i] &&
		              (step > 0 ? from % step == 0 && from / step < n : from == 0);
		if (!is_one)
			continue;
		self->distances[i] = distance;
		self->is_right[i] |= is_right;
	}
}

/* One step from what is at a distance to what is not reached yet: +1 along the edges, −1 against
 * them. */
static void follow(Positions *self, const LodeEdge *edge, int distance, int step)
{
	uint32_t from = step > 0 ? edge->source : edge->target;
	uint32_t to = step > 0 ? edge->target : edge->source;

	if (edge->count > 0 && self->distances[from] == distance && self->distances[to] == FAR)
		self->distances[to] = (int8_t)(distance + step);
}

static void follow_all(Positions *self, int distance, int step)
{
	const LodeProfile *profile = self->profile;

	for (guint i = 0; i < profile->code.edges->len; i++)
		follow(self, &LODE_AT(profile->code.edges, LodeEdge, i), distance, step);
	for (uint32_t i = 0; i + 1 < profile->code.instructions->len; i++) {
		double count = lode_profile_instruction(profile, i)->next_count;
		const LodeEdge edge = {i, i + 1, LODE_EDGE_FALL_THROUGH, count};
		follow(self, &edge, distance, step);
	}
}

static double sum(const Positions *self, uint32_t event, const bool *which, int distance)
{
	double all = 0;

	for (uint32_t i = 0; i < self->profile->code.instructions->len; i++)
		if (self->is_kernel[i] && (which == NULL || which[i]) &&
			(distance == FAR || self->distances[i] == distance))
			all += lode_profile_event_value(self->profile, event, i);
	return all;
}

/* Executions, without the rounds of a repeated instruction after the first. */
static double *count_executions(const LodeProfile *profile)
{
	double *counts = g_new(double, profile->code.instructions->len + 1);

	for (uint32_t i = 0; i < profile->code.instructions->len; i++)
		counts[i] = lode_profile_instruction(profile, i)->count;
	for (guint i = 0; i < profile->code.edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, i);
		if (edge->source == edge->target)
			counts[edge->source] -= edge->count;
	}
	return counts;
}

/* What is right by an event, in percent of the excess. */
static double right_share(const Positions *self, uint32_t event, double share_without)
{
	g_autofree double *counts = count_executions(self->profile);
	double executed = 0, right = 0;

	for (uint32_t i = 0; i < self->profile->code.instructions->len; i++) {
		executed += self->is_kernel[i] ? counts[i] : 0;
		right += self->is_right[i] ? counts[i] : 0;
	}
	double weight = sum(self, event, NULL, FAR);
	double own = share_without * right / executed;
	double part = sum(self, event, self->is_right, FAR) / weight - own;
	return 100 * CLAMP(part / (1 - share_without), 0, 1);
}

static uint32_t sampled_event(const LodeProfile *profile)
{
	return lode_profile_event_as_sampled(profile, profile->code.weight_event);
}

static void put_distances(const Positions *self)
{
	uint32_t event = sampled_event(self->profile);
	double weight = sum(self, event, NULL, FAR), near = 0;

	for (int distance = FIRST; distance <= LAST; distance++) {
		double part = 100 * sum(self, event, NULL, distance) / weight;
		near += part;
		printf(" %5.1f", part);
	}
	printf(" %5.1f", 100 - near);
}

/* `place`: what follows the share among the arguments. */
static void positions_init(Positions *self, const LodeProfile *profile, char **place)
{
	uint32_t n = profile->code.instructions->len;

	*self = (Positions){
		profile, g_new(int8_t, n + 1), g_new0(bool, n + 1), g_new0(bool, n + 1)};
	memset(self->distances, FAR, n);
	for (uint32_t i = 0; i < n; i++)
		self->is_kernel[i] = is_kernel(lode_profile_function(
			profile, lode_profile_instruction(profile, i)->function));
	mark_places(self, &place[4], 1, true);
	mark_places(self, &place[1], 0, true);
	for (int distance = 0; distance < LAST; distance++)
		follow_all(self, distance, 1);
	for (int distance = 0; distance > FIRST; distance--)
		follow_all(self, distance, -1);
	for (uint32_t i = 0; i < n && strcmp(place[0], "branch") == 0; i++)
		self->is_right[i] |= self->is_kernel[i] && self->distances[i] == 1;
}

static void positions_clear(Positions *self)
{
	g_free(self->distances);
	g_free(self->is_right);
	g_free(self->is_kernel);
}

int main(int n_arguments, char **arguments)
{
	g_autoptr(GError) error = NULL;
	LodeProfile *profiles[2] = {NULL, NULL};
	Positions counted, inferred;

	if (n_arguments != 12) {
		printf("%-26s %5s %5s %5s %5s %5s %5s %5s %6s %8s %8s %8s\n",
			"samples after the cause", "-2", "-1", "0", "+1", "+2", "+3", "else",
			"cheap", "sampled", "counted", "inferred");
		return n_arguments == 1 ? 0 : 2;
	}
	for (int i = 0; i < 2; i++) {
		profiles[i] = lode_profile_store_read(arguments[1 + i], NULL, &error);
		if (profiles[i] != NULL)
			continue;
		fprintf(stderr, "%s\n", error->message);
		return 1;
	}
	double cheap = atof(arguments[4]);
	positions_init(&counted, profiles[0], &arguments[5]);
	positions_init(&inferred, profiles[1], &arguments[5]);
	printf("%-26s", arguments[3]);
	put_distances(&counted);
	printf(" %6.1f %8.1f %8.1f %8.1f\n", 100 * cheap,
		right_share(&counted, sampled_event(profiles[0]), cheap),
		right_share(&counted, profiles[0]->code.weight_event, cheap),
		right_share(&inferred, profiles[1]->code.weight_event, cheap));
	positions_clear(&counted);
	positions_clear(&inferred);
	lode_profile_free(profiles[0]);
	lode_profile_free(profiles[1]);
	return 0;
}
