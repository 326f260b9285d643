/* SPDX-License-Identifier: MIT */
#include "ingest/sampled/sampled_stacks.h"

#include "base/arrays/name_table.h"
#include "base/bits.h"
#include "ingest/memory/memory_reading.h"
#include "ingest/sampled/scripts/sampled_scripts.h"
#include "model/lines/java_class.h"
#include "model/profile.h"
#include "model/stacks.h"
#include "process/images/code_names.h"

#include <asm/perf_regs.h>
#include <linux/perf_event.h>
#include <string.h>

/* Rows of samples without calls, and into how many slices of time a recording is divided, the most
 * and the least. */
enum { MAX_ROWS = 200000, MOST_SLICES = 4096, LEAST_SLICES = 64, RECENT_BITS = 14 };

/* With the frames of scripts in more than this part of the samples, 1 ÷ it, calls count as
 * recorded.
 */
#define SCRIPTS_MATTER 2.0

#define OF_TREE (1u << 31)

struct LodeSampledStacks {
	LodePlaces *places;   /* borrowed */
	LodeThreads *threads; /* likewise */
	LodeCallTree tree;    /* of callers, and of sampled code */
	GArray *samples;      /* LodeStackSample with calls: a stack is a call of the tree */
	GArray *alone;        /* LodeStackSample without: a stack is one of `rows`, or OF_TREE plus
	                         a call of the tree, which has what the top of a stack says */
	GArray *rows;         /* LodePlace of what has weight */
	GArray *chain;        /* LodePlace, of the sample at hand */
	LodeNameTable kernel_functions, events;
	const char *event_name; /* of the last sample, and its number */
	uint32_t event;
	bool has_chains, has_tops;
	uint64_t n_samples, n_scripts;     /* all, and those with frames of a script */
	uint32_t recent[1 << RECENT_BITS]; /* rows of `alone`, by a hash of thread and place */
	uint64_t first_ns, last_ns; /* of the recording at hand; first 0: no sample with a time */
	uint64_t before_ns;         /* how long the recordings before it were together */
	guint max_rows;             /* of `alone`: with more, slices become longer */
	uint8_t slice_bits;         /* a slice has 2^bits ns; 0: each sample is a row */
	LodeStackSample last;       /* that was added, with or without calls */
	bool last_has_chain;
	GArray *named_calls, *named_rows; /* uint32_t: the stacks of calls and rows, once they are
	                                     named; LODE_NONE: none */
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
	self->alone = g_array_new(FALSE, TRUE, sizeof(LodeStackSample));
	self->rows = g_array_new(FALSE, TRUE, sizeof(LodePlace));
	self->chain = g_array_new(FALSE, FALSE, sizeof(LodePlace));
	self->named_calls = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	self->named_rows = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	lode_name_table_init(&self->kernel_functions);
	lode_name_table_init(&self->events);
	memset(self->recent, 0xff, sizeof(self->recent));
	self->max_rows = MAX_ROWS;
	return self;
}

void lode_sampled_stacks_free(LodeSampledStacks *self)
{
	if (self == NULL)
		return;
	g_array_unref(self->tree.calls);
	lode_id_cache_clear(&self->tree.ids);
	g_array_unref(self->samples);
	g_array_unref(self->alone);
	g_array_unref(self->rows);
	g_array_unref(self->chain);
	g_array_unref(self->named_calls);
	g_array_unref(self->named_rows);
	lode_name_table_clear(&self->kernel_functions);
	lode_name_table_clear(&self->events);
	g_free(self);
}

/* Where the program was when it entered the kernel; 0: not known. */
static uint64_t user_address(const LodeSampledAccess *sampled)
{
	const LodePerfSample *sample = &sampled->record->sample;
	uint64_t mask = sampled->event->user_registers, ip = LODE_BIT(PERF_REG_X86_IP);

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

/* Appends a sample without calls, or adds it to the row of its slice, where that is a recent one of
 * its thread and place. */
static void append_alone(LodeSampledStacks *self, GArray *rows, const LodeStackSample *sample)
{
	uint32_t hash = (sample->stack + (sample->thread + sample->event) * 0x9e3779b1U) *
	                0x9e3779b1U;
	uint32_t *recent = &self->recent[hash >> (32 - RECENT_BITS)];
	uint64_t slice = sample->time_ns >> self->slice_bits;

	if (self->slice_bits > 0 && *recent < rows->len) {
		LodeStackSample *row = &g_array_index(rows, LodeStackSample, *recent);
		if (row->stack == sample->stack && row->thread == sample->thread &&
			row->event == sample->event && row->time_ns >> self->slice_bits == slice) {
			row->weight += sample->weight;
			row->n_more += 1 + sample->n_more;
			return;
		}
	}
	*recent = rows->len;
	g_array_append_vals(rows, sample, 1);
}

/* Brings the rows together in slices of the present length. */
static void fold(LodeSampledStacks *self)
{
	GArray *rows = g_array_new(FALSE, TRUE, sizeof(LodeStackSample));

	memset(self->recent, 0xff, sizeof(self->recent));
	for (guint i = 0; i < self->alone->len; i++)
		append_alone(self, rows, &g_array_index(self->alone, LodeStackSample, i));
	g_array_unref(self->alone);
	self->alone = rows;
}

/* Makes the slices as long as the number of rows demands, unless they become too long. */
static void lengthen_slices(LodeSampledStacks *self)
{
	uint64_t length = self->before_ns + (self->last_ns - self->first_ns);

	while (self->slice_bits < 63 && length >> self->slice_bits > MOST_SLICES)
		self->slice_bits++;
	self->slice_bits = MAX(self->slice_bits, 1);
	fold(self);
	while (self->alone->len > MAX_ROWS / 2 && length >> self->slice_bits > LEAST_SLICES) {
		self->slice_bits++;
		fold(self);
	}
	self->max_rows = MAX(MAX_ROWS, 2 * self->alone->len);
}

/* Where a sample without calls is. `call` is of the tree; LODE_NONE: none is known. */
static uint32_t find_alone(
	LodeSampledStacks *self, uint32_t call, uint32_t row, const LodePlace *charged)
{
	if (call != LODE_NONE)
		return OF_TREE + call;
	if (row != LODE_NONE) {
		if (row >= self->rows->len)
			g_array_set_size(self->rows, row + 1);
		g_array_index(self->rows, LodePlace, row) = *charged;
	}
	return row;
}

static void add_alone(LodeSampledStacks *self, const LodeStackSample *sample)
{
	append_alone(self, self->alone, sample);
	if (self->alone->len > self->max_rows)
		lengthen_slices(self);
}

static uint32_t find_event(LodeSampledStacks *self, const char *name)
{
	if (name != self->event_name)
		self->event = lode_name_table_add(&self->events, name);
	self->event_name = name;
	return self->event;
}

void lode_sampled_stacks_begin(LodeSampledStacks *self)
{
	self->before_ns += self->last_ns - self->first_ns;
	self->first_ns = self->last_ns = 0;
}

static void read_registers(const LodeSampledAccess *sampled, LodeUserRegisters *out_registers)
{
	const LodePerfSample *sample = &sampled->record->sample;

	*out_registers = (LodeUserRegisters){0};
	if (sample->user_registers != NULL)
		lode_user_registers_from_perf(out_registers, sampled->event->user_registers,
			sample->user_abi, sample->user_registers);
}

/* Whether a script's frames stand for native code: for the interpreter's loop, and frames of Java
 * for all that was made at run time. */
static bool stands_for(
	const LodeSampledStacks *self, const LodeSampledAccess *sampled, const LodePlace *code)
{
	const LodeCodeImages *images = lode_places_images(self->places);
	guint n = lode_code_images_count(images);

	if (code->image < n && sampled->script[0].image < n &&
		lode_code_images_peek(images, sampled->script[0].image)->kind == LODE_IMAGE_JAVA)
		return lode_code_images_peek(images, code->image)->kind == LODE_IMAGE_JIT;
	return lode_sampled_scripts_is_loop(sampled->scripts, code);
}

/* The chain at hand, of native callers, becomes that of the script's frames and of what the
 * innermost of them leads to. Whether the sampled code is part of it. */
static bool put_script(
	LodeSampledStacks *self, const LodeSampledAccess *sampled, const LodePlace *code)
{
	guint n = 0;
	bool is_below = !stands_for(self, sampled, code);

	while (is_below && n < self->chain->len &&
		!stands_for(self, sampled, &g_array_index(self->chain, LodePlace, n)))
		n++;
	g_array_set_size(self->chain, n);
	g_array_append_vals(self->chain, sampled->script, sampled->n_script);
	return is_below;
}

/* The call where the sample was taken, by the top of the stack; LODE_NONE: nobody is known to have
 * called its code, which has the weight alone. */
static uint32_t add_top(LodeSampledStacks *self, const LodeSampledAccess *sampled,
	const LodePlace *charged, bool is_whole)
{
	LodeUserRegisters registers;
	LodePlace code;

	if (charged == NULL || !find_code(self, sampled, &code) || code.image == LODE_NONE)
		return LODE_NONE;
	const LodeSampledCode from = {sampled->record, sampled->event, sampled->time_ns, code};
	bool is_in_kernel = sampled->record->mode == LODE_PERF_MODE_KERNEL;
	read_registers(sampled, &registers);
	g_array_set_size(self->chain, 0);
	(is_whole ? lode_call_chain_find_stack : lode_call_chain_find_top)(
		self->places, &from, &registers, self->chain);
	if (self->chain->len == 0 && !is_in_kernel)
		return LODE_NONE;
	uint32_t caller = add_chain(&self->tree, self->chain);
	if (is_in_kernel)
		caller = add_to_tree(&self->tree, caller, &code);
	return add_to_tree(&self->tree, caller, charged);
}

/* The call where the sample was taken; *out_caller is the caller of its user code. */
static uint32_t add_calls(LodeSampledStacks *self, const LodeSampledAccess *sampled,
	const LodePlace *charged, const GPtrArray *kernel_functions, uint32_t *out_caller)
{
	const LodePerfRecord *record = sampled->record;
	bool has_chain = lode_call_chain_is_recorded(sampled->event), has_code = true;
	LodeUserRegisters registers;
	LodePlace code;
	uint32_t innermost = LODE_NONE;

	read_registers(sampled, &registers);
	if (find_code(self, sampled, &code)) {
		const LodeSampledCode from = {record, sampled->event, sampled->time_ns, code};
		g_array_set_size(self->chain, 0);
		(has_chain ? lode_call_chain_find : lode_call_chain_find_top)(
			self->places, &from, &registers, self->chain);
		if (sampled->script != NULL)
			has_code = put_script(self, sampled, &code);
		*out_caller = innermost = add_chain(&self->tree, self->chain);
		if (has_code)
			innermost = add_to_tree(&self->tree, *out_caller, &code);
	} else if (sampled->script != NULL) {
		g_array_set_size(self->chain, 0);
		g_array_append_vals(self->chain, sampled->script, sampled->n_script);
		*out_caller = innermost = add_chain(&self->tree, self->chain);
	}
	for (guint i = kernel_functions->len; i-- > 0;) {
		const LodePlace kernel = {LODE_CALLER_IN_KERNEL,
			lode_name_table_add(&self->kernel_functions, kernel_functions->pdata[i])};
		bool is_sampled = i == 0 && charged != NULL;
		innermost = add_to_tree(&self->tree, innermost, is_sampled ? charged : &kernel);
	}
	return innermost;
}

uint32_t lode_sampled_stacks_add(LodeSampledStacks *self, const LodeSampledAccess *sampled,
	uint32_t row, const LodePlace *charged, const GPtrArray *kernel_functions)
{
	const LodePerfRecord *record = sampled->record;
	bool has_chain = lode_call_chain_is_recorded(sampled->event) || sampled->script != NULL;
	uint32_t caller = LODE_NONE;
	LodeStackSample sample = {
		.time_ns = record->time_ns,
		.weight = sampled->weight,
		.event = find_event(self, sampled->event_name),
		.thread = lode_threads_find(
			self->threads, record->pid, record->tid, sampled->time_ns),
		.stack = LODE_NONE,
	};

	if (sample.time_ns > 0) {
		self->last_ns = MAX(self->last_ns, sample.time_ns);
		self->first_ns = self->first_ns > 0 ? MIN(self->first_ns, sample.time_ns)
		                                    : sample.time_ns;
	}
	self->n_scripts += sampled->script != NULL;
	self->n_samples++;
	if (has_chain) {
		self->has_chains |= sampled->script == NULL;
		sample.stack = add_calls(self, sampled, charged, kernel_functions, &caller);
		g_array_append_val(self->samples, sample);
	} else {
		bool has_top = lode_call_chain_has_top(sampled->event);
		self->has_tops |= has_top;
		uint32_t call = has_top ? add_top(self, sampled, charged, false) : LODE_NONE;
		sample.stack = find_alone(self, call, row, charged);
		add_alone(self, &sample);
	}
	self->last = sample;
	self->last_has_chain = has_chain;
	return caller;
}

void lode_sampled_stacks_add_weight(LodeSampledStacks *self, const char *event_name, double weight)
{
	LodeStackSample sample = self->last;

	sample.event = find_event(self, event_name);
	sample.weight = weight;
	if (self->last_has_chain)
		g_array_append_val(self->samples, sample);
	else
		append_alone(self, self->alone, &sample);
}

uint32_t lode_sampled_stacks_last(const LodeSampledStacks *self)
{
	uint32_t stack = self->last.stack;

	return self->last_has_chain && stack != LODE_NONE ? OF_TREE + stack : stack;
}

void lode_sampled_stacks_add_at(
	LodeSampledStacks *self, const LodeSampledAccess *sampled, uint32_t where)
{
	const LodePerfRecord *record = sampled->record;

	self->last = (LodeStackSample){
		.time_ns = record->time_ns,
		.weight = sampled->weight,
		.event = find_event(self, sampled->event_name),
		.thread = lode_threads_find(
			self->threads, record->pid, record->tid, sampled->time_ns),
		.stack = where,
	};
	self->last_has_chain = false;
	add_alone(self, &self->last);
}

uint32_t lode_sampled_stacks_find(
	LodeSampledStacks *self, const LodeSampledAccess *sampled, uint32_t row)
{
	const LodePlace *charged = row != LODE_NONE ? &sampled->place : NULL;

	self->has_tops = true;
	return find_alone(self, add_top(self, sampled, charged, true), row, charged);
}

static const LodePlace *code_at(const LodeSampledStacks *self, uint32_t where)
{
	return where >= OF_TREE ? &LODE_AT(self->tree.calls, LodeCall, where - OF_TREE).code
	                        : &LODE_AT(self->rows, LodePlace, where);
}

uint32_t lode_sampled_stacks_find_script(
	LodeSampledStacks *self, const LodeSampledAccess *sampled, uint32_t where)
{
	LodePlace code = {.image = LODE_NONE};
	bool has_code = where != LODE_NONE;

	g_array_set_size(self->chain, 0);
	lode_sampled_stacks_find_callers(self, where, self->chain);
	if (has_code) {
		code = *code_at(self, where);
		has_code = put_script(self, sampled, &code);
	} else {
		g_array_append_vals(self->chain, sampled->script, sampled->n_script);
	}
	uint32_t call = add_chain(&self->tree, self->chain);
	if (has_code && call != LODE_NONE)
		call = add_to_tree(&self->tree, call, &code);
	return call != LODE_NONE ? OF_TREE + call : where;
}

void lode_sampled_stacks_find_callers(
	const LodeSampledStacks *self, uint32_t where, GArray *out_callers)
{
	const GArray *calls = self->tree.calls;
	uint32_t call = where != LODE_NONE && where >= OF_TREE ? where - OF_TREE : LODE_NONE;

	if (call != LODE_NONE)
		call = LODE_AT(calls, LodeCall, call).outer;
	for (; call != LODE_NONE; call = LODE_AT(calls, LodeCall, call).outer)
		g_array_append_val(out_callers, LODE_AT(calls, LodeCall, call).code);
}

uint32_t lode_sampled_stacks_stack(const LodeSampledStacks *self, uint32_t where)
{
	const GArray *named = where >= OF_TREE ? self->named_calls : self->named_rows;
	uint32_t index = where >= OF_TREE ? where - OF_TREE : where;

	return where != LODE_NONE && index < named->len ? LODE_AT(named, uint32_t, index)
	                                                : LODE_NONE;
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

/* The level of the frame around what is inlined, where nothing is known of the calls; others count
 * from the innermost, 0. */
#define AROUND UINT32_MAX

/* A line of a class of Java's library in a method of another one: a frame in that of the method. */
static uint32_t add_inlined_class(Naming *self, const LodePlace *code, const LodeFrame *method,
	const LodeLocation *location, char *class, uint32_t outer)
{
	g_autofree char *file = lode_java_file_of(method->function);
	LodeFrame around = *method, inlined = *method;

	around.file = file;
	outer = add_stack(self, add_frame(self, code, AROUND, &around), outer);
	inlined.function = class;
	inlined.file = location->file;
	inlined.line = location->line;
	inlined.is_inlined = true;
	return add_stack(self, add_frame(self, code, 0, &inlined), outer);
}

/* A place, as far as its instruction in the profile names it: the function first, then the
 * functions inlined into it. */
static uint32_t add_place(Naming *self, const LodePlace *code, uint32_t instruction, uint32_t outer)
{
	const LodeProfile *profile = self->profile;
	uint32_t locations[LODE_INLINING_MAX_DEPTH + 1], n = 0, inlining = LODE_NONE;
	LodeFrame frame = {.address = code->address};

	if (code->image != LODE_NONE)
		frame.image = lode_code_images_peek(
			lode_places_images(self->stacks->places), code->image)
		                      ->path;
	if (instruction != LODE_NONE) {
		const LodeInstruction *row = lode_profile_instruction(profile, instruction);
		frame.function = lode_profile_function(profile, row->function)->name;
		locations[n++] = row->location;
		inlining = lode_profile_inlining_of(profile, instruction);
	}
	for (; inlining != LODE_NONE && n < G_N_ELEMENTS(locations); n++) {
		const LodeInlining *call = &LODE_AT(
			profile->code.inlinings, LodeInlining, inlining);
		locations[n] = call->location;
		inlining = call->outer;
	}
	if (n == 0 || locations[0] == LODE_NONE)
		return add_stack(self, add_frame(self, code, 0, &frame), outer);
	const LodeLocation *only = &LODE_AT(profile->code.locations, LodeLocation, locations[0]);
	g_autofree char *class = n == 1 && only->inlined == NULL && only->file != NULL
	                                 ? lode_java_inlined_class(frame.function, only->file)
	                                 : NULL;
	if (class != NULL)
		return add_inlined_class(self, code, &frame, only, class, outer);
	frame.is_inlined =
		LODE_AT(profile->code.locations, LodeLocation, locations[n - 1]).inlined != NULL;
	if (frame.is_inlined) {
		LodeFrame around = frame;
		around.is_inlined = false;
		outer = add_stack(self, add_frame(self, code, AROUND, &around), outer);
	}
	for (; n-- > 0; frame.is_inlined = true) {
		const LodeLocation *named = &LODE_AT(
			profile->code.locations, LodeLocation, locations[n]);
		frame.function = frame.is_inlined ? named->inlined : frame.function;
		frame.file = named->file;
		frame.line = named->line;
		outer = add_stack(self, add_frame(self, code, n, &frame), outer);
	}
	return outer;
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

static bool is_in_kernel(const Naming *self, const LodeCall *call)
{
	return lode_call_is_in_kernel(call, lode_places_images(self->stacks->places));
}

/* `instruction` is that of the call's code. */
static uint32_t add_call(Naming *self, const LodeCall *call, uint32_t instruction, uint32_t outer)
{
	LodeFrame frame = {.image = (char *)"[kernel]"};

	if (!is_in_kernel(self, call))
		return add_code(self, &call->code, outer);
	if (call->code.image == LODE_CALLER_IN_KERNEL) {
		frame.function = self->stacks->kernel_functions.names->pdata[call->code.address];
	} else if (instruction != LODE_NONE) {
		const LodeInstruction *row = lode_profile_instruction(self->profile, instruction);
		frame.function = lode_profile_function(self->profile, row->function)->name;
		frame.address = row->address;
	}
	return add_stack(self, add_frame(self, &call->code, 0, &frame), outer);
}

static uint32_t add_thread(Naming *self, uint32_t *rows, uint32_t index)
{
	const LodeThread *thread = &g_array_index(
		self->stacks->threads->threads, LodeThread, index);

	if (rows[index] == LODE_NONE) {
		const LodeStackThread added = {
			lode_profile_intern(self->profile, thread->name), thread->pid, thread->tid};
		rows[index] = self->out->threads->len;
		g_array_append_val(self->out->threads, added);
	}
	return rows[index];
}

/* Adds the threads that have samples, in the order of their first, each after the first thread of
 * its process, whose name is that of the process. */
static void add_threads(Naming *self)
{
	const LodeThreads *all = self->stacks->threads;
	g_autofree uint32_t *rows = g_new(uint32_t, MAX(all->threads->len, 1));

	for (guint i = 0; i < all->threads->len; i++)
		rows[i] = LODE_NONE;
	for (guint i = 0; i < self->out->samples->len; i++) {
		LodeStackSample *sample = &g_array_index(self->out->samples, LodeStackSample, i);
		const LodeThread *thread = &g_array_index(all->threads, LodeThread, sample->thread);
		uint32_t first = LODE_NONE;
		if (rows[sample->thread] == LODE_NONE && thread->tid != thread->pid)
			first = lode_threads_look_up(
				all, thread->pid, thread->pid, thread->begin_ns);
		if (first != LODE_NONE)
			add_thread(self, rows, first);
		sample->thread = add_thread(self, rows, sample->thread);
	}
}

static void set_instruction(Naming *self, uint32_t stack, uint32_t instruction)
{
	GArray *instructions = self->out->instructions;
	const uint32_t none = LODE_NONE;

	while (instructions->len <= stack)
		g_array_append_val(instructions, none);
	g_array_index(instructions, uint32_t, stack) = instruction;
}

/* Adds the calls of the tree: of each, the stack and the instruction. Without call chains, what
 * calls nothing is sampled code, which its instruction names. */
static void name_tree(Naming *self, const LodeInstructionFinder *finder, uint32_t *out_rows,
	uint32_t *out_instructions)
{
	const GArray *calls = self->stacks->tree.calls;
	g_autofree bool *has_name = g_new0(bool, MAX(calls->len, 1));

	for (guint i = 0; i < calls->len; i++) {
		const LodeCall *call = &g_array_index(calls, LodeCall, i);
		out_instructions[i] = call->code.image != LODE_CALLER_IN_KERNEL
		                              ? finder->find(finder->data, &call->code)
		                              : LODE_NONE;
		has_name[i] = !self->stacks->has_chains && !is_in_kernel(self, call) &&
		              out_instructions[i] != LODE_NONE;
		if (call->outer != LODE_NONE)
			has_name[call->outer] = false;
	}
	for (guint i = 0; i < calls->len; i++) {
		const LodeCall *call = &g_array_index(calls, LodeCall, i);
		if (!has_name[i] && !is_in_kernel(self, call))
			lode_code_names_add(self->names, &call->code);
	}
	lode_code_names_find(self->names);
	for (guint i = 0; i < calls->len; i++) {
		const LodeCall *call = &g_array_index(calls, LodeCall, i);
		uint32_t outer = call->outer != LODE_NONE ? out_rows[call->outer] : LODE_NONE;
		out_rows[i] = has_name[i] ? add_place(self, &call->code, out_instructions[i], outer)
		                          : add_call(self, call, out_instructions[i], outer);
	}
}

/* The samples with calls. */
static void name_calls(Naming *self, const uint32_t *rows, const uint32_t *instructions)
{
	for (guint i = 0; i < self->stacks->samples->len; i++) {
		LodeStackSample sample = g_array_index(self->stacks->samples, LodeStackSample, i);
		uint32_t call = sample.stack;
		if (call != LODE_NONE) {
			sample.stack = rows[call];
			set_instruction(self, sample.stack, instructions[call]);
		}
		g_array_append_val(self->out->samples, sample);
	}
}

/* Those without, or with the top of a stack. */
static void name_alone(Naming *self, const LodeInstructionFinder *finder, const uint32_t *tree_rows,
	const uint32_t *tree_instructions)
{
	const GArray *places = self->stacks->rows;
	g_autofree uint32_t *rows = g_new(uint32_t, MAX(places->len, 1));

	for (guint i = 0; i < places->len; i++)
		rows[i] = LODE_NONE;
	for (guint i = 0; i < self->stacks->alone->len; i++) {
		LodeStackSample sample = g_array_index(self->stacks->alone, LodeStackSample, i);
		if (sample.stack != LODE_NONE && sample.stack >= OF_TREE) {
			uint32_t call = sample.stack - OF_TREE;
			sample.stack = tree_rows[call];
			set_instruction(self, sample.stack, tree_instructions[call]);
			g_array_append_val(self->out->samples, sample);
			continue;
		}
		if (sample.stack != LODE_NONE && rows[sample.stack] == LODE_NONE) {
			const LodePlace *code = &g_array_index(places, LodePlace, sample.stack);
			uint32_t instruction = finder->find(finder->data, code);
			rows[sample.stack] = add_place(self, code, instruction, LODE_NONE);
			set_instruction(self, rows[sample.stack], instruction);
		}
		if (sample.stack != LODE_NONE)
			sample.stack = rows[sample.stack];
		g_array_append_val(self->out->samples, sample);
	}
	g_array_append_vals(self->stacks->named_rows, rows, places->len);
}

LodeStacks *lode_sampled_stacks_name(
	LodeSampledStacks *self, LodeProfile *profile, const LodeInstructionFinder *finder)
{
	if (self->samples->len + self->alone->len == 0)
		return NULL;
	Naming naming = {
		.stacks = self,
		.profile = profile,
		.out = lode_stacks_new(),
		.names = lode_code_names_new(lode_places_images(self->places)),
		.depths = g_array_new(FALSE, FALSE, sizeof(uint16_t)),
	};
	guint n_calls = self->tree.calls->len;
	g_autofree uint32_t *rows = g_new(uint32_t, MAX(n_calls, 1));
	g_autofree uint32_t *instructions = g_new(uint32_t, MAX(n_calls, 1));
	self->has_chains |= SCRIPTS_MATTER * (double)self->n_scripts > (double)self->n_samples;
	naming.out->has_chains = self->has_chains;
	naming.out->has_tops = self->has_tops && !self->has_chains;
	lode_id_cache_init(&naming.frame_ids);
	lode_id_cache_init(&naming.stack_ids);
	name_tree(&naming, finder, rows, instructions);
	g_array_append_vals(self->named_calls, rows, n_calls);
	name_calls(&naming, rows, instructions);
	name_alone(&naming, finder, rows, instructions);
	add_threads(&naming);
	lode_id_cache_clear(&naming.frame_ids);
	lode_id_cache_clear(&naming.stack_ids);
	g_array_unref(naming.depths);
	lode_code_names_free(naming.names);
	return naming.out;
}
