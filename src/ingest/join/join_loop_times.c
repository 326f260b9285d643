/* SPDX-License-Identifier: MIT */
#include "base/arrays/partition_point.h"
#include "base/arrays/sort_order.h"
#include "ingest/join/join.h"
#include "ingest/windows/window_reading.h"
#include "model/observed/loops.h"
#include "model/profile.h"

#include <math.h>
#include <string.h>

/* The time that samples may have taken where it is not known. */
static const double UNKNOWN_SHARE = 0.1;

static bool is_time(const LodeProfile *profile)
{
	return profile->code.weight_event != LODE_NONE &&
	       strstr(lode_profile_event(profile, profile->code.weight_event)->name, "-clock") !=
	               NULL;
}

void lode_join_counted_times(LodeProfile *profile, const LodeRecording *recording)
{
	double error = recording->programs.sampling_share > 0 ? recording->programs.sampling_error
	                                                      : UNKNOWN_SHARE;

	if (profile->run.frequency != LODE_FREQUENCY_EXACT || profile->run.n_samples <= 0 ||
		!is_time(profile))
		return;
	double of_sample = lode_profile_event(profile, profile->code.weight_event)->total /
	                   profile->run.n_samples;
	for (guint i = 0; i < profile->loops->len; i++) {
		LodeLoop *loop = &LODE_AT(profile->loops, LodeLoop, i);
		if (loop->iteration_ns >= 0 || loop->calls > 0 || loop->weight <= 0 ||
			loop->iterations <= 0)
			continue;
		loop->iteration_ns = loop->weight * (1 - recording->programs.sampling_share) /
		                     loop->iterations;
		/* So many samples are off by their root. */
		loop->iteration_error_ns = loop->iteration_ns *
		                           hypot(error, sqrt(of_sample / loop->weight));
		loop->iteration_source = lode_profile_intern(profile, "counted");
	}
}

/* --- by periods --- */

/* Loops with more calls in an iteration have time that is not their own. */
static const double MOST_CALLS = 0.02;

/* How far ratios of inferred executions may be off; ends of a loop that must have been seen; the
 * error from which a time is not known. */
static const double FLOW_ERROR = 0.3, FEWEST_EXITS = 6, FEW_ROUNDS = 16, MOST_ERROR = 0.4;

/* A function that is called from elsewhere more often than this has another period than where one
 * call returns to. */
static const double LEAST_OF_CALLS = 0.9;

typedef struct {
	uint32_t instruction, function;
	double ns, error_ns;
	GHashTable *weights; /* 1 + head of a loop → double: its part of the samples near */
} Period;

static void clear_period(void *data)
{
	g_clear_pointer(&((Period *)data)->weights, g_hash_table_unref);
}

LODE_ORDER(compare_periods, Period, LODE_ASCENDING(function), LODE_ASCENDING(instruction))

static uint32_t find(const LodeProfile *profile, const LodeJoinImages *images, const LodePlace *at)
{
	return lode_join_find(profile, lode_join_image_of(images, at->image), at->address);
}

/* The part of the samples near each period that each loop has. */
static void add_weights(LodeProfile *profile, const LodeJoinImages *images,
	const LodeJoinCode *codes, GArray *periods)
{
	const LodeWindowPeriods *read = images->context->windows->periods;
	const GArray *near = lode_window_periods_near(read);

	for (guint i = 0; i < near->len; i++) {
		const LodeNearSample *sample = &LODE_AT(near, LodeNearSample, i);
		Period *period = &LODE_AT(periods, Period, sample->period);
		uint32_t at = find(profile, images, &sample->place);
		if (at == LODE_NONE || codes[at].loop == 0)
			continue;
		void *head = GUINT_TO_POINTER(codes[at].loop);
		double *weight = g_hash_table_lookup(period->weights, head);
		if (weight == NULL) {
			weight = g_new0(double, 1);
			g_hash_table_insert(period->weights, head, weight);
		}
		*weight += sample->weight /
		           LODE_AT(lode_window_periods_list(read), LodeReadPeriod, sample->period)
		                   .near_weight;
	}
}

/* The entry of the function that is called just before an instruction, if nearly all of its calls
 * are from there; else the instruction. */
static uint32_t entry_before(
	const LodeProfile *profile, const LodeJoinCode *codes, uint32_t instruction)
{
	const LodeEdge *edges = (const LodeEdge *)(const void *)profile->code.edges->data;
	uint32_t call = instruction - 1, target = LODE_NONE;
	double here = 0, all = 0;

	if (instruction == 0 || codes[call].branch != LODE_BRANCH_CALL ||
		lode_profile_instruction(profile, call)->address + codes[call].length !=
			lode_profile_instruction(profile, instruction)->address)
		return instruction;
	for (guint i = 0; i < profile->code.edges->len && target == LODE_NONE; i++)
		if (edges[i].source == call && edges[i].kind == LODE_EDGE_CALL)
			target = edges[i].target;
	for (guint i = 0; i < profile->code.edges->len; i++) {
		if (edges[i].target != target || edges[i].kind != LODE_EDGE_CALL)
			continue;
		all += edges[i].count;
		here += edges[i].source == call ? edges[i].count : 0;
	}
	return target != LODE_NONE && here >= LEAST_OF_CALLS * all ? target : instruction;
}

static GArray *find_periods(
	LodeProfile *profile, const LodeJoinImages *images, const LodeJoinCode *codes)
{
	const GArray *read = lode_window_periods_list(images->context->windows->periods);
	GArray *found = g_array_new(FALSE, FALSE, sizeof(Period));

	g_array_set_clear_func(found, clear_period);
	for (guint i = 0; i < read->len; i++) {
		const LodeReadPeriod *one = &LODE_AT(read, LodeReadPeriod, i);
		const Period period = {
			.instruction = find(profile, images, &one->place),
			.function = LODE_NONE,
			.ns = one->ns,
			.error_ns = one->error_ns,
			.weights = g_hash_table_new_full(NULL, NULL, NULL, g_free),
		};
		g_array_append_val(found, period);
	}
	add_weights(profile, images, codes, found);
	for (guint i = 0; i < found->len; i++) {
		Period *period = &LODE_AT(found, Period, i);
		if (period->instruction == LODE_NONE)
			continue;
		period->instruction = entry_before(profile, codes, period->instruction);
		period->function = lode_profile_instruction(profile, period->instruction)->function;
	}
	g_array_sort(found, compare_periods);
	return found;
}

/* Of a loop, in a period. */
typedef struct {
	double n;
	double error; /* as a part of it */
} Iterations;

/* How far a ratio of two numbers of executions may be off. */
static double error_of_flow(double ratio)
{
	return FLOW_ERROR * (1 - exp(-fabs(log(ratio))));
}

/* By the rounds that registers show, or by the inferred flow where the loop was seen to end. False:
 * neither. */
static bool count_iterations(const LodeProfile *profile, const LodeJoinCode *codes,
	const LodeLoop *loop, double executions, Iterations *out)
{
	const LodeJoinCode *head = &codes[loop->head];
	const LodeObservedInstruction *seen =
		profile->windows != NULL ? lode_windows_find(profile->windows, loop->head) : NULL;
	double n_exits = seen != NULL ? seen->loop_exits : 0;
	double entries = head->loop_entries / executions;

	if (head->rounds.mean > 0 && entries > 0)
		*out = (Iterations){entries * head->rounds.mean,
			hypot(head->rounds.error, error_of_flow(entries))};
	else if (n_exits >= FEWEST_EXITS ||
		 loop->iterations <= FEW_ROUNDS * MAX(head->loop_entries, executions))
		*out = (Iterations){loop->iterations / executions,
			hypot(n_exits > 0 ? 1 / sqrt(n_exits) : 0,
				error_of_flow(
					n_exits > 0 ? entries : loop->iterations / executions))};
	else
		return false;
	return out->n > 0;
}

/* `scale`: the part of a period that the samples are of. */
static void measure_loop(LodeProfile *profile, const LodeJoinCode *codes, LodeLoop *loop,
	const Period *period, double scale)
{
	const double *share = g_hash_table_lookup(
		period->weights, GUINT_TO_POINTER(loop->head + 1));
	double executions = lode_profile_instruction(profile, period->instruction)->count;
	double of_sample = lode_profile_event(profile, profile->code.weight_event)->total /
	                   profile->run.n_samples;
	Iterations iterations;

	if (share == NULL || !(executions > 0) ||
		!count_iterations(profile, codes, loop, executions, &iterations))
		return;
	double error = hypot(period->error_ns / period->ns,
		hypot(iterations.error, sqrt(of_sample / loop->weight)));
	if (!(error <= MOST_ERROR) ||
		(loop->iteration_ns >= 0 && loop->iteration_error_ns <= loop->iteration_ns * error))
		return;
	loop->iteration_ns = period->ns * *share * scale / iterations.n;
	loop->iteration_error_ns = loop->iteration_ns * error;
	loop->iteration_source = lode_profile_intern(profile, "probed");
}

void lode_join_measured_times(LodeProfile *profile, const LodeJoinImages *images,
	const LodeJoinCode *codes, double sampling_share)
{
	double seconds = profile->run.user_seconds + profile->run.system_seconds;
	bool is_partly = seconds > 0 && !profile->run.is_kernel_sampled;
	double scale = (is_partly ? profile->run.user_seconds / seconds : 1) * (1 - sampling_share);

	if (images->context->windows == NULL || profile->run.n_samples <= 0 || !is_time(profile))
		return;
	g_autoptr(GArray) found = find_periods(profile, images, codes);
	const Period *periods = (const Period *)(const void *)found->data;
	for (guint i = 0; i < profile->loops->len; i++) {
		LodeLoop *loop = &LODE_AT(profile->loops, LodeLoop, i);
		uint32_t function = lode_profile_instruction(profile, loop->head)->function;
		if (loop->iteration_ns >= 0 || !loop->is_innermost || loop->weight <= 0 ||
			loop->iterations <= 0 || loop->calls > MOST_CALLS)
			continue;
		for (guint k = LODE_PARTITION_POINT(found->len, m, periods[m].function < function);
			k < found->len && periods[k].function == function; k++)
			measure_loop(profile, codes, loop, &periods[k], scale);
	}
}
