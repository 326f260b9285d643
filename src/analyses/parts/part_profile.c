/* SPDX-License-Identifier: MIT */
#include "analyses/parts/part_profile.h"

#include "analyses/parts/program_shares.h"
#include "model/causes.h"
#include "model/profile.h"
#include "model/stacks.h"

#include <math.h>

typedef struct {
	LodeProfile *profile;
	const bool *chosen;
	double *shares; /* [functions]: of the part in a function's samples */
	double share;   /* in all samples */
} Part;

static bool is_as_sampled(const LodeProfile *profile, uint32_t event)
{
	return event != LODE_NONE &&
	       lode_profile_event(profile, event)->kind == LODE_EVENT_SAMPLED &&
	       lode_profile_event_as_sampled(profile, event) == LODE_NONE;
}

/* The weight of samples of an event: of all, and of the part. */
typedef struct {
	double *of_all, *of_part;       /* [instructions] */
	double all, part;               /* with those that are at no instruction */
	double unplaced, n_unplaced, n; /* of the part: weight and samples at none, and samples */
} Sums;

static void sums_clear(Sums *self)
{
	g_free(self->of_all);
	g_free(self->of_part);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sums, sums_clear)

static void sums_init(Sums *self, const Part *part, uint32_t event)
{
	const LodeStacks *stacks = part->profile->stacks;
	guint n = MAX(part->profile->instructions->len, 1);

	*self = (Sums){.of_all = g_new0(double, n), .of_part = g_new0(double, n)};
	for (guint i = 0; i < stacks->samples->len; i++) {
		const LodeStackSample *sample = &LODE_AT(stacks->samples, LodeStackSample, i);
		if (sample->event != event)
			continue;
		uint32_t at = lode_stacks_instruction(stacks, sample->stack);
		double weight = part->chosen[i] ? sample->weight : 0;
		double n_samples = part->chosen[i] ? 1.0 + sample->n_more : 0;
		self->all += sample->weight;
		self->part += weight;
		self->n += n_samples;
		if (at == LODE_NONE) {
			self->unplaced += weight;
			self->n_unplaced += n_samples;
		} else {
			self->of_all[at] += sample->weight;
			self->of_part[at] += weight;
		}
	}
}

static double ratio(double part, double all, double otherwise)
{
	return all > 0 && isfinite(all) ? CLAMP(part / all, 0, 1) : otherwise;
}

static void find_shares(Part *self, const Sums *sums)
{
	self->share = ratio(sums->part, sums->all, 0);
	for (uint32_t i = 0; i < self->profile->functions->len; i++) {
		const LodeFunction *function = lode_profile_function(self->profile, i);
		double all = 0, part = 0;
		for (uint32_t k = 0; k < function->n_instructions; k++) {
			all += sums->of_all[function->first_instruction + k];
			part += sums->of_part[function->first_instruction + k];
		}
		self->shares[i] = ratio(part, all, self->share);
	}
}

static double share_at(const Part *self, uint32_t instruction)
{
	return self->shares[lode_profile_instruction(self->profile, instruction)->function];
}

/* --- costs --- */

static LodeCost *cost_of(const LodeProfile *profile, uint32_t instruction, uint32_t event)
{
	uint32_t end = LODE_AT(profile->cost_starts, uint32_t, instruction + 1);

	for (uint32_t i = LODE_AT(profile->cost_starts, uint32_t, instruction); i < end; i++)
		if (LODE_AT(profile->costs, LodeCost, i).event == event)
			return &LODE_AT(profile->costs, LodeCost, i);
	return NULL;
}

/* Repeated instructions keep their weight. */
static uint8_t *mark_repeats(const LodeProfile *profile)
{
	uint8_t *marks = g_new0(uint8_t, MAX(profile->instructions->len, 1));

	for (guint i = 0; i < profile->edges->len; i++) {
		const LodeEdge *edge = &LODE_AT(profile->edges, LodeEdge, i);
		if (edge->kind == LODE_EDGE_REPEAT)
			marks[edge->source] = LODE_CAUSE_REPEATS;
	}
	return marks;
}

/* Not all that the import knew of the code is in a profile, so that the rule gives proportions. */
static void reduce_charged(const Part *self, const Sums *sums, uint32_t charged)
{
	const LodeProfile *profile = self->profile;
	guint n = MAX(profile->instructions->len, 1);
	g_autofree uint8_t *marks = mark_repeats(profile);
	g_autoptr(LodeCauses) causes = lode_causes_new(profile, marks);
	g_autofree double *all = g_new(double, n);
	g_autofree double *part = g_new(double, n);

	lode_causes_charge(causes, sums->of_all, all);
	lode_causes_charge(causes, sums->of_part, part);
	for (uint32_t i = 0; i < profile->instructions->len; i++) {
		LodeCost *cost = cost_of(profile, i, charged);
		if (cost != NULL)
			cost->value *= ratio(part[i], all[i], share_at(self, i));
	}
	lode_profile_event(profile, charged)->total = sums->part;
}

static void reduce_sampled(const Part *self, uint32_t event)
{
	const LodeProfile *profile = self->profile;
	uint32_t charged = lode_profile_event_as_charged(profile, event);
	g_auto(Sums) sums = {0};

	sums_init(&sums, self, event);
	for (uint32_t i = 0; i < profile->instructions->len; i++) {
		LodeCost *cost = cost_of(profile, i, event);
		if (cost != NULL)
			cost->value = sums.of_part[i];
	}
	lode_profile_event(profile, event)->total = sums.part;
	if (charged != LODE_NONE)
		reduce_charged(self, &sums, charged);
}

/* Counts that belong to no instruction are divided as all samples are. */
static void reduce_counted(const Part *self, uint32_t event)
{
	const LodeProfile *profile = self->profile;
	double *total = &lode_profile_event(profile, event)->total;
	double rest = *total, sum = 0;

	for (uint32_t i = 0; i < profile->instructions->len; i++) {
		LodeCost *cost = cost_of(profile, i, event);
		if (cost == NULL)
			continue;
		rest -= cost->value;
		cost->value *= share_at(self, i);
		sum += cost->value;
	}
	*total = sum + fmax(rest, 0) * self->share;
}

/* No cost is 0. */
static void remove_empty_costs(const LodeProfile *profile)
{
	guint kept = 0, at = 0;

	for (uint32_t i = 0; i < profile->instructions->len; i++) {
		uint32_t *end = &LODE_AT(profile->cost_starts, uint32_t, i + 1);
		for (; at < *end; at++)
			if (LODE_AT(profile->costs, LodeCost, at).value != 0)
				LODE_AT(profile->costs, LodeCost, kept++) = LODE_AT(
					profile->costs, LodeCost, at);
		*end = kept;
	}
	g_array_set_size(profile->costs, kept);
}

/* --- executions --- */

static void reduce_edges(const Part *self)
{
	GArray *edges = self->profile->edges;
	guint kept = 0;

	for (guint i = 0; i < edges->len; i++) {
		LodeEdge edge = LODE_AT(edges, LodeEdge, i);
		double share = share_at(self, edge.source);
		edge.count *= share;
		if (share > 0)
			LODE_AT(edges, LodeEdge, kept++) = edge;
	}
	g_array_set_size(edges, kept);
}

static void reduce_counts(const Part *self)
{
	LodeProfile *profile = self->profile;
	double rest = profile->total_count, sum = 0;

	for (uint32_t i = 0; i < profile->instructions->len; i++) {
		LodeInstruction *row = lode_profile_instruction(profile, i);
		double share = share_at(self, i);
		rest -= row->count;
		row->count *= share;
		sum += row->count;
		if (row->next_count >= 0)
			row->next_count = share > 0 ? row->next_count * share : -1;
	}
	for (uint32_t i = 0; i < profile->blocks->len; i++) {
		LodeBlock *block = lode_profile_block(profile, i);
		block->count *= self->shares[block->function];
	}
	for (uint32_t i = 0; i < profile->functions->len; i++)
		lode_profile_function(profile, i)->calls *= self->shares[i];
	profile->total_count = sum + fmax(rest, 0) * self->share;
	/* Known of the whole alone. */
	profile->user_seconds = profile->system_seconds = profile->wall_seconds = 0;
	profile->inflow_checked = profile->inflow_equal = 0;
}

static void sum_derived(const LodeProfile *profile)
{
	for (uint32_t i = 0; i < profile->events->len; i++) {
		LodeEvent *event = lode_profile_event(profile, i);
		if (event->kind == LODE_EVENT_COUNT)
			event->total = profile->total_count;
		if (event->kind != LODE_EVENT_DERIVED || event->terms == NULL)
			continue;
		event->total = 0;
		for (guint k = 0; k < event->terms->len; k++) {
			const LodeEventTerm *term = &LODE_AT(event->terms, LodeEventTerm, k);
			bool is_count = lode_profile_event(profile, term->event)->kind ==
			                LODE_EVENT_COUNT;
			event->total +=
				term->factor *
				(is_count ? profile->total_count
					  : lode_profile_event(profile, term->event)->total);
		}
	}
}

static void keep_samples(const Part *self)
{
	GArray *samples = self->profile->stacks->samples;
	guint kept = 0;

	for (guint i = 0; i < samples->len; i++)
		if (self->chosen[i])
			LODE_AT(samples, LodeStackSample, kept++) = LODE_AT(
				samples, LodeStackSample, i);
	g_array_set_size(samples, kept);
}

static void account(const Part *self, const Sums *sums)
{
	LodeProfile *profile = self->profile;

	g_array_set_size(profile->unresolved, 0);
	profile->n_samples = sums->n;
	profile->n_equal_samples = 0;
	if (sums->n_unplaced == 0)
		return;
	lode_profile_add_unresolved(
		profile, "samples of the part at no known instruction", NULL, 0, sums->unplaced);
	LODE_AT(profile->unresolved, LodeUnresolved, 0).samples = sums->n_unplaced;
}

double lode_part_profile_reduce(LodeProfile *profile, const bool *chosen)
{
	g_autofree double *shares = g_new0(double, MAX(profile->functions->len, 1));
	Part self = {.profile = profile, .chosen = chosen, .shares = shares};
	g_auto(Sums) measure = {0};

	sums_init(&measure, &self, lode_program_shares_event(profile));
	find_shares(&self, &measure);
	for (uint32_t i = 0; i < profile->events->len; i++) {
		if (is_as_sampled(profile, i))
			reduce_sampled(&self, i);
		else if (lode_profile_event(profile, i)->kind == LODE_EVENT_RECORDED)
			reduce_counted(&self, i);
	}
	remove_empty_costs(profile);
	reduce_edges(&self);
	reduce_counts(&self);
	sum_derived(profile);
	account(&self, &measure);
	keep_samples(&self);
	return self.share;
}
