/* SPDX-License-Identifier: MIT */
#include "analyses/merge/stack_rows.h"

#include "base/arrays/hash.h"
#include "base/arrays/sort_order.h"
#include "model/profile.h"
#include "model/stacks.h"
#include "model/waits.h"

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
