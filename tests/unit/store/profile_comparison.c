/* SPDX-License-Identifier: MIT */
#include "random_profile.h"

#include "model/findings.h"
#include "model/observed/loops.h"
#include "model/observed/windows.h"
#include "model/process.h"
#include "model/waits.h"

#include "model/run/unresolved.h"
#include "random_memory.h"

#include <string.h>

/* Amounts are compared bit for bit: the store must not round. */
#define assert_same(a, b, field) g_assert_true((a)->field == (b)->field)
#define assert_same_text(a, b, field) g_assert_cmpstr((a)->field, ==, (b)->field)

static bool are_equal_arrays(const GArray *a, const GArray *b, size_t size)
{
	return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len * size) == 0);
}

static void compare_events(const LodeProfile *a, const LodeProfile *b)
{
	g_assert_cmpuint(a->code.events->len, ==, b->code.events->len);
	for (guint i = 0; i < a->code.events->len; i++) {
		const LodeEvent *left = &LODE_AT(a->code.events, LodeEvent, i);
		const LodeEvent *right = &LODE_AT(b->code.events, LodeEvent, i);
		assert_same_text(left, right, name);
		assert_same_text(left, right, description);
		assert_same(left, right, kind);
		assert_same(left, right, is_attribute);
		assert_same(left, right, total);
		g_assert_true((left->terms == NULL) == (right->terms == NULL));
		if (left->terms == NULL)
			continue;
		g_assert_cmpuint(left->terms->len, ==, right->terms->len);
		for (guint k = 0; k < left->terms->len; k++) {
			const LodeEventTerm *x = &LODE_AT(left->terms, LodeEventTerm, k);
			const LodeEventTerm *y = &LODE_AT(right->terms, LodeEventTerm, k);
			assert_same(x, y, event);
			assert_same(x, y, factor);
		}
	}
}

static void compare_images(const LodeProfile *a, const LodeProfile *b)
{
	g_assert_cmpuint(a->code.images->len, ==, b->code.images->len);
	for (guint i = 0; i < a->code.images->len; i++) {
		const LodeImage *left = &LODE_AT(a->code.images, LodeImage, i);
		const LodeImage *right = &LODE_AT(b->code.images, LodeImage, i);
		assert_same_text(left, right, path);
		assert_same_text(left, right, build_id);
		assert_same(left, right, kind);
	}
}

static void compare_functions(const LodeProfile *a, const LodeProfile *b)
{
	g_assert_cmpuint(a->code.functions->len, ==, b->code.functions->len);
	for (guint i = 0; i < a->code.functions->len; i++) {
		const LodeFunction *left = &LODE_AT(a->code.functions, LodeFunction, i);
		const LodeFunction *right = &LODE_AT(b->code.functions, LodeFunction, i);
		assert_same(left, right, image);
		assert_same(left, right, source);
		assert_same_text(left, right, name);
		assert_same_text(left, right, symbol);
		assert_same(left, right, address);
		assert_same(left, right, size);
		assert_same(left, right, calls);
		assert_same(left, right, first_instruction);
		assert_same(left, right, n_instructions);
		assert_same(left, right, first_block);
		assert_same(left, right, n_blocks);
		g_assert_true((left->code == NULL) == (right->code == NULL));
		if (left->code != NULL)
			g_assert_true(g_bytes_equal(left->code, right->code));
	}
}

static void compare_blocks(const LodeProfile *a, const LodeProfile *b)
{
	g_assert_cmpuint(a->code.blocks->len, ==, b->code.blocks->len);
	for (guint i = 0; i < a->code.blocks->len; i++) {
		const LodeBlock *left = &LODE_AT(a->code.blocks, LodeBlock, i);
		const LodeBlock *right = &LODE_AT(b->code.blocks, LodeBlock, i);
		assert_same(left, right, function);
		assert_same(left, right, address);
		assert_same(left, right, end);
		assert_same(left, right, count);
		assert_same(left, right, loop_depth);
		assert_same(left, right, is_loop_head);
	}
}

static void compare_instructions(const LodeProfile *a, const LodeProfile *b)
{
	g_assert_cmpuint(a->code.instructions->len, ==, b->code.instructions->len);
	for (guint i = 0; i < a->code.instructions->len; i++) {
		const LodeInstruction *left = &LODE_AT(a->code.instructions, LodeInstruction, i);
		const LodeInstruction *right = &LODE_AT(b->code.instructions, LodeInstruction, i);
		assert_same(left, right, address);
		assert_same(left, right, count);
		assert_same(left, right, next_count);
		assert_same(left, right, function);
		assert_same(left, right, block);
		assert_same(left, right, attribute_set);
		assert_same(left, right, location);
		assert_same(left, right, size);
		assert_same_text(left, right, name);
	}
}

static void compare_costs(const LodeProfile *a, const LodeProfile *b)
{
	g_assert_true(are_equal_arrays(a->code.cost_starts, b->code.cost_starts, sizeof(uint32_t)));
	g_assert_cmpuint(a->code.costs->len, ==, b->code.costs->len);
	for (guint i = 0; i < a->code.costs->len; i++) {
		const LodeCost *left = &LODE_AT(a->code.costs, LodeCost, i);
		const LodeCost *right = &LODE_AT(b->code.costs, LodeCost, i);
		assert_same(left, right, event);
		assert_same(left, right, value);
	}
}

static void compare_edges(const LodeProfile *a, const LodeProfile *b)
{
	g_assert_cmpuint(a->code.edges->len, ==, b->code.edges->len);
	for (guint i = 0; i < a->code.edges->len; i++) {
		const LodeEdge *left = &LODE_AT(a->code.edges, LodeEdge, i);
		const LodeEdge *right = &LODE_AT(b->code.edges, LodeEdge, i);
		assert_same(left, right, source);
		assert_same(left, right, target);
		assert_same(left, right, kind);
		assert_same(left, right, count);
	}
}

static void compare_attributes(const LodeProfile *a, const LodeProfile *b)
{
	g_assert_cmpuint(a->code.attributes->len, ==, b->code.attributes->len);
	for (guint i = 0; i < a->code.attributes->len; i++)
		g_assert_cmpstr(g_ptr_array_index(a->code.attributes, i), ==,
			g_ptr_array_index(b->code.attributes, i));
	g_assert_true(are_equal_arrays(
		a->code.attribute_sets, b->code.attribute_sets, sizeof(LodeAttributeSet)));
	g_assert_true(are_equal_arrays(a->code.set_members, b->code.set_members, sizeof(uint32_t)));
}

static void compare_locations(const LodeProfile *a, const LodeProfile *b)
{
	g_assert_cmpuint(a->code.locations->len, ==, b->code.locations->len);
	for (guint i = 0; i < a->code.locations->len; i++) {
		const LodeLocation *left = &LODE_AT(a->code.locations, LodeLocation, i);
		const LodeLocation *right = &LODE_AT(b->code.locations, LodeLocation, i);
		assert_same_text(left, right, file);
		assert_same(left, right, line);
		assert_same_text(left, right, inlined);
	}
}

static void compare_unresolved(const LodeProfile *a, const LodeProfile *b)
{
	g_assert_cmpuint(a->unresolved->len, ==, b->unresolved->len);
	for (guint i = 0; i < a->unresolved->len; i++) {
		const LodeUnresolved *left = &LODE_AT(a->unresolved, LodeUnresolved, i);
		const LodeUnresolved *right = &LODE_AT(b->unresolved, LodeUnresolved, i);
		assert_same_text(left, right, reason);
		assert_same_text(left, right, example);
		assert_same(left, right, count);
		assert_same(left, right, weight);
		assert_same(left, right, places);
	}
}

static void compare_thread_times(const LodeProfile *a, const LodeProfile *b)
{
	g_assert_cmpuint(a->thread_times->len, ==, b->thread_times->len);
	for (guint i = 0; i < a->thread_times->len; i++) {
		const LodeThreadTime *left = &LODE_AT(a->thread_times, LodeThreadTime, i);
		const LodeThreadTime *right = &LODE_AT(b->thread_times, LodeThreadTime, i);
		assert_same_text(left, right, name);
		assert_same(left, right, pid);
		assert_same(left, right, tid);
		assert_same(left, right, begin_ns);
		assert_same(left, right, end_ns);
		assert_same(left, right, running_ns);
		assert_same(left, right, preempted_ns);
		assert_same(left, right, switches);
	}
}

void assert_equal_waits(const LodeWaits *a, const LodeWaits *b)
{
	g_assert_true((a == NULL) == (b == NULL));
	if (a == NULL)
		return;
	assert_same(a, b, clock_ns);
	assert_same(a, b, running_ns);
	assert_same(a, b, waiting_ns);
	assert_same(a, b, seen_ns);
	assert_same(a, b, refused_ns);
	assert_same(a, b, has_path);
	assert_same(a, b, path_running_ns);
	assert_same(a, b, path_sure);
	assert_same(a, b, path_threads);
	g_assert_true(are_equal_arrays(a->causes, b->causes, sizeof(LodeWaitCause)));
	g_assert_cmpuint(a->rows->len, ==, b->rows->len);
	for (guint i = 0; i < a->rows->len; i++) {
		const LodeWait *left = &LODE_AT(a->rows, LodeWait, i);
		const LodeWait *right = &LODE_AT(b->rows, LodeWait, i);
		assert_same(left, right, reason);
		assert_same_text(left, right, call);
		assert_same_text(left, right, object);
		assert_same_text(left, right, thread_name);
		assert_same(left, right, pid);
		assert_same(left, right, tid);
		assert_same(left, right, stack);
		assert_same(left, right, holder_stack);
		assert_same_text(left, right, holder_call);
		assert_same(left, right, holder_share);
		assert_same(left, right, cause);
		assert_same(left, right, waiting_ns);
		assert_same(left, right, path_ns);
		assert_same(left, right, count);
		assert_same(left, right, longest_ns);
		assert_same(left, right, looks);
		assert_same(left, right, is_idle);
	}
	g_assert_cmpuint(a->programs->len, ==, b->programs->len);
	for (guint i = 0; i < a->programs->len; i++) {
		const LodeWaitProgram *left = &LODE_AT(a->programs, LodeWaitProgram, i);
		const LodeWaitProgram *right = &LODE_AT(b->programs, LodeWaitProgram, i);
		assert_same_text(left, right, name);
		assert_same(left, right, processes);
		assert_same(left, right, running_ns);
		assert_same(left, right, lives_ns);
		assert_same(left, right, lived_ns);
		assert_same(left, right, path_ns);
		assert_same(left, right, alone_ns);
	}
	g_assert_cmpuint(a->slices->len, ==, b->slices->len);
	for (guint i = 0; i < a->slices->len; i++) {
		const LodeWaitSlice *left = &LODE_AT(a->slices, LodeWaitSlice, i);
		const LodeWaitSlice *right = &LODE_AT(b->slices, LodeWaitSlice, i);
		assert_same(left, right, pid);
		assert_same(left, right, tid);
		assert_same(left, right, begin_ns);
		assert_same(left, right, end_ns);
		assert_same(left, right, kind);
		assert_same(left, right, wait);
		assert_same(left, right, time_ns);
		assert_same(left, right, path_ns);
	}
}

static void compare_windows(const LodeWindows *a, const LodeWindows *b)
{
	g_assert_true((a == NULL) == (b == NULL));
	if (a == NULL)
		return;
	assert_same(a, b, n_windows);
	assert_same(a, b, n_steps);
	assert_same(a, b, n_unresolved);
	assert_same(a, b, n_dropped);
	assert_same(a, b, dropped_weight);
	assert_same(a, b, user_seconds);
	assert_same(a, b, system_seconds);
	/* Neither has bytes between its fields. */
	g_assert_true(are_equal_arrays(a->edges, b->edges, sizeof(LodeObservedEdge)));
	g_assert_true(are_equal_arrays(
		a->instructions, b->instructions, sizeof(LodeObservedInstruction)));
	g_assert_cmpuint(a->processes->len, ==, b->processes->len);
	for (guint i = 0; i < a->processes->len; i++) {
		const LodeSteppedProcess *left = &LODE_AT(a->processes, LodeSteppedProcess, i);
		const LodeSteppedProcess *right = &LODE_AT(b->processes, LodeSteppedProcess, i);
		assert_same(left, right, pid);
		assert_same_text(left, right, name);
		assert_same_text(left, right, obstacle);
		assert_same(left, right, n_windows);
		assert_same(left, right, n_steps);
	}
}

static void compare_loops(const GArray *a, const GArray *b)
{
	g_assert_cmpuint(a->len, ==, b->len);
	for (guint i = 0; i < a->len; i++) {
		const LodeLoop *left = &LODE_AT(a, LodeLoop, i), *right = &LODE_AT(b, LodeLoop, i);
		assert_same(left, right, head);
		assert_same(left, right, iterations);
		assert_same(left, right, instructions);
		assert_same(left, right, weight);
		assert_same(left, right, calls);
		assert_same(left, right, is_innermost);
		assert_same(left, right, unmodelled);
		assert_same_text(left, right, recurrence);
		assert_same_text(left, right, other_recurrence);
		assert_same(left, right, recurrence_cycles);
		assert_same(left, right, other_cycles);
		g_assert_true(memcmp(left->cycles, right->cycles, sizeof(left->cycles)) == 0);
		assert_same(left, right, iteration_ns);
		assert_same(left, right, iteration_error_ns);
		assert_same_text(left, right, iteration_source);
		assert_same(left, right, load_bytes);
		assert_same(left, right, store_bytes);
	}
}

void assert_equal_profiles(const LodeProfile *a, const LodeProfile *b)
{
	assert_same_text(a, b, run.program);
	assert_same_text(a, b, run.creator);
	assert_same(a, b, run.frequency);
	assert_same(a, b, code.weight_event);
	assert_same(a, b, run.total_count);
	assert_same(a, b, run.inflow_checked);
	assert_same(a, b, run.inflow_equal);
	compare_events(a, b);
	compare_images(a, b);
	compare_functions(a, b);
	compare_blocks(a, b);
	compare_instructions(a, b);
	compare_costs(a, b);
	compare_edges(a, b);
	compare_attributes(a, b);
	compare_locations(a, b);
	compare_unresolved(a, b);
	compare_thread_times(a, b);
	assert_equal_waits(a->waits, b->waits);
	compare_windows(a->windows, b->windows);
	assert_same_text(a, b, run.core);
	g_assert_cmpfloat(a->run.cycles_per_ns, ==, b->run.cycles_per_ns);
	g_assert_cmpfloat(a->run.n_core_figures, ==, b->run.n_core_figures);
	g_assert_cmpfloat(a->run.mispredict_cycles, ==, b->run.mispredict_cycles);
	g_assert_cmpfloat(a->run.wall_seconds, ==, b->run.wall_seconds);
	g_assert_cmpfloat(a->run.system_error, ==, b->run.system_error);
	g_assert_cmpfloat(a->run.n_equal_samples, ==, b->run.n_equal_samples);
	g_assert_true(memcmp(&a->run.speed, &b->run.speed, sizeof(a->run.speed)) == 0);
	g_assert_true(memcmp(&a->run.rates, &b->run.rates, sizeof(a->run.rates)) == 0);
	compare_loops(a->loops, b->loops);
	assert_equal_memories(a->memory, b->memory);
}

static void compare_parameters(const LodeMiningParameters *a, const LodeMiningParameters *b)
{
	assert_same_text(a, b, weight);
	assert_same_text(a, b, attributes);
	assert_same_text(a, b, exclude);
	assert_same_text(a, b, images);
	assert_same_text(a, b, functions);
	assert_same(a, b, event_rate);
	assert_same(a, b, min_support);
	assert_same(a, b, min_differential);
	assert_same(a, b, min_functions);
	assert_same(a, b, gap);
	assert_same(a, b, window);
	assert_same(a, b, iterations);
	assert_same(a, b, flow);
	assert_same(a, b, granularity);
	assert_same(a, b, only_closed);
	assert_same(a, b, only_maximal);
	assert_same(a, b, top);
	assert_same(a, b, max_sequences);
	assert_same(a, b, is_instruction_mode);
	assert_same(a, b, across_calls);
	assert_same(a, b, min_count);
}

static bool are_equal_texts(const GPtrArray *a, const GPtrArray *b)
{
	if (a->len != b->len)
		return false;
	for (guint i = 0; i < a->len; i++)
		if (strcmp(g_ptr_array_index(a, i), g_ptr_array_index(b, i)) != 0)
			return false;
	return true;
}

/* Field by field: there are bytes between them. */
static bool are_equal_sequences(const GArray *a, const GArray *b)
{
	if (a->len != b->len)
		return false;
	for (guint i = 0; i < a->len; i++) {
		const LodeSequence *x = &g_array_index(a, LodeSequence, i);
		const LodeSequence *y = &g_array_index(b, LodeSequence, i);
		if (x->first_item != y->first_item || x->n_items != y->n_items ||
			x->places != y->places || x->functions != y->functions ||
			x->weight != y->weight || x->frequency != y->frequency ||
			x->executions != y->executions || x->count != y->count)
			return false;
	}
	return true;
}

static char *finding_to_json(const LodeFindings *self, const LodeFinding *finding)
{
	GString *text = g_string_new(NULL);
	LodeJsonStream json;

	lode_json_stream_init_text(&json, text);
	lode_finding_json(self, finding, &json);
	return g_string_free(text, FALSE);
}

static bool are_equal_places(
	const LodeFindings *a, const LodeFinding *x, const LodeFindings *b, const LodeFinding *y)
{
	if (x->n_places != y->n_places)
		return false;
	for (uint32_t i = 0; i < x->n_places; i++) {
		const LodeFindingPlace *left = &g_array_index(
			a->places, LodeFindingPlace, x->first_place + i);
		const LodeFindingPlace *right = &g_array_index(
			b->places, LodeFindingPlace, y->first_place + i);
		if (left->instruction != right->instruction || left->time != right->time)
			return false;
	}
	return true;
}

static bool are_equal_findings(const LodeFindings *a, const LodeFindings *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	if (a->findings->len != b->findings->len || a->is_counted != b->is_counted ||
		a->base != b->base || a->explained != b->explained || a->single != b->single ||
		a->samples != b->samples)
		return false;
	for (guint i = 0; i < a->findings->len; i++) {
		const LodeFinding *x = lode_findings_at(a, i), *y = lode_findings_at(b, i);
		g_autofree char *left = finding_to_json(a, x), *right = finding_to_json(b, y);
		if (strcmp(left, right) != 0 || x->kind != y->kind || x->focus != y->focus ||
			x->time != y->time || x->time_error != y->time_error ||
			x->each != y->each || x->each_error != y->each_error ||
			x->executed != y->executed || x->places != y->places ||
			x->functions != y->functions || x->spread != y->spread ||
			!are_equal_places(a, x, b, y))
			return false;
	}
	return true;
}

void assert_equal_runs(const LodeMiningRun *a, const LodeMiningRun *b)
{
	assert_same_text(a, b, name);
	assert_same(a, b, is_complete);
	assert_same(a, b, seconds);
	compare_parameters(&a->parameters, &b->parameters);
	g_assert_true(are_equal_texts(a->attributes, b->attributes));
	g_assert_true(are_equal_texts(a->events, b->events));
	g_assert_true(are_equal_arrays(a->items, b->items, sizeof(uint32_t)));
	g_assert_true(are_equal_sequences(a->sequences, b->sequences));
	g_assert_true(are_equal_arrays(a->event_supports, b->event_supports, sizeof(double)));
	g_assert_true(are_equal_findings(a->findings, b->findings));
}
