/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/sampled_stacks.h"

#include "base/arrays/name_table.h"
#include "ingest/memory/memory_reading.h"
#include "model/stacks.h"
#include "process/images/code_names.h"

#include <asm/perf_regs.h>
#include <linux/perf_event.h>

struct LodeSampledStacks {
	LodePlaces *places;   /* borrowed */
	LodeThreads *threads; /* likewise */
	LodeCallTree tree;    /* of callers, and of sampled code */
	GArray *samples;      /* LodeStackSample: a stack is a call of the tree */
	GArray *chain;        /* LodePlace, of the sample at hand */
	LodeNameTable kernel_functions, events;
	bool has_chains;
};

/* As many as all chains of a real program have together, and more. */
enum { MAX_CALLS = 1 << 23 };

/* The number of the call at `code` below `outer`; LODE_NONE: the table is full. */
static uint32_t add_to_tree(LodeCallTree *self, uint32_t outer, const LodePlace *code)
{
	const LodeCall added = {*code, outer};
	const LodeIdKey key = {{(uint64_t)outer << 32 | code->image, code->address, 0}};
	bool is_new;

	if (self->calls->len >= MAX_CALLS) {
		self->n_left_out++;
		return LODE_NONE;
	}
	LodeIdSlot *slot = lode_id_cache_find(&self->ids, &key, &is_new);
	if (is_new) {
		slot->id = self->calls->len;
		g_array_append_val(self->calls, added);
	}
	return slot->id;
}

/* The innermost call of a chain (LodePlace, the innermost first); LODE_NONE: it is empty, or the
 * table is full. */
static uint32_t add_chain(LodeCallTree *self, const GArray *chain)
{
	uint32_t outer = LODE_NONE;

	for (guint i = chain->len; i-- > 0;) {
		outer = add_to_tree(self, outer, &g_array_index(chain, LodePlace, i));
		if (outer == LODE_NONE)
			break;
	}
	return outer;
}

LodeSampledStacks *lode_sampled_stacks_new(LodePlaces *places, LodeThreads *threads)
{
	LodeSampledStacks *self = g_new0(LodeSampledStacks, 1);

	self->places = places;
	self->threads = threads;
	self->tree.calls = g_array_new(FALSE, FALSE, sizeof(LodeCall));
	lode_id_cache_init(&self->tree.ids);
	self->samples = g_array_new(FALSE, TRUE, sizeof(LodeStackSample));
	self->chain = g_array_new(FALSE, FALSE, sizeof(LodePlace));
	lode_name_table_init(&self->kernel_functions);
	lode_name_table_init(&self->events);
	return self;
}

void lode_sampled_stacks_free(LodeSampledStacks *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->tree.calls);
	lode_id_cache_clear(&self->tree.ids);
	g_array_unref(self->samples);
	g_array_unref(self->chain);
	lode_name_table_clear(&self->kernel_functions);
	lode_name_table_clear(&self->events);
	g_free(self);
}

/* Where the program was when it entered the kernel; 0: not known. */
static uint64_t user_address(const LodeSampledAccess *sampled)
{
	const LodePerfSample *sample = &sampled->record->sample;
	uint64_t mask = sampled->event->user_registers, ip = UINT64_C(1) << PERF_REG_X86_IP;

	if (sample->user_registers != NULL && (mask & ip) != 0)
		return sample->user_registers[__builtin_popcountll(mask & (ip - 1))];
	for (size_t i = 0; i + 1 < sample->n_callchain; i++)
		if (sample->callchain[i] == (uint64_t)PERF_CONTEXT_USER)
			return sample->callchain[i + 1];
	return 0;
}

/* The code in user mode that a sample is of; false: none is known. */
static bool find_code(
	LodeSampledStacks *self, const LodeSampledAccess *sampled, LodePlace *out_code)
{
	uint64_t address;

	if (sampled->record->mode == LODE_PERF_MODE_USER) {
		*out_code = sampled->place;
		return true;
	}
	address = user_address(sampled);
	return address != 0 && lode_places_find(self->places, sampled->record->pid,
				       sampled->time_ns, address, out_code) != LODE_PLACE_UNMAPPED;
}

uint32_t lode_sampled_stacks_add(LodeSampledStacks *self, const LodeSampledAccess *sampled,
	const GPtrArray *kernel_functions)
{
	const LodePerfRecord *record = sampled->record;
	LodeUserRegisters registers = {0};
	LodePlace code;
	uint32_t caller = LODE_NONE, innermost = LODE_NONE;

	if (!lode_call_chain_is_recorded(sampled->event))
		return LODE_NONE;
	self->has_chains = true;
	if (record->sample.user_registers != NULL)
		lode_user_registers_from_perf(&registers, sampled->event->user_registers,
			record->sample.user_abi, record->sample.user_registers);
	if (find_code(self, sampled, &code)) {
		const LodeSampledCode from = {record, sampled->event, sampled->time_ns, code};
		g_array_set_size(self->chain, 0);
		lode_call_chain_find(self->places, &from, &registers, self->chain);
		caller = add_chain(&self->tree, self->chain);
		innermost = add_to_tree(&self->tree, caller, &code);
	}
	for (guint i = kernel_functions->len; i-- > 0;) {
		const LodePlace kernel = {LODE_CALLER_IN_KERNEL,
			lode_name_table_add(&self->kernel_functions, kernel_functions->pdata[i])};
		innermost = add_to_tree(&self->tree, innermost, &kernel);
	}
	const LodeStackSample sample = {
		.time_ns = record->time_ns,
		.weight = sampled->weight,
		.event = lode_name_table_add(&self->events, sampled->event_name),
		.thread = lode_threads_find(
			self->threads, record->pid, record->tid, sampled->time_ns),
		.stack = innermost,
	};
	g_array_append_val(self->samples, sample);
	return caller;
}

const LodeCallTree *lode_sampled_stacks_tree(const LodeSampledStacks *self)
{
	return self->has_chains ? &self->tree : NULL;
}

const GPtrArray *lode_sampled_stacks_event_names(const LodeSampledStacks *self)
{
	return self->events.names;
}

void lode_sampled_stacks_account(const LodeSampledStacks *self, LodeRecording *recording)
{
	if (self->tree.n_left_out > 0)
		lode_recording_add_unresolved(recording,
			"call chains beyond the number that is kept", NULL,
			(double)self->tree.n_left_out, 0);
}

/* The rows of a profile that calls of the tree become. */
typedef struct {
	LodeSampledStacks *stacks;
	LodeProfile *profile;
	LodeStacks *out;
	LodeCodeNames *names;
	LodeIdCache frame_ids; /* image, address, how far inlined → frame */
	LodeIdCache stack_ids; /* frame, outer → stack */
	GArray *depths;        /* uint16_t of each stack */
} Naming;

static uint32_t add_frame(
	Naming *self, const LodePlace *code, uint32_t level, const LodeFrame *frame)
{
	const LodeIdKey key = {{code->image, code->address, level}};
	bool is_new;
	LodeIdSlot *slot = lode_id_cache_find(&self->frame_ids, &key, &is_new);

	if (is_new) {
		LodeFrame added = *frame;
		added.function = lode_profile_intern(self->profile, frame->function);
		added.image = lode_profile_intern(self->profile, frame->image);
		added.file = lode_profile_intern(self->profile, frame->file);
		slot->id = self->out->frames->len;
		g_array_append_val(self->out->frames, added);
	}
	return slot->id;
}

static uint32_t add_stack(Naming *self, uint32_t frame, uint32_t outer)
{
	const LodeIdKey key = {{frame, outer, 0}};
	uint16_t depth = outer != LODE_NONE ? g_array_index(self->depths, uint16_t, outer) : 0;
	const LodeStack added = {frame, outer};
	bool is_new;

	if (depth >= LODE_STACK_MAX_DEPTH)
		return outer;
	LodeIdSlot *slot = lode_id_cache_find(&self->stack_ids, &key, &is_new);
	if (is_new) {
		slot->id = self->out->stacks->len;
		g_array_append_val(self->out->stacks, added);
		depth++;
		g_array_append_val(self->depths, depth);
	}
	return slot->id;
}

/* The function first, then the functions inlined into it, the innermost last. */
static uint32_t add_code(Naming *self, const LodePlace *code, uint32_t outer)
{
	const LodeCodeName *name = lode_code_names_at(
		self->names, lode_code_names_add(self->names, code));
	LodeFrame frame = {.address = code->address};

	if (code->image != LODE_NONE)
		frame.image = lode_code_images_peek(
			lode_places_images(self->stacks->places), code->image)
		                      ->path;
	for (uint32_t i = name->n_inlined + 1; i-- > 0;) {
		frame.is_inlined = i < name->n_inlined;
		frame.function = (char *)(frame.is_inlined ? name->inlined[i].function
							   : name->function);
		frame.file = (char *)(i > 0 ? name->inlined[i - 1].file : name->location.file);
		frame.line = i > 0 ? name->inlined[i - 1].line : name->location.line;
		outer = add_stack(self, add_frame(self, code, i, &frame), outer);
	}
	return outer;
}

static uint32_t add_call(Naming *self, const LodeCall *call, uint32_t outer)
{
	if (call->code.image != LODE_CALLER_IN_KERNEL)
		return add_code(self, &call->code, outer);
	const LodeFrame frame = {
		.function = self->stacks->kernel_functions.names->pdata[call->code.address],
		.image = (char *)"[kernel]",
	};
	return add_stack(self, add_frame(self, &call->code, 0, &frame), outer);
}

/* Adds the threads that have samples, in the order of their first. */
static void add_threads(Naming *self)
{
	const GArray *all = self->stacks->threads->threads;
	g_autofree uint32_t *rows = g_new(uint32_t, MAX(all->len, 1));

	for (guint i = 0; i < all->len; i++)
		rows[i] = LODE_NONE;
	for (guint i = 0; i < self->out->samples->len; i++) {
		LodeStackSample *sample = &g_array_index(self->out->samples, LodeStackSample, i);
		const LodeThread *thread = &g_array_index(all, LodeThread, sample->thread);
		if (rows[sample->thread] == LODE_NONE) {
			const LodeStackThread added = {
				lode_profile_intern(self->profile, thread->name), thread->pid,
				thread->tid};
			rows[sample->thread] = self->out->threads->len;
			g_array_append_val(self->out->threads, added);
		}
		sample->thread = rows[sample->thread];
	}
}

static void name_all(Naming *self)
{
	const GArray *calls = self->stacks->tree.calls;
	g_autofree uint32_t *rows = g_new(uint32_t, MAX(calls->len, 1));

	for (guint i = 0; i < calls->len; i++) {
		const LodeCall *call = &g_array_index(calls, LodeCall, i);
		if (call->code.image != LODE_CALLER_IN_KERNEL)
			lode_code_names_add(self->names, &call->code);
	}
	lode_code_names_find(self->names);
	for (guint i = 0; i < calls->len; i++) {
		const LodeCall *call = &g_array_index(calls, LodeCall, i);
		rows[i] = add_call(
			self, call, call->outer != LODE_NONE ? rows[call->outer] : LODE_NONE);
	}
	g_array_append_vals(
		self->out->samples, self->stacks->samples->data, self->stacks->samples->len);
	for (guint i = 0; i < self->out->samples->len; i++) {
		LodeStackSample *sample = &g_array_index(self->out->samples, LodeStackSample, i);
		sample->stack = sample->stack != LODE_NONE ? rows[sample->stack] : LODE_NONE;
	}
	add_threads(self);
}

LodeStacks *lode_sampled_stacks_name(LodeSampledStacks *self, LodeProfile *profile)
{
	if (!self->has_chains)
		return NULL;
	Naming naming = {
		.stacks = self,
		.profile = profile,
		.out = lode_stacks_new(),
		.names = lode_code_names_new(lode_places_images(self->places)),
		.depths = g_array_new(FALSE, FALSE, sizeof(uint16_t)),
	};
	lode_id_cache_init(&naming.frame_ids);
	lode_id_cache_init(&naming.stack_ids);
	name_all(&naming);
	lode_id_cache_clear(&naming.frame_ids);
	lode_id_cache_clear(&naming.stack_ids);
	g_array_unref(naming.depths);
	lode_code_names_free(naming.names);
	return naming.out;
}
