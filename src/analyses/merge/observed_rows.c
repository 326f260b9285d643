/* SPDX-License-Identifier: MIT */
#include "analyses/merge/observed_rows.h"

#include "base/arrays/hash.h"
#include "base/arrays/sort_order.h"
#include "model/observed/loops.h"
#include "model/observed/windows.h"
#include "model/profile.h"
#include "model/stacks.h"
#include "model/waits.h"

void lode_loop_rows_add(
	LodeProfile *merged, const LodeProfile *source, const uint32_t *instructions)
{
	for (guint i = 0; i < source->loops->len; i++) {
		LodeLoop row = lode_loop_within_time(source, &LODE_AT(source->loops, LodeLoop, i));
		row.head = instructions[row.head];
		row.recurrence = lode_profile_intern(merged, row.recurrence);
		row.other_recurrence = lode_profile_intern(merged, row.other_recurrence);
		row.iteration_source = lode_profile_intern(merged, row.iteration_source);
		if (row.head != LODE_NONE)
			g_array_append_val(merged->loops, row);
	}
}

LODE_ORDER(compare_heads, LodeLoop, LODE_ASCENDING(head))

static double mean(double a, double b, double share)
{
	return a < 0 || b < 0 ? -1 : a * (1 - share) + b * share;
}

/* The times of different runs, on machines of different speed, are no one time. */
static void add_up(LodeLoop *sum, const LodeLoop *row)
{
	double iterations = sum->iterations + row->iterations;
	double share = iterations > 0 ? row->iterations / iterations : 0;

	if (row->recurrence_cycles > sum->recurrence_cycles)
		sum->recurrence = row->recurrence;
	if (row->other_cycles > sum->other_cycles)
		sum->other_recurrence = row->other_recurrence;
	sum->iterations = iterations;
	sum->weight = sum->weight < 0 || row->weight < 0 ? -1 : sum->weight + row->weight;
	sum->instructions = mean(sum->instructions, row->instructions, share);
	sum->calls = mean(sum->calls, row->calls, share);
	sum->unmodelled = mean(sum->unmodelled, row->unmodelled, share);
	sum->recurrence_cycles = mean(sum->recurrence_cycles, row->recurrence_cycles, share);
	sum->other_cycles = mean(sum->other_cycles, row->other_cycles, share);
	for (unsigned i = 0; i < LODE_N_UNITS; i++)
		sum->cycles[i] = mean(sum->cycles[i], row->cycles[i], share);
	sum->load_bytes = mean(sum->load_bytes, row->load_bytes, share);
	sum->store_bytes = mean(sum->store_bytes, row->store_bytes, share);
	sum->iteration_ns = sum->iteration_error_ns = -1;
	sum->iteration_source = NULL;
}

void lode_loop_rows_add_up(LodeProfile *merged)
{
	guint n = 0;

	g_array_sort(merged->loops, compare_heads);
	for (guint i = 0; i < merged->loops->len; i++) {
		LodeLoop row = LODE_AT(merged->loops, LodeLoop, i);
		LodeLoop *last = n > 0 ? &LODE_AT(merged->loops, LodeLoop, n - 1) : NULL;
		if (last != NULL && last->head == row.head)
			add_up(last, &row);
		else
			LODE_AT(merged->loops, LodeLoop, n++) = row;
	}
	g_array_set_size(merged->loops, n);
}

/* Sums stay within what the store can hold. */
static void increase(uint64_t *sum, uint64_t value)
{
	*sum = MIN(*sum + value, (uint64_t)INT64_MAX);
}

static void increase_number(uint32_t *sum, uint32_t value)
{
	*sum = value < UINT32_MAX - *sum ? *sum + value : UINT32_MAX;
}

static void add_process(LodeProfile *merged, const LodeSteppedProcess *process)
{
	GArray *processes = merged->windows->processes;
	LodeSteppedProcess row = *process;

	if (processes->len == LODE_WINDOW_ROWS_MAX_PROCESSES) {
		const LodeSteppedProcess others = {
			.name = lode_profile_intern(merged, "further processes")};
		g_array_append_val(processes, others);
	}
	if (processes->len > LODE_WINDOW_ROWS_MAX_PROCESSES) {
		LodeSteppedProcess *others = &LODE_AT(
			processes, LodeSteppedProcess, LODE_WINDOW_ROWS_MAX_PROCESSES);
		increase(&others->n_windows, process->n_windows);
		increase(&others->n_steps, process->n_steps);
		return;
	}
	row.name = lode_profile_intern(merged, process->name);
	row.obstacle = lode_profile_intern(merged, process->obstacle);
	g_array_append_val(processes, row);
}

void lode_window_rows_add(
	LodeProfile *merged, const LodeWindows *windows, const uint32_t *instructions)
{
	LodeWindows *sum = merged->windows;

	if (sum == NULL)
		sum = merged->windows = lode_windows_new();
	increase(&sum->n_windows, windows->n_windows);
	increase(&sum->n_steps, windows->n_steps);
	increase(&sum->n_unresolved, windows->n_unresolved);
	increase(&sum->n_dropped, windows->n_dropped);
	sum->dropped_weight += windows->dropped_weight;
	sum->user_seconds += windows->user_seconds;
	sum->system_seconds += windows->system_seconds;
	for (guint i = 0; i < windows->edges->len; i++) {
		LodeObservedEdge row = LODE_AT(windows->edges, LodeObservedEdge, i);
		row.source = instructions[row.source];
		row.target = instructions[row.target];
		if (row.source != LODE_NONE && row.target != LODE_NONE)
			g_array_append_val(sum->edges, row);
	}
	for (guint i = 0; i < windows->instructions->len; i++) {
		LodeObservedInstruction row = LODE_AT(
			windows->instructions, LodeObservedInstruction, i);
		row.instruction = instructions[row.instruction];
		if (row.instruction != LODE_NONE)
			g_array_append_val(sum->instructions, row);
	}
	for (guint i = 0; i < windows->processes->len; i++)
		add_process(merged, &LODE_AT(windows->processes, LodeSteppedProcess, i));
}

LODE_ORDER(compare_edges, LodeObservedEdge, LODE_ASCENDING(source), LODE_ASCENDING(target))

static void add_up_edges(GArray *edges)
{
	guint n = 0;

	g_array_sort(edges, compare_edges);
	for (guint i = 0; i < edges->len; i++) {
		LodeObservedEdge row = LODE_AT(edges, LodeObservedEdge, i);
		LodeObservedEdge *last = n > 0 ? &LODE_AT(edges, LodeObservedEdge, n - 1) : NULL;
		if (last == NULL || compare_edges(last, &row) != 0) {
			LODE_AT(edges, LodeObservedEdge, n++) = row;
			continue;
		}
		increase_number(&last->steps, row.steps);
		increase_number(&last->windows, row.windows);
	}
	g_array_set_size(edges, n);
}

LODE_ORDER(
	compare_facts, LodeObservedInstruction, LODE_ASCENDING(instruction), LODE_ASCENDING(stride))

static void add_facts(LodeObservedInstruction *sum, LodeObservedInstruction *row)
{
	increase_number(&sum->steps, row->steps);
	increase_number(&sum->outcomes, row->outcomes);
	increase_number(&sum->unforetold, row->unforetold);
	increase_number(&sum->denormals, row->denormals);
	increase_number(&sum->accesses, row->accesses);
	increase_number(&sum->repeated, row->repeated);
	sum->lines = MAX(sum->lines, row->lines);
	sum->pages = MAX(sum->pages, row->pages);
	sum->line_bytes |= row->line_bytes;
	increase_number(&sum->split, row->split);
	increase_number(&sum->loads.stored, row->loads.stored);
	increase_number(&sum->loads.part_stored, row->loads.part_stored);
	increase_number(&sum->loads.conflicting, row->loads.conflicting);
	for (int i = 0; i < LODE_N_WINDOW_FACTS; i++)
		increase_number(lode_window_fact(sum, (LodeWindowFact)i),
			*lode_window_fact(row, (LodeWindowFact)i));
	if (row->loads.store_steps != 0)
		sum->loads.store_steps = sum->loads.store_steps != 0
		                                 ? MIN(sum->loads.store_steps,
							   row->loads.store_steps)
		                                 : row->loads.store_steps;
}

/* The rows of one instruction, by stride. */
static LodeObservedInstruction add_up_facts(LodeObservedInstruction *rows, guint n)
{
	LodeObservedInstruction sum = rows[0];
	uint32_t strided = 0; /* of the stride at hand */

	sum.strided = 0;
	sum.stride = 0;
	for (guint i = 0; i < n; i++) {
		if (i > 0)
			add_facts(&sum, &rows[i]);
		if (i > 0 && rows[i].stride != rows[i - 1].stride)
			strided = 0;
		increase_number(&strided, rows[i].strided);
		if (strided > sum.strided) {
			sum.strided = strided;
			sum.stride = rows[i].stride;
		}
	}
	return sum;
}

static void add_up_instructions(GArray *rows)
{
	guint n = 0;

	g_array_sort(rows, compare_facts);
	for (guint first = 0, end; first < rows->len; first = end) {
		LodeObservedInstruction *row = &LODE_AT(rows, LodeObservedInstruction, first);
		for (end = first + 1; end < rows->len; end++)
			if (LODE_AT(rows, LodeObservedInstruction, end).instruction !=
				row->instruction)
				break;
		LODE_AT(rows, LodeObservedInstruction, n++) = add_up_facts(row, end - first);
	}
	g_array_set_size(rows, n);
}

void lode_window_rows_add_up(LodeProfile *merged)
{
	if (merged->windows == NULL)
		return;
	add_up_edges(merged->windows->edges);
	add_up_instructions(merged->windows->instructions);
}

/* Strings of one profile: equal ones are one. */
static guint hash_frame(const void *key)
{
	const LodeFrame *frame = key;
	uint64_t hash = lode_hash_append(frame->address, frame->line);

	hash = lode_hash_append(hash, GPOINTER_TO_SIZE(frame->function));
	hash = lode_hash_append(hash, GPOINTER_TO_SIZE(frame->image));
	hash = lode_hash_append(hash, GPOINTER_TO_SIZE(frame->file));
	return (guint)(lode_hash_append(hash, frame->is_inlined) >> 16);
}

static gboolean is_same_frame(const void *a, const void *b)
{
	const LodeFrame *left = a, *right = b;

	return left->address == right->address && left->line == right->line &&
	       left->function == right->function && left->image == right->image &&
	       left->file == right->file && left->is_inlined == right->is_inlined;
}

/* Frames of two builds of a file look alike, and lie in different instructions. */
typedef struct {
	LodeStack stack;
	uint32_t instruction;
} PlacedStack;

static guint hash_stack(const void *key)
{
	const PlacedStack *placed = key;

	return (guint)(lode_hash_append(lode_hash_append(placed->stack.frame, placed->stack.outer),
			       placed->instruction) >>
		       16);
}

static gboolean is_same_stack(const void *a, const void *b)
{
	const PlacedStack *left = a, *right = b;

	return left->stack.frame == right->stack.frame && left->stack.outer == right->stack.outer &&
	       left->instruction == right->instruction;
}

void lode_stack_rows_init(LodeStackRows *self, LodeProfile *merged)
{
	*self = (LodeStackRows){
		.merged = merged,
		.frames = g_hash_table_new_full(hash_frame, is_same_frame, g_free, NULL),
		.stacks = g_hash_table_new_full(hash_stack, is_same_stack, g_free, NULL),
	};
	merged->stacks = lode_stacks_new();
}

void lode_stack_rows_clear(LodeStackRows *self)
{
	g_clear_pointer(&self->frames, g_hash_table_unref);
	g_clear_pointer(&self->stacks, g_hash_table_unref);
}

/* The number of a row, whose key has `size` bytes and begins with it; it is added when new. */
static uint32_t number_of(GHashTable *known, GArray *rows, const void *key, size_t size)
{
	void *number;

	if (g_hash_table_lookup_extended(known, key, NULL, &number))
		return GPOINTER_TO_UINT(number);
	g_hash_table_insert(known, g_memdup2(key, size), GUINT_TO_POINTER(rows->len));
	g_array_append_vals(rows, key, 1);
	return rows->len - 1;
}

static uint32_t *add_frames(LodeStackRows *self, const LodeStacks *stacks)
{
	uint32_t *numbers = g_new(uint32_t, stacks->frames->len + 1);

	for (guint i = 0; i < stacks->frames->len; i++) {
		LodeFrame frame = LODE_AT(stacks->frames, LodeFrame, i);
		frame.function = lode_profile_intern(self->merged, frame.function);
		frame.image = lode_profile_intern(self->merged, frame.image);
		frame.file = lode_profile_intern(self->merged, frame.file);
		numbers[i] = number_of(
			self->frames, self->merged->stacks->frames, &frame, sizeof(frame));
	}
	return numbers;
}

/* An outer stack stands before those that it called, here and there. */
static uint32_t *add_stacks(LodeStackRows *self, const LodeStacks *stacks, const uint32_t *frames,
	const uint32_t *instructions)
{
	GArray *of_stacks = self->merged->stacks->instructions;
	uint32_t *numbers = g_new(uint32_t, stacks->stacks->len + 1);

	for (guint i = 0; i < stacks->stacks->len; i++) {
		PlacedStack placed = {
			LODE_AT(stacks->stacks, LodeStack, i), lode_stacks_instruction(stacks, i)};
		placed.stack.frame = frames[placed.stack.frame];
		if (placed.stack.outer != LODE_NONE)
			placed.stack.outer = numbers[placed.stack.outer];
		if (placed.instruction != LODE_NONE)
			placed.instruction = instructions[placed.instruction];
		numbers[i] = number_of(
			self->stacks, self->merged->stacks->stacks, &placed, sizeof(placed));
		if (numbers[i] == of_stacks->len)
			g_array_append_val(of_stacks, placed.instruction);
	}
	return numbers;
}

uint32_t *lode_stack_rows_add(LodeStackRows *self, const LodeStacks *stacks, const uint32_t *events,
	const uint32_t *instructions)
{
	LodeStacks *merged = self->merged->stacks;
	uint32_t first_thread = merged->threads->len;
	g_autofree uint32_t *frames = add_frames(self, stacks);
	g_autofree uint32_t *numbers = add_stacks(self, stacks, frames, instructions);

	for (guint i = 0; i < stacks->threads->len; i++) {
		LodeStackThread thread = LODE_AT(stacks->threads, LodeStackThread, i);
		thread.name = lode_profile_intern(self->merged, thread.name);
		g_array_append_val(merged->threads, thread);
	}
	for (guint i = 0; i < stacks->samples->len; i++) {
		LodeStackSample sample = LODE_AT(stacks->samples, LodeStackSample, i);
		sample.event = events[sample.event];
		sample.thread += first_thread;
		if (sample.stack != LODE_NONE)
			sample.stack = numbers[sample.stack];
		g_array_append_val(merged->samples, sample);
	}
	return g_steal_pointer(&numbers);
}

/* --- waits --- */

static guint hash_row(const void *key)
{
	const LodeWait *row = key;
	uint64_t hash = lode_hash_append(row->reason, row->is_idle);

	hash = lode_hash_append(hash, GPOINTER_TO_SIZE(row->call));
	hash = lode_hash_append(hash, GPOINTER_TO_SIZE(row->object));
	hash = lode_hash_append(hash, GPOINTER_TO_SIZE(row->thread_name));
	hash = lode_hash_append(hash, (uint64_t)row->pid << 32 | row->tid);
	hash = lode_hash_append(hash, (uint64_t)row->stack << 32 | row->holder_stack);
	return (guint)(lode_hash_append(hash, GPOINTER_TO_SIZE(row->holder_call)) >> 16);
}

static gboolean is_same_row(const void *a, const void *b)
{
	const LodeWait *left = a, *right = b;

	return left->reason == right->reason && left->is_idle == right->is_idle &&
	       left->call == right->call && left->object == right->object &&
	       left->thread_name == right->thread_name && left->pid == right->pid &&
	       left->tid == right->tid && left->stack == right->stack &&
	       left->holder_stack == right->holder_stack && left->holder_call == right->holder_call;
}

void lode_wait_rows_init(LodeWaitRows *self, LodeProfile *merged)
{
	*self = (LodeWaitRows){
		.merged = merged,
		.rows = g_hash_table_new_full(hash_row, is_same_row, g_free, NULL),
	};
	merged->waits = lode_waits_new();
}

void lode_wait_rows_clear(LodeWaitRows *self)
{
	g_clear_pointer(&self->rows, g_hash_table_unref);
}

/* The share is of the looks, where there are any. */
static void add_to(LodeWait *sum, const LodeWait *row)
{
	double looks = sum->looks + row->looks;

	sum->holder_share =
		looks > 0
			? (sum->holder_share * sum->looks + row->holder_share * row->looks) / looks
			: MAX(sum->holder_share, row->holder_share);
	sum->holder_share = MIN(sum->holder_share, 1);
	sum->waiting_ns += row->waiting_ns;
	sum->count += row->count;
	sum->longest_ns = MAX(sum->longest_ns, row->longest_ns);
	sum->looks = looks;
}

static uint32_t number_in(const uint32_t *stacks, uint32_t stack)
{
	return stacks != NULL && stack != LODE_NONE ? stacks[stack] : LODE_NONE;
}

static void add_row(LodeWaitRows *self, const LodeWait *given, const uint32_t *stacks)
{
	GArray *rows = self->merged->waits->rows;
	LodeWait row = *given;
	void *number;

	row.call = lode_profile_intern(self->merged, row.call);
	row.object = lode_profile_intern(self->merged, row.object);
	row.thread_name = lode_profile_intern(self->merged, row.thread_name);
	row.holder_call = lode_profile_intern(self->merged, row.holder_call);
	row.stack = number_in(stacks, row.stack);
	row.holder_stack = number_in(stacks, row.holder_stack);
	row.cause = LODE_NONE;
	row.path_ns = 0;
	if (g_hash_table_lookup_extended(self->rows, &row, NULL, &number)) {
		add_to(&LODE_AT(rows, LodeWait, GPOINTER_TO_UINT(number)), &row);
		return;
	}
	g_hash_table_insert(self->rows, g_memdup2(&row, sizeof(row)), GUINT_TO_POINTER(rows->len));
	g_array_append_val(rows, row);
}

void lode_wait_rows_add(LodeWaitRows *self, const LodeWaits *waits, const uint32_t *stacks)
{
	LodeWaits *merged = self->merged->waits;

	merged->clock_ns += waits->clock_ns;
	merged->running_ns += waits->running_ns;
	merged->waiting_ns += waits->waiting_ns;
	merged->seen_ns += waits->seen_ns;
	merged->refused_ns += waits->refused_ns;
	for (guint i = 0; i < waits->rows->len; i++)
		add_row(self, &LODE_AT(waits->rows, LodeWait, i), stacks);
}

LODE_ORDER(compare_rows, LodeWait, LODE_DESCENDING(waiting_ns), LODE_ASCENDING(reason),
	LODE_ASCENDING(pid), LODE_ASCENDING(tid), LODE_ASCENDING(stack),
	LODE_ASCENDING(holder_stack), g_strcmp0(left->object, right->object),
	LODE_FIRST_DIFFERENCE(g_strcmp0(left->call, right->call),
		g_strcmp0(left->holder_call, right->holder_call),
		g_strcmp0(left->thread_name, right->thread_name), LODE_ASCENDING(is_idle)))

void lode_wait_rows_sort(LodeWaitRows *self)
{
	g_array_sort(self->merged->waits->rows, compare_rows);
}
