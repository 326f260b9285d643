/* SPDX-License-Identifier: MIT */
#include "model/observed/loops.h"

#include "base/arrays/partition_point.h"
#include "base/bits.h"
#include "model/profile.h"

const char *lode_unit_name(LodeUnit unit)
{
	static const char *const names[LODE_N_UNITS] = {
		"divider", "load", "store", "branch", "alu", "float", "vector", "ports", "width"};

	return (unsigned)unit < LODE_N_UNITS ? names[unit] : NULL;
}

static guint place_of(const LodeProfile *profile, uint32_t head)
{
	const LodeLoop *loops = (const LodeLoop *)(const void *)profile->loops->data;

	return LODE_PARTITION_POINT(profile->loops->len, i, loops[i].head < head);
}

LodeLoop *lode_loops_find(const LodeProfile *profile, uint32_t head)
{
	guint at = place_of(profile, head);

	return at < profile->loops->len && LODE_AT(profile->loops, LodeLoop, at).head == head
	               ? &LODE_AT(profile->loops, LodeLoop, at)
	               : NULL;
}

LodeLoop *lode_loops_add(LodeProfile *profile, uint32_t head)
{
	LodeLoop *known = lode_loops_find(profile, head);
	guint at = place_of(profile, head);
	const LodeLoop added = {
		.head = head,
		.iterations = lode_profile_instruction(profile, head)->count,
		.weight = -1,
		.recurrence_cycles = -1,
		.other_cycles = -1,
		.iteration_ns = -1,
		.iteration_error_ns = -1,
		.load_bytes = -1,
		.store_bytes = -1,
	};

	if (known != NULL)
		return known;
	g_array_insert_val(profile->loops, at, added);
	return &LODE_AT(profile->loops, LodeLoop, at);
}

/* Besides their errors, times of iterations are up to so much too short (docs/inside/loop-times.md,
 * accuracy). */
static const double TOO_SHORT = 0.06;

uint32_t lode_loop_wrong_bounds(const LodeProfile *profile, const LodeLoop *self)
{
	double error_ns = MAX(self->iteration_error_ns, 0);
	double most = (self->iteration_ns * (1 + TOO_SHORT) + 2 * error_ns) *
	              profile->run.cycles_per_ns;
	uint32_t wrong = 0;

	if (!(self->iteration_ns > 0) || !(profile->run.cycles_per_ns > 0))
		return 0;
	for (unsigned i = 0; i < LODE_N_UNITS; i++)
		if (self->cycles[i] > most)
			wrong |= (uint32_t)LODE_BIT(i);
	if (self->recurrence_cycles > most)
		wrong |= (uint32_t)LODE_BIT(LODE_LOOP_RECURRENCE);
	return wrong;
}

LodeLoop lode_loop_within_time(const LodeProfile *profile, const LodeLoop *self)
{
	uint32_t wrong = lode_loop_wrong_bounds(profile, self);
	LodeLoop loop = *self;

	for (unsigned i = 0; i < LODE_N_UNITS; i++)
		if ((wrong >> i & 1) != 0)
			loop.cycles[i] = 0;
	if ((wrong >> LODE_LOOP_RECURRENCE & 1) != 0) {
		loop.recurrence = loop.other_recurrence = NULL;
		loop.recurrence_cycles = loop.other_cycles = -1;
	}
	return loop;
}

double lode_loop_busiest(const LodeLoop *self, LodeUnit *out_unit)
{
	LodeUnit most = LODE_UNIT_DIVIDER;

	/* The first of equal ones: a unit rather than the ports that it shares, or the width. */
	for (unsigned i = 1; i < LODE_N_UNITS; i++)
		if (self->cycles[i] > self->cycles[most] + 1e-9)
			most = (LodeUnit)i;
	*out_unit = most;
	return self->cycles[most];
}

void lode_loops_recount(LodeProfile *profile)
{
	guint n = 0;

	for (guint i = 0; i < profile->loops->len; i++) {
		LodeLoop loop = LODE_AT(profile->loops, LodeLoop, i);
		loop.iterations = lode_profile_instruction(profile, loop.head)->count;
		loop.weight = loop.iteration_ns = loop.iteration_error_ns = -1;
		loop.iteration_source = NULL;
		if (loop.iterations > 0)
			LODE_AT(profile->loops, LodeLoop, n++) = loop;
	}
	g_array_set_size(profile->loops, n);
}
