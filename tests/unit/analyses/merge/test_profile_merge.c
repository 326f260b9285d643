/* SPDX-License-Identifier: MIT */
/*
 * Merging, against dictionaries of what each place executed and cost: on random runs of a random
 * program the merged profile says what the sum of the dictionaries says, and an origin that is
 * taken out again says what its run said.
 */
#include "analyses/merge/origin_choice.h"
#include "analyses/merge/profile_merge.h"
#include "base/error.h"
#include "model/memory.h"
#include "model/observed/loops.h"
#include "model/observed/windows.h"
#include "model/profile.h"
#include "model/run/origins.h"
#include "model/stacks.h"
#include "model/waits.h"
#include "store/profile_store.h"

#include "seeds.h"

#include <glib/gstdio.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>

enum { N_IMAGES = 2, N_FUNCTIONS = 3, N_PLACES = 8, N_RUNS = 4, N_EVENTS = 3 };

/* Which runs of the program are made: all of them have these events. */
static void add_events(LodeProfile *profile)
{
	const LodeEventTerm terms[] = {{1, 10}, {2, 1}};

	lode_profile_add_event(profile, "instructions", NULL, LODE_EVENT_COUNT, NULL, 0);
	lode_profile_add_event(profile, "misses", "of a cache", LODE_EVENT_RECORDED, NULL, 0);
	lode_profile_add_event(profile, "time", NULL, LODE_EVENT_SAMPLED, NULL, 0);
	lode_profile_add_event(profile, "estimate", NULL, LODE_EVENT_DERIVED, terms, 2);
	profile->code.weight_event = 2;
}

static void add_costs(LodeProfile *profile)
{
	for (uint32_t event = 1; event < N_EVENTS; event++) {
		const LodeCost cost = {event, random_int_range(1, 50)};
		if (random_bit())
			continue;
		g_array_append_val(profile->code.costs, cost);
		lode_profile_event(profile, event)->total += cost.value;
	}
	g_array_append_val(profile->code.cost_starts, profile->code.costs->len);
}

static void add_instruction(LodeProfile *profile, uint32_t function, uint64_t address)
{
	uint32_t load = lode_profile_attribute(profile, "kind:load");
	uint32_t odd = lode_profile_attribute(profile, "at:entry");
	const uint32_t ids[] = {load, odd};
	const LodeInstruction row = {
		.address = address,
		.count = random_int_range(0, 100),
		.next_count = -1,
		.function = function,
		.block = lode_profile_function(profile, function)->first_block,
		.attribute_set = lode_profile_attribute_set(profile, ids, address % 3 == 0 ? 2 : 1),
		.location = lode_profile_location(profile, "a.c", (uint32_t)address, NULL),
		.size = 1,
	};

	g_array_append_val(profile->code.instructions, row);
	/* By the address, so that it is the same in each run. */
	if (address % 3 > 0) {
		uint32_t outer = lode_profile_inlining(profile,
			lode_profile_location(profile, "main.c", (uint32_t)address / 4, NULL),
			LODE_NONE);
		if (address % 3 > 1)
			outer = lode_profile_inlining(profile,
				lode_profile_location(profile, "b.h", (uint32_t)address, "g"),
				outer);
		lode_profile_set_inlining(profile, profile->code.instructions->len - 1, outer);
	}
	profile->run.total_count += row.count;
	lode_profile_event(profile, 0)->total += row.count;
	add_costs(profile);
}

static void add_function(LodeProfile *profile, uint32_t image, uint32_t number)
{
	g_autofree char *name = g_strdup_printf("f%u", number);
	const LodeFunction row = {
		.image = image,
		.name = lode_profile_intern(profile, name),
		.address = 100 * number,
		.size = N_PLACES,
		.calls = random_int_range(0, 10),
		.first_instruction = profile->code.instructions->len,
		.first_block = profile->code.blocks->len,
		.n_blocks = 1,
	};
	const LodeBlock block = {.function = profile->code.functions->len,
		.address = row.address,
		.end = row.address + 8};
	uint32_t index = profile->code.functions->len;

	g_array_append_val(profile->code.functions, row);
	g_array_append_val(profile->code.blocks, block);
	for (uint64_t i = 0; i < N_PLACES; i++)
		if (random_bit())
			add_instruction(profile, index, row.address + i);
	lode_profile_function(profile, index)->n_instructions = profile->code.instructions->len -
	                                                        row.first_instruction;
}

/* Edges in their order; those to what comes next are next_counts. */
static void add_edges(LodeProfile *profile)
{
	guint n = profile->code.instructions->len;

	for (uint32_t from = 0; from < n; from++)
		for (uint32_t to = 0; to < n; to++) {
			LodeInstruction *source = lode_profile_instruction(profile, from);
			bool is_inside = source->function ==
			                 lode_profile_instruction(profile, to)->function;
			const LodeEdge edge = {from, to,
				is_inside ? LODE_EDGE_TAKEN : LODE_EDGE_CALL,
				random_int_range(1, 9)};
			if (random_int_range(0, 4) > 0)
				continue;
			if (is_inside && to == from + 1 && random_bit())
				source->next_count = edge.count;
			else
				g_array_append_val(profile->code.edges, edge);
		}
}

static LodeProfile *random_run(unsigned number)
{
	LodeProfile *profile = lode_profile_new();
	g_autofree char *command = g_strdup_printf("program %u", number);
	g_autofree char *host = g_strdup_printf("host%u", number % 2);
	LodeOrigin origin = {.pid = number + 1, .recorded_at = 1000 + number};

	profile->run.creator = lode_profile_intern(profile, "test");
	profile->run.program = lode_profile_intern(profile, command);
	profile->run.n_samples = 10 + number;
	add_events(profile);
	for (uint32_t image = 0; image < N_IMAGES; image++) {
		/* The order of images differs among runs. */
		uint32_t file = (image + number) % N_IMAGES;
		g_autofree char *id = g_strdup_printf("id%u", file);
		g_autofree char *path = g_strdup_printf("/run%u/file%u", number, file);
		const LodeImage row = {lode_profile_intern(profile, path),
			lode_profile_intern(profile, id), LODE_IMAGE_FILE};
		g_array_append_val(profile->code.images, row);
		for (uint32_t i = 0; i < N_FUNCTIONS; i++)
			if (random_bit())
				add_function(profile, image, i + 1);
	}
	add_edges(profile);
	origin.host = lode_profile_intern(profile, host);
	origin.program = profile->run.program;
	origin.n_samples = profile->run.n_samples;
	origin.total_count = profile->run.total_count;
	g_array_append_val(profile->origins, origin);
	return profile;
}

/* "id0 f1 103" */
static char *place(const LodeProfile *profile, uint32_t index)
{
	const LodeInstruction *instruction = lode_profile_instruction(profile, index);
	const LodeFunction *function = lode_profile_function(profile, instruction->function);

	GString *text = g_string_new(NULL);

	g_string_printf(text, "%s %s %" G_GUINT64_FORMAT,
		lode_profile_image(profile, function->image)->build_id, function->name,
		instruction->address);
	for (uint32_t i = lode_profile_inlining_of(profile, index); i != LODE_NONE;) {
		const LodeInlining *one = &LODE_AT(profile->code.inlinings, LodeInlining, i);
		const LodeLocation *call = &LODE_AT(
			profile->code.locations, LodeLocation, one->location);
		g_string_append_printf(text, " by %s:%u %s", call->file, call->line,
			call->inlined != NULL ? call->inlined : "");
		i = one->outer;
	}
	return g_string_free(text, FALSE);
}

static void add(GHashTable *sums, char *key, double value)
{
	double *sum = g_hash_table_lookup(sums, key);

	if (sum == NULL) {
		sum = g_new0(double, 1);
		g_hash_table_insert(sums, g_strdup(key), sum);
	}
	*sum += value;
	g_free(key);
}

static void add_places(GHashTable *sums, const LodeProfile *profile)
{
	for (uint32_t i = 0; i < profile->code.instructions->len; i++) {
		const LodeInstruction *instruction = lode_profile_instruction(profile, i);
		g_autofree char *here = place(profile, i);
		add(sums, g_strdup(here), instruction->count);
		if (instruction->next_count >= 0) {
			g_autofree char *next = place(profile, i + 1);
			add(sums, g_strdup_printf("%s then %s", here, next),
				instruction->next_count);
		}
		for (uint32_t event = 1; event < N_EVENTS; event++)
			if (lode_profile_event_value(profile, event, i) > 0)
				add(sums, g_strdup_printf("%s costs %u", here, event),
					lode_profile_event_value(profile, event, i));
	}
}

/* All that executed or cost, and the totals. */
static GHashTable *sums_of(const LodeProfile *const *profiles, size_t n)
{
	GHashTable *sums = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

	for (size_t i = 0; i < n; i++) {
		const LodeProfile *profile = profiles[i];
		add_places(sums, profile);
		for (guint k = 0; k < profile->code.edges->len; k++) {
			const LodeEdge *edge = &LODE_AT(profile->code.edges, LodeEdge, k);
			g_autofree char *from = place(profile, edge->source);
			g_autofree char *to = place(profile, edge->target);
			add(sums,
				g_strdup_printf("%s %s %s", from,
					edge->kind == LODE_EDGE_FALL_THROUGH
						? "then"
						: lode_edge_kind_to_text(edge->kind),
					to),
				edge->count);
		}
		for (uint32_t k = 0; k < profile->code.events->len; k++)
			add(sums, g_strdup_printf("total %u", k),
				lode_profile_event(profile, k)->total);
		add(sums, g_strdup("executions"), profile->run.total_count);
		add(sums, g_strdup("samples"), profile->run.n_samples);
	}
	return sums;
}

static void assert_same(GHashTable *a, GHashTable *b)
{
	GHashTableIter iter;
	void *key, *value;

	g_hash_table_iter_init(&iter, a);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		const double *other = g_hash_table_lookup(b, key);
		if (other == NULL)
			g_test_message("only in one: %s", (char *)key);
		g_assert_nonnull(other);
		g_assert_cmpfloat(*other, ==, *(double *)value);
	}
	g_assert_cmpuint(g_hash_table_size(a), ==, g_hash_table_size(b));
}

static void assert_sums(const LodeProfile *merged, const LodeProfile *const *profiles, size_t n)
{
	g_autoptr(GHashTable) found = sums_of(&merged, 1);
	g_autoptr(GHashTable) expected = sums_of(profiles, n);

	assert_same(expected, found);
	assert_same(found, expected);
}

static LodeProfile *merge(LodeProfile **runs, size_t n, const char *const *origins, GError **error)
{
	static const char *const names[] = {"a", "b", "b", "c"};
	const LodeMergeOptions options = {.origins = origins};
	LodeMergeSource sources[N_RUNS];

	for (size_t i = 0; i < n; i++)
		sources[i] = (LodeMergeSource){runs[i], names[i], names[i]};
	return lode_profile_merge(sources, n, &options, NULL, error);
}

/* Written and read again, which checks all that a profile must hold. */
static LodeProfile *through_a_file(LodeProfile *profile)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *directory = g_dir_make_tmp("lode-merge-XXXXXX", &error);
	g_autofree char *path = g_build_filename(directory, "x.lode", NULL);

	g_assert_no_error(error);
	lode_profile_store_write(path, profile, NULL, &error);
	g_assert_no_error(error);
	LodeProfile *again = lode_profile_store_read_with_origins(path, NULL, &error);
	g_assert_no_error(error);
	g_unlink(path);
	g_rmdir(directory);
	return again;
}

static bool has_attribute(const LodeProfile *profile, uint32_t instruction, const char *name)
{
	const LodeAttributeSet *set = &LODE_AT(profile->code.attribute_sets, LodeAttributeSet,
		lode_profile_instruction(profile, instruction)->attribute_set);

	for (uint32_t i = 0; i < set->n; i++)
		if (strcmp(profile->code.attributes->pdata[LODE_AT(
				   profile->code.set_members, uint32_t, set->first + i)],
			    name) == 0)
			return true;
	return false;
}

/* An instruction has origin:NAME where the run executed its place, and nowhere else. */
static void assert_attributes(const LodeProfile *merged, const LodeProfile *run, const char *name)
{
	g_autoptr(GHashTable) own = sums_of(&run, 1);

	for (uint32_t i = 0; i < merged->code.instructions->len; i++) {
		g_autofree char *key = place(merged, i);
		const double *count = g_hash_table_lookup(own, key);
		g_assert_true(has_attribute(merged, i, name) == (count != NULL && *count > 0));
		g_assert_true(has_attribute(merged, i, "kind:load"));
	}
}

/* Sums without what nobody executed, as instructions keep their numbers. */
static GHashTable *sums_of_executed(const LodeProfile *profile)
{
	GHashTable *sums = sums_of(&profile, 1);
	GHashTableIter all;
	void *value;

	g_hash_table_iter_init(&all, sums);
	while (g_hash_table_iter_next(&all, NULL, &value))
		if (!(*(double *)value > 0))
			g_hash_table_iter_remove(&all);
	return sums;
}

/* What is left of a merged profile by a choice of origins is what a merged part of it has. */
static void assert_choice(LodeProfile *merged, const char *words, const char *const *patterns)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LodeProfile) part = merge(&merged, 1, patterns, &error);
	g_assert_no_error(error);
	g_autoptr(LodeProfile) chosen = through_a_file(merged);
	bool is_whole = strcmp(words, "*") == 0;

	/* Stacks, which have no origin, only stay in the whole. */
	lode_stacks_free(chosen->stacks);
	chosen->stacks = lode_stacks_new();
	g_assert_true(lode_origin_choice_apply(chosen, words, &error));
	g_assert_no_error(error);
	g_assert_true((chosen->stacks != NULL) == is_whole);
	g_assert_cmpuint(chosen->code.instructions->len, ==, merged->code.instructions->len);
	g_autoptr(GHashTable) found = sums_of_executed(chosen);
	g_autoptr(GHashTable) expected = sums_of_executed(part);
	assert_same(expected, found);
	assert_same(found, expected);
}

static void test_choice(void)
{
	LodeProfile *runs[N_RUNS];
	g_autoptr(GError) error = NULL;

	for (unsigned i = 0; i < N_RUNS; i++)
		runs[i] = random_run(i);
	g_autoptr(LodeProfile) merged = merge(runs, N_RUNS, NULL, &error);
	g_assert_no_error(error);
	assert_choice(merged, "b-2", (const char *const[]){"b-2", NULL});
	assert_choice(merged, "b*", (const char *const[]){"b*", NULL});
	assert_choice(merged, "c,1", (const char *const[]){"a", "c", NULL});
	assert_choice(merged, "host0", (const char *const[]){"host0", NULL});
	assert_choice(merged, "*", NULL);

	/* Where a word chooses none, nothing is changed. */
	g_assert_false(lode_origin_choice_apply(merged, "a,5", &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
	g_clear_error(&error);
	assert_sums(merged, (const LodeProfile *const *)runs, N_RUNS);
	g_assert_false(lode_origin_choice_apply(runs[0], "a", &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED);
	for (unsigned i = 0; i < N_RUNS; i++)
		lode_profile_free(runs[i]);
}

static void test_random_runs(void)
{
	static const char *const names[] = {"a", "b", "b-2", "c"};

	for (unsigned round = 0; round < random_rounds(20, 500); round++) {
		LodeProfile *runs[N_RUNS];
		g_autoptr(GError) error = NULL;
		for (unsigned i = 0; i < N_RUNS; i++)
			runs[i] = random_run(i);
		const LodeProfile *const *all = (const LodeProfile *const *)runs;

		g_autoptr(LodeProfile) merged = merge(runs, N_RUNS, NULL, &error);
		g_assert_no_error(error);
		assert_sums(merged, all, N_RUNS);
		g_autoptr(LodeProfile) again = through_a_file(merged);
		assert_sums(again, all, N_RUNS);
		g_assert_cmpuint(again->origins->len, ==, N_RUNS);
		g_assert_cmpstr(
			again->run.program, ==, "program 0; program 1; program 2; and 1 other");

		for (unsigned i = 0; i < N_RUNS; i++) {
			const char *const wanted[] = {names[i], NULL};
			g_autoptr(LodeProfile) part = merge(&again, 1, wanted, &error);
			g_assert_no_error(error);
			assert_sums(part, &all[i], 1);
			g_autofree char *attribute = g_strconcat("origin:", names[i], NULL);
			assert_attributes(again, runs[i], attribute);
			const LodeOrigin *origin = &LODE_AT(part->origins, LodeOrigin, 0);
			g_assert_cmpstr(origin->name, ==, names[i]);
			g_assert_cmpuint(origin->pid, ==, i + 1);
			g_assert_cmpstr(part->run.program, ==, runs[i]->run.program);
		}

		/* The same in two steps, and by host: runs 0 and 2 were on host0. */
		LodeProfile *two[] = {
			merge(runs, 2, NULL, &error), merge(runs + 2, 2, NULL, &error)};
		g_autoptr(LodeProfile) stepwise = merge(two, 2, NULL, &error);
		g_assert_no_error(error);
		assert_sums(stepwise, all, N_RUNS);
		const char *const host[] = {"host0", NULL};
		const LodeProfile *const of_host[] = {runs[0], runs[2]};
		g_autoptr(LodeProfile) part = merge(&merged, 1, host, &error);
		g_assert_no_error(error);
		assert_sums(part, of_host, 2);
		for (unsigned i = 0; i < 2; i++)
			lode_profile_free(two[i]);
		for (unsigned i = 0; i < N_RUNS; i++)
			lode_profile_free(runs[i]);
	}
}

/* What was sampled, by event, thread and the functions on the stack. */
static GHashTable *sum_stacks(const LodeProfile *const *profiles, size_t n)
{
	GHashTable *sums = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

	for (size_t p = 0; p < n; p++) {
		const LodeStacks *stacks = profiles[p]->stacks;
		for (guint i = 0; i < stacks->samples->len; i++) {
			const LodeStackSample *sample = &LODE_AT(
				stacks->samples, LodeStackSample, i);
			const LodeStackThread *thread = &LODE_AT(
				stacks->threads, LodeStackThread, sample->thread);
			GString *key = g_string_new(NULL);
			g_string_printf(key, "%s %u",
				lode_profile_event(profiles[p], sample->event)->name, thread->pid);
			for (uint32_t at = sample->stack; at != LODE_NONE;) {
				const LodeStack *stack = &LODE_AT(stacks->stacks, LodeStack, at);
				const LodeFrame *frame = &LODE_AT(
					stacks->frames, LodeFrame, stack->frame);
				g_string_append_printf(key, ";%s:%u%s", frame->function,
					frame->line, frame->is_inlined ? " inlined" : "");
				at = stack->outer;
			}
			add(sums, g_string_free(key, FALSE), sample->weight);
		}
	}
	return sums;
}

/* Frames of few functions, so that many stacks of two profiles are equal. */
static void add_stacks(LodeProfile *profile, uint32_t pid)
{
	static const char *const names[] = {"main", "read", "copy"};
	LodeStacks *stacks = profile->stacks = lode_stacks_new();
	const LodeStackThread thread = {NULL, pid, pid};

	g_array_append_val(stacks->threads, thread);
	for (uint32_t i = 0; i < 8; i++) {
		const LodeFrame frame = {
			.function = lode_profile_intern(
				profile, names[random_int_range(0, G_N_ELEMENTS(names))]),
			.line = i,
			.is_inlined = random_bit(),
		};
		const LodeStack stack = {i, i == 0 || random_bit()
						    ? LODE_NONE
						    : (uint32_t)random_int_range(0, (gint32)i)};
		const LodeStackSample sample = {.weight = i + 1,
			.event = random_bit() ? 0 : 1,
			.stack = i == 7 ? LODE_NONE : i};
		g_array_append_val(stacks->frames, frame);
		g_array_append_val(stacks->stacks, stack);
		g_array_append_val(stacks->samples, sample);
	}
}

static void test_stacks(void)
{
	for (unsigned round = 0; round < random_rounds(20, 500); round++) {
		g_autoptr(LodeProfile) first = random_run(0);
		g_autoptr(LodeProfile) second = random_run(1);
		LodeProfile *both[] = {first, second};
		g_autoptr(GError) error = NULL;
		add_stacks(first, 1);
		add_stacks(second, 2);
		first->run.n_samples = second->run.n_samples = 8;
		g_autoptr(LodeProfile) merged = merge(both, 2, NULL, &error);
		g_assert_no_error(error);
		g_autoptr(LodeProfile) again = through_a_file(merged);
		const LodeProfile *of_merged[] = {again};
		g_autoptr(GHashTable) expected = sum_stacks((const LodeProfile *const *)both, 2);
		g_autoptr(GHashTable) actual = sum_stacks(of_merged, 1);
		assert_same(expected, actual);
		for (guint i = 1; i < again->stacks->frames->len; i++)
			for (guint k = 0; k < i; k++) {
				const LodeFrame *a = &LODE_AT(again->stacks->frames, LodeFrame, i);
				const LodeFrame *b = &LODE_AT(again->stacks->frames, LodeFrame, k);
				g_assert_false(a->function == b->function && a->line == b->line &&
					       a->is_inlined == b->is_inlined);
			}

		/* Of a part, and beside samples without stacks, there are none. */
		const char *const wanted[] = {"a", NULL};
		g_autoptr(LodeProfile) part = merge(&again, 1, wanted, &error);
		g_assert_no_error(error);
		g_assert_null(part->stacks);
		g_clear_pointer(&second->stacks, lode_stacks_free);
		g_autoptr(LodeProfile) mixed = merge(both, 2, NULL, &error);
		g_assert_null(mixed->stacks);
		second->run.n_samples = 0;
		g_autoptr(LodeProfile) counted = merge(both, 2, NULL, &error);
		g_assert_cmpuint(counted->stacks->samples->len, ==, 8);
	}
}

static void add_wait(LodeProfile *profile, const char *object, uint32_t stack, double looks)
{
	const LodeWait wait = {
		.reason = LODE_WAIT_LOCK,
		.call = lode_profile_intern(profile, "futex"),
		.object = lode_profile_intern(profile, object),
		.pid = 1,
		.tid = 2,
		.stack = stack,
		.holder_stack = LODE_NONE,
		.holder_share = looks > 1 ? 0.5 : 1,
		.cause = 0,
		.waiting_ns = 10 * looks,
		.path_ns = 5,
		.count = looks,
		.longest_ns = 7 + looks,
		.looks = looks,
	};
	const LodeWaitCause cause = {3, 2};

	if (profile->waits == NULL)
		profile->waits = lode_waits_new();
	profile->waits->clock_ns = 100;
	profile->waits->waiting_ns += wait.waiting_ns;
	profile->waits->has_path = true;
	if (profile->waits->causes->len == 0)
		g_array_append_val(profile->waits->causes, cause);
	g_array_append_val(profile->waits->rows, wait);
}

/* Rows for one object at one stack are one, and the costliest is the first. */
static void test_waits(void)
{
	g_autoptr(LodeProfile) first = random_run(0);
	g_autoptr(LodeProfile) second = random_run(1);
	LodeProfile *both[] = {first, second};
	g_autoptr(GError) error = NULL;

	add_stacks(first, 1);
	g_clear_pointer(&second->stacks, lode_stacks_free);
	second->run.n_samples = 0;
	first->run.n_samples = 8;
	add_wait(first, "table_lock", 3, 2);
	add_wait(first, "log_lock", LODE_NONE, 1);
	add_wait(second, "log_lock", LODE_NONE, 3);
	g_autoptr(LodeProfile) merged = merge(both, 2, NULL, &error);
	g_assert_no_error(error);
	g_autoptr(LodeProfile) again = through_a_file(merged);
	const LodeWaits *waits = again->waits;
	g_assert_cmpuint(waits->rows->len, ==, 2);
	g_assert_cmpuint(waits->causes->len, ==, 0);
	g_assert_false(waits->has_path);
	g_assert_cmpfloat(waits->clock_ns, ==, 200);
	g_assert_cmpfloat(waits->waiting_ns, ==, 60);
	const LodeWait *rows = (const LodeWait *)waits->rows->data;
	g_assert_cmpstr(rows[0].object, ==, "log_lock");
	g_assert_cmpstr(rows[0].call, ==, "futex");
	g_assert_cmpfloat(rows[0].waiting_ns, ==, 40);
	g_assert_cmpfloat(rows[0].count, ==, 4);
	g_assert_cmpfloat(rows[0].longest_ns, ==, 10);
	g_assert_cmpfloat(rows[0].holder_share, ==, (1 + 0.5 * 3) / 4);
	g_assert_cmpfloat(rows[0].path_ns, ==, 0);
	g_assert_cmpuint(rows[0].cause, ==, LODE_NONE);
	g_assert_cmpuint(rows[0].stack, ==, LODE_NONE);
	g_assert_cmpstr(rows[1].object, ==, "table_lock");
	const LodeStack *stack = &LODE_AT(again->stacks->stacks, LodeStack, rows[1].stack);
	g_assert_cmpuint(LODE_AT(again->stacks->frames, LodeFrame, stack->frame).line, ==, 3);

	/* Without the waits of one run the sum would be too little. */
	g_clear_pointer(&second->waits, lode_waits_free);
	g_autoptr(LodeProfile) mixed = merge(both, 2, NULL, &error);
	g_assert_no_error(error);
	g_assert_null(mixed->waits);
}

static LodeObservedInstruction random_facts(uint32_t instruction)
{
	const uint32_t accesses = (uint32_t)random_int_range(0, 20);
	LodeObservedInstruction facts = {
		.instruction = instruction,
		.steps = (uint32_t)random_int_range(20, 50),
		.outcomes = (uint32_t)random_int_range(10, 20),
		.unforetold = (uint32_t)random_int_range(0, 10),
		.denormals = (uint32_t)random_int_range(0, 3),
		.accesses = accesses,
		.repeated = accesses / 3,
		.lines = (uint32_t)random_int_range(0, 9),
		.pages = (uint32_t)random_int_range(0, 9),
		.line_bytes = (uint64_t)random_int_range(0, 1000) << 20,
		.split = accesses / 4,
		.loads.stored = accesses / 2,
		.loads.part_stored = accesses / 5,
		.loads.store_steps = (uint32_t)random_int_range(0, 3),
		.loads.conflicting = accesses / 6,
		.underflows = (uint32_t)random_int_range(0, 3),
		.split_pages = accesses / 8,
		.calls.compared = accesses,
		.calls.same_arguments = accesses / 2,
		.calls.compared_results = accesses / 2,
		.calls.same_results = accesses / 3,
		.page_changes = accesses / 2,
		.line_visits = accesses / 4,
		.line_used_bytes = accesses / 4 * 8,
	};

	facts.strided = accesses / 2;
	facts.stride = facts.strided > 0 ? 8 * random_int_range(-2, 0) : 0;
	return facts;
}

static void add_windows(LodeProfile *profile, uint32_t pid)
{
	LodeWindows *windows = profile->windows = lode_windows_new();
	guint n = profile->code.instructions->len;
	const LodeSteppedProcess process = {pid, lode_profile_intern(profile, "p"),
		pid % 2 == 0 ? lode_profile_intern(profile, "blocks SIGTRAP") : NULL, 1, 2};

	g_array_append_val(windows->processes, process);
	windows->n_windows = pid;
	windows->n_steps = 100 * pid;
	windows->n_unresolved = 2 * pid;
	windows->n_dropped = 3 * pid;
	windows->dropped_weight = pid;
	windows->user_seconds = 2 * pid;
	windows->system_seconds = 4 * pid;
	for (uint32_t i = 0; i < n; i++) {
		const LodeObservedInstruction facts = random_facts(i);
		if (random_bit())
			g_array_append_val(windows->instructions, facts);
		for (uint32_t k = 0; k < n; k++) {
			const LodeObservedEdge edge = {i, k, (uint32_t)random_int_range(10, 20), 3};
			if (random_bit())
				g_array_append_val(windows->edges, edge);
		}
	}
}

static void keep_most(GHashTable *table, char *key, double value)
{
	double *most = g_hash_table_lookup(table, key);

	if (most == NULL) {
		most = g_new0(double, 1);
		g_hash_table_insert(table, g_strdup(key), most);
	}
	*most = MAX(*most, value);
	g_free(key);
}

static void add_fact(GHashTable *sums, const char *here, const char *name, double value)
{
	add(sums, g_strdup_printf("%s %s", here, name), value);
}

static void add_loops(LodeProfile *profile, const char *core)
{
	profile->run.core = lode_profile_intern(profile, core);
	for (guint i = 0; i < profile->code.instructions->len; i++) {
		LodeLoop loop = {
			.head = i,
			.iterations = random_int_range(1, 9),
			.weight = random_int_range(1, 9),
			.recurrence = lode_profile_intern(profile, "fp"),
			.recurrence_cycles = random_int_range(0, 5),
			.other_cycles = random_int_range(-1, 0),
			.iteration_ns = 3,
		};
		for (unsigned k = 0; k < LODE_N_UNITS; k++)
			loop.cycles[k] = random_int_range(0, 9);
		if (random_bit())
			g_array_append_val(profile->loops, loop);
	}
}

/* Means are rounded. */
static void round_values(GHashTable *sums)
{
	GHashTableIter iter;
	void *value;

	g_hash_table_iter_init(&iter, sums);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		*(double *)value = rint(*(double *)value * 1e6) / 1e6;
}

/* Iterations, and cycles of all iterations, by head. */
static GHashTable *sum_loops(const LodeProfile *const *profiles, size_t n)
{
	GHashTable *sums = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

	for (size_t p = 0; p < n; p++)
		for (guint i = 0; i < profiles[p]->loops->len; i++) {
			const LodeLoop *loop = &LODE_AT(profiles[p]->loops, LodeLoop, i);
			g_autofree char *here = place(profiles[p], loop->head);
			add_fact(sums, here, "iterations", loop->iterations);
			add_fact(sums, here, "weight", loop->weight);
			add_fact(sums, here, "recurrence",
				loop->recurrence_cycles * loop->iterations);
			for (unsigned k = 0; k < LODE_N_UNITS; k++)
				add_fact(sums, here, lode_unit_name((LodeUnit)k),
					loop->cycles[k] * loop->iterations);
		}
	round_values(sums);
	return sums;
}

/* Sums of the windows' observations by place, and of accesses by stride. */
static GHashTable *sum_windows(const LodeProfile *const *profiles, size_t n)
{
	GHashTable *sums = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

	for (size_t p = 0; p < n; p++) {
		const LodeWindows *windows = profiles[p]->windows;
		for (guint i = 0; i < windows->edges->len; i++) {
			const LodeObservedEdge *edge = &LODE_AT(
				windows->edges, LodeObservedEdge, i);
			g_autofree char *from = place(profiles[p], edge->source);
			g_autofree char *to = place(profiles[p], edge->target);
			add(sums, g_strdup_printf("%s to %s", from, to), edge->steps);
			add(sums, g_strdup_printf("%s to %s windows", from, to), edge->windows);
		}
		for (guint i = 0; i < windows->instructions->len; i++) {
			LodeObservedInstruction *facts = &LODE_AT(
				windows->instructions, LodeObservedInstruction, i);
			g_autofree char *here = place(profiles[p], facts->instruction);
			add_fact(sums, here, "steps", facts->steps);
			add_fact(sums, here, "outcomes", facts->outcomes);
			add_fact(sums, here, "unforetold", facts->unforetold);
			add_fact(sums, here, "denormals", facts->denormals);
			add_fact(sums, here, "accesses", facts->accesses);
			add_fact(sums, here, "repeated", facts->repeated);
			add_fact(sums, here, "split", facts->split);
			add_fact(sums, here, "stored", facts->loads.stored);
			add_fact(sums, here, "part_stored", facts->loads.part_stored);
			add_fact(sums, here, "conflicting", facts->loads.conflicting);
			for (int fact = 0; fact < LODE_N_WINDOW_FACTS; fact++)
				add_fact(sums, here, lode_window_fact_to_text((LodeWindowFact)fact),
					*lode_window_fact(facts, (LodeWindowFact)fact));
			/* the least but 0 */
			keep_most(sums, g_strconcat(here, " store_steps", NULL),
				facts->loads.store_steps > 0 ? 1 / (double)facts->loads.store_steps
							     : 0);
			keep_most(sums, g_strconcat(here, " lines", NULL), facts->lines);
			keep_most(sums, g_strconcat(here, " pages", NULL), facts->pages);
			for (int bit = 0; bit < 64; bit++)
				if ((facts->line_bytes >> bit & 1) != 0)
					keep_most(
						sums, g_strdup_printf("%s byte %d", here, bit), 1);
		}
		add(sums, g_strdup("windows"), (double)windows->n_windows);
		add(sums, g_strdup("steps"), (double)windows->n_steps);
		add(sums, g_strdup("unresolved"), (double)windows->n_unresolved);
		add(sums, g_strdup("dropped"), (double)windows->n_dropped);
		add(sums, g_strdup("weight"), windows->dropped_weight);
		add(sums, g_strdup("user"), windows->user_seconds);
		add(sums, g_strdup("system"), windows->system_seconds);
		add(sums, g_strdup("processes"), windows->processes->len);
	}
	return sums;
}

/* The accesses of each place and stride; no stride of the runs has more of them than the one that
 * the merged profile has. */
static void assert_strides(const LodeProfile *merged, const LodeProfile *const *runs, size_t n)
{
	g_autoptr(GHashTable)
		strided = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	g_autoptr(GHashTable) most = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);

	for (size_t p = 0; p < n; p++)
		for (guint i = 0; i < runs[p]->windows->instructions->len; i++) {
			const LodeObservedInstruction *facts = &LODE_AT(
				runs[p]->windows->instructions, LodeObservedInstruction, i);
			g_autofree char *here = place(runs[p], facts->instruction);
			g_autofree char *key = g_strdup_printf(
				"%s by %d", here, (int)facts->stride);
			add(strided, g_strdup(key), facts->strided);
			keep_most(
				most, g_strdup(here), *(double *)g_hash_table_lookup(strided, key));
		}
	for (guint i = 0; i < merged->windows->instructions->len; i++) {
		const LodeObservedInstruction *facts = &LODE_AT(
			merged->windows->instructions, LodeObservedInstruction, i);
		g_autofree char *here = place(merged, facts->instruction);
		g_autofree char *key = g_strdup_printf("%s by %d", here, (int)facts->stride);
		const double *of_stride = g_hash_table_lookup(strided, key);
		g_assert_cmpfloat(facts->strided, ==, *(double *)g_hash_table_lookup(most, here));
		if (facts->strided > 0)
			g_assert_cmpfloat(facts->strided, ==, *of_stride);
	}
}

static void test_windows(void)
{
	for (unsigned round = 0; round < random_rounds(20, 500); round++) {
		LodeProfile *runs[N_RUNS];
		const LodeProfile *const *all = (const LodeProfile *const *)runs;
		g_autoptr(GError) error = NULL;
		for (unsigned i = 0; i < N_RUNS; i++) {
			runs[i] = random_run(i);
			add_windows(runs[i], i + 1);
		}
		g_autoptr(LodeProfile) merged = merge(runs, N_RUNS, NULL, &error);
		g_assert_no_error(error);
		g_autoptr(LodeProfile) again = through_a_file(merged);
		const LodeProfile *of_merged[] = {again};
		g_autoptr(GHashTable) expected = sum_windows(all, N_RUNS);
		g_autoptr(GHashTable) actual = sum_windows(of_merged, 1);
		assert_same(expected, actual);
		assert_same(actual, expected);
		assert_strides(again, all, N_RUNS);
		const LodeSteppedProcess *second = &LODE_AT(
			again->windows->processes, LodeSteppedProcess, 1);
		g_assert_cmpuint(second->pid, ==, 2);
		g_assert_cmpstr(second->name, ==, "p");
		g_assert_cmpstr(second->obstacle, ==, "blocks SIGTRAP");

		/* They have no origin. */
		const char *const wanted[] = {"a", NULL};
		g_autoptr(LodeProfile) part = merge(&again, 1, wanted, &error);
		g_assert_no_error(error);
		g_assert_null(part->windows);
		g_assert_true(lode_origin_choice_apply(merged, "a", &error));
		g_assert_null(merged->windows);
		for (unsigned i = 0; i < N_RUNS; i++)
			lode_profile_free(runs[i]);
	}
}

static void test_loops(void)
{
	for (unsigned round = 0; round < random_rounds(20, 500); round++) {
		LodeProfile *runs[N_RUNS];
		const LodeProfile *const *all = (const LodeProfile *const *)runs;
		const char *const wanted[] = {"a", NULL};
		g_autoptr(GError) error = NULL;
		for (unsigned i = 0; i < N_RUNS; i++) {
			runs[i] = random_run(i);
			add_loops(runs[i], "Zen 3");
		}
		g_autoptr(LodeProfile) merged = merge(runs, N_RUNS, NULL, &error);
		g_assert_no_error(error);
		g_autoptr(LodeProfile) again = through_a_file(merged);
		const LodeProfile *of_merged[] = {again};
		g_autoptr(GHashTable) expected = sum_loops(all, N_RUNS);
		g_autoptr(GHashTable) actual = sum_loops(of_merged, 1);
		assert_same(expected, actual);
		assert_same(actual, expected);
		g_assert_cmpstr(again->run.core, ==, "Zen 3");

		g_assert_true(lode_origin_choice_apply(merged, "a", &error));
		for (guint i = 0; i < merged->loops->len; i++) {
			const LodeLoop *loop = &LODE_AT(merged->loops, LodeLoop, i);
			g_assert_cmpfloat(loop->iterations, ==,
				lode_profile_instruction(merged, loop->head)->count);
			g_assert_cmpfloat(loop->weight, ==, -1);
		}
		g_autoptr(LodeProfile) part = merge(&again, 1, wanted, &error);
		g_assert_no_error(error);
		g_assert_cmpuint(part->loops->len, ==, merged->loops->len);

		/* No cycle is that of another core. */
		runs[1]->run.core = lode_profile_intern(runs[1], "Zen 2");
		g_autoptr(LodeProfile) mixed = merge(runs, N_RUNS, NULL, &error);
		g_assert_no_error(error);
		g_assert_null(mixed->run.core);
		g_assert_cmpuint(mixed->loops->len, ==, 0);
		for (unsigned i = 0; i < N_RUNS; i++)
			lode_profile_free(runs[i]);
	}
}

/* Sums stay what the store can hold. */
static void test_many_windows(void)
{
	g_autoptr(LodeProfile) first = random_run(0);
	g_autoptr(LodeProfile) second = random_run(0);
	LodeProfile *both[] = {first, second};
	g_autoptr(GError) error = NULL;

	for (int i = 0; i < 2; i++) {
		if (both[i]->code.functions->len == 0)
			add_function(both[i], 0, 1);
		add_instruction(both[i], both[i]->code.functions->len - 1, 905);
		lode_profile_function(both[i], both[i]->code.functions->len - 1)->n_instructions++;
		add_windows(both[i], 1);
		LodeWindows *windows = both[i]->windows;
		windows->n_steps = INT64_MAX;
		for (guint k = 0; k < windows->edges->len; k++)
			LODE_AT(windows->edges, LodeObservedEdge, k).steps = UINT32_MAX;
		for (guint k = 0; k < windows->instructions->len; k++)
			LODE_AT(windows->instructions, LodeObservedInstruction, k).outcomes =
				UINT32_MAX;
		const LodeSteppedProcess process = LODE_AT(
			windows->processes, LodeSteppedProcess, 0);
		while (windows->processes->len < 900)
			g_array_append_val(windows->processes, process);
	}
	g_autoptr(LodeProfile) merged = merge(both, 2, NULL, &error);
	g_assert_no_error(error);
	g_autoptr(LodeProfile) again = through_a_file(merged);
	const LodeWindows *windows = again->windows;
	g_assert_cmpuint(windows->n_steps, ==, INT64_MAX);
	for (guint i = 0; i < windows->edges->len; i++)
		g_assert_cmpuint(
			LODE_AT(windows->edges, LodeObservedEdge, i).steps, ==, UINT32_MAX);
	g_assert_cmpuint(windows->processes->len, ==, 1001);
	const LodeSteppedProcess *rest = &LODE_AT(windows->processes, LodeSteppedProcess, 1000);
	g_assert_cmpstr(rest->name, ==, "further processes");
	g_assert_cmpuint(rest->n_windows, ==, 800);
	g_assert_cmpuint(rest->n_steps, ==, 1600);
}

typedef void (*Spoil)(LodeProfile *profile);

static void drop_build_id(LodeProfile *profile)
{
	lode_profile_image(profile, 0)->build_id = NULL;
	lode_profile_image(profile, 1)->build_id = NULL;
}

static void rename_event(LodeProfile *profile)
{
	lode_profile_event(profile, 1)->name = lode_profile_intern(profile, "hits");
}

static void weigh_otherwise(LodeProfile *profile)
{
	profile->code.weight_event = 1;
}

static void derive_otherwise(LodeProfile *profile)
{
	LODE_AT(lode_profile_event(profile, 3)->terms, LodeEventTerm, 0).factor = 11;
}

static void give(LodeProfile *profile)
{
	profile->run.frequency = LODE_FREQUENCY_GIVEN;
}

static void copy(LodeProfile *profile)
{
	strcpy(profile->file.content, "0123456789abcdef");
}

static void test_refusals(void)
{
	static const struct {
		Spoil spoil;
		const char *message;
	} cases[] = {
		{drop_build_id, "b: '/run1/file*' has no build-id*--same-paths"},
		{rename_event, "b: it has the event 'hits', and a has not"},
		{weigh_otherwise, "b: it is weighted by 'misses', and a is not"},
		{derive_otherwise, "b: its event 'estimate' is made in another way*"},
		{give, "b: flow graphs that were given cannot be merged with programs*"},
		{copy, "b: it is the same profile as a"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(LodeProfile) first = random_run(0);
		g_autoptr(LodeProfile) second = random_run(1);
		LodeProfile *both[] = {first, second};
		g_autoptr(GError) error = NULL;
		strcpy(first->file.content, "0123456789abcdef");
		while (second->code.functions->len == 0) {
			lode_profile_free(second);
			both[1] = second = random_run(1);
		}
		add_function(second, 0, 9);
		add_instruction(second, second->code.functions->len - 1, 905);
		lode_profile_function(second, second->code.functions->len - 1)->n_instructions++;
		cases[i].spoil(second);
		g_assert_null(merge(both, 2, NULL, &error));
		g_assert_error(error, LODE_ERROR, LODE_ERROR_UNSUPPORTED);
		if (!g_pattern_match_simple(cases[i].message, error->message))
			g_error("said '%s'", error->message);
	}
}

/* A run without page faults or windows has none of them. */
static void test_lacking_events(void)
{
	static const char *const names[] = {"page-faults", LODE_WINDOW_ACCESSES};

	for (unsigned swapped = 0; swapped < 2; swapped++) {
		g_autoptr(LodeProfile) with = random_run(0);
		g_autoptr(LodeProfile) without = random_run(1);
		LodeProfile *both[] = {swapped ? without : with, swapped ? with : without};
		g_autoptr(GError) error = NULL;
		for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
			uint32_t event = lode_profile_add_event(
				with, names[i], NULL, LODE_EVENT_SAMPLED, NULL, 0);
			lode_profile_event(with, event)->total = 7 + (double)i;
		}
		g_autoptr(LodeProfile) merged = merge(both, 2, NULL, &error);
		g_assert_no_error(error);
		g_assert_cmpuint(merged->code.events->len, ==, with->code.events->len);
		for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
			uint32_t event = lode_profile_find_event(merged, names[i]);
			g_assert_cmpuint(event, !=, LODE_NONE);
			g_assert_cmpfloat(
				lode_profile_event(merged, event)->total, ==, 7 + (double)i);
		}
	}
}

/* A profile in which nothing was executed adds nothing, one without attributes none. */
static void test_little(void)
{
	for (unsigned round = 0; round < 10; round++) {
		g_autoptr(LodeProfile) run = random_run(0);
		g_autoptr(LodeProfile) bare = random_run(1);
		g_autoptr(LodeProfile) nothing = lode_profile_new();
		g_autoptr(GError) error = NULL;
		LodeProfile *all[] = {run, bare, nothing};
		add_events(nothing);
		nothing->code.weight_event = run->code.weight_event;
		nothing->run.frequency = run->run.frequency;
		const uint32_t start = 0;
		g_array_append_val(nothing->code.cost_starts, start);
		for (uint32_t i = 0; i < bare->code.instructions->len; i++)
			lode_profile_instruction(bare, i)->attribute_set =
				lode_profile_attribute_set(bare, NULL, 0);
		g_autoptr(LodeProfile) merged = merge(all, 3, NULL, &error);
		g_assert_no_error(error);
		g_autoptr(LodeProfile) again = through_a_file(merged);
		assert_sums(again, (const LodeProfile *const *)all, 2);
		g_assert_cmpuint(again->origins->len, ==, 3);
		g_autoptr(LodeProfile) alone = merge(&all[2], 1, NULL, &error);
		g_assert_no_error(error);
		g_assert_cmpuint(alone->code.instructions->len, ==, 0);
	}
}

static void test_no_such_origin(void)
{
	g_autoptr(LodeProfile) run = random_run(0);
	const char *const wanted[] = {"z*", NULL};
	g_autoptr(GError) error = NULL;

	g_assert_null(merge(&run, 1, wanted, &error));
	g_assert_error(error, LODE_ERROR, LODE_ERROR_NOT_FOUND);
}

static void change(const char *path, const char *sql)
{
	sqlite3 *database;

	g_assert_cmpint(sqlite3_open(path, &database), ==, SQLITE_OK);
	g_assert_cmpint(sqlite3_exec(database, sql, NULL, NULL, NULL), ==, SQLITE_OK);
	sqlite3_close(database);
}

/* Files made to harm: what is broken is refused; what only lies is merged all the same. */
static void test_harm(void)
{
	static const struct {
		const char *sql, *message; /* NULL: it can be read */
	} harms[] = {
		{"UPDATE origin_count SET origin = 9 WHERE id = 1", "*'origin_count', row 1*"},
		{"UPDATE origin_count SET instruction = 9999 WHERE id = 1",
			"*'origin_count', row 1*"},
		{"UPDATE origin_count SET count = -1 WHERE id = 1", "*'origin_count', row 1*"},
		{"UPDATE origin_cost SET event = 1 WHERE id = 2", "*'origin_cost', row 2*"},
		{"UPDATE origin_cost SET event = 77 WHERE id = 2", "*'origin_cost', row 2*"},
		{"UPDATE origin_edge SET edge = 9999 WHERE id = 1", "*'origin_edge', row 1*"},
		{"INSERT INTO origin_count SELECT NULL, 1, 1, 1, NULL",
			"*'origin_count', row *order*"},
		{"UPDATE origin SET pid = -1 WHERE id = 1", "*'origin', row 1*"},
		{"DROP TABLE origin_edge; DROP TABLE origin_cost; DROP TABLE origin_total;"
		 "DROP TABLE origin_count; DROP TABLE origin",
			NULL},
		{"DELETE FROM origin_count", NULL},
		{"DELETE FROM origin_count WHERE id > 5", NULL},
		{"UPDATE origin_count SET next_count = 5", NULL},
		{"UPDATE edge SET kind = 'fall-through'; DELETE FROM origin_count WHERE id > 3",
			NULL},
	};
	g_autofree char *directory = g_dir_make_tmp("lode-merge-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(directory, "x.lode", NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(harms); i++) {
		g_autoptr(LodeProfile) first = random_run(0);
		g_autoptr(LodeProfile) second = random_run(1);
		LodeProfile *runs[] = {first, second};
		g_autoptr(GError) error = NULL;
		g_autoptr(LodeProfile) merged = merge(runs, 2, NULL, &error);
		g_assert_no_error(error);
		lode_profile_store_write(path, merged, NULL, &error);
		g_assert_no_error(error);
		change(path, harms[i].sql);
		g_autoptr(LodeProfile)
			again = lode_profile_store_read_with_origins(path, NULL, &error);
		if (harms[i].message != NULL) {
			g_assert_null(again);
			if (!g_pattern_match_simple(harms[i].message, error->message))
				g_error("said '%s'", error->message);
			continue;
		}
		g_assert_no_error(error);
		g_autoptr(LodeProfile) anew = merge(&again, 1, NULL, &error);
		g_assert_no_error(error);
		g_autoptr(LodeProfile) checked = through_a_file(anew);
		g_assert_nonnull(checked);
	}
	g_unlink(path);
	g_rmdir(directory);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	add_random_test("/profile_merge/random_runs", test_random_runs,
		"R02S6b1d5be0c3a5b1f09ad3c4e2f8017a55", "R02S00e1c39a77d2545fb5f3c8846a9e0b12",
		NULL);
	add_random_test("/profile_merge/choice", test_choice,
		"R02S6b1d5be0c3a5b1f09ad3c4e2f8017a55", "R02S00e1c39a77d2545fb5f3c8846a9e0b12",
		NULL);
	g_test_add_func("/profile_merge/stacks", test_stacks);
	g_test_add_func("/profile_merge/waits", test_waits);
	add_random_test("/profile_merge/windows", test_windows,
		"R02S6b1d5be0c3a5b1f09ad3c4e2f8017a55", "R02S00e1c39a77d2545fb5f3c8846a9e0b12",
		NULL);
	add_random_test("/profile_merge/loops", test_loops, "R02S6b1d5be0c3a5b1f09ad3c4e2f8017a55",
		"R02S00e1c39a77d2545fb5f3c8846a9e0b12", NULL);
	g_test_add_func("/profile_merge/many_windows", test_many_windows);
	g_test_add_func("/profile_merge/little", test_little);
	g_test_add_func("/profile_merge/refusals", test_refusals);
	g_test_add_func("/profile_merge/lacking_events", test_lacking_events);
	g_test_add_func("/profile_merge/harm", test_harm);
	g_test_add_func("/profile_merge/no_such_origin", test_no_such_origin);
	return g_test_run();
}
